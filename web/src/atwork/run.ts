// A run on an architecture as the page has it (src/views/architecture/watch.cpp), and what it tells of
// a moment: what is under way, where each rank stands. Times are picoseconds.
export type Entity = readonly [path: string, kind: string, x: number, y: number, level: string, box: number, parameters: number, standsFor: string];
export type BoxOf = readonly [path: string, composite: string, parent: number];
export type Message = readonly [kind: number, message: number, from: number, to: number, bytes: number, begin: number, end: number];
export type Call = readonly [rank: number, enter: number, leave: number, name: number, place: number];

export interface RunData {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly detail: "statistics" | "messages" | "states";
  readonly lost: number;
  readonly lostCalls: number;
  readonly entities: readonly Entity[];
  readonly parameters: readonly (readonly (readonly [name: string, value: string])[])[];
  readonly boxes: readonly BoxOf[];
  readonly links: readonly (readonly [from: number, to: number])[];
  readonly sums: readonly (readonly [from: number, to: number, packets: number, bytes: number, busy: number])[];
  readonly quantities: readonly (readonly [entity: number, name: string, mean: number, most: number])[];
  readonly latencies: { readonly count: number; readonly mean: number; readonly most: number; readonly bytes: number; readonly bins: readonly number[] };
  readonly records: readonly Message[];
  readonly states: readonly (readonly [time: number, quantity: number, value: number])[];
  readonly ranks: readonly number[];
  readonly names: readonly string[];
  readonly places: readonly string[];
  readonly calls: readonly Call[];
}

export const kEnter = 0, kPass = 1, kArrive = 2;

