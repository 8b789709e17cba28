// The column beside the time lines: the run's numbers, the legend with totals
// and switches, and what is known of the selected event.
import { element } from "./dom";
import { formatNumber, formatPercent, formatTime } from "./format";
import type { Model } from "./model";
import { cssColour } from "./palette";
import type { Description } from "./tooltip";

// The numbers of a page's only run.
function numbersOf({ trace: { head, end, ranks, events } }: Model): [string, string][] {
  // Where nothing computes there is no speed-up to tell.
  const { speedup: ratio, efficiency } = head.summary;
  const speedup: [string, string][] =
    ratio === null || efficiency === null ? [] : [["speed-up", formatNumber(ratio)], ["efficiency", formatPercent(efficiency)]];
  return [
    ["ranks", String(ranks.length)],
    [head.clock === "cpu" ? "CPU time" : "time", formatTime(head.summary.time || end)],
    ["serial", formatTime(head.summary.serial)],
    ...speedup,
    ["events", events.toLocaleString("en")],
  ];
}

// Times of several runs, and how they compare with the first's.
function timesOf(models: readonly Model[]): [string, string][] {
  const times = models.map(({ trace }) => trace.head.summary.time || trace.end);
  return models.map((model, i) => [
    model.name, formatTime(times[i]!) + (i === 0 ? "" : `, ${formatPercent(times[i]! / times[0]!)}`),
  ]);
}

export function fillHeader(models: readonly Model[]): void {
  const { head } = models[0]!.trace;
  const program = head.program || "MPI program";
  document.title = `${program} – time line`;
  document.querySelector("#program")!.textContent = program;
  document.querySelector("#origin")!.textContent = head.trace;
  const numbers = models.length === 1 ? numbersOf(models[0]!) : timesOf(models);
  const list = document.querySelector("#numbers")!;
  for (const [name, value] of numbers) {
    const item = element("div", "number");
    item.append(element("dt", "", name), element("dd", "", value));
    list.append(item);
  }
  const notes = document.querySelector<HTMLElement>("#notes")!;
  for (const model of models)
    for (const note of model.trace.head.notes) notes.append(element("p", "", model.name === "" ? note : `${model.name}: ${note}`));
  notes.hidden = notes.childElementCount === 0;
}

export class Legend {
  private readonly rows: { total: HTMLElement; view: HTMLElement; wait: HTMLElement; swatch: HTMLElement }[] = [];

  constructor(
    private readonly run: () => Model, // that was touched last
    changed: () => void,
  ) {
    const body = document.querySelector("#legend")!;
    const model = run();
    const { states } = model;
    states.names.forEach((name, state) => {
      const row = element("tr", "");
      const label = element("label", "");
      const box = element("input", "");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        if (box.checked) model.hidden.delete(state);
        else model.hidden.add(state);
        row.classList.toggle("off", !box.checked);
        changed();
      });
      const swatch = element("span", "swatch");
      label.append(box, swatch, element("span", "name", name));
      const first = element("td", "state");
      first.append(label);
      const total = element("td", "time");
      const view = element("td", "time");
      const wait = element("td", "time wait");
      row.append(first, total, view, wait);
      body.append(row);
      this.rows.push({ total, view, wait, swatch });
    });
  }

  // Colours of the theme, and the times of the shown interval.
  update(): void {
    const model = this.run();
    const { states, view, trace, totals } = model;
    const times = model.totalsIn(view.t0, view.t1);
    const whole = (view.t1 - view.t0) * trace.ranks.length;
    this.rows.forEach(({ total, view: cell, wait, swatch }, state) => {
      total.textContent = formatTime(totals[state]! + totals[states.count + state]!);
      const waiting = times[states.count + state]!;
      const time = times[state]! + waiting;
      cell.textContent = time <= 0 ? "–" : formatPercent(time / whole);
      wait.textContent = waiting <= 0 ? "–" : formatPercent(waiting / whole);
      swatch.style.setProperty("--busy", cssColour(model.palette.busy[state]!));
      swatch.style.setProperty("--waiting", cssColour(model.palette.waiting[state]!));
    });
  }
}

// A list of names and values.
export function facts(about: readonly [string, string][]): HTMLElement {
  const list = element("dl", "");
  for (const [name, value] of about) list.append(element("dt", "", name), element("dd", "", value));
  return list;
}

export function showDescription(model: Model, node: HTMLElement, what: Description | null): void {
  node.hidden = what === null;
  if (what === null) return;
  const title = element("h2", "", what.title);
  const swatch = element("span", "swatch");
  swatch.style.setProperty("--busy", cssColour(model.palette.busy[what.state]!));
  swatch.style.setProperty("--waiting", cssColour(model.palette.waiting[what.state]!));
  title.prepend(swatch);
  node.replaceChildren(title, facts(what.facts));
}
