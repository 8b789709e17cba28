import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../web/src/events";
import type { EventRef } from "../../web/src/model";
import { parseQuery, search } from "../../web/src/search";
import { buildTrace, type Call } from "./build_trace";

const kNames = ["MPI_Send", "MPI_Recv", "MPI_Allreduce", "solve", "residual"];
const send = (gap: number, takes: number, tag: number, bytes: number): Call =>
  ({ gap, takes, shape: { kind: Kind.send, name: 0, sendPeer: 1, sendTag: tag, sendBytes: bytes, place: 1 } });
const recv = (gap: number, takes: number, wait: number): Call =>
  ({ gap, takes, wait, shape: { kind: Kind.recv, name: 1, recvPeer: 2, recvTag: 7, recvBytes: 64, place: 2 } });

// Three ranks: each sends to the next and receives from the one before.
function trace() {
  const made = buildTrace(kNames, [
    [send(10e6, 1e6, 7, 64), recv(0, 5e6, 4e6), send(20e6, 1e6, 8, 100000)],
    [send(30e6, 1e6, 7, 64), recv(0, 2e6, 0)],
    [recv(0, 50e6, 49e6), { gap: 1e6, takes: 0, shape: { kind: Kind.mark, name: 4 } }],
  ]);
  made.head.places.push("halo.c:12", "halo.c:13");
  made.ranks[1]!.phases.push({ name: 3, depth: 0, from: 0, to: 30.5e6 });
  return made;
}

function found(query: string): string[] {
  const set = search(trace(), parseQuery(query));
  return [...set.refs()].map((ref) => `${ref.rank}.${ref.event}${ref.compute ? "c" : ""}`);
}

test("words find names of calls, places, phases, marks and computation", () => {
  assert.deepEqual(found("recv"), ["0.1", "1.1", "2.0"]);
  assert.deepEqual(found("halo.c:12"), ["0.0", "0.2", "1.0"]);
  assert.deepEqual(found("SOLVE"), ["1.0c", "1.0"]); // what starts in the phase
  assert.deepEqual(found("residual"), ["2.1"]);
  assert.deepEqual(found("compute time>15us"), ["0.2c", "1.0c"]);
});

test("terms compare, and all have to fit", () => {
  assert.deepEqual(found("tag=8"), ["0.2"]);
  assert.deepEqual(found("size>1KB"), ["0.2"]);
  assert.deepEqual(found("size=64 rank=1"), ["1.0", "1.1"]);
  assert.deepEqual(found("peer=0"), ["1.1"]); // rank 1 receives from 0
  assert.deepEqual(found("to=2"), ["1.0"]);
  assert.deepEqual(found("from=1"), ["2.0"]);
  assert.deepEqual(found("wait>=4us"), ["0.1", "2.0"]);
  assert.deepEqual(found('phase="sol" call=send'), ["1.0"]);
  assert.deepEqual(found("at=13 time<3us"), ["1.1"]);
});

test("what is not known is told", () => {
  assert.throws(() => parseQuery("tme>3ms"), /“tme” is not known; there are call/);
  assert.throws(() => parseQuery("time>3"), /a time with its unit/);
  assert.throws(() => parseQuery("size>big"), /a size/);
  assert.throws(() => parseQuery("rank=x"), /a number/);
});

test("next and previous walk by time and rank, round and round", () => {
  const set = search(trace(), parseQuery("recv"));
  const order: string[] = [];
  let ref: EventRef | null = null;
  for (let i = 0; i < 4; i++) {
    ref = set.step(ref, 1);
    order.push(`${ref!.rank}.${ref!.event}`);
  }
  // They start at 0, 11 and 31 us.
  assert.deepEqual(order, ["2.0", "0.1", "1.1", "2.0"]);
  assert.deepEqual(set.step({ rank: 0, event: 1, compute: false }, -1), { rank: 2, event: 0, compute: false });
  assert.deepEqual(set.step({ rank: 2, event: 0, compute: false }, -1), { rank: 1, event: 1, compute: false });
  assert.equal(set.place({ rank: 1, event: 1, compute: false }), 2);
  assert.deepEqual(set.step(null, 1, 12e6), { rank: 1, event: 1, compute: false });
});
