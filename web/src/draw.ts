// Draws the bars: one strip of pixels per rank, computed from the sums, so
// that the cost depends on the pixels and not on the events.
import { firstAbove, isTimedCall, type PhaseSpan } from "./events";
import { formatPoint } from "./format";
import { drawHitDensity, drawHits } from "./hits";
import { type Layout, rowY } from "./layout";
import type { Model } from "./model";
import { cssColour, mix, type Palette, parseColour } from "./palette";
import type { Row, Rows } from "./rows";
import { ShareSums, Stacker } from "./shares";
import { dominantClass, dominantColumns, visitColumns, Votes } from "./sums";
import { ticks, timeToX } from "./viewport";

const kFont = "11px system-ui, sans-serif";
const kMaxDecorated = 4000; // events of a row that are looked at one by one
const kLeastRow = 3; // device pixels; lower rows share lines of pixels

// Per-frame results that tests and the status line read.
export interface FrameInfo {
  ranksDrawn: number;
  runs: number; // changes of class along the drawn rows
  marks: number; // of the program's own, drawn
  hits: number; // events found, drawn
}

// Sums of the columns of a view, which serve again where only something else has changed.
interface Kept {
  readonly t0: number;
  readonly dt: number;
  readonly version: number; // of what a server has sent
  readonly sums: ShareSums;
}

// What lines of pixels that rows share were drawn of.
interface Lines {
  readonly key: string;
  readonly rows: Rows;
  readonly palette: Palette;
  readonly all: ShareSums | null;
  readonly runs: number;
}

// A canvas whose pixels are written directly and then stretched into place.
class Strips {
  readonly canvas = document.createElement("canvas");
  private image: ImageData | null = null;
  private words = new Uint32Array(0);

  // Pixels of a `width` x `height` image, to be filled by the caller.
  begin(width: number, height: number): Uint32Array {
    if (this.image === null || this.image.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = new ImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    return this.words;
  }

  end(): HTMLCanvasElement {
    this.canvas.getContext("2d")!.putImageData(this.image!, 0, 0);
    return this.canvas;
  }
}

export class Painter {
  private readonly strips = new Strips();
  private readonly single = new Strips();
  private readonly lineStrips = new Strips(); // of rows that share lines of pixels
  private lines: Lines | null = null;
  private readonly textWidths = new Map<string, number>(); // in the bars' font
  private overview: Kept | null = null;
  private all: Kept | null = null; // of all ranks, in view
  private readonly folded = new WeakMap<Row, Kept>(); // of rows that stand for several ranks
  private hatches: { key: string; patterns: (CanvasPattern | null)[] } | null = null;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {}

  draw(layout: Layout, ratio: number): FrameInfo {
    const { context, model } = this;
    const { theme } = model;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, layout.width, layout.height);
    context.font = kFont;
    context.textBaseline = "middle";
    this.drawOverview(layout, ratio);
    this.drawAxis(layout);
    this.drawPhases(layout);
    const info = this.drawRows(layout, ratio);
    this.drawScrollbar(layout);
    return info;
  }

