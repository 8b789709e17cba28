import assert from "node:assert/strict";
import { test } from "node:test";

import { Collectives } from "../../web/src/collectives";
import { Kind, type TraceData } from "../../web/src/events";

// Calls of a rank as (communicator, entry); null: a call that is no collective.
function rank(calls: ([number, number] | null)[], shapes: number[]): unknown {
  return {
    count: calls.length,
    shape: Uint32Array.from(calls, (call) => (call === null ? 0 : shapes[call[0]]!)),
    enter: Float64Array.from(calls, (call) => (call === null ? 0 : call[1])),
  };
}

test("the k-th collective of a communicator is one of all its members", () => {
  const shapes = [{ kind: Kind.send, comm: 0 }, { kind: Kind.collective, comm: 0 }, { kind: Kind.icollective, comm: 1 }];
  const ids = [1, 2];
  const trace = {
    shapes,
    ranks: [
      rank([[0, 5], null, [1, 7], [0, 40]], ids),
      rank([[0, 9], [0, 30]], ids),
      rank([[1, 8], [0, 9], [0, 35]], ids),
    ],
  } as unknown as TraceData;
  const all = new Collectives(trace);
  assert.deepEqual(all.of(0, 0), { first: 5, last: 9, rank: 1, event: 0, members: 3 }); // the lowest of those at 9
  assert.equal(all.of(0, 1), null);
  assert.deepEqual(all.of(0, 2), { first: 7, last: 8, rank: 2, event: 0, members: 2 });
  assert.deepEqual(all.of(2, 2), { first: 30, last: 40, rank: 0, event: 3, members: 3 });
});
