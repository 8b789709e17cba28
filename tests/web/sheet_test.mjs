// Opens data sheets in a headless Chromium, uses them as a person does, and compares what they
// say with `foretrace calc`. Usage: node sheet_test.mjs CHROMIUM FORETRACE MACHINES FOLDER
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { Reports } from "./browser.mjs";

const [chromium, foretrace, machines, folder] = process.argv.slice(2);

function run(...words) {
  const result = spawnSync(foretrace, words, { encoding: "utf8", timeout: 60000 });
  assert.equal(result.status, 0, result.stderr);
  return result.stdout;
}

const reports = new Reports(chromium);
const check = (name, body) => reports.check(name, body);

// A model with samples beside it, so that there are points.
function measuredModel() {
  mkdirSync(join(folder, "measured"), { recursive: true });
  const model = join(folder, "measured", "m.toml");
  writeFileSync(
    model,
    '[machine]\nname = "</script><b>m"\nranks = 8\ntime_unit = "us"\n[[function]]\nname = "bcast"\nclass = "collective"\n' +
      '[[function.regime]]\nbytes = [0, 999]\nc = [2.0, 0.1]\ns = [0.5, 0.1]\nf = "ln p"\nk = [0.001, 0.0001]\ng = "d"\n' +
      '[[function.regime]]\nbytes = [1000]\nc = 4.0\nk = [0.001, 0.0001]\ng = "p d"\n' +
      '[[function]]\nname = "barrier"\nclass = "barrier"\n[[function.regime]]\nbytes = [0]\nc = 1.0\ns = 2.0\nf = "p"\n',
  );
  const rows = ["function,ranks,bytes,launch,seconds,kept"];
  for (const p of [2, 8]) {
    for (const d of [0, 8, 64, 512, 4096])
      for (const launch of [1, 2, 3]) rows.push(`bcast,${p},${d},${launch},${(2 + launch * 0.01 + d * 0.001) * 1e-6},1`);
    rows.push(`barrier,${p},0,1,${(1.1 + 2 * p) * 1e-6},1`);
  }
  writeFileSync(join(folder, "measured", "m.samples.csv"), `${rows.join("\n")}\n`);
  return model;
}

async function openSheet(name, models, script) {
  const out = join(folder, name);
  run("datasheet", ...models, "--format", "html", "-o", out);
  const page = readFileSync(join(out, "datasheet.html"), "utf8");
  const asked = join(out, "asked.html");
  writeFileSync(asked, page.replace("</body>", () => `<script type="module">${script}</script></body>`));
  const { attribute, messages } = await reports.open(asked);
  assert.deepEqual(messages, []);
  return { page, result: JSON.parse(attribute("result")), summary: JSON.parse(attribute("summary")) };
}

const kAnswer = "document.documentElement.dataset.result = JSON.stringify(result);";

