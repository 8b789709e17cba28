// The words of the search field: what they mean, and which events they find.
//
//   word                 in the name of the call, the phase, the place or the mark
//   call= phase= at= comm=    text, part of the name
//   rank= peer= to= from= tag=    number
//   size> time> wait>    with <, >, <=, >=, =; units as in 64KiB, 1.5ms
//
// All words have to fit. "a b" in quotes is one word.
import { isTimedCall, Kind, type PhaseSpan, type RankData, type Shape, type TraceData } from "./events";
import { collect, EventSet } from "./eventset";

type Compare = "=" | "<" | ">" | "<=" | ">=";

export interface Term {
  readonly key: string; // "": a word alone
  readonly compare: Compare;
  readonly text: string; // lower case
  readonly number: number;
}

const kTexts = ["call", "phase", "at", "comm"];
const kWhole = ["rank", "peer", "to", "from", "tag"];
const kTimes = ["time", "wait"];
const kAliases: Readonly<Record<string, string>> = {
  name: "call", function: "call", place: "at", site: "at", line: "at", bytes: "size", duration: "time", waiting: "wait", partner: "peer",
};
const kTimeUnits: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, µs: 1e6, ms: 1e9, s: 1e12 };
const kSizeUnits: Readonly<Record<string, number>> = {
  b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3, k: 1024, m: 1024 ** 2, g: 1024 ** 3,
};

function numberOf(text: string, units: Readonly<Record<string, number>> | null): number | null {
  const found = /^(-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)\s*([a-zµ]*)$/.exec(text);
  if (found === null) return null;
  const unit = found[2]!;
  if (unit === "") return units === kTimeUnits ? null : Number(found[1]);
  const scale = units?.[unit];
  return scale === undefined ? null : Number(found[1]) * scale;
}

function parseWord(word: string): Term {
  const found = /^([a-z]+)(<=|>=|=|:|<|>)(.*)$/i.exec(word);
  const name = found?.[1]!.toLowerCase() ?? "";
  const key = kAliases[name] ?? name;
  const known = [...kTexts, ...kWhole, ...kTimes, "size"].includes(key);
  // "solver.c:12" is a place, not a key.
  if (found === null || (!known && found[2] === ":")) return { key: "", compare: "=", text: word.toLowerCase(), number: 0 };
  if (!known) throw new Error(`“${name}” is not known; there are call, phase, at, comm, rank, peer, to, from, tag, size, time, wait`);
  const compare = (found[2] === ":" ? "=" : found[2]) as Compare;
  const text = found[3]!.toLowerCase();
  if (kTexts.includes(key)) {
    if (compare !== "=" || text === "") throw new Error(`“${word}”: expected ${key}=some text`);
    return { key, compare, text, number: 0 };
  }
  const number = numberOf(text, kTimes.includes(key) ? kTimeUnits : key === "size" ? kSizeUnits : null);
  if (number === null)
    throw new Error(`“${word}”: expected ${kTimes.includes(key) ? `a time with its unit, such as ${key}>1ms` : key === "size" ? "a size, such as size>64KiB" : `a number, such as ${key}=3`}`);
  return { key, compare, text, number };
}

