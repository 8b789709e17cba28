// Where time is lost, and to whom: ranks that send or receive late, phases in which some ranks
// compute more than the others, messages between two ranks that travel slower than others of
// their size.
//
// What a receiver waits for is told by its message. What all wait for in a collective is told by
// what the last to come did since its collective before: what it did more of than the others did
// there on average shares the waiting. Times of ranks are added up: half of the ranks waiting for
// 2 ms in 4 ms are a loss of 25 %.
import { type Instance } from "./collectives";
import { Kind, type TraceData } from "./events";
import type { EventRef, Model } from "./model";

export type LossKind = "late send" | "late receive" | "uneven" | "slow messages";

export interface Loss {
  readonly kind: LossKind;
  readonly lost: number; // ps, over all ranks
  readonly ranks: readonly number[]; // that cause it, ascending; of slow messages: from, to
  readonly others: readonly number[]; // of late sends and receives: those that wait directly
  readonly phase: string; // "": in none
  readonly ratio: number; // uneven: of their computation to the others'; slow: of the times to the usual
  readonly usual: number; // slow: the time that a message usually takes; ps
  readonly worst: EventRef; // an example
}

const kSlow = 2; // a message is slow that takes longer than this times what is usual for its size
export const kLeast = 0.005; // of the time of all ranks; less is not told

interface Sum {
  kind: LossKind;
  lost: number;
  source: number; // rank that causes it; -1: several do
  dest: number;
  phase: string;
  by: Map<number, number>; // uneven: losses by the last rank
  waits: Map<number, number>; // by the rank that waited directly
  most: number;
  worst: EventRef | null;
}

// What a rank did since its collective before, in some way that others could wait for.
interface Part {
  kind: LossKind;
  source: number;
  dest: number;
  phase: string;
  time: number;
  most: number;
  worst: EventRef;
}

// Since the collective before, by key.
type Parts = Map<string, Part>;

interface Meeting {
  readonly instance: Instance;
  waited: number;
  members: number;
  readonly computed: Map<string, number>; // by all members, by key
  last: Parts | null; // of the last to come
}

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  return values[values.length >> 1] ?? 0;
}

const call = (rank: number, event: number): EventRef => ({ rank, event, compute: false });

// Which message a call waited for: by rank and call, the one that was sent last.
function causes(model: Model): Map<number, number> {
  const messages = model.messages();
  const ranks = model.trace.ranks.length;
  const found = new Map<number, number>();
  for (let i = 0; i < messages.count; i++) found.set(messages.doneEvent[i]! * ranks + messages.dest[i]!, i); // in order of sending
  return found;
}

function bytesOf(trace: TraceData, rank: number, event: number): number {
  return trace.shapes[trace.ranks[rank]!.shape[event]!]!.sendBytes;
}

class Search {
  private readonly sums = new Map<string, Sum>();
  private readonly cause: Map<number, number>;
  private readonly sendOf = new Map<number, number>(); // by rank and call that sent: a message
  private readonly usual = new Map<number, number>(); // by bytes: how long a message takes once both are there
  private readonly computed = new Map<string, Float64Array>(); // by phase and rank
  private readonly meetings = new Map<Instance, Meeting>();

  constructor(private readonly model: Model) {
    this.cause = causes(model);
    const messages = model.messages();
    const ranks = model.trace.ranks.length;
    for (let i = 0; i < messages.count; i++) this.sendOf.set(messages.sendEvent[i]! * ranks + messages.source[i]!, i);
    this.findUsual();
  }

  run(): Loss[] {
    this.model.trace.ranks.forEach((_, rank) => this.walk(rank));
    for (const meeting of this.meetings.values()) this.share(meeting);
    const least = kLeast * this.model.trace.end * this.model.trace.ranks.length;
    return [...this.sums.values()].filter((sum) => sum.lost > least && sum.worst !== null)
      .sort((a, b) => b.lost - a.lost).map((sum) => this.lossOf(sum));
  }

  // From when both sides were there to the end of the call.
  private travel(message: number): number {
    const { sendTime, recvTime, dest, doneEvent } = this.model.messages();
    return recvTime[message]! - Math.max(sendTime[message]!, this.model.trace.ranks[dest[message]!]!.enter[doneEvent[message]!]!);
  }

