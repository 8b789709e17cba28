// The column beside the time lines: the run's numbers, the legend with totals
// and switches, and what is known of the selected event.
import { formatNumber, formatPercent, formatTime } from "./format";
import type { Model } from "./model";
import { cssColour } from "./palette";
import type { Description } from "./tooltip";

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, className: string, text = "",
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

export function fillHeader(model: Model): void {
  const { head, end, ranks, events } = model.trace;
  const program = head.program || "MPI program";
  document.title = `${program} – time line`;
  document.querySelector("#program")!.textContent = program;
  document.querySelector("#origin")!.textContent = head.trace;
  // Where nothing computes there is no speed-up to tell.
  const { speedup: ratio, efficiency } = head.summary;
  const speedup: [string, string][] =
    ratio === null || efficiency === null ? [] : [["speed-up", formatNumber(ratio)], ["efficiency", formatPercent(efficiency)]];
  const numbers: [string, string][] = [
    ["ranks", String(ranks.length)],
    [head.clock === "cpu" ? "CPU time" : "time", formatTime(head.summary.time || end)],
    ["serial", formatTime(head.summary.serial)],
    ...speedup,
    ["events", events.toLocaleString("en")],
  ];
  const list = document.querySelector("#numbers")!;
  for (const [name, value] of numbers) {
    const item = element("div", "number");
    item.append(element("dt", "", name), element("dd", "", value));
    list.append(item);
  }
  const notes = document.querySelector<HTMLElement>("#notes")!;
  for (const note of head.notes) notes.append(element("p", "", note));
  notes.hidden = head.notes.length === 0;
}

export class Legend {
  private readonly rows: { row: HTMLElement; view: HTMLElement; wait: HTMLElement; swatch: HTMLElement }[] = [];

  constructor(
    private readonly model: Model,
    changed: () => void,
  ) {
    const body = document.querySelector("#legend")!;
    const { states, totals } = model;
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
      const whole = totals[state]! + totals[states.count + state]!;
      const view = element("td", "time");
      const wait = element("td", "time wait");
      row.append(first, element("td", "time", formatTime(whole)), view, wait);
      body.append(row);
      this.rows.push({ row, view, wait, swatch });
    });
  }

  // Colours of the theme, and the times of the shown interval.
  update(): void {
    const { model } = this;
    const { states, view, trace } = model;
    const times = model.totalsIn(view.t0, view.t1);
    const whole = (view.t1 - view.t0) * trace.ranks.length;
    this.rows.forEach(({ view: cell, wait, swatch }, state) => {
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
