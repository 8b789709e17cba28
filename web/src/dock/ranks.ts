// The rows: which order, which groups, what is folded or hidden.
import { alike, arrange, byCommunicator, byNode, type Group, oneGroup } from "../arrange";
import { delaysOf } from "../delays";
import { button, choice, element } from "../dom";
import { formatPercent, formatTime } from "../format";
import type { Model } from "../model";
import type { RankFacts } from "../served/facts";
import { type RankMeasure, rankMeasures } from "../statistics";
import type { Desk, Tool } from "./desk";
import { SortedTable } from "./table";

type Order = "rank" | "compute" | "calls" | "wait" | "delay" | "end";
type Grouping = "none" | "alike" | "comm" | "node";

const kApart = 6; // the table's column

interface Line extends RankMeasure {
  readonly group: Group;
  readonly delay: number;
}

export class RanksTool implements Tool {
  readonly id = "ranks";
  readonly title = "Ranks";
  readonly body = element("section");
  order: Order = "rank";
  grouping: Grouping = "none";
  groups: Group[];
  readonly folded = new Set<string>();
  readonly hidden = new Set<number>();
  private delays: { model: Model; values: Float64Array } | null = null;
  private asked = ""; // the view of the facts that a server was asked for last
  private served: RankFacts | null = null; // its answer
  private readonly pickers: Record<"order" | "grouping", HTMLSelectElement>;
  private readonly table: SortedTable<Line>;

  constructor(private readonly desk: Desk) {
    this.groups = oneGroup(desk.model.trace.ranks.length);
    const delays: [Order, string][] = desk.model.trace.head.served?.delays === false ? [] : [["delay", "others' waiting for it"]];
    const order = choice("sorted by", [
      ["rank", "rank"], ["compute", "computing in view"], ["calls", "time in calls in view"], ["wait", "waiting in view"],
      ...delays, ["end", "end"],
    ], (value) => void this.sort(value as Order));
    const known: [Grouping, string][] = [["none", "no groups"], ["alike", "alike in view"]];
    if (byCommunicator(desk.model).length > 1) known.push(["comm", "communicator"]);
    if (desk.model.trace.head.nodes !== undefined) known.push(["node", "node"]);
    const grouping = choice("grouped by", known, (value) => void (value === "alike" ? this.foldAlike() : this.group(value as Grouping)));
    this.pickers = { order: order.select, grouping: grouping.select };
    this.table = new SortedTable<Line>("A name folds or unfolds its ranks, and leads to them; times in view", [
      { name: "group", value: (line) => line.group.name, text: (line) => `${this.folded.has(line.group.name) ? "▸" : "▾"} ${line.group.name}` },
      { name: "ranks", value: (line) => line.group.ranks.length },
      { name: "first", value: (line) => line.group.ranks[0]! },
      { name: "computing", value: (line) => line.compute, text: (line) => this.share(line.compute) },
      { name: "in calls", value: (line) => line.calls, text: (line) => this.share(line.calls) },
      { name: "waiting", value: (line) => line.wait, text: (line) => this.share(line.wait) },
      { name: "apart", value: (line) => line.group.apart ?? 0, text: (line) => (line.group.apart === undefined ? "–" : formatPercent(line.group.apart)), title: "In how much of the time its first rank does something else than that of the largest group" },
      { name: "others' waiting", value: (line) => line.delay, text: (line) => (Number.isNaN(line.delay) ? "–" : formatTime(Math.round(line.delay))), title: "What others waited for them in the whole run; mean of a rank" },
    ], 1, (line) => this.open(line.group));
    this.body.append(element("div", "tool-line", order.label, grouping.label,
      button("fold all", "One row for each group", () => this.foldAll(true)),
      button("unfold all", "A row for each rank", () => this.foldAll(false)),
      button("hide rank", "Hide the rank of the chosen event", () => this.hide()),
      button("show all", "Show the hidden ranks again", () => this.showAll())), this.table.node);
  }

  async sort(order: Order): Promise<void> {
    this.order = this.pickers.order.value = order;
    if (order !== "rank" && order !== "end") await this.ask();
    this.apply();
  }

  // Ranks that do the same in view as one row, those that are most unlike the others first.
  async foldAlike(): Promise<void> {
    await this.group("alike");
    this.table.sort(kApart);
  }

  async group(grouping: Grouping): Promise<void> {
    this.grouping = this.pickers.grouping.value = grouping;
    const { model } = this.desk;
    if (grouping === "alike" && model.remote !== null) {
      this.desk.say("looking for ranks that do alike…");
      const { t0, t1 } = model.view;
      const groups = await model.remote.alike(t0, t1).catch((error: unknown) => this.desk.say(String(error)));
      // Something else was asked for in between.
      if (this.grouping !== grouping || groups === undefined) return;
      this.desk.say(`${groups.length} groups of ranks that do alike`);
      this.show(grouping, groups);
      return;
    }
    const { t0, t1 } = model.view;
    this.show(grouping, grouping === "alike" ? alike(model, t0, t1) : grouping === "comm" ? byCommunicator(model)
      : grouping === "node" ? byNode(model) : oneGroup(model.trace.ranks.length));
  }

