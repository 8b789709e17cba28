// Numbers as text: the same units as the text views print.

const kTimeUnits: readonly [size: number, name: string][] = [
  [1, "ps"],
  [1e3, "ns"],
  [1e6, "us"],
  [1e9, "ms"],
  [1e12, "s"],
];

function trim(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// Four significant digits, no trailing zeros; whole numbers in full.
export function formatNumber(value: number): string {
  return Math.abs(value) >= 9999.5 ? value.toFixed(0) : trim(value.toPrecision(4));
}

function unitFor(ps: number): [size: number, name: string] {
  const size = Math.abs(ps);
  for (let i = kTimeUnits.length - 1; i > 0; i--) if (size >= kTimeUnits[i]![0] * 0.99995) return kTimeUnits[i]!;
  return kTimeUnits[0]!;
}

// "712.3 ms"
export function formatTime(ps: number): string {
  if (ps === 0) return "0 s";
  const [size, name] = unitFor(ps);
  return `${formatNumber(ps / size)} ${name}`;
}

// A point in time among others that are `step` apart: all digits that tell
// them apart, in the unit of the largest.
export function formatPoint(ps: number, step: number, largest: number): string {
  const [size, name] = unitFor(largest);
  const digits = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ps / size).toFixed(digits)} ${name}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 10240) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = formatNumber(value);
  // Four digits with a point show that they are rounded; "64 KiB" would not.
  const looksExact = digits.length < 5 || !digits.includes(".");
  if (looksExact && Number(digits) !== value) return `${bytes} B`;
  return `${digits} ${units[unit]}`;
}

export function formatPercent(ratio: number): string {
  return `${(ratio * 100).toFixed(1)} %`;
}
