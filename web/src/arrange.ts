// The order of the rows: ranks in groups, sorted by a measure, folded or hidden.
import type { Model } from "./model";
import { type Row, rankRow, Rows } from "./rows";

export interface Group {
  readonly name: string;
  readonly ranks: readonly number[]; // ascending; the first stands for all where it is folded
  readonly apart?: number; // of the time, in which its first rank does something else than that of the largest group
}

// The rows of the groups, those with the largest value first; without `valueOf` in the
// order of the ranks. A group that is folded is one row, in the place of its mean.
export function arrange(
  ranks: number, groups: readonly Group[], valueOf: ((rank: number) => number) | null,
  folded: ReadonlySet<string>, hidden: ReadonlySet<number>,
): Rows {
  const shown = groups
    .map((group) => ({ name: group.name, ranks: group.ranks.filter((rank) => !hidden.has(rank)) }))
    .filter((group) => group.ranks.length > 0);
  if (valueOf !== null) {
    const mean = new Map(shown.map((group) => [group, group.ranks.reduce((sum, rank) => sum + valueOf(rank), 0) / group.ranks.length]));
    shown.sort((a, b) => mean.get(b)! - mean.get(a)! || a.ranks[0]! - b.ranks[0]!);
  }
  const rows: Row[] = [];
  for (const group of shown) {
    if (folded.has(group.name) && group.ranks.length > 1) {
      rows.push({ ranks: group.ranks, label: `${group.ranks[0]} +${group.ranks.length - 1}` });
      continue;
    }
    const order = valueOf === null ? group.ranks : [...group.ranks].sort((a, b) => valueOf(b) - valueOf(a) || a - b);
    for (const rank of order) rows.push(rankRow(rank));
  }
  return new Rows(rows, ranks);
}

export function oneGroup(ranks: number): Group[] {
  return [{ name: "all", ranks: Array.from({ length: ranks }, (_, rank) => rank) }];
}

const kSlices = 8; // of the interval, that are compared one by one
const kLimits = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1]; // of the time: what ranks alike may differ in
const kMostGroups = 12;

// What each rank does in the slices of [t0, t1): times by class, one rank after another.
class Features {
  private readonly size: number;
  private readonly all: Float64Array;

  constructor(model: Model, t0: number, private readonly span: number) {
    const classes = 2 * model.states.count;
    const slice = span / kSlices;
    this.size = kSlices * classes;
    this.all = new Float64Array(model.sums.length * this.size);
    model.sums.forEach((sums, rank) => {
      for (let i = 0; i < kSlices; i++) {
        const at = rank * this.size + i * classes;
        sums.addRange(t0 + i * slice, t0 + (i + 1) * slice, this.all.subarray(at, at + classes));
      }
    });
  }

  // The part of the time in which two ranks do something else; no further than `enough`.
  distance(a: number, b: number, enough = Infinity): number {
    const { all, size } = this;
    const most = enough * 2 * this.span;
    let sum = 0;
    for (let i = 0; i < size && sum <= most; i++) sum += Math.abs(all[a * size + i]! - all[b * size + i]!);
    return sum / (2 * this.span);
  }
}

// Ranks that do the same in [t0, t1), within the least of some limits that makes at most
// 12 groups; a rank joins the first group whose first rank it is like. The largest group first.
export function alike(model: Model, t0: number, t1: number): Group[] {
  const features = new Features(model, t0, t1 - t0);
  let groups: number[][] = [];
  for (const limit of kLimits) {
    groups = [];
    for (let rank = 0; rank < model.sums.length && groups.length <= kMostGroups; rank++) {
      const like = groups.find((group) => features.distance(group[0]!, rank, limit) <= limit);
      if (like === undefined) groups.push([rank]);
      else like.push(rank);
    }
    if (groups.length <= kMostGroups) break;
  }
  groups.sort((a, b) => b.length - a.length || a[0]! - b[0]!);
  const usual = groups[0]![0]!;
  return groups.map((ranks, i) => ({ name: `alike ${i + 1}`, ranks, apart: features.distance(usual, ranks[0]!) }));
}

// The communicators' members as groups; a rank of several is in the first, those of none
// in a group of their own. The world is left out.
export function byCommunicator(model: Model): Group[] {
  const { ranks, head } = model.trace;
  const taken = new Uint8Array(ranks.length);
  const groups: Group[] = [];
  head.comms.forEach((comm, i) => {
    if (comm.size >= ranks.length || comm.size < 2) return;
    const own = membersOf(comm.members ?? []).filter((rank) => rank < ranks.length && !taken[rank]);
    for (const rank of own) taken[rank] = 1;
    if (own.length > 0) groups.push({ name: comm.name || `communicator ${i}`, ranks: own.sort((a, b) => a - b) });
  });
  const rest = ranks.flatMap((_, rank) => (taken[rank] ? [] : [rank]));
  return rest.length > 0 ? [...groups, { name: "no other", ranks: rest }] : groups;
}

// From [first, stride, count] each.
export function membersOf(spans: readonly (readonly number[])[]): number[] {
  return spans.flatMap(([first, stride, count]) => Array.from({ length: count! }, (_, i) => first! + i * stride!));
}

export function byNode(model: Model): Group[] {
  const { ranks, head } = model.trace;
  const groups = new Map<string, number[]>();
  ranks.forEach((_, rank) => {
    const node = head.nodes?.[rank];
    const name = node === undefined || node < 0 ? "unknown node" : `node ${node}`;
    const list = groups.get(name);
    if (list === undefined) groups.set(name, [rank]);
    else list.push(rank);
  });
  return [...groups].map(([name, list]) => ({ name, ranks: list }));
}