  private findUsual(): void {
    const { trace } = this.model;
    const { source, sendEvent, dest, doneEvent } = this.model.messages();
    const times = new Map<number, number[]>();
    for (const message of this.cause.values()) {
      if (trace.ranks[dest[message]!]!.wait[doneEvent[message]!]! <= 0) continue;
      const bytes = bytesOf(trace, source[message]!, sendEvent[message]!);
      const list = times.get(bytes);
      if (list === undefined) times.set(bytes, [this.travel(message)]);
      else list.push(this.travel(message));
    }
    for (const [bytes, list] of times) this.usual.set(bytes, median(list));
  }

  private walk(rank: number): void {
    const { trace } = this.model;
    const { shape, enter, leave, wait, count } = trace.ranks[rank]!;
    const open: number[] = [];
    const next = new Map<number, number>();
    let parts: Parts = new Map();
    for (let event = 0; event < count; event++) {
      const { kind, name, comm } = trace.shapes[shape[event]!]!;
      const phase = open.length > 0 ? trace.head.names[open[open.length - 1]!]! : "";
      const gap = enter[event]! - (event > 0 ? leave[event - 1]! : 0);
      if (gap > 0) this.compute(parts, rank, event, phase, gap);
      if (kind === Kind.phaseBegin) open.push(name);
      else if (kind === Kind.phaseEnd) open.splice(Math.max(0, open.lastIndexOf(name)), 1);
      else if (kind === Kind.collective) {
        const number = next.get(comm) ?? 0;
        next.set(comm, number + 1);
        this.meet(this.model.collectives().instance(comm, number), rank, event, parts);
        parts = new Map();
      } else if (kind === Kind.icollective) next.set(comm, (next.get(comm) ?? 0) + 1);
      else if (wait[event]! > 0) this.waits(parts, rank, event, phase);
    }
  }

  private compute(parts: Parts, rank: number, event: number, phase: string, time: number): void {
    let all = this.computed.get(phase);
    if (all === undefined) this.computed.set(phase, (all = new Float64Array(this.model.trace.ranks.length)));
    all[rank]! += time;
    addPart(parts, `compute ${phase}`, { kind: "uneven", source: -1, dest: -1, phase, time, most: time, worst: { rank, event, compute: true } });
  }

  // A call that waited for one partner.
  private waits(parts: Parts, rank: number, event: number, phase: string): void {
    const { trace } = this.model;
    const { enter, leave, wait } = trace.ranks[rank]!;
    const messages = this.model.messages();
    const ranks = trace.ranks.length;
    const add = (kind: LossKind, source: number, dest: number, time: number): void => {
      if (time <= 0) return;
      const part = { kind, source, dest, phase, time, most: time, worst: call(rank, event) };
      addPart(parts, `${kind} ${source} ${kind === "slow messages" ? dest : ""} ${phase}`, part);
      this.lose(part, time, time, rank);
    };
    const message = this.cause.get(event * ranks + rank);
    if (message !== undefined) {
      const source = messages.source[message]!;
      const whole = leave[event]! - enter[event]!;
      add("late send", source, rank, Math.min(wait[event]!, whole, messages.sendTime[message]! - enter[event]!));
      const usual = this.usual.get(bytesOf(trace, source, messages.sendEvent[message]!)) ?? Infinity;
      const travel = this.travel(message);
      if (travel > kSlow * usual) add("slow messages", source, rank, travel - usual);
      return;
    }
    const sent = this.sendOf.get(event * ranks + rank);
    if (sent === undefined) return;
    const dest = messages.dest[sent]!;
    add("late receive", dest, rank, Math.min(wait[event]!, trace.ranks[dest]!.enter[messages.recvEvent[sent]!]! - enter[event]!));
  }

  private meet(instance: Instance | null, rank: number, event: number, parts: Parts): void {
    if (instance === null || instance.members < 2) return;
    let meeting = this.meetings.get(instance);
    if (meeting === undefined) this.meetings.set(instance, (meeting = { instance, waited: 0, members: 0, computed: new Map(), last: null }));
    meeting.members++;
    if (instance.rank === rank && instance.event === event) meeting.last = parts;
    else meeting.waited += this.model.trace.ranks[rank]!.wait[event]!;
    for (const [key, part] of parts) if (part.kind === "uneven") meeting.computed.set(key, (meeting.computed.get(key) ?? 0) + part.time);
  }

