// Exact sums of time by state over any interval, in constant time per query.
//
// Each rank keeps running totals at the start of every block of events. The
// time that a state has in [a, b) is the difference of two totals plus a few
// events at the edges, so that the state which dominates a pixel is exact at
// every zoom, however many events lie under the pixel.
import { firstAbove, isTimedCall, type RankData, type TraceData } from "./events";

export const kIdle = 255; // class of a pixel outside the rank's program
export const kMaxStates = 24;

// What the time is attributed to. State 0 is computation; a call's time is
// split into waiting and the rest, so there are two classes per state:
// `state` (busy) and `count + state` (waiting).
export interface States {
  readonly names: string[];
  readonly count: number;
  readonly ofShape: Uint8Array; // state of each shape; 0 for events that are no calls
}

// Time in each function that is called, in the order of their names' numbers.
function timeByFunction(trace: TraceData): [name: string, time: number][] {
  const time = new Float64Array(trace.shapes.length);
  const called = new Uint8Array(trace.head.names.length);
  for (const rank of trace.ranks) {
    for (let i = 0; i < rank.count; i++) time[rank.shape[i]!]! += rank.leave[i]! - rank.enter[i]!;
  }
  const sums = new Float64Array(called.length);
  trace.shapes.forEach((shape, i) => {
    if (!isTimedCall(shape.kind)) return;
    called[shape.name] = 1;
    sums[shape.name]! += time[i]!;
  });
  return [...called.keys()].filter((name) => called[name]).map((name) => [trace.head.names[name]!, sums[name]!]);
}

// The states of several traces that are shown together: the functions with the most time
// get a state each, the rest share one.
export function makeSharedStates(traces: readonly TraceData[]): States[] {
  const time = new Map<string, number>();
  for (const trace of traces)
    for (const [name, sum] of timeByFunction(trace)) time.set(name, (time.get(name) ?? 0) + sum);
  const byTime = [...time.keys()].sort((a, b) => time.get(b)! - time.get(a)!); // stable
  const own = byTime.length <= kMaxStates - 1 ? byTime : byTime.slice(0, kMaxStates - 2);
  const names = ["COMPUTE", ...own];
  if (own.length < byTime.length) names.push("other calls");
  const stateOfName = new Map(own.map((name, i) => [name, i + 1]));
  return traces.map((trace) => {
    const ofShape = Uint8Array.from(trace.shapes, (shape) =>
      isTimedCall(shape.kind) ? stateOfName.get(trace.head.names[shape.name]!) ?? names.length - 1 : 0,
    );
    return { names, count: names.length, ofShape };
  });
}

export function makeStates(trace: TraceData): States {
  return makeSharedStates([trace])[0]!;
}

export class RankSums {
  readonly classes: number;
  // Events per block: as many as there are classes, so that the totals take
  // some 8 bytes per event.
  readonly block: number;
  private readonly totals: Float64Array; // [block][class], before the block's first event
  private readonly state: Uint8Array; // of each event

  constructor(
    readonly rank: RankData,
    private readonly states: States,
  ) {
    const classes = (this.classes = 2 * states.count);
    const block = (this.block = Math.min(32, Math.max(8, classes)));
    this.state = new Uint8Array(rank.count);
    for (let i = 0; i < rank.count; i++) this.state[i] = states.ofShape[rank.shape[i]!]!;
    this.totals = new Float64Array((Math.floor(rank.count / block) + 1) * classes);
    const running = new Float64Array(classes);
    for (let i = 0; i <= rank.count; i++) {
      if (i % block === 0) this.totals.set(running, (i / block) * classes);
      if (i < rank.count) this.addWhole(i, running);
    }
  }

  // Adds all of event i, the computation before it included.
  private addWhole(i: number, sums: Float64Array): void {
    const { enter, leave, wait } = this.rank;
    const state = this.state[i]!;
    const waited = wait[i]!;
    sums[0]! += enter[i]! - (i === 0 ? 0 : leave[i - 1]!);
    sums[this.states.count + state]! += waited;
    sums[state]! += leave[i]! - enter[i]! - waited;
  }

  // Adds what of event i lies in [a, b).
  addEvent(i: number, a: number, b: number, sums: Float64Array): void {
    const { enter, leave, wait } = this.rank;
    const start = i === 0 ? 0 : leave[i - 1]!;
    const called = enter[i]!;
    const ready = called + wait[i]!;
    const state = this.state[i]!;
    sums[0]! += overlap(start, called, a, b);
    sums[this.states.count + state]! += overlap(called, ready, a, b);
    sums[state]! += overlap(ready, leave[i]!, a, b);
  }

  // Adds what lies in [a, b), where `first` is the event that holds a and
  // `last` the one that holds b (or the number of events).
  addEvents(first: number, last: number, a: number, b: number, sums: Float64Array): void {
    this.addEvent(first, a, b, sums);
    if (last === first) return;
    for (let i = first + 1; i < last; i++) this.addWhole(i, sums);
    if (last < this.rank.count) this.addEvent(last, a, b, sums);
  }

