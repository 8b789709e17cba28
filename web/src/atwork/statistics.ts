// Sums of a run as pictures: how busy links were, how long messages took, what was in each entity.
// Each is a table with bars, so that it is read without seeing, too.
import { element } from "../dom";
import { loadColour } from "./drawing";
import { bytesText, kArrive, kPass, numberText, timeText, type Run } from "./run";

const kRows = 12;

export interface Row {
  readonly words: readonly string[];
  readonly share: number; // of the longest bar
}

export interface Table {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly Row[];
  readonly byLoad: boolean;
}

function top<T>(all: readonly T[], value: (one: T) => number): T[] {
  return [...all].sort((a, b) => value(b) - value(a)).slice(0, kRows).filter((one) => value(one) > 0);
}

interface LinkUse {
  from: number;
  to: number;
  packets: number;
  bytes: number;
  busy: number;
  until: number;
}

// From single messages, between measuring lines; the sums of the whole run are in the data.
function linksWithin(run: Run, from: number, to: number): LinkUse[] {
  const found = new Map<string, LinkUse>();
  const passes = run.data.records.filter(([kind, , , , , begin, end]) => kind === kPass && end > from && begin < to);
  for (const [, , a, b, bytes, begin, end] of passes.sort((x, y) => x[5] - y[5])) {
    const link = found.get(`${a} ${b}`) ?? { from: a, to: b, packets: 0, bytes: 0, busy: 0, until: from };
    found.set(`${a} ${b}`, link);
    ++link.packets;
    link.bytes += bytes;
    link.busy += Math.max(0, Math.min(end, to) - Math.max(begin, link.until));
    link.until = Math.max(link.until, Math.min(end, to));
  }
  return [...found.values()];
}

export function linkTable(run: Run, from: number, to: number, whole: boolean): Table {
  const path = (e: number): string => run.data.entities[e]![0];
  const all = whole
    ? run.data.sums.map(([a, b, packets, bytes, busy]) => ({ from: a, to: b, packets, bytes, busy, until: 0 }))
    : linksWithin(run, from, to);
  const most = Math.max(1, ...all.map(({ busy }) => busy));
  return {
    title: "The busiest links", heads: ["link", "busy", "packets", "bytes"], byLoad: true,
    rows: top(all, ({ busy }) => busy).map((one) => ({
      words: [`${path(one.from)} -> ${path(one.to)}`, `${((100 * one.busy) / Math.max(1, to - from)).toFixed(1)} %`, String(one.packets), bytesText(one.bytes)],
      share: one.busy / most,
    })),
  };
}

export function latencyTable(run: Run, from: number, to: number, whole: boolean): Table {
  const { latencies, records } = run.data;
  let bins = latencies.bins, count = latencies.count, sum = latencies.mean * latencies.count;
  if (!whole) {
    const own = new Array<number>(65).fill(0);
    count = sum = 0;
    for (const [kind, , , , , begin, end] of records) {
      if (kind !== kArrive || end < from || end > to) continue;
      ++own[end - begin < 1 ? 0 : Math.floor(Math.log2(end - begin)) + 1]!;
      ++count;
      sum += end - begin;
    }
    bins = own;
  }
  const most = Math.max(1, ...bins);
  const first = bins.findIndex((n) => n > 0);
  const last = bins.length - 1 - [...bins].reverse().findIndex((n) => n > 0);
  return {
    title: count === 0 ? "No message arrived" : `How long ${count} messages took: ${timeText(sum / count)} on average`,
    heads: ["less than", "messages"], byLoad: false,
    rows: first < 0 ? [] : bins.slice(first, last + 1).map((n, i) => ({ words: [timeText(2 ** (first + i)), String(n)], share: n / most })),
  };
}

export function quantityTable(run: Run, from: number, to: number, whole: boolean, quantity: string): Table {
  const { quantities, entities } = run.data;
  const own = quantities.map(([entity, name, mean, most], q) => ({ entity, name, mean: whole ? mean : run.states[q]!.mean(from, to), most }))
    .filter(({ name }) => name === quantity);
  const most = Math.max(1e-300, ...own.map(({ mean }) => mean));
  return {
    title: `Where the most is ${quantity}`, heads: ["entity", "mean", "most"], byLoad: false,
    rows: top(own, ({ mean }) => mean).map((one) => ({
      words: [entities[one.entity]![0], numberText(one.mean), numberText(one.most)], share: one.mean / most,
    })),
  };
}

export function tableNode({ title, heads, rows, byLoad }: Table): HTMLElement {
  const cells = rows.map(({ words, share }) => {
    const bar = element("div", "bar");
    bar.style.width = `${Math.max(1, 100 * share)}%`;
    if (byLoad) bar.style.background = loadColour(share);
    return element("tr", "", ...words.map((word) => element("td", "", word)), element("td", "bars", bar));
  });
  const bars = element("th", "bars", element("span", "unseen", "as a bar"));
  return element("table", "", element("caption", "", title), element("tr", "", ...heads.map((head) => element("th", "", head)), bars), ...cells);
}
