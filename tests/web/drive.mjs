// A page in a headless Chromium that is driven as a user does: real pointer and keyboard
// input by the browser's debugging pipe.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const kTimeout = 60000; // ms for one answer

// Counts what the page has still to do: timers that are soon due, and answers that it waits for.
const kCount = `{
  const { setTimeout, clearTimeout, fetch } = window;
  const due = new Set();
  window.setTimeout = (work, delay = 0, ...values) => {
    const id = setTimeout(() => {
      due.delete(id);
      work(...values);
    }, delay);
    if (delay <= 200) due.add(id);
    return id;
  };
  window.clearTimeout = (id) => {
    due.delete(id);
    clearTimeout(id);
  };
  window.fetch = (...words) => {
    const answer = fetch(...words);
    due.add(answer);
    return answer.finally(() => due.delete(answer));
  };
  window.stillToDo = due;
}`;
const kQuiet = 3; // frames in which nothing is left to do until a page has settled

const kKeys = {
  Enter: { keyCode: 13, text: "\r" }, Escape: { keyCode: 27 }, Tab: { keyCode: 9 }, " ": { keyCode: 32, text: " ", code: "Space" },
  ArrowLeft: { keyCode: 37 }, ArrowUp: { keyCode: 38 }, ArrowRight: { keyCode: 39 }, ArrowDown: { keyCode: 40 },
  Home: { keyCode: 36 }, End: { keyCode: 35 }, Delete: { keyCode: 46 },
};

export class Browser {
  #process;
  #profile;
  #session = null;
  #address = ""; // without what follows "#"
  #next = 1;
  #waiting = new Map();
  #rest = "";
  messages = []; // of the console, and errors
  requests = []; // addresses that were asked for

