// Draws a run's time lines: the strip of the whole run, the axis, phases, bars (bars.ts) and what
// lies over them (decorate.ts), labels.
import { BarsPainter } from "./bars";
import { Decorator } from "./decorate";
import type { PhaseSpan } from "./events";
import { formatPoint } from "./format";
import { drawHitDensity, drawHits } from "./hits";
import { type Layout, rowY } from "./layout";
import type { Model } from "./model";
import { cssColour, mix, parseColour } from "./palette";
import { ticks, timeToX } from "./viewport";

const kFont = "11px system-ui, sans-serif";

// Per-frame results that tests and the status line read.
export interface FrameInfo {
  ranksDrawn: number;
  runs: number; // changes of colour along the drawn rows, where these are complete
  marks: number; // of the program's own, drawn
  hits: number; // events found, drawn
  complete: boolean; // nothing is left for the next frames
}

export class Painter {
  private readonly bars: BarsPainter;
  private readonly decorator: Decorator;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {
    this.bars = new BarsPainter(context, model);
    this.decorator = new Decorator(context, model);
  }

  // Bars that are not there by `limit` (of performance.now()) are left for the next frame.
  draw(layout: Layout, ratio: number, limit: number): FrameInfo {
    const { context, model } = this;
    const { theme } = model;
    const complete = this.bars.prepare(layout, ratio, limit);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, layout.width, layout.height);
    context.font = kFont;
    context.textBaseline = "middle";
    this.drawOverview(layout);
    this.drawAxis(layout);
    this.drawPhases(layout);
    const info = this.drawRows(layout, ratio);
    this.bars.drawAll(layout);
    this.label("All", layout, layout.allTop + layout.allHeight / 2, false);
    this.drawScrollbar(layout);
    return { ...info, complete };
  }

  private drawOverview(layout: Layout): void {
    if (layout.overviewHeight === 0) return;
    const { model, context } = this;
    const { overviewTop: top, overviewHeight: height, left, plot } = layout;
    this.bars.drawOverview(layout);
    if (model.found !== null) drawHitDensity(context, layout, model, model.found.set);
    const x0 = left + timeToX({ t0: 0, t1: model.end }, plot, model.view.t0);
    const x1 = left + timeToX({ t0: 0, t1: model.end }, plot, model.view.t1);
    context.fillStyle = model.theme.dark ? "rgba(20,23,29,.66)" : "rgba(255,255,255,.7)";
    context.fillRect(left, top, x0 - left, height);
    context.fillRect(x1, top, left + plot - x1, height);
    context.strokeStyle = model.theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x0 + 0.5, top - 1.5, Math.max(2, x1 - x0 - 1), height + 3);
    this.label("Run", layout, top + height / 2, true);
  }

  private drawAxis(layout: Layout): void {
    const { context, model } = this;
    const { left, plot, axisTop, axisHeight } = layout;
    const bottom = axisTop + axisHeight - 4;
    const { step, at } = ticks(model.view, plot, 110);
    context.textAlign = "center";
    context.lineWidth = 1;
    for (const t of at) {
      const x = Math.round(left + timeToX(model.view, plot, t)) + 0.5;
      context.strokeStyle = model.theme.line;
      context.beginPath();
      context.moveTo(x, bottom - 3);
      context.lineTo(x, layout.allTop + layout.allHeight);
      context.stroke();
      const text = formatPoint(t, step, model.view.t1);
      const half = context.measureText(text).width / 2;
      context.fillStyle = model.theme.muted;
      context.fillText(text, Math.min(Math.max(x, left + half), left + plot - half), axisTop + 9);
    }
  }

  private drawPhases(layout: Layout): void {
    const { model } = this;
    if (model.phaseDepths === 0) return;
    const spans = model.trace.ranks[model.phaseRank]!.phases;
    for (let depth = 0; depth < model.phaseDepths; depth++) {
      const y = layout.phaseTop + depth * layout.phaseRow;
      let drawnTo = -Infinity;
      for (const span of visiblePhases(spans, depth, model.view.t0, model.view.t1))
        drawnTo = this.drawPhase(layout, span, y, drawnTo);
    }
    this.label(`phase ${model.phaseRank}`, layout, layout.phaseTop + layout.phaseRow / 2 - 1, true);
  }

  // Returns the right edge; a phase that ends left of it is not drawn again.
  private drawPhase(layout: Layout, span: PhaseSpan, y: number, drawnTo: number): number {
    const { context, model } = this;
    const x0 = Math.max(layout.left, layout.left + timeToX(model.view, layout.plot, span.from));
    const x1 = Math.min(layout.left + layout.plot, layout.left + timeToX(model.view, layout.plot, span.to));
    if (x1 < drawnTo + 0.5) return drawnTo;
    const hue = (span.name * 137 + 205) % 360;
    context.fillStyle = model.theme.dark ? `hsl(${hue} 26% 30%)` : `hsl(${hue} 48% 88%)`;
    context.fillRect(x0, y, Math.max(1, x1 - x0 - 1), layout.phaseRow - 3);
    if (x1 - x0 > 26) {
      context.fillStyle = model.theme.text;
      context.textAlign = "left";
      this.fillClipped(model.trace.head.names[span.name]!, x0 + 5, y + layout.phaseRow / 2 - 1, x1 - x0 - 8);
    }
    return Math.max(x1, x0 + 1);
  }

  private drawRows(layout: Layout, ratio: number): Omit<FrameInfo, "complete"> {
    const { context, model } = this;
    const first = Math.max(0, Math.floor(model.scroll / layout.rowPitch));
    const last = Math.min(model.rows.count, Math.ceil((model.scroll + layout.rowsHeight) / layout.rowPitch));
    context.save();
    context.beginPath();
    context.rect(0, layout.rowsTop, layout.width, layout.rowsHeight);
    context.clip();
    this.bars.drawRows(layout);
    let marks = 0;
    for (let row = first; row < last; row++) {
      const rank = model.far ? -1 : model.rows.rank(row);
      if (rank < 0) continue;
      const y = rowY(layout, model.scroll, row);
      this.decorator.row(layout, ratio, rank, y);
      marks += this.decorator.marks(layout, rank, y);
    }
    const hits = model.found === null ? 0 : drawHits(context, layout, model, model.found.set, first, last);
    context.restore();
    for (let row = first; row < last; row++) this.rowLabel(layout, row);
    return { ranksDrawn: last - first, runs: this.bars.runs, marks, hits };
  }

  private rowLabel(layout: Layout, row: number): void {
    const { model } = this;
    const middle = rowY(layout, model.scroll, row) + layout.rowBar / 2;
    if (middle < layout.rowsTop || middle > layout.rowsTop + layout.rowsHeight) return;
    const every = Math.max(1, Math.ceil(12 / layout.rowPitch));
    const step = 2 ** Math.ceil(Math.log2(every));
    const selected = model.selected !== null && model.rows.of[model.selected.rank] === row;
    if (row % step !== 0 && !selected) return;
    this.label(model.rows.list[row]!.label, layout, middle, !selected);
  }

  private label(text: string, layout: Layout, y: number, muted: boolean): void {
    const { context, model } = this;
    context.textAlign = "right";
    context.fillStyle = muted ? model.theme.muted : model.theme.text;
    context.fillText(text, layout.left - 8, y + 0.5);
  }

  private fillClipped(text: string, x: number, y: number, room: number): void {
    const { context } = this;
    let shown = text;
    if (context.measureText(text).width > room) {
      let keep = Math.floor((text.length * room) / context.measureText(text).width);
      while (keep > 0 && context.measureText(`${text.slice(0, keep)}…`).width > room) keep--;
      if (keep === 0) return;
      shown = `${text.slice(0, keep)}…`;
    }
    context.fillText(shown, x, y);
  }

  private drawScrollbar(layout: Layout): void {
    const { context, model } = this;
    const content = model.rows.count * layout.rowPitch;
    if (content <= layout.rowsHeight + 0.5) return;
    const height = Math.max(20, (layout.rowsHeight * layout.rowsHeight) / content);
    const range = content - layout.rowsHeight;
    const y = layout.rowsTop + (model.scroll / range) * (layout.rowsHeight - height);
    context.fillStyle = cssColour(mix(parseColour(model.theme.muted), parseColour(model.theme.background), 0.6));
    context.beginPath();
    context.roundRect(layout.width - 9, y, 5, height, 2.5);
    context.fill();
  }
}

// Phases of one depth that touch [t0, t1], in order of time. Spans are in
// order of their start, and those of one depth do not overlap.
export function visiblePhases(spans: PhaseSpan[], depth: number, t0: number, t1: number): PhaseSpan[] {
  return spans.filter((span) => span.depth === depth && span.from <= t1 && span.to >= t0);
}
