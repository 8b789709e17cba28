// Opens time line pages in a headless Chromium and reads what they report to
// have drawn. Usage: node page_test.mjs CHROMIUM MAKE_PAGE FOLDER
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Reports } from "./browser.mjs";

const [chromium, makePage, folder] = process.argv.slice(2);

function writePage(...words) {
  const file = join(folder, `${words.join("-")}.html`);
  const made = spawnSync(makePage, [...words, file], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return file;
}

const reports = new Reports(chromium);
const check = (name, body) => reports.check(name, body);

await check("a page has no address outside itself", async () => {
  const page = readFileSync(writePage("mandel", "0", "0"), "utf8");
  assert.doesNotMatch(page, /(src|href)\s*=\s*["']?(https?:)?\/\//);
  assert.doesNotMatch(page, /@import|@FORETRACE|@STYLE@|@SCRIPT@/);
});

await check("a page draws its trace", async () => {
  const { attribute, messages } = await reports.open(writePage("mandel", "0", "0"), { result: false });
  assert.deepEqual(messages, []);
  assert.equal(attribute("error"), undefined);
  const summary = JSON.parse(attribute("summary"));
  assert.equal(summary.ranks, 8);
  assert.equal(summary.ranksDrawn, 8);
  assert.deepEqual([...summary.states].sort(), ["COMPUTE", "MPI_Allreduce", "MPI_Barrier", "MPI_Recv", "MPI_Send"]);
  // Each of the 7 senders: barrier, compute, send, allreduce waiting, allreduce.
  assert.ok(summary.runs >= 7 * 5, `${summary.runs} runs`);
});

await check("what a user does changes what is drawn", async () => {
  const file = writePage("halo", "16", "400");
  const script = `<script>
    const { model, page, stage } = window.foretraceTimeline;
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
  const { attribute, messages } = await reports.open(changed);
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

// A page that runs `body` and reports what `result` holds then.
async function act(words, name, body, size) {
  const file = writePage(...words);
  const script = `<script>
    const { model, page, stage } = window.foretraceTimeline;
    const result = {};
    page.drawNow();
    ${body}
    document.documentElement.dataset.result = JSON.stringify(result);
  </script></body>`;
  const changed = join(folder, `${name}.html`);
  writeFileSync(changed, readFileSync(file, "utf8").replace("</body>", () => script));
  const { attribute, messages } = await reports.open(changed, size);
  assert.deepEqual(messages, []);
  return JSON.parse(attribute("result"));
}

await check("a thousand ranks fit, by exact shares", async () => {
  const result = await act(["halo", "1024", "40"], "thousand", `
    const frame = page.drawNow();
    result.drawn = frame.ranksDrawn;
    const { layout, painter } = stage;
    result.fits = 1024 * layout.rowPitch <= layout.rowsHeight + 1e-6;
    // The mean of the rows' colours is that of the bar of all ranks: nothing is left out.
    const mean = (top, height) => {
      const ratio = stage.ratio;
      const copy = document.createElement("canvas");
      copy.width = Math.floor(layout.plot * ratio) - 1;
      copy.height = Math.floor(height * ratio) - 1;
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(document.querySelector("#bars"), -Math.ceil(layout.left * ratio), -Math.ceil(top * ratio));
      const data = context.getImageData(0, 0, copy.width, copy.height).data;
      const sum = [0, 0, 0];
      for (let i = 0; i < data.length; i += 4) for (let c = 0; c < 3; c++) sum[c] += data[i + c];
      return sum.map((s) => s / (data.length / 4));
    };
    result.rows = mean(layout.rowsTop, layout.rowsHeight);
    result.all = mean(layout.allTop, layout.allHeight);
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "]" }));
    page.drawNow();
    result.zoomed = stage.layout.rowPitch / layout.rowPitch;
    model.zoomY = 1e9;
    result.few = page.drawNow().ranksDrawn;
  `);
  assert.equal(result.drawn, 1024);
  assert.ok(result.fits);
  for (let c = 0; c < 3; c++) assert.ok(Math.abs(result.rows[c] - result.all[c]) < 4, `${result.rows} ${result.all}`);
  assert.ok(Math.abs(result.zoomed - 1.5) < 1e-9, `${result.zoomed}`);
  assert.ok(result.few < 20, `${result.few}`);
});

await check("what serves again where the view has moved is what would be drawn anew", async () => {
  const result = await act(["halo", "512", "60"], "moved", `
    const { plot } = stage.layout;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [stage.bars.width, stage.bars.height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    const pixels = () => {
      context.drawImage(stage.bars, 0, 0);
      return context.getImageData(0, 0, copy.width, copy.height).data;
    };
    // Each look is reached from the one before, in full, and by frames that have time for one piece.
    const span = model.end / 3;
    let t0 = model.end / 5;
    const looks = [
      () => { model.view = { t0, t1: t0 + span }; },
      () => { t0 += 37 / plot * span; model.view = { t0, t1: t0 + span }; },
      () => { t0 -= 5 / plot * span; model.view = { t0, t1: t0 + span }; },
      () => { model.scroll += 11; },
      () => { model.scroll = Math.max(0, model.scroll - 3); t0 -= 64 / plot * span; model.view = { t0, t1: t0 + span }; },
      () => { t0 += 0.4 / plot * span; model.view = { t0, t1: t0 + span }; },
    ];
    result.differing = [];
    result.frames = [];
    for (const [shares, zoomY] of [[true, 1], [true, 2.5], [true, 12], [false, 12], [false, 1.5]]) {
      Object.assign(model, { shares, zoomY, scroll: zoomY === 1 ? 0 : 40 });
      for (const [i, look] of looks.entries()) {
        look();
        let frames = 0;
        if (i % 2 === 1) page.drawNow(0);
        do { page.drawNow(i % 2 === 1 ? 0 : Infinity); frames++; } while ("drawing" in document.documentElement.dataset);
        result.frames.push(frames);
        const moved = pixels();
        page.repaint();
        page.drawNow();
        const anew = pixels();
        let worst = 0;
        for (let k = 0; k < anew.length; k++) worst = Math.max(worst, Math.abs(anew[k] - moved[k]));
        if (worst > 1) result.differing.push([shares, zoomY, i, worst]);
      }
    }
  `, { width: 800, height: 500 });
  assert.deepEqual(result.differing, []);
  assert.ok(Math.max(...result.frames) > 20, `${result.frames}`);
});

await check("the first frame after another size shows nothing that was not there", async () => {
  const result = await act(["halo", "16", "60"], "resized", `
    page.drawNow();
    stage.node.style.flex = "none";
    stage.node.style.height = stage.layout.height - 40 + "px";
    page.drawNow(0);
    result.incomplete = "drawing" in document.documentElement.dataset;
    const { width, height } = stage.bars;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [width, height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(stage.bars, 0, 0);
    const data = context.getImageData(0, 0, width, height).data;
    result.black = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] + data[i + 1] + data[i + 2] === 0) result.black++;
    result.share = result.black / (width * height);
  `, { width: 800, height: 500 });
  assert.ok(result.incomplete);
  assert.ok(result.share < 0.01, `${result.share}`);
});

await check("two fingers zoom time and rows", async () => {
  const result = await act(["halo", "64", "40"], "pinch", `
    const canvas = document.querySelector("#overlay");
    canvas.setPointerCapture = () => {};
    const box = canvas.getBoundingClientRect();
    const touch = (type, pointerId, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
      pointerId, pointerType: "touch", button: 0, clientX: box.left + x, clientY: box.top + y, bubbles: true }));
    const { left, plot, rowsTop, rowsHeight } = stage.layout;
    const whole = model.view.t1;
    // From 1/4 and 1/2 of the width to 1/4 and 3/4: what is under the fingers stays there.
    const y = rowsTop + rowsHeight / 4;
    touch("pointerdown", 1, left + plot / 4, y);
    touch("pointerdown", 2, left + plot / 2, y);
    touch("pointermove", 2, left + plot * 3 / 4, y);
    result.span = (model.view.t1 - model.view.t0) / whole;
    result.t0 = model.view.t0 / whole;
    result.zoomY = model.zoomY;
    touch("pointerup", 2, left + plot * 3 / 4, y);
    touch("pointerup", 1, left + plot / 4, y);
    result.selected = model.selected;
    // Up and down: rows twice as high, the time as it was.
    const x = left + plot / 2;
    touch("pointerdown", 1, x, rowsTop + rowsHeight / 4);
    touch("pointerdown", 2, x, rowsTop + rowsHeight / 2);
    touch("pointermove", 2, x, rowsTop + rowsHeight * 3 / 4);
    result.rows = model.zoomY;
    result.scroll = model.scroll / rowsHeight;
    result.sameSpan = (model.view.t1 - model.view.t0) / whole;
    touch("pointerup", 2, x, rowsTop + rowsHeight * 3 / 4);
    touch("pointerup", 1, x, rowsTop + rowsHeight / 4);
  `);
  // t = x / w is under finger 1 before (1/4) and after: (1/4 - t0) / span = 1/4, so span 1/2, t0 1/8.
  assert.ok(Math.abs(result.span - 0.5) < 0.01, `${result.span}`);
  assert.ok(Math.abs(result.t0 - 0.125) < 0.01, `${result.t0}`);
  assert.equal(result.zoomY, 1);
  assert.equal(result.selected, null); // a pinch selects nothing
  assert.ok(Math.abs(result.rows - 2) < 0.02, `${result.rows}`);
  assert.ok(Math.abs(result.scroll - 0.25) < 0.02, `${result.scroll}`);
  assert.ok(Math.abs(result.sameSpan - 0.5) < 0.01, `${result.sameSpan}`);
});

await check("a collective's tooltip tells who came last", async () => {
  const result = await act(["mandel", "0", "0"], "last", `
    const { enter, shape, count } = model.trace.ranks[0];
    for (let i = 0; i < count; i++) {
      const name = model.trace.head.names[model.trace.shapes[shape[i]].name];
      if (name !== "MPI_Allreduce") continue;
      stage.controls.pointer = { x: stage.layout.left + ((enter[i] + 1e6) / model.view.t1) * stage.layout.plot, y: stage.layout.rowsTop + 3 };
      model.view = { t0: enter[i] - 1e9, t1: enter[i] + 1e9 };
      stage.controls.pointer.x = stage.layout.left + 0.51 * stage.layout.plot;
      page.drawNow();
      page.drawFront();
      result.tooltip = stage.tooltip.textContent;
      result.starts = model.trace.ranks.map((rank) => rank.enter[[...rank.shape].findIndex((s) =>
        model.trace.head.names[model.trace.shapes[s].name] === "MPI_Allreduce")]);
    }
  `);
  const latest = result.starts.indexOf(Math.max(...result.starts));
  assert.match(result.tooltip, new RegExp(`last to comerank ${latest}, [0-9.]+ .s after the first`));
});

await check("a profile fits a phone", async () => {
  // Browsers' windows have a least width, frames have none.
  const inner = readFileSync(writePage("profile", "64", "0"), "utf8");
  const page = join(folder, "phone.html");
  writeFileSync(page, `<html><body><iframe style="width:390px;height:844px;border:0"></iframe><script>
    const frame = document.querySelector("iframe");
    frame.onload = () => {
      const { scrollWidth, clientWidth } = frame.contentDocument.documentElement;
      document.documentElement.dataset.result = JSON.stringify({ scrollWidth, clientWidth });
    };
    frame.srcdoc = ${JSON.stringify(inner).replaceAll("<", "\\u003c")};
  </script></body></html>`);
  const { attribute, messages } = await reports.open(page);
  assert.deepEqual(messages, []);
  const { scrollWidth, clientWidth } = JSON.parse(attribute("result"));
  assert.ok(clientWidth <= 390);
  assert.ok(scrollWidth <= clientWidth, `${scrollWidth} ${clientWidth}`);
});

await check("marks are drawn, and tell their number", async () => {
  const file = writePage("halo", "16", "400");
  const script = `<script>
    const { model, page, stage } = window.foretraceTimeline;
    const result = { drawn: page.drawNow().marks };
    const { enter, marks } = model.trace.ranks[0];
    const { left, plot, rowsTop, rowBar } = stage.layout;
    const x = left + (enter[marks[1].event] / model.view.t1) * plot;
    stage.controls.pointer = { x: x + 2, y: rowsTop + rowBar / 2 };
    page.drawNow();
    page.drawFront();
    result.tooltip = stage.tooltip.textContent;
    document.documentElement.dataset.result = JSON.stringify(result);
  </script></body>`;
  const changed = join(folder, "marks.html");
  writeFileSync(changed, readFileSync(file, "utf8").replace("</body>", () => script));
  const { attribute, messages } = await reports.open(changed);
  assert.deepEqual(messages, []);
  const result = JSON.parse(attribute("result"));
  assert.equal(result.drawn, 5); // 80 steps, one in 16
  assert.match(result.tooltip, /residual/);
  assert.match(result.tooltip, /value.*0\.03125/s); // 1/32
});

await check("a page whose data were cut off says so", async () => {
  const file = writePage("mandel", "0", "0");
  const page = readFileSync(file, "utf8");
  const cut = page.replace(/(octet-stream">.{80}).*?(<\/script>)/s, "$1$2");
  assert.notEqual(cut, page);
  const broken = join(folder, "broken.html");
  writeFileSync(broken, cut);
  const { attribute } = await reports.open(broken, { result: false });
  assert.match(attribute("error"), /cut off/);
});

await reports.close();