  constructor(chromium) {
    this.#profile = mkdtempSync(join(tmpdir(), "foretrace-drive-"));
    this.#process = spawn(chromium, [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", `--user-data-dir=${this.#profile}`, "--remote-debugging-pipe",
      // Nobody goes back: a page that is left is not kept.
      "--disable-features=BackForwardCache", "--window-size=1280,800", "--enable-precise-memory-info", "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#process.stdio[4].setEncoding("utf8");
    this.#process.stdio[4].on("data", (text) => this.#take(text));
    this.#process.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser has ended"));
    });
  }

  #take(text) {
    const parts = (this.#rest + text).split("\0");
    this.#rest = parts.pop();
    for (const part of parts) this.#answer(JSON.parse(part));
  }

  #answer(message) {
    const waiting = this.#waiting.get(message.id);
    if (waiting !== undefined) {
      this.#waiting.delete(message.id);
      clearTimeout(waiting.timer);
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    } else if (message.method === "Runtime.consoleAPICalled") {
      this.messages.push(message.params.args.map((each) => each.value ?? each.description).join(" "));
    } else if (message.method === "Runtime.exceptionThrown") {
      this.messages.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
    } else if (message.method === "Log.entryAdded") {
      this.messages.push(message.params.entry.text);
    } else if (message.method === "Network.requestWillBeSent") {
      this.requests.push(message.params.request.url);
    }
  }

  send(method, params = {}) {
    const id = this.#next++;
    const message = { id, method, params, ...(this.#session === null ? {} : { sessionId: this.#session }) };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), kTimeout);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#process.stdio[3].write(`${JSON.stringify(message)}\0`);
    });
  }

  // Opens a file or an address; returns when it has loaded and drawn.
  async open(page, { width = 1280, height = 800, scale = 1, dark = false, touch = false } = {}) {
    if (this.#session === null) {
      const { targetInfos } = await this.send("Target.getTargets");
      const { targetId } = targetInfos.find((each) => each.type === "page");
      const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
      this.#session = sessionId;
      for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(`${domain}.enable`);
      await this.send("Page.addScriptToEvaluateOnNewDocument", { source: kCount });
    }
    this.messages = [];
    this.requests = [];
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: touch });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    const url = page.includes("://") ? page : pathToFileURL(page).href;
    // Where only what follows "#" differs, a browser stays on the page.
    const [address] = url.split("#");
    if (address === this.#address) await this.send("Page.navigate", { url: "about:blank" });
    this.#address = address;
    await this.send("Page.navigate", { url });
    await this.until(() => document.readyState === "complete");
    // A time line unpacks its events first.
    await this.until(() => document.querySelector(".trace-head") === null || "summary" in document.documentElement.dataset || "error" in document.documentElement.dataset);
    await this.settle();
  }

  // The value of a function in the page.
  async evaluate(body, ...values) {
    const expression = `(${body})(...${JSON.stringify(values)})`;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description ?? exceptionDetails?.text);
    return result.value;
  }

  async until(body, ...values) {
    const limit = Date.now() + kTimeout;
    while (!(await this.evaluate(body, ...values))) {
      assert.ok(Date.now() < limit, `not so within ${kTimeout} ms: ${body}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  // Until all is drawn, and tools that wait for the view to stand still have followed it.
  async settle() {
    await this.evaluate((frames) => new Promise((resolve) => {
      let quiet = 0;
      const look = () => {
        quiet = "drawing" in document.documentElement.dataset || window.stillToDo.size > 0 ? 0 : quiet + 1;
        if (quiet === frames) resolve();
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }), kQuiet);
  }

  // A key with the modifiers alt, ctrl, shift; without `settle` the next one may follow at once.
  async press(key, { shift = false, ctrl = false, alt = false, settle = true } = {}) {
    const known = kKeys[key] ?? { keyCode: key.toUpperCase().charCodeAt(0), text: key };
    const event = {
      key, code: known.code ?? key, windowsVirtualKeyCode: known.keyCode, modifiers: (alt ? 1 : 0) + (ctrl ? 2 : 0) + (shift ? 8 : 0),
      ...(known.text === undefined ? {} : { text: known.text }),
    };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    if (settle) await this.settle();
  }

  async type(text) {
    await this.send("Input.insertText", { text });
    await this.settle();
  }

  mouse(type, x, y, more = {}) {
    return this.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" && !more.buttons ? "none" : "left", clickCount: type === "mouseMoved" ? 0 : 1, ...more });
  }

  async click(x, y, more = {}) {
    await this.mouse("mouseMoved", x, y, more);
    await this.mouse("mousePressed", x, y, more);
    await this.mouse("mouseReleased", x, y, more);
    await this.settle();
  }

  async drag(x0, y0, x1, y1) {
    await this.mouse("mouseMoved", x0, y0);
    await this.mouse("mousePressed", x0, y0);
    for (let i = 1; i <= 5; i++) await this.mouse("mouseMoved", x0 + ((x1 - x0) * i) / 5, y0 + ((y1 - y0) * i) / 5, { buttons: 1, button: "left" });
    await this.mouse("mouseReleased", x1, y1);
    await this.settle();
  }

  // The middle of an element.
  async where(selector) {
    return this.evaluate((what) => {
      const node = document.querySelector(what);
      if (node === null) throw new Error(`no ${what}`);
      node.scrollIntoView({ block: "nearest" });
      const box = node.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    }, selector);
  }

  async clickOn(selector, more = {}) {
    const [x, y] = await this.where(selector);
    await this.click(x, y, more);
  }

  // What an accessibility checker, the source of axe-core, finds on the page: one text a fault.
  async faults(axe) {
    if (await this.evaluate(() => window.axe === undefined)) await this.send("Runtime.evaluate", { expression: readFileSync(axe, "utf8") });
    return this.evaluate(async () => {
      const { violations, passes } = await window.axe.run();
      if (passes.length < 10) throw new Error("the checker has not run");
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
    });
  }

  async picture(file) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  async close() {
    await this.send("Browser.close").catch(() => {});
    await new Promise((resolve) => {
      if (this.#process.exitCode !== null) resolve();
      this.#process.once("exit", resolve);
      setTimeout(() => this.#process.kill("SIGKILL"), 5000).unref();
    });
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
