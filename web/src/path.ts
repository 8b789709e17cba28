// The critical path over the ranks' rows: stretches on one rank each, joined by the
// messages and collectives by which it passes to another. src/views/explain/html.cpp
// writes it.
import { firstAbove } from "./events";
import { type Layout, rowY } from "./layout";
import type { Model } from "./model";
import { timeToX } from "./viewport";

export interface PathData {
  readonly ranks: number[];
  readonly from: number[]; // ps
  readonly to: number[];
}

export class CriticalPath {
  readonly count: number;
  readonly from: Float64Array;
  readonly to: Float64Array;
  current: number | null = null; // the stretch that was jumped to

  constructor(private readonly data: PathData) {
    this.count = data.ranks.length;
    this.from = Float64Array.from(data.from);
    this.to = Float64Array.from(data.to);
  }

  rank(i: number): number {
    return this.data.ranks[i]!;
  }

  // The next stretch (or the one before: -1); the first is that in the middle of [t0, t1].
  step(direction: 1 | -1, t0: number, t1: number): number | null {
    if (this.count === 0) return null;
    const near = Math.min(this.count - 1, firstAbove(this.to, (t0 + t1) / 2));
    const wanted = this.current === null ? near : this.current + direction;
    return (this.current = Math.min(this.count - 1, Math.max(0, wanted)));
  }
}

// The part of the path that touches the view: a line along the rows, thin where it passes
// to another rank. Points that would not be seen are left out.
export function drawPath(context: CanvasRenderingContext2D, layout: Layout, model: Model, path: CriticalPath): number {
  const { view, theme } = model;
  const x = (t: number): number => Math.min(layout.plot + 9, Math.max(-9, timeToX(view, layout.plot, t))) + layout.left;
  const low = layout.rowBar >= 16 ? layout.rowBar - 4 : layout.rowBar / 2; // under the names of calls
  const y = (i: number): number => rowY(layout, model.scroll, model.rows.of[path.rank(i)]!) + low;
  const along = new Path2D();
  const across = new Path2D();
  const first = Math.max(0, firstAbove(path.to, view.t0) - 1);
  let drawn = 0;
  let [column, top, bottom] = [NaN, 0, 0];
  for (let i = first; i < path.count; i++) {
    const [x0, x1, yy] = [x(path.from[i]!), x(path.to[i]!), y(i)];
    const seen = Math.round(x0) === column && Math.round(x1) === column && yy >= top && yy <= bottom;
    if (!seen) {
      along.moveTo(x0 - 1, yy);
      along.lineTo(Math.max(x1, x0 + 1), yy);
      if (i > 0) {
        across.moveTo(x(path.to[i - 1]!), y(i - 1));
        across.lineTo(x0, yy);
      }
      drawn++;
    }
    if (Math.round(x1) !== column) [column, top, bottom] = [Math.round(x1), yy, yy];
    else [top, bottom] = [Math.min(top, yy), Math.max(bottom, yy)];
    if (path.from[i]! > view.t1) break;
  }
  context.lineCap = "round";
  for (const [line, width, colour] of [
    [across, 4, theme.background], [along, 6, theme.background], [across, 1.5, theme.path], [along, 3, theme.path],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke(line);
  }
  if (path.current !== null) {
    const i = path.current;
    context.lineWidth = 6;
    context.beginPath();
    context.moveTo(x(path.from[i]!) - 1, y(i));
    context.lineTo(x(path.to[i]!) + 1, y(i));
    context.stroke();
  }
  context.lineCap = "butt";
  return drawn;
}
