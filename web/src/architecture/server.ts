// What the editor asks the tool: src/cli/pages/architecture_editor.cpp.
import type { Flat } from "./drawing";
import type { Kind } from "./machine";

export interface Fault {
  readonly message: string;
  readonly line: number; // of the file that is edited; 0: elsewhere
}

export interface Checked {
  readonly fault?: Fault;
  readonly kinds?: readonly Kind[];
  readonly flat?: Flat;
}

export interface Ran {
  readonly fault?: Fault;
  readonly summary?: string;
  readonly rows?: readonly (readonly string[])[];
  readonly loads: readonly (readonly [from: string, to: string, load: number])[];
}

// Throws where there is no tool.
export async function ask(what: string, body?: string): Promise<unknown> {
  if (!window.location.protocol.startsWith("http")) throw new Error("no tool");
  const answer = await fetch(what, body === undefined ? { cache: "no-store" } : { method: "POST", body, cache: "no-store" });
  if (!answer.ok) throw new Error(`the tool answers ${answer.status}`);
  return answer.json();
}
