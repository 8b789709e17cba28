// Where time is lost, and to whom: ranks that send or receive late, phases in which some ranks
// compute more than the others, messages that travel slower than others of their size.
//
// A wait goes to what made the other side late. Since the two last met, the late one did more of
// something than the one that waits: it computed longer, or waited longer itself. What it waited
// for has its causes, too, so what one rank does late is told once, however far the delay went.
// What all wait for in a collective goes likewise to what the last to come did more of than the
// others did on average since its collective before. Times of ranks are added up: half of the
// ranks waiting for 2 ms in 4 ms are a loss of 25 %.
import { Collectives, type Instance } from "./collectives";
import { Kind, type TraceData } from "./events";
import { History } from "./history";
import { inOrderOfLeaving } from "./leaving";
import type { Messages } from "./messages";
import type { EventRef, Model } from "./model";
import { type SlowPair, slowWays } from "./slowways";

export type LossKind = "late send" | "late receive" | "other calls" | "uneven" | "slow messages";

export interface Loss {
  readonly kind: LossKind;
  readonly lost: number; // ps, over all ranks
  readonly ranks: readonly number[]; // that cause it, ascending; of slow messages between two: from, to
  readonly others: readonly number[]; // of late sends and receives: those that wait directly
  readonly further: number; // of late sends and receives: ranks that wait because of that
  readonly phase: string; // "": in none
  readonly ratio: number; // uneven: of their computation to the others'; slow: of the times to the usual
  readonly usual: number; // slow: the time that a message usually takes; ps
  readonly link: string; // slow: the link that all their ways have; "": not known
  readonly pairs: number; // slow: of ranks
  readonly worst: EventRef; // an example
}

const kSlow = 2; // a message is slow that takes longer than this times what is usual for its size
export const kLeast = 0.005; // of the time of all ranks; less is not told

interface Cause {
  readonly kind: LossKind;
  readonly source: number; // rank that causes it; -1: several do
  readonly dest: number; // of slow messages
  readonly phase: string;
  lost: number;
  readonly waits: Set<number>; // ranks that waited directly
  readonly losers: Set<number>; // ranks that waited
  most: number;
  worst: EventRef | null;
}

// What a rank waited for: causes, and how much is due to each.
type Shares = (readonly [cause: number, time: number])[];

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  return values[values.length >> 1] ?? 0;
}

function bytesOf(trace: TraceData, rank: number, event: number): number {
  return trace.shapes[trace.ranks[rank]!.shape[event]!]!.sendBytes;
}

// The messages by the calls that completed and that sent them.
class Meetings {
  readonly cause = new Map<number, number>(); // by call: the message that was sent last
  private readonly before: Int32Array; // of a message: the one that the same call completed, -1: none
  private readonly sent = new Map<number, number>(); // by call that sent: a message

  constructor(messages: Messages, private readonly ranks: number) {
    this.before = new Int32Array(messages.count).fill(-1);
    for (let i = 0; i < messages.count; i++) {
      const done = messages.doneEvent[i]! * ranks + messages.dest[i]!;
      this.before[i] = this.cause.get(done) ?? -1;
      this.cause.set(done, i); // in order of sending
      this.sent.set(messages.sendEvent[i]! * ranks + messages.source[i]!, i);
    }
  }

  received(rank: number, event: number): number | undefined {
    return this.cause.get(event * this.ranks + rank);
  }

  sentBy(rank: number, event: number): number | undefined {
    return this.sent.get(event * this.ranks + rank);
  }

  // All that a call completed.
  *all(rank: number, event: number): Iterable<number> {
    for (let i = this.received(rank, event) ?? -1; i >= 0; i = this.before[i]!) yield i;
  }
}

interface Member {
  readonly rank: number;
  readonly event: number;
  readonly nth: number; // collective of its rank
}

// What is known of a rank as far as the search has come.
interface State {
  readonly history: History;
  readonly open: number[]; // phases
  readonly starts: number[]; // by collective: pieces of its history before
  met: number; // when its last collective ended; ps
}

