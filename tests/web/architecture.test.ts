// Edits of a description: what is not touched stays, comments and order included.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fits, parametersOf, readMachine, type Kind } from "../../web/src/architecture/machine";
import { addTable, inlineEntries, removeTables, scan, setEntry, setInner, valueOf } from "../../web/src/architecture/toml";

const kText = `# a machine
[architecture]
name = "two" # its name
include = [
  "node.arch.toml", # ] not the end
]

# the left one
[[composite.machine.part]]
name = "a"
kind = "processor"   # what it is
parameters = { ranks = 2, x = "}" }

[[composite.machine.part]]
kind = "switch"
name = 's'
[[composite.machine.link]]
from = "a.net"
to = "s.net"
`;

const tableOf = (text: string, path: string, nth = 0) => scan(text).filter((table) => table.path === path)[nth]!;

test("tables, their lines and values", () => {
  const tables = scan(kText);
  assert.deepEqual(tables.map(({ path, first, last }) => [path, first, last]), [
    ["", 0, 0], ["architecture", 2, 6], ["composite.machine.part", 9, 12], ["composite.machine.part", 14, 16], ["composite.machine.link", 17, 19],
  ]);
  const include = tables[1]!.entries[1]!;
  assert.deepEqual(valueOf(kText, include.value), ["node.arch.toml"]);
  const parameters = tables[2]!.entries[2]!;
  assert.deepEqual(valueOf(kText, parameters.value), { ranks: 2, x: "}" });
  assert.deepEqual(inlineEntries(kText, parameters.value).map(({ key }) => key), ["ranks", "x"]);
});

// Lines that differ, as a diff would show them.
function changed(before: string, after: string): string[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  return [...a.filter((line) => !b.includes(line)).map((line) => `-${line}`), ...b.filter((line) => !a.includes(line)).map((line) => `+${line}`)];
}

test("an edit changes its own line alone", () => {
  const part = tableOf(kText, "composite.machine.part");
  assert.deepEqual(changed(kText, setEntry(kText, part, "kind", '"bus"')), ['-kind = "processor"   # what it is', '+kind = "bus"   # what it is']);
  assert.deepEqual(changed(kText, setEntry(kText, part, "level", '"hops"')), ['+level = "hops"']);
  assert.deepEqual(changed(kText, setInner(kText, part, "parameters", "ranks", "4")), ['-parameters = { ranks = 2, x = "}" }', '+parameters = { ranks = 4, x = "}" }']);
  assert.deepEqual(changed(kText, setInner(kText, part, "parameters", "y", "1")), ['-parameters = { ranks = 2, x = "}" }', '+parameters = { ranks = 2, x = "}", y = 1 }']);
  assert.deepEqual(changed(kText, setInner(kText, part, "parameters", "ranks", null)), ['-parameters = { ranks = 2, x = "}" }', '+parameters = { x = "}" }']);
  assert.deepEqual(changed(kText, setInner(kText, part, "parameters", "x", null)), ['-parameters = { ranks = 2, x = "}" }', "+parameters = { ranks = 2 }"]);
  const other = tableOf(kText, "composite.machine.part", 1);
  assert.deepEqual(changed(kText, setInner(kText, other, "parameters", "vcs", "2")), ["+parameters = { vcs = 2 }"]);
  assert.equal(setEntry(setEntry(kText, other, "level", '"vc"'), tableOf(setEntry(kText, other, "level", '"vc"'), "composite.machine.part", 1), "level", null), kText);
});

test("a table comes and goes", () => {
  const more = addTable(kText, "[[composite.machine.part]]", ['name = "b"'], tableOf(kText, "composite.machine.part", 1));
  assert.deepEqual(readMachine(more)[0]!.parts.map(({ name }) => name), ["a", "s", "b"]);
  assert.equal(removeTables(more, [tableOf(more, "composite.machine.part", 2)]), kText);
  const less = removeTables(kText, [tableOf(kText, "composite.machine.part")]);
  assert.ok(less.includes("# the left one") && !less.includes('name = "a"'));
  const windows = kText.replace(/\n/g, "\r\n");
  assert.equal(setEntry(windows, tableOf(windows, "composite.machine.link"), "latency", '"1us"').split("\r\n").length, kText.split("\n").length + 1);
});

test("only ports that fit", () => {
  const kind = (name: string, ports: Kind["ports"]): [string, Kind] => [name, { name, ports, what: "behaviour", parameters: [], levels: [], help: "" }];
  const kinds = new Map([
    kind("processor", [{ name: "net", direction: "both", most: 64 }]), kind("switch", [{ name: "net", direction: "both", most: 9 }]),
    kind("source", [{ name: "out", direction: "out", most: 1 }]), kind("sink", [{ name: "in", direction: "in", most: 9 }]),
  ]);
  const part = (name: string) => `[[composite.machine.part]]\nname = "${name}"\nkind = "${name.slice(0, -1)}"\n`;
  const machine = readMachine(["source1", "source2", "sink1", "sink2"].map(part).join("") + '[[composite.machine.link]]\nfrom = "source1.out"\nto = "sink1.in"\n')[0]!;
  const can = (from: string, a: string, to: string, b: string) => fits(machine, kinds, { part: from, port: a }, { part: to, port: b });
  assert.equal(can("source2", "out", "sink1", "in"), true);
  assert.equal(can("source2", "out", "source1", "out"), false); // both send
  assert.equal(can("source1", "out", "sink2", "in"), false); // it is taken
  assert.equal(can("sink1", "in", "sink1", "in"), false);
  assert.equal(parametersOf(kText, readMachine(kText)[0]!.parts[0]!).get("ranks"), "2");
});
