// The statistics of what is in view, as a table; a line's name marks its events.
import { choice, element } from "../dom";
import { collect } from "../eventset";
import { isTimedCall } from "../events";
import { formatPercent, formatTime } from "../format";
import type { Found } from "../model";
import { type Grouping, type Line, siteKey, statistics } from "../statistics";
import type { Desk, Tool } from "./desk";
import { SortedTable } from "./table";

const kGroupings: readonly (readonly [Grouping, string])[] = [
  ["state", "state"], ["phase", "phase"], ["site", "call site"], ["rank", "rank"],
];

export class StatisticsTool implements Tool {
  readonly id = "statistics";
  readonly title = "Statistics";
  readonly body = element("section");
  by: Grouping = "state";
  private readonly table: SortedTable<Line>;
  private readonly picker: HTMLSelectElement;
  private whole = 1;

  constructor(private readonly desk: Desk) {
    const { label, select } = choice("by", kGroupings, (value) => this.group(value as Grouping));
    this.picker = select;
    this.table = new SortedTable<Line>("What is in view; a name marks its events", [
      { name: "name", value: (line) => line.name },
      { name: "times", value: (line) => line.count },
      { name: "in view", value: (line) => line.time, text: (line) => formatTime(Math.round(line.time)), title: "Time in view, over all ranks" },
      { name: "share", value: (line) => line.time, text: (line) => formatPercent(line.time / this.whole), title: "Of the time of all ranks in view" },
      { name: "mean", value: (line) => line.mean, text: (line) => formatTime(Math.round(line.mean)) },
      { name: "longest", value: (line) => line.most, text: (line) => formatTime(line.most), title: "The longest that touches the view, whole" },
      { name: "waiting", value: (line) => line.wait, text: (line) => formatTime(Math.round(line.wait)) },
    ], 2, (line) => this.mark(line));
    this.body.append(element("div", "tool-line", label), this.table.node);
  }

  group(by: Grouping): void {
    this.by = by;
    this.picker.value = by;
    this.update();
  }

  update(): void {
    const { model } = this.desk;
    const { t0, t1 } = model.view;
    this.whole = (t1 - t0) * model.trace.ranks.length;
    this.table.fill(statistics(model, t0, t1, this.by));
  }

  private mark(line: Line): void {
    const { desk } = this;
    const found: Found = { what: line.name, set: this.eventsOf(line), messages: null };
    if (this.by === "rank") desk.showRank(line.key);
    desk.find(found);
  }

  private eventsOf(line: Line): Found["set"] {
    const { trace, states } = this.desk.model;
    const timed = trace.shapes.map((shape) => isTimedCall(shape.kind));
    return collect(trace, (rank) => {
      const { shape, phases, enter, leave } = trace.ranks[rank]!;
      switch (this.by) {
        case "state":
          return (event, compute) => (compute ? line.key === 0 : timed[shape[event]!]! && states.ofShape[shape[event]!] === line.key);
        case "site":
          return (event, compute) => (compute ? line.key === 0 : timed[shape[event]!]! && siteKey(trace, shape[event]!) === line.key);
        case "rank":
          return rank === line.key ? (event, compute) => compute || timed[shape[event]!]! : null;
        case "phase": {
          const spans = phases.filter((span) => span.name === line.key);
          return (event, compute) => {
            const t = compute ? (event > 0 ? leave[event - 1]! : 0) : enter[event]!;
            return (compute || timed[shape[event]!]!) && spans.some((span) => span.from <= t && t < span.to);
          };
        }
      }
    });
  }
}
