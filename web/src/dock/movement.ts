// One run at one moment, drawn into a box: links by what is on them, ranks by what they do,
// messages on their way, the numbers of marks at their ranks.
import { markAt, standing, underWay } from "../animate";
import { formatNumber } from "../format";
import type { Model } from "../model";
import { cssColour } from "../palette";
import { along, type Leg, type Point, type Scene } from "../scene";
import { kIdle } from "../sums";

const kMostMessages = 4000;
const kMostNames = 40; // ranks whose calls are named
const kMostNumbers = 64; // messages whose round is written beside them

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Drawn {
  readonly messages: number;
  readonly inside: number; // messages inside collectives
  readonly busiest: number; // messages on the link that has most
}

interface Inside {
  readonly way: readonly Leg[];
  readonly far: number;
  readonly round: number;
  readonly colour: string;
}

export function colourOf(model: Model, cls: number): string {
  const { states, palette, theme } = model;
  return cls === kIdle ? theme.row : cssColour(cls < states.count ? palette.busy[cls]! : palette.waiting[cls - states.count]!);
}

class Painter {
  private readonly side: number;
  private readonly left: number;
  private readonly top: number;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
    private readonly scene: Scene,
    private readonly box: Box,
    private readonly t: number,
  ) {
    // Names stand beside a ring.
    this.side = Math.max(40, Math.min(box.width * (scene.form === "ring" ? 0.66 : 0.92), box.height - 20) - (scene.form === "network" ? 60 : 36));
    this.left = box.left + (box.width - this.side) / 2;
    this.top = box.top + (box.height - this.side) / 2 + 6;
  }

  draw(markName: number): Drawn {
    const { context, model, box } = this;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    if (model.name !== "") {
      context.textAlign = "center";
      context.fillStyle = model.theme.text;
      context.fillText(model.name, box.left + box.width / 2, box.top + 9);
    }
    this.drawLinks();
    const inside = this.inside();
    const drawn = this.drawMessages(inside);
    this.drawRanks(markName);
    // Over the ranks, since most are near to one.
    this.drawInside(inside);
    return drawn;
  }

  private place([x, y]: Point): Point {
    return [this.left + x * this.side, this.top + y * this.side];
  }

  private line(leg: Leg): void {
    this.context.beginPath();
    leg.points.forEach((point, i) => {
      const [x, y] = this.place(point);
      if (i === 0) this.context.moveTo(x, y);
      else this.context.lineTo(x, y);
    });
    this.context.stroke();
  }

  private drawLinks(): void {
    const { context, model, scene } = this;
    context.strokeStyle = model.theme.line;
    context.lineWidth = 1;
    for (const leg of scene.links) this.line(leg);
    context.fillStyle = model.theme.line;
    const half = Math.max(2, Math.min(6, scene.size * this.side * 0.6));
    for (const point of scene.others) {
      const [x, y] = this.place(point);
      context.fillRect(x - half, y - half, 2 * half, 2 * half);
    }
  }

  private drawMessages(inside: readonly Inside[]): Drawn {
    const { context, model, scene } = this;
    const messages = model.messages();
    const list = underWay(model, this.t, kMostMessages);
    const loads = new Map<number, { leg: Leg; count: number }>();
    const ways = list.map(({ message }) => scene.way(messages.source[message]!, messages.dest[message]!));
    for (const way of [...ways, ...inside.map((each) => each.way)])
      for (const leg of way) {
        const load = loads.get(leg.key);
        if (load === undefined) loads.set(leg.key, { leg, count: 1 });
        else load.count++;
      }
    context.strokeStyle = model.theme.accent;
    let busiest = 0;
    for (const { leg, count } of loads.values()) {
      context.globalAlpha = Math.min(0.9, 0.35 + 0.12 * count);
      context.lineWidth = Math.min(8, 1 + 1.4 * Math.log2(1 + count));
      this.line(leg);
      busiest = Math.max(busiest, count);
    }
    context.globalAlpha = 1;
    context.fillStyle = model.theme.hit;
    list.forEach(({ far }, i) => {
      const [x, y] = this.place(along(ways[i]!, far));
      context.beginPath();
      context.arc(x, y, 3.5, 0, 2 * Math.PI);
      context.fill();
    });
    return { messages: list.length, inside: inside.length, busiest };
  }

  // Messages inside collectives, with the colours of those.
  private inside(): Inside[] {
    const { model, scene, t } = this;
    return model.rounds().at(t).flatMap(({ shape, messages }) => messages.slice(0, kMostMessages).map(({ round, from, to, sent, came }) => ({
      way: scene.way(from, to), far: came > sent ? (t - sent) / (came - sent) : 1, round, colour: cssColour(model.palette.busy[model.states.ofShape[shape]!]!),
    })));
  }

  // Squares with the number of the round.
  private drawInside(inside: readonly Inside[]): void {
    const { context, model } = this;
    const half = inside.length > kMostNumbers ? 3.5 : 6.5;
    context.textAlign = "center";
    context.lineWidth = 2;
    for (const { way, far, round, colour } of inside) {
      const [x, y] = this.place(along(way, far));
      context.fillStyle = model.theme.background;
      context.fillRect(x - half, y - half, 2 * half, 2 * half);
      context.strokeStyle = colour;
      context.strokeRect(x - half, y - half, 2 * half, 2 * half);
      if (inside.length > kMostNumbers) continue;
      context.fillStyle = model.theme.text;
      context.fillText(String(round), x, y + 0.5);
    }
  }

  private drawRanks(markName: number): void {
    const { context, model, scene } = this;
    const { states, palette, theme, trace } = model;
    const size = Math.max(1.5, Math.min(11, scene.size * this.side));
    const middle = this.left + this.side / 2;
    const few = scene.at.length <= kMostNames;
    scene.at.forEach((point, rank) => {
      const [x, y] = this.place(point);
      const { cls, event } = standing(model, rank, this.t);
      const waits = cls >= states.count && cls !== kIdle;
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fillStyle = colourOf(model, cls);
      context.fill();
      context.lineWidth = model.selected?.rank === rank ? 2.5 : 1;
      context.strokeStyle = waits ? cssColour(palette.busy[cls - states.count]!) : theme.muted;
      context.stroke();
      const said = markName < 0 ? null : markAt(model, rank, this.t, markName);
      const number = said === null ? "" : formatNumber(said);
      context.fillStyle = theme.text;
      if (scene.form === "ring" && few) {
        const shape = event < 0 ? null : trace.shapes[trace.ranks[rank]!.shape[event]!]!;
        const doing = shape === null || cls === kIdle || cls === 0 ? ""
          : ` ${trace.head.names[shape.name]!.replace(/^MPI_/, "")}${waits ? " waits" : ""} ${trace.head.places[shape.place - 1] ?? ""}`;
        context.textAlign = x < middle - 1 ? "right" : "left";
        context.fillText(`${rank}${number === "" ? "" : ` = ${number}`}${doing}`, x + (x < middle - 1 ? -size - 4 : size + 4), y);
      } else if (few || (number !== "" && scene.at.length <= 4 * kMostNames)) {
        context.textAlign = "center";
        context.fillText(number === "" ? String(rank) : few ? `${rank} = ${number}` : number, x, y + size + 8);
      }
    });
  }
}

// `markName`: whose numbers stand at the ranks; -1: none.
export function drawMovement(context: CanvasRenderingContext2D, model: Model, scene: Scene, box: Box, t: number, markName: number): Drawn {
  return new Painter(context, model, scene, box, t).draw(markName);
}
