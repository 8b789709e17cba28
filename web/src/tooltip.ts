// What the page says of one event or computation.
import { firstAbove, isTimedCall, Kind, peerOf, type RankData } from "./events";
import { formatBytes, formatTime } from "./format";
import { messagesOf } from "./messages";
import type { EventRef, Model } from "./model";

// The event of `rank` at time t, or null where the rank is in none.
export function eventAt(model: Model, rank: number, t: number): EventRef | null {
  const data = model.trace.ranks[rank];
  if (data === undefined || t < 0) return null;
  const event = firstAbove(data.leave, t);
  if (event >= data.count) return null;
  return { rank, event, compute: t < data.enter[event]! };
}

// The rank's mark nearest to t, not farther than `reach` from it, or null.
export function markAt(model: Model, rank: number, t: number, reach: number): EventRef | null {
  const data = model.trace.ranks[rank];
  if (data === undefined) return null;
  const distance = (event: number): number => Math.abs(data.enter[event]! - t);
  let nearest: number | null = null;
  for (const { event } of data.marks)
    if (distance(event) <= reach && (nearest === null || distance(event) < distance(nearest))) nearest = event;
  return nearest === null ? null : { rank, event: nearest, compute: false };
}

// Names of the phases that hold time t, outermost first.
export function phasesAt(names: string[], data: RankData, t: number): string[] {
  return data.phases.filter((span) => span.from <= t && t < span.to).map((span) => names[span.name]!);
}

export interface Description {
  readonly title: string;
  readonly state: number;
  readonly facts: [string, string][];
}

export function describeEvent(model: Model, ref: EventRef): Description {
  const { trace, states } = model;
  const data = trace.ranks[ref.rank]!;
  const facts: [string, string][] = [["rank", String(ref.rank)]];
  const { from: start, to: end } = model.spanOf(ref);
  facts.push(["start", formatTime(start)], ["duration", formatTime(end - start)]);
  if (ref.compute) {
    addPhases(model, data, start, facts);
    return { title: "COMPUTE", state: 0, facts };
  }
  const index = data.shape[ref.event]!;
  const shape = trace.shapes[index]!;
  const title = trace.head.names[shape.name] ?? "";
  if (shape.kind === Kind.mark) {
    const mark = data.marks.find((each) => each.event === ref.event);
    const about: [string, string][] = [["rank", String(ref.rank)], ["marked at", formatTime(start)]];
    if (mark !== undefined && mark.value !== 0) about.push(["value", String(mark.value)]);
    addPhases(model, data, start, about);
    about.push(["event", String(data.first + ref.event)]);
    return { title, state: 0, facts: about };
  }
  const wait = data.wait[ref.event]!;
  if (wait > 0) facts.push(["waiting", formatTime(wait)], ...waitedFor(model, ref));
  const partner = (label: string, peer: number, tag: number, bytes: number): void => {
    if (peer < 0) {
      facts.push([label, "MPI_PROC_NULL"]);
      return;
    }
    facts.push([label, `rank ${peerOf(ref.rank, peer, trace.ranks.length)}`]);
    facts.push(["tag", String(tag)], ["size", formatBytes(bytes)]);
  };
  const sends = shape.kind === Kind.send || shape.kind === Kind.isend || shape.kind === Kind.sendrecv;
  const receives = shape.kind === Kind.recv || shape.kind === Kind.irecv || shape.kind === Kind.sendrecv;
  const collective = shape.kind === Kind.collective || shape.kind === Kind.icollective;
  if (sends) partner("to", shape.sendPeer, shape.sendTag, shape.sendBytes);
  if (receives) partner("from", shape.recvPeer, shape.recvTag, shape.recvBytes);
  if (collective) {
    facts.push(["size", formatBytes(shape.collectiveBytes)]);
    if (shape.root >= 0) facts.push(["root", `${shape.root} of the communicator`]);
    const all = model.collectives().of(ref.rank, ref.event);
    if (all !== null && all.members > 1)
      facts.push(["last to come", all.last > all.first ? `rank ${all.rank}, ${formatTime(all.last - all.first)} after the first` : "all at once"]);
  }
  if (sends || receives || collective) {
    const comm = trace.head.comms[shape.comm];
    if (comm) facts.push(["communicator", comm.name || `number ${shape.comm}, ${comm.size} ranks`]);
  }
  const place = trace.head.places[shape.place - 1];
  if (place) facts.push(["called at", place]);
  if (shape.count > 1) facts.push(["calls in a row", String(shape.count)]);
  addPhases(model, data, start, facts);
  facts.push(["event", String(data.first + ref.event)]);
  return { title, state: isTimedCall(shape.kind) ? states.ofShape[index]! : 0, facts };
}

// Whose message ended a wait, and when it was sent.
function waitedFor(model: Model, { rank, event }: EventRef): [string, string][] {
  if (!model.small) return [];
  const messages = model.messages();
  const ended = messagesOf(messages, rank, event).filter((i) => messages.dest[i] === rank && messages.doneEvent[i] === event);
  const last = ended.pop(); // in order of sending
  if (last === undefined) return [];
  const sent = messages.sendTime[last]!;
  const late = sent - model.trace.ranks[rank]!.enter[event]!;
  return [
    ["waited for", `rank ${messages.source[last]}`],
    ["sent", late === 0 ? "as this call began" : `${formatTime(Math.abs(late))} ${late > 0 ? "after" : "before"} this call began`],
    ["on its way", formatTime(messages.recvTime[last]! - sent)],
  ];
}

function addPhases(model: Model, data: RankData, t: number, facts: [string, string][]): void {
  const phases = phasesAt(model.trace.head.names, data, t);
  if (phases.length > 0) facts.push(["phase", phases.join(" › ")]);
}