  private show(grouping: Grouping, groups: Group[]): void {
    this.groups = groups;
    this.folded.clear();
    // Alike are shown by one: the others tell nothing new.
    if (grouping === "alike") for (const group of this.groups) this.folded.add(group.name);
    this.apply();
    this.update();
  }

  fold(name: string): void {
    if (!this.folded.delete(name)) this.folded.add(name);
    this.apply();
    this.update();
  }

  private open(group: Group): void {
    if (group.ranks.length > 1) this.fold(group.name);
    this.desk.showRank(group.ranks[0]!);
    const others = group.ranks.length - 1;
    const how = others === 0 ? "" : ` and ${others} more${this.folded.has(group.name) ? ", folded" : ""}`;
    this.desk.say(`rank ${group.ranks[0]!}${how}`);
  }

  // The group of a rank, as a click on its row asks for.
  unfold(rank: number): void {
    const group = this.groups.find(({ ranks }) => ranks.includes(rank));
    if (group !== undefined && this.folded.has(group.name)) this.fold(group.name);
  }

  private foldAll(fold: boolean): void {
    this.folded.clear();
    if (fold) for (const group of this.groups) this.folded.add(group.name);
    this.apply();
    this.update();
  }

  private hide(): void {
    const { model } = this.desk;
    if (model.selected === null) {
      this.desk.say("choose an event of the rank first");
      return;
    }
    if (this.hidden.size + 1 < model.trace.ranks.length) this.hidden.add(model.selected.rank);
    this.apply();
  }

  private showAll(): void {
    this.hidden.clear();
    this.apply();
  }

  // Puts the rows in order, in all runs that have as many ranks.
  apply(): void {
    const { model, models } = this.desk;
    const rows = arrange(model.trace.ranks.length, this.groups, this.valueOf(), this.folded, this.hidden);
    for (const each of models) {
      if (each.trace.ranks.length !== model.trace.ranks.length) continue;
      each.rows = rows;
      each.scroll = 0;
      void each.remote?.arrange(rows);
    }
    this.desk.redraw();
  }

  private valueOf(): ((rank: number) => number) | null {
    const { model } = this.desk;
    const { order } = this;
    if (order === "rank") return null;
    if (order === "end") return (rank) => model.trace.ranks[rank]!.end;
    if (order === "delay") {
      const values = this.delaysOf(model);
      return (rank) => values[rank]!;
    }
    const measures = this.measuresOf(model);
    return (rank) => measures[rank]![order];
  }

  // What a server knows of the ranks in view; at once where there is none.
  private async ask(): Promise<void> {
    const { model } = this.desk;
    if (model.remote === null) return;
    const { t0, t1 } = model.view;
    const asked = (this.asked = `${t0} ${t1}`);
    try {
      const facts = await model.remote.rankFacts(t0, t1);
      if (this.asked === asked) this.served = facts;
    } catch (error) {
      this.desk.say(String(error));
    }
  }

  private measuresOf(model: Model): readonly RankMeasure[] {
    if (model.remote === null) return rankMeasures(model, model.view.t0, model.view.t1);
    return this.served?.measures ?? model.trace.ranks.map(() => ({ compute: NaN, calls: NaN, wait: NaN }));
  }

  private delaysOf(model: Model): Float64Array {
    if (model.remote !== null) return this.served?.delays ?? new Float64Array(model.trace.ranks.length).fill(NaN);
    if (this.delays?.model !== model) this.delays = { model, values: delaysOf(model) };
    return this.delays.values;
  }

  update(): void {
    const { model } = this.desk;
    const { t0, t1 } = model.view;
    if (model.remote !== null && this.asked !== `${t0} ${t1}`) void this.ask().then(() => this.fill());
    else this.fill();
  }

  private fill(): void {
    const { model } = this.desk;
    if (model.remote !== null && this.served === null) return;
    const measures = this.measuresOf(model);
    const delays = this.delaysOf(model);
    this.table.fill(this.groups.map((group) => {
      const mean = (of: (rank: number) => number): number => group.ranks.reduce((sum, rank) => sum + of(rank), 0) / group.ranks.length;
      return {
        group, compute: mean((rank) => measures[rank]!.compute), calls: mean((rank) => measures[rank]!.calls),
        wait: mean((rank) => measures[rank]!.wait), delay: mean((rank) => delays[rank]!),
      };
    }));
  }

  private share(time: number): string {
    const { t0, t1 } = this.desk.model.view;
    return formatPercent(time / (t1 - t0));
  }
}
