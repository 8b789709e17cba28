// Opens time line pages in a headless Chromium and reads what they report to
// have drawn. Usage: node page_test.mjs CHROMIUM MAKE_PAGE FOLDER
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { open } from "./browser.mjs";

const [chromium, makePage, folder] = process.argv.slice(2);

function writePage(...words) {
  const file = join(folder, `${words.join("-")}.html`);
  const made = spawnSync(makePage, [...words, file], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return file;
}

function check(name, body) {
  body();
  console.log(`ok ${name}`);
}

check("a page has no address outside itself", () => {
  const page = readFileSync(writePage("mandel", "0", "0"), "utf8");
  assert.doesNotMatch(page, /(src|href)\s*=\s*["']?(https?:)?\/\//);
  assert.doesNotMatch(page, /@import|@FORETRACE|@STYLE@|@SCRIPT@/);
});

check("a page draws its trace", () => {
  const { attribute, messages } = open(chromium, writePage("mandel", "0", "0"));
  assert.deepEqual(messages, []);
  assert.equal(attribute("error"), undefined);
  const summary = JSON.parse(attribute("summary"));
  assert.equal(summary.ranks, 8);
  assert.equal(summary.ranksDrawn, 8);
  assert.deepEqual([...summary.states].sort(), ["COMPUTE", "MPI_Allreduce", "MPI_Barrier", "MPI_Recv", "MPI_Send"]);
  // Each of the 7 senders: barrier, compute, send, allreduce waiting, allreduce.
  assert.ok(summary.runs >= 7 * 5, `${summary.runs} runs`);
});

check("what a user does changes what is drawn", () => {
  const file = writePage("halo", "16", "400");
  const script = `<script>
    const { model, page } = window.foretraceTimeline;
    const pixel = (x, y) => {
      const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      context.drawImage(document.querySelector("#bars"), -x, -y);
      return context.getImageData(0, 0, 1, 1).data.join();
    };
    const key = (name) => window.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
    const result = {};
    const whole = model.view.t1;
    key("+");
    result.zoomed = whole / (model.view.t1 - model.view.t0);
    result.messages = model.messages().count;
    model.view = { t0: 200e6, t1: 260e6 };
    key("m");
    result.arrows = page.drawNow().arrows;
    key("s");
    result.dominantRuns = page.drawNow().runs;
    const before = pixel(600, 300);
    model.states.names.forEach((_, state) => model.hidden.add(state));
    page.repaint();
    page.drawNow();
    result.hidden = before !== pixel(600, 300);
    key("0");
    result.reset = model.view.t0 === 0 && model.view.t1 === whole;
    document.documentElement.dataset.result = JSON.stringify(result);
  </script></body>`;
  const changed = join(folder, "interaction.html");
  writeFileSync(changed, readFileSync(file, "utf8").replace("</body>", () => script));
  const { attribute, messages } = open(chromium, changed);
  assert.deepEqual(messages, []);
  const result = JSON.parse(attribute("result"));
  assert.ok(Math.abs(result.zoomed - 1.5) < 1e-9);
  // Two messages per rank and step, 80 steps.
  assert.equal(result.messages, 16 * 80 * 2);
  assert.ok(result.arrows > 10, `${result.arrows} arrows`);
  assert.ok(result.dominantRuns > 16);
  assert.ok(result.hidden);
  assert.ok(result.reset);
});

check("marks are drawn, and tell their number", () => {
  const file = writePage("halo", "16", "400");
  const script = `<script>
    const { model, page } = window.foretraceTimeline;
    const result = { drawn: page.drawNow().marks };
    const { enter, marks } = model.trace.ranks[0];
    const { left, plot, rowsTop, rowBar } = page.layout;
    const x = left + (enter[marks[1].event] / model.view.t1) * plot;
    page.controls.pointer = { x: x + 2, y: rowsTop + rowBar / 2 };
    page.drawNow();
    page.drawFront();
    result.tooltip = page.tooltip.textContent;
    document.documentElement.dataset.result = JSON.stringify(result);
  </script></body>`;
  const changed = join(folder, "marks.html");
  writeFileSync(changed, readFileSync(file, "utf8").replace("</body>", () => script));
  const { attribute, messages } = open(chromium, changed);
  assert.deepEqual(messages, []);
  const result = JSON.parse(attribute("result"));
  assert.equal(result.drawn, 5); // 80 steps, one in 16
  assert.match(result.tooltip, /residual/);
  assert.match(result.tooltip, /value.*0\.03125/s); // 1/32
});

check("a page whose data were cut off says so", () => {
  const file = writePage("mandel", "0", "0");
  const page = readFileSync(file, "utf8");
  const cut = page.replace(/(octet-stream">.{80}).*?(<\/script>)/s, "$1$2");
  assert.notEqual(cut, page);
  const broken = join(folder, "broken.html");
  writeFileSync(broken, cut);
  const { attribute } = open(chromium, broken);
  assert.match(attribute("error"), /cut off/);
});
