// The events of all ranks in the order in which they end; those of a rank in its own.
import type { RankData } from "./events";

export function* inOrderOfLeaving(ranks: readonly RankData[]): Iterable<readonly [rank: number, event: number]> {
  const next = new Uint32Array(ranks.length);
  const heap = ranks.map((_, rank) => rank).filter((rank) => ranks[rank]!.count > 0);
  const time = (place: number): number => ranks[heap[place]!]!.leave[next[heap[place]!]!]!;
  const before = (a: number, b: number): boolean => time(a) < time(b) || (time(a) === time(b) && heap[a]! < heap[b]!);
  const sink = (place: number): void => {
    for (let child = 2 * place + 1; child < heap.length; child = 2 * place + 1) {
      if (child + 1 < heap.length && before(child + 1, child)) child++;
      if (!before(child, place)) return;
      [heap[place], heap[child]] = [heap[child]!, heap[place]!];
      place = child;
    }
  };
  for (let place = heap.length >> 1; place >= 0; place--) sink(place);
  while (heap.length > 0) {
    const rank = heap[0]!;
    yield [rank, next[rank]!++];
    if (next[rank]! === ranks[rank]!.count) {
      const last = heap.pop()!;
      if (heap.length === 0) return;
      heap[0] = last;
    }
    sink(0);
  }
}
