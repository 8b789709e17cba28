// What `foretrace explain --json` says, as far as the page shows it (docs/explain.md
// describes the fields), and where in the trace a finding is.
import type { PathData } from "../path";
import type { RankData, TraceData } from "../events";

export interface Parts {
  readonly compute: number;
  readonly overhead: number;
  readonly latency: number;
  readonly bytes: number;
  readonly synchronisation: number;
  readonly files: number;
  readonly queue: number;
}

export interface Place {
  readonly place: string;
  readonly function: string;
  readonly phase: string;
}

export interface Share extends Parts, Partial<Place> {
  readonly time: number;
  readonly rank?: number;
}

export interface Finding extends Place {
  readonly kind: string;
  readonly wait?: string;
  readonly ranks: number[];
  readonly spent: number;
  readonly gain: number;
  readonly predicted_time: number;
  readonly estimated: boolean;
  readonly verified: boolean;
  readonly cause: (Place & { rank: number }) | null;
  readonly effort: string;
  readonly enough: number | null;
  readonly check: string;
  readonly algorithm?: string;
  readonly link?: [string, string]; // of the topology, from where to where
  readonly elsewhere?: boolean; // files: in other places, too
}

export interface DelayCost extends Place {
  readonly what: string;
  readonly direct: number;
  readonly indirect: number;
  readonly most: number;
}

export interface WaitGroup extends Place {
  readonly kind: string;
  readonly ranks: number[];
  readonly count: number;
  readonly time: number;
  readonly longest: number;
  readonly cause: (Place & { what: string; rank: number; time: number }) | null;
}

export interface SingleWait extends Place {
  readonly kind: string;
  readonly rank: number;
  readonly at: number;
  readonly wait: number;
  readonly time_without: number;
}

export interface Region extends Partial<Place> {
  readonly mean: number;
  readonly most: number;
  readonly slowest: number;
  readonly balanced: number;
  readonly twice_as_fast: number;
}

export interface Sensitivity {
  readonly unit: string;
  readonly meaning?: string; // where it is added to equations
  readonly value: number;
  readonly slope: number;
  readonly pieces: { from: number; to: number; slope: number }[];
  readonly tolerance: Record<string, number | null>;
}

export interface Explanation {
  readonly time: number;
  readonly ranks: number;
  readonly where: string;
  readonly notes: string[];
  readonly headline: Record<"communication" | "balance" | "both" | "waits", number> & { readonly files: number | null };
  readonly bounds: Record<string, number | null>;
  readonly critical_path: Parts & { messages: number; places: Share[]; ranks: Share[]; phases: Share[] };
  readonly efficiency: Record<string, number>;
  readonly findings: Finding[];
  readonly waits: WaitGroup[];
  readonly delays: { readonly costs: DelayCost[] };
  readonly best_waits: SingleWait[];
  readonly domino_path: (Place & { rank: number; at: number; wait?: number; time_without?: number })[];
  readonly regions: Region[];
  readonly sensitivity: Record<string, Sensitivity>;
  readonly path: PathData;
}

export const kParts: readonly [key: keyof Parts, name: string][] = [
  ["compute", "computation"],
  ["overhead", "overhead of messages"],
  ["latency", "latency of messages"],
  ["bytes", "bytes"],
  ["synchronisation", "synchronisation"],
  ["files", "files"],
  ["queue", "queues at links and ports"],
];

// "MPI_Recv at halo.c:37 in phase solve"
export function describePlace(what: Partial<Place>): string {
  let text = what.function ?? "";
  if (what.place && what.place !== what.function) text += `${text === "" ? "" : " at "}${what.place}`;
  if (what.phase) text += text === "" ? `phase ${what.phase}` : ` in phase ${what.phase}`;
  return text === "" ? "no phase" : text;
}

// The innermost phase that holds event i of a rank and begins before the computation before it.
function phaseOf(trace: TraceData, rank: RankData, i: number): string {
  const at = i > 0 ? rank.leave[i - 1]! : 0;
  let name = "";
  for (const span of rank.phases) {
    if (span.from > at) break;
    if (span.to >= rank.leave[i]!) name = trace.head.names[span.name]!;
  }
  return name;
}

function isAt(trace: TraceData, rank: RankData, i: number, what: Place): boolean {
  const shape = trace.shapes[rank.shape[i]!]!;
  if (trace.head.names[shape.name] !== what.function) return false;
  const place = trace.head.places[shape.place - 1];
  return !place || what.place === what.function || place === what.place;
}

export interface Found {
  readonly rank: number;
  readonly event: number;
  readonly compute: boolean;
}

// The longest wait at a place on one of these ranks; or the longest computation before it.
// null: there is none.
export function findLongest(trace: TraceData, what: Place, ranks: readonly number[], compute: boolean): Found | null {
  let best: Found | null = null;
  let most = -1;
  for (const r of ranks) {
    const rank = trace.ranks[r];
    if (rank === undefined) continue;
    for (let i = 0; i < rank.count; i++) {
      if (!isAt(trace, rank, i, what)) continue;
      const length = compute ? rank.enter[i]! - (i > 0 ? rank.leave[i - 1]! : 0) : rank.wait[i]!;
      if (length <= most || (what.phase !== "" && phaseOf(trace, rank, i) !== what.phase)) continue;
      best = { rank: r, event: i, compute };
      most = length;
    }
  }
  return best;
}

// The event of a rank in which this moment lies.
export function eventAround(trace: TraceData, r: number, ps: number): Found | null {
  const rank = trace.ranks[r];
  if (rank === undefined) return null;
  for (let i = 0; i < rank.count; i++) if (rank.leave[i]! > ps) return { rank: r, event: i, compute: rank.enter[i]! > ps };
  return null;
}

// Run time over a parameter: the pieces' ends, seconds. The time at the value as it is is known.
export function curveOf(one: Sensitivity, time: number): { value: number; time: number }[] {
  const { pieces } = one;
  if (pieces.length === 0) return [];
  const points = [{ value: pieces[0]!.from, time: 0 }];
  for (const piece of pieces) points.push({ value: piece.to, time: points[points.length - 1]!.time + piece.slope * (piece.to - piece.from) });
  let here = 0;
  for (const [i, piece] of pieces.entries())
    if (piece.from <= one.value && one.value <= piece.to) here = points[i]!.time + piece.slope * (one.value - piece.from);
  return points.map((point) => ({ value: point.value, time: point.time + time - here }));
}
