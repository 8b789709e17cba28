// What the explanation finds in the trace, and the curves that it draws.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../web/src/events";
import { curveOf, describePlace, eventAround, findLongest, type Sensitivity } from "../../web/src/explain/data";
import { CriticalPath } from "../../web/src/path";
import { buildTrace } from "./build_trace";

const kRecv = 0;
const kSend = 1;
const place = { place: "halo.c:37", function: "MPI_Recv", phase: "" };

function example() {
  const trace = buildTrace(["MPI_Recv", "MPI_Send", "solve"], [
    [
      { gap: 10, takes: 30, wait: 20, shape: { kind: Kind.recv, name: kRecv, place: 1 } },
      { gap: 50, takes: 40, wait: 35, shape: { kind: Kind.recv, name: kRecv, place: 2 } },
      { gap: 5, takes: 25, wait: 25, shape: { kind: Kind.recv, name: kRecv, place: 1 } },
    ],
    [{ gap: 500, takes: 1, shape: { kind: Kind.send, name: kSend, place: 1 } }],
  ]);
  trace.head.places.push("halo.c:37", "halo.c:40");
  return trace;
}

test("a finding leads to the longest wait at its place, or the longest computation before it", () => {
  const trace = example();
  assert.deepEqual(findLongest(trace, place, [0, 1], false), { rank: 0, event: 2, compute: false });
  assert.deepEqual(findLongest(trace, place, [0, 1], true), { rank: 0, event: 0, compute: true });
  assert.equal(findLongest(trace, place, [1], false), null);
  // Where the place is not known it is the function alone.
  assert.equal(findLongest(trace, { ...place, place: "MPI_Recv" }, [0], true)!.event, 1);
});

test("a phase tells places apart", () => {
  const trace = example();
  trace.ranks[0]!.phases.push({ name: 2, depth: 0, from: 0, to: 60 });
  // The first call lies in the phase, the last does not.
  assert.equal(findLongest(trace, { ...place, phase: "solve" }, [0], false)!.event, 0);
  assert.equal(findLongest(trace, { ...place, phase: "other" }, [0], false), null);
});

test("a moment leads to what the rank did then", () => {
  const trace = example();
  assert.deepEqual(eventAround(trace, 0, 5), { rank: 0, event: 0, compute: true });
  assert.deepEqual(eventAround(trace, 0, 39), { rank: 0, event: 0, compute: false });
  assert.equal(eventAround(trace, 0, 1e9), null);
});

test("places are told as the text tells them", () => {
  assert.equal(describePlace(place), "MPI_Recv at halo.c:37");
  assert.equal(describePlace({ place: "MPI_Recv", function: "MPI_Recv", phase: "solve" }), "MPI_Recv in phase solve");
  assert.equal(describePlace({ phase: "solve" }), "phase solve");
});

test("a curve goes through the run as it is", () => {
  const one: Sensitivity = {
    unit: "s", value: 3, slope: 2, tolerance: {},
    pieces: [{ from: 0, to: 2, slope: 1 }, { from: 2, to: 4, slope: 2 }],
  };
  // 100 at 3, so 98 at 2, 96 at 0, 102 at 4.
  assert.deepEqual(curveOf(one, 100), [{ value: 0, time: 96 }, { value: 2, time: 98 }, { value: 4, time: 102 }]);
  assert.deepEqual(curveOf({ ...one, pieces: [] }, 100), []);
});

test("the path is gone through piece by piece", () => {
  const path = new CriticalPath({ ranks: [0, 1, 0], from: [0, 10, 30], to: [8, 30, 60] });
  assert.equal(path.step(1, 0, 40), 1); // 20 lies in the second
  assert.equal(path.step(1, 0, 40), 2);
  assert.equal(path.step(1, 0, 40), 2); // the last
  assert.equal(path.step(-1, 0, 40), 1);
  assert.equal(new CriticalPath({ ranks: [], from: [], to: [] }).step(1, 0, 1), null);
});
