// The time line page: reads the embedded trace, sets up the canvas and its
// controls, redraws when something has changed.
import { Overlay } from "./arrows";
import { Controls } from "./controls";
import { decodeBase64, decodeTrace } from "./decode";
import type { Explanation } from "./explain/data";
import { showExplanation } from "./explain/explain";
import { Painter } from "./draw";
import type { TraceHead } from "./events";
import { formatPercent, formatTime } from "./format";
import { type Layout, makeLayout, maxScroll } from "./layout";
import { type EventRef, Model } from "./model";
import { kDark, kLight } from "./palette";
import { facts, fillHeader, Legend, showDescription } from "./panel";
import { CriticalPath } from "./path";
import { describeEvent } from "./tooltip";

function find<T extends Element>(selector: string): T {
  const node = document.querySelector<T>(selector);
  if (node === null) throw new Error(`page: no ${selector}`);
  return node;
}

class Page {
  private readonly bars = find<HTMLCanvasElement>("#bars");
  private readonly front = find<HTMLCanvasElement>("#overlay");
  private readonly tooltip = find<HTMLElement>("#tooltip");
  private readonly painter: Painter;
  private readonly overlay: Overlay;
  private readonly legend: Legend;
  private readonly controls: Controls;
  private layout: Layout;
  private ratio = 1;
  private pending: "none" | "front" | "all" = "none";
  private readonly scheme = window.matchMedia("(prefers-color-scheme: dark)");

