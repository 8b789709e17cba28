// The state of the view in the page's address, so that a link leads back to it.
import type { Model, EventRef } from "./model";
import { readNotes, writeNotes } from "./notes";
import { clampInterval } from "./viewport";

export interface State {
  readonly query: string;
  readonly tool: string | null;
  readonly order: string;
  readonly grouping: string;
}

// Only what differs from the page as it opens.
export function writeState(model: Model, state: State): string {
  const words = new URLSearchParams();
  const { view, end, selected } = model;
  if (view.t0 > 0 || view.t1 < end) words.set("t", `${Math.round(view.t0)}-${Math.round(view.t1)}`);
  if (model.zoomY > 1) words.set("rows", model.zoomY.toPrecision(4));
  if (model.scroll > 0) words.set("scroll", model.scroll.toFixed(0));
  if (model.showMessages) words.set("messages", "1");
  if (!model.shares) words.set("shares", "0");
  if (model.hidden.size > 0) words.set("hidden", [...model.hidden].sort((a, b) => a - b).join("."));
  if (selected !== null) words.set("event", `${selected.rank}.${selected.event}${selected.compute ? "c" : ""}`);
  for (const [name, t] of [["O", model.markO], ["X", model.markX], ["at", model.cursor]] as const)
    if (t !== null) words.set(name, String(Math.round(t)));
  if (state.query !== "") words.set("find", state.query);
  if (state.tool !== null) words.set("tool", state.tool);
  if (state.order !== "rank") words.set("order", state.order);
  if (state.grouping !== "none") words.set("group", state.grouping);
  for (const note of writeNotes(model.notes)) words.append("note", note);
  return words.toString();
}

function eventOf(model: Model, text: string | null): EventRef | null {
  const found = /^(\d+)\.(\d+)(c?)$/.exec(text ?? "");
  if (found === null) return null;
  const ref = { rank: Number(found[1]), event: Number(found[2]), compute: found[3] === "c" };
  return ref.event < (model.trace.ranks[ref.rank]?.count ?? 0) ? ref : null;
}

// Takes what makes sense of an address; the rest is left as it is.
export function readState(model: Model, hash: string): State & { readonly selected: EventRef | null } {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const view = /^(\d+)-(\d+)$/.exec(words.get("t") ?? "");
  if (view !== null && Number(view[2]) > Number(view[1]))
    model.view = clampInterval({ t0: Number(view[1]), t1: Number(view[2]) }, model.end);
  const number = (name: string): number | null => {
    const value = words.get(name);
    return value !== null && value !== "" && Number.isFinite(Number(value)) && Number(value) >= 0 ? Number(value) : null;
  };
  model.zoomY = Math.max(1, number("rows") ?? 1);
  model.scroll = number("scroll") ?? 0;
  model.showMessages = words.get("messages") === "1";
  model.shares = words.get("shares") !== "0";
  model.markO = number("O");
  model.markX = number("X");
  model.cursor = number("at");
  for (const state of (words.get("hidden") ?? "").split(".")) if (/^\d+$/.test(state)) model.hidden.add(Number(state));
  model.notes = readNotes(words.getAll("note"), model.trace.ranks.length);
  return {
    query: words.get("find") ?? "", tool: words.get("tool"), order: words.get("order") ?? "rank",
    grouping: words.get("group") ?? "none", selected: eventOf(model, words.get("event")),
  };
}
