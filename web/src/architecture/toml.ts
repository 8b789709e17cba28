// Where things stand in a TOML text, so that it can be edited in place: what is not touched, its
// comments and its order, stays as it is. Lines that are no TOML are passed over; who checks is
// the tool.
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Entry {
  readonly key: string; // as it is written: "count", "parameters.x"
  readonly line: Span; // with its line's end, up to the end of the value's line
  readonly value: Span;
}

export interface Table {
  readonly path: string; // "composite.machine.part"
  readonly isArray: boolean;
  readonly first: number; // number of its header's line, from 1
  readonly last: number; // of the last line that is its own
  readonly from: number; // where its header's line begins
  readonly to: number; // after its last entry's line
  readonly entries: readonly Entry[];
}

export type Value = string | number | boolean | Value[] | { [key: string]: Value };

// The end of the string that begins at `at`.
function stringEnd(text: string, at: number): number {
  const quote = text[at]!;
  if (text.startsWith(quote.repeat(3), at)) {
    const end = text.indexOf(quote.repeat(3), at + 3);
    return end < 0 ? text.length : end + 3;
  }
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\" && quote === '"') i++;
    else if (text[i] === quote) return i + 1;
    else if (text[i] === "\n") return i;
  }
  return text.length;
}

// The end of the value that begins at `at`.
function valueEnd(text: string, at: number): number {
  let depth = 0;
  let end = at;
  for (let i = at; i < text.length; ) {
    const c = text[i]!;
    if (c === '"' || c === "'") {
      i = end = stringEnd(text, i);
      if (depth === 0) return end;
      continue;
    }
    if (c === "#") {
      if (depth === 0) return end;
      while (i < text.length && text[i] !== "\n") i++;
      continue;
    }
    if (c === "\n" && depth === 0) return end;
    if ((c === "," || c === "]" || c === "}") && depth === 0) return end;
    if (c === "[" || c === "{") depth++;
    if (c === "]" || c === "}") depth--;
    i++;
    if (!/\s/.test(c)) end = i;
    if (depth === 0 && (c === "]" || c === "}")) return end;
  }
  return end;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

// The text's tables in their order; the first is the root, which has no header.
export function scan(text: string): Table[] {
  const tables: { path: string; isArray: boolean; first: number; last: number; from: number; to: number; entries: Entry[] }[] = [
    { path: "", isArray: false, first: 0, last: 0, from: 0, to: 0, entries: [] },
  ];
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const table = tables[tables.length - 1]!;
    let end = lineEnd(text, at);
    const words = text.slice(at, end);
    const header = /^[ \t]*(\[\[?)[ \t]*([^\]#\n]+?)[ \t]*\]\]?/.exec(words);
    const entry = /^[ \t]*([A-Za-z0-9_.-]+|"[^"\n]*")[ \t]*=[ \t]*/.exec(words);
    if (header !== null) {
      tables.push({ path: header[2]!, isArray: header[1] === "[[", first: line, last: line, from: at, to: end, entries: [] });
    } else if (entry !== null) {
      const from = at + entry[0].length;
      const to = valueEnd(text, from);
      end = lineEnd(text, Math.max(from, to - 1));
      table.entries.push({ key: entry[1]!, line: { from: at, to: end }, value: { from, to } });
      table.to = end;
    }
    line += text.slice(at, end).split("\n").length - 1;
    if (header === null && entry !== null) table.last = line - 1;
    at = end;
  }
  return tables;
}

// The entries of the inline table at `span`.
export function inlineEntries(text: string, span: Span): Entry[] {
  const entries: Entry[] = [];
  const pattern = /[\s,]*([A-Za-z0-9_.-]+|"[^"\n]*")[ \t]*=[ \t]*/y;
  for (let at = span.from + 1; at < span.to - 1; ) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) break;
    const from = pattern.lastIndex;
    const to = valueEnd(text, from);
    entries.push({ key: found[1]!, line: { from: at, to }, value: { from, to } });
    at = to;
  }
  return entries;
}

// What the value at `span` means; what is no value is its own text.
export function valueOf(text: string, span: Span): Value {
  const written = text.slice(span.from, span.to);
  if (written.startsWith("'")) return written.slice(1, -1);
  if (written.startsWith('"')) {
    try {
      return JSON.parse(written) as string;
    } catch {
      return written.slice(1, -1);
    }
  }
  if (written.startsWith("{"))
    return Object.fromEntries(inlineEntries(text, span).map(({ key, value }) => [key, valueOf(text, value)]));
  if (written.startsWith("[")) {
    const all: Value[] = [];
    for (let at = span.from + 1; at < span.to - 1; ) {
      const skipped = /^(?:[\s,]|#[^\n]*\n)*/.exec(text.slice(at, span.to - 1))![0].length;
      const from = at + skipped;
      const to = valueEnd(text, from);
      if (to <= from) break;
      all.push(valueOf(text, { from, to }));
      at = to;
    }
    return all;
  }
  if (written === "true" || written === "false") return written === "true";
  const number = Number(written.replace(/_/g, ""));
  return written !== "" && Number.isFinite(number) ? number : written;
}

export const quoted = (word: string): string => JSON.stringify(word);

// ---- edits: each gives the new text ----

const newline = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

function replaced(text: string, span: Span, by: string): string {
  return text.slice(0, span.from) + by + text.slice(span.to);
}

// Sets an entry of a table, or takes it out (null); `value` as it is to be written.
export function setEntry(text: string, table: Table, key: string, value: string | null): string {
  const entry = table.entries.find((each) => each.key === key);
  if (entry !== undefined) return value === null ? replaced(text, entry.line, "") : replaced(text, entry.value, value);
  if (value === null) return text;
  const before = table.to > 0 && text[table.to - 1] !== "\n" ? newline(text) : "";
  return replaced(text, { from: table.to, to: table.to }, `${before}${key} = ${value}${newline(text)}`);
}

// Sets an entry of a table within a table: `outer = { key = value }`, or `outer.key = value`.
export function setInner(text: string, table: Table, outer: string, key: string, value: string | null): string {
  const dotted = `${outer}.${key}`;
  if (table.entries.some((each) => each.key === dotted)) return setEntry(text, table, dotted, value);
  const entry = table.entries.find((each) => each.key === outer);
  if (entry === undefined) return value === null ? text : setEntry(text, table, outer, `{ ${key} = ${value} }`);
  const inner = inlineEntries(text, entry.value);
  const at = inner.findIndex((each) => each.key === key);
  if (at >= 0 && value !== null) return replaced(text, inner[at]!.value, value);
  if (at >= 0) {
    if (inner.length === 1) return setEntry(text, table, outer, null);
    const found = inner[at]!;
    // With the comma before it, or, of the first, the one after it.
    if (at > 0) return replaced(text, { from: inner[at - 1]!.value.to, to: found.value.to }, "");
    return replaced(text, { from: found.line.from, to: inner[1]!.line.from + 1 }, "");
  }
  if (value === null) return text;
  const last = inner[inner.length - 1];
  if (last === undefined) return replaced(text, entry.value, `{ ${key} = ${value} }`);
  return replaced(text, { from: last.value.to, to: last.value.to }, `, ${key} = ${value}`);
}

// A new table after `after`, or at the end of the text.
export function addTable(text: string, header: string, lines: readonly string[], after: Table | undefined): string {
  const end = newline(text);
  const at = after === undefined ? text.length : after.to;
  const before = at > 0 && text[at - 1] !== "\n" ? end : "";
  return replaced(text, { from: at, to: at }, `${before}${end}${[header, ...lines].join(end)}${end}`);
}

// Without these tables; comments between them stay.
export function removeTables(text: string, tables: readonly Table[]): string {
  for (const table of [...tables].sort((a, b) => b.from - a.from)) {
    const blank = /\r?\n(\r?\n)$/.exec(text.slice(0, table.from))?.[1]?.length ?? 0;
    text = replaced(text, { from: table.from - blank, to: table.to }, "");
  }
  return text;
}
