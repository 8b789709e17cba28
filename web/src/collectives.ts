// Who came last to each collective: the k-th collective of a communicator is
// that of all its members.
import { firstAbove, Kind, type TraceData } from "./events";

export interface Instance {
  first: number; // ps, when the first member came
  last: number; // when the last did
  rank: number; // that member, the lowest of several
  event: number; // its call
  members: number; // that came, as far as the trace tells
}

function isCollective(trace: TraceData, rank: number, event: number): boolean {
  const { kind } = trace.shapes[trace.ranks[rank]!.shape[event]!]!;
  return kind === Kind.collective || kind === Kind.icollective;
}

function commOf(trace: TraceData, rank: number, event: number): number {
  return trace.shapes[trace.ranks[rank]!.shape[event]!]!.comm;
}

export class Collectives {
  private readonly byComm = new Map<number, Instance[]>();
  private readonly calls: Map<number, number[]>[]; // by rank: by communicator, its events in order

  constructor(private readonly trace: TraceData) {
    this.calls = trace.ranks.map((data, rank) => {
      const own = new Map<number, number[]>();
      for (let event = 0; event < data.count; event++) {
        if (!isCollective(trace, rank, event)) continue;
        const comm = commOf(trace, rank, event);
        const events = own.get(comm) ?? [];
        own.set(comm, events);
        this.add(comm, events.length, rank, event, data.enter[event]!);
        events.push(event);
      }
      return own;
    });
  }

  private add(comm: number, number: number, rank: number, event: number, at: number): void {
    let instances = this.byComm.get(comm);
    if (instances === undefined) this.byComm.set(comm, (instances = []));
    const instance = instances[number];
    if (instance === undefined) {
      instances.push({ first: at, last: at, rank, event, members: 1 });
      return;
    }
    instance.members++;
    instance.first = Math.min(instance.first, at);
    if (at <= instance.last) return;
    instance.last = at;
    instance.rank = rank;
    instance.event = event;
  }

  // The k-th collective of a communicator, from 0.
  instance(comm: number, number: number): Instance | null {
    return this.byComm.get(comm)?.[number] ?? null;
  }

  // The collective that an event belongs to; null for other events.
  of(rank: number, event: number): Instance | null {
    if (this.byComm.size === 0 || !isCollective(this.trace, rank, event)) return null;
    return this.instance(commOf(this.trace, rank, event), this.number(rank, event));
  }

  // The how manieth of its communicator a rank's collective is, from 0.
  number(rank: number, event: number): number {
    return firstAbove(this.calls[rank]!.get(commOf(this.trace, rank, event))!, event) - 1;
  }

  // A rank's call of the k-th collective of a communicator; -1: it made none.
  call(comm: number, number: number, rank: number): number {
    return this.calls[rank]!.get(comm)?.[number] ?? -1;
  }
}
