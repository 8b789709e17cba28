import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../web/src/events";
import { dominantClass, kIdle, makeStates, RankSums, visitColumns, Votes } from "../../web/src/sums";
import { type Call, buildTrace } from "./build_trace";

const kRecv = { kind: Kind.recv, name: 0 };
const kSend = { kind: Kind.send, name: 1 };
const kNames = ["MPI_Recv", "MPI_Send"];

test("states are ordered by their time, computation first", () => {
  const trace = buildTrace(kNames, [[{ gap: 1, takes: 2, shape: kRecv }, { gap: 1, takes: 5, shape: kSend }]]);
  const states = makeStates(trace);
  assert.deepEqual(states.names, ["COMPUTE", "MPI_Send", "MPI_Recv"]);
  assert.deepEqual([...states.ofShape], [2, 1]);
});

test("functions beyond the 24 states share one", () => {
  const names = Array.from({ length: 40 }, (_, i) => `MPI_F${i}`);
  const calls = names.map((_, i): Call => ({ gap: 0, takes: 100 - i, shape: { kind: Kind.call, name: i } }));
  const states = makeStates(buildTrace(names, [calls]));
  assert.equal(states.count, 24);
  assert.equal(states.names[23], "other calls");
  assert.equal(states.ofShape[21], 22);
  assert.equal(states.ofShape[22], 23);
  assert.equal(states.ofShape[39], 23);
});

test("an interval's sums hold the parts of the events at its edges", () => {
  // Computes 0-10, receives 10-30 of which it waits 10-25.
  const trace = buildTrace(kNames, [[{ gap: 10, takes: 20, wait: 15, shape: kRecv }]]);
  const states = makeStates(trace);
  const sums = new RankSums(trace.ranks[0]!, states);
  const out = new Float64Array(sums.classes);
  sums.addRange(5, 27, out);
  // COMPUTE 5, MPI_Recv busy 2, COMPUTE waiting 0, MPI_Recv waiting 15.
  assert.deepEqual([...out], [5, 2, 0, 15]);
});

// A long irregular history, by a small generator of its own.
function longHistory(events: number): Call[] {
  let seed = 1;
  const next = (limit: number): number => {
    seed = (seed * 16807) % 2147483647;
    return seed % limit;
  };
  return Array.from({ length: events }, (): Call => {
    const takes = next(5) === 0 ? 0 : next(900);
    return { gap: next(700), takes, wait: takes > 0 ? next(takes) : 0, shape: next(2) ? kRecv : kSend };
  });
}

test("sums by blocks equal sums event by event, for any interval", () => {
  const trace = buildTrace(kNames, [longHistory(1000)]);
  const sums = new RankSums(trace.ranks[0]!, makeStates(trace));
  for (const [a, b] of [[0, trace.end], [0, 1], [12345, 12346], [777, 300000], [trace.end - 5, trace.end + 5]] as const) {
    const fast = new Float64Array(sums.classes);
    const slow = new Float64Array(sums.classes);
    sums.addRange(a, b, fast);
    for (let i = 0; i < 1000; i++) sums.addEvent(i, a, b, slow);
    assert.deepEqual(fast, slow, `[${a}, ${b})`);
  }
});

test("columns hold the same sums at every zoom", () => {
  const trace = buildTrace(kNames, [longHistory(3000)]);
  const states = makeStates(trace);
  const sums = new RankSums(trace.ranks[0]!, states);
  for (const [t0, width, dt] of [[0, 7, trace.end / 7], [1000, 100, 64], [5000, 50, 1], [0, 300, 20000]] as const) {
    const columns = Array.from({ length: width }, () => new Float64Array(sums.classes));
    visitColumns(sums, t0, dt, width, {
      run: (x0, x1, cls) => {
        for (let x = x0; x < x1; x++) if (cls !== kIdle) columns[x]![cls]! += dt;
      },
      mixed: (x, column) => columns[x]!.set(column),
    }, states);
    columns.forEach((column, x) => {
      const expected = new Float64Array(sums.classes);
      for (let i = 0; i < 3000; i++) sums.addEvent(i, t0 + x * dt, t0 + x * dt + dt, expected);
      // Column edges are rounded doubles: equal but for that.
      column.forEach((time, cls) => assert.ok(Math.abs(time - expected[cls]!) < 1e-3, `zoom ${dt} column ${x} class ${cls}: ${time} ${expected[cls]}`));
    });
  }
});

test("the longest state wins a column; of equals the first", () => {
  // Column [0,100): computes 40, sends 60. [100,200): computes 50, sends 50.
  const trace = buildTrace(kNames, [[{ gap: 40, takes: 60, shape: kSend }, { gap: 50, takes: 50, shape: kSend }]]);
  const states = makeStates(trace);
  const out = new Uint8Array(3);
  visitColumns(new RankSums(trace.ranks[0]!, states), 0, 100, 3, {
    run: (x0, x1, cls) => out.fill(cls, x0, x1),
    mixed: (x, column) => (out[x] = dominantClass(column)),
  }, states);
  assert.deepEqual([...out], [1, 0, kIdle]);
});

test("votes count ranks; those that have ended have none", () => {
  const votes = new Votes(3, 4);
  for (const columns of [[2, 1, kIdle], [2, 0, kIdle], [1, kIdle, kIdle]])
    columns.forEach((cls, x) => votes.addRun(x, x + 1, cls));
  const out = new Uint8Array(3);
  votes.winners(out);
  assert.deepEqual([...out], [2, 0, kIdle]);
});
