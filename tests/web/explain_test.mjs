// Opens pages of `foretrace explain` in a headless Chromium. Usage:
//   node explain_test.mjs CHROMIUM FORETRACE FOLDER
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Reports } from "./browser.mjs";

const [chromium, foretrace, folder] = process.argv.slice(2);

// Rank 1 works on what rank 0 sends late, and rank 2 on what rank 1 sends. "<!--" in a name
// ends nothing.
const program = `num_ranks 3
rank 0 { a: calc 100000
b: send 1000b to 1 tag 1
b requires a }
rank 1 { a: calc 40000
b: recv 1000b from 0 tag 1
c: calc 90000
d: send 1000b to 2 tag 2
b requires a
c requires b
d requires c }
rank 2 { b: recv 1000b from 1 tag 2
c: calc 50000
c requires b }
`;
const goal = join(folder, "<!--chain.goal");
const page = join(folder, "explain.html");

function run(...words) {
  const result = spawnSync(foretrace, words, { encoding: "utf8" });
  assert.equal(result.status, 0, result.stderr);
  return result;
}

const reports = new Reports(chromium);
const check = (name, body) => reports.check(name, body);

// The page, and what `body` reports of it in `result`.
async function act(name, body) {
  const script = `<script>
    const { model, page, explanation } = window.foretraceTimeline;
    const result = {};
    page.drawNow();
    ${body}
    document.documentElement.dataset.result = JSON.stringify(result);
  </script></body>`;
  const changed = join(folder, `${name}.html`);
  writeFileSync(changed, readFileSync(page, "utf8").replace("</body>", () => script));
  const { attribute, messages } = await reports.open(changed);
  assert.deepEqual(messages, []);
  assert.equal(attribute("error"), undefined);
  return JSON.parse(attribute("result"));
}

writeFileSync(goal, program);
const options = [goal, "--loggps", "L=2us,o=500ns,g=100ns,G=0.1ns"];
const said = run("explain", ...options, "-o", page);
const json = JSON.parse(run("explain", ...options, "--json").stdout);

