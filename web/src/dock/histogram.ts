// The histogram of durations: two limits that are dragged, or moved by the arrow keys,
// choose the events between them.
import { button, choice, element } from "../dom";
import type { EventSet } from "../eventset";
import { formatTime } from "../format";
import { eventsOfState, type Histogram, histogramOf, kBins, limitAt, within } from "../histogram";
import type { Model } from "../model";
import { cssColour } from "../palette";
import type { Desk, Tool } from "./desk";

const kHeight = 130;
const kFoundOnly = "found";

export class HistogramTool implements Tool {
  readonly id = "histogram";
  readonly title = "Histogram";
  readonly body = element("section");
  what = "0"; // a state, or what was found
  limits: [number, number] = [0, kBins];
  private readonly picker: HTMLSelectElement;
  private readonly canvas = element("canvas", "histogram");
  private readonly handles: HTMLElement[];
  private readonly text = element("p", "hint");
  private set: EventSet | null = null; // what the bins count
  private kept: { model: Model; what: string; found: EventSet | null } | null = null;
  private own: EventSet | null = null; // found by the limits
  private asked: EventSet | null = null; // found by something else before
  histogram: Histogram | null = null;

  constructor(private readonly desk: Desk) {
    const { label, select } = choice("of", [], (value) => this.choose(value));
    this.picker = select;
    this.fillPicker();
    this.canvas.setAttribute("role", "img");
    this.handles = [0, 1].map((i) => this.handle(i as 0 | 1));
    const plot = element("div", "histogram-plot", this.canvas, ...this.handles);
    this.text.setAttribute("role", "status");
    this.body.append(
      element("div", "tool-line", label, button("all durations", "Set the limits back", () => this.setLimits(0, kBins)), this.text), plot);
  }

  choose(what: string): void {
    this.what = what;
    this.picker.value = what;
    this.limits = [0, kBins];
    this.update();
  }

  update(): void {
    const { model } = this.desk;
    this.fillPicker();
    this.takeFound();
    const { what } = this;
    const found = what === kFoundOnly ? this.asked : null;
    if (this.kept === null || this.kept.model !== model || this.kept.what !== what || this.kept.found !== found) {
      this.kept = { model, what, found };
      this.set = what === kFoundOnly ? found : eventsOfState(model, Number(what));
    }
    this.histogram = this.set === null ? null : histogramOf(this.set, model.view.t0, model.view.t1);
    this.draw();
    this.tell();
  }

  // Limits as numbers of bins, 0 to kBins.
  setLimits(low: number, high: number): void {
    const fit = (limit: number): number => Math.min(kBins, Math.max(0, Math.round(limit)));
    this.limits = [Math.min(fit(low), fit(high)), Math.max(fit(low), fit(high))];
    this.draw();
    this.select();
  }

  private takeFound(): void {
    const { found } = this.desk.model;
    if (found?.set !== this.own) this.asked = found?.set ?? null;
  }

  private fillPicker(): void {
    const { states } = this.desk.model;
    const names = [...states.names.map((name, i) => [String(i), name] as const), [kFoundOnly, "what was found"] as const];
    if (this.picker.options.length === names.length) return;
    this.picker.replaceChildren(...names.map(([value, text]) => {
      const option = element("option", "", text);
      option.value = value;
      return option;
    }));
    this.picker.value = this.what;
  }

  private select(): void {
    const { desk, histogram, set } = this;
    if (histogram === null || set === null) return;
    const [low, high] = this.limits.map((limit) => limitAt(histogram, limit)) as [number, number];
    const { t0, t1 } = desk.model.view;
    const all = this.limits[0] === 0 && this.limits[1] === kBins;
    const chosen = within(set, low * (1 - 1e-9), high * (1 + 1e-9), t0, t1);
    this.own = all && this.what !== kFoundOnly ? null : chosen;
    desk.find(this.own === null ? null : { what: `${this.name} of ${formatTime(Math.round(low))} to ${formatTime(Math.round(high))}`, set: chosen, messages: null });
    this.tell();
  }

