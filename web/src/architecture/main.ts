// The editor of a description: the text is what there is; every action makes a new text, and the
// drawing follows it. Beside the tool (`architecture edit`) it checks, saves and runs; alone it
// edits a file that is dropped on it.
import { button, choice, element, find } from "../dom";
import { Drawing, type Chosen, type Flat } from "./drawing";
import { atOf, fits, freeName, parametersOf, readMachine, type Composite, type End, type Kind, type Part } from "./machine";
import { addTable, inlineEntries, quoted, removeTables, scan, setEntry, setInner, valueOf, type Table } from "./toml";
import { ask, type Checked, type Ran } from "./server";

const kEmpty = '[architecture]\nname = "a machine"\n';
const kTemplates = ["mesh:4x4", "torus:4x4", "torus:4x4x4", "hypercube:4", "tree:2,3", "fattree:2,3", "omega:16", "dragonfly:4,2,2", "crossbar:8", "ring:8", "array:8", "hyperx:4x4,2", "benes:8"];

const kPatterns = ["uniform", "hotspot:0:0.3", "transpose", "complement", "reverse", "shuffle", "tornado", "neighbour", "permutation:1", "asymmetric", "diagonal"];

const counted = (n: number, one: string, more: string): string => `${n} ${n === 1 ? one : more}`;

class Editor {
  private text = kEmpty;
  private readonly past: string[] = [];
  private readonly future: string[] = [];
  private saved = kEmpty;
  private file = "";
  private inside = "machine"; // the composite that is drawn
  private chosen: Chosen = null;
  private from: End | null = null;
  private flat: Flat | null = null;
  private ran: Ran | null = null;
  private whole = false;
  private wrongLine = 0;
  private served = true;
  private round = 0;
  private readonly kinds = new Map<string, Kind>();
  private readonly drawing = new Drawing(document.querySelector<SVGSVGElement>("#drawing")!, {
    choose: (chosen) => {
      this.chosen = chosen;
      this.from = null;
      this.show();
    },
    port: (end) => this.port(end),
    moved: (part, x, y) => {
      const at = atOf(this.composite(), x, y);
      this.change(setEntry(this.text, part.table, "at", `[${at.join(", ")}]`), { part: part.name });
    },
  });
  private readonly undo = button("Undo", "Ctrl+Z", () => this.step(this.past, this.future));
  private readonly redo = button("Redo", "Ctrl+Y", () => this.step(this.future, this.past));
  private readonly save = button("Save", "Ctrl+S", () => void this.store());

