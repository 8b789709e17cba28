// Numbers over time, of the whole run: ranks that wait or compute, messages and bytes under
// way, the load of a link, the numbers of marks. Means over intervals are exact.
import { Kind } from "./events";
import type { Model } from "./model";
import { networkScene } from "./scene";
import type { Remote } from "./served/remote";
import { ShareSums } from "./shares";

// By column: the mean, and where values differ within it the least and the most.
export interface Line {
  readonly mean: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
}

export interface Track {
  readonly name: string;
  readonly unit: "" | "B";
  line(t0: number, dt: number, columns: number): Line;
}

// A sum of rectangles: each adds its height between its two moments.
export class Steps {
  private readonly times: Float64Array;
  private readonly height: Float64Array; // from times[i] on
  private readonly area: Float64Array; // up to times[i]

  constructor(from: ArrayLike<number>, to: ArrayLike<number>, heights: ArrayLike<number> | null) {
    const count = from.length;
    const order = new Uint32Array(2 * count).map((_, i) => i);
    const time = (i: number): number => (i < count ? from[i]! : to[i - count]!);
    const sorted = Array.from(order).sort((a, b) => time(a) - time(b));
    this.times = new Float64Array(2 * count);
    this.height = new Float64Array(2 * count);
    this.area = new Float64Array(2 * count);
    let [now, area, before] = [0, 0, 0];
    sorted.forEach((each, i) => {
      const t = time(each);
      area += now * (t - before);
      now += (each < count ? 1 : -1) * (heights === null ? 1 : heights[each % count]!);
      this.times[i] = before = t;
      this.height[i] = now;
      this.area[i] = area;
    });
  }

  // The area under it up to t.
  areaTo(t: number): number {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[middle]! > t) high = middle;
      else low = middle + 1;
    }
    return low === 0 ? 0 : this.area[low - 1]! + this.height[low - 1]! * (t - this.times[low - 1]!);
  }

  line(t0: number, dt: number, columns: number): Line {
    const mean = new Float64Array(columns);
    let before = this.areaTo(t0);
    for (let x = 0; x < columns; x++) {
      const next = this.areaTo(t0 + (x + 1) * dt);
      mean[x] = Math.max(0, (next - before) / dt);
      before = next;
    }
    return { mean, least: mean, most: mean };
  }
}

// The same of a run that a server holds: no number before all of its times are there.
function servedRanksIn(remote: Remote, ranks: number, classes: number, takes: (cls: number) => boolean): Track["line"] {
  return (t0, dt, columns) => {
    const sums = new ShareSums(columns, classes, dt);
    const mean = new Float64Array(columns);
    if (!remote.add(sums, t0, 0, ranks)) mean.fill(NaN);
    for (let x = 0; x < columns; x++) sums.column(x).forEach((time, cls) => (mean[x]! += takes(cls) ? time / dt : 0));
    return { mean, least: mean, most: mean };
  };
}

function servedMessages(remote: Remote): Track[] {
  const line = (which: number): Track["line"] => (t0, dt, columns) => {
    const mean = remote.underWay(which, t0, dt, columns) ?? new Float64Array(columns).fill(NaN);
    return { mean, least: mean, most: mean };
  };
  return [{ name: "messages under way", unit: "", line: line(0) }, { name: "bytes under way", unit: "B", line: line(1) }];
}

// How many ranks are in some of the classes.
function ranksIn(model: Model, takes: (cls: number) => boolean): Track["line"] {
  const { remote, trace, states } = model;
  if (remote !== null) return servedRanksIn(remote, trace.ranks.length, 2 * states.count, takes);
  return (t0, dt, columns) => {
    const mean = new Float64Array(columns);
    const totals = new Float64Array(2 * model.states.count);
    for (let x = 0; x < columns; x++) {
      totals.fill(0);
      for (const sums of model.sums) sums.addRange(t0 + x * dt, t0 + (x + 1) * dt, totals);
      for (let cls = 0; cls < totals.length; cls++) if (takes(cls)) mean[x]! += totals[cls]! / dt;
    }
    return { mean, least: mean, most: mean };
  };
}

