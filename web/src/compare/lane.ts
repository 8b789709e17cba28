// The lane of the difference: how far each further run is behind the first, over the first
// run's time. A band from the least to the most behind of the ranks, a line for their mean.
import { formatTime } from "../format";
import type { Layout } from "../layout";
import type { Model, EventRef } from "../model";
import { timeToX } from "../viewport";
import { type LagColumns, lagColumns, type Match, matchRuns, partnerOf } from "./match";

const kColours = ["--c0", "--c1", "--c2", "--c3"];
const kFallback = ["#2f5fa8", "#b4500f", "#2b7a4b", "#8a3fa0"];

export class Lane {
  readonly matches: readonly Match[]; // of the first run with each other
  private readonly node = document.createElement("div");
  private readonly canvas = document.createElement("canvas");
  private readonly text = document.createElement("p");
  columns: LagColumns[] = [];

  constructor(
    host: HTMLElement,
    private readonly models: readonly Model[],
  ) {
    const first = models[0]!;
    this.matches = models.slice(1).map((model) => matchRuns(first.trace, model.trace));
    this.node.className = "lane";
    this.canvas.setAttribute("role", "img");
    this.text.className = "lane-text";
    this.text.setAttribute("role", "status");
    this.node.append(this.text, this.canvas);
    host.append(this.node);
  }

  // The same event in run `to`, of one in run `from`; null where it has none.
  partner(ref: EventRef, from: number, to: number): EventRef | null {
    const inFirst = from === 0 ? ref : partnerOf(this.matches[from - 1]!, ref, false);
    if (inFirst === null || to === 0) return inFirst;
    return partnerOf(this.matches[to - 1]!, inFirst, true);
  }

  draw(layout: Layout): void {
    const { canvas } = this;
    const model = this.models[0]!;
    const ratio = window.devicePixelRatio || 1;
    const width = layout.width;
    const height = Math.max(40, canvas.clientHeight || 90);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const columns = Math.max(1, Math.round(layout.plot));
    const dt = (model.view.t1 - model.view.t0) / columns;
    this.columns = this.matches.map((match) => lagColumns(match, model.view.t0, dt, columns));
    const low = Math.min(0, ...this.columns.map((lag) => lag.least.reduce((a, b) => Math.min(a, b), 0)));
    const high = Math.max(1, ...this.columns.map((lag) => lag.most.reduce((a, b) => Math.max(a, b), 0)));
    const y = (lag: number): number => 6 + (1 - (lag - low) / (high - low)) * (height - 12);
    context.fillStyle = model.theme.line;
    context.fillRect(layout.left, y(0), layout.plot, 1);
    this.columns.forEach((lag, run) => this.band(context, layout, lag, y, run));
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = model.theme.muted;
    for (const lag of new Set([low, 0, high])) {
      const text = formatTime(Math.round(lag));
      // Beside the plot where there is room.
      const fits = context.measureText(text).width <= layout.left - 8;
      context.textAlign = fits ? "right" : "left";
      context.fillText(text, layout.left + (fits ? -6 : 4), Math.min(height - 7, Math.max(7, y(lag))));
    }
    if (model.cursor !== null) {
      context.fillStyle = model.theme.accent;
      context.fillRect(layout.left + timeToX(model.view, layout.plot, model.cursor), 0, 1, height);
    }
    this.tell();
  }

  private band(context: CanvasRenderingContext2D, layout: Layout, lag: LagColumns, y: (lag: number) => number, run: number): void {
    const colour = getComputedStyle(this.node).getPropertyValue(kColours[run % kColours.length]!) || kFallback[run % kFallback.length]!;
    const n = lag.mean.length;
    context.fillStyle = context.strokeStyle = colour.trim();
    context.globalAlpha = 0.22;
    context.beginPath();
    for (let x = 0; x < n; x++) context.lineTo(layout.left + x, y(lag.most[x]!));
    for (let x = n - 1; x >= 0; x--) context.lineTo(layout.left + x, y(lag.least[x]!) + 1);
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let x = 0; x < n; x++) context.lineTo(layout.left + x, y(lag.mean[x]!));
    context.stroke();
  }

  private tell(): void {
    const later = (lag: number): string => `${formatTime(Math.abs(Math.round(lag)))} ${lag < 0 ? "ahead of" : "behind"}`;
    const parts = this.columns.map((lag, i) => {
      const last = lag.mean.length - 1;
      const { matched, onlyA, onlyB } = this.matches[i]!;
      const alone = onlyA + onlyB > 0 ? `, ${onlyA} and ${onlyB} alone` : "";
      const gained = lag.mean[last]! - lag.mean[0]!;
      return `${this.models[i + 1]!.name}: ${later(lag.mean[last]!)} ${this.models[0]!.name} at the right edge (mean of the ranks; ${gained >= 0 ? "+" : "−"}${formatTime(Math.abs(Math.round(gained)))} in view); ${matched} calls matched${alone}`;
    });
    this.text.textContent = parts.join(" · ");
    this.canvas.setAttribute("aria-label", `Difference. ${this.text.textContent}`);
  }
}
