// The building blocks of the explanation: elements, bars, tables, a line plot.
import { formatPercent, formatTime } from "../format";
import { place, ticks, type Axis } from "../sheet/axis";
import { curveOf, type Sensitivity } from "./data";

export type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, className: string, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (className !== "") node.className = className;
  node.append(...children);
  return node;
}

// Seconds, as the text views print them.
export function seconds(value: number): string {
  return formatTime(Math.round(value * 1e12));
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const node = element("section", "block", element("h2", "", title), ...children);
  node.id = id;
  return node;
}

// Rows of cells; the first row is the head. Columns named in `left` hold text.
export function table(rows: Child[][], left: readonly number[]): HTMLElement {
  const side = (column: number): string => (left.includes(column) ? "text" : "figure");
  const [head, ...rest] = rows;
  const cells = (row: Child[], tag: "th" | "td"): HTMLElement =>
    element("tr", "", ...row.map((cell, column) => element(tag, side(column), cell)));
  return element("div", "wide", element("table", "plain",
    element("thead", "", cells(head!, "th")), element("tbody", "", ...rest.map((row) => cells(row, "td")))));
}

export interface Piece {
  readonly share: number; // of the whole
  readonly colour: string; // a class
  readonly title: string;
}

export function bar(pieces: readonly Piece[], mark?: number): HTMLElement {
  const node = element("div", "bar");
  for (const piece of pieces) {
    if (!(piece.share > 0)) continue;
    const part = element("div", piece.colour);
    part.style.width = `${(100 * piece.share).toFixed(3)}%`;
    part.title = piece.title;
    node.append(part);
  }
  if (mark !== undefined) {
    const line = element("i", "");
    line.style.left = `${(100 * mark).toFixed(3)}%`;
    node.append(line);
  }
  return node;
}

// A line of a list with a bar: what, how much as a picture, how much in words.
export function row(label: HTMLElement | string, middle: HTMLElement, figure: string): HTMLElement {
  const first = typeof label === "string" ? element("div", "label", label) : label;
  return element("div", "row", first, middle, element("div", "figure", figure));
}

// The name of SVG's elements is an address; the page shall hold none.
function svgNamespace(): string {
  const template = document.createElement("template");
  template.innerHTML = "<svg></svg>";
  return template.content.firstElementChild!.namespaceURI!;
}

function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const node = document.createElementNS(svgNamespace(), tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.textContent = text;
  return node;
}

const kParameters: Record<string, string> = {
  link_latency: "the latency of every link", link_bandwidth: "the time of every byte on every link",
  L: "L, the latency", o: "o, the processor's overhead", g: "g, the gap between messages", G: "G, the time per byte",
};
const kWidth = 340;
const kHeight = 190;

// Run time over one parameter, with where it is now and where it costs 1, 5 and 10 %.
export function sensitivityPlot(name: string, one: Sensitivity, time: number): SVGElement | null {
  const curve = curveOf(one, time);
  if (curve.length < 2) return null;
  const shown = (value: number): string =>
    one.unit === "times" ? `${value} x` : seconds(value) + (one.unit === "s" ? "" : "/B");
  const times = curve.map((point) => point.time);
  const x: Axis = { log: false, low: curve[0]!.value, high: curve[curve.length - 1]!.value, from: 62, to: kWidth - 12 };
  const y: Axis = { log: false, low: Math.min(...times, time * 0.99), high: Math.max(...times, time * 1.02), from: kHeight - 40, to: 14 };
  const plot = svg("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", "aria-label": `run time over ${name}` });
  for (const value of ticks(y, 4)) {
    const at = place(y, value);
    plot.append(svg("line", { x1: x.from, x2: x.to, y1: at, y2: at, class: "rule" }));
    plot.append(svg("text", { x: x.from - 6, y: at + 3.5, "text-anchor": "end" }, seconds(value)));
  }
  for (const value of ticks(x, 4)) {
    const at = place(x, value);
    plot.append(svg("line", { x1: at, x2: at, y1: y.from, y2: y.from + 4, class: "rule" }));
    plot.append(svg("text", { x: at, y: y.from + 16, "text-anchor": at > kWidth - 30 ? "end" : "middle" }, shown(value)));
  }
  plot.append(svg("text", { x: (x.from + x.to) / 2, y: kHeight - 6, "text-anchor": "middle", class: "name" },
    `${kParameters[name] ?? name}${one.meaning === undefined || one.unit === "times" ? "" : ", that is added"}`));
  for (const [percent, value] of Object.entries(one.tolerance)) {
    if (value === null || value > x.high) continue;
    const at = place(x, value);
    plot.append(svg("line", { x1: at, x2: at, y1: y.from, y2: y.to, class: "tolerance" }));
    plot.append(svg("text", { x: at + 2, y: y.to - 3, class: "tolerance" }, `+${percent}`));
  }
  const points = curve.map((point) => `${place(x, point.value).toFixed(2)},${place(y, point.time).toFixed(2)}`).join(" ");
  plot.append(svg("polyline", { points, class: "curve" }));
  const now = svg("circle", { cx: place(x, one.value), cy: place(y, time), r: 4, class: "now" });
  now.append(svg("title", {}, `as it is: ${shown(one.value)}, ${seconds(time)}`));
  plot.append(now);
  return plot;
}

export function percentOf(part: number, whole: number): string {
  return formatPercent(whole > 0 ? part / whole : 0);
}