// How many of a sorted list are at `t` or earlier.
export function upTo(length: number, time: (i: number) => number, t: number): number {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time(middle) <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A number that changes at times.
export class Steps {
  private readonly times: number[] = [];
  private readonly values: number[] = [];
  most = 0;

  // In the order of time.
  add(time: number, value: number): void {
    if (this.times[this.times.length - 1] === time) this.values[this.values.length - 1] = value;
    else {
      this.times.push(time);
      this.values.push(value);
    }
    this.most = Math.max(this.most, value);
  }
  at(t: number): number {
    const n = upTo(this.times.length, (i) => this.times[i]!, t);
    return n === 0 ? 0 : this.values[n - 1]!;
  }
  get length(): number {
    return this.times.length;
  }
  // Its changes within a time, with the value that it has at the beginning.
  *within(from: number, to: number): Generator<readonly [time: number, value: number]> {
    let i = upTo(this.times.length, (n) => this.times[n]!, from);
    yield [from, i === 0 ? 0 : this.values[i - 1]!];
    for (; i < this.times.length && this.times[i]! <= to; i++) yield [this.times[i]!, this.values[i]!];
  }
  mean(from: number, to: number): number {
    let sum = 0, before: readonly [number, number] = [from, 0];
    for (const step of this.within(from, to)) {
      sum += before[1] * (step[0] - before[0]);
      before = step;
    }
    return to > from ? (sum + before[1] * (to - before[0])) / (to - from) : 0;
  }
}

// From changes in any order.
export function stepsOf(changes: (readonly [time: number, change: number])[]): Steps {
  const steps = new Steps();
  let sum = 0;
  for (const [time, change] of changes.sort((a, b) => a[0] - b[0])) steps.add(time, (sum += change));
  return steps;
}

export interface Stand {
  readonly call: string; // empty: it computes, or has not begun
  readonly place: string; // of the call, or of the last one
  readonly next: string; // where the next call is made; computing alone
}

const kSlices = 2000;

export class Run {
  readonly moments: Float64Array; // when something begins or ends
  readonly progress: Float64Array; // when the calls of all ranks began, in order
  readonly states: readonly Steps[]; // by quantity
  private readonly slices: number[][] = [];
  private readonly callsOf: Call[][];

  constructor(readonly data: RunData) {
    const { records, calls } = data;
    for (let s = 0; s <= kSlices; s++) this.slices.push([]);
    const times = new Set<number>([data.from, data.to]);
    records.forEach((record, i) => {
      times.add(record[kBegin]).add(record[kEnd]);
      if (record[0] !== kPass) return;
      for (let s = this.slice(record[kBegin]); s <= this.slice(record[kEnd]); s++) this.slices[s]!.push(i);
    });
    for (const [time] of data.states) times.add(time);
    this.callsOf = data.ranks.map(() => []);
    for (const call of calls) (this.callsOf[call[0]] ??= []).push(call);
    for (const own of this.callsOf) own.sort((a, b) => a[1] - b[1]);
    this.progress = Float64Array.from(calls, (call) => call[1]).sort();
    for (const time of this.progress) times.add(time);
    this.moments = Float64Array.from([...times].filter((t) => t >= data.from && t <= data.to)).sort();
    const states = data.quantities.map(() => new Steps());
    for (const [time, quantity, value] of data.states) states[quantity]!.add(time, value);
    this.states = states;
  }

  private slice(t: number): number {
    const { from, to } = this.data;
    return Math.min(kSlices, Math.max(0, Math.floor(((t - from) / Math.max(1, to - from)) * kSlices)));
  }

  // Calls `each` with every packet that is on a link.
  underWay(t: number, each: (record: Message) => void): void {
    for (const i of this.slices[this.slice(t)]!) {
      const record = this.data.records[i]!;
      if (record[kBegin] <= t && t < record[kEnd]) each(record);
    }
  }

  stand(rank: number, t: number): Stand {
    const own = this.callsOf[rank] ?? [];
    const n = upTo(own.length, (i) => own[i]![1], t);
    const place = (call: Call | undefined): string => (call === undefined ? "" : this.data.places[call[4]] ?? "");
    const last = own[n - 1];
    if (last !== undefined && t < last[2]) return { call: this.data.names[last[3]] ?? "", place: place(last), next: "" };
    return { call: "", place: place(last), next: place(own[n]) };
  }

  // The calls of a rank.
  calls(rank: number): readonly Call[] {
    return this.callsOf[rank] ?? [];
  }

  after(t: number): number {
    return this.moments[upTo(this.moments.length, (i) => this.moments[i]!, t)] ?? this.data.to;
  }
  before(t: number): number {
    const n = upTo(this.moments.length, (i) => this.moments[i]!, t);
    return this.moments[this.moments[n - 1] === t ? n - 2 : n - 1] ?? this.data.from;
  }

  // How far the program is, in calls; between two of them a part of one.
  progressAt(t: number): number {
    const n = upTo(this.progress.length, (i) => this.progress[i]!, t);
    const begin = this.progress[n - 1] ?? this.data.from, end = this.progress[n] ?? this.data.to;
    return n + (end > begin ? Math.min(1, Math.max(0, (t - begin) / (end - begin))) : 0);
  }
  // The reverse.
  timeAt(progress: number): number {
    const n = Math.min(this.progress.length, Math.floor(progress));
    const begin = this.progress[n - 1] ?? this.data.from, end = this.progress[n] ?? this.data.to;
    return Math.round(begin + Math.min(1, progress - n) * (end - begin));
  }
}

const kBegin = 5, kEnd = 6;

// "1.5 us", "20 ns".
export function timeText(ps: number): string {
  for (const [unit, size] of [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3]] as const)
    if (Math.abs(ps) >= size) return `${Number((ps / size).toPrecision(5))} ${unit}`;
  return `${Math.round(ps)} ps`;
}

export function bytesText(bytes: number): string {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const)
    if (bytes >= size) return `${Number((bytes / size).toPrecision(3))} ${unit}`;
  return `${Math.round(bytes)} B`;
}

export function numberText(value: number): string {
  return String(Number(value.toPrecision(4)));
}
