// The time line below a drawing: when each of the shown sends, when its rank is in a call, and how
// the bytes in the chosen one change.
import { fit, type Colours } from "./drawing";
import { numberText, timeText, type Run } from "./run";
import { type Scene } from "./shown";

export const kLeft = 120; // of the names
const kRight = 10;
const kScale = 18; // height of the times
const kCurve = 64;

export interface Window {
  readonly from: number;
  readonly to: number;
}

export class Line {
  private view: ReturnType<typeof fit>;
  private rowHeight = 14;
  private still: { canvas: HTMLCanvasElement; key: string } | null = null;

  constructor(readonly canvas: HTMLCanvasElement, private readonly run: Run, private scene: Scene) {
    this.view = fit(canvas);
    this.layOut(scene);
  }

  layOut(scene: Scene): void {
    this.scene = scene;
    const rows = Math.max(1, scene.shown.length);
    const high = Math.max(2, Math.min(18, 260 / rows));
    this.canvas.style.height = `${Math.max(60, Math.min(300, high * rows)) + kCurve + kScale}px`;
    this.view = fit(this.canvas);
    this.rowHeight = (this.view.height - kCurve - kScale) / rows;
    this.still = null;
  }

  private get span(): number {
    return Math.max(1, this.view.width - kLeft - kRight);
  }
  x(t: number, window: Window): number {
    return kLeft + ((t - window.from) / Math.max(1, window.to - window.from)) * this.span;
  }
  time(x: number, window: Window): number {
    return window.from + Math.min(1, Math.max(0, (x - kLeft) / this.span)) * (window.to - window.from);
  }
  row(y: number): number {
    const row = Math.floor(y / this.rowHeight);
    return row >= 0 && row < this.scene.shown.length ? row : -1;
  }

  // What stays as long as the window does is drawn once.
  private drawStill(window: Window, chosen: number, quantity: string, colours: Colours): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    const context = canvas.getContext("2d")!;
    context.setTransform(this.view.context.getTransform());
    const right = kLeft + this.span;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    const clip = (from: number, to: number): [number, number] => {
      const x = Math.max(kLeft, this.x(from, window));
      return [x, Math.min(right, this.x(to, window)) - x];
    };
    this.scene.shown.forEach((one, i) => {
      const y = i * this.rowHeight;
      if (i === chosen) {
        context.fillStyle = colours.rule;
        context.fillRect(kLeft, y, this.span, this.rowHeight);
      }
      if (this.rowHeight >= 10) {
        context.fillStyle = colours.ink;
        context.fillText(one.name.length > 18 ? `..${one.name.slice(-16)}` : one.name, kLeft - 6, y + this.rowHeight - 3);
      }
      context.fillStyle = colours.idle;
      for (const rank of one.ranks)
        for (const [, enter, leave] of this.run.calls(rank)) {
          if (leave < window.from || enter > window.to) continue;
          const [x, width] = clip(enter, leave);
          context.fillRect(x, y, Math.max(0.4, width), Math.max(0.3, this.rowHeight - 1));
        }
      context.fillStyle = colours.send;
      const high = one.ranks.length > 0 ? Math.max(0.3, this.rowHeight / 2) : Math.max(0.3, this.rowHeight - 1);
      for (const [from, to] of one.busy) {
        if (to < window.from || from > window.to) continue;
        const [x, width] = clip(from, to);
        context.fillRect(x, y, Math.max(0.4, width), high);
      }
    });
    this.drawCurve(context, window, chosen, quantity, colours);
    context.fillStyle = colours.ink;
    context.textAlign = "left";
    context.fillText(timeText(window.from), kLeft, this.view.height - 5);
    context.textAlign = "right";
    context.fillText(timeText(window.to), right, this.view.height - 5);
    return canvas;
  }

  // Of the chosen, or of all together.
  private drawCurve(context: CanvasRenderingContext2D, window: Window, chosen: number, quantity: string, colours: Colours): void {
    const bottom = this.view.height - kScale, top = bottom - kCurve + 8;
    context.strokeStyle = colours.rule;
    context.beginPath();
    context.moveTo(kLeft, bottom);
    context.lineTo(kLeft + this.span, bottom);
    context.stroke();
    if (chosen < 0) return;
    const one = this.scene.shown[chosen]!;
    const found = quantity === "" || one.entities.length > 1 ? -1
      : this.run.data.quantities.findIndex(([entity, name]) => entity === one.entities[0] && name === quantity);
    const steps = found >= 0 ? this.run.states[found]! : one.inside;
    const most = Math.max(1, steps.most);
    context.strokeStyle = colours.wait;
    context.lineWidth = 1.5;
    context.beginPath();
    let y = bottom;
    context.moveTo(kLeft, bottom);
    for (const [time, value] of steps.within(window.from, window.to)) {
      const x = Math.max(kLeft, this.x(time, window));
      context.lineTo(x, y);
      y = bottom - ((bottom - top) * value) / most;
      context.lineTo(x, y);
    }
    context.lineTo(kLeft + this.span, y);
    context.stroke();
    context.fillStyle = colours.ink;
    context.textAlign = "right";
    context.fillText(found >= 0 ? `${numberText(most)} ${quantity}` : `${numberText(most)} B inside`, kLeft - 6, top + 8);
  }

  draw(now: number, window: Window, marks: readonly number[], chosen: number, quantity: string, colours: Colours): void {
    const key = `${window.from} ${window.to} ${chosen} ${quantity}`;
    if (this.still?.key !== key) this.still = { canvas: this.drawStill(window, chosen, quantity, colours), key };
    const { context, width, height } = this.view;
    context.clearRect(0, 0, width, height);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still.canvas, 0, 0);
    context.restore();
    const inside = (t: number): boolean => t >= window.from && t <= window.to;
    if (inside(now)) {
      context.fillStyle = colours.wait;
      context.fillRect(this.x(now, window) - 1, 0, 2, height - kScale);
    }
    context.fillStyle = colours.accent;
    for (const t of marks) if (inside(t)) context.fillRect(this.x(t, window), 0, 1.5, height - kScale);
    if (marks.length < 2) return;
    const [a, b] = marks as [number, number];
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    const middle = Math.min(kLeft + this.span - 40, Math.max(kLeft + 40, this.x((a + b) / 2, window)));
    context.fillText(timeText(Math.abs(b - a)), middle, height - 5);
  }
}
