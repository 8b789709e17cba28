// One run on the page: its drawing, its time line, what is told of the chosen entity, where its
// ranks stand, its sums.
import { button, choice, element } from "../dom";
import { Drawing, type Colours } from "./drawing";
import { Line, type Window } from "./line";
import { bytesText, numberText, timeText, type Run } from "./run";
import { Scene, shareOf } from "./shown";
import { latencyTable, linkTable, quantityTable, tableNode } from "./statistics";

export interface Hands {
  go(machine: MachineView, t: number): void;
  zoom(machine: MachineView, at: number, factor: number): void;
  changed(): void;
}

export interface Moment {
  readonly now: number;
  readonly window: Window;
  readonly quantity: string;
  readonly loads: boolean;
}

const kMostRanks = 256;
const kMostOpen = 300; // entities that are drawn one by one without being asked for

export class MachineView {
  readonly node = element("section", "machine");
  marks: number[] = []; // measuring lines, as times of this run
  chosen = -1; // of the shown
  private hover = -1;
  private readonly closed: Set<number>;
  private scene: Scene;
  private readonly drawing: Drawing;
  private readonly line: Line;
  private readonly about = element("p", "about");
  private readonly ranks = element("table");
  private readonly ranksPart = element("details");
  private readonly sums = element("div", "tables");
  private readonly sumsPart = element("details");
  private readonly entity: { label: HTMLLabelElement; select: HTMLSelectElement };
  private readonly toggle: HTMLButtonElement;
  private told = ""; // what the sums are of
  private dragged = -1; // where a measure began

  constructor(readonly run: Run, private readonly hands: Hands) {
    const { data } = run;
    this.closed = new Set(data.entities.length > kMostOpen ? data.boxes.map((_, b) => b).filter((b) => b > 0) : []);
    this.scene = new Scene(run, this.closed);
    const drawing = element("canvas", "drawing"), line = element("canvas", "line");
    drawing.setAttribute("role", "img");
    line.setAttribute("role", "img");
    line.setAttribute("aria-label", "When each entity sends");
    this.entity = choice("entity", [], (value) => this.choose(Number(value)));
    this.toggle = button("Close its box", "Enter", () => this.toggleBox(this.chosen));
    const tools = element("div", "tables", this.entity.label, this.toggle,
      button("Open all", "Every entity by itself", () => this.setClosed([])),
      button("Close all", "Every box as one", () => this.setClosed(data.boxes.map((_, b) => b).filter((b) => b > 0))));
    const notes: HTMLElement[] = [];
    if (data.lost > 0) notes.push(element("p", "note", `${data.lost} more messages and changes were not kept (--watch-most); the sums are of all.`));
    if (data.lostCalls > 0) notes.push(element("p", "note", `${data.lostCalls} more calls were not kept (--watch-most).`));
    this.ranksPart.append(element("summary", "", "Where the ranks stand"), element("div", "scroll", this.ranks));
    (this.ranksPart.lastElementChild as HTMLElement).tabIndex = 0;
    this.ranksPart.hidden = data.ranks.length === 0;
    this.ranksPart.open = data.ranks.length <= 16;
    this.sumsPart.append(element("summary", "", "Statistics"), this.sums);
    for (const part of [this.ranksPart, this.sumsPart]) part.addEventListener("toggle", () => hands.changed());
    this.node.append(element("h2", "", data.title), ...notes, drawing, tools, this.about, line, this.ranksPart, this.sumsPart);
    this.about.setAttribute("role", "status");
    document.querySelector("#machines")!.append(this.node);
    this.drawing = new Drawing(drawing, run, this.scene);
    this.line = new Line(line, run, this.scene);
    this.listen(drawing, line);
    this.listEntities();
  }

