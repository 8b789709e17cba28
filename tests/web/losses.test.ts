import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../web/src/events";
import { endedShare, type Loss, lossesOf } from "../../web/src/losses";
import { lossText, rankList } from "../../web/src/losspanel";
import { Model } from "../../web/src/model";
import { buildTrace, type Call } from "./build_trace";

const kNames = ["MPI_Send", "MPI_Recv", "MPI_Barrier"];
const send = (gap: number, takes: number, to: number, wait = 0): Call => ({ gap, takes, wait, shape: { kind: Kind.send, name: 0, sendPeer: to, sendBytes: 100 } });
const recv = (gap: number, takes: number, wait: number, from: number): Call =>
  ({ gap, takes, wait, shape: { kind: Kind.recv, name: 1, recvPeer: from, recvBytes: 100 } });
const barrier = (gap: number, takes: number, wait = takes): Call => ({ gap, takes, wait, shape: { kind: Kind.collective, name: 2 } });

function find(calls: Call[][]): Loss[] {
  return lossesOf(new Model(buildTrace(kNames, calls)));
}

test("a late sender has what its receiver waits, and what all wait for that", () => {
  // Rank 0 sends at 100, rank 1 waits for that from 0 to 100, is last at the barrier at 120, for
  // which ranks 0 and 2 wait 10 and 120.
  const [first, ...rest] = find([
    [send(100, 10, 1), barrier(0, 10)],
    [recv(0, 110, 100, 2), barrier(10, 0)],
    [barrier(0, 120)],
  ]);
  // Rank 1 computed 10 where the others computed 50 on average: it came late for the message alone.
  assert.deepEqual([first!.kind, first!.ranks, first!.others, first!.lost], ["late send", [0], [1], 100 + 130]);
  assert.deepEqual(first!.worst, { rank: 1, event: 0, compute: false });
  assert.deepEqual(rest, []);
});

test("who computes longest has what all wait for it", () => {
  const [first, ...rest] = find([[barrier(100, 0)], [barrier(20, 80)], [barrier(30, 70)]]);
  assert.deepEqual([first!.kind, first!.ranks, first!.lost, first!.ratio], ["uneven", [0], 150, 4]);
  assert.deepEqual(first!.worst, { rank: 0, event: 0, compute: true });
  assert.deepEqual(rest, []);
});

test("waiting goes to its causes by their shares", () => {
  // Rank 1 is last at 200: by 60 that rank 0 sent late, and by 140 - 80 of computation.
  const losses = find([
    [send(60, 0, 1), barrier(20, 120)],
    [recv(0, 60, 60, 1), barrier(140, 0)],
  ]);
  assert.deepEqual(losses.map(({ kind, lost }) => [kind, lost]), [["late send", 60 + 60], ["uneven", 60]]);
});

test("a late receiver", () => {
  const [first] = find([[send(0, 100, 1, 90)], [recv(90, 10, 0, 1)]]);
  assert.deepEqual([first!.kind, first!.ranks, first!.others, first!.lost], ["late receive", [1], [0], 90]);
});

test("slow messages are those that take longer than others of their size", () => {
  // A ring of four; the message from rank 2 to 3 takes 50, the others 5.
  const ring = (rank: number): Call[] => {
    const takes = rank === 3 ? 50 : 5;
    return [send(10, 0, 1), recv(0, takes, takes, 3)];
  };
  const [first, ...rest] = find([0, 1, 2, 3].map(ring));
  assert.deepEqual([first!.kind, first!.ranks, first!.lost, first!.ratio, first!.usual], ["slow messages", [2, 3], 45, 10, 5]);
  assert.deepEqual(rest, []);
});

const phase = (kind: number, name: number): Call => ({ gap: 0, takes: 0, shape: { kind, name } });

