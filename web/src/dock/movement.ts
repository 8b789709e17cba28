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

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Drawn {
  readonly messages: number;
  readonly busiest: number; // messages on the link that has most
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
    const drawn = this.drawMessages();
    this.drawRanks(markName);
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

  private drawMessages(): Drawn {
    const { context, model, scene } = this;
    const messages = model.messages();
    const list = underWay(model, this.t, kMostMessages);
    const loads = new Map<number, { leg: Leg; count: number }>();
    const ways = list.map(({ message }) => scene.way(messages.source[message]!, messages.dest[message]!));
    for (const way of ways)
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
    return { messages: list.length, busiest };
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
