// Pieces of the pictures of bars: rows by shares or by what they did longest, rows that share
// lines of pixels, and all ranks together. A step of a piece is some tenths of a millisecond.
import type { Model } from "./model";
import type { Gap, Picture, Shot } from "./picture";
import { ShareSums, Stacker } from "./shares";
import { type ColumnVisitor, dominantClass, visitColumns, Votes } from "./sums";

export interface Piece extends Gap {
  fill(): void; // a step; it is done when u0 is u1
}

export type Bars = Picture<Piece>;

// What all ranks together did in some columns.
class Tally implements ColumnVisitor {
  private readonly sums: ShareSums | null = null;
  private readonly votes: Votes | null = null;

  constructor(
    private readonly model: Model,
    private readonly gap: Gap,
    private readonly shot: Shot,
    private readonly shares: boolean,
  ) {
    const width = gap.x1 - gap.x0;
    const classes = 2 * model.states.count;
    if (shares || model.remote !== null) this.sums = new ShareSums(width, classes, shot.dt);
    else this.votes = new Votes(width, classes);
  }

  run(x0: number, x1: number, cls: number): void {
    this.sums?.addRun(x0, x1, cls);
    this.votes?.addRun(x0, x1, cls);
  }

  mixed(x: number, column: Float64Array): void {
    this.sums?.addColumn(x, column);
    this.votes?.addRun(x, x + 1, dominantClass(column));
  }

  addRank(rank: number): void {
    const { model, gap, shot } = this;
    visitColumns(model.sums[rank]!, shot.t0 + gap.x0 * shot.dt, shot.dt, gap.x1 - gap.x0, this, model.states);
  }

  addServed(): void {
    const { model, gap, shot } = this;
    model.remote!.add(this.sums!, shot.t0 + gap.x0 * shot.dt, 0, model.trace.ranks.length);
  }

  paint(words: Uint32Array, { width, height, dt }: Shot): void {
    const { model, gap, sums } = this;
    const columns = gap.x1 - gap.x0;
    if (this.shares) {
      const stacker = new Stacker(model.states.count, model.palette.shares, height);
      const { times } = sums!;
      for (let x = 0; x < columns; x++)
        stacker.paint(words, width, gap.x0 + x, times, x * 2 * model.states.count, dt * model.trace.ranks.length);
      return;
    }
    const classes = new Uint8Array(columns);
    if (sums !== null) for (let x = 0; x < columns; x++) classes[x] = dominantClass(sums.column(x));
    else this.votes!.winners(classes);
    for (let x = 0; x < columns; x++)
      for (let y = 0; y < height; y++) words[y * width + gap.x0 + x] = model.palette.pixels[classes[x]!]!;
  }
}

// All ranks: a unit that is filled rank by rank.
export class AllPiece implements Piece {
  u0 = 0;
  readonly u1 = 1;
  readonly x0: number;
  readonly x1: number;
  private rank = 0;
  private readonly tally: Tally;

  constructor(
    private readonly model: Model,
    private readonly picture: Bars,
    gap: Gap,
    shot: Shot,
    shares: boolean,
  ) {
    [this.x0, this.x1] = [gap.x0, gap.x1];
    this.tally = new Tally(model, gap, shot, shares);
  }

  fill(): void {
    const ranks = this.model.trace.ranks.length;
    if (this.model.remote !== null) this.tally.addServed();
    else this.tally.addRank(this.rank++);
    if (this.model.remote === null && this.rank < ranks) return;
    this.tally.paint(this.picture.words, this.picture.shot!);
    this.u0 = 1;
  }
}

// What pieces of rows need to know.
export interface RowsTask {
  readonly model: Model;
  readonly picture: Bars;
  readonly gap: Gap;
  readonly shot: Shot;
  readonly complete: boolean; // the gap has all rows, and these have all ranks once
  counted(tally: { paint(words: Uint32Array, shot: Shot): void }, gap: Gap): void; // of all ranks
}

abstract class RowsPiece implements Piece {
  u0: number;
  readonly u1: number;
  readonly x0: number;
  readonly x1: number;
  protected readonly width: number; // columns
  protected readonly t0: number; // of the first of them
  protected readonly tally: Tally | null;

  constructor(protected readonly task: RowsTask) {
    const { gap, shot, model } = task;
    [this.u0, this.u1, this.x0, this.x1] = [gap.u0, gap.u1, gap.x0, gap.x1];
    this.width = gap.x1 - gap.x0;
    this.t0 = shot.t0 + gap.x0 * shot.dt;
    this.tally = task.complete ? new Tally(model, gap, shot, model.shares) : null;
  }

  fill(): void {
    const { picture, shot } = this.task;
    const size = shot.height * shot.width;
    this.fillUnit(this.u0, picture.words.subarray(this.u0 * size, (this.u0 + 1) * size));
    this.u0++;
    if (this.u0 === this.u1 && this.tally !== null) this.task.counted(this.tally, this.task.gap);
  }

  protected abstract fillUnit(unit: number, words: Uint32Array): void;