  private drawOverview(layout: Layout, ratio: number): void {
    if (layout.overviewHeight === 0) return;
    const { model, context } = this;
    const width = Math.round(layout.plot * ratio);
    const version = model.remote?.version ?? 0;
    if (this.overview?.sums.width !== width || this.overview.version !== version)
      this.overview = { t0: 0, dt: model.end / width, version, sums: this.sumShares(0, model.end / width, width) };
    const { overviewTop: top, overviewHeight: height, left, plot } = layout;
    const whole = (model.end / width) * model.trace.ranks.length;
    this.paintStacked(this.overview.sums, whole, layout, top, height, ratio);
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

  private drawRows(layout: Layout, ratio: number): FrameInfo {
    const { context, model } = this;
    const width = Math.round(layout.plot * ratio);
    const dt = (model.view.t1 - model.view.t0) / width;
    const ranks = model.trace.ranks.length;
    const first = Math.max(0, Math.floor(model.scroll / layout.rowPitch));
    const last = Math.min(model.rows.count, Math.ceil((model.scroll + layout.rowsHeight) / layout.rowPitch));

    context.save();
    context.beginPath();
    context.rect(0, layout.rowsTop, layout.width, layout.rowsHeight);
    context.clip();
    const known = new Map<number, Uint8Array>(); // classes by rank
    // The "All" bar takes the rows' sums where all ranks are drawn.
    const whole = model.remote === null && model.rows.plain && last - first === ranks;
    const drawn = model.shares && whole ? new ShareSums(width, 2 * model.states.count, dt) : null;
    const runs = layout.rowPitch * ratio < kLeastRow
      ? this.paintFolded(layout, ratio, drawn)
      : model.shares
        ? this.paintShares(layout, ratio, first, last, drawn)
        : this.paintDominant(layout, width, first, last, known);
    let marks = 0;
    for (let row = first; row < last; row++) {
      const rank = this.rankOf(row);
      if (rank < 0) continue;
      const y = rowY(layout, model.scroll, row);
      this.decorate(layout, ratio, rank, y);
      marks += this.drawMarks(layout, rank, y);
    }
    const hits = model.found === null ? 0 : drawHits(context, layout, model, model.found.set, first, last);
    context.restore();
    for (let row = first; row < last; row++) this.rowLabel(layout, row);

    if (model.shares) {
      const all = drawn ?? this.sumsInView(model.view.t0, dt, width);
      this.paintStacked(all, dt * ranks, layout, layout.allTop, layout.allHeight, ratio);
    } else {
      const all = new Uint8Array(width);
      this.vote(model.view.t0, dt, width, all, known);
      this.stretch(all, layout.left, layout.allTop, layout.plot, layout.allHeight);
    }
    this.label("All", layout, layout.allTop + layout.allHeight / 2, false);
    return { ranksDrawn: last - first, runs, marks, hits };
  }

  // The rank that a row shows alone, if its events are here.
  private rankOf(row: number): number {
    return this.model.far ? -1 : this.model.rows.rank(row);
  }

  // The times of a row's ranks, each counted as `part` of a rank.
  private addRow(sums: ShareSums, row: number, part: number): void {
    const { model } = this;
    const { ranks } = model.rows.list[row]!;
    if (model.far) model.remote!.add(sums, model.view.t0, ranks[0]!, ranks[0]! + 1);
    else for (const rank of ranks) sums.add(model.sums[rank]!, model.view.t0, model.states, part);
  }

  // Those of a row of several ranks, kept as long as the view's time is the same.
  private rowSums(row: number, dt: number, width: number): ShareSums {
    const { model } = this;
    const { t0 } = model.view;
    const key = model.rows.list[row]!;
    const version = model.remote?.version ?? 0;
    const kept = this.folded.get(key);
    if (kept !== undefined && kept.t0 === t0 && kept.dt === dt && kept.version === version && kept.sums.width === width) return kept.sums;
    const sums = new ShareSums(width, 2 * model.states.count, dt);
    this.addRow(sums, row, 1);
    this.folded.set(key, { t0, dt, version, sums });
    return sums;
  }

  // Fills `known` with the classes of the ranks drawn; returns the number of runs.
  private paintDominant(
    layout: Layout, width: number, first: number, last: number, known: Map<number, Uint8Array>,
  ): number {
    const { context, model } = this;
    if (last <= first) return 0;
    const dt = (model.view.t1 - model.view.t0) / width;
    const words = this.strips.begin(width, last - first);
    const { pixels } = model.palette;
    let runs = 0;
    for (let row = first; row < last; row++) {
      const classes = new Uint8Array(width);
      const rank = this.rankOf(row);
      if (rank >= 0) {
        dominantColumns(model.sums[rank]!, model.view.t0, dt, width, model.states, classes);
        known.set(rank, classes);
      } else {
        const sums = this.rowSums(row, dt, width);
        for (let x = 0; x < width; x++) classes[x] = dominantClass(sums.column(x));
      }
      const base = (row - first) * width;
      for (let x = 0; x < width; x++) words[base + x] = pixels[classes[x]!]!;
      runs += countRuns(classes);
    }
    const image = this.strips.end();
    context.imageSmoothingEnabled = false;
    for (let row = first; row < last; row++) {
      const y = rowY(layout, model.scroll, row);
      context.drawImage(image, 0, row - first, width, 1, layout.left, y, layout.plot, layout.rowBar);
    }
    return runs;
  }

  // Returns the number of columns and runs of equal columns.
  private paintShares(
    layout: Layout, ratio: number, first: number, last: number, all: ShareSums | null,
  ): number {
    const { context, model } = this;
    if (last <= first) return 0;
    const width = Math.round(layout.plot * ratio);
    const height = Math.max(1, Math.round(layout.rowBar * ratio));
    const words = this.strips.begin(width, height * (last - first));
    const stacker = new Stacker(model.states.count, model.palette.shares, height);
    let runs = 0;
    for (let row = first; row < last; row++) {
      const pixels = words.subarray((row - first) * height * width, (row - first + 1) * height * width);
      runs += this.paintRow(row, pixels, width, height, stacker, all);
    }
    const image = this.strips.end();
    context.imageSmoothingEnabled = false;
    for (let row = first; row < last; row++) {
      const y = rowY(layout, model.scroll, row);
      context.drawImage(image, 0, (row - first) * height, width, height, layout.left, y, layout.plot, layout.rowBar);
    }
    return runs;
  }

  private paintRow(
    row: number, words: Uint32Array, width: number, height: number, stacker: Stacker, all: ShareSums | null,
  ): number {
    const { model } = this;
    const { pixels } = model.palette;
    const dt = (model.view.t1 - model.view.t0) / width;
    const rank = this.rankOf(row);
    if (rank < 0) {
      const classes = 2 * model.states.count;
      const { times } = this.rowSums(row, dt, width);
      const whole = dt * model.rows.list[row]!.ranks.length;
      for (let x = 0; x < width; x++) stacker.paint(words, width, x, times, x * classes, whole);
      return width;
    }
    let runs = 0;
    visitColumns(model.sums[rank]!, model.view.t0, dt, width, {
      run: (x0, x1, cls) => {
        for (let y = 0; y < height; y++) words.fill(pixels[cls]!, y * width + x0, y * width + x1);
        all?.addRun(x0, x1, cls);
        runs++;
      },
      mixed: (x, sums) => {
        stacker.paint(words, width, x, sums, 0, dt);
        all?.addColumn(x, sums);
        runs++;
      },
    }, model.states);
    return runs;
  }

  // Where rows are lower than a few pixels: each line of pixels shows the shares of
  // the rows that lie under it, each by the part of it that does. So nothing is
  // left out, however many ranks there are.
  private paintFolded(layout: Layout, ratio: number, all: ShareSums | null): number {
    const { context, model } = this;
    const { rows, palette, view } = model;
    const key = [view.t0, view.t1, model.scroll, model.shares, all !== null, model.far, model.remote?.version, layout.rowPitch, layout.rowsHeight, layout.plot, ratio].join(" ");
    // What is chosen or marked changes nothing here.
    if (this.lines?.key !== key || this.lines.rows !== rows || this.lines.palette !== palette)
      this.lines = { key, rows, palette, all, runs: this.fillLines(layout, ratio, all) };
    else if (all !== null) all.addAll(this.lines.all!);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.lineStrips.canvas, layout.left, layout.rowsTop, layout.plot, layout.rowsHeight);
    return this.lines.runs;
  }

