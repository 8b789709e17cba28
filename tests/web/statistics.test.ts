import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange, alike, byCommunicator, membersOf, oneGroup } from "../../web/src/arrange";
import { lagAt, lagColumns, matchRuns, partnerOf } from "../../web/src/compare/match";
import { delaysOf } from "../../web/src/delays";
import { Kind } from "../../web/src/events";
import { eventsOfState, histogramOf, kBins, limitAt, within } from "../../web/src/histogram";
import { lastToCome, longestWaits, neighbour, partners } from "../../web/src/jumps";
import { matrixOf } from "../../web/src/matrix";
import { Model } from "../../web/src/model";
import { rankMeasures, statistics } from "../../web/src/statistics";
import { buildTrace, type Call } from "./build_trace";

const kNames = ["MPI_Send", "MPI_Recv", "MPI_Barrier", "solve"];
const send = (gap: number, takes: number): Call => ({ gap, takes, shape: { kind: Kind.send, name: 0, sendPeer: 1, sendBytes: 100 } });
const recv = (gap: number, takes: number, wait: number): Call =>
  ({ gap, takes, wait, shape: { kind: Kind.recv, name: 1, recvPeer: 1, recvBytes: 100 } });
const barrier = (gap: number, takes: number): Call => ({ gap, takes, wait: takes, shape: { kind: Kind.collective, name: 2 } });

// Rank 0 computes 100, sends for 10, computes 50, is last at the barrier at 160.
// Rank 1 waits for the message until 105, leaves at 110, is at the barrier at 120.
function model(): Model {
  const trace = buildTrace(kNames, [
    [send(100, 10), barrier(50, 0)],
    [recv(0, 110, 105), barrier(10, 40)],
  ]);
  trace.ranks[0]!.phases.push({ name: 3, depth: 0, from: 0, to: 110 });
  return new Model(trace);
}

test("statistics are clipped to the interval", () => {
  const lines = statistics(model(), 50, 130, "state");
  const line = (name: string) => lines.find((each) => each.name === name)!;
  // COMPUTE: rank 0 50-100 and 110-130, rank 1 110-120.
  assert.deepEqual({ ...line("COMPUTE"), key: 0 }, { name: "COMPUTE", key: 0, count: 3, time: 80, mean: 80 / 3, most: 100, wait: 0 });
  assert.equal(line("MPI_Recv").time, 60);
  assert.equal(line("MPI_Recv").wait, 55);
  assert.equal(line("MPI_Barrier").count, 1);
  assert.equal(line("MPI_Barrier").time, 10);
  const total = lines.reduce((sum, { time }) => sum + time, 0);
  assert.equal(total, 160);
  for (const by of ["site", "rank"] as const)
    assert.equal(statistics(model(), 50, 130, by).reduce((sum, { time }) => sum + time, 0), 160, by);
  assert.deepEqual(statistics(model(), 50, 130, "phase"), [{ name: "solve", key: 3, count: 1, time: 60, mean: 60, most: 110, wait: 0 }]);
});

test("measures and delays of ranks", () => {
  assert.deepEqual(rankMeasures(model(), 0, 160), [{ compute: 150, calls: 10, wait: 0 }, { compute: 10, calls: 150, wait: 145 }]);
  // Rank 1 waited 105 for the message of rank 0, and 40 for it at the barrier.
  assert.deepEqual([...delaysOf(model())], [145, 0]);
});

test("jumps lead to partners, waits and the last to come", () => {
  const it = model();
  assert.deepEqual(partners(it.messages(), { rank: 0, event: 0, compute: false }), [{ rank: 1, event: 0, compute: false }]);
  assert.deepEqual(partners(it.messages(), { rank: 1, event: 0, compute: false }), [{ rank: 0, event: 0, compute: false }]);
  assert.deepEqual(longestWaits(it.trace, 0, 160, 10).map(({ event }) => event), [0, 1]);
  assert.deepEqual(longestWaits(it.trace, 112, 160, 1), [{ rank: 1, event: 1, compute: false }]);
  assert.deepEqual(lastToCome(it, { rank: 1, event: 1, compute: false }), { rank: 0, event: 1, compute: false });
  assert.equal(lastToCome(it, { rank: 1, event: 0, compute: false }), null);
  assert.deepEqual(neighbour(it.trace, { rank: 0, event: 0, compute: true }, 1), { rank: 0, event: 0, compute: false });
  assert.deepEqual(neighbour(it.trace, { rank: 0, event: 0, compute: false }, 1), { rank: 0, event: 1, compute: true });
});

