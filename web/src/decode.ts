// From the bytes that the page carries to TraceData. The format is described
// in src/views/timeline/data.hpp, that of packed pages in columns.hpp beside it.
import { Columns } from "./columns";
import { Kind, type Mark, type PhaseSpan, type RankData, type Shape, type TraceData, type TraceHead } from "./events";
import { type EventSource, Stream } from "./stream";

const kInvalid = 255;

function base64Table(): Uint8Array {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const table = new Uint8Array(128).fill(kInvalid);
  for (let i = 0; i < digits.length; i++) table[digits.charCodeAt(i)] = i;
  return table;
}

// Newer browsers have a decoder of their own, which is some ten times as fast.
interface NativeDecoder {
  fromBase64?: (text: string, how: { lastChunkHandling: "strict" }) => Uint8Array;
}

// Decodes base64 text with padding; throws on anything else.
export function decodeBase64(text: string): Uint8Array {
  const { fromBase64 } = Uint8Array as unknown as NativeDecoder;
  if (fromBase64 !== undefined && text.length > 1 << 16) return fromBase64.call(Uint8Array, text, { lastChunkHandling: "strict" });
  const table = base64Table();
  let length = text.length;
  if (length % 4 !== 0) throw new Error("base64: length is not a multiple of 4");
  while (length > 0 && text.length - length < 2 && text.charCodeAt(length - 1) === 61) length--;
  const bytes = new Uint8Array((length * 3) >> 2);
  let group = 0;
  let out = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const digit = code < 128 ? table[code]! : kInvalid;
    if (digit === kInvalid) throw new Error(`base64: character ${i} is not a digit`);
    group = (group << 6) | digit;
    switch (i & 3) {
      case 1:
        bytes[out++] = group >> 4;
        break;
      case 2:
        bytes[out++] = group >> 2;
        break;
      case 3:
        bytes[out++] = group;
        group = 0;
        break;
    }
  }
  return bytes;
}

function toShape(numbers: number[]): Shape {
  if (numbers.length !== 13) throw new Error("trace data: a shape does not have 13 numbers");
  const at = (i: number): number => numbers[i]!;
  return {
    kind: at(0), name: at(1), comm: at(2),
    sendPeer: at(3), sendTag: at(4), sendBytes: at(5),
    recvPeer: at(6), recvTag: at(7), recvBytes: at(8),
    collectiveBytes: at(9), root: at(10), count: at(11), place: at(12),
  };
}

// The spans of a rank's phases. A phase that is never closed lasts to `end`;
// one that was opened without a name has the name that it was closed under, and
// is left out if there is none.
class PhaseCollector {
  private readonly open: { name: number; index: number }[] = [];
  private readonly spans: { name: number; depth: number; from: number; to: number }[] = [];

  constructor(private readonly names: string[]) {}

  begin(name: number, at: number): void {
    this.open.push({ name, index: this.spans.length });
    this.spans.push({ name, depth: this.open.length - 1, from: at, to: -1 });
  }

  close(name: number, at: number): void {
    let found = this.lastOpen((opened) => opened === name);
    if (found < 0) found = this.lastOpen((opened) => this.names[opened] === "");
    if (found < 0) return;
    const span = this.spans[this.open[found]!.index]!;
    span.name = name;
    span.to = at;
    this.open.splice(found, 1);
  }

  private lastOpen(fits: (name: number) => boolean): number {
    let i = this.open.length - 1;
    while (i >= 0 && !fits(this.open[i]!.name)) i--;
    return i;
  }

  finish(end: number): PhaseSpan[] {
    for (const phase of this.open) this.spans[phase.index]!.to = end;
    return this.spans.filter((span) => this.names[span.name] !== "");
  }
}

// Room for all ranks' columns at once: very many small arrays would take more than what they hold.
class Table {
  readonly enter: Float64Array;
  readonly leave: Float64Array;
  readonly wait: Float64Array;
  readonly shape: Uint32Array;
  readonly done: Uint32Array;
  private at = 0;

  constructor(events: number) {
    this.enter = new Float64Array(events);
    this.leave = new Float64Array(events);
    this.wait = new Float64Array(events);
    this.shape = new Uint32Array(events);
    this.done = new Uint32Array(events);
  }

  // The next `count` rows.
  take(count: number): Pick<RankData, "enter" | "leave" | "wait" | "shape" | "done"> {
    const [from, to] = [this.at, (this.at += count)];
    return {
      enter: this.enter.subarray(from, to), leave: this.leave.subarray(from, to), wait: this.wait.subarray(from, to),
      shape: this.shape.subarray(from, to), done: this.done.subarray(from, to),
    };
  }
}

