// Which send met which receive.
//
// MPI does not let messages between the same two ranks, in one communicator,
// under one tag, overtake each other: the k-th send of such a channel meets
// the k-th receive that was posted for it.
import { Kind, peerOf, type TraceData } from "./events";
import { numberChannels } from "./served/channels";

export interface Messages {
  readonly count: number;
  readonly unmatched: number; // sends without a receive in the trace
  // By send time.
  readonly source: Int32Array;
  readonly sendEvent: Int32Array;
  readonly sendTime: Float64Array; // entry to the sending call
  readonly dest: Int32Array;
  readonly recvEvent: Int32Array; // the call that posted the receive
  readonly doneEvent: Int32Array; // the call that completed it
  readonly recvTime: Float64Array; // when that call left
  // Latest recvTime within each kIndexBlock messages.
  readonly latest: Float64Array;
}

const kIndexBlock = 64;

interface Channel {
  readonly sends: number[]; // source rank's events
  readonly recvs: number[]; // destination rank's events
  sent: number; // before these
  received: number;
}

class Channels {
  readonly byPair = new Map<number, Map<number, Channel>>();

  constructor(private readonly ranks: number) {}

  get(source: number, dest: number, comm: number, tag: number): Channel {
    const pair = source * this.ranks + dest;
    let tags = this.byPair.get(pair);
    if (tags === undefined) this.byPair.set(pair, (tags = new Map()));
    const key = comm * 4294967296 + (tag >>> 0);
    let channel = tags.get(key);
    if (channel === undefined) tags.set(key, (channel = { sends: [], recvs: [], sent: 0, received: 0 }));
    return channel;
  }
}

function collectChannels(trace: TraceData): Channels {
  const ranks = trace.ranks.length;
  const channels = new Channels(ranks);
  const numbers = trace.ranks.some(({ before }) => before !== undefined) ? numberChannels(trace.shapes) : null;
  trace.ranks.forEach((rank, r) => {
    for (let i = 0; i < rank.count; i++) {
      const at = rank.shape[i]!;
      const shape = trace.shapes[at]!;
      if (shape.sendPeer >= 0) {
        const channel = channels.get(r, peerOf(r, shape.sendPeer, ranks), shape.comm, shape.sendTag);
        if (channel.sends.push(i) === 1 && numbers !== null) channel.sent = rank.before?.get(numbers.send[at]!) ?? 0;
      }
      // A posted receive that was never completed has met nobody.
      if (shape.recvPeer >= 0 && (shape.kind !== Kind.irecv || rank.done[i]! > 0)) {
        const channel = channels.get(peerOf(r, shape.recvPeer, ranks), r, shape.comm, shape.recvTag);
        if (channel.recvs.push(i) === 1 && numbers !== null) channel.received = rank.before?.get(numbers.recv[at]!) ?? 0;
      }
    }
  });
  return channels;
}

// Of a window of a run, those whose two ends are in it.
export function pairMessages(trace: TraceData): Messages {
  const ranks = trace.ranks.length;
  const pairs: { source: number; dest: number; send: number; recv: number; at: number }[] = [];
  let unmatched = 0;
  for (const [pair, tags] of collectChannels(trace).byPair) {
    const source = Math.floor(pair / ranks);
    const dest = pair % ranks;
    const { count, done } = trace.ranks[dest]!;
    for (const { sends, recvs, sent, received } of tags.values()) {
      const first = Math.max(sent, received);
      const beyond = Math.min(sent + sends.length, received + recvs.length);
      unmatched += sends.length - Math.max(0, beyond - first);
      for (let k = first; k < beyond; k++) {
        const send = sends[k - sent]!;
        const recv = recvs[k - received]!;
        if (done[recv]! < count) pairs.push({ source, dest, send, recv, at: trace.ranks[source]!.enter[send]! });
      }
    }
  }
  pairs.sort((a, b) => a.at - b.at || a.source - b.source || a.send - b.send);

  const count = pairs.length;
  const recvEvent = Int32Array.from(pairs, (p) => p.recv);
  const doneEvent = Int32Array.from(pairs, (p) => trace.ranks[p.dest]!.done[p.recv]! || p.recv);
  const recvTime = Float64Array.from(pairs, (p, i) => trace.ranks[p.dest]!.leave[doneEvent[i]!]!);
  const latest = new Float64Array(Math.ceil(count / kIndexBlock));
  recvTime.forEach((time, i) => {
    const block = Math.floor(i / kIndexBlock);
    latest[block] = Math.max(latest[block]!, time);
  });
  return {
    count, unmatched, recvEvent, doneEvent, recvTime, latest,
    source: Int32Array.from(pairs, (p) => p.source),
    dest: Int32Array.from(pairs, (p) => p.dest),
    sendEvent: Int32Array.from(pairs, (p) => p.send),
    sendTime: Float64Array.from(pairs, (p) => p.at),
  };
}

// Messages under way at some time in [t0, t1], at most limit + 1 of them (one
// more than the limit says that there are more).
export function messagesIn(messages: Messages, t0: number, t1: number, limit: number): number[] {
  const found: number[] = [];
  for (let block = 0; block < messages.latest.length; block++) {
    const first = block * kIndexBlock;
    if (messages.sendTime[first]! > t1) break;
    if (messages.latest[block]! < t0) continue;
    const stop = Math.min(first + kIndexBlock, messages.count);
    for (let i = first; i < stop && messages.sendTime[i]! <= t1; i++) {
      if (messages.recvTime[i]! < t0) continue;
      found.push(i);
      if (found.length > limit) return found;
    }
  }
  return found;
}

// Messages that an event sent, posted or received.
export function messagesOf(messages: Messages, rank: number, event: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < messages.count; i++) {
    const sent = messages.source[i] === rank && messages.sendEvent[i] === event;
    const received =
      messages.dest[i] === rank && (messages.recvEvent[i] === event || messages.doneEvent[i] === event);
    if (sent || received) found.push(i);
  }
  return found;
}
