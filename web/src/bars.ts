// The bars of the rows, of all ranks, and of the whole run. What a frame has no time for is
// filled in the next ones; until then what was there before is shown in its place.
import { type Layout, rowY } from "./layout";
import type { Model } from "./model";
import { type Gap, Picture, type Shot } from "./picture";
import { AllPiece, BarsPiece, LinesPiece, type Piece } from "./pieces";
import type { Interval } from "./viewport";

const kLeastRow = 3; // device pixels; lower rows share lines of pixels

// A part of the screen when it was complete.
interface Part {
  readonly view: Interval;
  readonly top: number; // the first row in it
  readonly bottom: number;
  readonly y: number;
  readonly height: number;
  readonly rows: unknown;
}

// A part of the screen, and a copy of an earlier one that stands for it until it is complete.
class Stand {
  private part: Part | null = null; // on the screen
  private size = ""; // the screen's; one that has another size since has lost what was on it
  private kept: Part | null = null; // on the copy
  private readonly copy = document.createElement("canvas");

  constructor(private readonly context: CanvasRenderingContext2D) {}

  // What is on the screen will be drawn anew.
  keep(layout: Layout, ratio: number): void {
    if (this.part === null) return;
    const { copy } = this;
    if (this.size !== this.sizeNow()) {
      this.part = null;
      return;
    }
    const [w, h] = [Math.max(1, Math.round(layout.plot * ratio)), Math.max(1, Math.round(this.part.height * ratio))];
    if (copy.width !== w) copy.width = w;
    if (copy.height !== h) copy.height = h;
    copy.getContext("2d", { alpha: false })!.drawImage(this.context.canvas, layout.left * ratio, this.part.y * ratio, w, h, 0, 0, w, h);
    [this.kept, this.part] = [this.part, null];
  }

  complete(part: Part): void {
    this.part = part;
    this.size = this.sizeNow();
  }

  private sizeNow(): string {
    const { width, height } = this.context.canvas;
    return `${width} x ${height}`;
  }

  // Stretches what was there before to where it belongs now.
  draw(now: Part, { left, plot }: Layout): void {
    this.part = null;
    const { kept, copy } = this;
    if (kept === null || kept.rows !== now.rows) return;
    const [t0, t1] = [Math.max(kept.view.t0, now.view.t0), Math.min(kept.view.t1, now.view.t1)];
    const [r0, r1] = [Math.max(kept.top, now.top), Math.min(kept.bottom, now.bottom)];
    if (t1 <= t0 || r1 <= r0) return;
    const x = (t: number, { view }: Part, size: number): number => ((t - view.t0) / (view.t1 - view.t0)) * size;
    const y = (row: number, { top, bottom }: Part, size: number): number => ((row - top) / (bottom - top)) * size;
    const [sx, sy] = [x(t0, kept, copy.width), y(r0, kept, copy.height)];
    const [dx, dy] = [x(t0, now, plot), y(r0, now, now.height)];
    this.context.drawImage(
      copy, sx, sy, x(t1, kept, copy.width) - sx, y(r1, kept, copy.height) - sy,
      left + dx, now.y + dy, x(t1, now, plot) - dx, y(r1, now, now.height) - dy);
  }
}

export class BarsPainter {
  private readonly rows: Picture<Piece>;
  private readonly all: Picture<Piece>;
  private readonly overview: Picture<Piece>;
  private rowsPerLine = 1; // 0: rows have lines of their own
  private readonly rowsBefore: Stand;
  private readonly allBefore: Stand;
  runs = 0; // changes of colour along the rows, when these were complete last

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {
    this.rows = new Picture((gap, shot) => this.rowsPiece(gap, shot));
    this.all = new Picture((gap, shot) => new AllPiece(model, this.all, gap, shot, model.shares));
    this.overview = new Picture((gap, shot) => new AllPiece(model, this.overview, gap, shot, true));
    this.rowsBefore = new Stand(context);
    this.allBefore = new Stand(context);
  }