test("a delay that goes on from rank to rank is its first one's", () => {
  // Rank 0 sends at 100; rank 1 waits for that from 10 on before it sends, for which rank 2 waits.
  const [first, ...rest] = find([
    [send(100, 0, 1)],
    [recv(10, 90, 90, 2), send(0, 0, 1)],
    [recv(10, 90, 90, 2)],
  ]);
  assert.deepEqual([first!.kind, first!.ranks, first!.others, first!.further, first!.lost], ["late send", [0], [1], 1, 180]);
  assert.deepEqual(first!.worst, { rank: 1, event: 0, compute: false });
  assert.deepEqual(rest, []);
});

test("a delay that is found out a step later is that of the step before", () => {
  // Rank 1 waits 90 for rank 0 once. Then both compute 50, and rank 2 waits for rank 1.
  const found = find([
    [send(100, 0, 1), send(50, 0, 3)],
    [recv(10, 90, 90, 3), send(50, 0, 1)],
    [recv(60, 90, 90, 3)],
    [recv(60, 90, 90, 1)],
  ]);
  assert.deepEqual(found.map(({ kind, ranks, lost }) => [kind, ranks, lost]), [["late send", [0], 270]]);
});

test("who computes longer in a phase before is no late sender, but uneven there", () => {
  const names = [...kNames, "work", "swap"];
  const work = (time: number): Call[] => [phase(Kind.phaseBegin, 3), { ...phase(Kind.phaseEnd, 3), gap: time }, phase(Kind.phaseBegin, 4)];
  const found = lossesOf(new Model(buildTrace(names, [[...work(100), send(0, 0, 1)], [...work(20), recv(0, 80, 80, 1)]])));
  assert.deepEqual(found.map(({ kind, phase: where, ranks, lost, worst }) => [kind, where, ranks, lost, worst]),
    [["uneven", "work", [0], 80, { rank: 0, event: 1, compute: true }]]);
});

test("slow messages of several pairs are slow by the link that they share", () => {
  // Ranks 0 and 1 at one switch send to 2 and 3 at another one; the rest to neighbours.
  const pairs = [[0, 2, 50], [1, 3, 60], [4, 5, 5], [6, 7, 5], [8, 9, 5]] as const;
  const calls: Call[][] = [];
  for (const [from, to, time] of pairs) [calls[from], calls[to]] = [[send(0, 0, to - from)], [recv(0, time, time, 10 + from - to)]];
  const trace = buildTrace(kNames, calls);
  const nodes = Array.from({ length: 12 }, (_, i) => [0, 0, i < 10 ? 0 : 1] as const);
  const network = { name: "two", nodes, links: [], ranks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], routes: [[0, 10, 11, 2], [1, 10, 11, 3], [4, 10, 5]] };
  const found = lossesOf(new Model({ ...trace, head: { ...trace.head, network } }));
  assert.deepEqual(found.map(({ kind, link, pairs, lost }) => [kind, link, pairs, lost]), [["slow messages", "s0 → s1", 2, 100]]);
  assert.equal(lossText(found[0]!).title, "Messages over the link s0 → s1 are slow");
});

test("ranks that end before the others", () => {
  // At 100, 80 and 30.
  assert.equal(endedShare(new Model(buildTrace(kNames, [[send(90, 10, 1)], [recv(70, 10, 0, 2)], [send(20, 10, 1)]])).trace), 90 / 300);
});

test("words", () => {
  assert.equal(rankList([3]), "rank 3");
  assert.equal(rankList([3, 4]), "ranks 3 and 4");
  assert.equal(rankList([1, 3, 5, 6, 7]), "ranks 1, 3 and 5 to 7");
  assert.equal(rankList([0, 2, 4, 6, 8, 10, 12]), "7 ranks");
  const loss: Loss = { kind: "uneven", lost: 1, ranks: [3], others: [], further: 0, link: "", pairs: 0, phase: "solve", ratio: 2.04, usual: 0, worst: { rank: 0, event: 0, compute: true } };
  assert.deepEqual(lossText(loss), { title: "Uneven computation in “solve”", detail: "rank 3 computes 2 times as long as the others, who wait" });
});
