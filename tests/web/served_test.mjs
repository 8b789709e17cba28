// A run that `timeline --serve` shows, in a headless Chromium by pointer and keyboard; and what
// its server answers to others.
// Usage: node served_test.mjs CHROMIUM FORETRACE MAKE_PAGE FOLDER AXE
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

import { Browser } from "./drive.mjs";

const [chromium, foretrace, makePage, folder, axe] = process.argv.slice(2);

function make(kind, ranks, events) {
  const file = join(folder, `served-${ranks}-${events}.${kind === "trace" ? "ftr" : "html"}`);
  const made = spawnSync(makePage, [kind, String(ranks), String(events), file], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  if (kind === "trace") rmSync(`${file}.view`, { force: true });
  return file;
}

class Served {
  said = "";

  static async of(file) {
    const it = new Served();
    it.process = spawn(foretrace, ["timeline", file, "--serve"], { stdio: ["ignore", "pipe", "pipe"] });
    it.process.stderr.setEncoding("utf8").on("data", (text) => (it.said += text));
    it.process.stdout.setEncoding("utf8");
    it.address = await new Promise((resolve, reject) => {
      it.process.stdout.on("data", (text) => resolve(/http:\S+/.exec(text)[0]));
      it.process.on("exit", () => reject(new Error(it.said)));
    });
    return it;
  }

  // Its exit status when the user presses Ctrl+C.
  end() {
    return new Promise((resolve) => {
      this.process.on("exit", (code) => resolve(code));
      this.process.kill("SIGINT");
    });
  }

  ask(path, headers = {}) {
    const { port, pathname } = new URL(this.address);
    return new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path: path.startsWith("/") ? path : pathname + path, headers }, (answer) => {
        let text = "";
        answer.on("data", (part) => (text += part));
        answer.on("end", () => resolve({ status: answer.statusCode, text }));
      });
      asked.on("error", reject);
      asked.end();
    });
  }
}

const browser = new Browser(chromium);
const see = (read, ...values) => browser.evaluate(`(...values) => (${read})(window.foretraceTimeline, ...values)`, ...values);
const status = () => browser.evaluate(() => document.querySelector("#status").textContent);
// All that is asked for has come, and the page says so.
const complete = () => browser.until(() => {
  const { remote } = window.foretraceTimeline.model;
  return remote.version > 0 && !remote.loading && !("partial" in document.querySelector("#legend").dataset);
});
const near = () => browser.until(() => !window.foretraceTimeline.model.far);

async function check(name, served, body) {
  browser.requests.length = 0;
  await body();
  assert.deepEqual(browser.messages, [], name);
  assert.deepEqual(browser.requests.filter((address) => !/^(about|data|blob|file):/.test(address) && !address.startsWith(served.address)), [], name);
  console.log(`ok ${name}`);
}

// Times by state in parts of the run, of the page's own sums or of the server's.
const timesIn = (parts) => see(({ model }, of) => of.map(([a, b]) => [...model.totalsIn(a * model.end, b * model.end)]), parts);

