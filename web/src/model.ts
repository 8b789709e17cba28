// Everything that the page knows and shows: the trace with its sums, and the
// state of the view. Drawing reads it, the controls change it.
import { Collectives } from "./collectives";
import type { Window } from "./decode";
import { noEvents, type TraceData } from "./events";
import type { EventSet } from "./eventset";
import { pairMessages, type Messages } from "./messages";
import type { Note } from "./notes";
import { kLight, makePalette, type Palette, type Theme } from "./palette";
import type { CriticalPath } from "./path";
import { allRanks, type Rows } from "./rows";
import { Rounds } from "./rounds";
import type { Remote } from "./served/remote";
import { ShareSums } from "./shares";
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

const kFine = 512; // columns that times in view are added up of, where a server has them
const kSmall = 300_000; // events

export class Model {
  sums: RankSums[];
  readonly totals: Float64Array; // by class, over all ranks
  phaseDepths = 0;
  // A run that a server has: its events are those of a window only, and where that is not the
  // view, none.
  remote: Remote | null = null;
  far = false; // the view is drawn of the server's tiles, since it holds too many events

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
  detail: Interval | null = null; // what a second window shows
  theme: Theme = kLight;
  palette: Palette;

  private paired: Messages | null = null;
  private gathered: Collectives | null = null;
  private roundsOf: Rounds | null = null;

  // `end`: how far the axis goes, which several runs have in common.
  constructor(
    public trace: TraceData,
    readonly states: States = makeStates(trace),
    readonly end: number = trace.end,
    readonly name = "",
    totals: Float64Array | null = null, // where the trace does not tell
  ) {
    this.rows = allRanks(trace.ranks.length);
    this.sums = trace.ranks.map((rank) => new RankSums(rank, this.states));
    this.totals = totals ?? this.totalsIn(0, trace.end);
    this.view = { t0: 0, t1: end };
    this.palette = makePalette(this.states.names, this.hidden, this.theme);
    this.countPhases();
    this.phaseRank = Math.max(0, trace.ranks.findIndex((rank) => rank.phases.length > 0));
  }

  // The same run with a view and a scroll of its own: all else is as it is here, and what is set
  // there is set here.
  twin(view: Interval): Model {
    const own = new Map<string, unknown>(Object.entries({ view, scroll: 0, zoomY: 1, detail: null }));
    return new Proxy(this as Model, {
      get: (model, key) => (own.has(key as string) ? own.get(key as string) : Reflect.get(model, key, model) as unknown),
      set: (model, key, value: unknown) => (own.has(key as string) ? own.set(key as string, value) !== undefined : Reflect.set(model, key, value, model)),
    });
  }

  private countPhases(): void {
    let depths = 0;
    for (const rank of this.trace.ranks) for (const phase of rank.phases) depths = Math.max(depths, phase.depth + 1);
    this.phaseDepths = Math.min(4, depths);
  }

  // The events of a window of a run that a server has, in place of those before.
  load({ first, ranks }: Window): void {
    const { trace, sums } = this;
    const all = trace.ranks.map((old, rank) => ranks[rank - first] ?? (old.count > 0 ? noEvents(old.end) : old));
    this.trace = { ...trace, ranks: all };
    this.sums = all.map((rank, i) => (rank === trace.ranks[i] ? sums[i]! : new RankSums(rank, this.states)));
    this.selected = null;
    this.found = null;
    this.paired = null;
    this.countPhases();
  }

  // Time by class in [a, b) over all ranks.
  totalsIn(a: number, b: number): Float64Array {
    const totals = new Float64Array(2 * this.states.count);
    if (this.remote !== null) {
      const sums = new ShareSums(kFine, totals.length, (b - a) / kFine);
      this.remote.add(sums, a, 0, this.trace.ranks.length);
      sums.times.forEach((time, i) => (totals[i % totals.length]! += time));
      return totals;
    }
    for (const sums of this.sums) sums.addRange(a, b, totals);
    return totals;
  }

  // Joining all messages takes no time that a user would notice.
  get small(): boolean {
    return this.remote !== null || this.trace.events <= kSmall;
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
    // Which calls belong together is not known of a part.
    return (this.gathered ??= new Collectives(this.remote === null ? this.trace : { ...this.trace, ranks: [] }));
  }

  // The messages inside collectives, where they were simulated as messages.
  rounds(): Rounds {
    return (this.roundsOf ??= new Rounds(this.trace, this.collectives()));
  }

  repaint(theme: Theme): void {
    this.theme = theme;
    this.palette = makePalette(this.states.names, this.hidden, theme);
  }
}
