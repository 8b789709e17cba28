// One run's time lines on the page: two canvases, the tooltip, and what moves in them.
import { Overlay, type OverlayInfo } from "./arrows";
import { Controls } from "./controls";
import { type FrameInfo, Painter } from "./draw";
import { type Layout, makeLayout, maxScroll } from "./layout";
import type { EventRef, Model } from "./model";
import { showDescription } from "./panel";
import type { Rows } from "./rows";
import { describeEvent } from "./tooltip";

export interface StageHooks {
  redraw(stage: Stage): void; // everything
  refresh(stage: Stage): void; // what lies above the bars
  choose(stage: Stage, ref: EventRef | null): void;
  stepPath(direction: 1 | -1): void;
  unfold(stage: Stage, row: number): void;
  act(key: string, shift: boolean): boolean;
  readonly scrolls: boolean; // the page itself does
}

function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, parent: HTMLElement): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  node.className = className;
  parent.append(node);
  return node;
}

export class Stage {
  readonly node: HTMLElement;
  readonly bars: HTMLCanvasElement;
  readonly front: HTMLCanvasElement;
  readonly tooltip: HTMLElement;
  readonly controls: Controls;
  readonly painter: Painter;
  layout: Layout;
  ratio = 1;
  private readonly overlay: Overlay;

  // `number`: 0 for the first, whose canvases have names for scripts.
  constructor(
    readonly model: Model,
    host: HTMLElement,
    private readonly number: number,
    hooks: StageHooks,
  ) {
    const frame = make("div", "run", host);
    if (model.name !== "") make("div", "run-name", frame).textContent = model.name;
    this.node = make("div", "canvases", frame);
    this.bars = make("canvas", "bars", this.node);
    this.front = make("canvas", "overlay", this.node);
    this.tooltip = make("div", "tooltip", this.node);
    this.tooltip.hidden = true;
    if (number === 0) {
      this.bars.id = "bars";
      this.front.id = "overlay";
      this.tooltip.id = "tooltip";
    }
    this.bars.setAttribute("aria-hidden", "true");
    this.front.tabIndex = 0;
    this.front.setAttribute("role", "application");
    this.front.setAttribute("aria-roledescription", "time line");
    this.front.setAttribute("aria-label", `Time line${model.name === "" ? "" : ` of ${model.name}`}: ${model.trace.ranks.length} ranks. Shift and arrow keys walk from event to event.`);
    this.painter = new Painter(this.bars.getContext("2d", { alpha: false })!, model);
    this.overlay = new Overlay(this.front.getContext("2d")!, model);
    this.layout = this.measure();
    this.controls = new Controls(this.front, model, {
      layout: () => this.layout,
      redraw: () => hooks.redraw(this),
      refresh: () => hooks.refresh(this),
      choose: (ref) => hooks.choose(this, ref),
      stepPath: (direction) => hooks.stepPath(direction),
      unfold: (row) => hooks.unfold(this, row),
      act: (key, shift) => hooks.act(key, shift),
      scrolls: hooks.scrolls,
    });
  }

  drawBars(limit: number): FrameInfo {
    this.layout = this.measure();
    this.model.scroll = Math.min(this.model.scroll, maxScroll(this.layout, this.model.rows.count));
    this.askForEvents();
    return this.painter.draw(this.layout, this.ratio, limit);
  }

  // Of a run that a server has: what is in view, where there is little enough of it.
  private askForEvents(): void {
    const { model, layout } = this;
    if (model.remote === null) return;
    model.remote.begin();
    const first = Math.max(0, Math.floor(model.scroll / layout.rowPitch));
    const last = Math.min(model.rows.count, Math.ceil((model.scroll + layout.rowsHeight) / layout.rowPitch));
    const [low, high] = ranksIn(model.rows, first, last);
    model.far = !model.remote.covers(model.view, low, high);
    if (model.far) model.remote.wantWindow(model.view, low, high);
  }

  drawFront(): OverlayInfo {
    const { controls } = this;
    const hover = controls.hovered();
    const info = this.overlay.draw(this.layout, this.ratio, hover, controls.pointer?.x ?? null, controls.range);
    this.placeTooltip(hover);
    return info;
  }

  private measure(): Layout {
    const box = this.node.getBoundingClientRect();
    const width = Math.max(200, Math.floor(box.width));
    const height = Math.max(120, Math.floor(box.height));
    this.ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.bars, this.front]) {
      const [w, h] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
    }
    const { trace, rows, phaseDepths, zoomY } = this.model;
    const last = trace.ranks.length - 1;
    const labels = rows.plain ? [String(last)] : rows.list.map((row) => row.label);
    if (phaseDepths > 0) labels.push(`phase ${last}`);
    const widest = labels.reduce((most, label) => Math.max(most, label.length), 3);
    return makeLayout(width, height, rows.count, phaseDepths, Math.max(24, Math.min(widest, 24) * 6.4), zoomY, this.number === 0);
  }

  private placeTooltip(hover: EventRef | null): void {
    const { pointer } = this.controls;
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
}

// The ranks that some rows show, and those between.
function ranksIn(rows: Rows, first: number, last: number): [from: number, to: number] {
  let [from, to] = [Infinity, 0];
  for (const { ranks } of rows.list.slice(first, last)) {
    from = Math.min(from, ranks[0]!);
    to = Math.max(to, ranks[ranks.length - 1]! + 1);
  }
  return [Math.min(from, to), to];
}