// Throws Error with what is wrong.
export function parseQuery(text: string): Term[] {
  const words = text.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  return words.map((word) => parseWord(word.replace(/"/g, "")));
}

function holds(compare: Compare, a: number, b: number): boolean {
  switch (compare) {
    case "=": return a === b;
    case "<": return a < b;
    case ">": return a > b;
    case "<=": return a <= b;
    case ">=": return a >= b;
  }
}

// The intervals of the phases whose names hold `text`, merged, ascending.
export function phaseIntervals(names: readonly string[], spans: readonly PhaseSpan[], text: string): [number, number][] {
  const merged: [number, number][] = [];
  for (const span of spans) {
    if (!names[span.name]!.toLowerCase().includes(text)) continue;
    const last = merged[merged.length - 1];
    if (last !== undefined && span.from <= last[1]) last[1] = Math.max(last[1], span.to);
    else merged.push([span.from, span.to]);
  }
  return merged;
}

// Whether ascending times lie in the intervals; asked in order of time.
class Walker {
  private i = 0;
  constructor(private readonly intervals: readonly [number, number][]) {}
  holds(t: number): boolean {
    while (this.i < this.intervals.length && this.intervals[this.i]![1] <= t) this.i++;
    const interval = this.intervals[this.i];
    return interval !== undefined && interval[0] <= t;
  }
}

function sizesOf(shape: Shape): number[] {
  const sizes: number[] = [];
  if (shape.sendPeer >= 0) sizes.push(shape.sendBytes);
  if (shape.recvPeer >= 0) sizes.push(shape.recvBytes);
  if (shape.kind === Kind.collective || shape.kind === Kind.icollective) sizes.push(shape.collectiveBytes);
  return sizes;
}

const kYes = 1;
const kNo = 0;
const kAskPhase = 2; // not by its shape, but perhaps by its phase

// What a shape says to a term: yes, no, or that the phase decides.
function shapeAnswer(trace: TraceData, shape: Shape, term: Term): number {
  const { names, places, comms } = trace.head;
  const has = (text: string | undefined): boolean => text !== undefined && text.toLowerCase().includes(term.text);
  switch (term.key) {
    case "": return has(names[shape.name]) || has(places[shape.place - 1]) ? kYes : kAskPhase;
    case "call": return has(names[shape.name]) ? kYes : kNo;
    case "at": return has(places[shape.place - 1]) ? kYes : kNo;
    case "comm": return shape.kind !== Kind.call && has(comms[shape.comm]?.name || `number ${shape.comm}`) ? kYes : kNo;
    case "phase": return kAskPhase;
    case "tag":
      return (shape.sendPeer >= 0 && holds(term.compare, shape.sendTag, term.number)) ||
        (shape.recvPeer >= 0 && holds(term.compare, shape.recvTag, term.number)) ? kYes : kNo;
    case "size": return sizesOf(shape).some((size) => holds(term.compare, size, term.number)) ? kYes : kNo;
    default: return kYes; // asked of the event
  }
}

function computeAnswer(term: Term): number {
  switch (term.key) {
    case "": return "compute".includes(term.text) ? kYes : kAskPhase;
    case "call": return "compute".includes(term.text) ? kYes : kNo;
    case "phase": return kAskPhase;
    case "rank": case "time": return kYes;
    default: return kNo;
  }
}

type Test = (event: number, compute: boolean) => boolean;

// Everything but what the shape knows: partner, times, phase.
function eventTest(trace: TraceData, rank: number, term: Term, answers: Uint8Array): Test {
  const data: RankData = trace.ranks[rank]!;
  const n = trace.ranks.length;
  const answer = (event: number, compute: boolean): number =>
    compute ? computeAnswer(term) : answers[data.shape[event]!]!;
  const startOf = (event: number, compute: boolean): number =>
    compute ? (event > 0 ? data.leave[event - 1]! : 0) : data.enter[event]!;
  const stopOf = (event: number, compute: boolean): number => (compute ? data.enter : data.leave)[event]!;
  switch (term.key) {
    case "":
    case "phase": {
      const walker = new Walker(phaseIntervals(trace.head.names, data.phases, term.text));
      return (event, compute) => {
        const said = answer(event, compute);
        return said === kYes || (said === kAskPhase && walker.holds(startOf(event, compute)));
      };
    }
    case "time":
      return (event, compute) => holds(term.compare, stopOf(event, compute) - startOf(event, compute), term.number);
    case "wait":
      return (event, compute) => !compute && holds(term.compare, data.wait[event]!, term.number);
    case "peer": case "to": case "from":
      return (event, compute) => {
        if (compute) return false;
        const shape = trace.shapes[data.shape[event]!]!;
        const to = term.key !== "from" && shape.sendPeer >= 0 && holds(term.compare, (rank + shape.sendPeer) % n, term.number);
        return to || (term.key !== "to" && shape.recvPeer >= 0 && holds(term.compare, (rank + shape.recvPeer) % n, term.number));
      };
    default:
      return (event, compute) => answer(event, compute) === kYes;
  }
}

// Calls, computations and marks that fit all terms.
export function search(trace: TraceData, terms: readonly Term[]): EventSet {
  const seen = Uint8Array.from(trace.shapes, (shape) => (isTimedCall(shape.kind) || shape.kind === Kind.mark ? 1 : 0));
  const answers = terms.map((term) => Uint8Array.from(trace.shapes, (shape) => shapeAnswer(trace, shape, term)));
  const ranks = terms.filter((term) => term.key === "rank");
  return collect(trace, (rank) => {
    if (!ranks.every((term) => holds(term.compare, rank, term.number))) return null;
    const { shape } = trace.ranks[rank]!;
    const tests = terms.map((term, i) => eventTest(trace, rank, term, answers[i]!));
    return (event, compute) => (compute || seen[shape[event]!] === 1) && tests.every((test) => test(event, compute));
  });
}
