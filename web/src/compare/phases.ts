// The runs phase by phase, or by state: total times side by side, with the difference.
import { statistics, type Grouping } from "../statistics";
import type { Model } from "../model";

export interface Compared {
  readonly name: string;
  readonly times: readonly number[]; // ps by run, over all ranks
  readonly waits: readonly number[];
  readonly counts: readonly number[];
  readonly difference: number; // the second run less the first
}

// Of [t0, t1) of all runs; lines by name.
export function compareRuns(models: readonly Model[], t0: number, t1: number, by: Grouping): Compared[] {
  const lines = models.map((model) => new Map(statistics(model, t0, t1, by).map((line) => [line.name, line])));
  const names = new Set(lines.flatMap((byName) => [...byName.keys()]));
  return [...names].map((name) => {
    const of = (what: "time" | "wait" | "count"): number[] => lines.map((byName) => byName.get(name)?.[what] ?? 0);
    const times = of("time");
    return { name, times, waits: of("wait"), counts: of("count"), difference: times[1]! - times[0]! };
  });
}