class Search {
  private readonly causes: Cause[] = [];
  private readonly known = new Map<string, number>();
  private readonly meetings: Meetings;
  private readonly usual = new Map<number, number>(); // by bytes: how long a message takes once both are there
  private readonly computed = new Map<string, Float64Array>(); // by phase and rank
  private readonly states: State[];
  private readonly members = new Map<Instance, Member[]>();
  private readonly instances = new Map<number, Instance>(); // by rank and call
  private readonly shared = new Map<Instance, Shares>(); // of a unit of waiting
  private readonly met = new Map<number, number>(); // when a rank last had something from another; ps

  constructor(private readonly model: Model) {
    const { ranks } = model.trace;
    this.meetings = new Meetings(model.messages(), ranks.length);
    this.states = ranks.map(() => ({ history: new History(), open: [], starts: [0], met: 0 }));
    this.findUsual();
    this.gather(model.collectives());
  }

  run(): Loss[] {
    const { trace } = this.model;
    trace.ranks.forEach((_, rank) => this.compute(rank, -1));
    for (const [rank, event] of inOrderOfLeaving(trace.ranks)) this.take(rank, event);
    const least = kLeast * trace.end * trace.ranks.length;
    const slow = slowWays(this.slowPairs(), trace.head.network, this.model.messages());
    return [...this.causes.filter(({ kind, worst }) => kind !== "slow messages" && worst !== null).map((cause) => this.lossOf(cause)), ...slow]
      .filter(({ lost }) => lost > least).sort((a, b) => b.lost - a.lost);
  }

  private cause(kind: LossKind, source: number, dest: number, phase: string): number {
    const key = `${kind} ${source} ${dest} ${phase}`;
    let index = this.known.get(key);
    if (index === undefined) {
      index = this.causes.push({ kind, source, dest, phase, lost: 0, waits: new Set(), losers: new Set(), most: 0, worst: null }) - 1;
      this.known.set(key, index);
    }
    return index;
  }

  // Which calls belong together.
  private gather(collectives: Collectives): void {
    const { trace } = this.model;
    trace.ranks.forEach(({ shape, count }, rank) => {
      const next = new Map<number, number>();
      for (let event = 0, nth = 0; event < count; event++) {
        const { kind, comm } = trace.shapes[shape[event]!]!;
        if (kind !== Kind.collective && kind !== Kind.icollective) continue;
        const number = next.get(comm) ?? 0;
        next.set(comm, number + 1);
        if (kind === Kind.icollective) continue;
        const member = { rank, event, nth: nth++ };
        const instance = collectives.instance(comm, number);
        if (instance === null || instance.members < 2) continue;
        this.instances.set(event * trace.ranks.length + rank, instance);
        const list = this.members.get(instance);
        if (list === undefined) this.members.set(instance, [member]);
        else list.push(member);
      }
    });
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
    for (const message of this.meetings.cause.values()) {
      if (trace.ranks[dest[message]!]!.wait[doneEvent[message]!]! <= 0) continue;
      const bytes = bytesOf(trace, source[message]!, sendEvent[message]!);
      const list = times.get(bytes);
      if (list === undefined) times.set(bytes, [this.travel(message)]);
      else list.push(this.travel(message));
    }
    for (const [bytes, list] of times) this.usual.set(bytes, median(list));
  }

  private phaseOf(rank: number): string {
    const { open } = this.states[rank]!;
    return open.length > 0 ? this.model.trace.head.names[open[open.length - 1]!]! : "";
  }

  // The computation after an event.
  private compute(rank: number, event: number): void {
    const { enter, leave, count } = this.model.trace.ranks[rank]!;
    const [from, to] = [event < 0 ? 0 : leave[event]!, event + 1 < count ? enter[event + 1]! : 0];
    if (to <= from) return;
    const phase = this.phaseOf(rank);
    let all = this.computed.get(phase);
    if (all === undefined) this.computed.set(phase, (all = new Float64Array(this.model.trace.ranks.length)));
    all[rank]! += to - from;
    this.states[rank]!.history.add(this.cause("uneven", -1, -1, phase), from, to, to - from, event + 1);
  }

