// Everything that the page knows and shows: the trace with its sums, and the
// state of the view. Drawing reads it, the controls change it.
import { Collectives } from "./collectives";
import type { TraceData } from "./events";
import type { EventSet } from "./eventset";
import { pairMessages, type Messages } from "./messages";
import type { Note } from "./notes";
import { kLight, makePalette, type Palette, type Theme } from "./palette";
import type { CriticalPath } from "./path";
import { allRanks, type Rows } from "./rows";
import { makeStates, RankSums, type States } from "./sums";
import type { Interval } from "./viewport";

export interface EventRef {
  readonly rank: number;
  readonly event: number; // the call, or the event that ends the computation
  readonly compute: boolean;
}

// Events that were asked for: all of them are marked.
export interface Found {
  readonly what: string; // in words
  readonly set: EventSet;
  readonly messages: readonly number[] | null; // drawn instead of all, where it was messages
}

export class Model {
  readonly sums: RankSums[];
  readonly totals: Float64Array; // by class, over all ranks
  readonly phaseDepths: number;

  view: Interval;
  rows: Rows;
  found: Found | null = null;
  notes: readonly Note[] = [];
  cursor: number | null = null; // the moment that the animation shows; ps
  scroll = 0; // pixels that the rows are moved up
  zoomY = 1;
  hidden = new Set<number>(); // states
  shares = true; // a pixel's shares stacked, instead of its dominant state
  showMessages = false;
  path: CriticalPath | null = null; // where the page has one
  showPath = true;
  selected: EventRef | null = null;
  phaseRank = 0;
  markO: number | null = null;
  markX: number | null = null;
  theme: Theme = kLight;
  palette: Palette;

  private paired: Messages | null = null;
  private gathered: Collectives | null = null;

  // `end`: how far the axis goes, which several runs have in common.
  constructor(
    readonly trace: TraceData,
    readonly states: States = makeStates(trace),
    readonly end: number = trace.end,
    readonly name = "",
  ) {
    this.rows = allRanks(trace.ranks.length);
    this.sums = trace.ranks.map((rank) => new RankSums(rank, this.states));
    this.totals = this.totalsIn(0, trace.end);
    this.view = { t0: 0, t1: end };
    this.palette = makePalette(this.states.names, this.hidden, this.theme);
    let depths = 0;
    for (const rank of trace.ranks) for (const phase of rank.phases) depths = Math.max(depths, phase.depth + 1);
    this.phaseDepths = Math.min(4, depths);
    this.phaseRank = Math.max(0, trace.ranks.findIndex((rank) => rank.phases.length > 0));
  }

  // Time by class in [a, b) over all ranks.
  totalsIn(a: number, b: number): Float64Array {
    const totals = new Float64Array(2 * this.states.count);
    for (const sums of this.sums) sums.addRange(a, b, totals);
    return totals;
  }

  // Pairs sends and receives when they are first asked for.
  messages(): Messages {
    return (this.paired ??= pairMessages(this.trace));
  }

  // From when to when an event lasts; ps.
  spanOf(ref: EventRef): { from: number; to: number } {
    const { enter, leave } = this.trace.ranks[ref.rank]!;
    if (!ref.compute) return { from: enter[ref.event]!, to: leave[ref.event]! };
    return { from: ref.event > 0 ? leave[ref.event - 1]! : 0, to: enter[ref.event]! };
  }

  collectives(): Collectives {
    return (this.gathered ??= new Collectives(this.trace));
  }

  repaint(theme: Theme): void {
    this.theme = theme;
    this.palette = makePalette(this.states.names, this.hidden, theme);
  }
}
