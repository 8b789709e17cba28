// A set of calls and computations of a trace, that is walked in order of time: what a
// search has found, what lies between two limits, what a table's line stands for.
import type { TraceData } from "./events";
import type { EventRef } from "./model";

// An event and what is computed before it, as one number; ascending in time within a rank.
export function codeOf(event: number, compute: boolean): number {
  return 2 * event + (compute ? 0 : 1);
}

function refOf(rank: number, code: number): EventRef {
  return { rank, event: code >> 1, compute: (code & 1) === 0 };
}

export class EventSet {
  readonly count: number;

  // `byRank`: ascending codes.
  constructor(
    readonly trace: TraceData,
    readonly byRank: readonly Int32Array[],
  ) {
    this.count = byRank.reduce((sum, codes) => sum + codes.length, 0);
  }

  // When an event of the set starts and ends; ps.
  start(rank: number, code: number): number {
    const { enter, leave } = this.trace.ranks[rank]!;
    const event = code >> 1;
    if (code & 1) return enter[event]!;
    return event > 0 ? leave[event - 1]! : 0;
  }

  stop(rank: number, code: number): number {
    const { enter, leave } = this.trace.ranks[rank]!;
    return (code & 1 ? leave : enter)[code >> 1]!;
  }

  // Index of the rank's first event that starts at t or later (`after`: later).
  firstFrom(rank: number, t: number, after = false): number {
    const codes = this.byRank[rank]!;
    let low = 0;
    let high = codes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = this.start(rank, codes[middle]!);
      if (after ? start <= t : start < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Index of the rank's first event that ends later than t.
  firstEnding(rank: number, t: number): number {
    const codes = this.byRank[rank]!;
    let low = 0;
    let high = codes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.stop(rank, codes[middle]!) <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(ref: EventRef): boolean {
    return this.indexOf(ref) >= 0;
  }

  private indexOf(ref: EventRef): number {
    const codes = this.byRank[ref.rank]!;
    const code = codeOf(ref.event, ref.compute);
    let low = 0;
    let high = codes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (codes[middle]! < code) low = middle + 1;
      else high = middle;
    }
    return codes[low] === code ? low : -1;
  }

  // The event after `from` (before: -1) by start, rank and place in the rank; the set
  // is a ring. Without `from`: the first that starts at `t` or later. Null: empty.
  step(from: EventRef | null, direction: 1 | -1, t = 0): EventRef | null {
    if (this.count === 0) return null;
    return this.near(from, direction, t) ?? this.near(null, direction, direction > 0 ? -Infinity : Infinity);
  }

  private near(from: EventRef | null, direction: 1 | -1, t: number): EventRef | null {
    const at = from === null ? t : this.start(from.rank, codeOf(from.event, from.compute));
    let best: { rank: number; code: number; start: number } | null = null;
    for (let rank = 0; rank < this.byRank.length; rank++) {
      const index = this.candidate(rank, from, direction, at);
      const code = this.byRank[rank]![index];
      if (code === undefined) continue;
      const start = this.start(rank, code);
      const earlier = best === null || start < best.start;
      const later = best === null || start >= best.start;
      if (direction > 0 ? earlier : later) best = { rank, code, start };
    }
    return best === null ? null : refOf(best.rank, best.code);
  }

  private candidate(rank: number, from: EventRef | null, direction: 1 | -1, at: number): number {
    if (from === null) return direction > 0 ? this.firstFrom(rank, at) : this.firstFrom(rank, at, true) - 1;
    if (rank === from.rank) return this.beside(from, direction);
    const sameTimeIsPast = direction > 0 ? rank < from.rank : rank > from.rank;
    if (direction > 0) return this.firstFrom(rank, at, sameTimeIsPast);
    return this.firstFrom(rank, at, !sameTimeIsPast) - 1;
  }

  // The place of the event next to `ref` in its own rank; `ref` need not be in the set.
  private beside(ref: EventRef, direction: 1 | -1): number {
    const codes = this.byRank[ref.rank]!;
    const code = codeOf(ref.event, ref.compute);
    let low = 0;
    let high = codes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (direction > 0 ? codes[middle]! <= code : codes[middle]! < code) low = middle + 1;
      else high = middle;
    }
    return direction > 0 ? low : low - 1;
  }

  // The event's place in the order of step(), from 0.
  place(ref: EventRef): number {
    const at = this.start(ref.rank, codeOf(ref.event, ref.compute));
    let before = 0;
    for (let rank = 0; rank < this.byRank.length; rank++)
      before += rank === ref.rank ? this.beside(ref, -1) + 1 : this.firstFrom(rank, at, rank < ref.rank);
    return before;
  }

  // The events, rank by rank, in order of time.
  *refs(): Generator<EventRef> {
    for (let rank = 0; rank < this.byRank.length; rank++) for (const code of this.byRank[rank]!) yield refOf(rank, code);
  }
}

// All timed events for which `fits` is true; `fits` is asked per rank for a test of its events.
export function collect(trace: TraceData, testOf: (rank: number) => ((event: number, compute: boolean) => boolean) | null): EventSet {
  const byRank = trace.ranks.map((data, rank) => {
    const test = testOf(rank);
    if (test === null) return new Int32Array(0);
    const codes: number[] = [];
    for (let event = 0; event < data.count; event++) {
      const before = event > 0 ? data.leave[event - 1]! : 0;
      if (data.enter[event]! > before && test(event, true)) codes.push(codeOf(event, true));
      if (test(event, false)) codes.push(codeOf(event, false));
    }
    return Int32Array.from(codes);
  });
  return new EventSet(trace, byRank);
}
