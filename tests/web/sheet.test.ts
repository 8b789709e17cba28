import assert from "node:assert/strict";
import { test } from "node:test";

import { binaryLabel, binaryTicks, place, spanOf, ticks, valueAt } from "../../web/src/sheet/axis";
import { isBeyond, isPowerOfTwo, type Machine, residualOf, type SheetFunction, timeOf } from "../../web/src/sheet/model";
import { curvesOf, draw, type Series, type View, wholeSpan } from "../../web/src/sheet/plot";

const kBcast: SheetFunction = {
  name: "bcast",
  group: "both",
  depends_on_ranks: true,
  regimes: [
    { from: 0, to: 256, sums: [{ ranks: "all", terms: [["1", 200, 10], ["p", 2, 0.5], ["d", 0.5, 0.1]] }] },
    {
      from: 257,
      to: null,
      sums: [
        { ranks: "powers of two", terms: [["ceil log2 p", 50, 0], ["(p-1)/p d", 0.25, 0]] },
        { ranks: "others", terms: [["(p-1)", 30, 0], ["(p-1) d", 0.125, 0]] },
      ],
      interval: [0.9, 1.25],
    },
  ],
  points: [
    { ranks: 2, bytes: 8, median: 210e-6, low: 205e-6, high: 220e-6, samples: 5 },
    { ranks: 8, bytes: 1024, median: 280e-6, low: 270e-6, high: 300e-6, samples: 5 },
    { ranks: 8, bytes: 0, median: 200e-6, low: 200e-6, high: 200e-6, samples: 1 },
  ],
  measured: { ranks: [2, 8], bytes: [0, 1024] },
  extrapolation_error: 0.5,
};
const kMachine: Machine = { name: "m", time_unit: 1e-6, element: 8, functions: [kBcast] };

function near(value: number, expected: number): void {
  assert.ok(Math.abs(value - expected) <= 1e-12 * Math.abs(expected), `${value} is not ${expected}`);
}

test("times follow the equation of the interval, in elements", () => {
  near(timeOf(kMachine, kBcast, 4, 256, "avg"), (200 + 8 + 0.5 * 32) * 1e-6);
  near(timeOf(kMachine, kBcast, 4, 256, "min"), (190 + 6 + 0.4 * 32) * 1e-6);
  near(timeOf(kMachine, kBcast, 4, 256, "max"), (210 + 10 + 0.6 * 32) * 1e-6);
  near(timeOf(kMachine, kBcast, 8, 1024, "avg"), (150 + 0.25 * (7 / 8) * 128) * 1e-6);
  near(timeOf(kMachine, kBcast, 6, 1024, "avg"), (150 + 0.125 * 5 * 128) * 1e-6);
});

test("an interval of times is relative to the equation's", () => {
  const avg = timeOf(kMachine, kBcast, 8, 1024, "avg");
  near(timeOf(kMachine, kBcast, 8, 1024, "min"), 0.9 * avg);
  near(timeOf(kMachine, kBcast, 8, 1024, "max"), 1.25 * avg);
});

test("beyond the measured ranks the bounds are as wide as the error of extrapolation", () => {
  const avg = timeOf(kMachine, kBcast, 16, 1024, "avg");
  near(timeOf(kMachine, kBcast, 16, 1024, "min"), avg / 1.5);
  near(timeOf(kMachine, kBcast, 16, 1024, "max"), avg * 1.5);
  assert.deepEqual(isBeyond(kBcast, 16, 1024), { ranks: true, bytes: false });
  assert.deepEqual(isBeyond(kBcast, 2, 1025), { ranks: false, bytes: true });
});

// 10 + d us; 30 is in the middle of 10 and 90, and 8 of 4 and 16, as logarithms go.
test("factors of what was measured multiply the equation, by logarithms", () => {
  const machine: Machine = { name: "", time_unit: 1e-6, element: 1, functions: [] };
  const f: SheetFunction = {
    name: "bcast", group: "both", depends_on_ranks: true, points: [],
    regimes: [{ from: 0, to: null, sums: [{ ranks: "all", terms: [["1", 10, 0], ["d", 1, 0]] }], interval: [0.5, 2] }],
    measured: { ranks: [4, 16], bytes: [0, 90] },
    corrections: [
      { ranks: 4, factors: [[0, 3], [10, 1], [90, 4]] },
      { ranks: 16, factors: [[10, 2], [90, 8]] },
    ],
  };
  const time = (p: number, d: number) => 1e6 * timeOf(machine, f, p, d, "avg");
  near(time(4, 0), 30);
  near(time(4, 90), 400);
  near(time(4, 30), 80);
  near(time(8, 30), 40 * Math.sqrt(8));
  near(time(64, 90), 800);
  near(time(2, 990), 4000);
  near(1e6 * timeOf(machine, f, 16, 10, "min"), 20);
});

