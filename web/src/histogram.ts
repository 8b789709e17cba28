// How many events last how long: bins whose limits are equal factors apart.
import { isTimedCall } from "./events";
import { collect, EventSet } from "./eventset";
import type { Model } from "./model";

export interface Histogram {
  readonly least: number; // ps, the first bin's lower limit; > 0
  readonly factor: number; // from a limit to the next
  readonly counts: Float64Array;
  readonly times: Float64Array; // total duration by bin
}

export const kBins = 60;

// The duration at a limit, 0 to kBins.
export function limitAt(histogram: Histogram, index: number): number {
  return histogram.least * histogram.factor ** index;
}

// Of the events of the set that touch [t0, t1]; those without duration are left out. Null:
// there are none.
export function histogramOf(set: EventSet, t0: number, t1: number): Histogram | null {
  const durations: number[] = [];
  set.byRank.forEach((codes, rank) => {
    for (let i = set.firstEnding(rank, t0); i < codes.length; i++) {
      const from = set.start(rank, codes[i]!);
      if (from > t1) break;
      const duration = set.stop(rank, codes[i]!) - from;
      if (duration > 0) durations.push(duration);
    }
  });
  if (durations.length === 0) return null;
  let least = Infinity;
  let most = 0;
  for (const duration of durations) {
    if (duration < least) least = duration;
    if (duration > most) most = duration;
  }
  const factor = Math.max(1.0001, (most / least) ** (1 / kBins) * (1 + 1e-9));
  const counts = new Float64Array(kBins);
  const times = new Float64Array(kBins);
  const scale = 1 / Math.log(factor);
  for (const duration of durations) {
    const bin = Math.min(kBins - 1, Math.floor(Math.log(duration / least) * scale + 1e-9));
    counts[bin]!++;
    times[bin]! += duration;
  }
  return { least, factor, counts, times };
}

// Events of a state; 0: computation.
export function eventsOfState(model: Model, state: number): EventSet {
  const { trace, states } = model;
  const wanted = trace.shapes.map((shape, i) => isTimedCall(shape.kind) && states.ofShape[i] === state);
  return collect(trace, (rank) => {
    const { shape } = trace.ranks[rank]!;
    return (event, compute) => (compute ? state === 0 : wanted[shape[event]!]!);
  });
}

// Those of the set that last from `least` to `most` and touch [t0, t1].
export function within(set: EventSet, least: number, most: number, t0: number, t1: number): EventSet {
  return new EventSet(set.trace, set.byRank.map((codes, rank) => codes.filter((code) => {
    const [from, to] = [set.start(rank, code), set.stop(rank, code)];
    return to > t0 && from <= t1 && to - from >= least && to - from <= most;
  })));
}
