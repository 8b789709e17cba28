// The network at one moment: what each rank does, which messages are under way.
import { firstAbove, isTimedCall } from "./events";
import { messagesIn } from "./messages";
import type { Model } from "./model";
import { kIdle } from "./sums";

export interface Standing {
  readonly cls: number; // class of the palette; kIdle: not in the program
  readonly event: number; // the call, or the one that ends the computation; -1: none
}

// What a rank does at t.
export function standing(model: Model, rank: number, t: number): Standing {
  const { states, trace } = model;
  const { enter, leave, wait, shape, count } = trace.ranks[rank]!;
  const event = firstAbove(leave, t);
  if (event >= count || t < 0) return { cls: kIdle, event: -1 };
  const index = shape[event]!;
  if (t < enter[event]! || !isTimedCall(trace.shapes[index]!.kind)) return { cls: 0, event };
  const state = states.ofShape[index]!;
  return { cls: t < enter[event]! + wait[event]! ? states.count + state : state, event };
}

// The number that the rank said last, up to t, at marks of that name; null: none yet.
export function markAt(model: Model, rank: number, t: number, name: number): number | null {
  const { marks, enter, shape } = model.trace.ranks[rank]!;
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (enter[marks[middle]!.event]! > t) high = middle;
    else low = middle + 1;
  }
  for (let i = low - 1; i >= 0; i--)
    if (model.trace.shapes[shape[marks[i]!.event]!]!.name === name) return marks[i]!.value;
  return null;
}

// How many ranks do what at t, and where in the program: most ranks first.
export interface Place {
  readonly cls: number;
  readonly what: string;
  readonly ranks: number[];
}

export function standingPlaces(model: Model, t: number): Place[] {
  const { states, trace } = model;
  const found = new Map<string, Place>();
  for (let rank = 0; rank < trace.ranks.length; rank++) {
    const { cls, event } = standing(model, rank, t);
    const shape = event < 0 ? null : trace.shapes[trace.ranks[rank]!.shape[event]!]!;
    const waits = cls >= states.count;
    const place = cls === 0 || shape === null ? "" : trace.head.places[shape.place - 1] ?? "";
    const what = shape === null ? "ended" : cls === 0 ? "computing" : `${trace.head.names[shape.name]!}${waits ? " waits" : ""}${place === "" ? "" : ` at ${place}`}`;
    const known = found.get(what);
    if (known === undefined) found.set(what, { cls, what, ranks: [rank] });
    else known.ranks.push(rank);
  }
  return [...found.values()].sort((a, b) => b.ranks.length - a.ranks.length || a.ranks[0]! - b.ranks[0]!);
}

// Messages under way at t, and how far each is, 0 to 1.
export function underWay(model: Model, t: number, most: number): { message: number; far: number }[] {
  const messages = model.messages();
  return messagesIn(messages, t, t, most).slice(0, most).map((message) => {
    const [from, to] = [messages.sendTime[message]!, messages.recvTime[message]!];
    return { message, far: to > from ? Math.min(1, Math.max(0, (t - from) / (to - from))) : 1 };
  });
}

// The next moment after t (before: -1) at which the rank, or any, does something else; t
// where there is none.
export function nextChange(model: Model, t: number, direction: 1 | -1, rank: number | null): number {
  const ranks = rank === null ? model.trace.ranks : [model.trace.ranks[rank]!];
  let best = direction > 0 ? Infinity : -Infinity;
  for (const { enter, leave, wait, count } of ranks) {
    const near = firstAbove(leave, t);
    for (let i = Math.max(0, near - 2); i < Math.min(count, near + 2); i++)
      for (const change of [enter[i]!, enter[i]! + wait[i]!, leave[i]!]) {
        if (direction > 0 && change > t) best = Math.min(best, change);
        if (direction < 0 && change < t) best = Math.max(best, change);
      }
    // Many events may end at one time.
    if (direction < 0 && near > 0) {
      const before = firstAbove(leave, leave[near - 1]! - 1);
      for (const change of [enter[before]!, leave[before]!, before > 0 ? leave[before - 1]! : 0]) if (change < t) best = Math.max(best, change);
    }
  }
  return Number.isFinite(best) ? best : t;
}
