// What a plot shows, from models to curves and points, and from these to an SVG element.
// Pure functions: the page puts the text where it belongs.
import { formatNumber, formatTime } from "../format";
import { type Axis, binaryLabel, binaryTicks, place, spanOf, ticks } from "./axis";
import { isBeyond, isPowerOfTwo, type Machine, type Point, residualOf, type SheetFunction, timeOf } from "./model";

export type Quantity = "time" | "residual" | "bandwidth";

// One function of one machine with one number of ranks, or over the ranks for one size.
export interface Series {
  readonly label: string;
  readonly machine: Machine;
  readonly f: SheetFunction;
  readonly ranks: number;
  readonly colour: number;
}
export interface Span {
  readonly low: number;
  readonly high: number;
}
export interface View {
  readonly series: readonly Series[];
  readonly overRanks: boolean;
  readonly bytes: number; // of curves over the ranks
  readonly quantity: Quantity;
  readonly logX: boolean;
  readonly logY: boolean;
  // What is in sight; null: everything.
  readonly x: Span | null;
  readonly y: Span | null;
}

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}
export interface Curve {
  readonly points: readonly CurvePoint[];
  readonly beyond: boolean; // outside what was measured
}
export interface Drawing {
  readonly x: Axis;
  readonly y: Axis;
  readonly curves: number;
  readonly marks: number;
  readonly svg: string;
}

export const kWidth = 720;
export const kHeight = 340;
const kLeft = 78;
const kRight = kWidth - 14;
const kTop = 12;
const kBottom = kHeight - 46;
const kColours = 5;
const kSamples = 160;
const kWidestBand = 2; // that is seen whole, as a factor
const kMostRanks = 400; // of a curve; beyond that every so many

export function seriesClass(colour: number): string {
  const dash = Math.floor(colour / kColours) % 3;
  return `c${colour % kColours}${dash === 0 ? "" : ` d${dash}`}`;
}

function quantityAt(view: View, each: Series, p: number, d: number): CurvePoint | null {
  const { machine, f } = each;
  const x = view.overRanks ? p : d;
  const [avg, low, high] = (["avg", "min", "max"] as const).map((bound) => timeOf(machine, f, p, d, bound)) as [
    number,
    number,
    number,
  ];
  if (view.quantity === "time") return { x, y: avg, low, high };
  if (view.quantity === "residual")
    return avg > 0 ? { x, y: 0, low: low / avg - 1, high: high / avg - 1 } : null;
  return avg > 0 && low > 0 ? { x, y: d / avg, low: d / high, high: d / low } : null;
}

// The span of sizes, or of ranks, that the series are known for.
export function wholeSpan(view: View, commonBytes: readonly number[], commonRanks: readonly number[]): Span {
  const values: number[] = [];
  for (const { f, ranks } of view.series)
    for (const point of f.points)
      if (view.overRanks) values.push(point.ranks);
      else if (point.bytes > 0 && (f.group === "pair" || point.ranks === ranks)) values.push(point.bytes);
  if (values.length === 0) values.push(...(view.overRanks ? commonRanks : commonBytes).filter((value) => value > 0));
  const [low, high] = spanOf(values, true);
  return view.logX ? { low, high } : { low: 0, high };
}

// Whole sizes from low to high, evenly spaced on the axis, with both ends of each interval.
function sizes(view: View, f: SheetFunction, span: Span): number[][] {
  const first = Math.max(Math.ceil(span.low), view.logX ? 1 : 0);
  const last = Math.floor(span.high);
  return f.regimes.flatMap((regime, i) => {
    const from = i === 0 ? first : Math.max(first, regime.from);
    const to = i === f.regimes.length - 1 ? last : Math.min(last, regime.to ?? last);
    if (from > to) return [];
    const piece = new Set([from]);
    for (let n = 0; n <= kSamples; n++) {
      const share = n / kSamples;
      const value = view.logX ? span.low * (span.high / span.low) ** share : span.low + share * (span.high - span.low);
      if (value > from && value < to) piece.add(Math.round(value));
    }
    piece.add(to);
    return [[...piece].sort((a, b) => a - b)];
  });
}

