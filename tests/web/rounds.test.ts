import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind, type TraceData } from "../../web/src/events";
import { Model } from "../../web/src/model";
import { buildTrace, type Call } from "./build_trace";

// A barrier of four ranks by dissemination: round 1 to the next rank, round 2 to the one after.
const kRounds = [[0, 1, 1, 2, 2, 3, 3, 0], [0, 2, 1, 3, 2, 0, 3, 1]];

function barriers(entries: number[][], end: number, wait = (_enter: number): number => 0): TraceData {
  const trace = buildTrace(["MPI_Barrier", "MPI_Send"], entries.map((list) => {
    let now = 0;
    return list.map((enter, i): Call => {
      const leave = end * (i + 1);
      const call = { gap: enter - now, takes: leave - enter, wait: wait(enter), shape: { kind: Kind.collective, name: 0 } };
      now = leave;
      return call;
    });
  }));
  const rounds = [{ call: [0, 0, 0, -1] as const, algorithm: "dissemination", rounds: kRounds }];
  return { ...trace, head: { ...trace.head, rounds } };
}

test("the rounds of a collective share its time evenly", () => {
  const model = new Model(barriers([[0], [0], [0], [0]], 100));
  const rounds = model.rounds();
  assert.ok(rounds.known);
  const [first] = rounds.at(10);
  assert.deepEqual([first!.round, first!.rounds, first!.algorithm, first!.name], [1, 2, "dissemination", 0]);
  assert.deepEqual(first!.messages.map(({ from, to, sent, came }) => [from, to, sent, came]), [[0, 1, 0, 50], [1, 2, 0, 50], [2, 3, 0, 50], [3, 0, 0, 50]]);
  const [second] = rounds.at(60);
  assert.equal(second!.round, 2);
  assert.deepEqual(second!.messages.map(({ from, to }) => [from, to]), [[0, 2], [1, 3], [2, 0], [3, 1]]);
  // Steps of the tape lead from round to round.
  assert.equal(rounds.next(0, 1, 100), 50);
  assert.equal(rounds.next(60, -1, 0), 50);
  assert.equal(rounds.next(60, 1, 100), 100);
});

test("nothing is sent while a rank waits for the last to come", () => {
  // Rank 3 comes at 80, the others wait until then.
  const model = new Model(barriers([[0], [0], [0], [80]], 100, (enter) => (enter === 0 ? 80 : 0)));
  const [before] = model.rounds().at(40);
  assert.deepEqual([before!.round, before!.messages], [0, []]);
  assert.deepEqual(model.rounds().at(85)[0]!.messages.map(({ sent, came }) => [sent, came]), Array(4).fill([80, 90]));
});

test("each collective is its own", () => {
  const model = new Model(barriers([[0, 150], [0, 150], [0, 150], [0, 150]], 100));
  assert.deepEqual(model.rounds().at(120), []);
  assert.deepEqual(model.rounds().at(160)[0]!.messages.map(({ sent }) => sent), Array(4).fill(150));
});

test("a rank that never came sends nothing", () => {
  const model = new Model(barriers([[0], [0], [0], []], 100));
  assert.deepEqual(model.rounds().at(10)[0]!.messages.map(({ from, to }) => [from, to]), [[0, 1], [1, 2]]);
});

test("without algorithms there are no rounds", () => {
  const trace = barriers([[0], [0], [0], [0]], 100);
  const model = new Model({ ...trace, head: { ...trace.head, rounds: [] } });
  assert.equal(model.rounds().known, false);
  assert.deepEqual(model.rounds().at(10), []);
});
