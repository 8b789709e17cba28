// Drives the tools of the time line page by pointer and keyboard in a headless Chromium.
// Usage: node tools_test.mjs CHROMIUM MAKE_PAGE FOLDER AXE
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "./drive.mjs";

const [chromium, makePage, folder, axe] = process.argv.slice(2);

function writePage(...words) {
  const file = join(folder, `tools-${words.join("-")}.html`);
  const made = spawnSync(makePage, [...words, file], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return file;
}

const browser = new Browser(chromium);

async function check(name, body) {
  await body();
  assert.deepEqual(browser.messages, [], name);
  // Nothing is asked for but the page itself.
  assert.deepEqual(browser.requests.filter((address) => !/^(file|about|data|blob):/.test(address)), [], name);
  console.log(`ok ${name}`);
}

// What the page knows, as `read` tells it of its models and tools.
const see = (read, ...values) => browser.evaluate(`(...values) => (${read})(window.foretraceTimeline, ...values)`, ...values);
const selected = () => see(({ page }) => page.desk.model.selected);
const textOf = (selector) => browser.evaluate((what) => document.querySelector(what).textContent, selector);

const halo = writePage("halo", "16", "400");
const two = writePage("two", "8", "200");

try {
  await check("a search marks all hits, Enter and the buttons walk", async () => {
    await browser.open(halo);
    await browser.press("/");
    await browser.type("MPI_Allreduce rank<2");
    const count = await see(({ model }) => model.found.set.count);
    assert.equal(count, 2 * 5); // 80 steps, one in 16
    assert.ok((await see(({ page }) => page.drawNow().hits)) >= 2 * 5);
    await browser.press("Enter");
    assert.match(await textOf("#hits"), /^1 of 10/);
    const first = await selected();
    await browser.clickOn("#hit-next");
    assert.match(await textOf("#hits"), /^2 of 10/);
    await browser.clickOn("#hit-back");
    assert.deepEqual(await selected(), first);
    // On the time line itself, with keys.
    await browser.evaluate(() => document.querySelector("#overlay").focus());
    await browser.press(".");
    await browser.press(".");
    assert.match(await textOf("#hits"), /^3 of 10/);
    await browser.press(",");
    assert.match(await textOf("#hits"), /^2 of 10/);
  });

  await check("a search that means nothing says so", async () => {
    await browser.open(halo);
    await browser.clickOn("#search");
    await browser.type("durasion>3ms");
    assert.match(await textOf("#hits"), /“durasion” is not known/);
    assert.equal(await browser.evaluate(() => document.querySelector("#search").getAttribute("aria-invalid")), "true");
    await browser.press("Escape");
    assert.equal(await textOf("#hits"), "");
  });

  await check("keys lead to the partner, the longest wait and the last to come", async () => {
    await browser.open(halo);
    await browser.press("w");
    const waits = await see(({ model }) => model.trace.ranks.map((rank) => Math.max(...rank.wait)));
    const wait = (ref) => see(({ model }, { rank, event }) => model.trace.ranks[rank].wait[event], ref);
    const longest = await selected();
    assert.equal(await wait(longest), Math.max(...waits));
    await browser.press("w");
    assert.ok((await wait(await selected())) <= Math.max(...waits));
    assert.notDeepEqual(await selected(), longest);
    await browser.press("W", { shift: true });
    assert.deepEqual(await selected(), longest);

    await browser.press("/");
    await browser.type("send rank=3");
    await browser.press("Enter");
    const send = await selected();
    await browser.clickOn("#to-partner");
    const partner = await selected();
    assert.notEqual(partner.rank, send.rank);
    await browser.evaluate(() => document.querySelector("#overlay").focus());
    await browser.press("g");
    assert.equal((await selected()).rank, send.rank);

    await see(({ page }) => page.search.ask("allreduce rank=5"));
    await browser.press(".");
    await browser.press("l");
    const last = await selected();
    const [rank, latest] = await see(({ model }, ref) => {
      const all = model.collectives().of(ref.rank, ref.event);
      return [all.rank, all.last === model.trace.ranks[ref.rank].enter[ref.event]];
    }, last);
    assert.equal(last.rank, rank);
    assert.ok(latest);
    // From event to event, from rank to rank.
    await browser.press("ArrowRight", { shift: true });
    const next = await selected();
    assert.ok(next.event > last.event || next.compute !== last.compute);
    await browser.press("ArrowUp", { shift: true });
    assert.equal((await selected()).rank, next.rank - 1);
  });

  await check("statistics follow the view, sort, and mark", async () => {
    await browser.open(halo);
    await browser.clickOn("#tab-statistics");
    const rows = () => browser.evaluate(() => [...document.querySelectorAll("#tool-statistics tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));
    const whole = await rows();
    assert.equal(whole[0][0], "COMPUTE");
    await browser.press("+");
    await see(({ page }) => page.desk.show(0, 1e8));
    await browser.settle();
    assert.notDeepEqual(await rows(), whole);
    // By name, with the keyboard: the head's first button.
    await browser.evaluate(() => document.querySelector("#tool-statistics th button").focus());
    await browser.press("Enter");
    const names = (await rows()).map(([name]) => name);
    assert.deepEqual(names, [...names].sort());
    await browser.clickOn("#tool-statistics tbody tr:nth-child(2) button");
    const [what, marked, right] = await see(({ model }) => [model.found.what, model.found.set.count,
      [...model.found.set.refs()].every((ref) => model.trace.head.names[model.trace.shapes[model.trace.ranks[ref.rank].shape[ref.event]].name] === model.found.what)]);
    assert.equal(what, names[1]);
    assert.ok(marked > 0 && right);
  });

  await check("the histogram's limits select bars, by pointer and by keys", async () => {
    await browser.open(halo);
    await browser.clickOn("#tab-histogram");
    const all = await see(({ page }) => page.dock.open.histogram.counts.reduce((a, b) => a + b));
    const [x, y] = await browser.where("#tool-histogram .limit");
    const width = await browser.evaluate(() => document.querySelector("#tool-histogram canvas").clientWidth);
    await browser.drag(x, y, x + width / 2, y);
    const [low, counted, marked, least] = await see(({ model, page }) => {
      const { limits, histogram } = page.dock.open;
      const { set } = model.found;
      const durations = set.byRank.flatMap((codes, rank) => [...codes].map((code) => set.stop(rank, code) - set.start(rank, code)));
      return [limits[0], histogram.counts.slice(limits[0], limits[1]).reduce((a, b) => a + b), set.count, Math.min(...durations)];
    });
    assert.equal(low, 30);
    assert.ok(marked > 0 && marked < all);
    assert.equal(marked, counted);
    assert.ok(least > 0);
    await browser.press("ArrowRight"); // the limit has the focus
    assert.equal(await see(({ page }) => page.dock.open.limits[0]), 31);
    await browser.press("Home");
    assert.equal(await see(({ page }) => page.dock.open.limits[0]), 0);
  });

  await check("a cell of the matrix shows its messages", async () => {
    await browser.open(halo);
    await browser.clickOn("#tab-matrix");
    const [sum, total] = await see(({ page, model }) => [page.dock.open.matrix.messages.reduce((a, b) => a + b), model.messages().count]);
    assert.equal(sum, total);
    const box = await browser.evaluate(() => {
      const { left, top, width } = document.querySelector(".matrix").getBoundingClientRect();
      return { left, top, width };
    });
    const cell = box.width / 16;
    await browser.click(box.left + 3.5 * cell, box.top + 2.5 * cell); // from 2 to 3
    const pairs = await see(({ model }) => model.found.messages.map((i) => [model.messages().source[i], model.messages().dest[i]].join()));
    assert.deepEqual([...new Set(pairs)], ["2,3"]);
    assert.equal(pairs.length, 80);
    assert.equal(await see(({ page }) => page.drawNow().arrows), 80);
    assert.match(await textOf("#tool-matrix .hint"), /rank 2 to rank 3: 80 messages/);
    await browser.evaluate(() => document.querySelector(".matrix").focus());
    await browser.press("ArrowDown");
    await browser.press("ArrowRight");
    await browser.press("Enter");
    assert.match(await see(({ model }) => model.found.what), /from rank 3 to rank 4/);
  });

  await check("two runs lie over each other on one axis", async () => {
    await browser.open(two);
    const [ends, views, names] = await see(({ models }) => [models.map((m) => m.end), models.map((m) => m.view), models.map((m) => m.name)]);
    assert.deepEqual(names, ["short", "long"]);
    assert.equal(ends[0], ends[1]);
    assert.deepEqual(views[0], views[1]);
    await browser.press("+");
    await browser.press("ArrowRight");
    const after = await see(({ models }) => models.map((m) => m.view));
    assert.deepEqual(after[0], after[1]);
    assert.notDeepEqual(after[0], views[0]);
    // The wheel over the second moves both.
    const [x, y] = await browser.where(".run:nth-child(2) .overlay");
    await browser.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -300 });
    await browser.settle();
    const zoomed = await see(({ models }) => models.map((m) => m.view));
    assert.deepEqual(zoomed[0], zoomed[1]);
    assert.ok(zoomed[0].t1 - zoomed[0].t0 < after[0].t1 - after[0].t0);
    // Up to the end of the short one both do the same.
    const [matched, alone, most] = await see(({ page, models }) => {
      const match = page.lane.matches[0];
      return [match.matched, match.onlyB, Math.max(...match.ranks.flatMap((rank) => [...rank.lag].slice(0, 50).map(Math.abs)))];
    });
    assert.ok(matched > 8 * 150);
    assert.ok(alone > 8 * 150);
    assert.equal(most, 0);
    assert.match(await textOf(".lane-text"), /long: .* short at the right edge/);
    await browser.clickOn("#tab-compare");
    assert.ok((await browser.evaluate(() => document.querySelectorAll("#tool-compare tbody tr").length)) > 0);
    // What is chosen in one is chosen in the other.
    await browser.press("0");
    await see(({ page }) => page.choose({ rank: 2, event: 20, compute: false }));
    assert.deepEqual(await see(({ models }) => models[1].selected), { rank: 2, event: 20, compute: false });
  });
  await check("rows are sorted, folded, unfolded and hidden", async () => {
    await browser.open(halo);
    await browser.clickOn("#tab-ranks");
    const choose = (i, value) => browser.evaluate((index, chosen) => {
      const select = document.querySelectorAll("#tool-ranks select")[index];
      select.value = chosen;
      select.dispatchEvent(new Event("change"));
    }, i, value);
    await choose(0, "wait");
    const order = await see(({ page, model }) => {
      const waits = model.sums.map((sums) => {
        const classes = new Float64Array(sums.classes);
        sums.addRange(0, model.end, classes);
        return classes.slice(classes.length / 2).reduce((a, b) => a + b);
      });
      return model.rows.list.map((row) => waits[row.ranks[0]]);
    });
    assert.deepEqual(order, [...order].sort((a, b) => b - a));
    assert.equal(order.length, 16);
    await choose(1, "alike");
    const [rows, shown] = await see(({ model, page }) => [model.rows.list.map((row) => row.ranks.length), page.drawNow().ranksDrawn]);
    assert.equal(rows.reduce((a, b) => a + b), 16);
    assert.ok(rows.length < 16 && shown === rows.length, `${rows}`);
    // A click on a folded row unfolds it.
    const folded = rows.findIndex((count) => count > 1);
    const [x, y] = await see(({ stage }, row) => {
      const box = stage.front.getBoundingClientRect();
      const { left, rowsTop, rowPitch } = stage.layout;
      return [box.left + left + 100, box.top + rowsTop + (row + 0.5) * rowPitch];
    }, folded);
    await browser.click(x, y);
    assert.equal(await see(({ model }) => model.rows.count), rows.length - 1 + rows[folded]);
    await choose(1, "none");
    await see(({ page }) => page.choose({ rank: 4, event: 3, compute: false }));
    await browser.evaluate(() => [...document.querySelectorAll("#tool-ranks button")].find((node) => node.textContent === "hide rank").focus());
    await browser.press("Enter");
    assert.equal(await see(({ model }) => model.rows.of[4]), -1);
    assert.equal(await see(({ page }) => page.drawNow().ranksDrawn), 15);
  });

  await check("of 65,536 ranks two unlike the others are found", async () => {
    await browser.open(writePage("wide", "65536", "0"));
    // All fit, and every line of pixels is that of some hundred ranks.
    assert.equal(await see(({ page }) => page.drawNow().ranksDrawn), 65536);
    await browser.clickOn("#alike");
    const groups = await see(({ page, model }) => page.ranks.groups.map(({ ranks }, i) => [ranks.length, model.rows.list[i].ranks.length, ranks[0]]));
    assert.ok(groups.length <= 12 && groups.every(([ranks, folded]) => ranks === folded), JSON.stringify(groups));
    const unlike = [9362, 49152];
    assert.deepEqual(groups.filter(([ranks]) => ranks === 1).map(([, , first]) => first), unlike);
    // They are the first two lines of the table.
    const lines = await browser.evaluate(() => [...document.querySelectorAll("#tool-ranks tbody tr")].slice(0, 2).map((line) => Number(line.children[2].textContent)));
    assert.deepEqual(lines.sort((a, b) => a - b), unlike);
    await browser.clickOn("#tool-ranks tbody button");
    assert.match(await textOf("#said"), /^rank (9362|49152)$/);
    // A folded row has the exact time of its ranks, and unfolds.
    const [row, total] = await see(({ model, page }) => {
      const usual = model.rows.list.findIndex((each) => each.ranks.length > 50000);
      return [usual, page.drawNow().ranksDrawn];
    });
    assert.equal(total, groups.length);
    assert.match(await see(({ model }, at) => model.rows.list[at].label, row), /^0 \+5\d\d\d\d$/);
  });

  await check("the same by keys: a folds ranks alike, Enter on a name unfolds", async () => {
    await browser.open(halo);
    await browser.evaluate(() => document.querySelector("#overlay").focus());
    await browser.press("a");
    const before = await see(({ model }) => model.rows.count);
    const [name, more] = await see(({ page }) => {
      const group = page.ranks.groups.find(({ ranks }) => ranks.length > 1);
      return [group.name, group.ranks.length - 1];
    });
    await browser.evaluate((what) => [...document.querySelectorAll("#tool-ranks tbody button")].find((node) => node.textContent.endsWith(what)).focus(), name);
    await browser.press("Enter");
    assert.equal(await see(({ model }) => model.rows.count), before + more);
    assert.match(await textOf("#said"), /^rank \d+ and \d+ more$/);
  });

  await check("the tape moves the line, steps, and plays", async () => {
    await browser.open(halo);
    await browser.clickOn("#tab-animation");
    assert.equal(await see(({ model }) => model.cursor), 0);
    const buttons = (text) => browser.evaluate((what) => [...document.querySelectorAll("#tool-animation button")].find((node) => node.textContent === what).click(), text);
    await buttons("step ▶");
    await browser.settle();
    const first = await see(({ model }) => [model.cursor, Math.min(...model.trace.ranks.flatMap((rank) => [...rank.enter, ...rank.leave].filter((t) => t > 0)))]);
    assert.equal(first[0], first[1]);
    await buttons("step ▶");
    await buttons("◀ step");
    assert.equal(await see(({ model }) => model.cursor), first[0]);
    // The slider, by keys: it is in the middle after End, and some steps back.
    await browser.evaluate(() => {
      const scrub = document.querySelector(".scrub");
      scrub.value = "5000";
      scrub.dispatchEvent(new Event("input"));
      scrub.focus();
    });
    await browser.settle();
    const [at, end, messages, expected] = await see(({ model, page }) => {
      const { sendTime, recvTime, count } = model.messages();
      let under = 0;
      for (let i = 0; i < count; i++) if (sendTime[i] <= model.cursor && recvTime[i] >= model.cursor) under++;
      return [model.cursor, model.end, page.dock.open.shown.messages, under];
    });
    assert.ok(Math.abs(at / end - 0.5) < 1e-3);
    assert.equal(messages, expected);
    await browser.press("ArrowRight");
    assert.ok((await see(({ model }) => model.cursor)) > at);
    const before = await see(({ model }) => model.cursor);
    await buttons("▶ play");
    await browser.until((from) => window.foretraceTimeline.model.cursor > from, before);
    await buttons("❚❚ pause");
    await browser.settle();
    const paused = await see(({ model }) => model.cursor);
    await browser.settle();
    assert.equal(await see(({ model }) => model.cursor), paused);
  });

  await check("two runs move in step, the one with a network on it, with numbers of marks", async () => {
    await browser.open(writePage("network", "16", "400"), { width: 1600, height: 1000 });
    await browser.clickOn("#tab-animation");
    const texts = () => browser.evaluate(() => [...document.querySelectorAll("#tool-animation select")].map((node) => [...node.options].map((each) => each.textContent).join()));
    assert.ok((await texts()).includes("network,ring,grid"), `${await texts()}`);
    assert.ok((await texts()).some((each) => each.startsWith("no mark,")), `${await texts()}`);
    const moment = await see(({ models, page }) => {
      const messages = models[0].messages();
      page.dock.open.goTo((messages.sendTime[200] + messages.recvTime[200]) / 2);
      return models.map((model) => model.cursor);
    });
    await browser.settle();
    assert.equal(moment[0], await see(({ models }) => models[1].cursor));
    const drawn = await see(({ page }) => page.dock.open.shown.runs);
    // Both are the same trace: as many messages; on links that they share there are more.
    assert.equal(drawn[0].messages, drawn[1].messages);
    assert.ok(drawn[0].messages > 0 && drawn[0].busiest >= drawn[1].busiest, JSON.stringify(drawn));
    // Where ranks stand, of all of each run.
    const standing = await browser.evaluate(() => [...document.querySelectorAll(".standing li")].map((node) => node.textContent));
    const counts = standing.map((each) => Number(each.match(/^(\d+) × /)?.[1] ?? 0));
    assert.deepEqual(standing.filter((each) => !each.includes("×")), ["torus", "as it was"]);
    assert.equal(counts.reduce((a, b) => a + b), 32);
    const numbered = await browser.evaluate(() => {
      const select = [...document.querySelectorAll("#tool-animation select")].find((node) => node.options[0].textContent === "no mark");
      select.value = select.options[1].value;
      select.dispatchEvent(new Event("change"));
      return select.value;
    });
    assert.equal(numbered, "residual");
    for (const form of ["ring", "grid", "network"])
      await browser.evaluate((chosen) => {
        const select = [...document.querySelectorAll("#tool-animation select")].find((node) => [...node.options].some((each) => each.value === "ring"));
        select.value = chosen;
        select.dispatchEvent(new Event("change"));
      }, form);
  });

  await check("tracks draw numbers over the time in view, and tell the one under the pointer", async () => {
    await browser.open(writePage("network", "16", "400"));
    await browser.clickOn("#tab-tracks");
    const rows = () => browser.evaluate(() => [...document.querySelectorAll(".track-text")].map((node) => node.textContent));
    const names = (await rows()).map((text) => text.split(":")[0]);
    assert.deepEqual(names.slice(0, 4), ["ranks waiting", "ranks computing", "messages under way", "bytes under way"]);
    assert.match(names[4], /^bytes for the link of nodes \d+ and \d+, which has most$/);
    assert.equal(names[5], "residual");
    // The mean of the waiting ranks is the time that the legend tells, over the time.
    const [waiting, expected] = await see(({ model, page }) => {
      const { mean } = page.dock.open.rows[0].line;
      const totals = model.totalsIn(model.view.t0, model.view.t1);
      return [mean.reduce((a, b) => a + b) / mean.length, totals.slice(model.states.count).reduce((a, b) => a + b) / (model.view.t1 - model.view.t0)];
    });
    assert.ok(Math.abs(waiting - expected) < 1e-6 * expected, `${waiting} ${expected}`);
    const box = await browser.where(".track");
    await browser.mouse("mouseMoved", box.x ?? box[0], box.y ?? box[1]);
    await browser.until(() => document.querySelector(".track-text").textContent.includes(" at "));
  });

  await check("a second window shows another part, follows keys and pointer, and is framed above", async () => {
    await browser.open(halo);
    const views = () => see(({ page, model }) => {
      const { t0, t1 } = page.dock.open.stage.model.view;
      return { own: [t0 / model.end, t1 / model.end], above: [model.view.t0 / model.end, model.view.t1 / model.end], framed: model.detail !== null };
    });
    const near = (is, expected) => is.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-9, `${is}, not ${expected}`));
    await browser.clickOn("#tab-detail");
    await browser.settle();
    let now = await views();
    near(now.own, [0.4, 0.6]);
    near(now.above, [0, 1]);
    assert.ok(now.framed);
    // It is drawn: more than one colour.
    assert.ok(await browser.evaluate(() => {
      const canvas = document.querySelector(".second-view canvas.bars");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 8;
    }));
    await browser.evaluate(() => document.querySelector(".second-view canvas.overlay").focus());
    await browser.press("+");
    await browser.press("ArrowRight");
    now = await views();
    assert.ok(now.own[1] - now.own[0] < 0.14 && now.own[0] > 0.44, String(now.own));
    near(now.above, [0, 1]);
    // What is chosen there is chosen above.
    const box = await browser.evaluate(() => {
      const { x, y, width, height } = document.querySelector(".second-view canvas.overlay").getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    });
    await browser.click(box.x, box.y);
    const chosen = await selected();
    assert.ok(chosen !== null);
    assert.ok(await browser.evaluate(() => !document.querySelector("#selected").hidden));
    const before = await views();
    await browser.clickOn("#tool-detail button:nth-of-type(2)");
    now = await views();
    near(now.own, before.above);
    near(now.above, before.own);
    await browser.clickOn("#tool-detail button:nth-of-type(1)");
    near((await views()).own, before.own);
    await browser.clickOn("#tab-detail");
    assert.ok(await see(({ model }) => model.detail === null));
  });

  await check("a page tells that it is loading until its run is there", async () => {
    const bare = join(folder, "tools-loading.html");
    // Without its script it stays at what is there before.
    writeFileSync(bare, readFileSync(halo, "utf8").replace(/<script[^]*<\/script>/, ""));
    await browser.open(bare);
    assert.equal(await textOf("#loading"), "The run is being loaded…");
    assert.ok(await browser.evaluate(() => document.querySelector("#loading").getBoundingClientRect().height > 10));
    await browser.open(halo);
    assert.ok(await browser.evaluate(() => document.querySelector("#loading").hidden));
  });

  await check("the address leads back to the view, the search and the notes", async () => {
    await browser.open(halo);
    await browser.press("+");
    await browser.press("m");
    await browser.press("/");
    await browser.type("allreduce");
    await browser.press("Enter");
    await browser.clickOn("#tab-notes");
    await browser.clickOn(".note-text");
    await browser.type("late, see & think");
    await browser.press("Enter");
    await browser.until(() => location.hash.includes("note="));
    const state = (what) => see(({ model }) => [model.view, model.showMessages, model.selected, model.notes, model.found.set.count]);
    const before = await state();
    assert.equal(before[3][0].text, "late, see & think");
    const address = await browser.evaluate(() => location.href);
    await browser.open(address);
    const after = await state();
    assert.ok(Math.abs(after[0].t0 - before[0].t0) <= 1 && Math.abs(after[0].t1 - before[0].t1) <= 1);
    assert.deepEqual(after.slice(1), before.slice(1));
    assert.equal(await see(({ page }) => page.dock.open.id), "notes");
    // Nonsense in the address does no harm.
    await browser.open(`${address.split("#")[0]}#t=9-3&event=99.1&rows=x&note=1@2&order=no&tool=none&hidden=a.900`);
    assert.equal(await see(({ model }) => model.view.t1), await see(({ model }) => model.end));
  });

  await check("SVG, PNG and CSV hold what is in view", async () => {
    await browser.open(halo);
    await browser.evaluate(() => {
      window.saved = [];
      const create = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => {
        window.saved.push(blob);
        return create(blob);
      };
      HTMLAnchorElement.prototype.click = function () { window.saved[window.saved.length - 1].download = this.download; };
    });
    await browser.clickOn("#tab-export");
    for (const name of ["SVG", "PNG", "CSV"])
      await browser.evaluate((text) => [...document.querySelectorAll("#tool-export button")].find((node) => node.textContent === text).click(), name);
    await browser.until(() => window.saved.length === 3);
    const files = await browser.evaluate(async () => Object.fromEntries(await Promise.all(window.saved.map(async (blob) => [blob.type, blob.type === "image/png" ? blob.size : await blob.text()]))));
    assert.ok(files["image/png"] > 5000);
    const shapes = await browser.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      if (parsed.querySelector("parsererror")) throw new Error(parsed.querySelector("parsererror").textContent);
      return [parsed.querySelectorAll("path").length, parsed.querySelector("title").textContent];
    }, files["image/svg+xml"]);
    assert.ok(shapes[0] > 5);
    const lines = files["text/csv"].trim().split("\n");
    assert.match(lines[0], /^rank,event,function,start_s,duration_s,wait_s,/);
    const total = await see(({ model }) => model.totals.reduce((a, b) => a + b));
    const sum = lines.slice(1).reduce((all, line) => all + BigInt(line.split(",")[4].replace(".", "")), 0n);
    assert.equal(String(sum), String(total)); // all time of all ranks, to the picosecond
  });

  await check("the page has no fault that an accessibility checker finds", async () => {
    for (const page of ["report", "compare"])
      for (const dark of [false, true]) {
        await browser.open(writePage(page, "16", "400"), { dark });
        assert.deepEqual(await browser.faults(axe), [], `${page} ${dark ? "dark" : "light"}`);
      }
    for (const [file, dark] of [[halo, false], [halo, true], [two, false]]) {
      await browser.open(file, { dark });
      const tools = await see(({ page }) => [null, ...document.querySelectorAll("[role=tab]")].map((tab) => tab && tab.id.slice(4)));
      for (const tool of tools) {
        await see(({ page }, id) => page.dock.show(id), tool);
        await see(({ page }) => page.choose({ rank: 1, event: 4, compute: false }));
        await browser.settle();
        assert.deepEqual(await browser.faults(axe), [], `${file} ${tool} ${dark ? "dark" : "light"}`);
      }
    }
  });
} finally {
  await browser.close();
}