function ranksIn(span: Span): number[] {
  const first = Math.max(1, Math.ceil(span.low));
  const last = Math.floor(span.high);
  const step = Math.max(1, Math.ceil((last - first) / kMostRanks));
  const out = [];
  for (let p = first; p <= last; p += step) out.push(p);
  return out;
}

// Splits where the curve leaves what was measured, so that both parts meet.
function split(points: readonly { point: CurvePoint; beyond: boolean }[]): Curve[] {
  const curves: { points: CurvePoint[]; beyond: boolean }[] = [];
  for (const { point, beyond } of points) {
    const last = curves[curves.length - 1];
    if (last !== undefined && last.beyond === beyond) last.points.push(point);
    else curves.push({ points: last === undefined ? [point] : [last.points[last.points.length - 1]!, point], beyond });
  }
  return curves;
}

export function curvesOf(view: View, each: Series, span: Span): Curve[] {
  const at = (p: number, d: number): { point: CurvePoint; beyond: boolean }[] => {
    const point = quantityAt(view, each, p, d);
    const beyond = isBeyond(each.f, p, d);
    return point === null ? [] : [{ point, beyond: beyond.ranks || beyond.bytes }];
  };
  if (!view.overRanks)
    return sizes(view, each.f, span).flatMap((piece) => split(piece.flatMap((d) => at(each.ranks, d))));
  const all = ranksIn(span);
  const apart = each.f.regimes.some((regime) => regime.sums.length > 1);
  // Libraries take other ways where p is no power of two: a curve of its own.
  const parts = apart ? [all.filter(isPowerOfTwo), all.filter((p) => !isPowerOfTwo(p))] : [all];
  return parts.flatMap((part) => split(part.flatMap((p) => at(p, view.bytes))));
}

export function pointsOf(view: View, each: Series): Point[] {
  return each.f.points.filter((point) =>
    view.overRanks
      ? each.f.group === "ranks" || point.bytes === view.bytes
      : each.f.group === "pair" || point.ranks === each.ranks,
  );
}

// A measured point in the plot's quantity.
export function markOf(view: View, each: Series, point: Point): CurvePoint | null {
  const x = view.overRanks ? point.ranks : point.bytes;
  if (view.quantity === "time") return { x, y: point.median, low: point.low, high: point.high };
  if (view.quantity === "bandwidth")
    return point.low > 0 && point.bytes > 0
      ? { x, y: point.bytes / point.median, low: point.bytes / point.high, high: point.bytes / point.low }
      : null;
  const residual = residualOf(each.machine, each.f, point);
  if (residual === null) return null;
  const fitted = timeOf(each.machine, each.f, point.ranks, point.bytes, "avg");
  return { x, y: residual, low: point.low / fitted - 1, high: point.high / fitted - 1 };
}

export function labelOf(quantity: Quantity, value: number): string {
  if (quantity === "time") return formatTime(value * 1e12);
  if (quantity === "residual") return `${formatNumber(100 * value)} %`;
  return value >= 1e9 ? `${formatNumber(value / 1e9)} GB/s` : `${formatNumber(value / 1e6)} MB/s`;
}

const pixel = (value: number): string => (Math.round(value * 10) / 10 + 0).toString();

