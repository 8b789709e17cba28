// A run that a server holds (src/pyramid): the page asks for tiles of times, and for the events
// of a window where they are few enough. Nothing is held but what was looked at last.
import { decodeWindow, type Window, windowShapes } from "../decode";
import type { Group } from "../arrange";
import { isTimedCall, noEvents, type TraceData, type TraceHead } from "../events";
import type { Rows } from "../rows";
import type { ShareSums } from "../shares";
import type { States } from "../sums";
import type { Interval } from "../viewport";
import { type RankFacts, readAlike, readRankFacts, tellRows } from "./facts";

const kBins = 256; // of a tile
const kBlocks = 64;
const kLeastLevel = 8;
const kMostLevel = 44;
const kMostTiles = 1200; // held
const kMostLines = 8; // of messages under way, held
const kAtOnce = 4; // requests under way
const kLastFunction = 126; // its class is that of all further functions

interface Tile {
  readonly first: Uint32Array; // entry of each block, and the end
  readonly bins: Uint8Array;
  readonly classes: Uint8Array; // of the page
  readonly times: Float32Array; // ps
}

type Fetch = (path: string, body?: string) => Promise<ArrayBuffer>;

async function fetchBytes(path: string, body?: string): Promise<ArrayBuffer> {
  const answer = await fetch(path, body === undefined ? {} : { method: "POST", body });
  if (!answer.ok) throw new Error(`the server says: ${await answer.text()}`);
  return answer.arrayBuffer();
}

// The page's states of a served run: the functions with the most time get one each.
export function servedStates(head: TraceHead, most: number): { states: States; ofClass: Uint8Array; totals: Float64Array } {
  const { functions, totals } = head.served!;
  const time = (slot: number): number => totals[1 + 2 * slot]! + totals[2 + 2 * slot]!;
  const order = functions.map((_, slot) => slot).sort((a, b) => time(b) - time(a)); // stable
  const others = time(kLastFunction) > 0;
  const own = order.length + (others ? 1 : 0) <= most - 1 ? order : order.slice(0, most - 2);
  const names = ["COMPUTE", ...own.map((slot) => head.names[functions[slot]!]!)];
  if (own.length < order.length || others) names.push("other calls");
  const count = names.length;
  const ofClass = new Uint8Array(256);
  const stateOfName = new Map<number, number>();
  for (let slot = 0; slot <= kLastFunction; slot++) {
    const found = own.indexOf(slot);
    const state = found < 0 ? count - 1 : found + 1;
    ofClass[1 + 2 * slot] = state;
    ofClass[2 + 2 * slot] = count + state;
    if (slot < functions.length) stateOfName.set(functions[slot]!, state);
  }
  const shapes = windowShapes(head);
  const ofShape = Uint8Array.from(shapes, ({ kind, name }) => (isTimedCall(kind) ? stateOfName.get(name) ?? count - 1 : 0));
  const sums = new Float64Array(2 * count);
  totals.forEach((sum, cls) => (sums[ofClass[cls]!]! += sum));
  return { states: { names, count, ofShape }, ofClass, totals: sums };
}

export class Remote {
  changed: () => void = () => undefined; // something has come
  failed: (what: string) => void = () => undefined;
  version = 0; // grows with what has come
  window: Window | null = null;
  many = 0; // events of the window that was asked for last, where they were too many
  private readonly ranks: number;
  private readonly topLevel: number;
  private readonly mostLevel: number;
  private readonly tiles = new Map<string, Tile>(); // those used last at the end
  private wanted: string[] = [];
  private readonly asked = new Set<string>();
  private timer: number | undefined;
  private askedWindow = "";
  private told: string | null = null; // the rows, where they are not the ranks
  private order = ""; // the server's number for them
  private rowCount: number;
  private rowLevel: number;
  private facts: { key: string; facts: Promise<RankFacts> } | null = null;
  private readonly lines = new Map<string, Float64Array | null>(); // null: asked for

  constructor(
    private readonly trace: TraceData,
    private readonly ofClass: Uint8Array,
    private readonly ask: Fetch = fetchBytes,
  ) {
    this.ranks = trace.ranks.length;
    this.rowCount = this.ranks;
    this.rowLevel = this.topLevel = Math.ceil(Math.log2(this.ranks));
    this.mostLevel = Math.max(kLeastLevel, Math.min(kMostLevel, Math.floor(Math.log2(trace.end))));
  }

  // Whether tiles are still to come: sums are of those that are here.
  get loading(): boolean {
    return this.wanted.length > 0 || this.asked.size > 0;
  }

