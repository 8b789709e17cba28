// Notes: written at the chosen event, kept in the address.
import { button, element } from "../dom";
import { formatTime } from "../format";
import type { Note } from "../notes";
import type { Desk, Tool } from "./desk";

export class NotesTool implements Tool {
  readonly id = "notes";
  readonly title = "Notes";
  readonly body = element("section");
  private readonly text = element("input", "note-text");
  private readonly list = element("ol", "notes-list");

  constructor(private readonly desk: Desk) {
    this.text.type = "text";
    this.text.placeholder = "a note at the chosen event";
    this.text.setAttribute("aria-label", "Note at the chosen event");
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.add();
    });
    this.body.append(element("div", "tool-line", this.text, button("pin", "Pin the note to the chosen event", () => this.add()),
      button("copy address", "The page's address holds the view and the notes", () => this.copy()),
      element("span", "hint", "Notes live in the page's address: bookmark or copy it.")), this.list);
  }

  add(): void {
    const { model } = this.desk;
    const words = this.text.value.trim();
    if (words === "") return;
    const { selected, view } = model;
    const note: Note = selected === null
      ? { rank: model.phaseRank, at: Math.round((view.t0 + view.t1) / 2), text: words }
      : { rank: selected.rank, at: Math.round(model.spanOf(selected).from), text: words };
    this.set([...model.notes, note]);
    this.text.value = "";
  }

  private set(notes: readonly Note[]): void {
    this.desk.model.notes = notes;
    this.update();
    this.desk.redraw();
  }

  private copy(): void {
    const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error("no clipboard"));
    copied.then(() => this.desk.say("address copied"), () => this.desk.say("the browser does not let pages copy; take the address from its bar"));
  }

  update(): void {
    const { model } = this.desk;
    this.list.replaceChildren(...model.notes.map((note) => element("li", "",
      button(`rank ${note.rank}, ${formatTime(note.at)}`, "Show the place", () => {
        this.desk.showRank(note.rank);
        const half = (model.view.t1 - model.view.t0) / 2;
        this.desk.show(note.at - half, note.at + half);
      }), ` ${note.text} `,
      button("remove", `Remove the note “${note.text}”`, () => this.set(model.notes.filter((each) => each !== note))))));
  }
}
