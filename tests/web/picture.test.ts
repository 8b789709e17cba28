import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeNetpbm } from "../../web/src/watch/picture";

const bytes = (text: string, ...more: number[]): Uint8Array => new Uint8Array([...new TextEncoder().encode(text), ...more]);

test("grey and colour pictures are read", () => {
  const grey = decodeNetpbm(bytes("P5\n2 1\n255\n", 7, 255))!;
  assert.deepEqual([grey.width, grey.height, [...grey.rgba]], [2, 1, [7, 7, 7, 255, 255, 255, 255, 255]]);
  const colour = decodeNetpbm(bytes("P6 # by hand\n# 3 4 255\n1 2\n255\n", 1, 2, 3, 4, 5, 6))!;
  assert.deepEqual([colour.width, colour.height, [...colour.rgba]], [1, 2, [1, 2, 3, 255, 4, 5, 6, 255]]);
});

test("what is not written yet is clear", () => {
  const cut = decodeNetpbm(bytes("P6\n1 2\n255\n", 1, 2, 3, 4))!;
  assert.deepEqual([...cut.rgba], [1, 2, 3, 255, 0, 0, 0, 0]);
});

test("other things are none", () => {
  for (const text of ["", "P5", "P4\n2 1\n", "P5\n0 1\n255\n", "P5\n2 1\n65535\n", "P5\n99999 1\n255\n", "\x89PNG\r\n"])
    assert.equal(decodeNetpbm(bytes(text)), null, text);
});
