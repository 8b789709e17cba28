// Colours: one per state, the same for the same function in every trace, so
// that two time lines side by side compare. Computation is calm, waiting is a
// lighter shade of the call that waits.

import type { ShareColours } from "./shares";

export interface Theme {
  readonly dark: boolean;
  readonly background: string;
  readonly row: string; // where a rank is not in the program
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly path: string; // the critical path, over all bars
  readonly hit: string; // what was found
}

// As in src/views/draw/colours.css, for what is drawn on a canvas.
export const kLight: Theme = {
  dark: false, background: "#ffffff", row: "#f4f6f8", text: "#16191f", muted: "#5d6673",
  line: "#d6dae0", accent: "#1f63d6", path: "#0b0f1a", hit: "#c3008f",
};
export const kDark: Theme = {
  dark: true, background: "#15181d", row: "#1c2027", text: "#e6e9ee", muted: "#98a2b0",
  line: "#343a44", accent: "#6cb0ff", path: "#ffffff", hit: "#ff7bdc",
};

type Rgb = readonly [number, number, number];

// First match wins; names come without "MPI_" and in lower case.
const kFamilies: readonly [RegExp, light: string, dark: string][] = [
  [/^compute$/, "#b7dcc4", "#3f7357"],
  [/^sendrecv/, "#4f5bd5", "#7c86f0"],
  [/^i[sbr]?send|^send_init/, "#74aef0", "#8fc1fb"],
  [/^[sbr]?send/, "#2f74d0", "#4c92ee"],
  [/^i?m?recv|^recv_init/, "#8b5cd6", "#a67df0"],
  [/^(wait|test|start)/, "#c24f9c", "#de74ba"],
  [/^(i?m?probe)/, "#a77bb5", "#c09ccd"],
  [/^i?barrier/, "#d33f49", "#ee6a70"],
  [/^i?bcast/, "#e08a1e", "#f0a548"],
  [/^i?allreduce/, "#dd5f2b", "#f3834f"],
  [/^i?reduce_scatter/, "#a8611f", "#cc8544"],
  [/^i?reduce/, "#c7a008", "#e0bd3c"],
  [/^i?allgather/, "#0f8577", "#2eb3a2"],
  [/^i?gather/, "#43a89c", "#66c9bd"],
  [/^i?scatter/, "#2495ad", "#4fb7cd"],
  [/^i?(neighbor_)?alltoall/, "#8c6239", "#b88a5d"],
  [/^i?(ex)?scan/, "#7b8d1f", "#a3b547"],
  [/^comm_|^cart_|^graph_|^intercomm/, "#7d8aa5", "#97a4be"],
  [/^win_|^put|^get|^accumulate|^fetch|^r(put|get)/, "#5f7f3a", "#86a95f"],
  [/^file_/, "#94684f", "#b98f75"],
  [/./, "#8a93a3", "#9aa4b5"],
];

export function parseColour(text: string): Rgb {
  const value = parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const at = (i: 0 | 1 | 2): number => Math.round(a[i] * share + b[i] * (1 - share));
  return [at(0), at(1), at(2)];
}

export function cssColour([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`;
}

// Pixel of an ImageData read as 32-bit little-endian words.
function pixel([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export interface Palette {
  readonly theme: Theme;
  readonly busy: Rgb[]; // by state
  readonly waiting: Rgb[];
  readonly shares: ShareColours;
  readonly pixels: Uint32Array; // by class, 256 entries; what is no class is the row's colour
}

export function makePalette(names: string[], hidden: ReadonlySet<number>, theme: Theme): Palette {
  const background = parseColour(theme.background);
  const text = parseColour(theme.text);
  const row = parseColour(theme.row);
  const taken = new Map<string, number>();
  const busy = names.map((name) => {
    const short = name.replace(/^MPI_/, "").toLowerCase();
    const family = kFamilies.find(([pattern]) => pattern.test(short))!;
    const colour = theme.dark ? family[2] : family[1];
    // Another function of a family that is there already gets another shade.
    const twins = taken.get(colour) ?? 0;
    taken.set(colour, twins + 1);
    const share = [1, 0.78, 0.62, 0.5][Math.min(twins, 3)]!;
    return mix(parseColour(colour), twins % 2 === 1 ? text : background, share);
  });
  const waiting = busy.map((colour) => mix(colour, background, theme.dark ? 0.36 : 0.3));
  const pixels = new Uint32Array(256).fill(pixel(row));
  busy.forEach((colour, state) => {
    if (hidden.has(state)) return;
    pixels[state] = pixel(colour);
    pixels[names.length + state] = pixel(waiting[state]!);
  });
  const visible = (colour: Rgb, state: number): Rgb | null => (hidden.has(state) ? null : colour);
  const shares = { classes: [...busy.map(visible), ...waiting.map(visible)], empty: row };
  return { theme, busy, waiting, shares, pixels };
}
