// The page of a run under way: asks the watcher every half second and draws what it says.
import { element, find } from "../dom";
import { SortedTable } from "../dock/table";
import { formatBytes, formatNumber, formatPercent, formatTime } from "../format";
import { ring } from "../scene";
import { cssColour, kDark, kLight, makePalette, type Theme } from "../palette";
import { rates, stateName, sums, type Sum, type WatchRank, type WatchState } from "./data";
import { drawPicture } from "./picture";

const kAsk = 500; // ms
const kTries = 120; // without an answer, until no more are made
const kHistory = 600; // looks that are remembered
const kFirst = 60; // looks that fill the width at first
const kPicoseconds = 1e12; // in a second
const kHead = 9; // px, of an arrow
type Point = readonly [x: number, y: number];

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
    { name: "waits for", value: (line) => line.rank.waits, text: (line) => this.waitText(line.rank) },
    { name: "phase", value: (line) => line.rank.phase },
    { name: "calls", value: (line) => line.rank.calls },
    { name: "calls/s", value: (line) => line.calls, text: (line) => formatNumber(line.calls) },
    { name: "sent", value: (line) => line.rank.bytes, text: (line) => formatBytes(line.rank.bytes) },
    { name: "sent/s", value: (line) => line.bytes, text: (line) => formatBytes(Math.round(line.bytes)) },
  ], 2);

  private readonly sums = new SortedTable<Sum>("Where the time went", [
    { name: "state", value: (sum) => sum.name },
    { name: "calls", value: (sum) => sum.calls, text: (sum) => (sum.calls === 0 ? "" : String(sum.calls)) },
    { name: "time", value: (sum) => sum.seconds, text: (sum) => formatTime(sum.seconds * kPicoseconds), title: "Of all ranks" },
    { name: "share", value: (sum) => sum.share, text: (sum) => formatPercent(sum.share) },
  ], 2, null, 12);
  private picture = ""; // that is shown
  private drawing = false;

  constructor() {
    find("#table").append(this.table.node);
    find("#sums").append(this.sums.node);
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
    this.sums.fill(sums(state));
    find("#clock").textContent = `The ${state.clock === "cpu" ? "CPU" : state.clock} time of all ranks, of calls that have ended`;
    if (state.picture !== this.picture) void this.show(state.picture);
    this.draw();
    document.documentElement.dataset["watch"] = JSON.stringify({ ranks: state.ranks.length, stopped: stopped.map((rank) => rank.rank) });
  }

  // Whether it answers; it may again.
  answers(yes: boolean): void {
    find("#silence").hidden = yes;
  }

  // One at a time, so that an older one never comes last; what fails is asked for at the next look.
  private async show(version: string): Promise<void> {
    if (this.drawing || version === "") return;
    this.drawing = true;
    try {
      const answer = await fetch("picture", { cache: "no-store" });
      if (!answer.ok) return;
      await drawPicture(find<HTMLCanvasElement>("#picture"), new Uint8Array(await answer.arrayBuffer()));
      find("#shown").hidden = false;
      document.documentElement.dataset["picture"] = version;
      this.picture = version;
    } catch {
      // Half of it: the program is writing it.
    } finally {
      this.drawing = false;
    }
  }

  private alarm(rank: WatchRank, state: WatchState): string {
    const waiting = state.ranks.filter((each) => each.waits_for.includes(rank.rank)).map((each) => each.rank);
    const senders = rank.unread.map(([from]) => from);
    return `Rank ${rank.rank} is stopped (process ${rank.process}).` +
      (waiting.length > 0 ? ` Waiting for it: ${waiting.join(", ")}.` : "") +
      (senders.length > 0 ? ` Sent to it, and not received: ${senders.join(", ")}.` : "");
  }

  private waitText(rank: WatchRank): string {
    const some = rank.waits_for.slice(0, 6);
    const list = some.join(", ") + (rank.waits > some.length ? ` and ${rank.waits - some.length} more` : "");
    return rank.guessed && list !== "" ? `${list} (as the last time)` : list;
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
    const large = Math.max(1, Math.min(width, height) / 460); // of a wall display
    const side = Math.min(width, height) - 60 * large;
    const at = ring(ranks.length).at.map(([x, y]): Point => [(width - side) / 2 + x * side, (height - side) / 2 + y * side]);
    const size = Math.max(2, Math.min(12 * large, (side * 0.8) / Math.max(1, ranks.length)));
    this.drawWaiting(context, theme, at);
    this.drawMessages(context, theme, at, size);
    context.font = `${Math.round(12 * large)}px system-ui, sans-serif`;
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
      const out = (size + 12 * large) / side;
      context.fillStyle = theme.text;
      context.fillText(String(rank.rank), x + (x - width / 2) * out * 2, y + (y - height / 2) * out * 2);
    });
    this.drawKey(theme);
  }

  private drawWaiting(context: CanvasRenderingContext2D, theme: Theme, at: readonly Point[]): void {
    const ranks = this.before?.ranks ?? [];
    context.lineWidth = 1;
    for (const rank of ranks)
      for (const other of rank.waits_for.slice(0, 8)) {
        const [from, to] = [at[rank.rank]!, at[other]];
        if (to === undefined) continue;
        context.strokeStyle = ranks[other]?.process !== undefined ? theme.hit : theme.muted;
        context.setLineDash(rank.guessed ? [3, 3] : []);
        context.beginPath();
        context.moveTo(...from);
        context.lineTo(...to);
        context.stroke();
      }
    context.setLineDash([]);
  }

  // What was sent since the look before, the wider the more; and what a stopped rank has not received.
  private drawMessages(context: CanvasRenderingContext2D, theme: Theme, at: readonly Point[], size: number): void {
    const state = this.before;
    if (state === null) return;
    const most = Math.max(1, ...state.messages.map(([, , , bytes]) => bytes));
    for (const [from, to, , bytes] of state.messages)
      this.drawArrow(context, theme.accent, at[from], at[to], 1 + (3 * Math.log1p(bytes)) / Math.log1p(most), size);
    for (const rank of state.ranks)
      if (rank.process !== undefined)
        for (const [from] of rank.unread) this.drawArrow(context, theme.hit, at[from], at[rank.rank], 3, size);
  }

  // Bent to one side, so that there and back are two.
  private drawArrow(
    context: CanvasRenderingContext2D, colour: string, from: Point | undefined, to: Point | undefined, width: number, size: number,
  ): void {
    if (from === undefined || to === undefined) return;
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy);
    if (length < 2 * size) return;
    const bend = 0.12;
    const middle: Point = [(from[0] + to[0]) / 2 - dy * bend, (from[1] + to[1]) / 2 + dx * bend];
    const angle = Math.atan2(to[1] - middle[1], to[0] - middle[0]);
    const tip: Point = [to[0] - (size + 2) * Math.cos(angle), to[1] - (size + 2) * Math.sin(angle)];
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(...from);
    context.quadraticCurveTo(...middle, tip[0] - 4 * Math.cos(angle), tip[1] - 4 * Math.sin(angle));
    context.stroke();
    context.beginPath();
    context.moveTo(...tip);
    for (const side of [-0.4, 0.4])
      context.lineTo(tip[0] - (kHead + width) * Math.cos(angle + side), tip[1] - (kHead + width) * Math.sin(angle + side));
    context.fill();
    context.lineWidth = 1;
  }

  private drawKey(theme: Theme): void {
    const entry = (colour: string, dash: string, text: string): HTMLElement => {
      const mark = element("span", "mark");
      mark.style.borderTopColor = colour;
      mark.style.borderTopStyle = dash;
      return element("span", "", mark, text);
    };
    find("#key").replaceChildren(
      entry(theme.accent, "solid", "messages of the last look"), " ",
      entry(theme.muted, "solid", "waits for"), " ",
      entry(theme.muted, "dashed", "waits, as the last time"), " ",
      entry(theme.hit, "solid", "of a stopped rank"),
    );
  }

  private drawHistory(theme: Theme, colours: Map<string, string>): void {
    const { context, width, height } = this.canvas("#history");
    context.fillStyle = theme.row;
    context.fillRect(0, 0, width, height);
    const column = width / Math.min(kHistory, Math.max(kFirst, this.history.length));
    this.history.forEach((look, x) => look.forEach((name, rank) => {
      context.fillStyle = colours.get(name)!;
      context.fillRect(x * column, (rank * height) / look.length, Math.ceil(column), Math.max(1, height / look.length - 1));
    }));
  }
}

const watch = new Watch();

// null: no answer.
async function look(): Promise<WatchState | null> {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    return answer.ok ? ((await answer.json()) as WatchState) : null;
  } catch {
    return null;
  }
}

async function ask(): Promise<void> {
  let silent = 0;
  while (silent < kTries) {
    const state = await look();
    silent = state === null ? silent + 1 : 0;
    watch.answers(state !== null);
    if (state !== null) watch.take(state);
    if (state?.ended) return;
    await new Promise((resolve) => window.setTimeout(resolve, kAsk));
  }
}

window.addEventListener("resize", () => watch.draw());
void ask();
