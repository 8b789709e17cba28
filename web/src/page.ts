// The page around the time lines: its runs over each other with one axis, the tools above
// them, the panel beside and the window below.
import { readState, writeState } from "./address";
import { Lane } from "./compare/lane";
import { Dock } from "./dock/dock";
import { AnimationTool } from "./dock/animation";
import { CompareTool } from "./dock/compare";
import type { Window } from "./decode";
import type { Desk, Tool } from "./dock/desk";
import { DetailTool } from "./dock/detail";
import { ExportTool, type Picture } from "./dock/export";
import { HistogramTool } from "./dock/histogram";
import { MatrixTool } from "./dock/matrix";
import { NotesTool } from "./dock/notes";
import { RanksTool } from "./dock/ranks";
import { StatisticsTool } from "./dock/statistics";
import { TracksTool } from "./dock/tracks";
import { find } from "./dom";
import { formatPercent, formatTime } from "./format";
import { lastToCome, longestWaits, neighbour, partners } from "./jumps";
import type { EventRef, Found, Model } from "./model";
import { showLosses, tellUnserved } from "./losspanel";
import { kDark, kLight } from "./palette";
import { facts, fillHeader, Legend, showDescription } from "./panel";
import { SearchBar } from "./searchbar";
import { Stage, type StageHooks } from "./stage";
import { describeEvent, eventAt } from "./tooltip";

const kLongestWaits = 1000;
const kFrame = 5; // ms that a frame may spend on bars
const kFirstFrame = 1000; // the first one, before which nothing is to be seen

export class Page {
  readonly stages: readonly Stage[];
  readonly lane: Lane | null;
  readonly dock: Dock;
  readonly desk: Desk;
  readonly search: SearchBar;
  readonly ranks: RanksTool;
  private active: Stage;
  private readonly legend: Legend;
  private pending: "none" | "front" | "bars" | "all" = "none";
  private timer: number | undefined;
  private loaded: Window | null = null; // the window of events that the page shows
  private waits: { view: string; list: EventRef[]; at: number } | null = null;
  private readonly scheme = window.matchMedia("(prefers-color-scheme: dark)");

