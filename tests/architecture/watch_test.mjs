// node watch_test.mjs CHROMIUM FORETRACE FOLDER AXE: the page of a run on an architecture, driven by
// mouse and keyboard; two of them side by side; on three sizes of screen.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "../web/drive.mjs";

const [chromium, foretrace, folder, axe] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const run = (...words) => execFileSync(foretrace, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
const browser = new Browser(chromium);
const page = (name) => browser.evaluate((what) => document.documentElement.dataset[what], name);
const about = () => browser.evaluate(() => document.querySelector(".about").textContent);

// Every rank sends to the one a quarter further on.
function write(name, ranks, machine) {
  let goal = `num_ranks ${ranks}\n`;
  for (let r = 0; r < ranks; r++) {
    const to = (r + ranks / 4) % ranks, from = (r + ranks - ranks / 4) % ranks;
    goal += `rank ${r} {\nl0: send 20000b to ${to} tag 1\nl1: recv 20000b from ${from} tag 1\n}\n`;
  }
  writeFileSync(join(folder, `${name}.goal`), goal);
  writeFileSync(join(folder, `${name}.arch.toml`), machine);
}
const simulate = (name, output, ...words) => run("simulate", `${name}.goal`, "--loggps", "o=1us", "--network", `arch:${name}.arch.toml`, "--watch", output, ...words);
const torus = (side) => `[architecture]\nname = "torus"\nlatency = "1us"\nbandwidth = "1GB/s"\n[[composite.machine.part]]\nname = "node"\nkind = "processor"\ntemplate = "torus:${side}x${side}"\n`;
const kNodes = `[architecture]
name = "nodes"
include = ["nic-node.arch.toml"]
latency = "1us"
bandwidth = "1GB/s"
[[composite.machine.part]]
name = "node"
kind = "node"
template = "crossbar:4"
parameters = { injection = "1GB/s", latency = "300ns" }
`;

async function checkPage(name) {
  if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/atwork-${name}.png`);
  assert.deepEqual(await browser.faults(axe), [], name);
  assert.ok(await browser.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name}: nothing stands out to the right`);
}

async function on(machine, name) {
  await browser.evaluate(() => window.scrollTo(0, 0));
  return browser.evaluate((m, what) => window.placeOf(m, what), machine, name);
}

