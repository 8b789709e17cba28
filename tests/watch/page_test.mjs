// A manager and its workers draw the Mandelbrot set; the page shows picture and messages while they
// do, goes on after a request that failed, and names a rank that is stopped. In a headless Chromium.
// Usage: node page_test.mjs CHROMIUM FORETRACE MANDEL
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

import { Browser } from "../web/drive.mjs";

const kRanks = 8;
const kRows = 300;
const kSoon = 2000; // ms within which the page names who is stopped, where others leave the cores to it
const kPatience = 60000;

const [chromium, foretrace, mandel] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "foretrace-watch-"));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The manager's process: of those of the run the oldest that is rank 0.
function manager() {
  const ours = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((id) => {
    try {
      const variables = readFileSync(`/proc/${id}/environ`, "utf8").split("\0");
      return variables.includes(`FORETRACE_OUTPUT=${join(folder, "farm.ftr")}`) && variables.some((one) => /^(OMPI_COMM_WORLD_RANK|PMI_RANK)=0$/.test(one));
    } catch {
      return false; // it has ended, or is another's
    }
  });
  return Math.min(...ours);
}

const run = spawn(foretrace, [
  "watch", "-n", String(kRanks), "-o", "farm.ftr", "--picture", "set.pgm", "--", mandel, "--schedule", "farm",
  "--rows", String(kRows), "--cols", "300", "--iters", "1000000", "--image", "set.pgm",
], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
const ended = new Promise((resolve) => run.on("exit", resolve));
let said = "";
run.stderr.setEncoding("utf8");
run.stderr.on("data", (text) => (said += text));
const browser = new Browser(chromium);
let stopped = null;
try {
  const limit = Date.now() + kPatience;
  while (!/watch at \S+\n/.test(said) && Date.now() < limit) await pause(20);
  const address = /watch at (\S+)/.exec(said)[1];
  await browser.open(address);

  // Rows appear while others are missing, and messages go between manager and workers.
  const rows = () => browser.evaluate((count) => {
    const canvas = document.querySelector("#picture");
    if (document.querySelector("#shown").hidden || canvas.height !== count) return 0;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let drawn = 0;
    for (let row = 0; row < canvas.height; row++) drawn += data.subarray(4 * row * canvas.width, 4 * (row + 1) * canvas.width).some((value, i) => i % 4 === 0 && value > 0) ? 1 : 0;
    return drawn;
  }, kRows);
  await browser.until(() => /MPI_Recv/.test(document.querySelector("#sums").textContent));
  while ((await rows()) === 0 && Date.now() < limit) await pause(100);
  // It misses an answer or two, and goes on.
  const connect = (offline) => browser.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await connect(true);
  await browser.until(() => !document.querySelector("#silence").hidden);
  await connect(false);
  await browser.until(() => document.querySelector("#silence").hidden);
  browser.messages.length = 0; // those of the requests that were not answered
  const early = await rows();
  assert.ok(early > 0 && early < kRows, `${early} rows`);
  while ((await rows()) < early + kRanks && Date.now() < limit) await pause(100);
  assert.ok((await rows()) > early, "the picture goes on");

  // As in figure 3 of Karrels and Lusk: the manager is stopped, and all others have sent to it. On a
  // machine that is busy otherwise, the quickest of a few.
  const took = [];
  const stop = manager();
  while (took.length < 3 && !(took.at(-1) <= kSoon)) {
    await browser.until(() => document.querySelector("#alarm").hidden);
    const began = Date.now();
    process.kill(stop, "SIGSTOP");
    stopped = stop;
    await browser.until((id) => document.querySelector("#alarm").textContent.startsWith(`Rank 0 is stopped (process ${id}).`), stop);
    took.push(Date.now() - began);
    if (!(took.at(-1) <= kSoon)) process.kill(stop, "SIGCONT");
  }
  const others = loadavg()[0] - kRanks;
  console.log(`named after ${took.join(", ")} ms, beside ${others.toFixed(1)} of others`);
  assert.ok(took.at(-1) <= kSoon || others > availableParallelism());
  const workers = Array.from({ length: kRanks - 1 }, (_, i) => i + 1).join(", ");
  await browser.until((all) => document.querySelector("#alarm").textContent.endsWith(` Waiting for it: ${all}. Sent to it, and not received: ${all}.`), workers);
  assert.match(said, /rank 0 is STOPPED/);
  const half = await rows();
  assert.ok(half < kRows, `${half} rows`);
  assert.deepEqual(browser.messages, []);
  assert.deepEqual(browser.requests.filter((asked) => !asked.startsWith(address) && !asked.startsWith("data:") && asked !== "about:blank"), []);
  if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/watch-farm.png`);
  process.kill(stop, "SIGCONT");
  stopped = null;
  await browser.until(() => document.querySelector("#alarm").hidden);
  console.log(`ok ${half} of ${kRows} rows are drawn, and all workers have sent to the manager that is stopped`);
} finally {
  if (stopped !== null) process.kill(stopped, "SIGCONT");
  run.kill("SIGTERM");
  await ended;
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
