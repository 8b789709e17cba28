// The plot at the front of a data sheet: of one machine any functions and numbers of ranks; of
// several machines one function at one number of ranks, with a colour for each machine.
import { element, Figure, toggle } from "./figure";
import type { Machine, Sheet, SheetFunction } from "./model";
import type { Series } from "./plot";

const kMostSeries = 12;
const kFirst = ["pingpong", "send", "bcast", "allreduce"];
const kMostRanks = 2 ** 26;

const kGroups: readonly [group: SheetFunction["group"], title: string][] = [
  ["pair", "between two ranks"],
  ["both", "by ranks and size"],
  ["ranks", "by ranks alone"],
];

function isOverRanks(series: readonly Series[]): boolean {
  return series.length > 0 && series.every((each) => each.f.group === "ranks");
}

export class Explorer {
  readonly node = element("div", "explorer");
  readonly figure: Figure;
  private readonly functions = new Set<string>();
  private readonly ranks = new Set<number>();
  private readonly machines: Set<Machine>;
  private readonly otherRanks = new Set<number>();
  private readonly compares: boolean;
  private readonly choices = element("div", "choices");
  private readonly note = element("p", "note");

  constructor(private readonly sheet: Sheet) {
    this.machines = new Set(sheet.machines);
    this.compares = sheet.machines.length > 1;
    const names = this.compares ? this.shared() : this.names();
    for (const name of kFirst) if (names.includes(name)) this.functions.add(name);
    if (this.functions.size === 0) names.slice(0, 3).forEach((name) => this.functions.add(name));
    const last = this.compares ? sheet.common_ranks : sheet.ranks[sheet.ranks.length - 1];
    if (last !== undefined) this.ranks.add(last);
    this.keepOne();
    const series = this.series();
    this.figure = new Figure(
      { series, overRanks: isOverRanks(series), bytes: 0, quantity: "time", logX: true, logY: true, x: null, y: null },
      sheet,
    );
    this.node.append(this.choices, this.figure.node, this.note);
    this.showChoices();
  }

  // Called by the page's tests as well.
  choose(functions: readonly string[], ranks: readonly number[]): void {
    this.functions.clear();
    functions.forEach((name) => this.functions.add(name));
    this.ranks.clear();
    ranks.forEach((p) => this.addRanks(p));
    this.keepOne();
    this.showChoices();
    this.show();
  }

  // Machines are compared in one call at a time.
  private keepOne(): void {
    if (!this.compares) return;
    for (const set of [this.functions, this.ranks] as Set<unknown>[]) [...set].slice(1).forEach((each) => set.delete(each));
  }

  // What every machine has.
  private shared(): string[] {
    const has = (machine: Machine, name: string): boolean => machine.functions.some((f) => f.name === name);
    const names = this.names().filter((name) => this.sheet.machines.every((machine) => has(machine, name)));
    return names.length > 0 ? names : this.names();
  }

  private names(): string[] {
    return [...new Set(this.sheet.machines.flatMap((machine) => machine.functions.map((f) => f.name)))];
  }

  private series(): Series[] {
    const out: Series[] = [];
    const several = this.compares;
    for (const machine of this.machines)
      for (const f of machine.functions) {
        if (!this.functions.has(f.name)) continue;
        const ranks = f.group === "pair" || !f.depends_on_ranks ? [2] : [...this.ranks].sort((a, b) => a - b);
        for (const p of ranks)
          out.push({
            label: `${f.name}${f.group === "pair" ? "" : `, p = ${p}`}${several ? `, ${machine.name}` : ""}`,
            machine,
            f,
            ranks: p,
            colour: several ? this.sheet.machines.indexOf(machine) : out.length,
          });
      }
    return out;
  }

  private show(): void {
    const all = this.series();
    this.note.textContent = all.length > kMostSeries ? `The first ${kMostSeries} of ${all.length} curves are drawn.` : "";
    const overRanks = isOverRanks(all);
    const kept = overRanks === this.figure.current().overRanks ? {} : { x: null, y: null };
    this.figure.change({ series: all.slice(0, kMostSeries), overRanks, ...kept });
  }

  private chip<T>(label: string, set: Set<T>, value: T, alone = false): HTMLButtonElement {
    return toggle(label, set.has(value), (on) => {
      if (alone) {
        set.clear();
        set.add(value);
        this.showChoices();
        this.show();
        return;
      }
      if (on) set.add(value);
      else set.delete(value);
      this.show();
    });
  }

  private addRanks(p: number): void {
    this.ranks.add(p);
    if (!this.sheet.ranks.includes(p)) this.otherRanks.add(p);
  }

  private line(what: string, ...choices: HTMLElement[]): void {
    const line = element("div", "choice");
    line.append(element("span", "what", what), ...choices);
    this.choices.append(line);
  }

  private showChoices(): void {
    this.choices.replaceChildren();
    const { machines, ranks } = this.sheet;
    for (const [group, title] of kGroups) {
      const names = this.names().filter((name) =>
        machines.some((machine) => machine.functions.some((f) => f.name === name && f.group === group)),
      );
      if (names.length > 0) this.line(title, ...names.map((name) => this.chip(name, this.functions, name, this.compares)));
    }
    const all = [...ranks, ...this.otherRanks].sort((a, b) => a - b);
    this.line("ranks", ...all.map((p) => this.chip(`p = ${p}`, this.ranks, p, this.compares)), this.rankField());
    if (machines.length > 1) this.line("machines", ...machines.map((each) => this.chip(each.name, this.machines, each)));
  }

  // Any number of ranks, extrapolated or not.
  private rankField(): HTMLElement {
    const field = element("input", "");
    field.type = "number";
    field.min = "1";
    field.max = String(kMostRanks);
    field.placeholder = "other p";
    field.title = "Another number of ranks";
    field.addEventListener("change", () => {
      const p = Number(field.value);
      if (!Number.isInteger(p) || p < 1 || p > kMostRanks) return;
      if (this.compares) this.ranks.clear();
      this.addRanks(p);
      this.showChoices();
      this.show();
    });
    return field;
  }
}
