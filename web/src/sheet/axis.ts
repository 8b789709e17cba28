// One axis of a plot: values to places, and what stands at it.

export interface Axis {
  readonly log: boolean;
  readonly low: number;
  readonly high: number;
  readonly from: number; // pixels
  readonly to: number;
}

export function place(axis: Axis, value: number): number {
  const share = axis.log
    ? Math.log(Math.max(value, Number.MIN_VALUE) / axis.low) / Math.log(axis.high / axis.low)
    : (value - axis.low) / (axis.high - axis.low);
  return axis.from + share * (axis.to - axis.from);
}

export function valueAt(axis: Axis, pixel: number): number {
  const share = (pixel - axis.from) / (axis.to - axis.from);
  return axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + share * (axis.high - axis.low);
}

// A span that can be drawn: not empty, and above zero where it is logarithmic.
export function spanOf(values: readonly number[], log: boolean): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values)
    if (Number.isFinite(value) && (!log || value > 0)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (low > high) return log ? [0.1, 1] : [-1, 1];
  if (low === high) return log ? [low / 2, high * 2] : [low - Math.max(Math.abs(low), 1) / 2, high + Math.max(Math.abs(high), 1) / 2];
  return [low, high];
}

function leads(ratio: number): readonly number[] {
  if (ratio > 300) return [1];
  return ratio > 5 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
}

// Round numbers: decades, or 1-2-5, or even steps.
export function ticks(axis: Axis, most: number): number[] {
  if (!axis.log || axis.high / axis.low < 1.6) return evenTicks(axis, most);
  const out: number[] = [];
  const low = Math.floor(Math.log10(axis.low));
  const high = Math.ceil(Math.log10(axis.high));
  const each = leads(axis.high / axis.low);
  const step = Math.max(1, Math.ceil(((high - low) * each.length) / most / each.length));
  for (let e = low; e <= high; e += step)
    for (const lead of each) {
      const value = Number(`${lead}e${e}`);
      if (value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9)) out.push(value);
    }
  return out;
}

function evenTicks(axis: Axis, most: number): number[] {
  const rough = (axis.high - axis.low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((lead) => lead * power >= rough)!;
  const out: number[] = [];
  for (let n = Math.ceil(axis.low / step - 1e-9); n * step <= axis.high + step * 1e-9; n++) out.push(n * step + 0);
  return out;
}

// Powers of two on a logarithmic axis, and whole multiples of them on a linear one: 0, 16 Ki, 32 Ki.
export function binaryTicks(axis: Axis, most: number): number[] {
  const out: number[] = [];
  if (axis.log && axis.high / axis.low >= 4) {
    const first = Math.ceil(Math.log2(axis.low) - 1e-9);
    const last = Math.floor(Math.log2(axis.high) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / most));
    for (let e = Math.ceil(first / step) * step; e <= last; e += step) out.push(2 ** e);
    return out;
  }
  const step = Math.max(1, 2 ** Math.ceil(Math.log2((axis.high - axis.low) / most)));
  for (let n = Math.ceil(axis.low / step - 1e-9); n * step <= axis.high + step * 1e-9; n++) out.push(n * step + 0);
  return out;
}

// 65536 -> "64 Ki"
export function binaryLabel(value: number): string {
  const prefixes = ["", " Ki", " Mi", " Gi", " Ti"];
  let prefix = 0;
  while (value >= 1024 && value % 256 === 0 && prefix < prefixes.length - 1) {
    value /= 1024;
    prefix++;
  }
  return `${Number(value.toPrecision(4))}${prefixes[prefix]}`;
}
