// The page of a run under way: asks the watcher every half second and draws what it says.
import { element, find } from "../dom";
import { SortedTable } from "../dock/table";
import { formatBytes, formatNumber } from "../format";
import { ring } from "../scene";
import { cssColour, kDark, kLight, makePalette, type Theme } from "../palette";
import { rates, stateName, type WatchRank, type WatchState } from "./data";

const kAsk = 500; // ms
const kHistory = 600; // looks that are remembered

interface Line {
  readonly rank: WatchRank;
  readonly calls: number; // by second
  readonly bytes: number;
}

class Watch {
  private before: WatchState | null = null;
  private readonly history: string[][] = [];
  private readonly names: string[] = ["COMPUTE"];
  private readonly table = new SortedTable<Line>("Ranks", [
    { name: "rank", value: (line) => line.rank.rank },
    { name: "does", value: (line) => stateName(line.rank), text: (line) => `${stateName(line.rank)} ${line.rank.place}` },
    { name: "waits for", value: (line) => line.rank.waits_for.length, text: (line) => this.waitText(line.rank) },
    { name: "phase", value: (line) => line.rank.phase },
    { name: "calls", value: (line) => line.rank.calls },
    { name: "calls/s", value: (line) => line.calls, text: (line) => formatNumber(line.calls) },
    { name: "sent", value: (line) => line.rank.bytes, text: (line) => formatBytes(line.rank.bytes) },
    { name: "sent/s", value: (line) => line.bytes, text: (line) => formatBytes(Math.round(line.bytes)) },
  ], 2);

  constructor() {
    find("#table").append(this.table.node);
  }

  take(state: WatchState): void {
    const speed = rates(this.before, state);
    this.before = state;
    for (const rank of state.ranks) if (!this.names.includes(stateName(rank))) this.names.push(stateName(rank));
    this.history.push(state.ranks.map(stateName));
    if (this.history.length > kHistory) this.history.shift();
    find("#line").textContent = state.line + (state.ended ? " – the run has ended" : "");
    const stopped = state.ranks.filter((rank) => rank.process !== undefined);
    find("#alarm").hidden = stopped.length === 0;
    const words = stopped.map((rank) => this.alarm(rank, state)).join(" ");
    if (find("#alarm").textContent !== words) find("#alarm").textContent = words;
    this.table.fill(state.ranks.map((rank, i) => ({ rank, ...speed[i]! })));
    this.draw();
    document.documentElement.dataset["watch"] = JSON.stringify({ ranks: state.ranks.length, stopped: stopped.map((rank) => rank.rank) });
  }

  private alarm(rank: WatchRank, state: WatchState): string {
    const waiting = state.ranks.filter((each) => each.waits_for.includes(rank.rank)).map((each) => each.rank);
    const senders = rank.unread.map(([from]) => from);
    return `Rank ${rank.rank} is stopped (process ${rank.process}).` +
      (waiting.length > 0 ? ` Waiting for it: ${waiting.join(", ")}.` : "") +
      (senders.length > 0 ? ` Sent to it, and not received: ${senders.join(", ")}.` : "");
  }

  private waitText(rank: WatchRank): string {
    if (rank.waits_for.length === 0) return "";
    const list = rank.waits_for.slice(0, 6).join(", ") + (rank.waits_for.length > 6 ? ` and ${rank.waits_for.length - 6} more` : "");
    return rank.guessed ? `${list} (as the last time)` : list;
  }

  private colours(theme: Theme): Map<string, string> {
    const palette = makePalette(this.names, new Set(), theme);
    const all = new Map(this.names.map((name, i) => [name, cssColour(palette.busy[i]!)]));
    all.set("stopped", theme.hit);
    for (const name of ["absent", "ended"]) all.set(name, theme.line);
    return all;
  }

  draw(): void {
    const theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? kDark : kLight;
    const colours = this.colours(theme);
    this.drawRing(theme, colours);
    this.drawHistory(theme, colours);
    find("#legend").replaceChildren(...this.names.map((name) => {
      const dot = element("span", "dot");
      dot.style.background = colours.get(name)!;
      return element("li", "", dot, name);
    }));
  }

  private canvas(id: string): { context: CanvasRenderingContext2D; width: number; height: number } {
    const canvas = find<HTMLCanvasElement>(id);
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    return { context, width, height };
  }

  private drawRing(theme: Theme, colours: Map<string, string>): void {
    const { context, width, height } = this.canvas("#ring");
    const ranks = this.before?.ranks ?? [];
    const side = Math.min(width, height) - 60;
    const at = ring(ranks.length).at.map(([x, y]) => [(width - side) / 2 + x * side, (height - side) / 2 + y * side] as const);
    context.lineWidth = 1;
    for (const rank of ranks)
      for (const other of rank.waits_for.slice(0, 8)) {
        const [from, to] = [at[rank.rank]!, at[other]];
        if (to === undefined) continue;
        context.strokeStyle = ranks[other]?.process !== undefined ? theme.hit : theme.muted;
        context.setLineDash(rank.guessed ? [3, 3] : []);
        context.beginPath();
        context.moveTo(from[0], from[1]);
        context.lineTo(to[0], to[1]);
        context.stroke();
      }
    context.setLineDash([]);
    const size = Math.max(2, Math.min(12, (side * 1.3) / Math.max(1, ranks.length)));
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    ranks.forEach((rank, i) => {
      const [x, y] = at[i]!;
      context.fillStyle = colours.get(stateName(rank))!;
      context.strokeStyle = theme.muted;
      context.beginPath();
      context.arc(x, y, rank.process === undefined ? size : size + 3, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (ranks.length > 64) return;
      const out = (size + 12) / side;
      context.fillStyle = theme.text;
      context.fillText(String(rank.rank), x + (x - width / 2) * out * 2, y + (y - height / 2) * out * 2);
    });
  }

  private drawHistory(theme: Theme, colours: Map<string, string>): void {
    const { context, width, height } = this.canvas("#history");
    context.fillStyle = theme.row;
    context.fillRect(0, 0, width, height);
    const column = width / kHistory;
    this.history.forEach((look, x) => look.forEach((name, rank) => {
      context.fillStyle = colours.get(name)!;
      context.fillRect(x * column, (rank * height) / look.length, Math.ceil(column), Math.max(1, height / look.length - 1));
    }));
  }
}

const watch = new Watch();

async function ask(): Promise<void> {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    const state = (await answer.json()) as WatchState;
    watch.take(state);
    if (state.ended) return;
  } catch {
    find("#line").textContent += " – the run has ended, or its watcher";
    return;
  }
  window.setTimeout(() => void ask(), kAsk);
}

window.addEventListener("resize", () => watch.draw());
void ask();