try {
  // ---- the tape, by mouse and by keyboard ----
  write("small", 16, torus(4));
  simulate("small", "small.html");
  await browser.open(join(folder, "small.html"));
  assert.equal(await page("entities"), "16");
  // 16 messages: entered, arrived, and 10 packets over one link each.
  assert.equal(await page("records"), String(16 * 2 + 16 * 10));
  assert.ok(Number(await page("moving")) > 0, "something moves where a packet is half way");
  await browser.press("Home");
  assert.equal(await page("now"), "0");
  await browser.press("ArrowRight");
  const first = Number(await page("now"));
  assert.ok(first > 0);
  await browser.clickOn("#next");
  assert.ok(Number(await page("now")) > first);
  await browser.clickOn("#previous");
  assert.equal(Number(await page("now")), first);
  await browser.clickOn("#play");
  await browser.until((before) => Number(document.documentElement.dataset.now) > before, first + 1e6);
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press(" ");
  const stopped = await page("now");
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await page("now"), stopped, "space stops it");
  await browser.press("End");
  assert.equal(await page("moving"), "0");
  // An entity, by mouse and by keyboard; the rank's place in the program.
  await browser.click(...await on(0, "node[5]"));
  assert.match(await about(), /^node\[5\]: processor, level packet; .*ranks 1$/);
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press("ArrowDown");
  assert.match(await about(), /^node\[6\]/);
  const places = () => browser.evaluate(() => [...document.querySelectorAll(".machine details tr")].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent)));
  await browser.press("Home");
  assert.deepEqual((await places())[1], ["1", "node[1]", "MPI_Isend", "small.goal:7"]);
  for (let i = 0; i < 2; i++) await browser.press("ArrowRight");
  // Its first request was posted there.
  assert.deepEqual((await places())[1], ["1", "node[1]", "MPI_Waitall", "small.goal:7"]);
  // Measuring lines: by dragging, and by M.
  const [x, y] = await browser.where(".line");
  await browser.drag(x - 100, y, x + 100, y);
  const [a, b] = (await page("marks")).split(" ").map(Number);
  assert.ok(b > a);
  assert.equal(Number(await page("now")), b, "the drawing follows the line");
  await browser.press("Escape");
  assert.equal(await page("marks"), "");
  await browser.press("m");
  await browser.press("ArrowRight");
  await browser.press("m");
  const marks = (await page("marks")).split(" ").map(Number);
  assert.equal(marks[1], Number(await page("now")));
  // Statistics, between the lines and of all.
  await browser.evaluate(() => [...document.querySelectorAll("summary")].find((node) => node.textContent === "Statistics").click());
  await browser.until(() => document.querySelector(".tables p")?.textContent.startsWith("From"));
  await browser.press("Escape");
  await browser.until(() => document.querySelector(".tables p").textContent.startsWith("Of all"));
  const captions = await browser.evaluate(() => [...document.querySelectorAll("caption")].map((node) => node.textContent));
  assert.deepEqual(captions.slice(0, 1), ["The busiest links"]);
  assert.match(captions[1], /^How long 16 messages took/);
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press("l");
  assert.equal(await browser.evaluate(() => document.querySelector("#loads").getAttribute("aria-pressed")), "true");

  // ---- boxes ----
  write("nodes", 4, kNodes);
  simulate("nodes", "nodes.html", "--watch-what", "states", "--level", "node[3]=coarse");
  await browser.open(join(folder, "nodes.html"));
  assert.equal(await page("shown"), "8", "three open nodes of two, a coarse one, the switch");
  const [bx, by] = await on(0, "node[0].nic");
  await browser.click(bx, by, {});
  await browser.mouse("mousePressed", bx, by, { clickCount: 2 });
  await browser.mouse("mouseReleased", bx, by, { clickCount: 2 });
  await browser.settle();
  assert.equal(await page("shown"), "7");
  assert.match(await about(), /^node\[0\]: the box node, closed; inside processor \(packet\), nic \(packet\)/);
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press("Enter");
  assert.equal(await page("shown"), "8", "Enter opens it again");
  await browser.click(...await on(0, "node[3]"));
  assert.match(await about(), /for the box node \(coarse\)/);
  for (const [words, count] of [["Close all", "5"], ["Open all", "8"]]) {
    await browser.evaluate((text) => [...document.querySelectorAll("button")].find((node) => node.textContent === text).click(), words);
    assert.equal(await page("shown"), count);
  }
  // A quantity that is shown in place.
  await browser.evaluate(() => {
    const select = document.querySelector("#quantity");
    select.value = "waiting";
    select.dispatchEvent(new Event("change"));
  });
  await browser.click(...await on(0, "node[0].nic"));
  assert.match(await about(), /waiting \d/);

  // ---- two side by side, in step ----
  simulate("nodes", "coarse.html", "--level", "node[*]=coarse");
  run("architecture", "beside", "nodes.html", "coarse.html", "-o", "both.html");
  await browser.open(join(folder, "both.html"));
  assert.equal(await page("entities"), "8 5");
  await browser.press("Home");
  for (let i = 0; i < 12; i++) await browser.press("ArrowRight");
  let [one, other] = (await page("now")).split(" ");
  assert.equal(one, other, "the same time");
  await browser.evaluate(() => {
    const select = document.querySelector("#step");
    select.value = "calls";
    select.dispatchEvent(new Event("change"));
  });
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press("End");
  [one, other] = (await page("now")).split(" ").map(Number);
  assert.ok(other < one, "the same call comes earlier on the faster machine");
  const does = await browser.evaluate(() => [...document.querySelectorAll(".machine")].map((node) => [...node.querySelectorAll("details tr")].slice(1).map((row) => row.cells[2].textContent)));
  assert.deepEqual(does[0], does[1]);
  // The other page, set beside this one on the page itself.
  await browser.open(join(folder, "nodes.html"));
  await browser.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "coarse.html"));
    const input = document.querySelector("#other");
    input.files = data.files;
    input.dispatchEvent(new Event("change"));
  }, readFileSync(join(folder, "coarse.html"), "utf8"));
  await browser.until(() => document.documentElement.dataset.shown === "8 5");

  // ---- three sizes of screen, dark and light ----
  for (const name of ["nodes", "both"])
    for (const [width, height] of [[1920, 1080], [1280, 800], [390, 844]])
      for (const dark of [false, true]) {
        await browser.open(join(folder, `${name}.html`), { width, height, dark });
        await browser.evaluate(() => [...document.querySelectorAll("summary")].filter((node) => node.textContent === "Statistics").forEach((node) => node.click()));
        await browser.settle();
        await browser.click(...await on(0, "node[1].nic"));
        await checkPage(`${name}-${width}-${dark ? "dark" : "light"}`);
      }
  assert.deepEqual(browser.messages, []);
  assert.deepEqual(browser.requests.filter((asked) => !asked.startsWith("file:") && !asked.startsWith("data:") && asked !== "about:blank"), []);

  // ---- 1,024 entities ----
  write("large", 1024, torus(32));
  simulate("large", "large.html");
  await browser.open(join(folder, "large.html"));
  assert.equal(await page("entities"), "1024");
  assert.deepEqual(browser.messages, []);
  console.log(`ok; 1024 entities ${await page("frameMs")} ms a frame`);
} finally {
  await browser.close();
}
