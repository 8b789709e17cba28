// Faults planted in a program, as somebody finds them who sees the page for the first time:
// by what is written on it, and by what one click on that leads to.
// Usage: node planted_test.mjs CHROMIUM FORETRACE PLANTED MACHINE FOLDER
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "./drive.mjs";

const [chromium, foretrace, planted, machine, folder] = process.argv.slice(2);

function run(...words) {
  const done = spawnSync(foretrace, words, { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

// In virtual time, and so the same everywhere.
function trace(fault, ranks = 16) {
  const file = join(folder, `planted-${fault}.ftr`);
  run("simulate", "-n", String(ranks), "--machine", machine, "--compute", "annotated", "-o", file, "--", planted, fault);
  return file;
}

// Far messages on a ring of four switches with four processors each, one of whose links is slow.
function sharedLink() {
  const rows = Array.from({ length: 16 }, (_, i) => [16 + (i >> 2)]);
  for (let i = 0; i < 4; i++) rows.push([0, 1, 2, 3].map((k) => 4 * i + k).concat(16 + ((i + 1) % 4), 16 + ((i + 3) % 4)));
  const network = join(folder, "planted-switches.toml");
  const lists = rows.map((row) => `  [${row.join(", ")}],`).join("\n");
  writeFileSync(network, `[topology]\nlatency = "1us"\nbandwidth = "400MB/s"\nswitches = 4\nincidence = [\n${lists}\n]\n\n[[link]]\nfrom = 17\nto = 18\nbandwidth = "25MB/s"\n`);
  const file = join(folder, "planted-shared.ftr");
  run("simulate", trace("far"), "--machine", machine, "--network", "flow", "--topology", network, "-o", file);
  return file;
}

// The same program on a ring whose link from 9 to 10 is slow.
function slowLink() {
  const ring = Array.from({ length: 16 }, (_, i) => `  [${(i + 15) % 16}, ${(i + 1) % 16}],`).join("\n");
  const network = join(folder, "planted-ring.toml");
  const link = '[[link]]\nfrom = 9\nto = 10\nbandwidth = "8MB/s"\n';
  writeFileSync(network, `[topology]\nlatency = "1us"\nbandwidth = "150MB/s"\nincidence = [\n${ring}\n]\n\n${link}`);
  const file = join(folder, "planted-link.ftr");
  run("simulate", trace("none"), "--machine", machine, "--network", "flow", "--topology", network, "-o", file);
  return file;
}

const browser = new Browser(chromium);
const causes = () => browser.evaluate(() => [...document.querySelectorAll("#losses li")].map((item) => ({
  title: item.querySelector("b").textContent, share: parseFloat(item.querySelector(".share").textContent), detail: item.querySelector(".detail").textContent })));
// What the page tells of the example that a click on the first cause leads to.
const example = async () => {
  await browser.clickOn("#losses li button");
  return browser.evaluate(() => ({
    title: document.querySelector("#selected h2").textContent,
    facts: Object.fromEntries([...document.querySelectorAll("#selected dt")].map((name) => [name.textContent, name.nextSibling.textContent])) }));
};

async function look(name, file, body) {
  const page = file.replace(/ftr$/, "html");
  run("timeline", file, "-o", page);
  await browser.open(page);
  await browser.until(() => document.querySelector("#losses li, #losses p") !== null);
  await body(await causes());
  assert.deepEqual(browser.messages, [], name);
  console.log(`ok ${name}`);
}

try {
  await look("without a fault nothing is told but the jitter", trace("none"), (found) => {
    for (const { title, share } of found) assert.ok(title.startsWith("Uneven") && share < 1.5, `${title} ${share}`);
  });

  // Rank 5 sends 4 ms late in each of 12 steps; all then wait for rank 6: 32 ranks wait some
  // 39 of 166 ms.
  await look("a late sender", trace("late", 32), async ([first, second]) => {
    assert.equal(first.title, "Rank 5 sends late in “exchange”");
    assert.equal(first.detail, "rank 6 waits for its messages; 30 others wait because of that");
    assert.ok(first.share > 20 && first.share < 27, `${first.share}`);
    assert.ok(second === undefined || second.share < 2);
    const { title, facts } = await example();
    assert.equal(title, "MPI_Wait");
    assert.equal(facts["rank"], "6");
    assert.equal(facts["waited for"], "rank 5");
    assert.match(facts["sent"], /^3\.\d+ ms after this call began$/);
  });

  // 12 ranks wait 4 ms in each of 12 steps of 172 ms: 21 %, and what the jitter adds.
  await look("uneven work in one phase", trace("uneven"), async ([first, second]) => {
    assert.equal(first.title, "Uneven computation in “assemble”");
    assert.equal(first.detail, "ranks 12 to 15 compute 3 times as long as the others, who wait");
    assert.ok(first.share > 20 && first.share < 24, `${first.share}`);
    assert.ok(second === undefined || second.share < 2);
    const { title, facts } = await example();
    assert.equal(title, "COMPUTE");
    assert.ok(Number(facts["rank"]) >= 12, facts["rank"]);
    assert.equal(facts["phase"], "assemble");
  });

  // 32 KiB take 4.1 ms over the link instead of 0.22 ms.
  await look("a slow link", slowLink(), async ([first, second]) => {
    assert.equal(first.title, "Messages from rank 9 to rank 10 are slow in “exchange”");
    assert.match(first.detail, /^17 times as long on their way as others of their size \(2\d\d(\.\d)? us\)$/);
    assert.ok(second === undefined || second.share < 2);
    const { facts } = await example();
    assert.equal(facts["rank"], "10");
    assert.equal(facts["waited for"], "rank 9");
    assert.match(facts["on its way"], /^4\.\d+ ms$/);
  });
  // Each of four delays of 4 ms makes 15 ranks wait as it goes round, twelve steps at most.
  await look("a late sender whose delay goes round", trace("wave"), async ([first, second]) => {
    assert.equal(first.title, "Rank 11 sends late in “exchange”");
    assert.match(first.detail, /^rank 12 waits for its messages; \d+ others wait because of that$/);
    assert.ok(second === undefined || second.share < first.share / 2, `${second?.title} ${second?.share}`);
    const { title, facts } = await example();
    assert.equal(title, "MPI_Wait");
    assert.equal(facts["rank"], "12");
    assert.equal(facts["waited for"], "rank 11");
  });

  await look("a slow link that several pairs share", sharedLink(), async ([first, second]) => {
    assert.equal(first.title, "Messages over the link s1 → s2 are slow in “exchange”");
    assert.match(first.detail, /^of \d+ pairs of ranks; \d+ times as long on their way/);
    assert.ok(second === undefined || second.share < first.share / 4, `${second?.title} ${second?.share}`);
    const { facts } = await example();
    assert.match(facts["on its way"], /ms$/);
    // The rounds of the allreduce, which was simulated as messages, in the animation.
    const rounds = () => browser.evaluate(() => [...document.querySelectorAll(".standing .rounds")].map((node) => node.textContent));
    await browser.clickOn("#tab-animation");
    await browser.evaluate(() => {
      const { model, page } = window.foretraceTimeline;
      const { first, last } = model.collectives().instance(0, 0);
      page.dock.open.goTo(Math.max(first, last));
    });
    await browser.settle();
    for (const expected of [/^MPI_Allreduce: round 1 of 4 \(recursive doubling\)1: .*\b0 ⇄ 1\b/, /4 of 4.*4: .*\b0 ⇄ 8\b/]) {
      let told = "";
      for (let step = 0; !expected.test(told); step++) {
        assert.ok(step < 200, told);
        await browser.evaluate(() => [...document.querySelectorAll("#tool-animation button")].find((node) => node.textContent === "step ▶").click());
        told = (await rounds())[0] ?? "";
      }
      assert.ok(await browser.evaluate(() => window.foretraceTimeline.page.dock.open.shown.runs[0].inside) > 0);
    }
  });
} finally {
  await browser.close();
}
