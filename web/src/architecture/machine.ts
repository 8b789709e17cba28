// A machine's description as the editor sees it: composites of parts and links, each with the table
// of the text that it stands in.
import { inlineEntries, scan, valueOf, type Table, type Value } from "./toml";

export type Direction = "both" | "in" | "out";

export interface PortSpec {
  readonly name: string;
  readonly direction: Direction;
  readonly most: number;
}

export interface ParameterSpec {
  readonly name: string;
  readonly type: string; // "a time", ...
  readonly usual: string;
  readonly choices: readonly string[];
  readonly help: string;
  readonly quoted: boolean; // it is written as a text
}

// What a part may be: a behaviour that is built in, an entity or a composite of the description.
export interface Kind {
  readonly name: string;
  readonly what: "behaviour" | "entity" | "composite";
  readonly ports: readonly PortSpec[];
  readonly parameters: readonly ParameterSpec[];
  readonly levels: readonly string[];
  readonly help: string;
}

export interface Part {
  readonly name: string;
  readonly kind: string;
  readonly template: string;
  readonly at: readonly [number, number] | null;
  readonly table: Table;
  readonly values: { readonly [key: string]: Value };
}

export interface End {
  readonly part: string;
  readonly port: string;
}

export interface Link {
  readonly from: End;
  readonly to: End;
  readonly table: Table;
  readonly values: { readonly [key: string]: Value };
}

export interface Composite {
  readonly name: string;
  readonly parts: readonly Part[];
  readonly links: readonly Link[];
  readonly last: Table | undefined; // after which another part goes
}

// "node[0..3].net": the part without its numbers, and the port.
export function endOf(text: string): End {
  const dot = text.lastIndexOf(".");
  return { part: text.slice(0, Math.max(0, dot)).replace(/\.switch$|\.switch\[[^\]]*\]$|\[[^\]]*\]$/, ""), port: text.slice(dot + 1) };
}

function valuesOf(text: string, table: Table): { [key: string]: Value } {
  const values: { [key: string]: Value } = {};
  for (const { key, value } of table.entries) values[key] = valueOf(text, value);
  return values;
}

const word = (value: Value | undefined): string => (typeof value === "string" ? value : "");

export function readMachine(text: string): Composite[] {
  const made = new Map<string, { name: string; parts: Part[]; links: Link[]; last: Table | undefined }>();
  const of = (name: string) => {
    if (!made.has(name)) made.set(name, { name, parts: [], links: [], last: undefined });
    return made.get(name)!;
  };
  for (const table of scan(text)) {
    const [, name, what] = /^composite\.([^.]+)(?:\.(part|link))?$/.exec(table.path) ?? [];
    if (name === undefined) continue;
    const composite = of(name);
    if (what !== "link") composite.last = table;
    if (what === undefined) continue;
    const values = valuesOf(text, table);
    if (what === "link") {
      composite.links.push({ from: endOf(word(values["from"])), to: endOf(word(values["to"])), table, values });
      continue;
    }
    const at = values["at"];
    composite.parts.push({
      name: word(values["name"]), kind: word(values["kind"]), template: word(values["template"]), table, values,
      at: Array.isArray(at) && at.length === 2 && at.every((each) => typeof each === "number") ? [at[0] as number, at[1] as number] : null,
    });
  }
  if (made.size === 0) of("machine");
  return [...made.values()];
}

// A part's parameters, as they are written: `parameters = { x = 1 }` and `parameters.x = 1`.
export function parametersOf(text: string, part: Part): Map<string, string> {
  const found = new Map<string, string>();
  for (const { key, value } of part.table.entries) {
    const inner = key === "parameters" ? inlineEntries(text, value) : key.startsWith("parameters.") ? [{ key: key.slice(11), value }] : [];
    for (const one of inner) found.set(one.key, text.slice(one.value.from, one.value.to));
  }
  return found;
}

// A name that no part has: "switch", "switch2", ...
export function freeName(composite: Composite, kind: string): string {
  const taken = new Set(composite.parts.map((part) => part.name));
  for (let n = 1; ; n++) {
    const name = n === 1 ? kind : `${kind}${n}`;
    if (!taken.has(name)) return name;
  }
}

// Whether a port can be joined to another: two that only send, a part with itself, or a port
// that is full do not fit.
export function fits(composite: Composite, kinds: ReadonlyMap<string, Kind>, from: End, to: End): boolean {
  if (from.part === to.part) return false;
  const spec = (end: End): PortSpec | undefined => {
    const part = composite.parts.find((each) => each.name === end.part);
    return kinds.get(part?.kind ?? "")?.ports.find((port) => port.name === end.port);
  };
  const used = (end: End): number =>
    composite.links.filter(({ from: a, to: b }) => (a.part === end.part && a.port === end.port) || (b.part === end.part && b.port === end.port)).length;
  const [a, b] = [spec(from), spec(to)];
  if (a === undefined || b === undefined) return false;
  if (a.direction !== "both" && a.direction === b.direction) return false;
  return used(from) < a.most && used(to) < b.most;
}

// Where the parts are drawn, in a square of side 1: at their `at`, the others in a grid.
export function places(composite: Composite): Map<string, readonly [number, number]> {
  const own = composite.parts.flatMap((part) => (part.at === null ? [] : [part.at]));
  const low = [0, 1].map((d) => Math.min(0, ...own.map((at) => at[d]!)));
  const high = [0, 1].map((d) => Math.max(low[d]! + 4, ...own.map((at) => at[d]!)));
  const columns = Math.max(1, Math.ceil(Math.sqrt(composite.parts.length)));
  const rows = Math.max(1, Math.ceil(composite.parts.length / columns));
  return new Map(composite.parts.map((part, i) => [part.name, part.at === null
    ? [((i % columns) + 0.5) / columns, (Math.floor(i / columns) + 0.5) / rows] as const
    : [0.1 + 0.8 * (part.at[0] - low[0]!) / (high[0]! - low[0]!), 0.1 + 0.8 * (part.at[1] - low[1]!) / (high[1]! - low[1]!)] as const]));
}

// The `at` of a place in the drawing, to a quarter.
export function atOf(composite: Composite, x: number, y: number): readonly [number, number] {
  const own = composite.parts.flatMap((part) => (part.at === null ? [] : [part.at]));
  const back = (value: number, d: number): number => {
    const low = Math.min(0, ...own.map((at) => at[d]!));
    const high = Math.max(low + 4, ...own.map((at) => at[d]!));
    return Math.round(4 * (low + ((value - 0.1) / 0.8) * (high - low))) / 4;
  };
  return [back(x, 0), back(y, 1)];
}