  // What was waited in a collective goes to what made the last one late.
  private share({ instance, waited, members, computed, last }: Meeting): void {
    if (waited <= 0 || last === null) return;
    const more: { part: Part; excess: number }[] = [];
    for (const [key, part] of last) {
      const others = ((computed.get(key) ?? 0) - part.time) / (members - 1);
      const excess = part.kind === "uneven" ? part.time - others : part.time;
      if (excess > 0) more.push({ part, excess });
    }
    const all = more.reduce((sum, { excess }) => sum + excess, 0);
    for (const { part, excess } of more) this.lose(part, (waited * excess) / all, excess, -1, instance.rank);
  }

  // `weight`: by which the worst example is chosen; `direct`: the rank that waited for a partner.
  private lose(part: Part, time: number, weight: number, direct: number, last = -1): void {
    const key = `${part.kind} ${part.source} ${part.kind === "slow messages" ? part.dest : ""} ${part.phase}`;
    let sum = this.sums.get(key);
    if (sum === undefined) {
      const { kind, source, dest, phase } = part;
      this.sums.set(key, (sum = { kind, lost: 0, source, dest, phase, by: new Map(), waits: new Map(), most: 0, worst: null }));
    }
    sum.lost += time;
    if (direct >= 0) sum.waits.set(direct, (sum.waits.get(direct) ?? 0) + time);
    if (last >= 0) sum.by.set(last, (sum.by.get(last) ?? 0) + time);
    if (weight > sum.most) [sum.most, sum.worst] = [weight, part.worst];
  }

  private lossOf(sum: Sum): Loss {
    const { kind, lost, phase } = sum;
    const base = { kind, lost, phase, worst: sum.worst!, others: [...sum.waits.keys()].sort((a, b) => a - b), ratio: 1, usual: 0 };
    if (kind === "uneven") return { ...base, ...this.heaviest(phase) };
    if (kind !== "slow messages") return { ...base, ranks: [sum.source] };
    const { source, sendEvent, doneEvent, dest } = this.model.messages();
    const times: number[] = [];
    let usual = 0;
    for (const message of this.cause.values()) {
      if (source[message] !== sum.source || dest[message] !== sum.dest) continue;
      const ordinary = this.usual.get(bytesOf(this.model.trace, source[message]!, sendEvent[message]!)) ?? Infinity;
      if (this.travel(message) <= kSlow * ordinary) continue;
      times.push(this.travel(message) / ordinary);
      if (sum.worst!.event === doneEvent[message]) usual = ordinary;
    }
    return { ...base, ranks: [sum.source, sum.dest], ratio: median(times), usual };
  }

  // The ranks that compute most in a phase, and how many times as much as the others.
  private heaviest(phase: string): { ranks: number[]; ratio: number } {
    const times = this.computed.get(phase)!;
    const most = times.reduce((a, b) => Math.max(a, b), 0);
    const middle = (most + median([...times])) / 2;
    const mean = (ranks: number[]): number => ranks.reduce((sum, rank) => sum + times[rank]!, 0) / Math.max(1, ranks.length);
    const all = [...times.keys()];
    const ranks = all.filter((rank) => times[rank]! > middle);
    const others = mean(all.filter((rank) => times[rank]! <= middle));
    return { ranks, ratio: ranks.length > 0 && others > 0 ? mean(ranks) / others : 1 };
  }
}

function addPart(parts: Parts, key: string, part: Part): void {
  const known = parts.get(key);
  if (known === undefined) parts.set(key, part);
  else {
    known.time += part.time;
    if (part.most > known.most) [known.most, known.worst] = [part.most, part.worst];
  }
}

// The part of the time of all ranks that lies after a rank's end: others still work then.
export function endedShare({ ranks, end }: TraceData): number {
  return ranks.reduce((sum, rank) => sum + end - rank.end, 0) / (end * ranks.length);
}

// The greatest first.
export function lossesOf(model: Model): Loss[] {
  return new Search(model).run();
}
