// Marks what was found: a bar along the top of each event, and ticks over the strip of the
// whole run.
import type { EventSet } from "./eventset";
import { type Layout, rowY } from "./layout";
import type { Model } from "./model";
import { timeToX } from "./viewport";

// Marks those of the rows [first, last); events in one column are marked once. Returns the
// number of marks.
export function drawHits(
  context: CanvasRenderingContext2D, layout: Layout, model: Model, set: EventSet, first: number, last: number,
): number {
  const { view, theme } = model;
  const perPixel = (view.t1 - view.t0) / layout.plot;
  const height = Math.max(1, Math.min(4, layout.rowBar / 4));
  let marks = 0;
  context.fillStyle = theme.hit;
  for (let row = first; row < last; row++) {
    const y = rowY(layout, model.scroll, row);
    for (const rank of model.rows.list[row]!.ranks) {
      const codes = set.byRank[rank]!;
      let i = set.firstEnding(rank, view.t0);
      while (i < codes.length && set.start(rank, codes[i]!) <= view.t1) {
        const from = set.start(rank, codes[i]!);
        const x0 = Math.max(0, timeToX(view, layout.plot, from));
        const x1 = Math.min(layout.plot, timeToX(view, layout.plot, set.stop(rank, codes[i]!)));
        context.fillRect(layout.left + x0, y, Math.max(2, x1 - x0), height);
        if (layout.rowBar >= 24) context.fillRect(layout.left + x0, y + layout.rowBar - height, Math.max(2, x1 - x0), height);
        marks++;
        // The next that starts in another column or lasts into one.
        const next = view.t0 + (Math.floor(x0) + 1) * perPixel;
        i = Math.max(i + 1, Math.min(set.firstFrom(rank, next), set.firstEnding(rank, next)));
      }
    }
  }
  return marks;
}

const kDensity = new WeakMap<EventSet, { key: string; columns: Uint8Array }>();

function density(set: EventSet, plot: number, end: number): Uint8Array {
  const key = `${plot} ${end}`;
  const kept = kDensity.get(set);
  if (kept?.key === key) return kept.columns;
  const perPixel = end / plot;
  const columns = new Uint8Array(Math.ceil(plot) + 1);
  set.byRank.forEach((codes, rank) => {
    let i = 0;
    while (i < codes.length) {
      const x = Math.floor(set.start(rank, codes[i]!) / perPixel);
      columns[x] = 1;
      i = Math.max(i + 1, set.firstFrom(rank, (x + 1) * perPixel));
    }
  });
  kDensity.set(set, { key, columns });
  return columns;
}

// Where in the whole run they are: a tick for each column that has one.
export function drawHitDensity(context: CanvasRenderingContext2D, layout: Layout, model: Model, set: EventSet): void {
  const { overviewTop: top, left, plot } = layout;
  context.fillStyle = model.theme.hit;
  density(set, plot, model.end).forEach((found, x) => {
    if (found) context.fillRect(left + x, top - 4, 1.5, 4);
  });
}
