// The arithmetic of zooming: which interval of time is shown, and what a time
// or a pixel is in it. Times in picoseconds, positions in pixels.

export interface Interval {
  readonly t0: number;
  readonly t1: number;
}

export const kMinSpan = 100; // ps shown across the width when zoomed in fully

// `interval` moved and shrunk so that it lies in [0, end].
export function clampInterval(interval: Interval, end: number): Interval {
  const span = Math.min(end, Math.max(Math.min(kMinSpan, end), interval.t1 - interval.t0));
  const t0 = Math.min(Math.max(0, interval.t0), end - span);
  return { t0, t1: t0 + span };
}

// Shows 1/factor of the time, with the time at `fraction` (0 left, 1 right of
// the view) staying where it is.
export function zoomAt(view: Interval, end: number, fraction: number, factor: number): Interval {
  const span = view.t1 - view.t0;
  const wanted = Math.min(end, Math.max(Math.min(kMinSpan, end), span / factor));
  const fixed = view.t0 + fraction * span;
  const t0 = fixed - fraction * wanted;
  return clampInterval({ t0, t1: t0 + wanted }, end);
}

// Moves by `fraction` of the view's width, to later times if positive.
export function panBy(view: Interval, end: number, fraction: number): Interval {
  const shift = (view.t1 - view.t0) * fraction;
  return clampInterval({ t0: view.t0 + shift, t1: view.t1 + shift }, end);
}

export function timeToX(view: Interval, width: number, t: number): number {
  return ((t - view.t0) / (view.t1 - view.t0)) * width;
}

export function xToTime(view: Interval, width: number, x: number): number {
  return view.t0 + (x / width) * (view.t1 - view.t0);
}

// The smallest of 1, 2, 5 times a power of ten that is >= least.
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= least * (1 - 1e-12)) return power * factor;
  return power * 10;
}

// Multiples of the step inside the view, at least `spacing` pixels apart.
export function ticks(view: Interval, width: number, spacing: number): { step: number; at: number[] } {
  const step = Math.max(1, tickStep(((view.t1 - view.t0) / width) * spacing));
  const at: number[] = [];
  for (let k = Math.ceil(view.t0 / step); k * step <= view.t1; k++) at.push(k * step);
  return { step, at };
}
