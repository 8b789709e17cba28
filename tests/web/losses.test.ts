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

test("ranks that end before the others", () => {
  // At 100, 80 and 30.
  assert.equal(endedShare(new Model(buildTrace(kNames, [[send(90, 10, 1)], [recv(70, 10, 0, 2)], [send(20, 10, 1)]])).trace), 90 / 300);
});

test("words", () => {
  assert.equal(rankList([3]), "rank 3");
  assert.equal(rankList([3, 4]), "ranks 3 and 4");
  assert.equal(rankList([1, 3, 5, 6, 7]), "ranks 1, 3 and 5 to 7");
  assert.equal(rankList([0, 2, 4, 6, 8, 10, 12]), "7 ranks");
  const loss: Loss = { kind: "uneven", lost: 1, ranks: [3], others: [], phase: "solve", ratio: 2.04, usual: 0, worst: { rank: 0, event: 0, compute: true } };
  assert.deepEqual(lossText(loss), { title: "Uneven computation in “solve”", detail: "rank 3 computes 2 times as long as the others, who wait" });
});