  private fillLines(layout: Layout, ratio: number, all: ShareSums | null): number {
    const { model } = this;
    const width = Math.round(layout.plot * ratio);
    const height = Math.max(1, Math.round(layout.rowsHeight * ratio));
    const dt = (model.view.t1 - model.view.t0) / width;
    const rowsPerLine = 1 / (layout.rowPitch * ratio);
    const words = this.lineStrips.begin(width, height);
    const stacker = new Stacker(model.states.count, model.palette.shares, 1);
    const sums = new ShareSums(width, 2 * model.states.count, dt);
    let runs = 0;
    for (let y = 0; y < height; y++) {
      const from = (model.scroll * ratio + y) * rowsPerLine;
      const to = y === height - 1 && all !== null ? model.rows.count : Math.min(model.rows.count, from + rowsPerLine);
      sums.clear();
      if (model.far) model.remote!.add(sums, model.view.t0, from, to);
      else for (let row = Math.floor(from); row < to; row++)
        this.addRow(sums, row, (Math.min(to, row + 1) - Math.max(from, row)) / model.rows.list[row]!.ranks.length);
      const line = words.subarray(y * width, (y + 1) * width);
      for (let x = 0; x < width; x++) {
        const column = sums.column(x);
        if (model.shares) stacker.paint(line, width, x, column, 0, dt * (to - from));
        else line[x] = model.palette.pixels[dominantClass(column)]!;
        if (x === 0 || line[x] !== line[x - 1]) runs++;
      }
      all?.addAll(sums);
    }
    this.lineStrips.end();
    return runs;
  }