test("a time is never below zero", () => {
  const f = { ...kBcast, regimes: [{ from: 0, to: null, sums: [{ ranks: "all" as const, terms: [["1", -3, 0] as const] }] }] };
  assert.equal(timeOf(kMachine, f as unknown as SheetFunction, 2, 8, "avg"), 0);
  assert.equal(residualOf(kMachine, f as unknown as SheetFunction, kBcast.points[0]!), null);
});

test("powers of two", () => {
  assert.deepEqual([1, 2, 3, 4, 6, 8, 9, 1024].map(isPowerOfTwo), [true, true, false, true, false, true, false, true]);
});

test("residuals are relative to the equation", () => {
  // 200 + 4 + 0.5 = 204.5
  near(residualOf(kMachine, kBcast, kBcast.points[0]!)!, (210 - 204.5) / 204.5);
});

test("axes: places and values are each other's inverse", () => {
  for (const log of [true, false]) {
    const axis = { log, low: 2, high: 2048, from: 70, to: 700 };
    assert.equal(place(axis, 2), 70);
    near(place(axis, 2048), 700);
    for (const pixel of [70, 100, 400, 700]) near(place(axis, valueAt(axis, pixel)), pixel);
  }
});

test("ticks are round, and there are some", () => {
  const axis = (log: boolean, low: number, high: number) => ({ log, low, high, from: 0, to: 100 });
  assert.deepEqual(ticks(axis(true, 1e-6, 1e-2), 9).map((t) => t.toExponential()), ["1e-6", "1e-5", "1e-4", "1e-3", "1e-2"]);
  assert.deepEqual(ticks(axis(false, 0, 50), 9), [0, 10, 20, 30, 40, 50]);
  assert.ok(ticks(axis(true, 1.31e-6, 1.33e-6), 9).length >= 2);
  assert.ok(ticks(axis(true, 3.1e-6, 3.9e-6), 9).length >= 2);
  assert.deepEqual(binaryTicks(axis(true, 8, 1024), 11), [8, 16, 32, 64, 128, 256, 512, 1024]);
  assert.deepEqual(binaryTicks(axis(false, 0, 65536), 4), [0, 16384, 32768, 49152, 65536]);
  assert.deepEqual([8, 1024, 65536, 1048576, 1536, 300].map(binaryLabel), ["8", "1 Ki", "64 Ki", "1 Mi", "1.5 Ki", "300"]);
});

test("spans can be drawn whatever the values", () => {
  assert.deepEqual(spanOf([], true), [0.1, 1]);
  assert.deepEqual(spanOf([0, -1], true), [0.1, 1]);
  assert.deepEqual(spanOf([4], true), [2, 8]);
  assert.deepEqual(spanOf([NaN, 1, 5], false), [1, 5]);
});

function viewOf(part: Partial<View>): View {
  const series: Series = { label: "bcast", machine: kMachine, f: kBcast, ranks: 8, colour: 0 };
  return { series: [series], overRanks: false, bytes: 1024, quantity: "time", logX: true, logY: true, x: null, y: null, ...part };
}

test("curves break where an interval or what was measured ends", () => {
  const curves = curvesOf(viewOf({}), viewOf({}).series[0]!, { low: 1, high: 4096 });
  const ends = curves.map((curve) => [curve.points[0]!.x, curve.points[curve.points.length - 1]!.x, curve.beyond]);
  assert.equal(ends.length, 3);
  assert.deepEqual(ends[0], [1, 256, false]);
  assert.equal(ends[1]![0], 257);
  assert.equal(ends[2]![1], 4096);
  assert.equal(ends[2]![2], true);
  assert.equal(ends[1]![1], ends[2]![0]); // the parts meet
});

test("over the ranks, powers of two have a curve of their own", () => {
  const view = viewOf({ overRanks: true });
  const curves = curvesOf(view, view.series[0]!, { low: 2, high: 8 });
  assert.deepEqual(curves.map((curve) => curve.points.map((p) => p.x)), [[2, 4, 8], [3, 5, 6, 7]]);
});

test("a plot shows its points: those of its number of ranks, and none at size 0 on a logarithmic axis", () => {
  const view = viewOf({});
  const whole = wholeSpan(view, [], []);
  assert.deepEqual(whole, { low: 512, high: 2048 }); // one size alone: a span around it
  assert.equal(draw(view, { low: 1, high: 2048 }, "a").marks, 1);
  assert.equal(draw(viewOf({ logX: false }), { low: 0, high: 2048 }, "a").marks, 2);
  assert.doesNotMatch(draw(viewOf({ logX: false, quantity: "residual" }), { low: 0, high: 2048 }, "a").svg, /NaN|Infinity/);
  assert.doesNotMatch(draw(viewOf({ quantity: "bandwidth" }), { low: 1, high: 2048 }, "a").svg, /NaN|Infinity/);
});
