// The machine models of a data sheet as its page holds them, and their times: the same
// rules as src/machine (Equation, evaluate_seconds).

export type Bound = "min" | "avg" | "max";

// What a coefficient multiplies, its value and its standard error, in the model's unit.
export type Term = [factor: string, value: number, error: number];
export interface TermSum {
  readonly ranks: "all" | "powers of two" | "others";
  readonly terms: readonly Term[];
}
export interface Regime {
  readonly from: number;
  readonly to: number | null; // null: no end
  readonly sums: readonly TermSum[];
  readonly interval?: readonly [low: number, high: number];
}
// One measured point: seconds, and the equation's seconds.
export interface Point {
  readonly ranks: number;
  readonly bytes: number;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly samples: number;
}
// How times are laid out: between two ranks, by ranks and size, by ranks alone.
export type Group = "pair" | "both" | "ranks";
export interface SheetFunction {
  readonly name: string;
  readonly group: Group;
  readonly depends_on_ranks: boolean;
  readonly regimes: readonly Regime[];
  readonly points: readonly Point[];
  // What is known to have been measured; none: unknown.
  readonly measured: { readonly ranks: readonly [number, number] | null; readonly bytes: readonly [number, number] };
  readonly extrapolation_error?: number;
  // What was measured, as multiples of the equations' times: by ranks, each by bytes.
  readonly corrections?: readonly Correction[];
}
export interface Correction {
  readonly ranks: number;
  readonly factors: readonly (readonly [bytes: number, factor: number])[];
}
export interface Machine {
  readonly name: string;
  readonly time_unit: number; // seconds
  readonly element: number; // bytes per unit of d
  readonly functions: readonly SheetFunction[];
}
export interface Sheet {
  readonly machines: readonly Machine[];
  readonly ranks: readonly number[];
  readonly common_ranks: number; // the most that all machines have
  readonly bytes: readonly number[];
}

const kFactors: Readonly<Record<string, (p: number, d: number) => number>> = {
  "1": () => 1,
  p: (p) => p,
  "ln p": (p) => Math.log(p),
  "p^2": (p) => p * p,
  "ceil log2 p": (p) => ceilLog2(p),
  "(p-1)": (p) => p - 1,
  "(p-1)/p": (p) => (p - 1) / p,
  d: (_, d) => d,
  "p d": (p, d) => p * d,
  "ln p d": (p, d) => Math.log(p) * d,
  "p^2 d": (p, d) => p * p * d,
  "ceil log2 p d": (p, d) => ceilLog2(p) * d,
  "(p-1) d": (p, d) => (p - 1) * d,
  "(p-1)/p d": (p, d) => ((p - 1) / p) * d,
};

export function ceilLog2(p: number): number {
  let steps = 0;
  for (let reached = 1; reached < p; reached *= 2) steps++;
  return steps;
}

export function isPowerOfTwo(p: number): boolean {
  return 2 ** ceilLog2(p) === p;
}

export function regimeFor(f: SheetFunction, bytes: number): Regime {
  return f.regimes.find((each) => each.to === null || bytes <= each.to) ?? f.regimes[f.regimes.length - 1]!;
}

function sumFor(regime: Regime, p: number): TermSum {
  return regime.sums.length === 1 || isPowerOfTwo(p) ? regime.sums[0]! : regime.sums[1]!;
}

// The value at x of what is known (ascending in x), straight over log x; the nearest beyond.
function between(known: readonly (readonly [x: number, y: number])[], x: number): number {
  const above = known.findIndex((each) => x <= each[0]);
  if (above === 0) return known[0]![1];
  if (above === -1) return known[known.length - 1]![1];
  const [[x0, y0], [x1, y1]] = [known[above - 1]!, known[above]!];
  return y0 + ((y1 - y0) * Math.log(x / x0)) / Math.log(x1 / x0);
}

function correctionFactor(f: SheetFunction, p: number, bytes: number): number {
  if (f.corrections === undefined) return 1;
  const size = (count: number) => Math.max(count, 0.5);
  const logarithms = (row: Correction) =>
    row.factors.map(([at, factor]) => [size(at), Math.log(factor)] as const);
  const rows = f.corrections.map(
    (row) => [row.ranks, between(logarithms(row), size(bytes))] as const);
  return Math.exp(between(rows, p));
}

function equationTime(machine: Machine, f: SheetFunction, p: number, bytes: number, bound: Bound): number {
  const regime = regimeFor(f, bytes);
  // An interval is relative to the equation's own time.
  const sign = regime.interval !== undefined || bound === "avg" ? 0 : bound === "min" ? -1 : 1;
  let time = 0;
  for (const [factor, value, error] of sumFor(regime, p).terms)
    time += (value + sign * error) * kFactors[factor]!(p, bytes / machine.element);
  if (regime.interval !== undefined && bound !== "avg") time *= regime.interval[bound === "min" ? 0 : 1];
  return machine.time_unit * Math.max(time, 0) * correctionFactor(f, p, bytes);
}

export function isBeyond(f: SheetFunction, p: number, bytes: number): { ranks: boolean; bytes: boolean } {
  const { ranks, bytes: sizes } = f.measured;
  return {
    ranks: f.group !== "pair" && ranks !== null && (p < ranks[0] || p > ranks[1]),
    bytes: f.group !== "ranks" && (bytes < sizes[0] || bytes > sizes[1]),
  };
}

// Seconds of one call.
export function timeOf(machine: Machine, f: SheetFunction, p: number, bytes: number, bound: Bound): number {
  const seconds = equationTime(machine, f, p, bytes, bound);
  if (bound === "avg" || f.extrapolation_error === undefined || !isBeyond(f, p, bytes).ranks) return seconds;
  const middle = equationTime(machine, f, p, bytes, "avg");
  const factor = 1 + f.extrapolation_error;
  return bound === "min" ? Math.min(seconds, middle / factor) : Math.max(seconds, middle * factor);
}

// 0.05: the measured median is 5 % above the equation.
export function residualOf(machine: Machine, f: SheetFunction, point: Point): number | null {
  const fitted = timeOf(machine, f, point.ranks, point.bytes, "avg");
  return fitted > 0 ? (point.median - fitted) / fitted : null;
}
