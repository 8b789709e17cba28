// From one event to another: the partner of a message, the next long wait, the last to
// come to a collective, the neighbours in a rank.
import { isTimedCall, type TraceData } from "./events";
import { codeOf } from "./eventset";
import type { Messages } from "./messages";
import { messagesOf } from "./messages";
import type { EventRef, Model } from "./model";

const call = (rank: number, event: number): EventRef => ({ rank, event, compute: false });

// The other ends of an event's messages: for a send the call that completed the receive,
// for a receive or a wait the send; in order of time.
export function partners(messages: Messages, ref: EventRef): EventRef[] {
  if (ref.compute) return [];
  return messagesOf(messages, ref.rank, ref.event).map((i) =>
    messages.source[i] === ref.rank && messages.sendEvent[i] === ref.event
      ? call(messages.dest[i]!, messages.doneEvent[i]!)
      : call(messages.source[i]!, messages.sendEvent[i]!));
}

// The waits that touch [t0, t1], the longest first; at most `limit`.
export function longestWaits(trace: TraceData, t0: number, t1: number, limit: number): EventRef[] {
  let best: { ref: EventRef; wait: number }[] = [];
  let least = 0;
  const keep = (): void => {
    best.sort((a, b) => b.wait - a.wait || a.ref.rank - b.ref.rank || a.ref.event - b.ref.event);
    best = best.slice(0, limit);
    if (best.length === limit) least = best[limit - 1]!.wait;
  };
  trace.ranks.forEach((data, rank) => {
    for (let event = 0; event < data.count; event++) {
      const wait = data.wait[event]!;
      if (wait <= least || data.leave[event]! < t0 || data.enter[event]! > t1) continue;
      best.push({ ref: call(rank, event), wait });
      if (best.length >= 2 * limit) keep();
    }
  });
  keep();
  return best.map(({ ref }) => ref);
}

// The call with which the last rank came to the collective of `ref`; null: none.
export function lastToCome(model: Model, ref: EventRef): EventRef | null {
  if (ref.compute) return null;
  const all = model.collectives().of(ref.rank, ref.event);
  return all === null || all.members < 2 ? null : call(all.rank, all.event);
}

// The next timed call or computation of the rank, or the one before.
export function neighbour(trace: TraceData, ref: EventRef, direction: 1 | -1): EventRef {
  const data = trace.ranks[ref.rank]!;
  let code = codeOf(ref.event, ref.compute) + direction;
  for (; code >= 0 && code < 2 * data.count; code += direction) {
    const event = code >> 1;
    const compute = (code & 1) === 0;
    const before = event > 0 ? data.leave[event - 1]! : 0;
    if (compute ? data.enter[event]! > before : isTimedCall(trace.shapes[data.shape[event]!]!.kind))
      return { rank: ref.rank, event, compute };
  }
  return ref;
}
