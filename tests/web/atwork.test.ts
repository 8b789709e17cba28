// The page of a run on an architecture: what it makes of the data, by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Run, Steps, stepsOf, timeText, type RunData } from "../../web/src/atwork/run";
import { Scene, shareOf } from "../../web/src/atwork/shown";
import { latencyTable, linkTable, quantityTable } from "../../web/src/atwork/statistics";

// Two nodes of a processor and a NIC each, joined by their NICs; one message of 100 bytes.
const kData: RunData = {
  title: "two nodes", from: 0, to: 1000, detail: "states", lost: 0, lostCalls: 0,
  entities: [
    ["a.cpu", "processor", 0, 0, "packet", 1, 0, ""], ["a.nic", "nic", 0, 1, "packet", 1, 1, ""],
    ["b.cpu", "processor", 1, 0, "packet", 2, 0, ""], ["b.nic", "nic", 1, 1, "packet", 2, 1, ""],
  ],
  parameters: [[["ranks", "1"]], [["rails", "first"]]],
  boxes: [["", "machine", -1], ["a", "node", 0], ["b", "node", 0]],
  links: [[0, 1], [1, 3], [2, 3]],
  sums: [[0, 1, 1, 100, 200], [1, 3, 1, 100, 300], [3, 2, 1, 100, 200]],
  quantities: [[1, "waiting", 0.1, 1], [3, "waiting", 0, 0]],
  latencies: { count: 1, mean: 750, most: 750, bytes: 100, bins: Array.from({ length: 65 }, (_, b) => (b === 10 ? 1 : 0)) },
  records: [
    [0, 0, 0, 2, 100, 50, 50], [1, 0, 0, 1, 100, 100, 300], [1, 0, 1, 3, 100, 300, 600], [1, 0, 3, 2, 100, 600, 800], [2, 0, 0, 2, 100, 50, 800],
  ],
  states: [[200, 0, 1], [300, 0, 0]],
  ranks: [0, 2],
  names: ["MPI_Send", "MPI_Recv"], places: ["", "ring.c:7", "ring.c:9"],
  calls: [[0, 50, 300, 0, 1], [1, 20, 800, 1, 2], [0, 900, 950, 1, 2]],
};

test("a number that changes", () => {
  const steps = stepsOf([[30, -1], [10, 2], [10, 1]]);
  assert.deepEqual([5, 10, 29, 30, 99].map((t) => steps.at(t)), [0, 3, 3, 2, 2]);
  assert.equal(steps.most, 3);
  assert.equal(steps.mean(0, 40), (3 * 20 + 2 * 10) / 40);
  assert.deepEqual([...steps.within(10, 30)], [[10, 3], [30, 2]]);
  assert.equal(new Steps().at(7), 0);
});

test("what is under way, and the events one by one", () => {
  const run = new Run(kData);
  const moving = (t: number): number => {
    let count = 0;
    run.underWay(t, () => ++count);
    return count;
  };
  assert.deepEqual([50, 100, 299, 300, 799, 800].map(moving), [0, 1, 1, 1, 1, 0]);
  assert.equal(run.after(100), 200);
  assert.equal(run.before(300), 200);
  assert.equal(run.before(0), 0);
  assert.equal(run.after(2000), 1000);
});

test("where a rank stands", () => {
  const run = new Run(kData);
  assert.deepEqual(run.stand(0, 10), { call: "", place: "", next: "ring.c:7" });
  assert.deepEqual(run.stand(0, 50), { call: "MPI_Send", place: "ring.c:7", next: "" });
  assert.deepEqual(run.stand(0, 300), { call: "", place: "ring.c:7", next: "ring.c:9" });
  assert.deepEqual(run.stand(1, 500), { call: "MPI_Recv", place: "ring.c:9", next: "" });
});

test("two runs in step by the program's calls", () => {
  const slow = new Run({ ...kData, to: 2000, calls: kData.calls.map(([rank, enter, leave, name, place]) => [rank, 2 * enter, 2 * leave, name, place] as const) });
  const fast = new Run(kData);
  for (const t of [0, 20, 35, 50, 400, 900, 1000]) assert.equal(slow.timeAt(fast.progressAt(t)), 2 * t, String(t));
  for (const t of [20, 35, 50, 400, 900]) assert.equal(fast.timeAt(slow.progressAt(2 * t)), t, String(t));
});

test("boxes that are closed stand for what is in them", () => {
  const run = new Run(kData);
  const open = new Scene(run, new Set());
  assert.equal(open.shown.length, 4);
  assert.deepEqual(open.shown[1]!.busy, [[300, 600]]);
  assert.deepEqual([299, 300, 600].map((t) => open.shown[1]!.inside.at(t)), [0, 0, 0]);
  assert.equal(open.shown[0]!.inside.at(60), 100);
  const closed = new Scene(run, new Set([1]));
  assert.deepEqual(closed.shown.map(({ name, kind }) => [name, kind]), [["a", "box"], ["b.cpu", "processor"], ["b.nic", "nic"]]);
  assert.deepEqual([...closed.of], [0, 0, 1, 2]);
  // From the enter to the first byte on the link to the other node it is in the box.
  assert.deepEqual([49, 50, 299, 300].map((t) => closed.shown[0]!.inside.at(t)), [0, 100, 100, 0]);
  assert.deepEqual(closed.shown[0]!.busy, [[300, 600]]);
  assert.deepEqual(closed.links.map(({ from, to, busy }) => [from, to, busy]), [[0, 2, 0.3], [1, 2, 0.2]]);
  assert.deepEqual(closed.shown[0]!.ranks, [0]);
  assert.equal(closed.boxOf(0), 1);
  assert.equal(closed.boxOf(1), 2);
  const both = new Scene(run, new Set([1, 2]));
  assert.deepEqual(both.links.map(({ busy }) => busy), [0.3]);
  assert.equal(shareOf(both.shown[0]!.busy, 0, 600), 0.5);
});

test("statistics of all, and between two lines", () => {
  const run = new Run(kData);
  assert.deepEqual(linkTable(run, 0, 1000, true).rows[0]!.words, ["a.nic -> b.nic", "30.0 %", "1", "100 B"]);
  assert.deepEqual(linkTable(run, 200, 400, false).rows.map(({ words }) => words.slice(0, 2)), [["a.cpu -> a.nic", "50.0 %"], ["a.nic -> b.nic", "50.0 %"]]);
  assert.deepEqual(latencyTable(run, 0, 1000, true).rows.map(({ words }) => words), [["1.024 ns", "1"]]);
  assert.deepEqual(latencyTable(run, 0, 900, false).rows.map(({ words }) => words), [["1.024 ns", "1"]]);
  assert.deepEqual(latencyTable(run, 0, 700, false).rows, []);
  assert.deepEqual(quantityTable(run, 200, 400, false, "waiting").rows.map(({ words }) => words), [["a.nic", "0.5", "1"]]);
});

test("times in words", () => {
  assert.deepEqual([0, 999, 1500, 2e6, 1.5e9, 3e12].map(timeText), ["0 ps", "999 ps", "1.5 ns", "2 us", "1.5 ms", "3 s"]);
});
