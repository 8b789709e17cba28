// The drawing of a machine at a moment: links, what moves along them, and what each entity does.
import { bytesText, numberText, type Run } from "./run";
import { type Scene } from "./shown";

export interface Colours {
  readonly ink: string;
  readonly soft: string;
  readonly rule: string;
  readonly paper: string;
  readonly idle: string;
  readonly send: string;
  readonly receive: string;
  readonly wait: string;
  readonly accent: string;
}

export function coloursOfPage(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ink: of("--ink"), soft: of("--soft"), rule: of("--rule"), paper: of("--paper"), idle: of("--idle"), send: of("--c0"),
    receive: of("--c2"), wait: of("--c1"), accent: of("--accent"),
  };
}

// A canvas with as many pixels as the screen has for it; what is drawn counts in those of the page.
export function fit(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

export interface Look {
  readonly quantity: string; // shown in place; empty: bytes
  readonly loads: boolean; // links by how busy they were
  readonly chosen: number; // of the shown; -1: none
  readonly hover: number;
}

const kHues = 12; // messages have as many colours
const kMostNames = 80;
const kMargin = 34;

export function loadColour(share: number): string {
  return `hsl(${Math.round(220 * (1 - share))} 75% 48%)`;
}

export class Drawing {
  private place: [number, number][] = [];
  private box = 14;
  private still: HTMLCanvasElement | null = null; // the links
  private stillLoads = false;
  private view: ReturnType<typeof fit>;
  private readonly quantities = new Map<number, number>(); // by shown, of the one that is shown in place
  private quantity = "";
  private labels: [x: number, y: number, width: number][] = []; // of this frame

  constructor(readonly canvas: HTMLCanvasElement, private readonly run: Run, private scene: Scene) {
    this.view = fit(canvas);
    this.layOut(scene);
  }

  layOut(scene: Scene): void {
    this.scene = scene;
    this.view = fit(this.canvas);
    const { width, height } = this.view;
    const count = Math.max(1, scene.shown.length);
    const scale = (values: readonly number[], length: number): number[] => {
      const low = Math.min(0, ...values), high = Math.max(1, ...values);
      return values.map((value) => kMargin + ((value - low) / (high - low)) * (length - 2 * kMargin));
    };
    const xs = scale(scene.shown.map(({ x }) => x), width), ys = scale(scene.shown.map(({ y }) => y), height);
    this.place = xs.map((x, i) => [x, ys[i]!]);
    this.box = Math.max(3, Math.min(26, 0.34 * Math.sqrt(((width - 60) * (height - 60)) / count)));
    this.still = null;
    this.quantity = "?";
  }

  // The shown at a point of the canvas; -1: none.
  at(x: number, y: number): number {
    const near = Math.max(9, this.box);
    let found = -1, least = near;
    this.place.forEach(([a, b], i) => {
      const distance = Math.hypot(a - x, b - y);
      if (distance < least) {
        least = distance;
        found = i;
      }
    });
    return found;
  }
  middle(i: number): readonly [number, number] {
    return this.place[i]!;
  }

  private drawLinks(colours: Colours, loads: boolean): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    const context = canvas.getContext("2d")!;
    context.setTransform(this.view.context.getTransform());
    const most = Math.max(0, ...this.scene.links.map(({ busy }) => busy));
    for (const link of [...this.scene.links].sort((a, b) => a.busy - b.busy)) {
      const share = loads && most > 0 ? link.busy / most : 0;
      context.strokeStyle = share > 0 ? loadColour(share) : colours.rule;
      context.lineWidth = 1 + (share > 0 ? 5 * share : 0);
      context.beginPath();
      context.moveTo(...this.place[link.from]!);
      context.lineTo(...this.place[link.to]!);
      context.stroke();
    }
    this.stillLoads = loads;
    return canvas;
  }

  // Which of the run's quantities is told at each of the shown.
  private choose(quantity: string): void {
    if (quantity === this.quantity) return;
    this.quantity = quantity;
    this.quantities.clear();
    this.run.data.quantities.forEach(([entity, name], q) => {
      const at = this.scene.of[entity]!;
      if (name === quantity && this.scene.shown[at]!.entities.length === 1) this.quantities.set(at, q);
    });
  }

  // How many messages move.
  draw(now: number, look: Look, colours: Colours): number {
    const { context, width, height } = this.view;
    const { shown, of } = this.scene;
    if (this.still === null || this.stillLoads !== look.loads) this.still = this.drawLinks(colours, look.loads);
    this.choose(look.quantity);
    context.clearRect(0, 0, width, height);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    context.restore();

    const sends = new Uint8Array(shown.length), receives = new Uint8Array(shown.length);
    const lines = Array.from({ length: kHues }, () => new Path2D());
    const dots = Array.from({ length: kHues }, () => new Path2D());
    const size = Math.max(2.5, this.box / 4);
    let moving = 0;
    this.run.underWay(now, ([, message, from, to, , begin, end]) => {
      const a = of[from]!, b = of[to]!;
      if (a === b) return;
      ++moving;
      sends[a] = receives[b] = 1;
      const [x0, y0] = this.place[a]!, [x1, y1] = this.place[b]!;
      const hue = message % kHues;
      lines[hue]!.moveTo(x0, y0);
      lines[hue]!.lineTo(x1, y1);
      const far = (now - begin) / Math.max(1, end - begin);
      const x = x0 + far * (x1 - x0), y = y0 + far * (y1 - y0);
      dots[hue]!.moveTo(x + size, y);
      dots[hue]!.arc(x, y, size, 0, 7);
    });
    context.lineWidth = 2;
    for (let hue = 0; hue < kHues; hue++) {
      context.strokeStyle = context.fillStyle = `hsl(${(hue * 360) / kHues} 65% 46%)`;
      context.stroke(lines[hue]!);
      context.fill(dots[hue]!);
    }
    this.drawEntities(now, look, colours, sends, receives);
    return moving;
  }

  private drawEntities(now: number, look: Look, colours: Colours, sends: Uint8Array, receives: Uint8Array): void {
    const { context } = this.view;
    const { shown, most } = this.scene;
    const { box } = this;
    const names = shown.length <= kMostNames;
    const paths = new Map([colours.send, colours.wait, colours.receive, colours.idle].map((colour) => [colour, new Path2D()] as const));
    const bars = new Path2D();
    const notes: [x: number, y: number, text: string][] = [];
    shown.forEach((one, i) => {
      const [x, y] = this.place[i]!;
      const bytes = one.inside.at(now);
      const q = this.quantities.get(i);
      const value = look.quantity === "" ? bytes : q === undefined ? 0 : this.run.states[q]!.at(now);
      const waits = bytes > 0 || value > 0;
      const path = paths.get(sends[i] === 1 ? colours.send : waits ? colours.wait : receives[i] === 1 ? colours.receive : colours.idle)!;
      if (one.kind === "processor") path.rect(x - box / 2, y - box / 2, box, box);
      else if (one.kind === "box") path.roundRect(x - box * 0.75, y - box / 2, box * 1.5, box, box / 4);
      else if (one.kind === "bus" || one.kind === "ethernet") path.rect(x - box * 1.5, y - box / 4, box * 3, box / 2);
      else if (one.kind === "nic" || one.kind === "memory" || one.kind === "cache") path.rect(x - box / 2, y - box / 3, box, box / 1.5);
      else {
        path.moveTo(x + box / 2, y);
        path.arc(x, y, box / 2, 0, 7);
      }
      const high = look.quantity === "" ? most : q === undefined ? 1 : Math.max(1, this.run.data.quantities[q]![3]);
      if (value > 0 && box >= 5) bars.rect(x + box * 0.62, y + box / 2 - (box * value) / high, box / 5, (box * value) / high);
      if (value > 0 && (names || i === look.chosen || i === look.hover)) notes.push([x, y - box / 2 - 5, look.quantity === "" ? bytesText(value) : `${numberText(value)} ${look.quantity}`]);
    });
    for (const [colour, path] of paths) {
      context.fillStyle = colour;
      context.fill(path);
    }
    context.fillStyle = colours.ink;
    context.fill(bars);
    context.textAlign = "center";
    this.labels = [];
    for (const i of [look.chosen, look.hover]) if (i >= 0) this.drawName(i, now, colours);
    if (names) shown.forEach((_, i) => this.drawName(i, now, colours));
    for (const [x, y, text] of notes) this.label(text, x, y, colours, colours.ink);
    for (const i of [look.hover, look.chosen]) {
      if (i < 0) continue;
      const [x, y] = this.place[i]!;
      context.strokeStyle = i === look.chosen ? colours.accent : colours.ink;
      context.lineWidth = 2;
      context.strokeRect(x - box * 0.8 - 2, y - box / 2 - 4, box * 1.6 + 4, box + 8);
    }
  }

  // With the place in the program where its rank stands.
  private drawName(i: number, now: number, colours: Colours): void {
    const { context } = this.view;
    const one = this.scene.shown[i]!;
    const [x, y] = this.place[i]!;
    context.textAlign = "center";
    // "node[3] (coarse)": the level that stands for a box.
    const level = one.kind === "box" ? "" : /\([^)]*\)$/.exec(this.run.data.entities[one.entities[0]!]![7])?.[0] ?? "";
    this.label(`${one.name} ${level}`.trim(), x, y + this.box / 2 + 12, colours, colours.ink);
    if (one.ranks.length !== 1 || this.scene.shown.length > kMostNames) return;
    const { call, place, next } = this.run.stand(one.ranks[0]!, now);
    const text = call === "" ? next : place;
    if (text !== "") this.label(text, x, y + this.box / 2 + 24, colours, call === "" ? colours.soft : colours.accent);
  }

  // Not over another one.
  private label(text: string, x: number, y: number, colours: Colours, colour: string): void {
    const { context } = this.view;
    context.font = `${Math.max(9, Math.min(12, this.box / 2))}px system-ui, sans-serif`;
    const { width } = context.measureText(text);
    if (this.labels.some(([ax, ay, other]) => Math.abs(ax - x) < (width + other) / 2 && Math.abs(ay - y) < 9)) return;
    this.labels.push([x, y, width]);
    context.lineWidth = 3;
    context.strokeStyle = colours.paper;
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }
}
