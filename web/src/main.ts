// The time line page: reads the embedded trace, sets up the canvas and its
// controls, redraws when something has changed.
import { Overlay } from "./arrows";
import { Controls } from "./controls";
import { decodeBase64, decodeTrace } from "./decode";
import { Painter } from "./draw";
import type { TraceHead } from "./events";
import { formatTime } from "./format";
import { type Layout, makeLayout, maxScroll } from "./layout";
import { type EventRef, Model } from "./model";
import { kDark, kLight } from "./palette";
import { fillHeader, Legend, showDescription } from "./panel";
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

  constructor(private readonly model: Model) {
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

  private drawFront(): { arrows: number } {
    const hover = this.controls?.hovered() ?? null;
    const info = this.overlay.draw(this.layout, this.ratio, hover, this.controls?.pointer?.x ?? null, this.controls?.range ?? null);
    this.placeTooltip(hover);
    this.showMeasure();
    const { view, showMessages } = this.model;
    const span = `${formatTime(view.t1 - view.t0)} shown`;
    const many = info.tooMany ? "too many messages to draw, zoom in · " : "";
    find("#status").textContent = showMessages && !info.tooMany ? `${info.arrows} messages · ${span}` : many + span;
    return { arrows: info.arrows };
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
    const list = document.createElement("dl");
    const add = (name: string, value: string): void => {
      const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      detail.textContent = value;
      list.append(term, detail);
    };
    if (markO !== null) add("O", formatTime(Math.round(markO)));
    if (markX !== null) add("X", formatTime(Math.round(markX)));
    if (markO !== null && markX !== null) add("between", formatTime(Math.round(Math.abs(markX - markO))));
    node.replaceChildren(list);
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
    for (const [id, field] of [["#messages", "showMessages"], ["#shares", "shares"]] as const)
      find<HTMLInputElement>(id).addEventListener("change", (event) => {
        this.model[field] = (event.target as HTMLInputElement).checked;
        this.schedule("all");
      });
  }

  private updateTools(): void {
    find<HTMLInputElement>("#messages").checked = this.model.showMessages;
    find<HTMLInputElement>("#shares").checked = this.model.shares;
  }
}

function start(): void {
  const began = performance.now();
  const head = JSON.parse(find("#trace-head").textContent ?? "") as TraceHead;
  const stream = find("#trace-stream");
  const trace = decodeTrace(head, decodeBase64((stream.textContent ?? "").trim()));
  stream.remove();
  const model = new Model(trace);
  const page = new Page(model);
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
  Object.assign(window, { foretraceTimeline: { model, page } });
}

try {
  start();
} catch (error) {
  const notes = find<HTMLElement>("#notes");
  notes.hidden = false;
  notes.textContent = `This page's trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  document.documentElement.dataset.error = String(error);
}
