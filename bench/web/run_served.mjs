// How long `timeline --serve` takes to make a view, and the page to open and to be complete.
//
//   node run_served.mjs CHROMIUM FORETRACE TRACE.ftr
//
// TRACE: of bench/formats/big_trace; `big_trace huge.ftr 16384 1000` has 98 million events. Prints
// a line of JSON: seconds to make the view (0 if it was there), from navigation to the first
// picture and to all its tiles, bytes of trace and view, the page's heap. Wall times: run it on an
// idle machine.
import { spawn } from "node:child_process";
import { statSync } from "node:fs";

import { Browser } from "../../tests/web/drive.mjs";

const [chromium, foretrace, trace] = process.argv.slice(2);
const seconds = (since) => (performance.now() - since) / 1000;

const started = performance.now();
const server = spawn(foretrace, ["timeline", trace, "--serve"], { stdio: ["ignore", "pipe", "pipe"] });
let said = "";
server.stderr.setEncoding("utf8").on("data", (text) => (said += text));
const address = await new Promise((resolve, reject) => {
  server.stdout.setEncoding("utf8").on("data", (text) => resolve(/http:\S+/.exec(text)[0]));
  server.on("exit", () => reject(new Error(said)));
});
const made = said === "" ? 0 : seconds(started);
const browser = new Browser(chromium);
try {
  await browser.open("about:blank");
  await browser.send("Page.navigate", { url: address });
  const began = performance.now();
  await browser.until(() => document.documentElement !== null && "summary" in document.documentElement.dataset);
  const opened = seconds(began);
  await browser.until(() => {
    const { remote } = window.foretraceTimeline.model;
    return remote.version > 0 && remote.wanted.length === 0 && remote.asked.size === 0;
  });
  const complete = seconds(began);
  const [events, ranks, load, frame] = await browser.evaluate(() => {
    const summary = JSON.parse(document.documentElement.dataset.summary);
    return [summary.events, summary.ranks, summary.loadMilliseconds, summary.milliseconds];
  });
  await browser.send("HeapProfiler.collectGarbage");
  const heap = await browser.evaluate(() => performance.memory.usedJSHeapSize);
  console.log(JSON.stringify({
    events, ranks, make_view_s: made, open_s: opened, complete_s: complete, load_ms: load, first_frame_ms: frame,
    trace_bytes: statSync(trace).size, view_bytes: statSync(`${trace}.view`).size, heap_bytes: heap,
  }));
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill("SIGINT");
}
