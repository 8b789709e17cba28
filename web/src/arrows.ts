// Draws what lies above the bars and changes with the pointer: messages, the
// selection, the measuring lines O and X.
import { formatTime } from "./format";
import { type Layout, rowY } from "./layout";
import { messagesIn, messagesOf } from "./messages";
import type { EventRef, Model } from "./model";
import { drawNotes } from "./notes";
import { drawPath } from "./path";
import { timeToX } from "./viewport";

const kMaxArrows = 1500;

export interface OverlayInfo {
  stretches: number; // of the critical path
  arrows: number;
  tooMany: boolean;
}

export class Overlay {
  private own: { ref: EventRef; messages: number[] } | null = null;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {}

  // `range` is the interval being dragged out on the axis, in pixels.
  draw(
    layout: Layout, ratio: number, hover: EventRef | null, pointerX: number | null,
    range: { from: number; to: number } | null,
  ): OverlayInfo {
    const { context, model } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, layout.width, layout.height);
    context.save();
    context.beginPath();
    context.rect(layout.left, layout.rowsTop, layout.plot, layout.rowsHeight);
    context.clip();
    const info = { ...this.drawMessages(layout), stretches: 0 };
    if (model.path !== null && model.showPath) info.stretches = drawPath(context, layout, model, model.path);
    drawNotes(context, layout, model);
    if (hover !== null) this.outline(layout, hover, model.theme.muted, 1);
    if (model.selected !== null) this.outline(layout, model.selected, model.theme.text, 2);
    context.restore();
    if (pointerX !== null) this.vertical(layout, pointerX, model.theme.muted, [2, 3]);
    if (range !== null) {
      context.fillStyle = model.theme.dark ? "rgba(108,176,255,.2)" : "rgba(31,111,235,.15)";
      context.fillRect(range.from, layout.axisTop, range.to - range.from, layout.allTop + layout.allHeight - layout.axisTop);
    }
    this.drawCursor(layout);
    this.mark(layout, model.markO, "O");
    this.mark(layout, model.markX, "X");
    this.frameDetail(layout);
    this.measure(layout);
    return info;
  }

  private drawMessages(layout: Layout): { arrows: number; tooMany: boolean } {
    const { model } = this;
    let shown: number[] = [];
    let tooMany = false;
    const only = model.found?.messages ?? null;
    // A server's events are not here.
    if (model.far) return { arrows: 0, tooMany: model.showMessages };
    if (model.showMessages || only !== null) {
      shown = only === null ? messagesIn(model.messages(), model.view.t0, model.view.t1, kMaxArrows) : this.inView(only);
      tooMany = shown.length > kMaxArrows;
      if (tooMany) shown = [];
      for (const i of shown) this.arrow(layout, i, false);
    }
    const { selected } = model;
    if (selected !== null && !selected.compute) {
      const own = this.messagesOfSelected(selected);
      for (const i of own) this.arrow(layout, i, true);
      if (!model.showMessages) shown = own;
    }
    return { arrows: shown.length, tooMany };
  }

  // Those of the messages that are under way in view; one more than can be drawn at most.
  private inView(list: readonly number[]): number[] {
    const { sendTime, recvTime } = this.model.messages();
    const { t0, t1 } = this.model.view;
    const shown: number[] = [];
    for (const i of list) {
      if (recvTime[i]! >= t0 && sendTime[i]! <= t1) shown.push(i);
      if (shown.length > kMaxArrows) break;
    }
    return shown;
  }

  private messagesOfSelected(selected: EventRef): number[] {
    if (this.own?.ref !== selected)
      this.own = { ref: selected, messages: messagesOf(this.model.messages(), selected.rank, selected.event) };
    return this.own.messages;
  }

  private arrow(layout: Layout, i: number, strong: boolean): void {
    const { context, model } = this;
    const messages = model.messages();
    const middle = layout.rowBar / 2;
    const x0 = layout.left + timeToX(model.view, layout.plot, messages.sendTime[i]!);
    const x1 = layout.left + timeToX(model.view, layout.plot, messages.recvTime[i]!);
    const [from, to] = [model.rows.of[messages.source[i]!]!, model.rows.of[messages.dest[i]!]!];
    if (from < 0 || to < 0) return;
    const y0 = rowY(layout, model.scroll, from) + middle;
    const y1 = rowY(layout, model.scroll, to) + middle;
    context.strokeStyle = context.fillStyle = strong ? model.theme.text : model.theme.dark ? "rgba(228,231,238,.55)" : "rgba(29,35,48,.5)";
    context.lineWidth = strong ? 1.8 : 1;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
    context.beginPath();
    context.arc(x0, y0, strong ? 2.5 : 1.6, 0, 2 * Math.PI);
    context.fill();
    const angle = Math.atan2(y1 - y0, x1 - x0);
    const size = strong ? 9 : 6;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - size * Math.cos(angle - 0.35), y1 - size * Math.sin(angle - 0.35));
    context.lineTo(x1 - size * Math.cos(angle + 0.35), y1 - size * Math.sin(angle + 0.35));
    context.fill();
  }

  private outline(layout: Layout, ref: EventRef, colour: string, width: number): void {
    const { context, model } = this;
    const row = model.rows.of[ref.rank]!;
    if (row < 0) return;
    const { from, to } = model.spanOf(ref);
    const x0 = layout.left + Math.max(-4, timeToX(model.view, layout.plot, from));
    const x1 = layout.left + Math.min(layout.plot + 4, timeToX(model.view, layout.plot, to));
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(x0, rowY(layout, model.scroll, row), Math.max(1, x1 - x0), layout.rowBar);
  }

  // What a second window shows.
  private frameDetail(layout: Layout): void {
    const { context, model } = this;
    if (model.detail === null) return;
    const limit = (t: number): number => layout.left + Math.min(layout.plot, Math.max(0, timeToX(model.view, layout.plot, t)));
    const [x0, x1] = [limit(model.detail.t0), limit(model.detail.t1)];
    if (x1 <= layout.left || x0 >= layout.left + layout.plot) return;
    context.save();
    context.strokeStyle = model.theme.accent;
    context.lineWidth = 1.5;
    context.setLineDash([6, 4]);
    context.strokeRect(x0, layout.rowsTop - 1, Math.max(2, x1 - x0), layout.rowsHeight + 2);
    context.restore();
  }

  private vertical(layout: Layout, x: number, colour: string, dash: number[]): void {
    const { context } = this;
    context.save();
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, layout.axisTop + layout.axisHeight - 6);
    context.lineTo(Math.round(x) + 0.5, layout.allTop + layout.allHeight);
    context.stroke();
    context.restore();
  }

  private drawCursor(layout: Layout): void {
    const { cursor, view, theme } = this.model;
    if (cursor === null || cursor < view.t0 || cursor > view.t1) return;
    this.vertical(layout, layout.left + timeToX(view, layout.plot, cursor), theme.hit, []);
  }

  private mark(layout: Layout, t: number | null, name: string): void {
    if (t === null) return;
    const { context, model } = this;
    const x = layout.left + timeToX(model.view, layout.plot, t);
    if (x < layout.left - 0.5 || x > layout.left + layout.plot + 0.5) return;
    this.vertical(layout, x, model.theme.accent, []);
    const y = layout.allTop + layout.allHeight;
    context.fillStyle = model.theme.accent;
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = model.theme.dark ? "#10151f" : "#ffffff";
    context.font = "bold 10px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(name, x, y + 0.5);
  }

  // The interval between O and X, on a line between them.
  private measure(layout: Layout): void {
    const { context, model } = this;
    if (model.markO === null || model.markX === null) return;
    const limit = (t: number): number =>
      layout.left + Math.min(layout.plot, Math.max(0, timeToX(model.view, layout.plot, t)));
    const x0 = limit(Math.min(model.markO, model.markX));
    const x1 = limit(Math.max(model.markO, model.markX));
    context.fillStyle = model.theme.dark ? "rgba(108,176,255,.12)" : "rgba(31,111,235,.08)";
    context.fillRect(x0, layout.rowsTop, x1 - x0, layout.rowsHeight);
    const text = formatTime(Math.abs(model.markX - model.markO));
    context.font = "bold 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const width = context.measureText(text).width + 12;
    const x = Math.min(Math.max((x0 + x1) / 2, layout.left + width / 2), layout.left + layout.plot - width / 2);
    const y = layout.axisTop + layout.axisHeight - 2;
    context.fillStyle = model.theme.accent;
    context.beginPath();
    context.roundRect(x - width / 2, y - 9, width, 18, 4);
    context.fill();
    context.fillStyle = model.theme.dark ? "#10151f" : "#ffffff";
    context.fillText(text, x, y + 0.5);
  }
}