  constructor() {
    for (const kind of JSON.parse(find("#behaviours").textContent!) as Kind[]) this.kinds.set(kind.name, kind);
    const area = find<HTMLTextAreaElement>("#text");
    area.addEventListener("change", () => this.change(area.value, this.chosen));
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.show());
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) void file.text().then((text) => this.open(file.name, text));
    });
  }

  async start(): Promise<void> {
    try {
      const state = await ask("state") as { file: string; text: string };
      this.open(state.file, state.text);
    } catch {
      this.served = false;
      this.open("", kEmpty);
      this.say("Drop a MACHINE.arch.toml here, or draw one. foretrace architecture edit FILE also checks and runs it.");
    }
  }

  private open(file: string, text: string): void {
    this.file = file;
    this.saved = this.text = text;
    this.past.length = this.future.length = 0;
    this.chosen = null;
    this.followText();
  }

  // ---- the text and its history ----

  private change(text: string, chosen: Chosen): void {
    if (text === this.text) return;
    this.past.push(this.text);
    this.future.length = 0;
    this.text = text;
    this.chosen = chosen;
    this.followText();
  }

  private step(from: string[], to: string[]): void {
    const text = from.pop();
    if (text === undefined) return;
    to.push(this.text);
    this.text = text;
    this.chosen = null;
    this.followText();
  }

  private followText(): void {
    this.from = null;
    this.ran = null;
    this.show();
    void this.check();
  }

  private composite(): Composite {
    const all = readMachine(this.text);
    return all.find(({ name }) => name === this.inside) ?? { name: this.inside, parts: [], links: [], last: undefined };
  }

  private async check(): Promise<void> {
    if (!this.served) return;
    const round = ++this.round;
    const found = await ask("check", this.text) as Checked;
    if (round !== this.round) return; // the text has changed since
    for (const kind of found.kinds ?? []) this.kinds.set(kind.name, kind);
    this.flat = found.flat ?? null;
    this.wrongLine = found.fault?.line ?? 0;
    if (found.fault?.message.includes("there is no [composite.")) this.say("The machine is empty: take a part from the library.");
    else if (found.fault !== undefined) this.say(found.fault.message, true);
    else this.say(`${counted(this.flat!.entities.length, "entity", "entities")}, ${counted(this.flat!.links.length, "link", "links")}: nothing is wrong`);
    this.show();
  }

  private async store(): Promise<void> {
    if (!this.served) {
      const link = element("a");
      link.href = URL.createObjectURL(new Blob([this.text], { type: "application/toml" }));
      link.download = this.file === "" ? "machine.arch.toml" : this.file;
      link.click();
      this.saved = this.text;
      return this.show();
    }
    const text = this.text;
    const { fault } = await ask("save", text) as Checked;
    if (fault === undefined) this.saved = text;
    this.say(fault?.message ?? `saved ${this.file}`, fault !== undefined);
    this.show();
  }

  private say(message: string, bad = false): void {
    const line = find("#message");
    line.textContent = message;
    line.classList.toggle("bad", bad);
    document.documentElement.dataset["bad"] = String(bad);
  }

  // ---- actions ----

  private add(kind: string): void {
    const composite = this.composite();
    const name = freeName(composite, kind);
    this.whole = false;
    const header = `[[composite.${composite.name}.part]]`;
    this.change(addTable(this.text, header, [`name = ${quoted(name)}`, `kind = ${quoted(kind)}`], composite.last), { part: name });
  }

  private port(end: End): void {
    const composite = this.composite();
    if (this.from === null) this.from = end;
    else if (fits(composite, this.kinds, this.from, end)) {
      const lines = [`from = ${quoted(`${this.from.part}.${this.from.port}`)}`, `to = ${quoted(`${end.part}.${end.port}`)}`];
      const last = composite.links[composite.links.length - 1]?.table ?? composite.last;
      return this.change(addTable(this.text, `[[composite.${composite.name}.link]]`, lines, last), { link: composite.links.length });
    } else this.from = null;
    this.show();
  }

  private remove(): void {
    const { parts, links } = this.composite();
    if (this.chosen === null) return;
    const tables: Table[] = [];
    if ("link" in this.chosen) tables.push(links[this.chosen.link]!.table);
    else {
      const name = this.chosen.part;
      tables.push(...parts.filter((part) => part.name === name).map(({ table }) => table),
        ...links.filter(({ from, to }) => from.part === name || to.part === name).map(({ table }) => table));
    }
    this.change(removeTables(this.text, tables), null);
  }

  private key(event: KeyboardEvent): void {
    const typing = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    const held = event.ctrlKey || event.metaKey;
    const letter = event.key.toLowerCase();
    if (held && letter === "s") void this.store();
    else if (held && letter === "z" && !typing) event.shiftKey ? this.step(this.future, this.past) : this.step(this.past, this.future);
    else if (held && letter === "y" && !typing) this.step(this.future, this.past);
    else if (event.key === "Delete" && !typing) this.remove();
    else if (event.key === "Escape" && this.from !== null) {
      this.from = null;
      this.show();
    } else return;
    event.preventDefault();
  }

  private async run(pattern: string, load: string): Promise<void> {
    this.say("runs ...");
    const ran = await ask("run", JSON.stringify({ text: this.text, pattern, load })) as Ran;
    if (ran.fault !== undefined) return this.say(ran.fault.message, true);
    this.ran = ran;
    this.whole = true;
    this.say(`${ran.summary ?? ""}${ran.loads.length > 0 ? ". The fullest links are thick and red, the emptiest thin and blue." : ""}`);
    this.show();
  }

  private async watch(program: string): Promise<void> {
    this.say("runs ...");
    // At once: a page that opens long after the click is taken for an advertisement.
    const page = window.open();
    const { fault } = await ask("watch", JSON.stringify({ text: this.text, program })) as Checked;
    if (fault !== undefined) {
      page?.close();
      return this.say(fault.message, true);
    }
    const address = new URL("watched", location.href).href;
    if (page === null) return this.say(`The run is on ${address}`);
    page.location.href = address;
    this.say("The run is on a page of its own.");
  }

  // ---- what is shown ----

  private show(): void {
    const composite = this.composite();
    find("#file").textContent = this.file + (this.text === this.saved ? "" : " (changed)");
    this.undo.disabled = this.past.length === 0;
    this.redo.disabled = this.future.length === 0;
    find("#tools").replaceChildren(this.undo, this.redo, this.save, ...(this.served ? this.runners() : []));
    const area = find<HTMLTextAreaElement>("#text");
    if (area.value !== this.text) area.value = this.text;
    this.showLibrary();
    this.showViews();
    if (this.whole && this.flat !== null) this.drawing.machine(this.flat, this.ran);
    else this.drawing.parts(composite, this.kinds, this.chosen, this.from, this.wrongLine);
    this.showAbout(composite);
    this.showResult();
    document.documentElement.dataset["parts"] = String(composite.parts.length);
    document.documentElement.dataset["links"] = String(composite.links.length);
  }

  private pattern = "uniform";
  private load = "0.1";
  private program = "";

  private runners(): HTMLElement[] {
    const field = (name: string, value: string, set: (value: string) => void, words: readonly string[] = []): HTMLElement => {
      const input = element("input");
      input.value = value;
      input.size = 9;
      input.id = `run-${name}`;
      input.addEventListener("change", () => set(input.value));
      return this.suggest(element("label", "", name, " ", input), input, `list-run-${name}`, words);
    };
    return [
      field("pattern", this.pattern, (value) => (this.pattern = value), kPatterns), field("load", this.load, (value) => (this.load = value)),
      button("Run", "Traffic at this load, or the queues for a second", () => void this.run(this.pattern, this.load)),
      field("program", this.program, (value) => (this.program = value)),
      button("Watch", "A recorded or text program on the machine, or its queues, as a page", () => void this.watch(this.program)),
    ];
  }

  private showLibrary(): void {
    const group = (title: string, kinds: Kind[]): HTMLElement[] => (kinds.length === 0 ? [] : [
      element("h2", "", title), ...kinds.map((kind) => {
        const node = button(kind.name, kind.help, () => this.add(kind.name));
        node.dataset["kind"] = kind.name;
        return node;
      }),
    ]);
    const all = [...this.kinds.values()];
    find("#library").replaceChildren(...group("Your kinds", all.filter(({ what, name }) => what !== "behaviour" && name !== this.inside)),
      ...group("Library", all.filter(({ what }) => what === "behaviour")));
  }

  private showViews(): void {
    const names = readMachine(this.text).map(({ name }) => name);
    const all = [...new Set([...names, "machine", this.inside])];
    const go = (name: string): void => {
      this.inside = name;
      this.chosen = null;
      this.whole = false;
      this.show();
    };
    const boxes = choice("box", all.map((name) => [name, name] as const), go);
    const fresh = button("New box", "A composite: a part that is made of parts", () => {
      for (let n = 1; ; n++) if (!all.includes(`box${n}`)) return go(`box${n}`);
    });
    boxes.select.value = this.inside;
    const whole = button("Whole machine", "Every entity, and how loaded the links are", () => {
      this.whole = !this.whole;
      this.show();
    });
    whole.setAttribute("aria-pressed", String(this.whole));
    whole.disabled = this.flat === null;
    find("#views").replaceChildren(boxes.label, fresh, whole);
  }

  private showAbout(composite: Composite): void {
    const about = find("#about");
    const chosen = this.chosen;
    if (chosen === null) {
      about.replaceChildren(element("p", "help", this.from === null
        ? "Take a part from the library. Click a port, then one that fits (green), to join them. Delete removes what is chosen."
        : `From ${this.from.part}.${this.from.port}: click a green port. Escape leaves it.`),
        ...(this.inside === "machine" || composite.parts.length === 0 ? [] : [this.portField(composite)]));
      return;
    }
    if ("link" in chosen) {
      const link = composite.links[chosen.link];
      if (link === undefined) return about.replaceChildren();
      const set = (key: string) => (value: string) => this.change(setEntry(this.text, link.table, key, value === "" ? null : quoted(value)), chosen);
      about.replaceChildren(element("h2", "", `${String(link.values["from"])} to ${String(link.values["to"])}`),
        this.input("from", "", link.values["from"], set("from")), this.input("to", "", link.values["to"], set("to")),
        this.input("latency", "a time, 100ns", link.values["latency"], set("latency")), this.input("bandwidth", "a rate, 10GB/s", link.values["bandwidth"], set("bandwidth")),
        button("Remove", "Delete", () => this.remove()));
      return;
    }
    const part = composite.parts.find(({ name }) => name === chosen.part);
    if (part !== undefined) about.replaceChildren(...this.partFields(part));
  }

  // The ports that a box has outside, and whose they are inside.
  private portField(composite: Composite): HTMLElement {
    const table = scan(this.text).find(({ path }) => path === `composite.${composite.name}`);
    const entry = table?.entries.find(({ key }) => key === "ports");
    const written = entry === undefined ? "" : inlineEntries(this.text, entry.value).map(({ key, value }) => `${key} = ${String(valueOf(this.text, value))}`).join(", ");
    return this.input("ports", `that others see of ${composite.name}: net = nic.net, ...`, written, (value) => {
      const ports = value.split(",").filter((one) => one.trim() !== "").map((one) => one.split("=").map((word) => word.trim()));
      const line = `{ ${ports.map(([name, inside]) => `${name} = ${quoted(inside ?? "")}`).join(", ")} }`;
      const last = composite.links[composite.links.length - 1]?.table ?? composite.last;
      this.change(table !== undefined ? setEntry(this.text, table, "ports", line) : addTable(this.text, `[composite.${composite.name}]`, [`ports = ${line}`], last), null);
    });
  }

  private partFields(part: Part): HTMLElement[] {
    const chosen = { part: part.name };
    const kind = this.kinds.get(part.kind);
    const set = (key: string, wrap = quoted) => (value: string) =>
      this.change(setEntry(this.text, part.table, key, value === "" ? null : wrap(value)), key === "name" ? { part: value } : chosen);
    const written = parametersOf(this.text, part);
    const template = this.input("template", "one for each processor of a topology", part.values["template"], set("template"), kTemplates);
    const level = choice("level", [["", "usual"], ...(kind?.levels ?? []).map((name) => [name, name] as const)], set("level"));
    level.select.value = typeof part.values["level"] === "string" ? part.values["level"] : "";
    level.select.id = "field-level";
    return [
      element("h2", "", part.name), element("p", "help", kind?.help ?? `'${part.kind}' is not known yet`),
      this.input("name", "", part.name, set("name")), template,
      this.input("count", "n of these", part.values["count"], set("count", (value) => (value.startsWith("$") ? quoted(value) : value))), level.label,
      ...(kind?.parameters ?? []).map((spec) => this.input(spec.name, `${spec.type}, ${spec.usual === "" ? "must be given" : spec.usual}: ${spec.help}`,
        written.get(spec.name)?.replace(/^"(.*)"$/, "$1"), (value) => {
          const wrap = spec.quoted || value.startsWith("$");
          this.change(setInner(this.text, part.table, "parameters", spec.name, value === "" ? null : wrap ? quoted(value) : value), chosen);
        }, spec.choices)),
      button("Remove", "Delete", () => this.remove()),
    ];
  }

  private input(name: string, help: string, value: unknown, set: (value: string) => void, list: readonly string[] = []): HTMLElement {
    const input = element("input");
    input.id = `field-${name}`;
    input.value = value === undefined ? "" : String(value);
    input.addEventListener("change", () => set(input.value.trim()));
    return this.suggest(element("label", "", name, " ", element("span", "unit", help), input), input, `list-${name}`, list);
  }

  // Words that may stand in a field.
  private suggest(label: HTMLElement, input: HTMLInputElement, id: string, list: readonly string[]): HTMLElement {
    if (list.length === 0) return label;
    const words = element("datalist");
    words.id = id;
    for (const word of list) words.append(new Option(word));
    input.setAttribute("list", id);
    label.append(words);
    return label;
  }

  private showResult(): void {
    const { rows } = this.ran ?? {};
    if (rows === undefined || rows.length === 0) return find("#result").replaceChildren();
    const cells = (tag: "th" | "td", row: readonly string[]): HTMLElement => element("tr", "", ...row.map((word) => element(tag, "", word)));
    find("#result").replaceChildren(element("table", "", cells("th", rows[0]!), ...rows.slice(1).map((row) => cells("td", row))));
  }
}

void new Editor().start();