test("a histogram counts every duration once, between limits that fit", () => {
  const it = model();
  const set = eventsOfState(it, 0);
  const histogram = histogramOf(set, 0, 160)!; // 100, 50, 10
  assert.equal(histogram.counts.reduce((a, b) => a + b), 3);
  assert.equal(histogram.times.reduce((a, b) => a + b), 160);
  assert.equal(histogram.least, 10);
  assert.ok(limitAt(histogram, kBins) >= 100);
  assert.equal(histogram.counts[0], 1);
  assert.equal(histogram.counts[kBins - 1], 1);
  assert.equal(within(set, 40, 60, 0, 160).count, 1);
  assert.equal(histogramOf(set, 155, 160)!.counts.reduce((a, b) => a + b), 1);
});

test("the matrix counts messages in view, and the receivers' waits", () => {
  const it = model();
  const matrix = matrixOf(it, 0, 160, 10);
  assert.deepEqual([...matrix.messages], [0, 1, 0, 0]);
  assert.deepEqual([...matrix.bytes], [0, 100, 0, 0]);
  assert.deepEqual([...matrix.waiting], [0, 105, 0, 0]);
  assert.equal(matrixOf(it, 111, 160, 10).list.length, 0);
});

test("rows are sorted, grouped, folded and hidden", () => {
  const groups = [{ name: "a", ranks: [0, 2] }, { name: "b", ranks: [1, 3] }];
  const value = (rank: number): number => [1, 9, 2, 3][rank]!;
  const labels = (folded: string[], hidden: number[], by: typeof value | null): string[] =>
    arrange(4, groups, by, new Set(folded), new Set(hidden)).list.map((row) => row.label);
  assert.deepEqual(labels([], [], null), ["0", "2", "1", "3"]);
  assert.deepEqual(labels([], [], value), ["1", "3", "2", "0"]);
  assert.deepEqual(labels(["b"], [], value), ["1 +1", "2", "0"]);
  assert.deepEqual(labels(["b"], [1, 0], value), ["3", "2"]);
  assert.equal(arrange(300000, oneGroup(300000), null, new Set(), new Set()).count, 300000);
  const rows = arrange(4, oneGroup(4), value, new Set(), new Set([2]));
  assert.deepEqual([...rows.of], [2, 0, -1, 1]);
  assert.equal(rows.plain, false);
});

test("ranks alike are one group, whatever is rare another", () => {
  const slow = (gap: number): Call[] => [send(gap, 10), barrier(200 - gap, 5)];
  const trace = buildTrace(kNames, [slow(100), slow(101), slow(100), slow(30), slow(100)]);
  const groups = alike(new Model(trace), 0, trace.end).map(({ ranks }) => ranks);
  assert.deepEqual(groups, [[0, 1, 2, 4], [3]]);
  // Where one sends for 10 ps the other computes, and the other way round.
  const apart = alike(new Model(trace), 0, trace.end).map((group) => group.apart);
  assert.deepEqual(apart, [0, 20 / trace.end]);
});

test("communicators become groups", () => {
  assert.deepEqual(membersOf([[0, 2, 3], [9, 1, 1]]), [0, 2, 4, 9]);
  const it = model();
  it.trace.head.comms.push({ name: "row", size: 1, members: [[0, 1, 1]] });
  assert.equal(byCommunicator(it).length, 1); // one alone is no group
});

test("two runs are matched by rank, call and phase", () => {
  const a = buildTrace(kNames, [[send(100, 10), send(50, 10), barrier(0, 5)]]);
  // A call more at the start, and later by 7, then by 27.
  const b = buildTrace(kNames, [[recv(0, 7, 0), send(100, 10), send(70, 10), barrier(0, 5)]]);
  const match = matchRuns(a, b);
  assert.deepEqual([match.matched, match.onlyA, match.onlyB], [3, 0, 1]);
  const rank = match.ranks[0]!;
  assert.deepEqual([...rank.b], [1, 2, 3]);
  assert.deepEqual([...rank.lag], [7, 27, 27]);
  assert.deepEqual([lagAt(rank, 109), lagAt(rank, 110), lagAt(rank, 1000)], [0, 7, 27]);
  const columns = lagColumns(match, 0, 110, 2);
  assert.deepEqual([...columns.mean], [7, 27]);
  assert.deepEqual(partnerOf(match, { rank: 0, event: 1, compute: true }, true), { rank: 0, event: 2, compute: true });
  assert.equal(partnerOf(match, { rank: 0, event: 0, compute: false }, false), null);
});

test("a call in another phase is another call", () => {
  const make = (phase: number): ReturnType<typeof buildTrace> => {
    const trace = buildTrace(kNames, [[send(100, 10)]]);
    trace.ranks[0]!.phases.push({ name: phase, depth: 0, from: 0, to: 200 });
    return trace;
  };
  assert.equal(matchRuns(make(3), make(3)).matched, 1);
  assert.equal(matchRuns(make(3), make(2)).matched, 0);
});
