import assert from "node:assert/strict";
import { test } from "node:test";

import { ShareSums, Stacker, stackOrder } from "../../web/src/shares";

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

test("runs of very many ranks, or of parts of them, add up to the digit", () => {
  const sums = new ShareSums(4, 2, 100);
  for (let rank = 0; rank < 65536; rank++) sums.addRun(rank % 3, 3, rank % 2);
  // 21,846, 21,845 and 21,845 ranks begin in columns 0, 1 and 2; half of them in each class.
  assert.deepEqual([...sums.times], [10923, 10923, 21845, 21846, 32768, 32768, 0, 0].map((ranks) => ranks * 100));
  sums.clear();
  for (let rank = 0; rank < 1000; rank++) sums.addRun(0, 2, 0, 1 / 1000);
  sums.addColumn(3, Float64Array.of(7, 1), 0.5);
  const times = [...sums.times];
  assert.ok(Math.abs(times[0]! - 100) < 1e-4 && times[2] === times[0], String(times));
  assert.deepEqual(times.slice(4), [0, 0, 3.5, 0.5]);
});