function bandPath(curve: Curve, x: Axis, y: Axis): string {
  const upper = curve.points.map((p) => `${pixel(place(x, p.x))} ${pixel(place(y, p.high))}`);
  const lower = curve.points.map((p) => `${pixel(place(x, p.x))} ${pixel(place(y, p.low))}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}

function drawSeries(curves: readonly Curve[], marks: readonly CurvePoint[], colour: number, x: Axis, y: Axis, bands: boolean): string {
  let out = "";
  const kind = seriesClass(colour);
  for (const curve of curves) {
    if (bands && curve.points.some((p) => p.low !== p.high)) out += `<path class="band ${kind}" d="${bandPath(curve, x, y)}"/>`;
    const line = curve.points.map((p) => `${pixel(place(x, p.x))} ${pixel(place(y, p.y))}`).join("L");
    out += `<path class="line ${kind}${curve.beyond ? " beyond-line" : ""}" d="M${line}${curve.points.length === 1 ? "h1" : ""}"/>`;
  }
  for (const mark of marks) {
    const at = pixel(place(x, mark.x));
    if (mark.low !== mark.high)
      out += `<path class="bar ${kind}" d="M${at} ${pixel(place(y, mark.low))}V${pixel(place(y, mark.high))}"/>`;
    out += `<circle class="mark ${kind}" cx="${at}" cy="${pixel(place(y, mark.y))}" r="2.6"/>`;
  }
  return out;
}

function frame(view: View, x: Axis, y: Axis): string {
  let out = "";
  for (const tick of binaryTicks(x, 11)) {
    const at = pixel(place(x, tick));
    out += `<path class="grid" d="M${at} ${kTop}V${kBottom}"/><text class="mid" x="${at}" y="${kBottom + 16}">${binaryLabel(tick)}</text>`;
  }
  for (const tick of ticks(y, 9)) {
    const at = pixel(place(y, tick));
    const zero = !y.log && Math.abs(tick) < 1e-12 * (y.high - y.low);
    out += `<path class="grid${zero ? " zero" : ""}" d="M${kLeft} ${at}H${kRight}"/>`;
    out += `<text class="end" x="${kLeft - 6}" y="${pixel(place(y, tick) + 4)}">${labelOf(view.quantity, zero ? 0 : tick)}</text>`;
  }
  out += `<rect class="frame" x="${kLeft}" y="${kTop}" width="${kRight - kLeft}" height="${kBottom - kTop}"/>`;
  return `${out}<text class="mid" x="${(kLeft + kRight) / 2}" y="${kBottom + 36}">${view.overRanks ? "ranks" : "message size in bytes"}</text>`;
}

// `id` tells the plots of a page apart.
export function draw(view: View, whole: Span, id: string): Drawing {
  const span = view.x ?? whole;
  const x: Axis = { log: view.logX, low: span.low, high: span.high, from: kLeft, to: kRight };
  const logY = view.logY && view.quantity !== "residual";
  const inSight = (p: CurvePoint): boolean => p.x >= span.low && p.x <= span.high && (!view.logX || p.x > 0);
  const curves = view.series.map((each) => curvesOf(view, each, span));
  const marks = view.series.map((each) =>
    pointsOf(view, each).flatMap((point) => {
      const mark = markOf(view, each, point);
      return mark !== null && inSight(mark) ? [mark] : [];
    }),
  );
  const values = [...curves.flatMap((each) => each.flatMap((curve) => curve.points)), ...marks.flat()];
  // Residuals of a few wild points should not flatten the rest: quartiles may leave the picture.
  // Nor should a band that is wider than the curves are high.
  const heights = values.flatMap((p) =>
    view.quantity === "residual" ? [p.y] : [p.y, Math.max(p.low, p.y / kWidestBand), Math.min(p.high, p.y * kWidestBand)],
  );
  const [low, high] = spanOf(view.quantity === "residual" ? [0, ...heights] : heights, logY);
  const room = logY ? (high / low) ** 0.04 : (high - low) * 0.05;
  const y: Axis = {
    log: logY,
    low: view.y?.low ?? (logY ? low / room : view.quantity === "residual" ? low - room : Math.min(0, low)),
    high: view.y?.high ?? (logY ? high * room : high + room),
    from: kBottom,
    to: kTop,
  };
  // Around zero the bands of several series would hide each other.
  const bands = view.quantity !== "residual" || view.series.length === 1;
  const drawn = view.series.map((each, i) => drawSeries(curves[i]!, marks[i]!, each.colour, x, y, bands)).join("");
  return {
    x,
    y,
    curves: curves.flat().length,
    marks: marks.flat().length,
    svg:
      `<svg class="plot" viewBox="0 0 ${kWidth} ${kHeight}" role="img"><clipPath id="${id}"><rect x="${kLeft}" y="${kTop}" ` +
      `width="${kRight - kLeft}" height="${kBottom - kTop}"/></clipPath>${frame(view, x, y)}` +
      `<g clip-path="url(#${id})">${drawn}</g><g class="over"></g></svg>`,
  };
}
