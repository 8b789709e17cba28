// Events as lines of comma separated values; times in seconds, to the picosecond.
import { isTimedCall, Kind } from "../events";
import type { EventRef, Model } from "../model";
import { phasesAt } from "../tooltip";

const kHead = "rank,event,function,start_s,duration_s,wait_s,to,send_tag,sent_bytes,from,receive_tag,received_bytes,collective_bytes,communicator,place,phase";

function quote(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

// A whole number of picoseconds as seconds, all its digits.
export function seconds(ps: number): string {
  const digits = String(Math.round(ps)).padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

function line(model: Model, ref: EventRef): string {
  const { trace } = model;
  const { head } = trace;
  const data = trace.ranks[ref.rank]!;
  const { from, to } = model.spanOf(ref);
  const phase = phasesAt(head.names, data, from).join(" > ");
  const start = [String(ref.rank), String(ref.event)];
  if (ref.compute) return [...start, "COMPUTE", seconds(from), seconds(to - from), seconds(0), ...new Array(9).fill(""), quote(phase)].join(",");
  const shape = trace.shapes[data.shape[ref.event]!]!;
  const n = trace.ranks.length;
  const end = (peer: number, tag: number, bytes: number): string[] => (peer < 0 ? ["", "", ""] : [String((ref.rank + peer) % n), String(tag), String(bytes)]);
  const collective = shape.kind === Kind.collective || shape.kind === Kind.icollective;
  const talks = collective || shape.sendPeer >= 0 || shape.recvPeer >= 0;
  return [
    ...start, quote(head.names[shape.name]!), seconds(from), seconds(to - from), seconds(data.wait[ref.event]!),
    ...end(shape.sendPeer, shape.sendTag, shape.sendBytes), ...end(shape.recvPeer, shape.recvTag, shape.recvBytes),
    collective ? String(shape.collectiveBytes) : "",
    talks ? quote(head.comms[shape.comm]?.name || String(shape.comm)) : "",
    quote(head.places[shape.place - 1] ?? ""), quote(phase),
  ].join(",");
}

// What was found, or all computations and calls; of those what touches the view.
export function* csvLines(model: Model): Generator<string> {
  const { t0, t1 } = model.view;
  yield kHead;
  const inView = (ref: EventRef): boolean => {
    const { from, to } = model.spanOf(ref);
    return to >= t0 && from <= t1;
  };
  if (model.found !== null) {
    for (const ref of model.found.set.refs()) if (inView(ref)) yield line(model, ref);
    return;
  }
  for (let rank = 0; rank < model.trace.ranks.length; rank++) {
    const { count, enter, leave, shape } = model.trace.ranks[rank]!;
    for (let event = 0; event < count; event++) {
      const compute: EventRef = { rank, event, compute: true };
      if (enter[event]! > (event > 0 ? leave[event - 1]! : 0) && inView(compute)) yield line(model, compute);
      const call: EventRef = { rank, event, compute: false };
      if (isTimedCall(model.trace.shapes[shape[event]!]!.kind) && inView(call)) yield line(model, call);
    }
  }
}
