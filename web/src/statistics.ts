// What an interval of a run is made of: by state, phase, call site and rank. Times are
// clipped to the interval; ps.
import { firstAbove, isTimedCall, type TraceData } from "./events";
import type { Model } from "./model";

export interface Line {
  readonly name: string;
  readonly key: number; // of the state, phase name, site or rank
  readonly count: number; // events (phases: instances) that touch the interval, a call's first alone
  readonly time: number;
  readonly mean: number; // time / count
  readonly most: number; // the longest whole event that touches the interval
  readonly wait: number;
}

interface Sum {
  count: number;
  time: number;
  most: number;
  wait: number;
}

export type Grouping = "state" | "phase" | "site" | "rank";

class Sums {
  readonly byKey = new Map<number, Sum>();

  add(key: number, from: number, to: number, wait: number, t0: number, t1: number, count = 1): void {
    let sum = this.byKey.get(key);
    if (sum === undefined) this.byKey.set(key, (sum = { count: 0, time: 0, most: 0, wait: 0 }));
    sum.count += count;
    sum.time += Math.max(0, Math.min(to, t1) - Math.max(from, t0));
    sum.most = Math.max(sum.most, to - from);
    sum.wait += Math.max(0, Math.min(from + wait, t1) - Math.max(from, t0));
  }

  lines(nameOf: (key: number) => string): Line[] {
    return [...this.byKey].map(([key, sum]) => ({
      name: nameOf(key), key, ...sum, mean: sum.count > 0 ? sum.time / sum.count : 0,
    }));
  }
}

export const kCompute = 0;

// A key for a function at a place.
export function siteKey(trace: TraceData, shape: number): number {
  const { name, place } = trace.shapes[shape]!;
  return place * trace.head.names.length + name + 1;
}

export function siteName(trace: TraceData, key: number): string {
  if (key === kCompute) return "COMPUTE";
  const names = trace.head.names.length;
  const place = trace.head.places[Math.floor((key - 1) / names) - 1];
  const name = trace.head.names[(key - 1) % names]!;
  return place ? `${name} ${place}` : name;
}

// The events of the ranks that touch [t0, t1): computation before a call, and the call.
function addEvents(model: Model, rank: number, t0: number, t1: number, keyOf: (shape: number) => number, sums: Sums): void {
  const { trace } = model;
  const { enter, leave, wait, shape, count } = trace.ranks[rank]!;
  for (let i = firstAbove(leave, t0); i < count; i++) {
    const before = i > 0 ? leave[i - 1]! : 0;
    if (before >= t1) break;
    if (enter[i]! > before && enter[i]! > t0) sums.add(keyOf(-1), before, enter[i]!, 0, t0, t1);
    const what = trace.shapes[shape[i]!]!;
    if (enter[i]! < t1 && isTimedCall(what.kind))
      sums.add(keyOf(shape[i]!), enter[i]!, leave[i]!, wait[i]!, t0, t1, Math.min(what.count, 1));
  }
}

function byPhase(model: Model, t0: number, t1: number): Line[] {
  const { trace, states } = model;
  const sums = new Sums();
  const classes = new Float64Array(2 * states.count);
  trace.ranks.forEach((data, rank) => {
    for (const span of data.phases) {
      if (span.to <= t0 || span.from >= t1) continue;
      sums.add(span.name, span.from, span.to, 0, t0, t1);
      classes.fill(0);
      model.sums[rank]!.addRange(Math.max(t0, span.from), Math.min(t1, span.to), classes);
      for (let state = 0; state < states.count; state++) sums.byKey.get(span.name)!.wait += classes[states.count + state]!;
    }
  });
  return sums.lines((key) => trace.head.names[key]!);
}

// All lines of an interval, in no order.
export function statistics(model: Model, t0: number, t1: number, by: Grouping): Line[] {
  const { trace, states } = model;
  if (by === "phase") return byPhase(model, t0, t1);
  const sums = new Sums();
  const keys = trace.shapes.map((_, shape) => (by === "state" ? states.ofShape[shape]! : siteKey(trace, shape)));
  for (let rank = 0; rank < trace.ranks.length; rank++)
    addEvents(model, rank, t0, t1, by === "rank" ? () => rank : (shape) => (shape < 0 ? kCompute : keys[shape]!), sums);
  if (by === "rank") return sums.lines((rank) => `rank ${rank}`);
  return sums.lines((key) => (by === "state" ? states.names[key]! : siteName(trace, key)));
}

// The durations of events that are sums by rank: what rows are sorted by.
export interface RankMeasure {
  readonly compute: number;
  readonly calls: number;
  readonly wait: number;
}

export function rankMeasures(model: Model, t0: number, t1: number): RankMeasure[] {
  const { states } = model;
  const classes = new Float64Array(2 * states.count);
  return model.sums.map((sums) => {
    classes.fill(0);
    sums.addRange(t0, t1, classes);
    let calls = 0;
    let wait = 0;
    for (let state = 1; state < states.count; state++) calls += classes[state]! + classes[states.count + state]!;
    for (let state = 0; state < states.count; state++) wait += classes[states.count + state]!;
    return { compute: classes[0]!, calls, wait };
  });
}
