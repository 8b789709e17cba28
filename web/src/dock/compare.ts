// The runs of the page in numbers, side by side.
import { type Compared, compareRuns } from "../compare/phases";
import { choice, element } from "../dom";
import { formatPercent, formatTime } from "../format";
import type { Grouping } from "../statistics";
import type { Desk, Tool } from "./desk";
import { type Column, SortedTable } from "./table";

export class CompareTool implements Tool {
  readonly id = "compare";
  readonly title = "Compare";
  readonly body = element("section");
  private by: Grouping;
  private readonly table: SortedTable<Compared>;

  constructor(private readonly desk: Desk) {
    const phases = desk.models.some((model) => model.phaseDepths > 0);
    this.by = phases ? "phase" : "state";
    const { label, select } = choice("by", [["phase", "phase"], ["state", "state"], ["site", "call site"], ["rank", "rank"]], (value) => {
      this.by = value as Grouping;
      this.update();
    });
    select.value = this.by;
    const time = (name: string, of: (line: Compared) => number, title: string): Column<Compared> =>
      ({ name, value: of, text: (line) => formatTime(Math.round(of(line))), title });
    const columns: Column<Compared>[] = [{ name: "name", value: (line) => line.name }];
    desk.models.forEach((model, i) => {
      columns.push(time(model.name, (line) => line.times[i]!, `Time in view in ${model.name}, over all ranks`));
      columns.push(time("waiting", (line) => line.waits[i]!, `Waiting in view in ${model.name}`));
    });
    columns.push(
      { name: "difference", value: (line) => Math.abs(line.difference), text: (line) => `${line.difference < 0 ? "−" : "+"}${formatTime(Math.abs(Math.round(line.difference)))}`, title: "The second run less the first" },
      { name: "ratio", value: (line) => line.times[1]! / (line.times[0]! || 1), text: (line) => (line.times[0]! > 0 ? formatPercent(line.times[1]! / line.times[0]!) : "–"), title: "The second run over the first" });
    this.table = new SortedTable("The runs in what is in view, times over all ranks", columns, columns.length - 2);
    this.body.append(element("div", "tool-line", label), this.table.node);
  }

  update(): void {
    const { view } = this.desk.model;
    this.table.fill(compareRuns(this.desk.models, view.t0, view.t1, this.by));
  }
}