  // What is drawn next asks for its tiles anew; others need not come any more.
  begin(): void {
    this.wanted = [];
  }

  // Adds the times of ranks [from, to), parts of ranks counted as such, to the columns of `sums`
  // from t0 on. What is not there yet is left out, and asked for; false if there is such.
  add(sums: ShareSums, t0: number, from: number, to: number): boolean {
    return this.addBlocks(sums, t0, from, to, this.ranks, this.topLevel, "");
  }

  // The same of rows, of which each counts as one rank.
  addRows(sums: ShareSums, t0: number, from: number, to: number): boolean {
    if (this.told !== null && this.order === "") return false;
    return this.addBlocks(sums, t0, from, to, this.rowCount, this.rowLevel, this.order);
  }

  private addBlocks(sums: ShareSums, t0: number, from: number, to: number, count: number, topLevel: number, order: string): boolean {
    let whole = true;
    const { dt, width } = sums;
    const { end } = this.trace;
    const rankLevel = Math.min(topLevel, Math.max(0, Math.floor(Math.log2(to - from))));
    const timeLevel = Math.min(this.mostLevel, Math.max(kLeastLevel, Math.ceil(Math.log2(end / dt))));
    const bin = end / 2 ** timeLevel;
    const size = 2 ** rankLevel;
    const firstTile = Math.max(0, Math.floor(t0 / bin / kBins));
    const lastTile = Math.min(2 ** timeLevel / kBins - 1, Math.floor((t0 + dt * width) / bin / kBins));
    for (let block = Math.floor(from / size); block * size < to; block++) {
      const begin = block * size;
      const stop = Math.min(count, begin + size);
      const part = (Math.min(to, stop) - Math.max(from, begin)) / (stop - begin);
      for (let column = firstTile; column <= lastTile; column++) {
        const tile = this.tile(order, timeLevel, column, rankLevel, Math.floor(block / kBlocks));
        if (tile !== null) addBlock(sums, tile, block % kBlocks, part, column * kBins * bin - t0, bin);
        else whole = false;
      }
    }
    return whole;
  }

  // Has the rows drawn in another order, or of several ranks each.
  async arrange(rows: Rows): Promise<void> {
    const told = tellRows(rows, this.ranks);
    if (told === this.told) return;
    this.told = told;
    this.order = "";
    this.rowCount = rows.count;
    this.rowLevel = Math.ceil(Math.log2(rows.count));
    this.version++;
    if (told === null) return;
    try {
      const order = new TextDecoder().decode(await this.ask("rows", told));
      if (this.told !== told) return;
      this.order = order;
      this.version++;
      this.changed();
    } catch (error) {
      this.failed(String(error));
    }
  }

  // Ranks that do the same in an interval.
  async alike(t0: number, t1: number): Promise<Group[]> {
    return readAlike(await this.ask(`alike?${interval(t0, t1)}`));
  }

  // What the ranks do in an interval; the last answer is kept.
  rankFacts(t0: number, t1: number): Promise<RankFacts> {
    const key = interval(t0, t1);
    if (this.facts?.key !== key) this.facts = { key, facts: this.ask(`ranks?${key}`).then(readRankFacts) };
    return this.facts.facts;
  }

  // The means of columns: how many messages are under way, or (`which` 1) bytes. Null: not there yet.
  underWay(which: number, t0: number, dt: number, columns: number): Float64Array | null {
    const key = `${interval(t0, t0 + dt * columns)}&columns=${columns}`;
    const known = this.lines.get(key);
    if (known === undefined) void this.fetchUnderWay(key);
    return known?.subarray(which * columns, (which + 1) * columns) ?? null;
  }

  private async fetchUnderWay(key: string): Promise<void> {
    this.lines.set(key, null);
    for (const oldest of this.lines.keys()) {
      if (this.lines.size <= kMostLines) break;
      this.lines.delete(oldest);
    }
    try {
      this.lines.set(key, new Float64Array(await this.ask(`under-way?${key}`)));
      this.changed();
    } catch (error) {
      this.failed(String(error));
    }
  }

  // Whether the events that the page holds are all of that view.
  covers(view: Interval, first: number, last: number): boolean {
    const { window } = this;
    return window !== null && window.from <= view.t0 && window.to >= view.t1 && window.first <= first && window.first + window.ranks.length >= last;
  }