  private get name(): string {
    return this.picker.selectedOptions[0]?.textContent ?? "";
  }

  private tell(): void {
    const { histogram, limits } = this;
    if (histogram === null) {
      this.text.textContent = this.what === kFoundOnly && this.set === null ? "Nothing was asked for yet: search, or mark a line of the statistics." : "None in view.";
      return;
    }
    let count = 0;
    let time = 0;
    for (let bin = limits[0]; bin < limits[1]; bin++) {
      count += histogram.counts[bin]!;
      time += histogram.times[bin]!;
    }
    const low = formatTime(Math.round(limitAt(histogram, limits[0])));
    const high = formatTime(Math.round(limitAt(histogram, limits[1])));
    this.text.textContent = `${count} from ${low} to ${high}, ${formatTime(time)} in all`;
    this.canvas.setAttribute("aria-label", `Histogram of durations: ${this.text.textContent}`);
    this.handles.forEach((handle, i) => {
      handle.setAttribute("aria-valuenow", String(limits[i]));
      handle.setAttribute("aria-valuetext", i === 0 ? low : high);
    });
  }

  private handle(i: 0 | 1): HTMLElement {
    const node = element("div", "limit");
    node.tabIndex = 0;
    node.setAttribute("role", "slider");
    node.setAttribute("aria-label", i === 0 ? "Shortest" : "Longest");
    node.setAttribute("aria-valuemin", "0");
    node.setAttribute("aria-valuemax", String(kBins));
    const move = (limit: number): void => {
      const other = this.limits[1 - i]!;
      if (i === 0) this.setLimits(Math.min(limit, other), other);
      else this.setLimits(other, Math.max(limit, other));
    };
    node.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      const to = event.key === "Home" ? 0 : event.key === "End" ? kBins : step === undefined ? null : this.limits[i]! + step;
      if (to === null) return;
      event.preventDefault();
      event.stopPropagation();
      move(to);
    });
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      node.focus();
      event.preventDefault();
    });
    node.addEventListener("pointermove", (event) => {
      if (!node.hasPointerCapture(event.pointerId)) return;
      const box = this.canvas.getBoundingClientRect();
      move(((event.clientX - box.left) / box.width) * kBins);
    });
    return node;
  }

  private draw(): void {
    const { canvas, histogram, limits, desk } = this;
    const { model } = desk;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(100, canvas.clientWidth);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(kHeight * ratio);
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, kHeight);
    this.handles.forEach((handle, i) => (handle.style.left = `${(limits[i]! / kBins) * 100}%`));
    if (histogram === null) return;
    const most = Math.max(...histogram.counts);
    const state = this.what === kFoundOnly ? -1 : Number(this.what);
    const colour = state < 0 ? model.theme.hit : cssColour(model.palette.busy[state]!);
    const bottom = kHeight - 18;
    for (let bin = 0; bin < kBins; bin++) {
      const count = histogram.counts[bin]!;
      if (count === 0) continue;
      const chosen = bin >= limits[0] && bin < limits[1];
      const height = Math.max(2, (count / most) * (bottom - 8));
      context.globalAlpha = chosen ? 1 : 0.25;
      context.fillStyle = colour;
      context.fillRect((bin / kBins) * width + 0.5, bottom - height, width / kBins - 1, height);
    }
    context.globalAlpha = 1;
    context.fillStyle = model.theme.muted;
    context.font = "11px system-ui, sans-serif";
    const every = kBins / 6;
    for (let bin = 0; bin <= kBins; bin += every) {
      context.textAlign = bin === 0 ? "left" : bin === kBins ? "right" : "center";
      context.fillText(formatTime(Math.round(limitAt(histogram, bin))), (bin / kBins) * width, kHeight - 5);
    }
  }
}
