// Opens the page of watch in a headless Chromium; what the watcher says is made up here.
// Usage: node watch_test.mjs CHROMIUM PAGE AXE
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import { Browser } from "./drive.mjs";

const [chromium, page, axe] = process.argv.slice(2);
const kRanks = 12;
let looks = 0;
let stopped = false;

function state() {
  const seconds = ++looks * 0.5;
  const ranks = Array.from({ length: kRanks }, (_, rank) => ({
    rank, doing: rank % 3 === 0 ? "computing" : "calling", call: rank % 3 === 0 ? "" : "MPI_Recv", place: "ring.c:8", phase: "solve",
    calls: looks * 100, sent: looks, bytes: looks * 1000, waits: rank % 3 === 0 ? 0 : 1, waits_for: rank % 3 === 0 ? [] : [rank - 1], guessed: rank === 5,
    unread: rank === 6 ? [[5, 2]] : [], ...(stopped && rank === 6 ? { process: 4711 } : {}),
  }));
  const messages = Array.from({ length: kRanks }, (_, rank) => [rank, (rank + 1) % kRanks, 3, 100 * rank]);
  return {
    seconds, ended: false, line: `${seconds} s: <b>`, clock: "wall", picture: `version ${Math.floor(looks / 2)}`, compute: 3,
    functions: [["MPI_Recv", 40, 0.75], ["MPI_Send", 40, 0.25]], messages, ranks,
  };
}

// Half of the rows of a grey picture; one that browsers know themselves; one that is half written.
const kPng = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pictures = [
  Buffer.concat([Buffer.from("P5\n4 4\n255\n"), Buffer.alloc(8, 200)]), Buffer.from(kPng, "base64"), Buffer.from(kPng, "base64").subarray(0, 30),
];
let pictured = 0;

function answer(asked) {
  if (asked === "state") return ["application/json", JSON.stringify(state())];
  if (asked === "picture") return ["application/octet-stream", pictures[Math.min(pictured, 2)]];
  return ["text/html", readFileSync(page)];
}

const server = createServer((request, response) => {
  const [type, body] = answer(request.url.split("/").pop());
  response.setHeader("Content-Type", type);
  response.end(body);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = new Browser(chromium);
try {
  for (const dark of [false, true]) {
    stopped = false;
    pictured = 0;
    const address = `http://127.0.0.1:${server.address().port}/`;
    await browser.open(`${address}token/`, { dark });
    await browser.until(() => document.documentElement.dataset.watch !== undefined);
    assert.equal(await browser.evaluate(() => document.querySelector("#alarm").hidden), true);
    stopped = true;
    await browser.until(() => JSON.parse(document.documentElement.dataset.watch).stopped.length === 1);
    const alarm = await browser.evaluate(() => document.querySelector("#alarm").textContent);
    assert.equal(alarm, "Rank 6 is stopped (process 4711). Waiting for it: 7. Sent to it, and not received: 5.");
    assert.match(await browser.evaluate(() => document.querySelector("#line").textContent), /s: <b>/); // text, no markup
    const sums = await browser.evaluate(() => [...document.querySelectorAll("#sums tbody tr")].map((line) => [...line.cells].map((cell) => cell.textContent)));
    assert.deepEqual(sums, [["COMPUTE", "", "3 s", "75.0 %"], ["MPI_Recv", "40", "750 ms", "18.8 %"], ["MPI_Send", "40", "250 ms", "6.3 %"]]);
    const row = await browser.evaluate(() => [...document.querySelectorAll("#table tbody tr")].map((line) => [...line.cells].map((cell) => cell.textContent)).find(([rank]) => rank === "5"));
    assert.deepEqual(row.slice(0, 4), ["5", "MPI_Recv ring.c:8", "4 (as the last time)", "solve"]);
    assert.equal(row[5], "200"); // 100 calls in half a second
    // The picture as far as it is written, then another; what is no picture leaves the one before.
    const shown = () => browser.evaluate(() => {
      const canvas = document.querySelector("#picture");
      return [canvas.width, canvas.height, ...canvas.getContext("2d").getImageData(0, 0, 1, canvas.height).data.filter((_, i) => i % 4 === 3)];
    });
    const version = () => browser.evaluate(() => document.documentElement.dataset.picture);
    await browser.until(() => !document.querySelector("#shown").hidden);
    assert.deepEqual(await shown(), [4, 4, 255, 255, 0, 0]);
    pictured = 1;
    await browser.until(() => document.querySelector("#picture").width === 1);
    pictured = 2;
    const before = looks;
    while (looks < before + 6) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await shown())[0], 1);
    assert.ok(await version());
    assert.deepEqual(await browser.faults(axe), [], dark ? "dark" : "light");
    assert.deepEqual(browser.messages, []);
    assert.deepEqual(browser.requests.filter((asked) => !asked.startsWith(address) && !asked.startsWith("data:") && asked !== "about:blank"), []);
    // Nothing is wider than the screen.
    for (const [name, width, height] of [["phone", 390, 844], ["laptop", 1280, 800], ["wall", 3840, 2160]]) {
      await browser.open(`${address}token/`, { dark, width, height });
      await browser.until(() => document.documentElement.dataset.watch !== undefined);
      assert.ok(await browser.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), name);
      if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/watch-${name}-${dark ? "dark" : "light"}.png`);
    }
  }
  console.log("ok the page of a run under way names who is stopped");
} finally {
  await browser.close();
  server.close();
}