  // Shares over all ranks.
  private sumShares(t0: number, dt: number, width: number): ShareSums {
    const { model } = this;
    const shares = new ShareSums(width, 2 * model.states.count, dt);
    if (model.remote !== null) model.remote.add(shares, t0, 0, model.trace.ranks.length);
    else for (const sums of model.sums) shares.add(sums, t0, model.states);
    return shares;
  }

  // The same, kept as long as the view's time is the same: scrolling does not change it.
  private sumsInView(t0: number, dt: number, width: number): ShareSums {
    const kept = this.all;
    const version = this.model.remote?.version ?? 0;
    if (kept === null || kept.t0 !== t0 || kept.dt !== dt || kept.version !== version || kept.sums.width !== width)
      this.all = { t0, dt, version, sums: this.sumShares(t0, dt, width) };
    return this.all!.sums;
  }

  // `whole` is the time that fills a column.
  private paintStacked(
    shares: ShareSums, whole: number, layout: Layout, top: number, height: number, ratio: number,
  ): void {
    const { model } = this;
    const pixels = Math.round(height * ratio);
    const words = this.single.begin(shares.width, pixels);
    const stacker = new Stacker(model.states.count, model.palette.shares, pixels);
    for (let x = 0; x < shares.width; x++)
      stacker.paint(words, shares.width, x, shares.times, x * 2 * model.states.count, whole);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.single.end(), layout.left, top, layout.plot, height);
  }

  // Hatches what waits, parts and names the calls where there is room.
  private decorate(layout: Layout, ratio: number, rank: number, y: number): void {
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
      this.nameCall(layout, name, state, x0, x1, ready - x0 > (x1 - x0) / 2, y);
    }
  }

  // A small flag for each of the rank's marks; those at one place are drawn once.
  private drawMarks(layout: Layout, rank: number, y: number): number {
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

  // What most ranks do in each column; takes the rows that are known already.
  private vote(t0: number, dt: number, width: number, out: Uint8Array, known: Map<number, Uint8Array>): void {
    const { model } = this;
    if (model.remote !== null) {
      const sums = this.sumsInView(t0, dt, width);
      for (let x = 0; x < width; x++) out[x] = dominantClass(sums.column(x));
      return;
    }
    const ranks = model.trace.ranks.length;
    const votes = new Votes(width, 2 * model.states.count);
    const scratch = new Uint8Array(width);
    for (let rank = 0; rank < ranks; rank++) {
      let classes = known.get(rank);
      if (classes === undefined) {
        dominantColumns(model.sums[rank]!, t0, dt, width, model.states, scratch);
        classes = scratch;
      }
      votes.add(classes);
    }
    votes.winners(out);
  }

  private stretch(classes: Uint8Array, left: number, top: number, width: number, height: number): void {
    const words = this.single.begin(classes.length, 1);
    const { pixels } = this.model.palette;
    for (let x = 0; x < classes.length; x++) words[x] = pixels[classes[x]!]!;
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.single.end(), left, top, width, height);
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

  private textWidth(text: string): number {
    let width = this.textWidths.get(text);
    if (width === undefined) this.textWidths.set(text, (width = this.context.measureText(text).width));
    return width;
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

function countRuns(classes: Uint8Array): number {
  let runs = classes.length > 0 ? 1 : 0;
  for (let x = 1; x < classes.length; x++) if (classes[x] !== classes[x - 1]) runs++;
  return runs;
}

// Phases of one depth that touch [t0, t1], in order of time. Spans are in
// order of their start, and those of one depth do not overlap.
export function visiblePhases(spans: PhaseSpan[], depth: number, t0: number, t1: number): PhaseSpan[] {
  return spans.filter((span) => span.depth === depth && span.from <= t1 && span.to >= t0);
}
