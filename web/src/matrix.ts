// Who sent how much to whom in an interval.
import { messagesIn, type Messages } from "./messages";
import type { Model } from "./model";

export interface Matrix {
  readonly ranks: number;
  readonly cells: number; // lines and columns; fewer than ranks: neighbours share one
  readonly messages: Float64Array; // [source cell][destination cell]
  readonly bytes: Float64Array;
  readonly waiting: Float64Array; // ps that the receivers' calls waited, where the message was the only one completed
  readonly list: readonly number[]; // the messages
}

export function cellOf(matrix: Matrix, rank: number): number {
  return Math.floor((rank * matrix.cells) / matrix.ranks);
}

// Ranks of a cell: [from, to).
export function ranksOf(matrix: Matrix, cell: number): [number, number] {
  return [Math.ceil((cell * matrix.ranks) / matrix.cells), Math.ceil(((cell + 1) * matrix.ranks) / matrix.cells)];
}

function bytesOf(model: Model, messages: Messages, i: number): number {
  const { ranks, shapes } = model.trace;
  return shapes[ranks[messages.source[i]!]!.shape[messages.sendEvent[i]!]!]!.sendBytes;
}

// Of the messages that are under way at some time in [t0, t1]. A call that completes
// several messages has one wait: it counts for the one that was sent last.
export function matrixOf(model: Model, t0: number, t1: number, most: number): Matrix {
  const messages = model.messages();
  const ranks = model.trace.ranks.length;
  const cells = Math.min(ranks, most);
  const size = cells * cells;
  const matrix = {
    ranks, cells, list: messagesIn(messages, t0, t1, messages.count),
    messages: new Float64Array(size), bytes: new Float64Array(size), waiting: new Float64Array(size),
  };
  const last = new Map<number, number>(); // by call: the message that it waited for
  for (const i of matrix.list) {
    const cell = cellOf(matrix, messages.source[i]!) * cells + cellOf(matrix, messages.dest[i]!);
    matrix.messages[cell]!++;
    matrix.bytes[cell]! += bytesOf(model, messages, i);
    last.set(messages.doneEvent[i]! * ranks + messages.dest[i]!, i); // ascending by time of sending
  }
  for (const i of last.values()) {
    const cell = cellOf(matrix, messages.source[i]!) * cells + cellOf(matrix, messages.dest[i]!);
    matrix.waiting[cell]! += model.trace.ranks[messages.dest[i]!]!.wait[messages.doneEvent[i]!]!;
  }
  return matrix;
}

// The matrix's messages from a cell's ranks to another's.
export function messagesBetween(model: Model, matrix: Matrix, source: number, dest: number): number[] {
  const messages = model.messages();
  return matrix.list.filter((i) =>
    cellOf(matrix, messages.source[i]!) === source && cellOf(matrix, messages.dest[i]!) === dest);
}