  // `explained`: the time line is one part of a page that scrolls.
  constructor(private readonly model: Model, explained: boolean) {
    this.painter = new Painter(this.bars.getContext("2d", { alpha: false })!, model);
    this.overlay = new Overlay(this.front.getContext("2d")!, model);
    this.layout = this.measure();
    fillHeader(model);
    this.legend = new Legend(model, () => this.repaint());
    this.controls = new Controls(this.front, model, {
      layout: () => this.layout,
      redraw: () => this.schedule("all"),
      refresh: () => this.schedule("front"),
      choose: (ref) => this.choose(ref),
      stepPath: (direction) => this.stepPath(direction),
      keys: explained ? find("#stage") : window,
      scrolls: explained,
    });
    this.connectTools();
    this.scheme.addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.schedule("all")).observe(find("#canvases"));
    this.repaint();
  }

  // Draws now; returns what was drawn and how long it took.
  drawNow(): Record<string, number> {
    const start = performance.now();
    this.layout = this.measure();
    this.model.scroll = Math.min(this.model.scroll, maxScroll(this.layout, this.model.trace.ranks.length));
    const frame = this.painter.draw(this.layout, this.ratio);
    const arrows = this.drawFront();
    const milliseconds = performance.now() - start;
    this.legend.update();
    this.updateTools();
    return { ...frame, ...arrows, milliseconds };
  }

  // Leads to an event.
  reveal(ref: EventRef): void {
    this.choose(ref);
    const { from, to } = this.model.spanOf(ref);
    this.controls.showSpan(ref.rank, from, to);
    find("main").scrollIntoView({ block: "nearest" });
    this.front.focus({ preventScroll: true });
  }

  private stepPath(direction: 1 | -1): void {
    const { path, view } = this.model;
    const piece = path?.step(direction, view.t0, view.t1) ?? null;
    if (path === null || piece === null) return;
    this.model.showPath = true;
    this.controls.showSpan(path.rank(piece), path.from[piece]!, path.to[piece]!);
  }

  private showPiece(): void {
    const { path, trace, showPath } = this.model;
    const piece = path?.current ?? null;
    const node = find<HTMLElement>("#piece");
    node.hidden = path === null || piece === null || !showPath;
    if (path === null || piece === null || !showPath) return;
    const [from, to] = [path.from[piece]!, path.to[piece]!];
    const about: [string, string][] = [
      ["critical path", `piece ${piece + 1} of ${path.count}, on rank ${path.rank(piece)}`],
      ["from", formatTime(from)], ["lasts", `${formatTime(to - from)}, ${formatPercent((to - from) / trace.end)} of the run`],
    ];
    if (piece > 0) {
      const before = path.to[piece - 1]!;
      about.push(["comes from", `rank ${path.rank(piece - 1)}${from > before ? `, ${formatTime(from - before)} before` : ""}`]);
    }
    node.replaceChildren(facts(about));
  }

  private drawFront(): { arrows: number; stretches: number } {
    const hover = this.controls?.hovered() ?? null;
    const info = this.overlay.draw(this.layout, this.ratio, hover, this.controls?.pointer?.x ?? null, this.controls?.range ?? null);
    this.placeTooltip(hover);
    this.showMeasure();
    const { view, showMessages } = this.model;
    const span = `${formatTime(view.t1 - view.t0)} shown`;
    const many = info.tooMany ? "too many messages to draw, zoom in · " : "";
    find("#status").textContent = showMessages && !info.tooMany ? `${info.arrows} messages · ${span}` : many + span;
    this.showPiece();
    return { arrows: info.arrows, stretches: info.stretches };
  }

  private measure(): Layout {
    const box = find("#canvases").getBoundingClientRect();
    const width = Math.max(200, Math.floor(box.width));
    const height = Math.max(150, Math.floor(box.height));
    this.ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.bars, this.front]) {
      const [w, h] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
    }
    const { trace, phaseDepths, zoomY } = this.model;
    const widest = phaseDepths > 0 ? `phase ${trace.ranks.length - 1}` : String(trace.ranks.length - 1);
    const label = Math.max(24, widest.length * 6.4);
    return makeLayout(width, height, trace.ranks.length, phaseDepths, label, zoomY);
  }

  private schedule(what: "front" | "all"): void {
    if (this.pending === "none")
      requestAnimationFrame(() => {
        const pending = this.pending;
        this.pending = "none";
        if (pending === "all") this.drawNow();
        else this.drawFront();
      });
    if (this.pending !== "all") this.pending = what;
  }

  private repaint(): void {
    this.model.repaint(this.scheme.matches ? kDark : kLight);
    this.schedule("all");
  }

  private choose(ref: EventRef | null): void {
    this.model.selected = ref;
    showDescription(this.model, find("#selected"), ref === null ? null : describeEvent(this.model, ref));
  }

  private placeTooltip(hover: EventRef | null): void {
    const pointer = this.controls?.pointer ?? null;
    if (hover === null || pointer === null) {
      this.tooltip.hidden = true;
      return;
    }
    showDescription(this.model, this.tooltip, describeEvent(this.model, hover));
    const { offsetWidth: width, offsetHeight: height } = this.tooltip;
    const right = pointer.x + 16 + width <= this.layout.width;
    const below = pointer.y + 16 + height <= this.layout.height;
    this.tooltip.style.left = `${Math.max(0, right ? pointer.x + 16 : pointer.x - 12 - width)}px`;
    this.tooltip.style.top = `${Math.max(0, below ? pointer.y + 16 : pointer.y - 12 - height)}px`;
  }

  private showMeasure(): void {
    const { markO, markX } = this.model;
    const node = find<HTMLElement>("#measure");
    node.hidden = markO === null && markX === null;
    find<HTMLButtonElement>("#zoom-marks").disabled = markO === null || markX === null;
    if (node.hidden) return;
    const about: [string, string][] = [];
    if (markO !== null) about.push(["O", formatTime(Math.round(markO))]);
    if (markX !== null) about.push(["X", formatTime(Math.round(markX))]);
    if (markO !== null && markX !== null) about.push(["between", formatTime(Math.round(Math.abs(markX - markO)))]);
    node.replaceChildren(facts(about));
  }

  private connectTools(): void {
    const click = (id: string, action: () => void): void =>
      find<HTMLButtonElement>(id).addEventListener("click", action);
    click("#zoom-in", () => this.controls.zoom(1.5));
    click("#zoom-out", () => this.controls.zoom(1 / 1.5));
    click("#rows-in", () => this.controls.zoomRows(1.5));
    click("#rows-out", () => this.controls.zoomRows(1 / 1.5));
    click("#reset", () => this.controls.reset());
    click("#zoom-marks", () => this.controls.showMarks());
    click("#path-back", () => this.stepPath(-1));
    click("#path-next", () => this.stepPath(1));
    if (this.model.path !== null)
      document.querySelectorAll<HTMLElement>("#path-tools, .path-key").forEach((node) => (node.hidden = false));
    for (const [id, field] of [["#messages", "showMessages"], ["#shares", "shares"], ["#path", "showPath"]] as const)
      find<HTMLInputElement>(id).addEventListener("change", (event) => {
        this.model[field] = (event.target as HTMLInputElement).checked;
        this.schedule("all");
      });
  }

  private updateTools(): void {
    find<HTMLInputElement>("#messages").checked = this.model.showMessages;
    find<HTMLInputElement>("#shares").checked = this.model.shares;
    find<HTMLInputElement>("#path").checked = this.model.showPath;
  }
}

function start(): void {
  const began = performance.now();
  const head = JSON.parse(find("#trace-head").textContent ?? "") as TraceHead;
  const stream = find("#trace-stream");
  const trace = decodeTrace(head, decodeBase64((stream.textContent ?? "").trim()));
  stream.remove();
  const model = new Model(trace);
  const explanation = JSON.parse(find("#explanation-data").textContent ?? "null") as Explanation | null;
  if (explanation !== null) {
    model.path = new CriticalPath(explanation.path);
    showExplanation(explanation, trace, (found) => page.reveal(found));
  }
  const page = new Page(model, explanation !== null);
  if (explanation !== null) document.title = document.title.replace(/time line$/, "explained");
  const loaded = performance.now() - began;
  const first = page.drawNow();
  // What was drawn, for tests and scripts.
  document.documentElement.dataset.summary = JSON.stringify({
    ranks: trace.ranks.length,
    events: trace.events,
    states: model.states.names,
    loadMilliseconds: loaded,
    ...first,
  });
  Object.assign(window, { foretraceTimeline: { model, page, explanation } });
}

try {
  start();
} catch (error) {
  const notes = find<HTMLElement>("#notes");
  notes.hidden = false;
  notes.textContent = `This page's trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  document.documentElement.dataset.error = String(error);
}
