import assert from "node:assert/strict";
import { test } from "node:test";

import { makeLayout, maxScroll, rowAt, rowY } from "../../web/src/layout";
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

test("all ranks fit, and use the height there is", () => {
  const few = makeLayout(800, 600, 8, 0, 30, 1);
  assert.equal(few.rowPitch, few.rowsHeight / 8);
  assert.ok(few.rowPitch > 50, `${few.rowPitch}`); // 600 less the strips above and below
  assert.equal(maxScroll(few, 8), 0);
  assert.equal(rowAt(few, 8, 0, few.rowsTop + few.rowPitch + 0.5), 1);
  assert.equal(rowAt(few, 8, 0, few.rowsTop - 1), -1);
  const many = makeLayout(800, 600, 1024, 0, 30, 1);
  assert.equal(many.rowPitch, many.rowsHeight / 1024);
  assert.ok(maxScroll(many, 1024) < 1e-9);
  assert.equal(rowAt(many, 1024, 0, many.rowsTop + many.rowsHeight - 0.1), 1023);
});

test("rows that were zoomed scroll", () => {
  const zoomed = makeLayout(800, 600, 1000, 0, 30, 10);
  assert.ok(Math.abs(maxScroll(zoomed, 1000) - 9 * zoomed.rowsHeight) < 1e-6);
  assert.equal(rowAt(zoomed, 1000, 10 * zoomed.rowPitch + 0.1, zoomed.rowsTop), 10);
  assert.equal(rowY(zoomed, 10 * zoomed.rowPitch, 10), zoomed.rowsTop);
  // Not further than rows that can be read.
  const most = makeLayout(800, 600, 1000, 0, 30, 1e9);
  assert.ok(Math.abs(most.rowPitch - 60) < 1e-9);
});
