// The drawing: a composite's parts with their ports and links, or the whole machine as the tool has
// laid it out, its links as thick as they are loaded. It draws; what is done to it comes back by
// `Hands`.
import { fits, places, type Composite, type End, type Kind, type Link, type Part } from "./machine";

export interface Flat {
  readonly entities: readonly (readonly [path: string, kind: string, x: number, y: number, level: string])[];
  readonly links: readonly (readonly [from: number, to: number])[];
}

export interface Loads {
  readonly loads: readonly (readonly [from: string, to: string, load: number])[];
}

export type Chosen = { readonly part: string } | { readonly link: number } | null;

export interface Hands {
  choose(chosen: Chosen): void;
  port(end: End): void;
  moved(part: Part, x: number, y: number): void; // to, in a square of side 1
}

const kBox = { width: 120, height: 56 };

function svg(tag: string, attributes: { [name: string]: string | number }, ...children: (Node | string)[]): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

// Enter and space do what a click does.
function operable(node: SVGElement, name: string, action: () => void): void {
  node.setAttribute("tabindex", "0");
  node.setAttribute("role", "button");
  node.setAttribute("aria-label", name);
  node.addEventListener("click", (event) => {
    event.stopPropagation();
    action();
  });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });
}

export class Drawing {
  private width = 1000; // as many units as pixels, so that nothing is drawn out
  private height = 640;

  constructor(private readonly root: SVGSVGElement, private readonly hands: Hands) {
    root.addEventListener("click", () => hands.choose(null));
  }

  private fit(): void {
    this.width = Math.max(200, this.root.clientWidth);
    this.height = Math.max(200, this.root.clientHeight);
    this.root.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  parts(composite: Composite, kinds: ReadonlyMap<string, Kind>, chosen: Chosen, from: End | null, wrongLine: number): void {
    this.fit();
    const at = places(composite);
    const middle = (name: string): readonly [number, number] => {
      const [x, y] = at.get(name) ?? [0.5, 0.5];
      return [x * this.width, y * this.height];
    };
    const portOf = (end: End): readonly [number, number] => {
      const [x, y] = middle(end.part);
      const ports = kinds.get(composite.parts.find((part) => part.name === end.part)?.kind ?? "")?.ports ?? [];
      const n = ports.findIndex((port) => port.name === end.port);
      return [x - kBox.width / 2 + (kBox.width * (Math.max(0, n) + 1)) / (ports.length + 1), y + kBox.height / 2];
    };
    const wrong = (table: { first: number; last: number }): string => (wrongLine >= table.first && wrongLine <= table.last ? " wrong" : "");
    this.root.replaceChildren(
      ...composite.links.map((link, i) => this.link(link, i, portOf(link.from), portOf(link.to), chosen, wrong(link.table))),
      ...composite.parts.map((part) => this.part(part, middle(part.name), chosen, wrong(part.table))),
      ...composite.parts.flatMap((part) => (kinds.get(part.kind)?.ports ?? []).map((port) => {
        const end = { part: part.name, port: port.name };
        const isFrom = from?.part === end.part && from.port === end.port;
        const state = from === null ? "" : isFrom ? " from" : fits(composite, kinds, from, end) ? " fits" : " unfit";
        const [cx, cy] = portOf(end);
        const dot = svg("circle", { cx, cy, r: 9, class: `port${state}`, "data-port": `${end.part}.${end.port}` });
        if (state === " unfit") dot.setAttribute("aria-disabled", "true");
        operable(dot, `port ${end.part}.${end.port}${state === " fits" ? ", fits" : ""}`, () => this.hands.port(end));
        return dot;
      })));
  }

  private link(link: Link, i: number, [x0, y0]: readonly [number, number], [x1, y1]: readonly [number, number], chosen: Chosen, wrong: string): SVGElement {
    const path = `M${x0} ${y0} C${x0} ${y0 + 60} ${x1} ${y1 + 60} ${x1} ${y1}`;
    const mine = chosen !== null && "link" in chosen && chosen.link === i;
    const group = svg("g", { class: `${mine ? "chosen" : ""}${wrong}`, "data-link": i },
      svg("path", { d: path, class: "link" }), svg("path", { d: path, class: "link grip" }));
    operable(group, `link ${link.from.part}.${link.from.port} to ${link.to.part}.${link.to.port}`, () => this.hands.choose({ link: i }));
    return group;
  }

  private part(part: Part, [x, y]: readonly [number, number], chosen: Chosen, wrong: string): SVGElement {
    const mine = chosen !== null && "part" in chosen && chosen.part === part.name;
    const count = part.values["count"];
    const more = part.template !== "" ? part.template : count !== undefined ? `${String(count)} of these` : "";
    const group = svg("g", { class: `${mine ? "chosen" : ""}${wrong}`, "data-part": part.name, transform: `translate(${x} ${y})` },
      svg("rect", { class: "box", x: -kBox.width / 2, y: -kBox.height / 2, width: kBox.width, height: kBox.height, rx: 6 }),
      svg("text", { "aria-hidden": "true", y: more === "" ? -2 : -8, "font-size": 17, "font-weight": 600 }, part.name), " ",
      svg("text", { "aria-hidden": "true", y: more === "" ? 16 : 8, "font-size": 14 }, part.kind), " ",
      svg("text", { "aria-hidden": "true", y: 22, "font-size": 12 }, more));
    operable(group, `${part.name} ${part.kind} ${more}`.trim(), () => this.hands.choose({ part: part.name }));
    group.addEventListener("pointerdown", (event) => this.drag(event as PointerEvent, group, part, x, y));
    return group;
  }

  // A part follows the pointer until it is let go.
  private drag(down: PointerEvent, group: SVGElement, part: Part, x: number, y: number): void {
    const box = this.root.getBoundingClientRect();
    const scale = [this.width / box.width, this.height / box.height] as const;
    const place = (event: PointerEvent): readonly [number, number] =>
      [x + (event.clientX - down.clientX) * scale[0], y + (event.clientY - down.clientY) * scale[1]];
    const move = (event: PointerEvent): void => group.setAttribute("transform", `translate(${place(event).join(" ")})`);
    const up = (event: PointerEvent): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) return;
      const [left, top] = place(event);
      this.hands.moved(part, left / this.width, top / this.height);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
  }