  // `explained`: the time line is one part of a page that scrolls.
  constructor(private readonly models: readonly Model[], explained: boolean) {
    const host = find("#canvases");
    const hooks: StageHooks = {
      redraw: (stage) => this.changed(stage),
      refresh: (stage) => this.refreshed(stage),
      choose: (stage, ref) => this.choose(ref, stage),
      stepPath: (direction) => this.stepPath(direction),
      unfold: (stage, row) => this.ranks.unfold(stage.model.rows.list[row]!.ranks[0]!),
      act: (key, shift) => this.act(key, shift),
      scrolls: explained,
    };
    this.shareLook();
    this.stages = models.map((model, i) => new Stage(model, host, i, hooks));
    this.active = this.stages[0]!;
    for (const stage of this.stages) stage.front.addEventListener("focus", () => (this.active = stage));
    this.lane = models.length > 1 ? new Lane(host, models) : null;
    this.desk = this.makeDesk();
    this.ranks = new RanksTool(this.desk);
    this.search = new SearchBar(this.desk);
    this.dock = new Dock(find("#dock"), this.makeTools(), () => this.schedule("all"));
    fillHeader(models);
    this.legend = new Legend(() => this.active.model, () => this.repaint());
    this.connectTools();
    (explained ? find("#stage") : window).addEventListener("keydown", (event) => this.active.controls.key(event as KeyboardEvent));
    this.scheme.addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.schedule("all")).observe(host);
    this.takeAddress();
    for (const model of models) this.followServer(model);
    // An explanation has causes of its own.
    if (models[0]!.remote !== null) tellUnserved();
    else if (models.length === 1 && !explained) showLosses(models[0]!, (ref) => this.reveal(ref));
    this.repaint();
  }

  // What comes from a server is drawn when it is there.
  private followServer(model: Model): void {
    const { remote } = model;
    if (remote === null) return;
    find("#to-last").hidden = true;
    remote.changed = () => {
      const { window } = remote;
      if (window !== null && window !== this.loaded) model.load((this.loaded = window));
      this.schedule("all");
    };
    remote.failed = (what) => this.desk.say(what);
  }

  // What all runs show alike.
  private shareLook(): void {
    const first = this.models[0]!;
    for (const model of this.models) model.hidden = first.hidden;
  }

  private makeTools(): Tool[] {
    const { desk } = this;
    // Of a window of a run it is not known which calls of a collective belong together.
    if (this.models[0]!.remote !== null)
      return [new StatisticsTool(desk), new HistogramTool(desk), new MatrixTool(desk), this.ranks, new TracksTool(desk), new NotesTool(desk), new ExportTool(desk, () => this.picture())];
    const tools: Tool[] = [new StatisticsTool(desk), new HistogramTool(desk), new MatrixTool(desk), this.ranks,
      new DetailTool(desk, (rank) => this.ranks.unfold(rank)), new TracksTool(desk), new AnimationTool(desk), new NotesTool(desk), new ExportTool(desk, () => this.picture())];
    if (this.lane !== null) tools.unshift(new CompareTool(desk));
    return tools;
  }

  private makeDesk(): Desk {
    const page = this;
    return {
      get model() {
        return page.active.model;
      },
      get layout() {
        return page.active.layout;
      },
      models: this.models,
      redraw: () => this.changed(this.active),
      reveal: (ref) => this.reveal(ref),
      choose: (ref) => this.choose(ref),
      show: (t0, t1) => this.active.controls.show(t0, t1),
      showRank: (rank) => {
        this.active.controls.showRank(rank);
        this.changed(this.active);
      },
      find: (found) => this.mark(found),
      say: (text) => (find("#said").textContent = text),
    };
  }

  // Draws all of it now; returns what was drawn and how long it took.
  drawNow(limit = Infinity): Record<string, number> {
    const start = performance.now();
    const drawn = this.drawBars(start + limit);
    this.lane?.draw(this.stages[0]!.layout);
    const milliseconds = performance.now() - start;
    this.legend.update();
    this.updateTools();
    this.search.tell();
    this.dock.update();
    this.writeAddress();
    return { ...drawn, milliseconds };
  }

  // What has no time until `limit` is drawn in the next frames.
  private drawBars(limit: number): Record<string, number> {
    const frames = this.stages.map((stage) => stage.drawBars(limit));
    const complete = frames.every((frame) => frame.complete);
    document.documentElement.toggleAttribute("data-drawing", !complete);
    if (!complete) this.schedule("bars");
    const { ranksDrawn, runs, marks, hits } = frames[0]!;
    return { ranksDrawn, runs, marks, hits, ...this.drawFront() };
  }

  // The first picture, as far as there is time.
  begin(): Record<string, number> {
    return this.drawNow(kFirstFrame);
  }

  // Leads to an event of the run that was touched last.
  reveal(ref: EventRef): void {
    this.choose(ref);
    const { model, controls } = this.active;
    const { from, to } = model.spanOf(ref);
    const { t0, t1 } = model.view;
    // Where it can be seen well, the view stays as it is.
    if (from < t0 || to > t1 || to - from < (t1 - t0) / 200) controls.showSpan(ref.rank, from, to);
    else controls.showRank(ref.rank);
    this.changed(this.active);
    find("main").scrollIntoView({ block: "nearest" });
    if (!(document.activeElement instanceof HTMLInputElement)) this.active.front.focus({ preventScroll: true });
  }

  choose(ref: EventRef | null, stage: Stage = this.active): void {
    this.active = stage;
    const from = this.stages.indexOf(stage);
    this.models.forEach((model, to) => {
      model.selected = ref === null || to === from ? ref : this.lane!.partner(ref, from, to);
    });
    showDescription(stage.model, find("#selected"), ref === null ? null : describeEvent(stage.model, ref));
    this.schedule("all");
  }

  mark(found: Found | null): void {
    for (const model of this.models) model.found = null;
    this.active.model.found = found;
    this.schedule("all");
  }

  repaint(): void {
    for (const model of this.models) model.repaint(this.scheme.matches ? kDark : kLight);
    this.schedule("all");
  }

  // The view of `stage` has changed: the others follow.
  private changed(stage: Stage): void {
    this.active = stage;
    const from = stage.model;
    for (const model of this.models) {
      if (model === from) continue;
      model.view = from.view;
      model.zoomY = from.zoomY;
      model.scroll = from.scroll;
      model.showMessages = from.showMessages;
      model.shares = from.shares;
      model.cursor = from.cursor;
      model.phaseRank = Math.min(from.phaseRank, model.trace.ranks.length - 1);
    }
    this.refreshed(stage);
    this.schedule("all");
  }

  private refreshed(stage: Stage): void {
    for (const model of this.models) [model.markO, model.markX] = [stage.model.markO, stage.model.markX];
    this.schedule("front");
  }

  // The state that the address holds.
  private takeAddress(): void {
    if (location.hash.length < 2) return;
    const { model } = this.active;
    const state = readState(model, location.hash);
    const { scroll } = model;
    const [orders, groupings] = [["compute", "calls", "wait", "delay", "end"] as const, ["alike", "comm", "node"] as const];
    const grouping = groupings.find((each) => each === state.grouping);
    const order = orders.find((each) => each === state.order);
    if (grouping === "alike") void this.ranks.foldAlike();
    else if (grouping !== undefined) this.ranks.group(grouping);
    if (order !== undefined) void this.ranks.sort(order);
    model.scroll = scroll;
    if (state.query !== "") this.search.ask(state.query);
    if (state.selected !== null) this.choose(state.selected);
    if (state.tool !== null) this.dock.show(state.tool);
    this.changed(this.active);
  }

  private writeAddress(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const state = writeState(this.active.model, {
        query: this.search.query, tool: this.dock.open?.id ?? null, order: this.ranks.order, grouping: this.ranks.grouping,
      });
      try {
        history.replaceState(null, "", state === "" ? location.pathname + location.search : `#${state}`);
      } catch {
        // A page inside another has no address of its own.
      }
    }, 250);
  }

  // All runs' canvases, one below the other.
  private picture(): Picture {
    this.drawNow();
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(...this.stages.map((stage) => stage.bars.width));
    canvas.height = this.stages.reduce((sum, stage) => sum + stage.bars.height, 0);
    const context = canvas.getContext("2d")!;
    let y = 0;
    for (const stage of this.stages) {
      context.drawImage(stage.bars, 0, y);
      context.drawImage(stage.front, 0, y);
      y += stage.bars.height;
    }
    return { canvas, width: this.stages[0]!.layout.plot };
  }

  private stepPath(direction: 1 | -1): void {
    const { path, view } = this.models[0]!;
    const piece = path?.step(direction, view.t0, view.t1) ?? null;
    if (path === null || piece === null) return;
    this.models[0]!.showPath = true;
    this.stages[0]!.controls.showSpan(path.rank(piece), path.from[piece]!, path.to[piece]!);
  }

  // Keys that lead from event to event.
  private act(key: string, shift: boolean): boolean {
    switch (key) {
      case "/": this.search.focus(); return true;
      case ".": return this.search.step(1);
      case ",": return this.search.step(-1);
      case "g": return this.toPartner();
      case "w": case "W": return this.toWait(key === "w" ? 1 : -1);
      case "l": return this.toLast();
      case "a": return this.foldAlike();
      case "ArrowLeft": case "ArrowRight": return shift && this.walk(key === "ArrowRight" ? 1 : -1);
      case "ArrowUp": case "ArrowDown": return shift && this.walkRanks(key === "ArrowDown" ? 1 : -1);
      default: return false;
    }
  }

  private toPartner(): boolean {
    const { model } = this.active;
    if (model.selected === null) return false;
    const others = partners(model.messages(), model.selected);
    if (others.length > 0) this.reveal(others[0]!);
    return others.length > 0;
  }

  // To the longest wait in view, then to the next longest.
  private toWait(direction: 1 | -1): boolean {
    const { model } = this.active;
    const { t0, t1 } = model.view;
    const walking = this.waits !== null && this.waits.list[this.waits.at] === model.selected;
    if (!walking) this.waits = { view: `${t0} ${t1}`, list: longestWaits(model.trace, t0, t1, kLongestWaits), at: -1 };
    const waits = this.waits!;
    if (waits.list.length === 0) {
      this.desk.say("no wait in view");
      return false;
    }
    waits.at = Math.min(waits.list.length - 1, Math.max(0, waits.at + direction));
    this.reveal(waits.list[waits.at]!);
    return true;
  }

  private toLast(): boolean {
    const { model } = this.active;
    const last = model.selected === null ? null : lastToCome(model, model.selected);
    if (last !== null) this.reveal(last);
    return last !== null;
  }

  private foldAlike(): boolean {
    void this.ranks.foldAlike();
    this.dock.show(this.ranks.id);
    return true;
  }

  private walk(direction: 1 | -1): boolean {
    const { model } = this.active;
    const rank = model.phaseRank;
    const from = model.selected ?? eventAt(model, rank, model.view.t0);
    if (from !== null) this.reveal(model.selected === null ? from : neighbour(model.trace, from, direction));
    return from !== null;
  }

  // To what the rank of the next row does when the chosen event is half done.
  private walkRanks(direction: 1 | -1): boolean {
    const { model } = this.active;
    if (model.selected === null) return this.walk(1);
    const { from, to } = model.spanOf(model.selected);
    const row = model.rows.of[model.selected.rank]! + direction;
    const rank = model.rows.rank(row);
    const there = rank < 0 ? null : eventAt(model, rank, (from + to) / 2);
    if (there !== null) this.reveal(there);
    return there !== null;
  }

  private drawFront(): { arrows: number; stretches: number } {
    const infos = this.stages.map((stage) => stage.drawFront());
    const info = infos[0]!;
    this.showMeasure();
    const { view, showMessages } = this.active.model;
    const span = `${formatTime(view.t1 - view.t0)} shown`;
    const { remote, far } = this.active.model;
    const none = far && remote !== null ? `${remote.many > 0 ? `${remote.many.toLocaleString("en")} events, ` : ""}zoom in to see them one by one · ` : "";
    const many = info.tooMany ? "too many messages to draw, zoom in · " : "";
    const loading = remote !== null && remote.loading;
    find("#legend").toggleAttribute("data-partial", loading);
    find("#status").textContent = (loading ? "loading, figures are of what has come · " : "") + (showMessages && !info.tooMany ? `${info.arrows} messages · ${span}` : none + many + span);
    this.showPiece();
    return { arrows: info.arrows, stretches: info.stretches };
  }

  private schedule(what: "front" | "bars" | "all"): void {
    if (this.pending === "none")
      requestAnimationFrame(() => {
        const pending = this.pending;
        this.pending = "none";
        if (pending === "all") this.drawNow(kFrame);
        else if (pending === "bars") this.drawBars(performance.now() + kFrame);
        else this.drawFront();
      });
    const order = ["none", "front", "bars", "all"];
    if (order.indexOf(what) > order.indexOf(this.pending)) this.pending = what;
  }

  private showPiece(): void {
    const { path, trace, showPath } = this.models[0]!;
    const piece = path?.current ?? null;
    const node = find("#piece");
    node.hidden = path === null || piece === null || !showPath;
    if (path === null || piece === null || !showPath) return;
    const [from, to] = [path.from[piece]!, path.to[piece]!];
    const about: [string, string][] = [
      ["critical path", `piece ${piece + 1} of ${path.count}, on rank ${path.rank(piece)}`],
      ["from", formatTime(from)], ["lasts", `${formatTime(to - from)}, ${formatPercent((to - from) / trace.end)} of the run`],
    ];
    if (piece > 0) {
      const before = path.to[piece - 1]!;
      about.push(["comes from", `rank ${path.rank(piece - 1)}${from > before ? `, ${formatTime(from - before)} before` : ""}`]);
    }
    node.replaceChildren(facts(about));
  }

  private showMeasure(): void {
    const { markO, markX } = this.active.model;
    const node = find("#measure");
    node.hidden = markO === null && markX === null;
    find<HTMLButtonElement>("#zoom-marks").disabled = markO === null || markX === null;
    if (node.hidden) return;
    const about: [string, string][] = [];
    if (markO !== null) about.push(["O", formatTime(Math.round(markO))]);
    if (markX !== null) about.push(["X", formatTime(Math.round(markX))]);
    if (markO !== null && markX !== null) about.push(["between", formatTime(Math.round(Math.abs(markX - markO)))]);
    node.replaceChildren(facts(about));
  }

  private connectTools(): void {
    const click = (id: string, action: () => void): void => find<HTMLButtonElement>(id).addEventListener("click", action);
    click("#zoom-in", () => this.active.controls.zoom(1.5));
    click("#zoom-out", () => this.active.controls.zoom(1 / 1.5));
    click("#rows-in", () => this.active.controls.zoomRows(1.5));
    click("#rows-out", () => this.active.controls.zoomRows(1 / 1.5));
    click("#reset", () => this.active.controls.reset());
    click("#alike", () => this.foldAlike());
    click("#zoom-marks", () => this.active.controls.showMarks());
    click("#path-back", () => this.stepPath(-1));
    click("#path-next", () => this.stepPath(1));
    click("#to-partner", () => this.toPartner());
    click("#to-wait", () => this.toWait(1));
    click("#to-last", () => this.toLast());
    if (this.models[0]!.path !== null)
      document.querySelectorAll<HTMLElement>("#path-tools, .path-key").forEach((node) => (node.hidden = false));
    for (const [id, field] of [["#messages", "showMessages"], ["#shares", "shares"], ["#path", "showPath"]] as const)
      find<HTMLInputElement>(id).addEventListener("change", (event) => {
        this.active.model[field] = (event.target as HTMLInputElement).checked;
        this.changed(this.active);
      });
  }

  private updateTools(): void {
    const { model } = this.active;
    find<HTMLInputElement>("#messages").checked = model.showMessages;
    find<HTMLInputElement>("#shares").checked = model.shares;
    find<HTMLInputElement>("#path").checked = model.showPath;
    const { selected } = model;
    find<HTMLButtonElement>("#to-partner").disabled = selected === null || partners(model.messages(), selected).length === 0;
    find<HTMLButtonElement>("#to-last").disabled = selected === null || lastToCome(model, selected) === null;
  }
}
