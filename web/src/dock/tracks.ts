// Numbers over the time that is in view, each a line under the time lines and on their axis.
import { element } from "../dom";
import { formatBytes, formatNumber, formatTime } from "../format";
import type { Model } from "../model";
import { type Line, type Track, tracksOf } from "../tracks";
import { timeToX } from "../viewport";
import type { Desk, Tool } from "./desk";

const kHeight = 46;

interface Row {
  readonly track: Track;
  readonly canvas: HTMLCanvasElement;
  readonly text: HTMLElement;
  line: Line;
}

export class TracksTool implements Tool {
  readonly id = "tracks";
  readonly title = "Tracks";
  readonly body = element("section");
  rows: Row[] = [];
  private of: Model | null = null;
  private pointer: number | null = null; // column

  constructor(private readonly desk: Desk) {}

  update(): void {
    const { model } = this.desk;
    if (this.of !== model) this.build(model);
    const { t0, t1 } = model.view;
    const columns = Math.max(1, Math.round(this.desk.layout.plot));
    for (const row of this.rows) row.line = row.track.line(t0, (t1 - t0) / columns, columns);
    this.draw();
  }

  private build(model: Model): void {
    this.of = model;
    this.rows = tracksOf(model).map((track) => {
      const text = element("p", "track-text");
      const canvas = element("canvas", "track");
      canvas.setAttribute("role", "img");
      const column = (event: PointerEvent): number => Math.floor(event.clientX - canvas.getBoundingClientRect().left - this.desk.layout.left);
      canvas.addEventListener("pointermove", (event) => {
        this.pointer = column(event);
        this.draw();
      });
      canvas.addEventListener("pointerleave", () => {
        this.pointer = null;
        this.draw();
      });
      const empty = new Float64Array();
      return { track, canvas, text, line: { mean: empty, least: empty, most: empty } };
    });
    this.body.replaceChildren(...this.rows.map(({ text, canvas }) => element("div", "track-row", text, canvas)));
  }

  private draw(): void {
    const { model, layout } = this.desk;
    const ratio = window.devicePixelRatio || 1;
    for (const row of this.rows) {
      const { canvas } = row;
      canvas.width = Math.round(layout.width * ratio);
      canvas.height = Math.round(kHeight * ratio);
      canvas.style.width = `${layout.width}px`;
      const context = canvas.getContext("2d")!;
      context.scale(ratio, ratio);
      this.drawLine(context, row);
      context.fillStyle = model.theme.hit;
      if (model.cursor !== null) context.fillRect(layout.left + timeToX(model.view, layout.plot, model.cursor), 0, 1, kHeight);
      context.fillStyle = model.theme.muted;
      if (this.pointer !== null && this.pointer >= 0 && this.pointer < layout.plot) context.fillRect(layout.left + this.pointer, 0, 1, kHeight);
      this.tell(row);
    }
  }

  private drawLine(context: CanvasRenderingContext2D, { line, track }: Row): void {
    const { model, layout } = this.desk;
    const { left, plot } = layout;
    const [low, high] = this.range(line);
    const y = (value: number): number => kHeight - 3 - ((value - low) / (high - low)) * (kHeight - 8);
    context.fillStyle = model.theme.row;
    context.fillRect(left, 0, plot, kHeight);
    context.fillStyle = context.strokeStyle = model.theme.accent;
    context.globalAlpha = 0.25;
    for (let x = 0; x < line.mean.length; x++) {
      const [from, to] = line.most === line.mean ? [low, line.mean[x]!] : [line.least[x]!, line.most[x]!];
      if (!Number.isNaN(to)) context.fillRect(left + x, y(to), 1, Math.max(1, y(from) - y(to)));
    }
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let x = 0; x < line.mean.length; x++) if (!Number.isNaN(line.mean[x]!)) context.lineTo(left + x + 0.5, y(line.mean[x]!));
    context.stroke();
    context.fillStyle = model.theme.muted;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(this.value(track, high), left - 4, 8, left - 6);
    context.fillText(this.value(track, low), left - 4, kHeight - 7, left - 6);
  }

  // What the line's room goes from and to; counts and bytes begin at 0.
  private range({ mean, least, most }: Line): [number, number] {
    let [low, high] = most === mean ? [0, 0] : [Infinity, -Infinity];
    for (let x = 0; x < mean.length; x++) {
      if (Number.isNaN(mean[x]!)) continue;
      low = Math.min(low, least[x]!);
      high = Math.max(high, most[x]!);
    }
    return low < high ? [low, high] : [Number.isFinite(low) ? low : 0, (Number.isFinite(low) ? low : 0) + 1];
  }

  private value(track: Track, value: number): string {
    return track.unit === "B" ? formatBytes(Math.round(value)) : formatNumber(value);
  }

  private tell({ track, line, text, canvas }: Row): void {
    const { model, layout } = this.desk;
    const known = line.mean.filter((value) => !Number.isNaN(value));
    const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
    const most = known.length === 0 ? 0 : line.most.reduce((a, b) => (b > a ? b : a), -Infinity);
    const all = known.length === 0 ? "nothing in view" : `mean ${this.value(track, mean)}, at most ${this.value(track, most)} in a column`;
    const x = this.pointer;
    const here = x === null || x < 0 || x >= line.mean.length || Number.isNaN(line.mean[x]!) ? ""
      : ` · ${this.value(track, line.mean[x]!)} at ${formatTime(Math.round(model.view.t0 + ((x + 0.5) / layout.plot) * (model.view.t1 - model.view.t0)))}`;
    text.textContent = `${track.name}: ${all}${here}`;
    canvas.setAttribute("aria-label", `${track.name} over time: ${all}`);
  }
}
