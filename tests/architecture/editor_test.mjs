// node editor_test.mjs CHROMIUM FORETRACE FOLDER AXE: the editor of descriptions, driven by mouse and
// keyboard: a mesh with a hotspot from an empty file, and a machine of single parts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "../web/drive.mjs";

const [chromium, foretrace, folder, axe] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const servers = [];

async function edit(file) {
  const server = spawn(foretrace, ["architecture", "edit", file], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  const line = await new Promise((resolve) => server.stdout.once("data", (data) => resolve(String(data))));
  const address = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(line)?.[0];
  assert.ok(address, line);
  return address;
}

const browser = new Browser(chromium);
const text = () => browser.evaluate(() => document.querySelector("#text").value);
const message = () => browser.evaluate(() => document.querySelector("#message").textContent);
const said = (words) => browser.until((part) => document.querySelector("#message").textContent.includes(part), words);
const port = (name) => `[data-port="${name}"]`;
const classOf = (selector) => browser.evaluate((what) => document.querySelector(what).getAttribute("class"), selector);

async function fill(selector, words) {
  await browser.clickOn(selector);
  await browser.evaluate((what) => document.querySelector(what).select(), selector);
  await browser.type(words);
  await browser.press("Tab");
}

async function checkPage(name) {
  assert.deepEqual(await browser.faults(axe), [], name);
  if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/editor-${name}.png`);
}

try {
  // ---- a machine of single parts; what was there stays ----
  writeFileSync(join(folder, "jobs.arch.toml"), `# two parts
[architecture]
name = "jobs" # their name

[[composite.machine.part]]
name = "jobs"
kind = "source"   # creates them
parameters = { interval = "10us" }
at = [0, 0]
`);
  const before = readFileSync(join(folder, "jobs.arch.toml"), "utf8");
  const address = await edit("jobs.arch.toml");
  await browser.open(address);
  await browser.until(() => document.documentElement.dataset.parts === "1");
  // Take two parts from the library: one by the mouse, one by the keyboard.
  await browser.clickOn('[data-kind="queue"]');
  await browser.evaluate(() => document.querySelector('[data-kind="sink"]').focus());
  await browser.press("Enter");
  await browser.until(() => document.documentElement.dataset.parts === "3");
  // Only ports that fit: an output does not go into an output.
  await browser.clickOn(port("jobs.out"));
  assert.match(await classOf(port("queue.in")), /fits/);
  assert.match(await classOf(port("queue.out")), /unfit/);
  await browser.clickOn(port("queue.out"));
  assert.equal(await browser.evaluate(() => document.documentElement.dataset.links), "0");
  await browser.clickOn(port("jobs.out"));
  await browser.clickOn(port("queue.in"));
  // And by the keyboard.
  for (const name of ["queue.out", "sink.in"]) {
    await browser.evaluate((what) => document.querySelector(what).focus(), port(name));
    await browser.press("Enter");
  }
  await browser.until(() => document.documentElement.dataset.links === "2");
  await said("nothing is wrong");
  // A parameter with its unit; without one the fault stands at its line, and at the part.
  await browser.clickOn('[data-part="queue"]');
  await fill("#field-service", "7");
  await said("parameter 'service' is a time and needs a unit");
  assert.match(await classOf('[data-part="queue"]'), /wrong/);
  await fill("#field-service", "7us");
  await said("nothing is wrong");
  // Move it: `at` alone is written.
  const [x, y] = await browser.where('[data-part="queue"]');
  const still = await text();
  await browser.drag(x, y, x + 90, y + 40);
  const moved = await text();
  assert.deepEqual(moved.split("\n").filter((line) => !still.split("\n").includes(line)).map((line) => line.replace(/-?[\d.]+/g, "N")), ["at = [N, N]"]);
  // Undo and redo.
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press("z", { ctrl: true });
  assert.equal(await text(), still);
  await browser.press("y", { ctrl: true });
  assert.equal(await text(), moved);
  // Run, and save.
  await browser.clickOn("#tools button:nth-of-type(4)");
  await said("events");
  const busy = await browser.evaluate(() => [...document.querySelectorAll("#result tr")].map((row) => [...row.cells].map((cell) => cell.textContent)).find(([name]) => name === "queue")[5]);
  assert.match(busy, /^\d+\.\d%$/);
  // Watch: a program that is not there, then the queues. The page is opened at the click, as browsers
  // want it; a real one would hide this one, which then draws no more.
  await browser.evaluate(() => {
    window.opened = { location: { href: "" }, closed: false, close() { this.closed = true; } };
    window.open = () => window.opened;
  });
  await fill("#run-program", "none.goal");
  await browser.clickOn("#tools button:nth-of-type(5)");
  await said("there is no program 'none.goal' beside the file");
  assert.deepEqual(await browser.evaluate(() => [window.opened.location.href, window.opened.closed]), ["", true]);
  await fill("#run-program", "");
  await browser.clickOn("#tools button:nth-of-type(5)");
  await said("on a page of its own");
  assert.equal(await browser.evaluate(() => window.opened.location.href), `${address}watched`);
  assert.match(await (await fetch(`${address}watched`)).text(), /"queue","queue",/);
  await browser.evaluate(() => document.activeElement.blur());
  await browser.press("s", { ctrl: true });
  await said("saved");
  const after = readFileSync(join(folder, "jobs.arch.toml"), "utf8");
  assert.ok(after.startsWith(before), "what was there is there, comments included");
  // Take a part away: its links go with it.
  await browser.clickOn("#views button:last-child");
  await browser.clickOn('[data-part="queue"]');
  await browser.press("Delete");
  await browser.until(() => document.documentElement.dataset.links === "0");
  // Somebody else changes the file: it is not written over.
  writeFileSync(join(folder, "jobs.arch.toml"), "# mine\n" + after);
  await browser.press("s", { ctrl: true });
  await said("somebody else has changed the file");
  assert.equal(readFileSync(join(folder, "jobs.arch.toml"), "utf8"), "# mine\n" + after);
  assert.deepEqual(browser.messages, []);
  assert.deepEqual(browser.requests.filter((asked) => !asked.startsWith(address) && !asked.startsWith("data:") && asked !== "about:blank"), []);
  // The address is not to be guessed, nor reached under another name.
  assert.equal((await fetch(address.replace(/[0-9a-f]{32}/, "0".repeat(32)))).status, 404);

  // ---- the tutorial: a 4 x 4 mesh with a hotspot, from nothing ----
  const mesh = await edit("mesh.arch.toml");
  await browser.open(mesh);
  await browser.until(() => document.documentElement.dataset.parts === "0");
  await browser.clickOn('[data-kind="processor"]');
  await fill("#field-template", "mesh:4x4");
  await said("16 entities, 24 links: nothing is wrong");
  await fill("#run-pattern", "hotspot:5:0.3");
  await fill("#run-load", "0.1");
  await browser.clickOn("#tools button:nth-of-type(4)");
  await said("arrive");
  const jam = await browser.evaluate(() => [...document.querySelectorAll("#result tr")][1].cells[0].textContent);
  assert.match(jam, /-> processor\[5\]$/, "the fullest link leads to the hotspot");
  assert.equal(await browser.evaluate(() => document.querySelectorAll('#drawing line[data-load]:not([data-load="0.000"])').length), 24);

  // ---- a box of its own, and four of them on a switch ----
  const boxed = await edit("boxed.arch.toml");
  await browser.open(boxed);
  await said("The machine is empty");
  assert.equal(await browser.evaluate(() => document.documentElement.dataset.bad), "false");
  await browser.clickOn("#views button");
  await browser.clickOn('[data-kind="processor"]');
  await browser.clickOn('[data-kind="nic"]');
  await browser.clickOn(port("processor.net"));
  await browser.clickOn(port("nic.host"));
  await browser.until(() => document.documentElement.dataset.links === "1");
  await browser.clickOn("#drawing");
  await fill("#field-ports", "net = nic.net");
  await browser.until(() => document.querySelector('[data-kind="box1"]') === null && document.querySelector("#text").value.includes("ports"));
  await browser.evaluate(() => {
    const select = document.querySelector("#views select");
    select.value = "machine";
    select.dispatchEvent(new Event("change"));
  });
  await browser.clickOn('[data-kind="box1"]');
  await fill("#field-template", "crossbar:4");
  await said("9 entities, 8 links: nothing is wrong");
  assert.match(await text(), /\[composite\.box1\]\nports = \{ net = "nic\.net" \}\n/);

  // ---- three sizes of screen, dark and light ----
  for (const [width, height] of [[1920, 1080], [1280, 800], [390, 844]])
    for (const dark of [false, true]) {
      await browser.open(mesh, { width, height, dark });
      await browser.until(() => document.querySelector("#field-x, [data-kind]") !== null);
      await browser.clickOn('[data-kind="switch"]');
      assert.ok(await browser.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${width} wide`);
      await checkPage(`${width}-${dark ? "dark" : "light"}`);
    }

  // ---- without the tool: a file that is dropped on it ----
  const page = await (await fetch(mesh)).text();
  writeFileSync(join(folder, "alone.html"), page);
  await browser.open(join(folder, "alone.html"));
  await browser.evaluate((words) => {
    const data = new DataTransfer();
    data.items.add(new File([words], "dropped.arch.toml"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, after);
  await browser.until(() => document.documentElement.dataset.parts === "3");
  await browser.clickOn('[data-kind="switch"]');
  assert.ok((await text()).startsWith(before));
  assert.equal(await browser.evaluate(() => document.querySelector("#file").textContent), "dropped.arch.toml (changed)");
  console.log("ok the editor");
} catch (error) {
  console.error(await message().catch(() => "no page"), await text().catch(() => ""));
  throw error;
} finally {
  await browser.close();
  for (const server of servers) server.kill();
}
