// How long other ranks waited because of each rank: for its message, or for it to come to a
// collective, over the whole run; ps. A call that completes several messages waits for the
// one that was sent last.
import { Kind } from "./events";
import type { Model } from "./model";

export function delaysOf(model: Model): Float64Array {
  const { ranks, shapes } = model.trace;
  const delays = new Float64Array(ranks.length);
  const messages = model.messages();
  const cause = new Map<number, number>(); // by call: the sender
  for (let i = 0; i < messages.count; i++) cause.set(messages.doneEvent[i]! * ranks.length + messages.dest[i]!, messages.source[i]!);
  for (const [call, source] of cause)
    delays[source]! += ranks[call % ranks.length]!.wait[Math.floor(call / ranks.length)]!;
  const collectives = model.collectives();
  ranks.forEach(({ count, shape, wait }, rank) => {
    const next = new Map<number, number>();
    for (let event = 0; event < count; event++) {
      const { kind, comm } = shapes[shape[event]!]!;
      if (kind !== Kind.collective && kind !== Kind.icollective) continue;
      const number = next.get(comm) ?? 0;
      next.set(comm, number + 1);
      const all = collectives.instance(comm, number);
      if (all !== null && all.rank !== rank) delays[all.rank]! += wait[event]!;
    }
  });
  return delays;
}
