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

// Where ranks are drawn, in a square of side 1.
export type Places = readonly (readonly [x: number, y: number])[];

// Clockwise, rank 0 on top.
export function ring(ranks: number): Places {
  return Array.from({ length: ranks }, (_, rank) => {
    const angle = (2 * Math.PI * rank) / ranks - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)] as const;
  });
}

// Line by line, as near to a square as the number allows.
export function grid(ranks: number): Places {
  let columns = Math.ceil(Math.sqrt(ranks));
  for (let width = columns; width <= 2 * columns; width++)
    if (ranks % width === 0) {
      columns = width;
      break;
    }
  const lines = Math.ceil(ranks / columns);
  const side = Math.max(columns, lines);
  return Array.from({ length: ranks }, (_, rank) => [
    ((rank % columns) + 0.5) / side, (Math.floor(rank / columns) + 0.5 + (side - lines) / 2) / side,
  ] as const);
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