  protected visit(rank: number, visitor: ColumnVisitor): void {
    const { model, shot } = this.task;
    visitColumns(model.sums[rank]!, this.t0, shot.dt, this.width, visitor, model.states);
  }

  protected newSums(): ShareSums {
    return new ShareSums(this.width, 2 * this.task.model.states.count, this.task.shot.dt);
  }

  // `whole`: the time that fills a column.
  protected paintSums(words: Uint32Array, sums: ShareSums, whole: number): void {
    const { model, shot } = this.task;
    const classes = 2 * model.states.count;
    const { times } = sums;
    const stacker = new Stacker(model.states.count, model.palette.shares, shot.height);
    for (let x = 0; x < this.width; x++) {
      if (model.shares) stacker.paint(words, shot.width, this.x0 + x, times, x * classes, whole);
      else words[this.x0 + x] = model.palette.pixels[dominantClass(sums.column(x))]!;
    }
  }
}

// Rows that have lines of pixels of their own.
export class BarsPiece extends RowsPiece {
  private readonly stacker = new Stacker(this.task.model.states.count, this.task.model.palette.shares, this.task.shot.height);

  protected fillUnit(unit: number, words: Uint32Array): void {
    const { model, shot } = this.task;
    const row = shot.first + unit;
    const rank = model.far ? -1 : model.rows.rank(row);
    if (rank >= 0) {
      this.fillRank(rank, words);
      return;
    }
    const sums = this.newSums();
    const { ranks } = model.rows.list[row]!;
    if (model.far) model.remote!.addRows(sums, this.t0, row, row + 1);
    else for (const each of ranks) sums.add(model.sums[each]!, this.t0, model.states);
    this.paintSums(words, sums, model.far ? shot.dt : shot.dt * ranks.length);
  }

  private fillRank(rank: number, words: Uint32Array): void {
    const { tally, stacker, x0: left } = this;
    const { model, shot: { width, height, dt } } = this.task;
    const { pixels } = model.palette;
    this.visit(rank, {
      run: (x0, x1, cls) => {
        for (let y = 0; y < height; y++) words.fill(pixels[cls]!, y * width + left + x0, y * width + left + x1);
        tally?.run(x0, x1, cls);
      },
      mixed: (x, sums) => {
        if (model.shares) stacker.paint(words, width, left + x, sums, 0, dt);
        else words[left + x] = pixels[dominantClass(sums)]!;
        tally?.mixed(x, sums);
      },
    });
  }
}

// Rows that are lower than a few pixels: each line of pixels shows the shares of the rows that
// lie under it, each by the part of it that does. So nothing is left out, however many there are.
export class LinesPiece extends RowsPiece {
  private row = -1; // the next one that has not been looked at
  private readonly open = new Map<number, ShareSums>(); // of lines that are not filled yet
  private readonly spare: ShareSums[] = [];

  constructor(
    task: RowsTask,
    private readonly rowsPerLine: number,
  ) {
    super(task);
  }

  // The rows that lie under a line.
  private under(unit: number): [from: number, to: number] {
    const { model: { rows }, shot, complete } = this.task;
    const from = (shot.first + unit) * this.rowsPerLine;
    const last = complete && unit === this.u1 - 1;
    return [from, last ? rows.count : Math.min(rows.count, from + this.rowsPerLine)];
  }

  protected fillUnit(unit: number, words: Uint32Array): void {
    const { model, shot } = this.task;
    const [from, to] = this.under(unit);
    const sums = this.sumsOf(unit);
    if (model.far) {
      model.remote!.addRows(sums, this.t0, from, to);
    } else {
      if (this.row < 0) this.row = Math.floor(from);
      while (this.row < to) this.addRow(this.row++, unit);
    }
    this.paintSums(words, sums, shot.dt * (to - from));
    this.open.delete(unit);
    sums.clear();
    this.spare.push(sums);
  }

  private sumsOf(unit: number): ShareSums {
    let sums = this.open.get(unit);
    if (sums === undefined) this.open.set(unit, (sums = this.spare.pop() ?? this.newSums()));
    return sums;
  }

  // Adds a row to the lines from `unit` on that it lies in.
  private addRow(row: number, unit: number): void {
    const { ranks } = this.task.model.rows.list[row]!;
    const lines: { sums: ShareSums; part: number }[] = [];
    for (let line = unit; line < this.u1; line++) {
      const [from, to] = this.under(line);
      if (from >= row + 1) break;
      const part = Math.min(to, row + 1) - Math.max(from, row);
      if (part > 0) lines.push({ sums: this.sumsOf(line), part: part / ranks.length });
    }
    const { tally } = this;
    for (const rank of ranks)
      this.visit(rank, {
        run: (x0, x1, cls) => {
          for (const { sums, part } of lines) sums.addRun(x0, x1, cls, part);
          tally?.run(x0, x1, cls);
        },
        mixed: (x, column) => {
          for (const { sums, part } of lines) sums.addColumn(x, column, part);
          tally?.mixed(x, column);
        },
      });
  }
}
