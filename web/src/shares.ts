// Columns that show the shares of all states at once, stacked from below.
//
// A pixel that lies in several shares gets their mixed colour, so that thin
// bars show small shares as a tint and not as noise.
import { type RankSums, type States, visitColumns } from "./sums";

type Rgb = readonly [number, number, number];

export interface ShareColours {
  readonly classes: readonly (Rgb | null)[]; // by class; null: hidden
  readonly empty: Rgb; // hidden states and time outside the program
}

// The order in a stack: every state, its waiting right above it.
export function stackOrder(states: number): number[] {
  const order: number[] = [];
  for (let state = 0; state < states; state++) order.push(state, states + state);
  return order;
}

function pixel(r: number, g: number, b: number): number {
  return ((255 << 24) | ((b + 0.5) << 16) | ((g + 0.5) << 8) | (r + 0.5)) >>> 0;
}

export class Stacker {
  private readonly order: number[];
  // The pixel that is being filled: its mixed colour and how much is covered.
  private r = 0;
  private g = 0;
  private b = 0;
  private covered = 0;
  private y = 0; // pixels finished, from below

  constructor(
    states: number,
    private readonly colours: ShareColours,
    private readonly height: number,
  ) {
    this.order = stackOrder(states);
  }

  // Fills column x of a `width`-wide image of 32-bit pixels. `sums` are the
  // times by class from `base` on, `whole` the time that fills the height.
  paint(words: Uint32Array, width: number, x: number, sums: Float64Array, base: number, whole: number): void {
    const { order, height } = this;
    const scale = height / whole;
    this.y = this.covered = this.r = this.g = this.b = 0;
    for (let k = 0; k < order.length; k++) {
      const cls = order[k]!;
      const time = sums[base + cls]!;
      if (time > 0) this.add(words, width, x, time * scale, this.colours.classes[cls] ?? this.colours.empty);
    }
    this.add(words, width, x, height, this.colours.empty);
  }

  // Puts `amount` pixels of a colour on top of what is there.
  private add(words: Uint32Array, width: number, x: number, amount: number, colour: Rgb): void {
    const top = (this.height - 1) * width + x;
    while (amount > 0 && this.y < this.height) {
      if (this.covered === 0 && amount >= 1) {
        words[top - this.y++ * width] = pixel(colour[0], colour[1], colour[2]);
        amount--;
        continue;
      }
      const part = Math.min(amount, 1 - this.covered);
      this.r += part * colour[0];
      this.g += part * colour[1];
      this.b += part * colour[2];
      this.covered += part;
      amount -= part;
      if (this.covered < 1 - 1e-9) continue;
      words[top - this.y++ * width] = pixel(this.r, this.g, this.b);
      this.covered = this.r = this.g = this.b = 0;
    }
  }
}

// Parts of a rank are whole multiples of this, so that sums of them are exact: as many as are
// added are taken away again.
const kLeastPart = 2 ** -36;

// Times by column and class, over several ranks: [column][class].
export class ShareSums {
  private readonly sums: Float64Array;
  // Ranks that begin to be in one class alone, less those that end it: [column][class]. So a
  // long run costs as much as a short one.
  private readonly steps: Float64Array;
  private settled = true; // the steps are in the sums

  constructor(
    readonly width: number,
    private readonly classes: number,
    readonly dt: number, // ps of a column
  ) {
    this.sums = new Float64Array(width * classes);
    this.steps = new Float64Array((width + 1) * classes);
  }

  // Adds the times of a rank, or a `part` of them.
  add(sums: RankSums, t0: number, states: States, part = 1): void {
    visitColumns(sums, t0, this.dt, this.width, {
      run: (x0, x1, cls) => this.addRun(x0, x1, cls, part),
      mixed: (x, column) => this.addColumn(x, column, part),
    }, states);
  }

  get times(): Float64Array {
    if (!this.settled) this.settle();
    return this.sums;
  }

  // The times of one column, by class.
  column(x: number): Float64Array {
    return this.times.subarray(x * this.classes, (x + 1) * this.classes);
  }

  clear(): void {
    this.sums.fill(0);
    this.steps.fill(0);
    this.settled = true;
  }

  addRun(x0: number, x1: number, cls: number, part = 1): void {
    if (cls >= this.classes) return;
    const amount = Math.round(part / kLeastPart) * kLeastPart;
    this.steps[x0 * this.classes + cls]! += amount;
    this.steps[x1 * this.classes + cls]! -= amount;
    this.settled = false;
  }

  addColumn(x: number, column: Float64Array, part = 1): void {
    const base = x * this.classes;
    for (let cls = 0; cls < this.classes; cls++) this.sums[base + cls]! += column[cls]! * part;
  }

  addTime(x: number, cls: number, time: number): void {
    this.sums[x * this.classes + cls]! += time;
  }

  private settle(): void {
    const { sums, steps, classes, dt } = this;
    for (let i = 0; i < sums.length; i++) {
      if (i >= classes) steps[i]! += steps[i - classes]!;
      sums[i]! += steps[i]! * dt;
    }
    steps.fill(0);
    this.settled = true;
  }
}
