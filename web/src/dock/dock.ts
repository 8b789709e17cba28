// The lower window: one tool at a time, chosen by tabs.
import { element } from "../dom";
import type { Tool } from "./desk";

const kDelay = 120; // ms that the view stands still before a tool is brought up to date

export class Dock {
  private readonly tabs = new Map<string, HTMLButtonElement>();
  private timer: number | undefined;
  open: Tool | null = null;

  constructor(
    private readonly host: HTMLElement,
    private readonly tools: readonly Tool[],
    private readonly changed: () => void, // the room for the time lines has
  ) {
    const list = element("div", "tabs");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Tools");
    for (const tool of tools) {
      const tab = element("button", "tab", tool.title);
      tab.type = "button";
      tab.id = `tab-${tool.id}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", `tool-${tool.id}`);
      tab.addEventListener("click", () => this.show(this.open === tool ? null : tool.id));
      tab.addEventListener("keydown", (event) => this.walk(event, tool));
      list.append(tab);
      this.tabs.set(tool.id, tab);
      tool.body.id = `tool-${tool.id}`;
      tool.body.classList.add("tool");
      tool.body.setAttribute("role", "tabpanel");
      tool.body.setAttribute("aria-labelledby", tab.id);
      tool.body.tabIndex = 0;
      tool.body.dataset["ownKeys"] = "";
    }
    host.append(list, ...tools.map((tool) => tool.body));
    this.show(null);
  }

  show(id: string | null): void {
    const before = this.open;
    this.open = this.tools.find((tool) => tool.id === id) ?? null;
    if (before !== this.open) before?.close?.();
    for (const tool of this.tools) {
      const chosen = tool === this.open;
      const tab = this.tabs.get(tool.id)!;
      tool.body.hidden = !chosen;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen || (this.open === null && tool === this.tools[0]) ? 0 : -1;
    }
    this.host.classList.toggle("open", this.open !== null);
    this.host.dataset["tool"] = this.open?.id ?? "";
    this.open?.update();
    this.changed();
  }

  // Later, when the view stands still.
  update(): void {
    if (this.open === null) return;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.open?.update(), kDelay);
  }

  private walk(event: KeyboardEvent, from: Tool): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = this.tools[(this.tools.indexOf(from) + step + this.tools.length) % this.tools.length]!;
    event.preventDefault();
    event.stopPropagation();
    this.show(next.id);
    this.tabs.get(next.id)!.focus();
  }
}