  // Asks for the events of a view once it stands still, with some beside it.
  wantWindow(view: Interval, first: number, last: number): void {
    const key = `${view.t0} ${view.t1} ${first} ${last}`;
    if (key === this.askedWindow) return;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.askWindow(key, view, first, last), 150);
  }

  private async askWindow(key: string, view: Interval, first: number, last: number): Promise<void> {
    this.askedWindow = key;
    const margin = (view.t1 - view.t0) / 2;
    const rows = last - first;
    const [from, to] = [Math.floor(Math.max(0, view.t0 - margin)), Math.ceil(view.t1 + margin)];
    const [low, high] = [Math.max(0, first - rows), Math.min(this.ranks, last + rows)];
    try {
      const bytes = await this.ask(`events?from=${from}&to=${to}&first=${low}&last=${high}`);
      if (this.askedWindow !== key) return;
      const found = decodeWindow(this.trace, bytes);
      this.many = typeof found === "number" ? found : 0;
      if (typeof found !== "number") this.window = { ...found, from, to };
      this.changed();
    } catch (error) {
      this.failed(String(error));
    }
  }

  private tile(...place: [order: string, timeLevel: number, column: number, rankLevel: number, row: number]): Tile | null {
    const key = place.join(" ");
    const known = this.tiles.get(key);
    if (known !== undefined) {
      this.tiles.delete(key);
      this.tiles.set(key, known);
      return known;
    }
    if (!this.wanted.includes(key) && !this.asked.has(key)) {
      this.wanted.push(key);
      if (this.wanted.length === 1) queueMicrotask(() => this.pump());
    }
    return null;
  }

  private pump(): void {
    while (this.asked.size < kAtOnce && this.wanted.length > 0) void this.fetch(this.wanted.shift()!);
  }

  private async fetch(key: string): Promise<void> {
    const [order, time, column, ranks, row] = key.split(" ");
    this.asked.add(key);
    try {
      const bytes = await this.ask(`tile?time=${time}&column=${column}&ranks=${ranks}&row=${row}${order === "" ? "" : `&rows=${order}`}`);
      this.tiles.set(key, readTile(bytes, this.ofClass));
      for (const oldest of this.tiles.keys()) {
        if (this.tiles.size <= kMostTiles) break;
        this.tiles.delete(oldest);
      }
      this.version++;
      this.asked.delete(key);
      // Pictures in between cost more than they show.
      if (this.wanted.length === 0 && this.asked.size === 0) this.changed();
    } catch (error) {
      this.wanted = [];
      this.asked.delete(key);
      this.failed(String(error));
    }
    this.pump();
  }
}

function interval(t0: number, t1: number): string {
  return `from=${Math.max(0, t0)}&to=${t1}`;
}

// As Pyramid::tile() has it.
export function readTile(bytes: ArrayBuffer, ofClass: Uint8Array): Tile {
  const counts = new Uint32Array(bytes, 0, kBlocks);
  const first = new Uint32Array(kBlocks + 1);
  counts.forEach((count, i) => (first[i + 1] = first[i]! + count));
  const all = first[kBlocks]!;
  const start = kBlocks * 4;
  return {
    first,
    bins: new Uint8Array(bytes, start, all),
    classes: new Uint8Array(bytes, start + all, all).map((cls) => ofClass[cls]!),
    times: new Float32Array(bytes, Math.ceil((start + 2 * all) / 4) * 4, all),
  };
}

// `offset`: from the left of the columns to that of the tile, ps.
function addBlock(sums: ShareSums, tile: Tile, block: number, part: number, offset: number, bin: number): void {
  const { dt, width } = sums;
  const { first, bins, classes, times } = tile;
  for (let i = first[block]!; i < first[block + 1]!; i++) {
    const x = (offset + bins[i]! * bin) / dt;
    const beyond = x + bin / dt;
    const column = Math.floor(x);
    const time = times[i]! * part;
    // A bin is no wider than a column where there are bins that are fine enough.
    for (let at = Math.max(0, column); at < beyond && at < width; at++) {
      const within = (Math.min(beyond, at + 1) - Math.max(x, at)) / (beyond - x);
      if (within > 0) sums.addTime(at, classes[i]!, time * within);
    }
  }
}

// A run without its events.
export function servedTrace(head: TraceHead): TraceData {
  const ends = head.ranks.map(([, , end]) => end);
  const unknown = head.served!.waits ? [] : ["How long calls waited is not known: the run has more messages and collectives than are remembered to find that out."];
  return {
    head: { ...head, notes: [...head.notes, ...unknown] }, shapes: windowShapes(head),
    end: ends.reduce((most, end) => Math.max(most, end), 1),
    events: head.ranks.reduce((sum, [count]) => sum + count, 0),
    ranks: ends.map(noEvents),
  };
}
