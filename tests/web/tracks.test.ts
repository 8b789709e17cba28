import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../web/src/events";
import { Model } from "../../web/src/model";
import { markLine, Steps, tracksOf } from "../../web/src/tracks";
import { buildTrace } from "./build_trace";

test("means of rectangles are exact, wherever the columns lie", () => {
  // Height 8 in [10, 30), 4 in [20, 40), nothing that lasts no time.
  const steps = new Steps([10, 20, 25], [30, 40, 25], [8, 4, 100]);
  assert.equal(steps.areaTo(0), 0);
  assert.equal(steps.areaTo(100), 240);
  assert.deepEqual([...steps.line(0, 10, 5).mean], [0, 8, 12, 4, 0]);
  assert.deepEqual([...steps.line(15, 10, 2).mean], [10, 8]); // (5*8 + 5*12) / 10, (5*12 + 5*4) / 10
  assert.deepEqual([...new Steps([], [], null).line(0, 10, 2).mean], [0, 0]);
});

test("a mark's number holds until the next one", () => {
  const line = markLine(Float64Array.from([5, 6, 25]), Float64Array.from([2, 4, 7]))(0, 10, 4);
  assert.deepEqual([...line.mean], [3, 4, 7, 7]);
  assert.deepEqual([line.least[0], line.most[0]], [2, 4]);
  assert.ok(Number.isNaN(markLine(Float64Array.of(5), Float64Array.of(1))(0, 2, 1).mean[0]!));
});

test("ranks that wait and bytes under way", () => {
  // Rank 0 computes 10, sends 800 bytes in 1; rank 1 waits 20 of its receive of 30.
  const trace = buildTrace(["call"], [
    [{ gap: 10, takes: 1, shape: { kind: Kind.send, sendPeer: 1, sendTag: 1, sendBytes: 800 } }],
    [{ gap: 0, takes: 30, wait: 20, shape: { kind: Kind.recv, recvPeer: 1, recvTag: 1 } }],
  ]);
  const tracks = tracksOf(new Model(trace));
  const means = (name: string): number[] => [...tracks.find((track) => track.name === name)!.line(0, 10, 3).mean];
  assert.deepEqual(tracks.map(({ name }) => name), ["ranks waiting", "ranks computing", "messages under way", "bytes under way"]);
  assert.deepEqual(means("ranks waiting"), [1, 1, 0]);
  assert.deepEqual(means("ranks computing"), [1, 0, 0]);
  assert.deepEqual(means("bytes under way"), [0, 800, 800]);
});
