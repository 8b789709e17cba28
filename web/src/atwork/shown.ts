// What of a machine is drawn: its entities, and boxes that are closed in the place of theirs.
import { kArrive, kEnter, kPass, Steps, stepsOf, type Run } from "./run";

export interface Shown {
  readonly name: string;
  readonly kind: string; // of an entity; "box": a closed one
  readonly box: number; // the closed one, or the one that the entity lies in
  readonly entities: readonly number[];
  readonly x: number;
  readonly y: number;
  readonly ranks: readonly number[];
  readonly inside: Steps; // bytes that are in it, or wait to leave it
  readonly busy: (readonly [from: number, to: number])[]; // when it sends; what touches is one
}

export interface ShownLink {
  readonly from: number; // of the shown
  readonly to: number;
  readonly busy: number; // share of the time, of the busier way
  readonly bytes: number;
}

// The outermost closed box that holds `box`; -1: it is open, as are all around it.
function closedAround(run: Run, box: number, closed: ReadonlySet<number>): number {
  let found = -1;
  for (let b = box; b > 0; b = run.data.boxes[b]![2]) if (closed.has(b)) found = b;
  return found;
}

export class Scene {
  readonly shown: readonly Shown[];
  readonly of: Int32Array; // by entity
  readonly links: readonly ShownLink[];
  readonly most: number; // of bytes in one of them

  constructor(readonly run: Run, readonly closed: ReadonlySet<number>) {
    const { entities, boxes, records, ranks } = run.data;
    this.of = new Int32Array(entities.length);
    const made: { name: string; kind: string; box: number; entities: number[]; ranks: number[] }[] = [];
    const byBox = new Map<number, number>();
    entities.forEach(([path, kind, , , , box], e) => {
      const around = closedAround(run, box, closed);
      let at = around < 0 ? undefined : byBox.get(around);
      if (at === undefined) {
        at = made.length;
        if (around >= 0) byBox.set(around, at);
        made.push(around < 0 ? { name: path, kind, box, entities: [], ranks: [] } : { name: boxes[around]![0], kind: "box", box: around, entities: [], ranks: [] });
      }
      made[at]!.entities.push(e);
      this.of[e] = at;
    });
    ranks.forEach((entity, rank) => made[this.of[entity]!]!.ranks.push(rank));

    const changes: [number, number][][] = made.map(() => []);
    const sends: [number, number][][] = made.map(() => []);
    for (const [kind, , from, to, bytes, begin, end] of records) {
      const a = this.of[from]!, b = this.of[to]!;
      if (kind === kEnter) changes[a]!.push([begin, bytes]);
      if (kind === kArrive) changes[b]!.push([end, -bytes]);
      if (kind !== kPass || a === b) continue;
      changes[a]!.push([begin, -bytes]);
      changes[b]!.push([end, bytes]);
      sends[a]!.push([begin, end]);
    }
    this.shown = made.map((one, i) => {
      const middle = (d: 2 | 3): number => one.entities.reduce((sum, e) => sum + entities[e]![d], 0) / one.entities.length;
      return { ...one, x: middle(2), y: middle(3), inside: stepsOf(changes[i]!), busy: merged(sends[i]!) };
    });
    this.most = Math.max(1, ...this.shown.map(({ inside }) => inside.most));
    this.links = this.linksOf();
  }

  private linksOf(): ShownLink[] {
    const { links, sums, from, to } = this.run.data;
    const found = new Map<string, { from: number; to: number; busy: number; bytes: number }>();
    const key = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
    for (const [a, b] of links) {
      const [x, y] = [this.of[a]!, this.of[b]!];
      if (x !== y) found.set(key(x, y), { from: Math.min(x, y), to: Math.max(x, y), busy: 0, bytes: 0 });
    }
    // What goes through a bus is told from one end to the other; it lies on both links of the bus.
    const buses = new Map<number, number>();
    for (const [a, b] of links)
      for (const [one, other] of [[a, b], [b, a]] as const)
        if (this.run.data.entities[other]![1] === "bus" || this.run.data.entities[other]![1] === "ethernet") buses.set(one, other);
    const add = (a: number, b: number, busy: number, bytes: number): void => {
      const link = found.get(key(this.of[a]!, this.of[b]!));
      if (link === undefined) return;
      link.busy = Math.max(link.busy, busy / Math.max(1, to - from));
      link.bytes += bytes;
    };
    for (const [a, b, , bytes, busy] of sums) {
      if (found.has(key(this.of[a]!, this.of[b]!))) add(a, b, busy, bytes);
      else if (buses.has(a)) {
        add(a, buses.get(a)!, busy, bytes);
        if (buses.has(b)) add(b, buses.get(b)!, busy, bytes);
      }
    }
    return [...found.values()];
  }

  // The box that can be closed around, or opened in the place of, one that is shown; -1: none.
  boxOf(at: number): number {
    const { box } = this.shown[at]!;
    return box > 0 ? box : -1;
  }
}

function merged(intervals: [number, number][]): [number, number][] {
  const all: [number, number][] = [];
  for (const [from, to] of intervals.sort((a, b) => a[0] - b[0])) {
    const last = all[all.length - 1];
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

// The share of a time in which something of the intervals is.
export function shareOf(intervals: readonly (readonly [number, number])[], from: number, to: number): number {
  let sum = 0;
  for (const [a, b] of intervals) sum += Math.max(0, Math.min(b, to) - Math.max(a, from));
  return to > from ? sum / (to - from) : 0;
}
