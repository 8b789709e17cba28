import assert from "node:assert/strict";
import { test } from "node:test";

import { Stacker, stackOrder } from "../../web/src/shares";

const kBlack = [0, 0, 0] as const;
const kWhite = [255, 255, 255] as const;
const kGrey = [100, 100, 100] as const;

function column(height: number, sums: number[], whole: number): number[] {
  // States 0 (black, waiting white); hidden state 1; empty grey.
  const stacker = new Stacker(2, { classes: [kBlack, null, kWhite, null], empty: kGrey }, height);
  const words = new Uint32Array(height);
  stacker.paint(words, 1, 0, Float64Array.from(sums), 0, whole);
  return [...words].map((word) => word & 255);
}

test("a state's waiting lies right above it", () => {
  assert.deepEqual(stackOrder(3), [0, 3, 1, 4, 2, 5]);
});

test("whole pixels take their state's colour, from below", () => {
  // Half black, a quarter white, the rest empty.
  assert.deepEqual(column(4, [50, 0, 25, 0], 100), [100, 255, 0, 0]);
});

test("a pixel in two shares is mixed by area", () => {
  // 2.5 pixels of black, then 0.5 of white in the third pixel, one more white.
  assert.deepEqual(column(4, [62.5, 0, 37.5, 0], 100), [255, 128, 0, 0]);
});

test("a small share tints a thin bar; a hidden state looks empty", () => {
  assert.deepEqual(column(1, [80, 0, 20, 0], 100), [51]);
  assert.deepEqual(column(2, [50, 50, 0, 0], 100), [100, 0]);
});
