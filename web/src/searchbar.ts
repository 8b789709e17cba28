// The search field: hits are marked while the words are typed; Enter and shift + Enter walk.
import { find, element } from "./dom";
import type { Desk } from "./dock/desk";
import { parseQuery, search } from "./search";

export class SearchBar {
  private readonly field = find<HTMLInputElement>("#search");
  private readonly count = find("#hits");
  private timer: number | undefined;

  constructor(private readonly desk: Desk) {
    this.field.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.run(), desk.model.trace.events > 200000 ? 400 : 80);
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") this.ask("");
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    find("#hit-next").addEventListener("click", () => this.step(1));
    find("#hit-back").addEventListener("click", () => this.step(-1));
    this.suggest();
  }

  get query(): string {
    return this.field.value;
  }

  focus(): void {
    this.field.focus();
    this.field.select();
  }

  ask(query: string): void {
    this.field.value = query;
    this.run();
  }

  // To the next event found, or the one before.
  step(direction: 1 | -1): boolean {
    const { desk } = this;
    if (this.dirty) this.run();
    const { found, selected, view } = desk.model;
    if (found === null) return false;
    const next = found.set.step(selected, direction, direction > 0 ? view.t0 : view.t1);
    if (next === null) return false;
    desk.reveal(next);
    return true;
  }

  // What the marks are, beside the field.
  tell(): void {
    const { found, selected } = this.desk.model;
    for (const id of ["#hit-next", "#hit-back"]) find<HTMLButtonElement>(id).disabled = found === null || found.set.count === 0;
    if (this.field.getAttribute("aria-invalid") === "true") return;
    const place = found !== null && selected !== null && found.set.has(selected) ? `${found.set.place(selected) + 1} of ` : "";
    const name = found !== null && this.field.value === "" ? ` ${found.what}` : "";
    this.count.textContent = found === null ? "" : `${place}${found.set.count}${name}`;
  }

  private asked = "";

  private get dirty(): boolean {
    return this.asked !== this.field.value;
  }

  private run(): void {
    window.clearTimeout(this.timer);
    const text = (this.asked = this.field.value);
    this.field.removeAttribute("aria-invalid");
    try {
      const terms = parseQuery(text);
      this.desk.find(terms.length === 0 ? null : { what: text, set: search(this.desk.model.trace, terms), messages: null });
    } catch (error) {
      this.field.setAttribute("aria-invalid", "true");
      this.desk.find(null);
      this.count.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  private suggest(): void {
    const { head, shapes } = this.desk.model.trace;
    const names = new Set([...shapes.map((shape) => head.names[shape.name]!), ...head.places].filter((name) => name !== "" && name !== undefined));
    find("#suggestions").append(...[...names].slice(0, 200).map((name) => {
      const option = element("option");
      option.value = name.includes(" ") ? `"${name}"` : name;
      return option;
    }));
  }
}
