// What a tool of the lower window may do with the page, and what the page does with it.
import type { Layout } from "../layout";
import type { EventRef, Found, Model } from "../model";

export interface Desk {
  readonly model: Model; // of the run that was touched last
  readonly models: readonly Model[];
  readonly layout: Layout; // of its time lines
  redraw(): void;
  reveal(ref: EventRef): void; // chooses an event and shows it
  choose(ref: EventRef | null): void;
  show(t0: number, t1: number): void;
  showRank(rank: number): void;
  find(found: Found | null): void; // marks events
  say(text: string): void; // in the status line, also to a screen reader
}

export interface Tool {
  readonly id: string;
  readonly title: string;
  readonly body: HTMLElement;
  close?(): void; // it is open no more
  update(): void; // the view, what was found or the run has changed; only while it is open
}
