// Where things are on the canvas, in CSS pixels:
//
//   overview   the whole run, with the shown interval marked
//   axis       ticks
//   phases     one line per nesting depth, of the selected rank
//   rows       a rank each, or a group of ranks; all of them fit until somebody zooms in
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
  readonly rowPitch: number; // from one row to the next; below 1 where rows share a line of pixels
  readonly fitPitch: number; // where all rows fit
  readonly maxZoomY: number; // how far the rows can be zoomed in
  readonly rowBar: number; // height of a bar
  readonly allTop: number;
  readonly allHeight: number;
}

const kMaxPitch = 160; // of few ranks in a high window
const kZoomedPitch = 60; // of many, zoomed in fully

export function makeLayout(
  width: number, height: number, rows: number, phaseDepths: number, labelWidth: number, zoomY: number, overview = true,
): Layout {
  const left = Math.ceil(labelWidth) + 14;
  const overviewTop = overview ? 8 : 0;
  const overviewHeight = overview ? 26 : 0;
  const axisTop = overviewTop + overviewHeight + (overview ? 6 : 0);
  const axisHeight = 24;
  const phaseTop = axisTop + axisHeight;
  const phaseRow = 18;
  const rowsTop = phaseTop + phaseDepths * phaseRow + (phaseDepths > 0 ? 4 : 2);
  const allHeight = 18;
  const rowsHeight = Math.max(40, height - rowsTop - allHeight - 18);
  const fitted = Math.min(kMaxPitch, rowsHeight / Math.max(1, rows));
  const maxZoomY = Math.max(1, kZoomedPitch / fitted);
  const rowPitch = fitted * Math.min(maxZoomY, Math.max(1, zoomY));
  const gap = rowPitch >= 14 ? 3 : rowPitch >= 7 ? 2 : rowPitch >= 5 ? 1 : 0;
  const shown = Math.min(rowsHeight, rowPitch * rows);
  return {
    width, height, left, plot: Math.max(50, width - left - 12),
    overviewTop, overviewHeight, axisTop, axisHeight, phaseTop, phaseRow,
    rowsTop, rowsHeight: shown, rowPitch, fitPitch: fitted, maxZoomY, rowBar: rowPitch - gap,
    allTop: rowsTop + shown + 9, allHeight,
  };
}

export function maxScroll(layout: Layout, rows: number): number {
  return Math.max(0, rows * layout.rowPitch - layout.rowsHeight);
}

// The row that holds y, or -1.
export function rowAt(layout: Layout, rows: number, scroll: number, y: number): number {
  if (y < layout.rowsTop || y >= layout.rowsTop + layout.rowsHeight) return -1;
  const row = Math.floor((y - layout.rowsTop + scroll) / layout.rowPitch);
  return row < rows ? row : -1;
}

export function rowY(layout: Layout, scroll: number, row: number): number {
  return layout.rowsTop + row * layout.rowPitch - scroll;
}