  private take(rank: number, event: number): void {
    const { trace } = this.model;
    const { shape, enter, leave, wait } = trace.ranks[rank]!;
    const state = this.states[rank]!;
    const { kind, name } = trace.shapes[shape[event]!]!;
    if (kind === Kind.phaseBegin) state.open.push(name);
    else if (kind === Kind.phaseEnd) state.open.splice(Math.max(0, state.open.lastIndexOf(name)), 1);
    else if (kind === Kind.collective) {
      const instance = this.instances.get(event * trace.ranks.length + rank);
      if (instance !== undefined && instance.rank !== rank && wait[event]! > 0) this.waited(rank, this.sharesOf(instance).map(([cause, part]) => [cause, part * wait[event]!]));
      state.starts.push(state.history.length);
      state.met = leave[event]!;
    } else {
      const shares = wait[event]! > 0 ? this.partnersShares(rank, event) : [];
      this.waited(rank, shares);
      for (const [cause, time] of shares) state.history.add(cause, enter[event]!, leave[event]!, time, event);
      const messages = this.model.messages();
      for (const message of this.meetings.all(rank, event)) this.met.set(this.way(messages.source[message]!, rank), leave[event]!);
      const sent = wait[event]! > 0 ? this.meetings.sentBy(rank, event) : undefined;
      if (sent !== undefined) this.met.set(this.way(messages.dest[sent]!, rank), leave[event]!);
    }
    this.compute(rank, event);
  }

  private way(from: number, to: number): number {
    return from * this.states.length + to;
  }

  private waited(rank: number, shares: Shares): void {
    for (const [index, time] of shares) {
      const cause = this.causes[index]!;
      cause.lost += time;
      cause.losers.add(rank);
    }
  }

  // Whom a call that waits for one partner waits for, and for what in the end.
  private partnersShares(rank: number, event: number): Shares {
    const { trace } = this.model;
    const { enter, leave, wait } = trace.ranks[rank]!;
    const messages = this.model.messages();
    const most = Math.min(wait[event]!, leave[event]! - enter[event]!);
    const message = this.meetings.received(rank, event);
    if (message !== undefined) {
      const source = messages.source[message]!;
      const sent = messages.sendTime[message]!;
      const shares = this.lateness("late send", source, sent, rank, event, Math.min(most, sent - enter[event]!));
      const usual = this.usual.get(bytesOf(trace, source, messages.sendEvent[message]!)) ?? Infinity;
      const travel = this.travel(message);
      // In a predicted run a wait has the message's way; the rest of the call is its own work.
      const late = Math.max(0, sent - enter[event]!);
      const slower = trace.head.clock === "virtual" ? Math.min(travel - usual, wait[event]! - late) : travel - usual;
      if (travel <= kSlow * usual || slower <= 0) return shares;
      const slow = this.cause("slow messages", source, rank, this.phaseOf(rank));
      this.example(slow, slower, { rank, event, compute: false });
      return [...shares, [slow, slower]];
    }
    const sent = this.meetings.sentBy(rank, event);
    if (sent === undefined) return [];
    const dest = messages.dest[sent]!;
    const posted = trace.ranks[dest]!.enter[messages.recvEvent[sent]!]!;
    return this.lateness("late receive", dest, posted, rank, event, Math.min(most, posted - enter[event]!));
  }

  // Why `late` came at `came` only, for which a call of `rank` waited for `time`.
  private lateness(kind: "late send" | "late receive", late: number, came: number, rank: number, event: number, time: number): Shares {
    if (time <= 0) return [];
    const [of, by] = [this.states[late]!, this.states[rank]!];
    const since = Math.max(this.met.get(this.way(late, rank)) ?? 0, Math.min(of.met, by.met));
    const enter = this.model.trace.ranks[rank]!.enter[event]!;
    const did = of.history.sums(since, came);
    const others = by.history.sums(since, enter);
    const phase = this.phaseOf(rank);
    // What it computed where it should have come is its own; what neither computed nor waited, it
    // was in other calls.
    let rest = came - enter;
    let itself = 0;
    const more: [cause: number, excess: number][] = [];
    for (const [index, { time: spent, most, event: at }] of did) {
      const excess = spent - (others.get(index)?.time ?? 0);
      rest -= excess;
      if (excess <= 0) continue;
      if (this.causes[index]!.kind === "uneven" && this.causes[index]!.phase === phase) itself += excess;
      else {
        more.push([index, excess]);
        if (this.causes[index]!.kind === "uneven") this.example(index, most, { rank: late, event: at, compute: true });
      }
    }
    for (const [index, { time: spent }] of others) if (!did.has(index)) rest += spent;
    const own = (kind: LossKind, excess: number): void => {
      if (excess <= 0) return;
      const index = this.cause(kind, late, -1, phase);
      this.causes[index]!.waits.add(rank);
      this.example(index, excess, { rank, event, compute: false });
      more.push([index, excess]);
    };
    own(kind, itself);
    own("other calls", rest);
    const all = more.reduce((sum, [, excess]) => sum + excess, 0);
    return more.map(([index, excess]) => [index, (time * excess) / all]);
  }