// What marks of one name said; where nothing is said, what was said last.
export function markLine(times: Float64Array, values: Float64Array): Track["line"] {
  return (t0, dt, columns) => {
    const line = { mean: new Float64Array(columns), least: new Float64Array(columns), most: new Float64Array(columns) };
    let at = 0;
    while (at < times.length && times[at]! < t0) at++;
    let last = at > 0 ? values[at - 1]! : NaN;
    for (let x = 0; x < columns; x++) {
      let [sum, count, least, most] = [0, 0, Infinity, -Infinity];
      for (; at < times.length && times[at]! < t0 + (x + 1) * dt; at++) {
        last = values[at]!;
        sum += last;
        count++;
        least = Math.min(least, last);
        most = Math.max(most, last);
      }
      line.mean[x] = count > 0 ? sum / count : last;
      line.least[x] = count > 0 ? least : last;
      line.most[x] = count > 0 ? most : last;
    }
    return line;
  };
}

function markTracks(model: Model): Track[] {
  const { trace } = model;
  const said = new Map<number, [time: number, value: number][]>();
  for (const rank of trace.ranks)
    for (const { event, value } of rank.marks) {
      const { kind, name } = trace.shapes[rank.shape[event]!]!;
      if (kind !== Kind.mark) continue;
      const list = said.get(name);
      if (list === undefined) said.set(name, [[rank.enter[event]!, value]]);
      else list.push([rank.enter[event]!, value]);
    }
  return [...said].map(([name, list]) => {
    list.sort((a, b) => a[0] - b[0]);
    return { name: trace.head.names[name]!, unit: "", line: markLine(Float64Array.from(list, ([t]) => t), Float64Array.from(list, ([, value]) => value)) };
  });
}

// The link over which most bytes go, where the network is known.
function busiestLink(model: Model, bytes: Float64Array): Track[] {
  const { network } = model.trace.head;
  if (network === undefined) return [];
  const scene = networkScene(network);
  const messages = model.messages();
  const loads = new Map<number, { bytes: number; list: number[] }>();
  for (let i = 0; i < messages.count; i++)
    for (const leg of scene.way(messages.source[i]!, messages.dest[i]!)) {
      if (leg.key < 0) continue;
      const load = loads.get(leg.key);
      if (load === undefined) loads.set(leg.key, { bytes: bytes[i]!, list: [i] });
      else {
        load.bytes += bytes[i]!;
        load.list.push(i);
      }
    }
  let most: [key: number, load: { bytes: number; list: number[] }] | null = null;
  for (const each of loads) if (most === null || each[1].bytes > most[1].bytes) most = each;
  if (most === null) return [];
  const [key, { list }] = most;
  const count = network.nodes.length;
  const steps = new Steps(list.map((i) => messages.sendTime[i]!), list.map((i) => messages.recvTime[i]!), list.map((i) => bytes[i]!));
  return [{ name: `bytes for the link of nodes ${Math.floor(key / count)} and ${key % count}, which has most`, unit: "B", line: (t0, dt, n) => steps.line(t0, dt, n) }];
}

export function tracksOf(model: Model): Track[] {
  const { trace, states, remote } = model;
  const waiting = { name: "ranks waiting", unit: "" as const, line: ranksIn(model, (cls) => cls >= states.count) };
  const computing = { name: "ranks computing", unit: "" as const, line: ranksIn(model, (cls) => cls === 0) };
  if (remote !== null) {
    const served = trace.head.served!;
    const underWay = servedMessages(remote);
    return [...(served.waits ? [waiting] : []), computing, ...(served.messages ? underWay : [])];
  }
  const messages = model.messages();
  const bytes = new Float64Array(messages.count);
  for (let i = 0; i < messages.count; i++)
    bytes[i] = trace.shapes[trace.ranks[messages.source[i]!]!.shape[messages.sendEvent[i]!]!]!.sendBytes;
  const ends = (heights: Float64Array | null): Track["line"] => {
    const steps = new Steps(messages.sendTime.subarray(0, messages.count), messages.recvTime.subarray(0, messages.count), heights);
    return (t0, dt, columns) => steps.line(t0, dt, columns);
  };
  const tracks: Track[] = [waiting, computing];
  if (messages.count > 0)
    tracks.push({ name: "messages under way", unit: "", line: ends(null) }, { name: "bytes under way", unit: "B", line: ends(bytes) }, ...busiestLink(model, bytes));
  return [...tracks, ...markTracks(model)];
}