function decodeRank(
  reader: EventSource, count: number, end: number, shapes: Shape[], names: string[], columns: Table, unit: number, start: Start | null = null,
): RankData {
  const before = start === null ? 0 : 1;
  const total = count + before;
  const { enter, leave, wait, shape, done } = columns.take(total);
  const phases = new PhaseCollector(names);
  const marks: Mark[] = [];
  let now = 0;
  if (start !== null) {
    now = enter[0] = leave[0] = start.at;
    shape[0] = start.shape;
    for (const [name, since] of start.phases) phases.begin(name, since);
  }
  for (let i = before; i < total; i++) {
    const word = reader.word();
    const index = Math.floor(word / 2);
    const info = shapes[index];
    if (info === undefined) throw new Error(`trace data: no shape ${index}`);
    shape[i] = index;
    reader.times(word % 2 === 1);
    now += reader.gap * unit;
    enter[i] = now;
    now += reader.duration * unit;
    leave[i] = now;
    wait[i] = reader.wait * unit;
    if (info.kind === Kind.irecv) {
      const distance = reader.done();
      done[i] = distance > 0 ? Math.min(i + distance, total) : 0;
    } else if (info.kind === Kind.phaseBegin) {
      phases.begin(info.name, enter[i]!);
    } else if (info.kind === Kind.phaseEnd) {
      phases.close(info.name, enter[i]!);
    } else if (info.kind === Kind.mark) {
      marks.push({ event: i, value: reader.double() });
    }
  }
  const first = start === null ? 0 : start.event - 1;
  const data = { count: total, first, end, enter, leave, wait, shape, done, phases: phases.finish(end), marks };
  return start === null ? data : { ...data, before: start.messages };
}

// Where a rank's events begin that are not those of the whole run: an event that takes no time
// stands for those before.
interface Start {
  readonly event: number;
  readonly at: number; // ps
  readonly shape: number;
  readonly messages: ReadonlyMap<number, number>; // by channel (served/channels.ts)
  readonly phases: readonly (readonly [name: number, since: number])[]; // that are open
}

// Events of some ranks in some time, which the page holds of a run that a server has.
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly first: number; // rank
  readonly ranks: readonly RankData[];
}

const kBefore = [0, 0, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0];

// All shapes of a run, and one for what was before a window.
export function windowShapes(head: TraceHead): Shape[] {
  return [...head.shapes, kBefore].map(toShape);
}

// What Pyramid::events() answers; a number: there are that many, and they did not come.
export function decodeWindow(trace: TraceData, answer: ArrayBuffer): Omit<Window, "from" | "to"> | number {
  const length = new DataView(answer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(answer, 4, length))) as
    { many?: number; first: number; ranks: [event: number, at: number, count: number, bytes: number, messages: [number, number][], phases: [number, number][]][] };
  if (about.many !== undefined) return about.many;
  const bytes = new Uint8Array(answer, 4 + length);
  const columns = new Table(about.ranks.reduce((sum, [, , count]) => sum + count + 1, 0));
  const reader = new Stream(bytes);
  const ranks = about.ranks.map(([event, at, count, size, messages, phases], i) => {
    const stop = reader.position + size;
    const start = { event, at, shape: trace.shapes.length - 1, messages: new Map(messages), phases };
    const rank = decodeRank(reader, count, trace.ranks[about.first + i]!.end, trace.shapes, trace.head.names, columns, trace.head.unit ?? 1, start);
    if (reader.position !== stop) throw new Error("trace data: a rank has the wrong length");
    return rank;
  });
  return { first: about.first, ranks };
}

export function decodeTrace(head: TraceHead, bytes: Uint8Array, packed = false): TraceData {
  if (head.version !== 1) throw new Error(`trace data: version ${head.version}, expected 1`);
  const shapes = head.shapes.map(toShape);
  const events = head.ranks.reduce((sum, [count]) => sum + count, 0);
  // An event takes three bytes at least.
  if (events > bytes.length / 3) throw new Error("trace data: cut off");
  const columns = new Table(events);
  const all = packed ? new Columns(bytes) : null;
  const stream = new Stream(bytes);
  let end = 1;
  const ranks = head.ranks.map(([count, size, rankEnd]) => {
    const stop = stream.position + size;
    const rank = decodeRank(all ?? stream, count, rankEnd, shapes, head.names, columns, head.unit ?? 1);
    if (all === null && stream.position !== stop) throw new Error("trace data: a rank has the wrong length");
    end = Math.max(end, rankEnd);
    return rank;
  });
  if (all !== null && !all.atEnd) throw new Error("trace data: there is more than its events");
  return { head, end, events, shapes, ranks };
}
