// A plot on the page: its tools, zooming by dragging, and what the pointer is at.
import { formatBytes, formatPercent, formatTime } from "../format";
import { place, valueAt } from "./axis";
import { isBeyond, type Point, residualOf, timeOf } from "./model";
import { draw, type Drawing, kHeight, kWidth, pointsOf, type Quantity, type Series, seriesClass, type View, wholeSpan } from "./plot";

export interface Common {
  readonly bytes: readonly number[];
  readonly ranks: readonly number[];
}

const kNear = 9; // pixels within which the pointer is at a measured point
const kLeastDrag = 6;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  text = "",
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

export function toggle(label: string, on: boolean, change: (on: boolean) => void): HTMLButtonElement {
  const button = element("button", "toggle", label);
  button.type = "button";
  const show = (): void => button.setAttribute("aria-pressed", String(on));
  button.addEventListener("click", () => {
    on = !on;
    show();
    change(on);
  });
  show();
  return button;
}

let figures = 0;

export class Figure {
  readonly node = element("figure", "interactive");
  readonly tools = element("div", "tools");
  private readonly picture = element("div", "picture");
  private readonly legend = element("div", "legend");
  private readonly tip = element("div", "tip");
  private readonly id = `clip${figures++}`;
  private drawing: Drawing;
  private dragFrom: { x: number; y: number } | null = null;

  constructor(
    private view: View,
    private readonly common: Common,
  ) {
    this.tip.hidden = true;
    this.node.append(this.tools, this.picture, this.legend, this.tip);
    this.picture.tabIndex = 0;
    this.addTools();
    this.drawing = this.redraw();
    this.picture.addEventListener("pointermove", (event) => this.move(event));
    this.picture.addEventListener("pointerleave", () => this.leave());
    this.picture.addEventListener("pointerdown", (event) => this.press(event));
    this.picture.addEventListener("pointerup", (event) => this.release(event));
    this.picture.addEventListener("dblclick", () => this.change({ x: null, y: null }));
    this.picture.addEventListener("keydown", (event) => this.key(event));
  }

  current(): View {
    return this.view;
  }

  change(part: Partial<View>): void {
    this.view = { ...this.view, ...part };
    this.redraw();
  }

  // What a person sees at a size or a number of ranks: for tests too.
  describe(x: number): string {
    this.showAt(x);
    return this.tip.innerText;
  }

  zoom(factor: number): void {
    const { x } = this.drawing;
    const middle = (x.from + x.to) / 2;
    const half = (x.to - x.from) / 2 / factor;
    const whole = wholeSpan(this.view, this.common.bytes, this.common.ranks);
    const span = {
      low: Math.max(valueAt(x, middle - half), whole.low),
      high: Math.min(valueAt(x, middle + half), whole.high),
    };
    this.change({ x: span.low <= whole.low && span.high >= whole.high ? null : span, y: null });
  }

  redraw(): Drawing {
    const whole = wholeSpan(this.view, this.common.bytes, this.common.ranks);
    this.drawing = draw(this.view, whole, this.id);
    this.picture.innerHTML = this.drawing.svg;
    this.tip.hidden = true;
    this.legend.replaceChildren(
      ...this.view.series.map((each) => {
        const entry = element("span", "entry");
        entry.append(swatch(each), each.label);
        return entry;
      }),
    );
    return this.drawing;
  }

  private addTools(): void {
    const quantity = element("select", "");
    quantity.title = "What is drawn";
    for (const [value, text] of [
      ["time", "time"],
      ["residual", "measured − equation"],
      ["bandwidth", "bytes per second"],
    ] as const) {
      const option = element("option", "", text);
      option.value = value;
      quantity.append(option);
    }
    quantity.value = this.view.quantity;
    quantity.addEventListener("change", () => this.change({ quantity: quantity.value as Quantity, y: null }));
    const button = (text: string, title: string, act: () => void): HTMLButtonElement => {
      const node = element("button", "", text);
      node.type = "button";
      node.title = title;
      node.addEventListener("click", act);
      return node;
    };
    this.tools.append(
      quantity,
      toggle("log size", this.view.logX, (logX) => this.change({ logX, x: null, y: null })),
      toggle("log time", this.view.logY, (logY) => this.change({ logY, y: null })),
      button("+", "Zoom in", () => this.zoom(2)),
      button("−", "Zoom out", () => this.zoom(0.5)),
      button("all", "Show everything (double click)", () => this.change({ x: null, y: null })),
    );
  }

  private toPlot(event: PointerEvent): { x: number; y: number } {
    const box = this.picture.getBoundingClientRect();
    return { x: ((event.clientX - box.left) / box.width) * kWidth, y: ((event.clientY - box.top) / box.height) * kHeight };
  }

  private inFrame({ x, y }: { x: number; y: number }): boolean {
    return x >= this.drawing.x.from && x <= this.drawing.x.to && y >= this.drawing.y.to && y <= this.drawing.y.from;
  }