  private listen(drawing: HTMLCanvasElement, line: HTMLCanvasElement): void {
    const at = (event: MouseEvent): number => this.drawing.at(event.offsetX, event.offsetY);
    drawing.addEventListener("pointermove", (event) => {
      const found = at(event);
      if (found === this.hover) return;
      this.hover = found;
      this.hands.changed();
    });
    drawing.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.hands.changed();
    });
    drawing.addEventListener("click", (event) => this.choose(at(event)));
    drawing.addEventListener("dblclick", (event) => this.toggleBox(at(event)));
    const time = (event: MouseEvent): number => this.line.time(event.offsetX, this.window);
    line.addEventListener("pointerdown", (event) => {
      this.dragged = time(event);
      line.setPointerCapture(event.pointerId);
    });
    line.addEventListener("pointermove", (event) => {
      if (this.dragged < 0) return;
      const to = time(event);
      if (Math.abs(to - this.dragged) > (this.window.to - this.window.from) / 200) this.marks = [this.dragged, to];
      this.hands.changed();
    });
    line.addEventListener("pointerup", (event) => {
      if (this.dragged >= 0 && Math.abs(time(event) - this.dragged) <= (this.window.to - this.window.from) / 200) {
        this.marks = [];
        const row = this.line.row(event.offsetY);
        if (row >= 0) this.choose(row);
      }
      this.dragged = -1;
      this.hands.go(this, time(event));
    });
    line.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.hands.zoom(this, time(event), event.deltaY < 0 ? 0.8 : 1.25);
    }, { passive: false });
  }
  private window: Window = { from: 0, to: 1 };

  // ---- boxes ----

  private setClosed(closed: readonly number[]): void {
    const entity = this.scene.shown[this.chosen]?.entities[0];
    this.closed.clear();
    for (const box of closed) this.closed.add(box);
    this.scene = new Scene(this.run, this.closed);
    this.hover = -1;
    this.chosen = entity === undefined ? -1 : this.scene.of[entity]!;
    this.layOut();
    this.listEntities();
    this.hands.changed();
  }

  // Opens a closed box, or closes the one that an entity lies in.
  toggleBox(at: number): void {
    if (at < 0) return;
    const box = this.scene.boxOf(at);
    if (box < 0) return;
    if (this.scene.shown[at]!.kind === "box") this.setClosed([...this.closed].filter((one) => one !== box));
    else this.setClosed([...this.closed, box]);
  }

  choose(at: number): void {
    this.chosen = at;
    this.hands.changed();
  }
  // The next of the shown, or the one before.
  move(step: number): void {
    const count = this.scene.shown.length;
    this.choose(this.chosen < 0 ? (step > 0 ? 0 : count - 1) : (this.chosen + step + count) % count);
  }

  private listEntities(): void {
    this.entity.select.replaceChildren(new Option("none", "-1"), ...this.scene.shown.map(({ name, kind }, i) => new Option(kind === "box" ? `${name} (closed)` : name, String(i))));
  }

  layOut(): void {
    this.drawing.layOut(this.scene);
    this.line.layOut(this.scene);
  }

  // ---- what is shown of a moment ----

  // How many messages move.
  draw(moment: Moment, colours: Colours, words: boolean): number {
    this.window = moment.window;
    const moving = this.drawing.draw(moment.now, { quantity: moment.quantity, loads: moment.loads, chosen: this.chosen, hover: this.hover }, colours);
    this.line.draw(moment.now, moment.window, this.marks, this.chosen, moment.quantity, colours);
    if (words) this.tell(moment, moving);
    return moving;
  }

  private tell(moment: Moment, moving: number): void {
    const at = this.chosen >= 0 ? this.chosen : this.hover;
    this.entity.select.value = String(this.chosen);
    const box = this.chosen < 0 ? -1 : this.scene.boxOf(this.chosen);
    const isClosed = this.chosen >= 0 && this.scene.shown[this.chosen]!.kind === "box";
    this.toggle.disabled = box < 0;
    this.toggle.textContent = isClosed ? "Open it" : box < 0 ? "Close its box" : `Close ${this.run.data.boxes[box]![0]}`;
    this.about.textContent = at < 0
      ? `${this.scene.shown.length} shown, ${moving} messages move. Choose an entity to see what it does; a double click opens or closes its box.`
      : this.describe(at, moment);
    this.drawing.canvas.setAttribute("aria-label", `The machine at ${timeText(moment.now)}: ${moving} messages move`);
    if (this.ranksPart.open) this.tellRanks(moment.now);
    if (this.sumsPart.open) this.tellSums(moment);
  }

  private describe(at: number, { now, window }: Moment): string {
    const one = this.scene.shown[at]!;
    const { data } = this.run;
    const busy = `${bytesText(one.inside.at(now))} in it, sends ${(100 * shareOf(one.busy, window.from, window.to)).toFixed(1)} % of the time`;
    if (one.kind === "box") {
      const levels = new Set(one.entities.map((e) => `${data.entities[e]![1]} (${data.entities[e]![4]})`));
      return `${one.name}: the box ${data.boxes[one.box]![1]}, closed; inside ${[...levels].join(", ")}; ${busy}`;
    }
    const [path, kind, , , level, , parameters, standsFor] = data.entities[one.entities[0]!]!;
    const own = data.quantities.flatMap(([entity, name], q) =>
      (entity === one.entities[0] && this.run.states[q]!.length > 0 ? [`${name} ${numberText(this.run.states[q]!.at(now))}`] : []));
    return `${path}: ${kind}, level ${level}${standsFor === "" ? "" : `, for the box ${standsFor}`}; ${busy}${own.length > 0 ? `; ${own.join(", ")}` : ""}` +
      (data.parameters[parameters]!.length > 0 ? `. ${data.parameters[parameters]!.map(([name, value]) => `${name} ${value}`).join(", ")}` : "");
  }

  private tellRanks(now: number): void {
    const { data } = this.run;
    const rows = data.ranks.slice(0, kMostRanks).map((entity, rank) => {
      const { call, place, next } = this.run.stand(rank, now);
      const last = this.run.calls(rank);
      const over = last.length > 0 && now >= last[last.length - 1]![2];
      return element("tr", "", element("td", "", String(rank)), element("td", "", data.entities[entity]![0]),
        element("td", "", call !== "" ? call : over ? "has ended" : "computes"),
        element("td", "", call !== "" ? place : next === "" ? "" : `before ${next}`));
    });
    const heads = ["rank", "on", "does", "at"].map((head) => element("th", "", head));
    const more = data.ranks.length - rows.length;
    this.ranks.replaceChildren(element("tr", "", ...heads), ...rows, ...(more > 0 ? [element("tr", "", element("td", "", `and ${more} more`))] : []));
  }

  private tellSums({ quantity }: Moment): void {
    const { data } = this.run;
    const [from, to] = this.marks.length === 2 ? [Math.min(...this.marks), Math.max(...this.marks)] : [data.from, data.to];
    const key = `${from} ${to} ${quantity}`;
    if (key === this.told) return;
    this.told = key;
    const whole = this.marks.length < 2;
    const quantities = [...new Set(data.quantities.map(([, name]) => name))];
    const shown = quantity !== "" && (whole || data.detail === "states") ? [quantity] : whole ? quantities.slice(0, 2) : [];
    const tables = [linkTable(this.run, from, to, whole), latencyTable(this.run, from, to, whole), ...shown.map((name) => quantityTable(this.run, from, to, whole, name))];
    this.sums.replaceChildren(element("p", "", whole ? "Of all that was recorded. Between two measuring lines the figures are those of that time." : `From ${timeText(from)} to ${timeText(to)}.`),
      ...tables.filter(({ rows }) => rows.length > 0).map(tableNode));
  }
  get shownCount(): number {
    return this.scene.shown.length;
  }
  // Where one of the shown is, for tests of the page.
  placeOf(name: string): readonly [number, number] {
    const box = this.drawing.canvas.getBoundingClientRect();
    const [x, y] = this.drawing.middle(this.scene.shown.findIndex((one) => one.name === name));
    return [box.left + x, box.top + y];
  }
}
