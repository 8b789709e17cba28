// How long the time line page takes to open and to draw, and what it holds, for made-up runs.
//
//   node run.mjs CHROMIUM TEMPLATE FOLDER [EVENTS RANKS]...
//
// TEMPLATE: build/web/timeline.html. Default: 10^6 events on 64 ranks, 10^7 on 1,024. Prints a
// line of JSON for each: seconds from navigation to the first picture; milliseconds of a complete
// picture at several zooms (median and worst of 20); of 120 frames while the view moves by 7
// pixels a frame or is zoomed by 3 %, the script's milliseconds and those from frame to frame
// (median, 95th percentile, worst), and how long the complete picture takes after that; the heap
// after a collection, the bytes of the page by event. Wall times: run it on an idle machine.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Browser } from "../../tests/web/drive.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [chromium, template, folder, ...sizes] = process.argv.slice(2);
const runs = sizes.length > 0 ? sizes.map(Number) : [1e6, 64, 1e7, 1024];

for (let i = 0; i < runs.length; i += 2) {
  const [events, ranks] = [runs[i], runs[i + 1]];
  const page = join(folder, `big-${events}.html`);
  const made = JSON.parse(execFileSync(process.execPath, [join(here, "big_page.mjs"), template, String(ranks), String(events), page], { encoding: "utf8" }));
  const browser = new Browser(chromium);
  try {
    await browser.open("about:blank");
    const began = performance.now();
    await browser.open(page);
    await browser.until(() => document.documentElement.dataset.summary !== undefined || document.documentElement.dataset.error !== undefined);
    const waited = (performance.now() - began) / 1000;
    const { drawn, error, summary } = await browser.evaluate(() => ({
      drawn: performance.getEntriesByType("paint").map((entry) => entry.startTime),
      error: document.documentElement.dataset.error,
      summary: JSON.parse(document.documentElement.dataset.summary ?? "{}"),
    }));
    const pictures = await browser.evaluate(() => {
      const { model, page: shown } = window.foretraceTimeline;
      const result = {};
      for (const zoom of [1, 10, 1000]) {
        const times = [];
        for (let k = 0; k < 20; k++) {
          const span = model.end / zoom;
          const t0 = (model.end - span) * ((k + 0.37) / 20);
          model.view = { t0, t1: t0 + span };
          times.push(shown.drawNow().milliseconds);
        }
        times.sort((a, b) => a - b);
        result[zoom] = { median: times[10], worst: times[19] };
      }
      return result;
    });
    const moves = {};
    for (const [name, zoom, pixels, factor] of [["pan", 2, 7, 1], ["pan_far_in", 1000, 7, 1], ["zoom", 1, 0, 1.03]])
      moves[name] = await browser.evaluate(async (zoom, pixels, factor) => {
        const { model, page: shown, stage } = window.foretraceTimeline;
        const frame = () => new Promise(requestAnimationFrame);
        let span = model.end / zoom;
        let t0 = model.end / 3 - span / 6;
        const look = () => (model.view = { t0, t1: t0 + span });
        look();
        shown.drawNow();
        const script = [];
        const between = [];
        let before = await frame();
        for (let k = 0; k < 120; k++) {
          const was = span;
          span /= factor;
          t0 += (was - span) / 2 + (pixels / stage.layout.plot) * span;
          look();
          const began = performance.now();
          shown.drawNow(5);
          script.push(performance.now() - began);
          const now = await frame();
          between.push(now - before);
          before = now;
        }
        const ended = performance.now();
        while ("drawing" in document.documentElement.dataset) await frame();
        const complete_after = performance.now() - ended;
        const of = (times) => {
          times.sort((a, b) => a - b);
          return { median: times[60], most_95: times[113], worst: times[119] };
        };
        return { script_ms: of(script), between_ms: of(between), complete_after };
      }, zoom, pixels, factor);
    await browser.send("HeapProfiler.collectGarbage");
    const heap = await browser.evaluate(() => performance.memory.usedJSHeapSize);
    console.log(JSON.stringify({
      events: made.events, ranks, error, page_bytes_per_event: statSync(page).size / made.events, open_s: waited,
      first_paint_ms: drawn, load_ms: summary.loadMilliseconds, pictures_ms: pictures, moves, heap_bytes_per_event: heap / made.events,
    }));
  } finally {
    await browser.close();
  }
}
