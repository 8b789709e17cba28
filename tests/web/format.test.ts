import assert from "node:assert/strict";
import { test } from "node:test";

import { formatBytes, formatNumber, formatPoint, formatTime } from "../../web/src/format";

test("times have four significant digits and a fitting unit", () => {
  assert.equal(formatTime(0), "0 s");
  assert.equal(formatTime(15), "15 ps");
  assert.equal(formatTime(1500), "1.5 ns");
  assert.equal(formatTime(72e9), "72 ms");
  assert.equal(formatTime(712345e6), "712.3 ms");
  assert.equal(formatTime(999960), "1 us");
  assert.equal(formatTime(1.5e16), "15000 s");
});

test("a point shows the digits that tell it from its neighbours", () => {
  assert.equal(formatPoint(20.4e9, 0.1e9, 20.9e9), "20.4 ms");
  assert.equal(formatPoint(100e9, 100e9, 700e9), "100 ms");
  assert.equal(formatPoint(123456789, 1000, 123460000), "123.457 us");
});

test("sizes and numbers", () => {
  assert.equal(formatBytes(4096), "4096 B");
  assert.equal(formatBytes(1572864), "1.5 MiB");
  assert.equal(formatBytes(123456789), "117.7 MiB");
  assert.equal(formatBytes(65536), "64 KiB");
  assert.equal(formatBytes(65537), "65537 B");
  assert.equal(formatBytes(1048570), "1048570 B");
  assert.equal(formatNumber(3.4012), "3.401");
  assert.equal(formatNumber(100), "100");
});
