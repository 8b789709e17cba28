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
    calls: looks * 100, sent: looks, bytes: looks * 1000, waits_for: rank % 3 === 0 ? [] : [rank - 1], guessed: rank === 5,
    unread: rank === 6 ? [[5, 2]] : [], ...(stopped && rank === 6 ? { process: 4711 } : {}),
  }));
  return { seconds, ended: false, line: `${seconds} s: <b>`, ranks };
}

const server = createServer((request, response) => {
  const asked = request.url.split("/").pop();
  response.setHeader("Content-Type", asked === "state" ? "application/json" : "text/html");
  response.end(asked === "state" ? JSON.stringify(state()) : readFileSync(page));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = new Browser(chromium);
try {
  for (const dark of [false, true]) {
    stopped = false;
    const address = `http://127.0.0.1:${server.address().port}/`;
    await browser.open(`${address}token/`, { dark });
    await browser.until(() => document.documentElement.dataset.watch !== undefined);
    assert.equal(await browser.evaluate(() => document.querySelector("#alarm").hidden), true);
    stopped = true;
    await browser.until(() => JSON.parse(document.documentElement.dataset.watch).stopped.length === 1);
    const alarm = await browser.evaluate(() => document.querySelector("#alarm").textContent);
    assert.equal(alarm, "Rank 6 is stopped (process 4711). Waiting for it: 7. Sent to it, and not received: 5.");
    assert.match(await browser.evaluate(() => document.querySelector("#line").textContent), /s: <b>/); // text, no markup
    const row = await browser.evaluate(() => [...document.querySelectorAll("tbody tr")].map((line) => [...line.cells].map((cell) => cell.textContent)).find(([rank]) => rank === "5"));
    assert.deepEqual(row.slice(0, 4), ["5", "MPI_Recv ring.c:8", "4 (as the last time)", "solve"]);
    assert.equal(row[5], "200"); // 100 calls in half a second
    await browser.send("Runtime.evaluate", { expression: readFileSync(axe, "utf8") });
    const faults = await browser.evaluate(async () => {
      const { violations, passes } = await window.axe.run();
      if (passes.length < 10) throw new Error("the checker has not run");
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(" | ")}`);
    });
    assert.deepEqual(faults, [], dark ? "dark" : "light");
    assert.deepEqual(browser.messages, []);
    assert.deepEqual(browser.requests.filter((asked) => !asked.startsWith(address) && !asked.startsWith("data:") && asked !== "about:blank"), []);
    if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/watch-${dark ? "dark" : "light"}.png`);
  }
  console.log("ok the page of a run under way names who is stopped");
} finally {
  await browser.close();
  server.close();
}
