// A second window on the run of the time lines above, with a view of its own: the same rows at
// another time, or another scale. What is chosen, found or hidden is so in both.
import { button, element } from "../dom";
import { formatTime } from "../format";
import type { EventRef, Model } from "../model";
import { Stage } from "../stage";
import { clampInterval } from "../viewport";
import type { Desk, Tool } from "./desk";

const kFrame = 5; // ms that a frame may spend on bars

export class DetailTool implements Tool {
  readonly id = "detail";
  readonly title = "Detail";
  readonly body = element("section");
  private readonly host = element("div", "second-view");
  private readonly told = element("span", "hint");
  private of: Model | null = null;
  stage: Stage | null = null;
  private pending = false;

  constructor(
    private readonly desk: Desk,
    private readonly unfold: (rank: number) => void,
  ) {
    this.body.append(element("div", "tool-line",
      button("here", "Show the view of the time lines above here", () => this.take()),
      button("swap", "Exchange this view and that of the time lines above", () => this.swap()), this.told), this.host);
  }

  update(): void {
    const { model } = this.desk;
    if (this.of !== model) this.build(model);
    this.draw();
  }

  close(): void {
    if (this.of === null) return;
    this.of.detail = null;
    this.desk.redraw();
  }

  // What lies between O and X, else the middle of what is above.
  private build(model: Model): void {
    if (this.of !== null) this.of.detail = null;
    this.of = model;
    const { t0, t1 } = model.view;
    const { markO, markX } = model;
    const marked = markO !== null && markX !== null && markO !== markX;
    const view = marked ? { t0: Math.min(markO, markX), t1: Math.max(markO, markX) } : { t0: t0 + 0.4 * (t1 - t0), t1: t1 - 0.4 * (t1 - t0) };
    const twin = model.twin(clampInterval(view, model.end));
    this.host.replaceChildren();
    this.stage = new Stage(twin, this.host, 1, {
      redraw: () => this.changed(),
      refresh: () => this.desk.redraw(),
      choose: (_, ref: EventRef | null) => this.desk.choose(ref),
      stepPath: () => undefined,
      unfold: (stage, row) => this.unfold(stage.model.rows.list[row]!.ranks[0]!),
      act: () => false,
      scrolls: false,
    });
    const { front, controls } = this.stage;
    front.setAttribute("aria-label", `Detail: a second window on ${model.trace.ranks.length} ranks. The arrow keys move it, plus and minus zoom.`);
    front.addEventListener("keydown", (event) => controls.key(event));
  }

  private changed(): void {
    this.draw();
    this.desk.redraw();
  }

  private draw(): void {
    const { stage, of } = this;
    if (stage === null || of === null) return;
    const { view } = stage.model;
    if (of.detail?.t0 !== view.t0 || of.detail.t1 !== view.t1) {
      of.detail = view;
      this.desk.redraw();
    }
    this.told.textContent = `${formatTime(view.t1 - view.t0)} from ${formatTime(Math.round(view.t0))} on`;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.body.hidden) return;
      const { complete } = stage.drawBars(performance.now() + kFrame);
      stage.drawFront();
      if (!complete) this.draw();
    });
  }

  private take(): void {
    this.stage!.controls.show(this.of!.view.t0, this.of!.view.t1);
  }

  private swap(): void {
    const { t0, t1 } = this.stage!.model.view;
    this.take();
    this.desk.show(t0, t1);
  }
}
