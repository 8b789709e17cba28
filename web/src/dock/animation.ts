// The animation: ranks in a ring or a grid, coloured by what they do, and messages on
// their way, at the moment of the cursor; tape controls move it.
import { grid, nextChange, type Places, ring, standing, underWay } from "../animate";
import { button, choice, element } from "../dom";
import { formatTime } from "../format";
import { cssColour } from "../palette";
import { kIdle } from "../sums";
import { clampInterval } from "../viewport";
import type { Desk, Tool } from "./desk";

const kMostMessages = 4000;
const kMostNames = 40; // ranks whose calls are named

export class AnimationTool implements Tool {
  readonly id = "animation";
  readonly title = "Animation";
  readonly body = element("section");
  playing = false;
  shown = { ranks: 0, messages: 0 }; // in the last picture
  private places: { form: string; ranks: number; list: Places } | null = null;
  private form = "ring";
  private seconds = 20; // for what is in view
  private of = "all";
  private last = 0; // performance.now() of the last picture
  private readonly canvas = element("canvas", "animation");
  private readonly scrub = element("input", "scrub");
  private readonly time = element("output", "time-text");
  private readonly play: HTMLButtonElement;

  constructor(private readonly desk: Desk) {
    this.canvas.setAttribute("role", "img");
    this.scrub.type = "range";
    this.scrub.min = "0";
    this.scrub.max = "10000";
    this.scrub.step = "1";
    this.scrub.setAttribute("aria-label", "Moment of the animation");
    this.scrub.addEventListener("input", () => {
      const { t0, t1 } = desk.model.view;
      this.goTo(t0 + (Number(this.scrub.value) / 10000) * (t1 - t0));
    });
    this.play = button("▶ play", "Play or pause (space)", () => this.toggle());
    this.play.className = "play";
    const tape = element("div", "tool-line",
      button("|◀", "To the start of what is in view", () => this.goTo(desk.model.view.t0)),
      button("◀ step", "To the change before", () => this.step(-1)), this.play, button("step ▶", "To the next change", () => this.step(1)),
      choice("steps of", [["all", "all ranks"], ["one", "the chosen rank"]], (value) => (this.of = value)).label,
      this.speed(), choice("as", [["ring", "ring"], ["grid", "grid"]], (value) => {
        this.form = value;
        this.draw();
      }).label, this.time);
    this.body.append(tape, this.scrub, this.canvas);
    this.body.addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLButtonElement) return;
      if (event.key === " ") this.toggle();
      else return;
      event.preventDefault();
    });
  }

  private speed(): HTMLElement {
    const { label, select } = choice("what is in view in", [["5", "5 s"], ["20", "20 s"], ["60", "1 min"], ["300", "5 min"]],
      (value) => (this.seconds = Number(value)));
    select.value = "20";
    return label;
  }

  update(): void {
    if (this.desk.model.cursor === null) this.goTo(this.desk.model.view.t0);
    this.draw();
  }

  toggle(): void {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "❚❚ pause" : "▶ play";
    this.last = performance.now();
    if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }

  step(direction: 1 | -1): void {
    const { model } = this.desk;
    if (this.playing) this.toggle();
    const rank = this.of === "all" ? null : model.selected?.rank ?? model.phaseRank;
    this.goTo(nextChange(model, model.cursor ?? model.view.t0, direction, rank));
  }

  // Moves the cursor; the view follows it.
  goTo(t: number): void {
    const { model } = this.desk;
    model.cursor = Math.min(model.end, Math.max(0, t));
    const { t0, t1 } = model.view;
    if (model.cursor < t0 || model.cursor > t1)
      model.view = clampInterval({ t0: model.cursor - (t1 - t0) * 0.1, t1: model.cursor + (t1 - t0) * 0.9 }, model.end);
    this.draw();
    this.desk.redraw();
  }

  private tick(now: number): void {
    if (!this.playing || this.body.hidden) {
      if (this.playing) this.toggle();
      return;
    }
    const { model } = this.desk;
    const { t0, t1 } = model.view;
    const at = (model.cursor ?? t0) + ((now - this.last) / 1000 / this.seconds) * (t1 - t0);
    this.last = now;
    this.goTo(at);
    if (at >= model.end) this.toggle();
    else requestAnimationFrame((next) => this.tick(next));
  }

  private placesOf(ranks: number): Places {
    const { form } = this;
    if (this.places?.form !== form || this.places.ranks !== ranks)
      this.places = { form, ranks, list: form === "ring" ? ring(ranks) : grid(ranks) };
    return this.places.list;
  }

  private draw(): void {
    const { canvas, desk } = this;
    if (this.body.hidden) return;
    const { model } = desk;
    const t = model.cursor ?? model.view.t0;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.max(200, canvas.clientWidth), Math.max(120, canvas.clientHeight)];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const ranks = model.trace.ranks.length;
    const side = Math.min(width * 0.7, height) - 50;
    const size = Math.max(1.5, Math.min(11, (side * (this.form === "ring" ? 2.6 : 0.7)) / (this.form === "ring" ? ranks : Math.sqrt(ranks)) / 2));
    const [left, top] = [(width - side) / 2, (height - side) / 2];
    const at = this.placesOf(ranks).map(([x, y]) => [left + x * side, top + y * side] as const);
    const messages = this.drawMessages(context, at, t);
    this.drawRanks(context, at, size, t, left + side / 2);
    this.shown = { ranks, messages };
    const { t0, t1 } = model.view;
    this.scrub.value = String(Math.round(((t - t0) / (t1 - t0)) * 10000));
    this.scrub.setAttribute("aria-valuetext", formatTime(Math.round(t)));
    this.time.textContent = `${formatTime(Math.round(t))}, ${messages} message${messages === 1 ? "" : "s"} under way`;
    canvas.setAttribute("aria-label", `Ranks at ${this.time.textContent}`);
  }

  private drawMessages(context: CanvasRenderingContext2D, at: readonly (readonly [number, number])[], t: number): number {
    const { model } = this.desk;
    const messages = model.messages();
    const list = underWay(model, t, kMostMessages);
    context.strokeStyle = model.theme.muted;
    context.fillStyle = model.theme.hit;
    const load = new Map<string, number>();
    for (const { message, far } of list) {
      const [from, to] = [at[messages.source[message]!]!, at[messages.dest[message]!]!];
      const key = `${messages.source[message]} ${messages.dest[message]}`;
      const before = load.get(key) ?? 0;
      load.set(key, before + 1);
      context.lineWidth = Math.min(4, 0.7 + 0.5 * before);
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0], to[1]);
      context.stroke();
      context.globalAlpha = 1;
      context.beginPath();
      context.arc(from[0] + far * (to[0] - from[0]), from[1] + far * (to[1] - from[1]), 3.5, 0, 2 * Math.PI);
      context.fill();
    }
    return list.length;
  }

  private drawRanks(context: CanvasRenderingContext2D, at: readonly (readonly [number, number])[], size: number, t: number, middle: number): void {
    const { model } = this.desk;
    const { states, palette, theme, trace } = model;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    at.forEach(([x, y], rank) => {
      const { cls, event } = standing(model, rank, t);
      const colour = cls === kIdle ? theme.row : cssColour(cls < states.count ? palette.busy[cls]! : palette.waiting[cls - states.count]!);
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fillStyle = colour;
      context.fill();
      context.lineWidth = model.selected?.rank === rank ? 2.5 : 1;
      context.strokeStyle = cls >= states.count && cls !== kIdle ? cssColour(palette.busy[cls - states.count]!) : theme.muted;
      context.stroke();
      if (at.length > kMostNames) return;
      const shape = event < 0 ? null : trace.shapes[trace.ranks[rank]!.shape[event]!]!;
      const place = shape === null ? "" : trace.head.places[shape.place - 1] ?? "";
      const doing = cls === kIdle ? "" : cls === 0 ? "" : ` ${trace.head.names[shape!.name]!.replace(/^MPI_/, "")}${cls >= states.count ? " waits" : ""} ${place}`;
      context.fillStyle = theme.text;
      context.textAlign = this.form === "grid" ? "center" : x < middle - 1 ? "right" : "left";
      if (this.form === "grid") context.fillText(String(rank), x, y + size + 8);
      else context.fillText(`${rank}${doing}`, x + (x < middle - 1 ? -size - 4 : size + 4), y);
    });
  }
}
