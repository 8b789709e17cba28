// How often the page of a run on an architecture draws itself while it plays.
//
//   node run_architecture.mjs CHROMIUM FORETRACE FOLDER [SIDE]
//
// A torus of SIDE x SIDE processors (32: 1,024 entities), each sending to the one a quarter further
// on, three times. For three sizes of screen a line of JSON: frames a second over three seconds of
// playing in headless Chromium, milliseconds from frame to frame (median, 95th percentile, worst),
// and those of the page's own drawing. Wall times: run it on an idle machine.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "../../tests/web/drive.mjs";

const [chromium, foretrace, folder, given] = process.argv.slice(2);
const side = Number(given ?? 32), ranks = side * side, further = Math.floor(ranks / 4);
mkdirSync(folder, { recursive: true });
const run = (...words) => execFileSync(foretrace, words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
let goal = `num_ranks ${ranks}\nrank all {\n  repeat 3 {\n    send 20000b to (me+${further})%size\n`;
goal += `    recv 20000b from (me+size-${further})%size\n    wait\n  }\n}\n`;
writeFileSync(join(folder, "torus.goal"), goal);
run("architecture", "convert", `torus:${side}x${side}?latency=1us&bandwidth=1GB/s`, "-o", "torus.arch.toml");
run("simulate", "torus.goal", "--loggps", "o=1us", "--network", "arch:torus.arch.toml", "--watch", "torus.html");

const browser = new Browser(chromium);
try {
  for (const [width, height] of [[1920, 1080], [1280, 800], [390, 844]]) {
    await browser.open(join(folder, "torus.html"), { width, height });
    await browser.until(() => document.documentElement.dataset.records !== undefined);
    const found = await browser.evaluate(async () => {
      document.querySelector("#play").click();
      const times = [];
      await new Promise((done) => {
        const began = performance.now();
        const tick = (t) => {
          times.push(t);
          if (performance.now() - began < 3000) requestAnimationFrame(tick);
          else done();
        };
        requestAnimationFrame(tick);
      });
      const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
      const at = (share) => Number(gaps[Math.floor(share * (gaps.length - 1))].toFixed(2));
      const page = document.documentElement.dataset;
      return {
        entities: Number(page.entities), records: Number(page.records), now: Number(page.now) > 0,
        "frames a second": Number(((1000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0)).toFixed(1)),
        "frame to frame ms": [at(0.5), at(0.95), at(1)], "drawing ms": Number(page.frameMs),
      };
    });
    console.log(JSON.stringify({ screen: `${width} x ${height}`, ...found }));
  }
} finally {
  await browser.close();
}