  // Every entity and link; links from blue to red with their load.
  machine(flat: Flat, result: Loads | null): void {
    this.fit();
    const most = Math.max(0, ...(result?.loads ?? []).map(([, , load]) => load));
    const loads = new Map((result?.loads ?? []).map(([a, b, load]) => [`${a} ${b}`, load]));
    const at = flat.entities.map(([, , x, y]) => [30 + x * (this.width - 60), 30 + y * (this.height - 60)] as const);
    const size = Math.max(4, Math.min(26, 300 / Math.sqrt(Math.max(1, flat.entities.length))));
    const line = (a: number, b: number): SVGElement => {
      const [from, to] = [flat.entities[a]![0], flat.entities[b]![0]];
      const load = Math.max(loads.get(`${from} ${to}`) ?? 0, loads.get(`${to} ${from}`) ?? 0);
      const share = most > 0 ? load / most : 0;
      const node = svg("line", {
        x1: at[a]![0], y1: at[a]![1], x2: at[b]![0], y2: at[b]![1], "stroke-width": 1.5 + 7 * share,
        stroke: load > 0 ? `hsl(${Math.round(220 * (1 - share))} 75% 48%)` : "var(--rule)", "data-load": load.toFixed(3),
      });
      node.append(svg("title", {}, `${from} - ${to}: ${load.toFixed(3)} flits a cycle`));
      return node;
    };
    this.root.replaceChildren(
      ...flat.links.map(([a, b]) => line(a, b)),
      ...flat.entities.map(([path, kind], i) => {
        const [x, y] = at[i]!;
        const shape = kind === "processor"
          ? svg("rect", { x: x - size / 2, y: y - size / 2, width: size, height: size, fill: "var(--c0)" })
          : svg("circle", { cx: x, cy: y, r: size / 2, fill: "var(--c2)" });
        shape.append(svg("title", {}, `${path}: ${kind}`));
        return shape;
      }),
      ...(flat.entities.length > 40 ? [] : flat.entities.map(([path], i) => svg("text", { x: at[i]![0], y: at[i]![1] + size / 2 + 13, "font-size": 12 }, path))));
  }
}
