// Where things are on the canvas, in CSS pixels:
//
//   overview   the whole run, with the shown interval marked
//   axis       ticks
//   phases     one line per nesting depth, of the selected rank
//   ranks      one row each; all of them fit until somebody zooms in
//   all        what most ranks do

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly left: number; // where the time lines start
  readonly plot: number; // their width
  readonly overviewTop: number;
  readonly overviewHeight: number;
  readonly axisTop: number;
  readonly axisHeight: number;
  readonly phaseTop: number;
  readonly phaseRow: number;
  readonly rowsTop: number;
  readonly rowsHeight: number;
  readonly rowPitch: number; // from one rank to the next; below 1 where ranks share a line of pixels
  readonly fitPitch: number; // where all ranks fit
  readonly maxZoomY: number; // how far the rows can be zoomed in
  readonly rowBar: number; // height of a bar
  readonly allTop: number;
  readonly allHeight: number;
}

const kMaxPitch = 160; // of few ranks in a high window
const kZoomedPitch = 60; // of many, zoomed in fully

export function makeLayout(
  width: number, height: number, ranks: number, phaseDepths: number, labelWidth: number, zoomY: number,
): Layout {
  const left = Math.ceil(labelWidth) + 14;
  const overviewTop = 8;
  const overviewHeight = 26;
  const axisTop = overviewTop + overviewHeight + 6;
  const axisHeight = 24;
  const phaseTop = axisTop + axisHeight;
  const phaseRow = 18;
  const rowsTop = phaseTop + phaseDepths * phaseRow + (phaseDepths > 0 ? 4 : 2);
  const allHeight = 18;
  const rowsHeight = Math.max(40, height - rowsTop - allHeight - 18);
  const fitted = Math.min(kMaxPitch, rowsHeight / Math.max(1, ranks));
  const maxZoomY = Math.max(1, kZoomedPitch / fitted);
  const rowPitch = fitted * Math.min(maxZoomY, Math.max(1, zoomY));
  const gap = rowPitch >= 14 ? 3 : rowPitch >= 7 ? 2 : rowPitch >= 5 ? 1 : 0;
  const shown = Math.min(rowsHeight, rowPitch * ranks);
  return {
    width, height, left, plot: Math.max(50, width - left - 12),
    overviewTop, overviewHeight, axisTop, axisHeight, phaseTop, phaseRow,
    rowsTop, rowsHeight: shown, rowPitch, fitPitch: fitted, maxZoomY, rowBar: rowPitch - gap,
    allTop: rowsTop + shown + 9, allHeight,
  };
}

export function maxScroll(layout: Layout, ranks: number): number {
  return Math.max(0, ranks * layout.rowPitch - layout.rowsHeight);
}

// The rank whose row holds y, or -1.
export function rankAt(layout: Layout, ranks: number, scroll: number, y: number): number {
  if (y < layout.rowsTop || y >= layout.rowsTop + layout.rowsHeight) return -1;
  const rank = Math.floor((y - layout.rowsTop + scroll) / layout.rowPitch);
  return rank < ranks ? rank : -1;
}

export function rowY(layout: Layout, scroll: number, rank: number): number {
  return layout.rowsTop + rank * layout.rowPitch - scroll;
}
