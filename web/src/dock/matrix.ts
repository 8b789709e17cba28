// The communication matrix of what is in view: a cell is chosen by a click, or by the
// arrow keys and Enter; its messages are drawn and listed.
import { button, choice, element } from "../dom";
import { codeOf, EventSet } from "../eventset";
import { formatBytes, formatTime } from "../format";
import { type Matrix, matrixOf, messagesBetween, ranksOf } from "../matrix";
import { mix, parseColour } from "../palette";
import { cssColour } from "../palette";
import type { Desk, Tool } from "./desk";
import { SortedTable } from "./table";

type Measure = "bytes" | "messages" | "waiting";

const kSide = 190; // pixels
const kMeasures: readonly (readonly [Measure, string])[] = [["bytes", "bytes"], ["messages", "messages"], ["waiting", "waiting of the receivers"]];

export class MatrixTool implements Tool {
  readonly id = "matrix";
  readonly title = "Messages";
  readonly body = element("section");
  measure: Measure = "bytes";
  matrix: Matrix | null = null;
  at: [source: number, dest: number] = [0, 0];
  private readonly canvas = element("canvas", "matrix");
  private readonly text = element("p", "hint");
  private readonly table: SortedTable<number>;

  constructor(private readonly desk: Desk) {
    const { label } = choice("shows", kMeasures, (value) => {
      this.measure = value as Measure;
      this.draw();
    });
    const { canvas } = this;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "communication matrix");
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("click", (event) => {
      this.point(event);
      this.choose();
    });
    this.text.setAttribute("role", "status");
    const messages = (): ReturnType<Desk["model"]["messages"]> => desk.model.messages();
    this.table = new SortedTable<number>("Messages of the chosen cell", [
      { name: "sent", value: (i) => messages().sendTime[i]!, text: (i) => formatTime(messages().sendTime[i]!) },
      { name: "from", value: (i) => messages().source[i]! },
      { name: "to", value: (i) => messages().dest[i]! },
      { name: "takes", value: (i) => messages().recvTime[i]! - messages().sendTime[i]!, text: (i) => formatTime(messages().recvTime[i]! - messages().sendTime[i]!) },
      { name: "tag", value: (i) => this.shape(i).sendTag },
      { name: "size", value: (i) => this.shape(i).sendBytes, text: (i) => formatBytes(this.shape(i).sendBytes) },
    ], 3, (i) => desk.reveal({ rank: messages().source[i]!, event: messages().sendEvent[i]!, compute: false }), 200);
    this.body.append(
      element("div", "tool-line", label, button("all messages", "Draw them all again", () => desk.find(null)), this.text),
      element("div", "matrix-parts", element("div", "matrix-frame", element("span", "axis-name", "to rank →"), canvas), this.table.node));
  }

  private shape(i: number): { sendTag: number; sendBytes: number } {
    const { model } = this.desk;
    const messages = model.messages();
    const rank = model.trace.ranks[messages.source[i]!]!;
    return model.trace.shapes[rank.shape[messages.sendEvent[i]!]!]!;
  }

  update(): void {
    const { model } = this.desk;
    this.matrix = matrixOf(model, model.view.t0, model.view.t1, kSide);
    this.draw();
    this.tell();
  }

  // Marks the messages of the cell `at`.
  choose(): void {
    const { desk, matrix, at } = this;
    if (matrix === null) return;
    const { model } = desk;
    const chosen = messagesBetween(model, matrix, at[0], at[1]);
    const messages = model.messages();
    const codes: number[][] = model.trace.ranks.map(() => []);
    for (const i of chosen) codes[messages.source[i]!]!.push(codeOf(messages.sendEvent[i]!, false));
    const set = new EventSet(model.trace, codes.map((list) => Int32Array.from(new Set(list.sort((a, b) => a - b)))));
    this.table.fill(chosen);
    desk.find(chosen.length === 0 ? null : { what: `messages from ${this.ranksText(at[0])} to ${this.ranksText(at[1])}`, set, messages: chosen });
    this.draw();
    this.tell();
  }

  private ranksText(cell: number): string {
    const [from, to] = ranksOf(this.matrix!, cell);
    return to - from === 1 ? `rank ${from}` : `ranks ${from} to ${to - 1}`;
  }

  private tell(): void {
    const { matrix, at } = this;
    if (matrix === null) return;
    const cell = at[0] * matrix.cells + at[1];
    const text = `${this.ranksText(at[0])} to ${this.ranksText(at[1])}: ${matrix.messages[cell]} messages, ${formatBytes(matrix.bytes[cell]!)}, receivers waited ${formatTime(matrix.waiting[cell]!)}`;
    this.text.textContent = text;
    this.canvas.setAttribute("aria-label", `${matrix.list.length} messages in view. ${text}. Arrow keys walk, Enter marks the messages.`);
  }

  private key(event: KeyboardEvent): void {
    const { matrix, at } = this;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (matrix === null || (step === undefined && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    if (step === undefined) {
      this.choose();
      return;
    }
    const fit = (value: number): number => Math.min(matrix.cells - 1, Math.max(0, value));
    this.at = [fit(at[0] + step[0]!), fit(at[1] + step[1]!)];
    this.draw();
    this.tell();
  }

  private point(event: MouseEvent): void {
    const { matrix } = this;
    if (matrix === null) return;
    const cell = (pixels: number): number => Math.min(matrix.cells - 1, Math.max(0, Math.floor((pixels / kSide) * matrix.cells)));
    this.at = [cell(event.offsetY), cell(event.offsetX)];
    this.draw();
    this.tell();
  }

  private draw(): void {
    const { canvas, matrix, at, desk } = this;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(kSide * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const { theme } = desk.model;
    context.fillStyle = theme.row;
    context.fillRect(0, 0, kSide, kSide);
    if (matrix === null) return;
    const values = matrix[this.measure];
    let most = 0;
    for (const value of values) most = Math.max(most, value);
    const side = kSide / matrix.cells;
    const [full, none] = [parseColour(theme.accent), parseColour(theme.background)];
    for (let source = 0; source < matrix.cells; source++)
      for (let dest = 0; dest < matrix.cells; dest++) {
        const value = values[source * matrix.cells + dest]!;
        if (value <= 0) continue;
        context.fillStyle = cssColour(mix(full, none, 0.15 + 0.85 * (value / most)));
        context.fillRect(dest * side, source * side, Math.max(1, side - (side > 4 ? 1 : 0)), Math.max(1, side - (side > 4 ? 1 : 0)));
      }
    context.strokeStyle = theme.hit;
    context.lineWidth = 1.5;
    context.strokeRect(at[1] * side, at[0] * side, Math.max(2, side - 1), Math.max(2, side - 1));
  }
}
