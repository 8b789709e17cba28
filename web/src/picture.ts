// A picture of bars that is filled a piece at a time. What it holds serves again where the view
// has only moved: by whole columns in time, by whole rows among the ranks.
//
// It consists of units: a row's bar, or a line of pixels that rows share. What a piece looks like
// is for others to say (fillers.ts).
import { Strips } from "./strips";

// What a picture is to show.
export interface Shot {
  readonly look: readonly unknown[]; // all that it depends on but time and the first unit
  readonly t0: number;
  readonly dt: number; // ps of a column
  readonly width: number; // columns
  readonly first: number; // the unit on top
  readonly units: number;
  readonly height: number; // lines of pixels of a unit
}

// Units [u0, u1) of columns [x0, x1) that are not filled yet.
export interface Gap {
  u0: number; // grows as it is filled
  readonly u1: number;
  readonly x0: number;
  readonly x1: number;
}

const kTolerance = 1e-6; // of a column

export class Picture<Piece extends Gap> {
  gaps: Piece[] = [];
  shot: Shot | null = null;
  private readonly strips = new Strips();
  private changed = false; // since the canvas was written

  constructor(private readonly piece: (gap: Gap, shot: Shot) => Piece) {}

  get done(): boolean {
    return this.gaps.length === 0;
  }

  get words(): Uint32Array {
    this.changed = true;
    return this.strips.words;
  }

  // Keeps what `wanted` has in common with what is there; the rest is transparent, and a gap.
  // False: they have nothing in common.
  aim(wanted: Shot): boolean {
    const { shot } = this;
    const moved = shot === null ? null : movement(shot, wanted);
    if (moved === null) {
      this.strips.begin(wanted.width, wanted.units * wanted.height);
      this.words.fill(0);
      this.shot = wanted;
      this.gaps = [this.piece({ u0: 0, u1: wanted.units, x0: 0, x1: wanted.width }, wanted)];
    } else if (moved.columns !== 0 || moved.units !== 0) {
      // The columns stay those of the first shot, so that no error adds up.
      this.shot = { ...wanted, dt: shot!.dt, t0: shot!.t0 + moved.columns * shot!.dt };
      this.move(moved.columns, moved.units);
    }
    return moved !== null;
  }

  canvas(): HTMLCanvasElement {
    if (this.changed) this.strips.end();
    this.changed = false;
    return this.strips.canvas;
  }

  // Changes of colour along the first lines of the units.
  countRuns(): number {
    const { width, units, height } = this.shot!;
    const { words } = this.strips;
    let runs = 0;
    for (let unit = 0; unit < units; unit++) {
      const base = unit * height * width;
      runs++;
      for (let x = 1; x < width; x++) if (words[base + x] !== words[base + x - 1]) runs++;
    }
    return runs;
  }

  private move(columns: number, units: number): void {
    const { width, height, units: all } = this.shot!;
    const { words } = this;
    const by = units * height * width + columns;
    if (by > 0) words.copyWithin(0, by);
    else words.copyWithin(-by, 0);
    const gaps: Gap[] = [];
    const add = (u0: number, u1: number, x0: number, x1: number): void => {
      const gap = { u0: Math.max(0, u0), u1: Math.min(all, u1), x0: Math.max(0, x0), x1: Math.min(width, x1) };
      if (gap.u0 < gap.u1 && gap.x0 < gap.x1) gaps.push(gap);
    };
    if (columns > 0) add(0, all, width - columns, width);
    if (columns < 0) add(0, all, 0, -columns);
    if (units > 0) add(all - units, all, Math.max(0, -columns), Math.min(width, width - columns));
    if (units < 0) add(0, -units, Math.max(0, -columns), Math.min(width, width - columns));
    for (const { u0, u1, x0, x1 } of this.gaps) add(u0 - units, u1 - units, x0 - columns, x1 - columns);
    for (const { u0, u1, x0, x1 } of gaps)
      for (let line = u0 * height; line < u1 * height; line++) words.fill(0, line * width + x0, line * width + x1);
    this.gaps = gaps.map((gap) => this.piece(gap, this.shot!));
  }
}

// How far a shot has moved to become another one; null: it is another one altogether.
function movement(from: Shot, to: Shot): { columns: number; units: number } | null {
  const columns = Math.round((to.t0 - from.t0) / from.dt);
  const units = to.first - from.first;
  const same = from.width === to.width && from.units === to.units && from.height === to.height &&
    Math.abs(to.dt - from.dt) * to.width <= kTolerance * from.dt &&
    Math.abs(to.t0 - from.t0 - columns * from.dt) <= kTolerance * from.dt &&
    Number.isInteger(units) && Math.abs(columns) < from.width && Math.abs(units) < from.units &&
    from.look.length === to.look.length && from.look.every((each, i) => each === to.look[i]);
  return same ? { columns, units } : null;
}