await check("the page is one file without an address outside", async () => {
  assert.equal(said.stderr.includes(`wrote ${page}`), true);
  const text = readFileSync(page, "utf8");
  assert.doesNotMatch(text, /(src|href)\s*=\s*["']?(https?:)?\/\//);
  assert.doesNotMatch(text, /@import|@FORETRACE|@STYLE@|@SCRIPT@/);
});

await check("it says what --json says", async () => {
  const result = await act("says", `
    result.headline = document.querySelector(".headline").textContent;
    result.findings = [...document.querySelectorAll("ol.findings li")].map((one) => one.querySelector(".title b").textContent);
    result.sections = [...document.querySelectorAll(".explanation section")].map((one) => one.id);
    result.plots = document.querySelectorAll("#sensitivity svg .curve").length;
    result.bounds = document.querySelectorAll("#bounds .row").length;
    result.json = explanation;
    result.title = document.title;
  `);
  const won = (time) => `${(100 * Math.max(0, (json.time - time) / json.time)).toFixed(1)} %`;
  assert.equal(result.headline,
    `At most ${won(json.headline.communication)} can be won by a faster network, ${won(json.headline.balance)} by balance, ` +
    `${won(json.headline.both)} by both; ${won(json.headline.waits)} if nobody waited.`);
  assert.deepEqual(result.findings, json.findings.map((one) => (one.kind === "wait" ? one.wait : one.kind)));
  for (const id of ["findings", "bounds", "efficiency", "critical-path", "sensitivity", "domino", "waits", "computation"])
    assert.ok(result.sections.includes(id), id);
  assert.equal(result.plots, 4);
  assert.equal(result.bounds, 9);
  const { where, path, ...rest } = result.json;
  assert.deepEqual(rest, json);
  assert.match(where, /network loggps/);
  assert.match(result.title, /explained$/);
});

await check("the critical path is drawn from the start to the end, over the ranks' rows", async () => {
  const result = await act("path", `
    result.ranks = explanation.path.ranks;
    result.from = explanation.path.from;
    result.to = explanation.path.to;
    result.end = model.trace.end;
    result.drawn = page.drawNow().stretches;
    const { left, plot, rowsTop, rowPitch, rowBar } = page.stages[0].layout;
    const ratio = page.stages[0].ratio;
    const overlay = document.querySelector("#overlay");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [overlay.width, overlay.height];
    const data = copy.getContext("2d", { willReadFrequently: true });
    data.drawImage(overlay, 0, 0);
    const opaque = (t, rank) => {
      const x = (left + (t / model.view.t1) * plot) * ratio;
      const y = (rowsTop + rank * rowPitch) * ratio;
      const column = data.getImageData(Math.round(x), Math.round(y), 1, Math.round(rowBar * ratio)).data;
      for (let i = 3; i < column.length; i += 4) if (column[i] > 200) return true;
      return false;
    };
    result.on = result.ranks.map((rank, i) => opaque((result.from[i] + result.to[i]) / 2, rank));
    result.off = opaque((result.from[0] + result.to[0]) / 2, 2);
    model.showPath = false;
    result.hidden = page.drawNow().stretches;
  `);
  assert.deepEqual(result.ranks, [0, 1, 2]);
  assert.equal(result.from[0], 0);
  assert.equal(result.to[2], result.end);
  assert.ok(Math.abs(result.end - json.time * 1e12) < 1);
  // A message takes o + L + 999 G = 2.5 us + 99.9 ns; the receiver's o lies on its rank.
  assert.equal(result.from[1] - result.to[0], 2_599_900);
  assert.equal(result.drawn, 3);
  assert.deepEqual(result.on, [true, true, true]);
  assert.equal(result.off, false);
  assert.equal(result.hidden, 0);
});

await check("findings and pieces lead to their places", async () => {
  const result = await act("leads", `
    document.querySelector("ol.findings button.link").click();
    result.selected = model.selected;
    result.view = [model.view.t0, model.view.t1];
    result.focus = document.activeElement.id;
    const stage = document.querySelector("#stage");
    const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
    key(document.querySelector("#overlay"), "0");
    key(document.querySelector("#overlay"), "n");
    result.piece = model.path.current;
    page.drawNow();
    result.told = document.querySelector("#piece").textContent;
    document.querySelector("#path-back").click();
    result.back = model.path.current;
    // Outside of the time line keys are the browser's.
    const before = model.view.t1 - model.view.t0;
    result.taken = !key(document.body, "ArrowDown") || !key(document.body, "+");
    result.same = model.view.t1 - model.view.t0 === before;
    // The wheel scrolls the page until the time line has the focus.
    const wheel = () => !document.querySelector("#overlay").dispatchEvent(new WheelEvent("wheel", { deltaY: 100, bubbles: true, cancelable: true }));
    document.activeElement.blur();
    result.wheelAway = wheel();
    document.querySelector("#overlay").focus();
    result.wheelHere = wheel();
    result.link = document.querySelectorAll("#waits button.link, #domino button.link").length;
  `);
  assert.equal(result.selected.compute, json.findings[0].kind !== "wait");
  assert.ok(json.findings[0].ranks.includes(result.selected.rank));
  assert.ok(result.view[1] - result.view[0] > 0);
  assert.equal(result.focus, "overlay");
  assert.equal(result.piece, 1); // in the middle of the run
  assert.match(result.told, /piece 2 of 3, on rank 1/);
  assert.match(result.told, /rank 0, 2.6 us before/);
  assert.equal(result.back, 0);
  assert.equal(result.taken, false);
  assert.ok(result.same);
  assert.equal(result.wheelAway, false);
  assert.equal(result.wheelHere, true);
  assert.ok(result.link >= 2);
});

await check("it fits a phone", async () => {
  const inner = readFileSync(page, "utf8");
  const phone = join(folder, "explain-phone.html");
  writeFileSync(phone, `<html><body><iframe style="width:390px;height:844px;border:0"></iframe><script>
    const frame = document.querySelector("iframe");
    frame.onload = () => {
      const { scrollWidth, clientWidth } = frame.contentDocument.documentElement;
      document.documentElement.dataset.result = JSON.stringify({ scrollWidth, clientWidth });
    };
    frame.srcdoc = ${JSON.stringify(inner).replaceAll("<", "\\u003c")};
  </script></body></html>`);
  const { attribute, messages } = await reports.open(phone);
  assert.deepEqual(messages, []);
  const { scrollWidth, clientWidth } = JSON.parse(attribute("result"));
  assert.ok(clientWidth <= 390);
  assert.ok(scrollWidth <= clientWidth, `${scrollWidth} ${clientWidth}`);
});

await check("a time line alone has no path, and says nothing of one", async () => {
  const trace = join(folder, "chain.ftr");
  run("simulate", ...options, "-o", trace);
  const alone = join(folder, "alone.html");
  run("timeline", trace, "-o", alone);
  const script = `<script>document.documentElement.dataset.result = JSON.stringify({
    tools: document.querySelector("#path-tools").hidden, explained: document.body.className,
    sections: document.querySelectorAll(".explanation").length });</script></body>`;
  writeFileSync(alone, readFileSync(alone, "utf8").replace("</body>", () => script));
  const { attribute, messages } = await reports.open(alone);
  assert.deepEqual(messages, []);
  assert.deepEqual(JSON.parse(attribute("result")), { tools: true, explained: "", sections: 0 });
});

await reports.close();
