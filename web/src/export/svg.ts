// What is in view as an SVG picture: vectors, as exact as a column for each pixel allows.
import { formatPoint } from "../format";
import type { Model } from "../model";
import { cssColour } from "../palette";
import { ShareSums, stackOrder } from "../shares";
import { kIdle, visitColumns } from "../sums";
import { ticks, timeToX } from "../viewport";

const kLeft = 70;
const kTop = 58;
const kLegendRow = 16;

export function escapeXml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

// No address, but the name of a language; pages hold no address at all.
const kNamespace = ["http:", "", "www.w3.org/2000/svg"].join("/");

const short = (value: number): string => String(Math.round(value * 100) / 100);

// The rectangles of one colour each, as one path.
class Paths {
  private readonly parts: string[][];
  constructor(classes: number) {
    this.parts = Array.from({ length: classes }, () => []);
  }
  add(cls: number, x: number, y: number, width: number, height: number): void {
    this.parts[cls]!.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`);
  }
  text(colours: readonly (string | null)[]): string {
    return this.parts.map((list, cls) => (list.length === 0 || colours[cls] === null ? "" : `<path fill="${colours[cls]}" d="${list.join("")}"/>\n`)).join("");
  }
}

function addRow(model: Model, ranks: readonly number[], y: number, bar: number, width: number, paths: Paths): void {
  const classes = 2 * model.states.count;
  const dt = (model.view.t1 - model.view.t0) / width;
  const order = stackOrder(model.states.count);
  const stack = (x: number, times: Float64Array, whole: number): void => {
    let below = y + bar;
    for (const cls of order) {
      const height = (times[cls]! / whole) * bar;
      if (height <= 0) continue;
      below -= height;
      paths.add(cls, kLeft + x, below, 1, height);
    }
  };
  if (ranks.length === 1) {
    visitColumns(model.sums[ranks[0]!]!, model.view.t0, dt, width, {
      run: (x0, x1, cls) => {
        if (cls !== kIdle) paths.add(cls, kLeft + x0, y, x1 - x0, bar);
      },
      mixed: (x, times) => stack(x, times, dt),
    }, model.states);
    return;
  }
  const sums = new ShareSums(width, classes, dt);
  for (const rank of ranks) sums.add(model.sums[rank]!, model.view.t0, model.states);
  for (let x = 0; x < width; x++) stack(x, sums.column(x), dt * ranks.length);
}

// `width`: pixels of the time lines. Rows keep their order; the picture is as high as they need.
export function renderSvg(model: Model, width: number): string {
  const { view, theme, states, palette, rows } = model;
  const pitch = Math.max(4, Math.min(20, 900 / rows.count));
  const bar = pitch - (pitch >= 8 ? 2 : 0);
  const paths = new Paths(2 * states.count);
  rows.list.forEach((row, i) => addRow(model, row.ranks, kTop + i * pitch, bar, width, paths));
  const bottom = kTop + rows.count * pitch;
  const text = (x: number, y: number, words: string, anchor = "start", fill = theme.text): string =>
    `<text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}" fill="${fill}">${escapeXml(words)}</text>\n`;
  const { step, at } = ticks(view, width, 110);
  const axis = at.map((t) => {
    const x = kLeft + timeToX(view, width, t);
    return `<path d="M${short(x)} ${kTop - 5}V${short(bottom)}" stroke="${theme.line}"/>\n${text(x, kTop - 9, formatPoint(t, step, view.t1), "middle", theme.muted)}`;
  }).join("");
  const every = Math.max(1, Math.ceil(12 / pitch));
  const labels = rows.list.map((row, i) => (i % every === 0 ? text(kLeft - 8, kTop + i * pitch + bar / 2 + 4, row.label, "end", theme.muted) : "")).join("");
  const shown = states.names.map((name, state) => ({ name, state })).filter(({ state }) => !model.hidden.has(state));
  const columns = Math.max(1, Math.floor(width / 190));
  const legend = shown.map(({ name, state }, i) => {
    const [x, y] = [kLeft + (i % columns) * 190, bottom + 22 + Math.floor(i / columns) * kLegendRow];
    return `<path fill="${cssColour(palette.busy[state]!)}" d="M${x} ${y - 9}h12v10h-12z"/>${text(x + 17, y, name)}`;
  }).join("");
  const height = bottom + 30 + Math.ceil(shown.length / columns) * kLegendRow;
  const colours = [...palette.busy, ...palette.waiting].map((colour, cls) => (model.hidden.has(cls % states.count) ? null : cssColour(colour)));
  const title = [model.trace.head.program, model.name, model.trace.head.trace].filter((word) => word !== "").join(" – ");
  return `<svg xmlns="${kNamespace}" width="${kLeft + width + 14}" height="${height}" font-family="sans-serif" font-size="11">
<title>${escapeXml(title)}</title>
<path fill="${theme.background}" d="M0 0h${kLeft + width + 14}v${height}h-${kLeft + width + 14}z"/>
${text(kLeft, 18, title)}${axis}<path fill="${theme.row}" d="M${kLeft} ${kTop}h${width}V${short(bottom)}h-${width}z"/>
<g shape-rendering="crispEdges">${paths.text(colours)}</g>
${labels}${legend}</svg>
`;
}
