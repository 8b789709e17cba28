import assert from "node:assert/strict";
import { test } from "node:test";

import { makeLayout, maxScroll, rankAt, rowY } from "../../web/src/layout";
import { clampInterval, panBy, ticks, tickStep, timeToX, xToTime, zoomAt } from "../../web/src/viewport";

test("zooming keeps the time under the pointer", () => {
  // 1000..2000, pointer at a quarter (1250), twice as large: 1125..1625.
  assert.deepEqual(zoomAt({ t0: 1000, t1: 2000 }, 10000, 0.25, 2), { t0: 1125, t1: 1625 });
});

test("zooming out ends at the whole run, zooming in at 100 ps", () => {
  assert.deepEqual(zoomAt({ t0: 1000, t1: 2000 }, 10000, 0.5, 1 / 100), { t0: 0, t1: 10000 });
  assert.deepEqual(zoomAt({ t0: 1000, t1: 1200 }, 10000, 0.5, 50), { t0: 1050, t1: 1150 });
  assert.deepEqual(zoomAt({ t0: 0, t1: 40 }, 40, 0.5, 2), { t0: 0, t1: 40 });
});

test("moving stops at the ends and keeps the width", () => {
  assert.deepEqual(panBy({ t0: 1000, t1: 2000 }, 2500, 0.4), { t0: 1400, t1: 2400 });
  assert.deepEqual(panBy({ t0: 1000, t1: 2000 }, 2500, 3), { t0: 1500, t1: 2500 });
  assert.deepEqual(panBy({ t0: 1000, t1: 2000 }, 2500, -3), { t0: 0, t1: 1000 });
  assert.deepEqual(clampInterval({ t0: -50, t1: 100 }, 1000), { t0: 0, t1: 150 });
});

test("time and pixels are each other's inverse", () => {
  const view = { t0: 500, t1: 1500 };
  assert.equal(timeToX(view, 200, 750), 50);
  assert.equal(xToTime(view, 200, 50), 750);
});

test("ticks are 1, 2 or 5 times a power of ten", () => {
  assert.equal(tickStep(1), 1);
  assert.equal(tickStep(1.5), 2);
  assert.equal(tickStep(2.1), 5);
  assert.equal(tickStep(5.1), 10);
  assert.equal(tickStep(1000), 1000);
  // 1000 ps over 400 pixels, 100 pixels apart: 250 ps at least, so 500.
  assert.deepEqual(ticks({ t0: 250, t1: 1250 }, 400, 100), { step: 500, at: [500, 1000] });
});

test("rows fit where they can and scroll where they cannot", () => {
  const few = makeLayout(800, 600, 8, 0, 30, 1);
  assert.equal(few.rowPitch, 34);
  assert.equal(maxScroll(few, 8), 0);
  assert.equal(rankAt(few, 8, 0, few.rowsTop + 34.5), 1);
  assert.equal(rankAt(few, 8, 0, few.rowsTop - 1), -1);
  const many = makeLayout(800, 600, 1000, 0, 30, 1);
  assert.equal(many.rowPitch, 5);
  assert.equal(maxScroll(many, 1000), 5000 - many.rowsHeight);
  assert.equal(rankAt(many, 1000, 50, many.rowsTop), 10);
  assert.equal(rowY(many, 50, 10), many.rowsTop);
});
