// Two runs of one program, event by event: the k-th call of a function in a phase of a
// rank of one run is that of the other. The lag of the second run at a call is how much
// later it leaves it.
import { firstAbove, isTimedCall, type RankData, type TraceData } from "../events";
import type { EventRef } from "../model";

export interface RankMatch {
  readonly a: Int32Array; // events of the first run, ascending
  readonly b: Int32Array; // those of the second
  readonly at: Float64Array; // when the first run leaves them; ps
  readonly lag: Float64Array; // ps, positive: the second run is later
}

export interface Match {
  readonly ranks: readonly RankMatch[]; // those that both runs have
  readonly matched: number;
  readonly onlyA: number; // calls without a partner, ranks that only one run has included
  readonly onlyB: number;
}

// Numbers for names that two traces share.
class Names {
  private readonly numbers = new Map<string, number>();
  of(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) this.numbers.set(name, (number = this.numbers.size));
    return number;
  }
}

const kMost = 1 << 24; // functions

// The key of each timed call: function and phases it lies in. -1: no timed call.
function keysOf(trace: TraceData, data: RankData, functions: Names, paths: Names): Float64Array {
  const keys = new Float64Array(data.count).fill(-1);
  const byShape = trace.shapes.map((shape) => (isTimedCall(shape.kind) ? functions.of(trace.head.names[shape.name]!) : -1));
  const open: { name: string; to: number }[] = [];
  let next = 0;
  let path = paths.of("");
  for (let i = 0; i < data.count; i++) {
    const t = data.enter[i]!;
    let changed = false;
    for (; next < data.phases.length && data.phases[next]!.from <= t; next++) {
      open.push({ name: trace.head.names[data.phases[next]!.name]!, to: data.phases[next]!.to });
      changed = true;
    }
    if (open.some((phase) => phase.to <= t)) {
      open.splice(0, open.length, ...open.filter((phase) => phase.to > t));
      changed = true;
    }
    if (changed) path = paths.of(open.map((phase) => phase.name).join("\n"));
    const name = byShape[data.shape[i]!]!;
    if (name >= 0) keys[i] = path * kMost + name;
  }
  return keys;
}

function matchRank(a: RankData, b: RankData, keysA: Float64Array, keysB: Float64Array): RankMatch {
  const waiting = new Map<number, number[]>(); // events of b by key
  keysB.forEach((key, event) => {
    if (key < 0) return;
    const list = waiting.get(key);
    if (list === undefined) waiting.set(key, [event]);
    else list.push(event);
  });
  const taken = new Map<number, number>();
  const [fromA, fromB]: [number[], number[]] = [[], []];
  keysA.forEach((key, event) => {
    const k = taken.get(key) ?? 0;
    const partner = key < 0 ? undefined : waiting.get(key)?.[k];
    if (partner === undefined) return;
    taken.set(key, k + 1);
    fromA.push(event);
    fromB.push(partner);
  });
  const at = Float64Array.from(fromA, (event) => a.leave[event]!);
  const lag = Float64Array.from(fromB, (event, i) => b.leave[event]! - at[i]!);
  return { a: Int32Array.from(fromA), b: Int32Array.from(fromB), at, lag };
}

function callsOf(trace: TraceData): number {
  const timed = trace.shapes.map((shape) => isTimedCall(shape.kind));
  let calls = 0;
  for (const { shape, count } of trace.ranks) for (let i = 0; i < count; i++) if (timed[shape[i]!]) calls++;
  return calls;
}

export function matchRuns(a: TraceData, b: TraceData): Match {
  const functions = new Names();
  const paths = new Names();
  const both = Math.min(a.ranks.length, b.ranks.length);
  const ranks = Array.from({ length: both }, (_, rank) => matchRank(
    a.ranks[rank]!, b.ranks[rank]!,
    keysOf(a, a.ranks[rank]!, functions, paths), keysOf(b, b.ranks[rank]!, functions, paths)));
  const matched = ranks.reduce((sum, rank) => sum + rank.a.length, 0);
  return { ranks, matched, onlyA: callsOf(a) - matched, onlyB: callsOf(b) - matched };
}

// The event of the other run that a call, or the computation before it, is matched with.
export function partnerOf(match: Match, ref: EventRef, ofFirst: boolean): EventRef | null {
  const rank = match.ranks[ref.rank];
  if (rank === undefined) return null;
  const index = (ofFirst ? rank.a : rank.b).indexOf(ref.event);
  return index < 0 ? null : { rank: ref.rank, event: (ofFirst ? rank.b : rank.a)[index]!, compute: ref.compute };
}

// How far the second run of a rank is behind when the first is at t: at the last call that
// both have left. 0 before the first.
export function lagAt(rank: RankMatch, t: number): number {
  const i = firstAbove(rank.at, t) - 1;
  return i < 0 ? 0 : rank.lag[i]!;
}

export interface LagColumns {
  readonly least: Float64Array;
  readonly mean: Float64Array;
  readonly most: Float64Array;
}

// The lags over all ranks at the end of each of `width` columns from t0 on.
export function lagColumns(match: Match, t0: number, dt: number, width: number): LagColumns {
  const least = new Float64Array(width).fill(Infinity);
  const most = new Float64Array(width).fill(-Infinity);
  const mean = new Float64Array(width);
  for (const rank of match.ranks) {
    let i = firstAbove(rank.at, t0);
    for (let x = 0; x < width; x++) {
      const t = t0 + (x + 1) * dt;
      while (i < rank.at.length && rank.at[i]! <= t) i++;
      const lag = i === 0 ? 0 : rank.lag[i - 1]!;
      if (lag < least[x]!) least[x] = lag;
      if (lag > most[x]!) most[x] = lag;
      mean[x]! += lag / match.ranks.length;
    }
  }
  return { least, mean, most };
}