const small = await Served.of(make("trace", 16, 400));
let large = null;
try {
  await check("a small run is there with all its events, as on a page of its own", small, async () => {
    const parts = [[0, 1], [0, 0.5], [0.25, 0.5]]; // bins of the server's begin there
    await browser.open(make("halo", 16, 400));
    const states = await see(({ model }) => model.states.names);
    const expected = await timesIn(parts);
    const [events, waits] = await see(({ model }) => [model.trace.events, model.trace.ranks.map((rank) => Math.max(...rank.wait))]);
    await browser.open(small.address);
    await near();
    await complete();
    assert.deepEqual(await see(({ model }) => model.states.names), states);
    // Asks for what it needs, again if a picture in between has put that off.
    await browser.until((of) => {
      const { model } = window.foretraceTimeline;
      for (const [a, b] of of) model.totalsIn(a * model.end, b * model.end);
      return model.remote.wanted.length === 0 && model.remote.asked.size === 0;
    }, parts);
    const is = await timesIn(parts);
    expected.forEach((sums, part) => sums.forEach((sum, i) =>
      assert.ok(Math.abs(is[part][i] - sum) <= 2e-6 * sum + 5000, `${part} ${i}: ${is[part][i]}, not ${sum}`)));
    // The events themselves: to the picosecond.
    assert.equal(await see(({ model }) => model.trace.events), events);
    assert.deepEqual(await see(({ model }) => model.trace.ranks.map((rank) => Math.max(...rank.wait))), waits);
  });

  await check("a window has the messages and phases of the whole run", small, async () => {
    // What is under way in the middle fifth, by rank and time; and the phases there.
    const told = () => see(({ model }) => {
      const { source, dest, sendTime, recvTime, count } = model.messages();
      const [t0, t1] = [0.41 * model.end, 0.59 * model.end];
      const list = [];
      for (let i = 0; i < count; i++) if (sendTime[i] >= t0 && recvTime[i] <= t1) list.push([source[i], dest[i], sendTime[i], recvTime[i]]);
      const middle = model.trace.ranks.map(({ phases }) => phases.filter((span) => span.from <= model.end / 2 && span.to > model.end / 2)
        .map(({ name, depth, from }) => [model.trace.head.names[name], depth, from]));
      return [list, middle];
    });
    await browser.open(make("halo", 16, 400));
    const expected = await told();
    assert.ok(expected[0].length > 300 && expected[1][0].length > 0, JSON.stringify(expected[1][0]));
    await browser.open(small.address);
    await near();
    assert.deepEqual(await told(), expected);
    // A part alone: the tenth in the middle, with half as much on both sides.
    await see(({ model, page }) => {
      model.remote.window = null;
      model.view = { t0: 0.45 * model.end, t1: 0.55 * model.end };
      page.drawNow();
    });
    await browser.until(() => (window.foretraceTimeline.model.remote.window?.from ?? 0) > 0);
    const part = await told();
    const within = ([, , sent, received]) => sent >= 0.43 * end && received <= 0.57 * end;
    const end = await see(({ model }) => model.end);
    assert.deepEqual(part[0].filter(within), expected[0].filter(within));
    assert.deepEqual(part[1], expected[1]);
    await browser.settle();
    await browser.evaluate(() => document.querySelector("#overlay").focus());
    await browser.press("m");
    await complete();
    assert.match(await status(), /^\d+ messages/);
    await browser.press("w");
    await browser.press("g");
    assert.match(await browser.evaluate(() => document.querySelector("#selected h2").textContent), /MPI_I?[Ss]end/);
    await browser.press("Escape");
    await browser.press("m");
    await browser.press("0");
    await near();
  });

  await check("tracks are those of a page of its own", small, async () => {
    // The mean of each sixteenth of the run.
    const open = async () => {
      await browser.evaluate(() => document.querySelector("#tab-tracks").focus());
      await browser.clickOn("#tab-tracks");
      const read = () => {
        const { page, model } = window.foretraceTimeline;
        return page.dock.open.rows.slice(0, 4).map(({ track }) => [track.name, [...track.line(0, model.end / 16, 16).mean]]);
      };
      await browser.until(`() => {
        const lines = (${read})();
        return lines.length > 0 && lines.every(([, mean]) => !mean.some(Number.isNaN));
      }`);
      return browser.evaluate(read);
    };
    await browser.open(make("halo", 16, 400));
    const expected = await open();
    assert.deepEqual(expected.map(([name]) => name), ["ranks waiting", "ranks computing", "messages under way", "bytes under way"]);
    assert.ok(expected.every(([, mean]) => mean.some((value) => value > 0.5)), JSON.stringify(expected));
    await browser.open(small.address);
    await near();
    const is = await open();
    assert.deepEqual(is.map(([name]) => name), expected.map(([name]) => name));
    expected.forEach(([name, mean], i) => mean.forEach((value, x) =>
      assert.ok(Math.abs(is[i][1][x] - value) <= 2e-6 * value + 1e-6, `${name} ${x}: ${is[i][1][x]}, not ${value}`)));
    await browser.clickOn("#tab-tracks");
  });

  // Lines of the table of the tab Ranks, once they are there.
  const rankTable = async () => {
    await browser.until(() => /\d/.test(document.querySelector("#tool-ranks tbody")?.textContent ?? ""));
    return browser.evaluate(() => [...document.querySelectorAll("#tool-ranks tbody tr")].map((line) => [...line.cells].map((cell) => cell.textContent)));
  };
  const rowLabels = () => see(({ model }) => model.rows.list.map(({ ranks }) => ranks.join(" ")));

  await check("ranks that do alike are those of a page of its own", small, async () => {
    const fold = async (from, to) => {
      await see(({ model, page }, a, b) => {
        model.view = { t0: a * model.end, t1: b * model.end };
        page.drawNow();
      }, from, to);
      await browser.evaluate(() => document.querySelector("#overlay").focus());
      await browser.press("a");
      await browser.until((ranks) => window.foretraceTimeline.model.rows.count < ranks, 16);
      await browser.settle();
      const groups = await see(({ page }) => page.ranks.groups.map(({ name, ranks, apart }) => [name, ranks, apart.toFixed(9)]));
      const told = [groups, await rowLabels(), await rankTable()];
      await browser.evaluate(() => {
        window.foretraceTimeline.page.ranks.group("none");
        window.foretraceTimeline.page.dock.show("ranks");
      });
      return told;
    };
    for (const [from, to] of [[0, 1], [0.301, 0.407]]) {
      await browser.open(make("halo", 16, 400));
      const expected = await fold(from, to);
      assert.ok(expected[0].length > 1 && expected[0][0][1].length > 1, JSON.stringify(expected[0]));
      await browser.open(small.address);
      await near();
      assert.deepEqual(await fold(from, to), expected);
    }
  });

  await check("ranks are put in order as on a page of its own", small, async () => {
    const orders = async () => {
      const told = [];
      for (const order of ["compute", "calls", "wait", "delay", "end", "rank"]) {
        await browser.evaluate((value) => window.foretraceTimeline.page.ranks.sort(value), order);
        told.push([order, ...await rowLabels()]);
      }
      return told;
    };
    await browser.open(make("halo", 16, 400));
    const expected = await orders();
    await browser.clickOn("#tab-ranks");
    const table = await rankTable();
    assert.match(table[0].at(-1), /[1-9]/); // others' waiting
    await browser.open(small.address);
    await near();
    assert.deepEqual(await orders(), expected);
    await browser.clickOn("#tab-ranks");
    assert.deepEqual(await rankTable(), table);
    await browser.clickOn("#tab-ranks");
  });

  await check("events are searched, walked and counted", small, async () => {
    await browser.press("/");
    await browser.type("MPI_Allreduce rank<2");
    assert.equal(await see(({ model }) => model.found.set.count), 10);
    await browser.press("Enter");
    const [event, number] = await see(({ page, model }) => [page.desk.model.selected, model.trace.ranks[0].first]);
    assert.equal(number, -1); // of what stands for the events before
    const shown = await browser.evaluate(() => document.querySelector("#selected").textContent);
    assert.ok(shown.includes(`event${event.event - 1}`), shown);
    await browser.clickOn("#tab-statistics");
    await browser.until(() => document.querySelectorAll("#tool-statistics tbody tr").length > 3);
    // What a part of the run cannot tell is not offered.
    assert.deepEqual(await browser.evaluate(() => [...document.querySelectorAll("#dock .tab")].map((tab) => tab.textContent)),
      ["Statistics", "Histogram", "Messages", "Ranks", "Tracks", "Notes", "Export"]);
  });

  await check("the page is accessible", small, async () => {
    assert.deepEqual(await browser.faults(axe), []);
  });

  await check("the server answers nobody else", small, async () => {
    const tile = "tile?time=10&column=0&ranks=0&row=0";
    assert.equal((await small.ask(tile)).status, 200);
    const { pathname } = new URL(small.address);
    for (const path of ["/", `/${"0".repeat(32)}/`, `/${"0".repeat(32)}/${tile}`, `${pathname}../../etc/passwd`, `${pathname}..%2f..%2fetc%2fpasswd`, `${pathname}state`])
      assert.equal((await small.ask(path)).status, 404, path);
    assert.equal((await small.ask(tile, { Host: "somewhere.example" })).status, 404);
    for (const path of ["tile", "tile?time=10&column=0&ranks=0", "tile?time=10&column=-1&ranks=0&row=0", "tile?time=99999999999999999999&column=0&ranks=0&row=0",
      "tile?time=10&column=0&ranks=0x1&row=0", "tile?time=10&column=4&ranks=0&row=0", "tile?time=10&column=0&ranks=64&row=0", "events?from=0&to=1&first=3&last=3",
      "events?from=0&to=1&first=0&last=17", "events?from=5&to=5&first=0&last=1", "events?from=&to=1&first=0&last=1",
      "alike?from=1&to=1", "alike?from=-1&to=1", "alike?from=nan&to=1", "alike?from=0&to=inf", "ranks?from=2&to=1", "under-way?from=0&to=9&columns=0",
      "under-way?from=0&to=9&columns=99999999", `${tile}&rows=7`]) {
      const answer = await small.ask(path);
      assert.equal(answer.status, 400, path);
      assert.match(answer.text, /^(expected a number|there (is|are) no such|these rows are forgotten)/);
    }
  });
  assert.equal(await small.end(), 0);

  large = await Served.of(make("trace", 512, 1000));
  assert.match(large.said, /making .*\.view, once/);
  await check("figures say that tiles are still to come", large, async () => {
    await browser.open(large.address);
    await complete();
    assert.doesNotMatch(await status(), /^loading/);
    // Answers wait until they are let go.
    await browser.evaluate(() => {
      const ask = window.fetch;
      window.held = new Promise((go) => (window.letGo = go));
      window.fetch = async (...words) => (await window.held, ask(...words));
    });
    await see(({ model, page }) => {
      model.view = { t0: 0.3 * model.end, t1: 0.4 * model.end };
      page.drawNow();
    });
    assert.match(await status(), /^loading, figures are of what has come · /);
    await browser.evaluate(() => window.letGo());
    await complete();
    assert.doesNotMatch(await status(), /^loading/);
    // What a served page has not is said there.
    assert.match(await browser.evaluate(() => document.querySelector("#losses").textContent), /Where time is lost/);
  });

  await check("a large one is drawn of tiles until its events are few", large, async () => {
    await browser.open(large.address);
    await browser.until(() => /zoom in to see them/.test(document.querySelector("#status").textContent));
    await browser.until(() => window.foretraceTimeline.model.remote.many > 0);
    await complete();
    assert.ok(await see(({ model }) => model.far));
    assert.match(await status(), /^5\d\d,\d\d\d events, zoom in to see them one by one/);
    // Every line of pixels has something.
    const { runs } = await see(({ page }) => page.drawNow());
    assert.ok(runs > 1000, String(runs));
    const all = await see(({ model }) => model.totals.reduce((a, b) => a + b, 0));
    await browser.until(() => {
      const { model } = window.foretraceTimeline;
      model.totalsIn(0, model.end);
      return model.remote.wanted.length === 0 && model.remote.asked.size === 0;
    });
    const view = await see(({ model }) => model.totalsIn(0, model.end).reduce((a, b) => a + b, 0));
    assert.ok(Math.abs(all - view) < 1e-6 * all, `${view}, not ${all}`);
    // Folded and sorted rows are drawn of tiles of their own.
    await browser.evaluate(() => document.querySelector("#overlay").focus());
    await browser.press("a");
    await browser.until(() => window.foretraceTimeline.model.rows.count < 512);
    await browser.until(() => window.foretraceTimeline.page.drawNow().runs > 100);
    assert.ok((await rowLabels()).length <= 12);
    await rankTable();
    await browser.evaluate(() => window.foretraceTimeline.page.ranks.group("none"));
    await browser.evaluate(() => window.foretraceTimeline.page.ranks.sort("wait"));
    await browser.until(() => window.foretraceTimeline.page.drawNow().runs > 1000);
    assert.ok((await rowLabels()).join(" ") !== Array.from({ length: 512 }, (_, rank) => rank).join(" "));
    await browser.evaluate(() => window.foretraceTimeline.page.ranks.sort("rank"));
    await browser.clickOn("#tab-ranks");
    // By the keyboard.
    await browser.evaluate(() => document.querySelector("#overlay").focus());
    for (let i = 0; i < 8; i++) await browser.press("+", { settle: false });
    await browser.settle();
    await near();
    const held = await see(({ model }) => model.sums.reduce((sum, each) => sum + each.rank.count, 0));
    assert.ok(held > 1000 && held <= 400000, String(held));
    // By the pointer: out again.
    await browser.clickOn("#reset");
    await browser.until(() => window.foretraceTimeline.model.far);
  });
  assert.equal(await large.end(), 0);
  // The second time the view is there.
  large = await Served.of(join(folder, "served-512-1000.ftr"));
  assert.equal(large.said, "");
  assert.equal(await large.end(), 0);
  // One of another version of the tool is made again.
  const view = openSync(join(folder, "served-512-1000.ftr.view"), "r+");
  writeSync(view, "FTRVIEW2", 0);
  closeSync(view);
  large = await Served.of(join(folder, "served-512-1000.ftr"));
  assert.match(large.said, /making .*\.view, once/);
  assert.equal(await large.end(), 0);
} finally {
  small.process.kill();
  large?.process.kill();
  await browser.close();
}