await check("a sheet says what calc says, draws what is chosen, zooms, and needs no network", async () => {
  const model = measuredModel();
  const { page, result, summary } = await openSheet(
    "one",
    [model],
    `const { sheet, explorer, figures } = window.foretraceSheet;
     const result = { names: sheet.machines.map((m) => m.name) };
     explorer.choose(["bcast"], [2, 8, 64]);
     const figure = explorer.figure;
     result.at512 = figure.describe(512);
     result.at100000 = figure.describe(100000);
     const paths = () => [...figure.node.querySelectorAll(".line")].length;
     const marks = () => [...figure.node.querySelectorAll("circle")].length;
     result.chosen = { paths: paths(), marks: marks(), pressed: [...document.querySelectorAll("#explorer [aria-pressed=true]")].map((b) => b.textContent) };
     const box = figure.node.querySelector(".picture").getBoundingClientRect();
     const send = (kind, x, y) => figure.node.querySelector(".picture").dispatchEvent(new PointerEvent(kind,
       { bubbles: true, pointerId: 1, button: 0, clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
     figure.node.querySelector(".picture").setPointerCapture = () => {};
     send("pointermove", 0.5, 0.5);
     result.tip = !figure.node.querySelector(".tip").hidden;
     send("pointerdown", 0.3, 0.2); send("pointermove", 0.5, 0.6); send("pointerup", 0.5, 0.6);
     result.zoomed = figure.current().x;
     figure.node.querySelector(".picture").dispatchEvent(new MouseEvent("dblclick"));
     result.whole = figure.current().x;
     const before = figure.node.querySelector(".line").getAttribute("d");
     [...figure.tools.querySelectorAll("button")].find((b) => b.textContent === "log time").click();
     result.linear = figure.node.querySelector(".line").getAttribute("d") !== before && !figure.current().logY;
     figure.change({ quantity: "residual" });
     result.residuals = marks();
     result.light = getComputedStyle(document.documentElement).getPropertyValue("--paper");
     document.querySelectorAll("[data-function]").forEach((node) => node.scrollIntoView());
     result.plots = document.querySelectorAll("[data-function]").length;
     ${kAnswer}`,
  );
  assert.doesNotMatch(page, /(src|href)\s*=\s*["']?(https?:)?\/\//);
  assert.doesNotMatch(page, /@import|url\((?!#)/);
  assert.deepEqual(result.names, ["</script><b>m"]);
  assert.equal(summary.marks, 4); // bcast on 8 ranks; the empty message has no place
  const rows = (text) => text.split("\n").map((line) => line.split("\t").map((cell) => cell.trim()));
  const times = JSON.parse(run("calc", model, "bcast", "--ranks", "2,8,64", "--bytes", "512,100000", "--json"));
  const units = { s: 1, ms: 1e-3, "us": 1e-6, ns: 1e-9, ps: 1e-12 };
  const seconds = (text) => Number(text.split(" ")[0]) * units[text.split(" ")[1]];
  for (const [bytes, text] of [[512, result.at512], [100000, result.at100000]])
    for (const p of [2, 8, 64]) {
      const row = rows(text).find((cells) => cells[0] === `bcast, p = ${p}`);
      assert.ok(row, text);
      const time = times.find((each) => each.ranks === p && each.bytes === bytes);
      [time.avg, time.min, time.max].forEach((expected, i) => assert.ok(Math.abs(seconds(row[i + 1]) / expected - 1) < 6e-4, text));
      assert.equal(row[7], p === 64 || bytes > 4096 ? "extrapolated" : "", text);
      // The middle of three launches: 2.02 + 0.512 us.
      assert.equal(row[4], bytes === 512 && p < 64 ? "2.532 us" : "", text);
    }
  assert.equal(result.chosen.marks, 8);
  // Two intervals each; what was measured ends within the second, and 64 ranks are beyond it.
  assert.ok(result.chosen.paths >= 6, `${result.chosen.paths} paths`);
  assert.deepEqual(result.chosen.pressed.filter((text) => !text.startsWith("log")), ["bcast", "p = 2", "p = 8", "p = 64"]);
  assert.ok(result.tip);
  assert.ok(result.zoomed.low > 8 && result.zoomed.high < 4096 && result.zoomed.low < result.zoomed.high);
  assert.equal(result.whole, null);
  assert.ok(result.linear);
  assert.equal(result.residuals, 8);
  assert.equal(result.plots, 2);
});

await check("every term is evaluated as calc does, and bounds beyond the measured ranks", async () => {
  const terms = ["1", "p", "ln p", "p^2", "ceil log2 p", "(p-1)", "(p-1)/p", "d", "p d", "ln p d", "p^2 d",
    "ceil log2 p d", "(p-1) d", "(p-1)/p d"];
  const table = (names) => `{ ${names.map((name, i) => `"${name}" = [${1 + 0.37 * i}, 0.05]`).join(", ")} }`;
  const model = join(folder, "terms.toml");
  writeFileSync(
    model,
    '[machine]\nname = "terms"\nranks = 64\ntime_unit = "us"\nelement_bytes = 8\n' +
      terms.map((term, i) => `[[function]]\nname = "term_${i}"\nclass = "collective"\nmeasured_ranks = [2, 64]\n` +
        "measured_bytes = [0, 5000]\nextrapolation_error = 0.25\n" +
        `[[function.regime]]\nbytes = [0, 100]\nterms = ${table([term])}\n[[function.regime]]\nbytes = [101]\n` +
        `terms = ${table([term, "1"].slice(0, term === "1" ? 1 : 2))}\nother_terms = ${table(terms)}\ninterval = [0.9, 1.1]\ncoverage = 0.95\n`).join(""),
  );
  const calc = JSON.parse(run("calc", model, "all", "--ranks", "1,2,3,64,100", "--bytes", "0,100,101,8192", "--json"));
  const { result } = await openSheet(
    "terms",
    [model],
    `const { sheet, timeOf } = window.foretraceSheet;
     const machine = sheet.machines[0];
     const result = ${JSON.stringify(calc)}.map(({ function: name, ranks, bytes }) =>
       ["min", "avg", "max"].map((bound) => timeOf(machine, machine.functions.find((f) => f.name === name), ranks, bytes, bound)));
     ${kAnswer}`,
  );
  calc.forEach((each, i) =>
    ["min", "avg", "max"].forEach((bound, b) =>
      assert.ok(Math.abs(result[i][b] - each[bound]) <= 1e-12 * each[bound], `${JSON.stringify(each)} ${result[i]}`)));
});

await check("several machines are drawn side by side", async () => {
  const { result } = await openSheet(
    "two",
    ["cray-t3d.toml", "sparc-ethernet.toml"].map((name) => join(machines, name)),
    `const { sheet, explorer } = window.foretraceSheet;
     const result = { names: sheet.machines.map((m) => m.name) };
     explorer.choose(["barrier", "ssend"], [8, 2]);
     result.text = explorer.figure.describe(8);
     result.colours = explorer.figure.current().series.map((each) => each.colour);
     const chip = (text) => [...document.querySelectorAll("#explorer button")].find((b) => b.textContent === text);
     chip("ssend").click();
     result.ssend = explorer.figure.describe(8);
     chip("bcast").click();
     result.bcast = explorer.figure.describe(1024);
     result.whole = explorer.figure.drawing.y;
     result.pressed = [...document.querySelectorAll("#explorer [aria-pressed=true]")].map((b) => b.textContent);
     ${kAnswer}`,
  );
  assert.deepEqual(result.names, ["Cray T3D", "8 SPARCstation 5, Ethernet"]);
  // 10 + 8 ln 8 us and 9000 p us; the SPARCs have no ssend.
  assert.match(result.text, /barrier, p = 8, Cray T3D\s+26\.64 us/);
  assert.match(result.text, /barrier, p = 8, 8 SPARCstation 5, Ethernet\s+72 ms/);
  // One call at a time, and a colour for each machine.
  assert.doesNotMatch(result.text, /ssend/);
  assert.deepEqual(result.colours, [0, 1]);
  assert.equal(result.ssend.match(/ssend/g).length, 1);
  assert.match(result.bcast, /^1024 B/);
  assert.deepEqual(result.pressed.filter((text) => !text.startsWith("log")),
    ["bcast", "p = 8", "Cray T3D", "8 SPARCstation 5, Ethernet"]);
  // From the T3D's 204 us to the SPARCs' 2.3 s at 1 MiB, with little room.
  assert.ok(result.whole.low > 50e-6 && result.whole.high < 20, JSON.stringify(result.whole));
});

await reports.close();