  // Totals of [0, t) into `out`; `i` is the event that holds t.
  totalsAt(t: number, out: Float64Array, i = firstAbove(this.rank.leave, t)): void {
    const block = Math.floor(i / this.block);
    const base = block * this.classes;
    for (let c = 0; c < this.classes; c++) out[c] = this.totals[base + c]!;
    for (let k = block * this.block; k < i; k++) this.addWhole(k, out);
    if (i < this.rank.count) this.addEvent(i, 0, t, out);
  }

  // Adds the sums of [a, b) to `sums`.
  addRange(a: number, b: number, sums: Float64Array): void {
    const { before, after } = scratch(this.classes);
    this.totalsAt(a, before);
    this.totalsAt(b, after);
    for (let c = 0; c < this.classes; c++) sums[c]! += after[c]! - before[c]!;
  }
}

// Room for sums that are not kept; of very many ranks each would have its own else.
function scratch(classes: number): { column: Float64Array; before: Float64Array; after: Float64Array } {
  if (kScratch.column.length !== classes)
    for (const name of ["column", "before", "after"] as const) kScratch[name] = new Float64Array(classes);
  return kScratch;
}

const kScratch = { column: new Float64Array(0), before: new Float64Array(0), after: new Float64Array(0) };

function overlap(from: number, to: number, a: number, b: number): number {
  const length = Math.min(to, b) - Math.max(from, a);
  return length > 0 ? length : 0;
}

export interface ColumnVisitor {
  // Columns [x0, x1) hold one class only.
  run(x0: number, x1: number, cls: number): void;
  // Column x holds several; `sums` are their times.
  mixed(x: number, sums: Float64Array): void;
}

// Walks the `width` columns of [t0, t0 + width * dt) from left to right.
export function visitColumns(
  sums: RankSums, t0: number, dt: number, width: number, visitor: ColumnVisitor, states: States,
): void {
  const { rank } = sums;
  const { enter, leave, wait, shape, count } = rank;
  const { column } = scratch(sums.classes);
  let { before, after } = scratch(sums.classes); // before: totals at the start of column `known`
  let known = -1;
  let i = firstAbove(leave, t0);
  let x = 0;
  while (x < width) {
    const a = t0 + x * dt;
    while (i < count && leave[i]! <= a) i++;
    if (i >= count || a < 0) {
      // Before the program starts or after it has ended.
      const stop = i >= count ? width : Math.max(x + 1, Math.min(width, Math.ceil(-t0 / dt)));
      visitor.run(x, stop, kIdle);
      x = stop;
      continue;
    }
    const state = states.ofShape[shape[i]!]!;
    const ready = enter[i]! + wait[i]!;
    let until = leave[i]!;
    let cls = state;
    if (a < enter[i]!) {
      until = enter[i]!;
      cls = 0;
    } else if (a < ready) {
      until = ready;
      cls = states.count + state;
    }
    const whole = Math.min(width, Math.floor((until - t0) / dt));
    if (whole > x) {
      visitor.run(x, whole, cls);
      x = whole;
      continue;
    }
    const b = a + dt;
    const next = firstAboveNear(leave, b, i);
    if (next - i <= sums.block) {
      column.fill(0);
      sums.addEvents(i, next, a, b, column);
    } else {
      if (known !== x) sums.totalsAt(a, before, i);
      sums.totalsAt(b, after, next);
      for (let c = 0; c < column.length; c++) column[c] = after[c]! - before[c]!;
      [before, after] = [after, before];
      known = x + 1;
    }
    visitor.mixed(x, column);
    i = next;
    x++;
  }
}

// firstAbove for answers that are mostly near `from`.
function firstAboveNear(values: Float64Array, t: number, from: number): number {
  let step = 1;
  let high = from;
  while (high < values.length && values[high]! <= t) {
    from = high + 1;
    high += step;
    step *= 2;
  }
  if (high <= from) return from;
  let low = from;
  high = Math.min(high, values.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The class with the most time; the lowest of equals; kIdle where all are 0.
export function dominantClass(sums: Float64Array): number {
  let best = kIdle;
  let most = 0;
  for (let c = 0; c < sums.length; c++) {
    if (sums[c]! > most) {
      most = sums[c]!;
      best = c;
    }
  }
  return best;
}

// Counts classes per column over several ranks; the winner is what most ranks
// do. Ranks outside their program have no vote.
export class Votes {
  private readonly counts: Uint16Array;

  constructor(
    private readonly width: number,
    private readonly classes: number,
  ) {
    this.counts = new Uint16Array(width * classes);
  }

  addRun(x0: number, x1: number, cls: number): void {
    if (cls !== kIdle) for (let x = x0; x < x1; x++) this.counts[x * this.classes + cls]!++;
  }

  winners(out: Uint8Array): void {
    for (let x = 0; x < this.width; x++) {
      let best = kIdle;
      let most = 0;
      for (let c = 0; c < this.classes; c++) {
        const votes = this.counts[x * this.classes + c]!;
        if (votes > most) {
          most = votes;
          best = c;
        }
      }
      out[x] = best;
    }
  }
}
