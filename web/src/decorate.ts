// What is drawn over the bars of single ranks: hatches where they wait, names of calls where there
// is room, flags for marks.
import { firstAbove, isTimedCall } from "./events";
import type { Layout } from "./layout";
import type { Model } from "./model";
import { cssColour, mix } from "./palette";
import { timeToX } from "./viewport";

const kMaxDecorated = 4000; // events of a row that are looked at one by one

export class Decorator {
  private readonly textWidths = new Map<string, number>(); // in the bars' font
  private hatches: { key: string; patterns: (CanvasPattern | null)[] } | null = null;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {}

  // Hatches what waits, parts and names the calls where there is room.
  row(layout: Layout, ratio: number, rank: number, y: number): void {
    if (layout.rowBar < 4) return;
    const { context, model } = this;
    const data = model.trace.ranks[rank]!;
    const first = firstAbove(data.leave, model.view.t0);
    const beyond = firstAbove(data.enter, model.view.t1);
    if (beyond - first > kMaxDecorated) return;
    const patterns = this.hatchPatterns(ratio);
    const toX = (t: number): number =>
      layout.left + Math.min(layout.plot, Math.max(0, timeToX(model.view, layout.plot, t)));
    const least = (4 / layout.plot) * (model.view.t1 - model.view.t0);
    context.textAlign = "left";
    for (let i = first; i < beyond; i++) {
      if (data.leave[i]! - data.enter[i]! < least) continue;
      const shape = model.trace.shapes[data.shape[i]!]!;
      const state = model.states.ofShape[data.shape[i]!]!;
      if (!isTimedCall(shape.kind) || model.hidden.has(state)) continue;
      const x0 = toX(data.enter[i]!);
      const x1 = toX(data.leave[i]!);
      if (x1 - x0 < 4) continue;
      const ready = toX(data.enter[i]! + data.wait[i]!);
      if (ready - x0 >= 4) {
        context.fillStyle = patterns[state]!;
        context.fillRect(x0, y, ready - x0, layout.rowBar);
      }
      if (x1 - x0 < 6 || layout.rowBar < 8) continue;
      context.fillStyle = model.theme.dark ? "rgba(0,0,0,.45)" : "rgba(255,255,255,.75)";
      context.fillRect(x0, y, 1, layout.rowBar);
      if (x1 - x0 < 24 || layout.rowBar < 11) continue;
      const name = model.trace.head.names[shape.name]!.replace(/^MPI_/, "");
      // On the call's own work where there is room, else on its wait.
      const work = Math.max(x0, ready);
      const onWait = work - x0 > (x1 - x0) / 2 || this.textWidth(name) > x1 - work - 8;
      this.nameCall(layout, name, state, onWait ? x0 : work, x1, onWait, y);
    }
  }

  // A small flag for each of the rank's marks; those at one place are drawn once.
  marks(layout: Layout, rank: number, y: number): number {
    const { context, model } = this;
    const { enter, marks } = model.trace.ranks[rank]!;
    const height = Math.min(layout.rowBar, 14);
    let drawn = 0;
    let before = -Infinity;
    context.fillStyle = model.theme.text;
    for (const mark of marks) {
      const at = enter[mark.event]!;
      if (at < model.view.t0 || at > model.view.t1) continue;
      const x = Math.round(layout.left + timeToX(model.view, layout.plot, at));
      if (x === before) continue;
      before = x;
      drawn++;
      context.fillRect(x, y, 1, layout.rowBar);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + height / 2, y + height / 4);
      context.lineTo(x, y + height / 2);
      context.fill();
    }
    return drawn;
  }

  private nameCall(
    layout: Layout, name: string, state: number, x0: number, x1: number, onWait: boolean, y: number,
  ): void {
    const { context, model } = this;
    const under = (onWait ? model.palette.waiting : model.palette.busy)[state]!;
    const size = this.textWidth(name);
    if (size > x1 - x0 - 8) return;
    if (onWait) {
      context.fillStyle = cssColour(under);
      context.fillRect(x0 + 3, y + layout.rowBar / 2 - 7, size + 4, Math.min(14, layout.rowBar));
    }
    const luma = 0.299 * under[0] + 0.587 * under[1] + 0.114 * under[2];
    context.fillStyle = luma > 140 ? "#10151f" : "#ffffff";
    context.fillText(name, x0 + 5, y + layout.rowBar / 2 + 0.5);
  }

  private hatchPatterns(ratio: number): (CanvasPattern | null)[] {
    const { model } = this;
    const key = `${model.theme.dark} ${ratio}`;
    if (this.hatches?.key === key) return this.hatches.patterns;
    const patterns = model.palette.busy.map((colour, state) => {
      const size = Math.round(7 * ratio);
      const tile = document.createElement("canvas");
      tile.width = tile.height = size;
      const context = tile.getContext("2d")!;
      context.strokeStyle = cssColour(mix(colour, model.palette.waiting[state]!, 0.55));
      context.lineWidth = 1.3 * ratio;
      context.beginPath();
      for (const shift of [-size, 0, size]) {
        context.moveTo(shift - 1, size + 1);
        context.lineTo(shift + size + 1, -1);
      }
      context.stroke();
      const pattern = this.context.createPattern(tile, "repeat");
      pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
      return pattern;
    });
    this.hatches = { key, patterns };
    return patterns;
  }

  private textWidth(text: string): number {
    let width = this.textWidths.get(text);
    if (width === undefined) this.textWidths.set(text, (width = this.context.measureText(text).width));
    return width;
  }
}
