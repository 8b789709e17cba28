// Notes pinned to places of the time line.
import { type Layout, rowY } from "./layout";
import type { Model } from "./model";
import { timeToX } from "./viewport";

export interface Note {
  readonly rank: number;
  readonly at: number; // ps
  readonly text: string;
}

// "rank@ps:text" each, for the address.
export function writeNotes(notes: readonly Note[]): string[] {
  return notes.map(({ rank, at, text }) => `${rank}@${Math.round(at)}:${text}`);
}

export function readNotes(words: readonly string[], ranks: number): Note[] {
  return words.flatMap((word) => {
    const found = /^(\d+)@(\d+):([^]*)$/.exec(word);
    if (found === null || Number(found[1]) >= ranks) return [];
    return [{ rank: Number(found[1]), at: Number(found[2]), text: found[3]! }];
  });
}

// A numbered pin for each.
export function drawNotes(context: CanvasRenderingContext2D, layout: Layout, model: Model): void {
  const { view, theme } = model;
  context.font = "bold 10px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  model.notes.forEach((note, i) => {
    const row = model.rows.of[note.rank]!;
    if (row < 0 || note.at < view.t0 || note.at > view.t1) return;
    const x = layout.left + timeToX(view, layout.plot, note.at);
    const y = rowY(layout, model.scroll, row) + layout.rowBar / 2;
    context.fillStyle = theme.text;
    context.beginPath();
    context.arc(x, y - 9, 8, 0, 2 * Math.PI);
    context.moveTo(x - 4, y - 3);
    context.lineTo(x, y + 3);
    context.lineTo(x + 4, y - 3);
    context.fill();
    context.fillStyle = theme.background;
    context.fillText(String(i + 1), x, y - 8.5);
  });
}
