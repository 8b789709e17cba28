// The rounds of a collective that was simulated as messages: who sends to whom.
//
// The trace has when each rank entered and left the call, and the algorithm has which messages
// there were, in rounds. When a round was is not kept: what is left of a rank's call after its wait
// is divided evenly among the rounds that it takes part in.
import type { Collectives } from "./collectives";
import { firstAbove, Kind, type TraceData } from "./events";

// As the page's data has it (src/views/timeline/rounds.hpp).
export interface CallRounds {
  readonly call: readonly [name: number, comm: number, bytes: number, root: number];
  readonly algorithm: string;
  readonly rounds: readonly (readonly number[])[]; // from, to, from, to, ...
}

export interface RoundMessage {
  readonly round: number; // from 1
  readonly from: number;
  readonly to: number;
  readonly sent: number; // ps
  readonly came: number;
}

// A collective at one moment.
export interface Running {
  readonly name: number;
  readonly algorithm: string;
  readonly shape: number; // of one of its calls
  readonly round: number; // from 1: the last one that has begun; 0: none yet
  readonly first: number; // of which messages are still under way; 0: of none
  readonly rounds: number;
  readonly messages: readonly RoundMessage[]; // under way
}

interface Schedule {
  readonly shape: number;
  readonly about: CallRounds;
  readonly messages: readonly RoundMessage[]; // by round
}

const kMostKept = 64;

export class Rounds {
  private readonly ofShape: readonly (CallRounds | undefined)[];
  private readonly schedules = new Map<string, Schedule | null>(); // those used last at the end

  constructor(private readonly trace: TraceData, private readonly collectives: Collectives) {
    const known = new Map((trace.head.rounds ?? []).map((each) => [each.call.join(" "), each]));
    this.ofShape = trace.shapes.map(({ kind, name, comm, collectiveBytes, root }) =>
      kind === Kind.collective ? known.get([name, comm, collectiveBytes, root].join(" ")) : undefined);
  }

  get known(): boolean {
    return this.ofShape.some((each) => each !== undefined);
  }

  // Those in which some rank is at t.
  at(t: number): Running[] {
    return this.around(t).map(({ shape, about, messages }) => {
      const under = messages.filter(({ sent, came }) => sent <= t && t < came);
      return {
        name: about.call[0], algorithm: about.algorithm, shape, rounds: about.rounds.length,
        round: messages.reduce((most, { round, sent }) => (sent <= t ? Math.max(most, round) : most), 0),
        first: under[0]?.round ?? 0, messages: under,
      };
    });
  }

  // The next moment at which a message inside a collective is sent, at most `limit`; or the one
  // before, `limit` at least.
  next(t: number, direction: 1 | -1, limit: number): number {
    let best = limit;
    for (const { messages } of [...this.around(t), ...this.around(t - 1)])
      for (const { sent } of messages) if (direction > 0 ? sent > t && sent < best : sent < t && sent > best) best = sent;
    return best;
  }

  private around(t: number): Schedule[] {
    if (!this.known) return [];
    const found = new Map<string, Schedule>();
    this.trace.ranks.forEach(({ enter, leave, shape, count }, rank) => {
      const event = firstAbove(leave, t);
      if (event >= count || enter[event]! > t || this.ofShape[shape[event]!] === undefined) return;
      const key = `${this.trace.shapes[shape[event]!]!.comm} ${this.collectives.number(rank, event)}`;
      const schedule = found.get(key) ?? this.schedule(key, rank, event);
      if (schedule !== null) found.set(key, schedule);
    });
    return [...found.values()];
  }

  private schedule(key: string, rank: number, event: number): Schedule | null {
    let schedule = this.schedules.get(key);
    this.schedules.delete(key);
    if (schedule === undefined) schedule = this.makeSchedule(rank, event);
    this.schedules.set(key, schedule);
    for (const oldest of this.schedules.keys()) {
      if (this.schedules.size <= kMostKept) break;
      this.schedules.delete(oldest);
    }
    return schedule;
  }

  private makeSchedule(rank: number, event: number): Schedule | null {
    const { ranks, shapes } = this.trace;
    const shape = ranks[rank]!.shape[event]!;
    const about = this.ofShape[shape]!;
    const { comm } = shapes[shape]!;
    const number = this.collectives.number(rank, event);
    // The rounds of each rank, in order.
    const own = new Map<number, number[]>();
    about.rounds.forEach((ends, round) => {
      for (const end of ends) {
        const list = own.get(end) ?? [];
        own.set(end, list);
        if (list[list.length - 1] !== round) list.push(round);
      }
    });
    const slot = (member: number, round: number): { from: number; to: number } | null => {
      const call = this.collectives.call(comm, number, member);
      if (call < 0) return null;
      const { enter, leave, wait } = ranks[member]!;
      const list = own.get(member)!;
      const begin = Math.min(leave[call]!, enter[call]! + wait[call]!);
      const each = (leave[call]! - begin) / list.length;
      const place = list.indexOf(round);
      return { from: begin + place * each, to: begin + (place + 1) * each };
    };
    const messages: RoundMessage[] = [];
    about.rounds.forEach((ends, round) => {
      for (let i = 0; i < ends.length; i += 2) {
        const [sends, gets] = [slot(ends[i]!, round), slot(ends[i + 1]!, round)];
        // A call that the run did not live to make.
        if (sends === null || gets === null) continue;
        messages.push({ round: round + 1, from: ends[i]!, to: ends[i + 1]!, sent: sends.from, came: Math.max(gets.to, sends.to) });
      }
    });
    return { shape, about, messages };
  }
}