  private example(index: number, weight: number, ref: EventRef): void {
    const cause = this.causes[index]!;
    if (weight > cause.most) [cause.most, cause.worst] = [weight, ref];
  }

  // To what goes a unit of what is waited for in a collective.
  private sharesOf(instance: Instance): Shares {
    let shares = this.shared.get(instance);
    if (shares !== undefined) return shares;
    const members = this.members.get(instance)!;
    const sums = members.map(({ rank, event, nth }) => {
      const { history, starts } = this.states[rank]!;
      return history.sums(0, this.model.trace.ranks[rank]!.enter[event]!, starts[nth] ?? history.length);
    });
    const last = members.findIndex(({ rank, event }) => rank === instance.rank && event === instance.event);
    const more: [cause: number, excess: number][] = [];
    for (const [index, { time, event }] of last < 0 ? [] : sums[last]!) {
      const others = sums.reduce((sum, each, i) => (i === last ? sum : sum + (each.get(index)?.time ?? 0)), 0) / (members.length - 1);
      if (time <= others) continue;
      more.push([index, time - others]);
      if (this.causes[index]!.kind === "uneven") this.example(index, time - others, { rank: instance.rank, event, compute: true });
    }
    const all = more.reduce((sum, [, excess]) => sum + excess, 0);
    shares = more.map(([index, excess]) => [index, excess / all]);
    this.shared.set(instance, shares);
    return shares;
  }

  private lossOf({ kind, lost, source, phase, waits, losers, worst }: Cause): Loss {
    const others = [...waits].sort((a, b) => a - b);
    const further = [...losers].filter((rank) => !waits.has(rank) && rank !== source).length;
    const base = { kind, lost, phase, worst: worst!, others, further, ratio: 1, usual: 0, link: "", pairs: 0 };
    return kind === "uneven" ? { ...base, ...this.heaviest(phase) } : { ...base, ranks: [source] };
  }

  private slowPairs(): SlowPair[] {
    const { source, sendEvent, dest } = this.model.messages();
    const pairs = new Map<number, SlowPair>();
    this.causes.forEach(({ kind, source: from, dest: to, phase, lost, worst, most }, index) => {
      if (kind === "slow messages") pairs.set(index, { from, to, phase, lost, worst: worst!, most, ratios: [], usual: 0 });
    });
    for (const message of this.meetings.cause.values()) {
      const ordinary = this.usual.get(bytesOf(this.model.trace, source[message]!, sendEvent[message]!)) ?? Infinity;
      const travel = this.travel(message);
      if (travel <= kSlow * ordinary) continue;
      for (const pair of pairs.values())
        if (pair.from === source[message] && pair.to === dest[message]) {
          pair.ratios.push(travel / ordinary);
          if (pair.worst.event === this.model.messages().doneEvent[message]) pair.usual = ordinary;
        }
    }
    return [...pairs.values()];
  }

  // The ranks that compute most in a phase, and how many times as much as the others.
  private heaviest(phase: string): { ranks: number[]; ratio: number } {
    const times = this.computed.get(phase)!;
    const most = times.reduce((a, b) => Math.max(a, b), 0);
    const usual = [...times].sort((a, b) => a - b)[(times.length - 1) >> 1]!;
    const middle = (most + usual) / 2;
    const mean = (ranks: number[]): number => ranks.reduce((sum, rank) => sum + times[rank]!, 0) / Math.max(1, ranks.length);
    const all = [...times.keys()];
    const ranks = all.filter((rank) => times[rank]! > middle);
    const others = mean(all.filter((rank) => times[rank]! <= middle));
    return { ranks, ratio: ranks.length > 0 && others > 0 ? mean(ranks) / others : 1 };
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
