// The trace as the page holds it in memory: columns of numbers per rank, times
// in picoseconds as doubles (exact up to 2^53 ps, 2.5 hours).

import type { CallRounds } from "./rounds";
import type { Network } from "./scene";

// trace::EventKind
export const Kind = {
  init: 1,
  finalize: 2,
  send: 3,
  recv: 4,
  sendrecv: 5,
  isend: 6,
  irecv: 7,
  complete: 8,
  collective: 9,
  call: 10,
  phaseBegin: 11,
  phaseEnd: 12,
  aborted: 13,
  icollective: 14,
  mark: 15,
  probe: 16,
} as const;

// What equal calls have in common. Peers are relative to the calling rank, -1
// where there is none.
export interface Shape {
  readonly kind: number;
  readonly name: number;
  readonly comm: number;
  readonly sendPeer: number;
  readonly sendTag: number;
  readonly sendBytes: number;
  readonly recvPeer: number;
  readonly recvTag: number;
  readonly recvBytes: number;
  readonly collectiveBytes: number;
  readonly root: number;
  readonly count: number;
  readonly place: number; // in the program: index into the head's places, plus one; 0: not known
}

export interface PhaseSpan {
  readonly name: number;
  readonly depth: number; // 0: outermost
  readonly from: number;
  readonly to: number;
}

// A moment that the program marked: its event, and the number it said.
export interface Mark {
  readonly event: number;
  readonly value: number;
}

export interface RankData {
  readonly count: number;
  readonly first: number; // number of the first event in the run; of a window of it: not 0
  readonly end: number; // the rank's time
  readonly enter: Float64Array;
  readonly leave: Float64Array;
  readonly wait: Float64Array; // the first part of the call
  readonly shape: Uint32Array;
  readonly done: Uint32Array; // irecv: event that completed it, 0: none, `count`: one after those that are here
  readonly phases: PhaseSpan[]; // by start; outer before inner
  readonly marks: Mark[]; // by time
  // Of a window of a run: messages that were sent or received before it, by channel
  // (served/channels.ts).
  readonly before?: ReadonlyMap<number, number>;
}

export function noEvents(end: number): RankData {
  const [times, numbers] = [new Float64Array(0), new Uint32Array(0)];
  return { count: 0, first: 0, end, enter: times, leave: times, wait: times, shape: numbers, done: numbers, phases: [], marks: [] };
}

export interface TraceHead {
  readonly version: number;
  readonly unit?: number; // of the times in the stream, ps; 1 where it does not say
  readonly program: string;
  readonly trace: string;
  readonly clock: string;
  readonly notes: string[];
  readonly summary: { time: number; serial: number; speedup: number | null; efficiency: number | null };
  readonly names: string[];
  readonly comms: { name: string; size: number; members?: [first: number, stride: number, count: number][] }[];
  readonly nodes?: number[]; // by rank, where the trace knows them; -1: not known
  readonly network?: Network; // where the run's is known
  readonly rounds?: CallRounds[]; // of collectives that were simulated as messages
  readonly places: string[];
  // Where a server has the events (served/remote.ts): the scale of its rows, the names of the
  // functions by class, times by class over all ranks, whether waits are known, for whom others
  // waited, and how many messages are under way.
  readonly served?: { level: number; functions: number[]; totals: number[]; waits: boolean; delays: boolean; messages: boolean };
  readonly shapes: number[][];
  readonly ranks: [count: number, bytes: number, end: number][];
}

export interface TraceData {
  readonly head: TraceHead;
  readonly end: number; // the latest rank's time, at least 1
  readonly events: number;
  readonly shapes: Shape[];
  readonly ranks: RankData[];
}

// True for events that are calls with a duration.
export function isTimedCall(kind: number): boolean {
  return (kind >= Kind.send && kind <= Kind.call) || kind === Kind.icollective || kind === Kind.probe;
}

// World rank of a relative peer.
export function peerOf(rank: number, relative: number, ranks: number): number {
  return relative < 0 ? -1 : (rank + relative) % ranks;
}

// Index of the first value > t in the ascending `values`, from `from` on.
export function firstAbove(values: ArrayLike<number>, t: number, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! > t) high = middle;
    else low = middle + 1;
  }
  return low;
}
