// Who came last to each collective: the k-th collective of a communicator is
// that of all its members.
import { Kind, type TraceData } from "./events";

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

  constructor(private readonly trace: TraceData) {
    trace.ranks.forEach((data, rank) => {
      const next = new Map<number, number>();
      for (let event = 0; event < data.count; event++) {
        if (!isCollective(trace, rank, event)) continue;
        const comm = commOf(trace, rank, event);
        const number = next.get(comm) ?? 0;
        next.set(comm, number + 1);
        this.add(comm, number, rank, event, data.enter[event]!);
      }
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
    const comm = commOf(this.trace, rank, event);
    let number = 0;
    for (let before = 0; before < event; before++)
      if (isCollective(this.trace, rank, before) && commOf(this.trace, rank, before) === comm) number++;
    return this.instance(comm, number);
  }
}
