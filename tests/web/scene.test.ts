import assert from "node:assert/strict";
import { test } from "node:test";

import { along, grid, type Network, networkScene, ring } from "../../web/src/scene";

// Three processors in a row and a switch above: 0 - 1 - 2, and 0 - 3 - 2.
const kRow: Network = {
  name: "row", nodes: [[0, 0.5, 0], [0.5, 0.5, 0], [1, 0.5, 0], [0.5, 0, 1]], links: [[0, 1], [1, 2], [0, 3], [2, 3]],
  ranks: [2, 0, 0], routes: [[2, 1, 0], [0, 3, 2]],
};

test("a ring begins on top, a grid has as few empty places as it can", () => {
  const [x, y] = ring(4).at[0]!;
  assert.ok(Math.abs(x - 0.5) < 1e-12 && Math.abs(y) < 1e-12);
  assert.deepEqual(grid(6).at.map(([column]) => column), [1 / 6, 0.5, 5 / 6, 1 / 6, 0.5, 5 / 6]);
});

test("messages follow their routes, and share links", () => {
  const scene = networkScene(kRow);
  const there = scene.way(0, 1); // from processor 2 to 0 by way of 1
  assert.deepEqual(there.map((leg) => leg.points), [[[1, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0, 0.5]]]);
  assert.deepEqual(along(there, 0), [1, 0.5]);
  assert.deepEqual(along(there, 0.75), [0.25, 0.5]);
  assert.deepEqual(along(there, 1), [0, 0.5]);
  // The other way leads over the switch.
  assert.deepEqual(scene.way(1, 0).map((leg) => leg.points[0]), [[0, 0.5], [0.5, 0]]);
  // Ranks 1 and 2 share a processor: no links between them, and both are seen.
  assert.equal(scene.way(1, 2).length, 1);
  assert.notDeepEqual(scene.at[1], scene.at[2]);
  assert.deepEqual(scene.at[0], [1, 0.5]);
  assert.deepEqual(scene.others, [[0.5, 0]]);
  assert.equal(new Set([...there, ...scene.way(2, 0)].map((leg) => leg.key)).size, 4);
});

test("a link over other nodes is bent", () => {
  const scene = networkScene({ ...kRow, links: [[0, 1], [1, 2], [0, 2]], routes: [[2, 0]] });
  assert.ok(scene.way(0, 1)[0]!.points.length > 2);
  assert.deepEqual(scene.links.map((leg) => leg.points.length), [2, 2, 13]);
});