  private press(event: PointerEvent): void {
    const at = this.toPlot(event);
    if (event.button !== 0 || !this.inFrame(at)) return;
    this.dragFrom = at;
    this.picture.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  private release(event: PointerEvent): void {
    const from = this.dragFrom;
    this.dragFrom = null;
    if (from === null) return;
    const to = this.toPlot(event);
    this.over("");
    if (Math.abs(to.x - from.x) < kLeastDrag || Math.abs(to.y - from.y) < kLeastDrag) return;
    const { x, y } = this.drawing;
    const within = (value: number, a: number, b: number): number => Math.min(Math.max(value, Math.min(a, b)), Math.max(a, b));
    const [left, right] = [from.x, to.x].map((at) => valueAt(x, within(at, x.from, x.to))).sort((a, b) => a - b) as [number, number];
    const [low, high] = [from.y, to.y].map((at) => valueAt(y, within(at, y.from, y.to))).sort((a, b) => a - b) as [number, number];
    if (right - left >= 1) this.change({ x: { low: left, high: right }, y: { low, high } });
  }

  private move(event: PointerEvent): void {
    const at = this.toPlot(event);
    if (this.dragFrom !== null) {
      const { x, y } = this.dragFrom;
      this.over(
        `<rect class="drag" x="${Math.min(x, at.x)}" y="${Math.min(y, at.y)}" width="${Math.abs(at.x - x)}" height="${Math.abs(at.y - y)}"/>`,
      );
      return;
    }
    if (!this.inFrame(at)) return this.leave();
    this.showAt(this.snapped(at.x));
  }

  private leave(): void {
    if (this.dragFrom === null) this.over("");
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "+") this.zoom(2);
    else if (event.key === "-") this.zoom(0.5);
    else if (event.key === "0") this.change({ x: null, y: null });
    else return;
    event.preventDefault();
  }

  private over(svg: string): void {
    const group = this.picture.querySelector(".over");
    if (group !== null) group.innerHTML = svg;
  }

  // The nearest measured size if the pointer is at it, else the size that it is at.
  private snapped(pixel: number): number {
    let nearest = Math.max(Math.round(valueAt(this.drawing.x, pixel)), this.view.overRanks ? 1 : 0);
    let distance = kNear;
    for (const each of this.view.series)
      for (const point of pointsOf(this.view, each)) {
        const value = this.view.overRanks ? point.ranks : point.bytes;
        const off = Math.abs(place(this.drawing.x, value) - pixel);
        if (off < distance) {
          distance = off;
          nearest = value;
        }
      }
    return nearest;
  }

  private showAt(x: number): void {
    const { overRanks, bytes } = this.view;
    const rows = this.view.series.map((each) => {
      const p = overRanks ? x : each.ranks;
      const d = overRanks ? bytes : x;
      const point = pointsOf(this.view, each).find((one) => (overRanks ? one.ranks : one.bytes) === x);
      const row = element("tr", "");
      const name = element("td", "t");
      name.append(swatch(each), each.label);
      row.append(name, ...describe(each, p, d, point).map((text) => element("td", "", text)));
      return row;
    });
    const head = element("tr", "");
    for (const text of ["", "equation", "from", "to", "median", "quartiles", "off", ""])
      head.append(element("th", "", text));
    const table = element("table", "");
    table.append(head, ...rows);
    const title = overRanks ? `${x} ranks, ${formatBytes(bytes)}` : x < 10240 ? formatBytes(x) : `${formatBytes(x)} (${x} B)`;
    this.tip.replaceChildren(element("strong", "", title), table);
    this.tip.hidden = false;
    const at = place(this.drawing.x, x);
    this.over(`<path class="at" d="M${at.toFixed(1)} ${this.drawing.y.to}V${this.drawing.y.from}"/>`);
  }
}

export function swatch(each: Series): HTMLElement {
  const node = element("i", `swatch ${seriesClass(each.colour)}`);
  return node;
}

// Equation, from, to, median, quartiles, residual, remark.
function describe(each: Series, p: number, d: number, point: Point | undefined): string[] {
  const { machine, f } = each;
  const time = (bound: "min" | "avg" | "max"): string => formatTime(timeOf(machine, f, p, d, bound) * 1e12);
  const seconds = (value: number): string => formatTime(value * 1e12);
  const beyond = isBeyond(f, p, d);
  const remark = beyond.ranks || beyond.bytes ? "extrapolated" : "";
  if (point === undefined) return [time("avg"), time("min"), time("max"), "", "", "", remark];
  const residual = residualOf(machine, f, point);
  return [
    time("avg"),
    time("min"),
    time("max"),
    seconds(point.median),
    `${seconds(point.low)} – ${seconds(point.high)} (${point.samples})`,
    residual === null ? "" : formatPercent(residual),
    remark,
  ];
}