  // Fills what is missing, until `limit` (of performance.now()); returns whether all is there.
  prepare(layout: Layout, ratio: number, limit: number): boolean {
    const { model } = this;
    const { t0, t1 } = model.view;
    const width = Math.round(layout.plot * ratio);
    const dt = (t1 - t0) / width;
    const version = model.remote?.version ?? 0;
    const allHeight = model.shares ? Math.round(layout.allHeight * ratio) : 1;
    if (!this.rows.aim(this.rowsShot(layout, ratio, width, dt))) this.rowsBefore.keep(layout, ratio);
    if (!this.all.aim({ look: [model.shares, model.palette, version], t0, dt, width, first: 0, units: 1, height: allHeight })) this.allBefore.keep(layout, ratio);
    if (layout.overviewHeight > 0)
      this.overview.aim({ look: [model.palette, version], t0: 0, dt: model.end / width, width, first: 0, units: 1, height: Math.round(layout.overviewHeight * ratio) });
    const pictures = layout.overviewHeight > 0 ? [this.rows, this.all, this.overview] : [this.rows, this.all];
    const wasDone = this.rows.done;
    do {
      const picture = pictures.find((each) => !each.done);
      if (picture === undefined) break;
      const piece = picture.gaps[0]!;
      piece.fill();
      if (piece.u0 === piece.u1) picture.gaps.splice(picture.gaps.indexOf(piece), 1);
    } while (performance.now() < limit);
    if (this.rows.done && !wasDone) this.runs = this.rows.countRuns();
    return pictures.every((each) => each.done);
  }

  private rowsShot(layout: Layout, ratio: number, width: number, dt: number): Shot {
    const { model } = this;
    const { rows, palette, shares, far, remote, scroll } = model;
    const folded = layout.rowPitch * ratio < kLeastRow;
    this.rowsPerLine = folded ? 1 / (layout.rowPitch * ratio) : 0;
    const look = [rows, palette, shares, far, far ? remote?.version : model.trace, layout.rowPitch, layout.rowsHeight, ratio];
    const units = folded ? Math.max(1, Math.round(layout.rowsHeight * ratio)) : Math.min(rows.count, Math.ceil(layout.rowsHeight / layout.rowPitch) + 1);
    const first = folded ? scroll * ratio : Math.max(0, Math.min(rows.count - units, Math.floor(scroll / layout.rowPitch)));
    const height = folded || !shares ? 1 : Math.max(1, Math.round(layout.rowBar * ratio));
    return { look, t0: model.view.t0, dt, width, first, units, height };
  }

  private rowsPiece(gap: Gap, shot: Shot): Piece {
    const { model } = this;
    const every = this.rowsPerLine > 0 ? shot.first === 0 && shot.units >= Math.floor(model.rows.count / this.rowsPerLine) : shot.units === model.rows.count;
    const complete = model.remote === null && model.rows.plain && every && gap.u0 === 0 && gap.u1 === shot.units;
    const counted = (tally: { paint(words: Uint32Array, shot: Shot): void }, { x0, x1 }: Gap): void => {
      const gaps = this.all.gaps;
      const same = gaps.findIndex((each) => each.x0 === x0 && each.x1 === x1);
      if (same < 0) return;
      tally.paint(this.all.words, this.all.shot!);
      gaps.splice(same, 1);
    };
    const task = { model, picture: this.rows, gap, shot, complete, counted };
    return this.rowsPerLine > 0 ? new LinesPiece(task, this.rowsPerLine) : new BarsPiece(task);
  }

  drawRows(layout: Layout): void {
    const { context, model, rows } = this;
    const { left, plot, rowsTop, rowsHeight, rowPitch } = layout;
    const canvas = rows.canvas();
    const shot = rows.shot!;
    const [top, bottom] = [model.scroll / rowPitch, (model.scroll + rowsHeight) / rowPitch];
    context.imageSmoothingEnabled = false;
    const part = { view: model.view, top, bottom, y: rowsTop, height: rowsHeight, rows: model.rows };
    if (rows.done) this.rowsBefore.complete(part);
    else this.rowsBefore.draw(part, layout);
    if (this.rowsPerLine > 0) context.drawImage(canvas, left, rowsTop, plot, rowsHeight);
    else
      for (let unit = 0; unit < shot.units; unit++)
        context.drawImage(canvas, 0, unit * shot.height, shot.width, shot.height, left, rowY(layout, model.scroll, shot.first + unit), plot, layout.rowBar);
  }

  drawAll(layout: Layout): void {
    const { context, all, model } = this;
    const { left, plot, allTop, allHeight } = layout;
    const part = { view: model.view, top: 0, bottom: 1, y: allTop, height: allHeight, rows: null };
    context.imageSmoothingEnabled = false;
    if (all.done) this.allBefore.complete(part);
    else this.allBefore.draw(part, layout);
    context.drawImage(all.canvas(), left, allTop, plot, allHeight);
  }

  drawOverview({ left, plot, overviewTop, overviewHeight }: Layout): void {
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.overview.canvas(), left, overviewTop, plot, overviewHeight);
  }
}
