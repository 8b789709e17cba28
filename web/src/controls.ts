// Pointer and keyboard: turns them into changes of the model's view.
import { type Layout, maxScroll, rowAt } from "./layout";
import type { EventRef, Model } from "./model";
import { eventAt, markAt } from "./tooltip";
import { clampInterval, panBy, xToTime, zoomAt } from "./viewport";

export interface Surface {
  readonly layout: () => Layout;
  readonly redraw: () => void; // bars and what lies above them
  readonly refresh: () => void; // only what lies above
  readonly choose: (ref: EventRef | null) => void;
  readonly stepPath: (direction: 1 | -1) => void;
  readonly unfold: (row: number) => void; // a row that stands for several ranks
  readonly act: (key: string, shift: boolean) => boolean; // keys that mean something to the page; true if it did
  readonly scrolls: boolean; // the page itself does: the wheel zooms only where the focus is here
}

type Zone = "overview" | "axis" | "labels" | "rows";

interface Drag {
  readonly zone: Zone;
  readonly x: number;
  readonly y: number;
  readonly t0: number;
  readonly t1: number;
  readonly scroll: number;
  moved: boolean;
}

interface Point {
  x: number;
  y: number;
}

// Two fingers: where they were, and what was in view then.
interface Pinch {
  readonly from: readonly [Point, Point];
  readonly t0: number;
  readonly t1: number;
  readonly zoomY: number;
  readonly scroll: number;
}

// Whether a key belongs to the element that has the focus.
function typesInto(target: HTMLElement, key: string, canvas: HTMLElement): boolean {
  if (target instanceof HTMLInputElement && target.type === "checkbox") return key === " ";
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLButtonElement) return key === " " || key === "Enter";
  // A key that is sent to the window itself has no place.
  const owner = target instanceof Element ? target.closest("[data-own-keys]") : null;
  return owner !== null && !owner.contains(canvas) && key !== "Escape";
}

const kPinchReach = 40; // pixels between the fingers along an axis from which it is zoomed

export class Controls {
  pointer: { x: number; y: number } | null = null;
  range: { from: number; to: number } | null = null; // pixels, while dragging on the axis
  private drag: Drag | null = null;
  private pinch: Pinch | null = null;
  private readonly fingers = new Map<number, Point>();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly model: Model,
    private readonly surface: Surface,
  ) {
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => {
      this.lift(event);
      this.cancel();
    });
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", () => this.zoomToEvent());
  }

  get dragging(): boolean {
    return this.drag?.moved ?? false;
  }

  // The event under the pointer.
  hovered(): EventRef | null {
    if (this.pointer === null || this.dragging) return null;
    const layout = this.surface.layout();
    const rank = this.model.rows.rank(rowAt(layout, this.model.rows.count, this.model.scroll, this.pointer.y));
    const t = this.timeAt(this.pointer.x);
    if (rank < 0 || t === null) return null;
    const { t0, t1 } = this.model.view;
    return markAt(this.model, rank, t, (4 / layout.plot) * (t1 - t0)) ?? eventAt(this.model, rank, t);
  }

  zoom(factor: number, fraction = 0.5): void {
    this.model.view = zoomAt(this.model.view, this.model.end, fraction, factor);
    this.surface.redraw();
  }

  show(t0: number, t1: number): void {
    this.model.view = clampInterval({ t0, t1 }, this.model.end);
    this.surface.redraw();
  }

  showMarks(): void {
    const { markO, markX } = this.model;
    if (markO === null || markX === null || markO === markX) return;
    this.show(Math.min(markO, markX), Math.max(markO, markX));
  }

  // Shows [from, to] of a rank with a margin around it.
  showSpan(rank: number, from: number, to: number): void {
    const { model } = this;
    this.showRank(rank);
    const margin = Math.max(1.5 * (to - from), model.end / 1e4);
    this.show(from - margin, to + margin);
  }

  // Scrolls to a rank's row.
  showRank(rank: number): void {
    const layout = this.surface.layout();
    const row = this.model.rows.of[rank]!;
    if (row >= 0) this.scrollTo((row + 0.5) * layout.rowPitch - layout.rowsHeight / 2);
  }

  reset(): void {
    this.model.zoomY = 1;
    this.model.scroll = 0;
    this.show(0, this.model.end);
  }

  // Zooms the rows; what lies at `y` of them stays where it is.
  zoomRows(factor: number, y?: number): void {
    const layout = this.surface.layout();
    const at = y === undefined ? layout.rowsHeight / 2 : Math.min(layout.rowsHeight, Math.max(0, y - layout.rowsTop));
    this.setRows(this.model.zoomY * factor, this.model.zoomY, this.model.scroll + at, at);
    this.surface.redraw();
  }

  // Zooms the rows to `zoomY`; what was `content` pixels from the first rank's top at
  // `before` comes to `at` pixels from the top of the rows.
  private setRows(zoomY: number, before: number, content: number, at: number): void {
    const { model } = this;
    const { maxZoomY, fitPitch, rowsHeight } = this.surface.layout();
    model.zoomY = Math.min(maxZoomY, Math.max(1, zoomY));
    const limit = Math.max(0, model.rows.count * fitPitch * model.zoomY - rowsHeight);
    model.scroll = Math.min(limit, Math.max(0, content * (model.zoomY / before) - at));
  }

  private timeAt(x: number): number | null {
    const { left, plot } = this.surface.layout();
    return x < left || x > left + plot ? null : xToTime(this.model.view, plot, x - left);
  }

  private zoneAt(x: number, y: number): Zone {
    const layout = this.surface.layout();
    if (y < layout.axisTop - 3) return "overview";
    if (y < layout.axisTop + layout.axisHeight) return "axis";
    return x < layout.left ? "labels" : "rows";
  }

  private scrollTo(scroll: number): void {
    const layout = this.surface.layout();
    const limit = maxScroll(layout, this.model.rows.count);
    this.model.scroll = Math.min(Math.max(0, scroll), limit);
  }

  private wheel(event: WheelEvent): void {
    if (this.surface.scrolls && !event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const { model } = this;
    const layout = this.surface.layout();
    const pixels = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const down = event.deltaY * pixels;
    if (event.ctrlKey) {
      this.zoomRows(Math.exp(-down / 300), event.offsetY);
    } else if (event.offsetX < layout.left) {
      this.scrollTo(model.scroll + down);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const across = (event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) * pixels;
      model.view = panBy(model.view, model.end, across / layout.plot);
    } else {
      const fraction = Math.min(1, Math.max(0, (event.offsetX - layout.left) / layout.plot));
      model.view = zoomAt(model.view, model.end, fraction, Math.exp(-down / 400));
    }
    this.surface.redraw();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { model } = this;
    if (event.pointerType === "touch" && this.touch(event)) return;
    const { offsetX: x, offsetY: y } = event;
    const t = this.timeAt(x);
    if (t !== null && (event.shiftKey || event.altKey)) {
      if (event.shiftKey) model.markO = t;
      else model.markX = t;
      this.surface.refresh();
      event.preventDefault();
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    const { t0, t1 } = model.view;
    this.drag = { zone: this.zoneAt(x, y), x, y, t0, t1, scroll: model.scroll, moved: false };
    if (this.drag.zone === "overview") this.centreOn(x);
  }

  // A finger comes down; true if it is not the first.
  private touch(event: PointerEvent): boolean {
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.fingers.size < 2) return false;
    const { view, zoomY, scroll } = this.model;
    const [a, b] = [...this.fingers.values()];
    this.canvas.setPointerCapture(event.pointerId);
    this.cancel();
    this.pointer = null;
    this.pinch = { from: [{ ...a! }, { ...b! }], t0: view.t0, t1: view.t1, zoomY, scroll };
    return true;
  }

  // What lay under the two fingers stays under them.
  private moveFingers(pinch: Pinch): void {
    const { model } = this;
    const layout = this.surface.layout();
    const [a, b] = [...this.fingers.values()] as [Point, Point];
    const [a0, b0] = pinch.from;
    const ratio = (now: number, then: number): number =>
      Math.abs(then) < kPinchReach ? 1 : Math.max(Math.abs(now), 8) / Math.abs(then);
    const from = { t0: pinch.t0, t1: pinch.t1 };
    const middle = (p: Point, q: Point, axis: "x" | "y"): number => (p[axis] + q[axis]) / 2;
    const x0 = middle(a0, b0, "x") - layout.left;
    const t = xToTime(from, layout.plot, x0);
    const span = (pinch.t1 - pinch.t0) / ratio(a.x - b.x, a0.x - b0.x);
    const t0 = t - ((middle(a, b, "x") - layout.left) / layout.plot) * span;
    model.view = clampInterval({ t0, t1: t0 + span }, model.end);
    const y0 = middle(a0, b0, "y") - layout.rowsTop;
    const zoomY = pinch.zoomY * ratio(a.y - b.y, a0.y - b0.y);
    this.setRows(zoomY, pinch.zoomY, pinch.scroll + y0, middle(a, b, "y") - layout.rowsTop);
    this.surface.redraw();
  }

  // A finger goes up; true if others had been there with it.
  private lift(event: PointerEvent): boolean {
    this.fingers.delete(event.pointerId);
    const pinched = this.pinch !== null;
    if (this.fingers.size < 2) this.pinch = null;
    return pinched;
  }

  private move(event: PointerEvent): void {
    const finger = this.fingers.get(event.pointerId);
    if (finger !== undefined) Object.assign(finger, { x: event.offsetX, y: event.offsetY });
    if (this.pinch !== null) {
      this.moveFingers(this.pinch);
      return;
    }
    this.pointer = { x: event.offsetX, y: event.offsetY };
    const { drag, model } = this;
    if (drag === null) {
      this.surface.refresh();
      return;
    }
    const dx = event.offsetX - drag.x;
    const dy = event.offsetY - drag.y;
    if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    drag.moved = true;
    const layout = this.surface.layout();
    if (drag.zone === "overview") {
      this.centreOn(event.offsetX);
    } else if (drag.zone === "axis") {
      this.range = { from: Math.min(drag.x, event.offsetX), to: Math.max(drag.x, event.offsetX) };
      this.surface.refresh();
    } else {
      if (drag.zone === "rows")
        model.view = panBy({ t0: drag.t0, t1: drag.t1 }, model.end, -dx / layout.plot);
      this.scrollTo(drag.scroll - dy);
      this.canvas.classList.add("dragging");
      this.surface.redraw();
    }
  }

  private up(event: PointerEvent): void {
    if (this.lift(event)) return;
    const { drag, range } = this;
    this.cancel();
    if (drag === null) return;
    const layout = this.surface.layout();
    if (range !== null && range.to - range.from >= 4) {
      const at = (x: number): number => xToTime(this.model.view, layout.plot, x - layout.left);
      this.show(at(Math.max(layout.left, range.from)), at(Math.min(layout.left + layout.plot, range.to)));
    } else if (!drag.moved && drag.zone !== "overview") {
      this.pointer = { x: event.offsetX, y: event.offsetY };
      const row = rowAt(layout, this.model.rows.count, this.model.scroll, event.offsetY);
      const ranks = this.model.rows.list[row]?.ranks ?? [];
      if (ranks.length > 0) this.model.phaseRank = ranks[0]!;
      if (ranks.length > 1) this.surface.unfold(row);
      this.surface.choose(this.hovered());
      this.surface.redraw();
    }
  }

  private cancel(): void {
    this.drag = null;
    this.range = null;
    this.canvas.classList.remove("dragging");
  }

  private leave(): void {
    if (this.drag !== null) return;
    this.pointer = null;
    this.surface.refresh();
  }

  private centreOn(x: number): void {
    const { left, plot } = this.surface.layout();
    const { view, end } = this.model;
    const half = (view.t1 - view.t0) / 2;
    const t = ((x - left) / plot) * end;
    this.show(t - half, t + half);
  }

  private zoomToEvent(): void {
    const ref = this.hovered();
    if (ref === null) return;
    const { from, to } = this.model.spanOf(ref);
    const margin = (to - from) * 0.4;
    this.show(from - margin, to + margin);
  }

  key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement | null;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target !== null && typesInto(target, event.key, this.canvas)) return;
    if (!this.surface.act(event.key, event.shiftKey) && !this.act(event.key)) return;
    event.preventDefault();
  }

  // Does what a key means; false for a key that means nothing.
  private act(key: string): boolean {
    const { model, surface } = this;
    const t = this.pointer === null ? null : this.timeAt(this.pointer.x);
    switch (key) {
      case "+":
      case "=":
        this.zoom(1.5);
        return true;
      case "-":
        this.zoom(1 / 1.5);
        return true;
      case "]":
        this.zoomRows(1.5, this.pointer?.y);
        return true;
      case "[":
        this.zoomRows(1 / 1.5, this.pointer?.y);
        return true;
      case "0":
      case "Home":
        this.reset();
        return true;
      case "z":
        this.showMarks();
        return true;
      case "ArrowLeft":
      case "ArrowRight":
        model.view = panBy(model.view, model.end, key === "ArrowLeft" ? -0.1 : 0.1);
        break;
      case "ArrowUp":
      case "ArrowDown":
        this.scrollTo(model.scroll + (key === "ArrowUp" ? -1 : 1) * 3 * surface.layout().rowPitch);
        break;
      case "o":
      case "x":
        if (t === null) return false;
        if (key === "o") model.markO = t;
        else model.markX = t;
        break;
      case "m":
        model.showMessages = !model.showMessages;
        break;
      case "s":
        model.shares = !model.shares;
        break;
      case "c":
        if (model.path === null) return false;
        model.showPath = !model.showPath;
        break;
      case "n":
      case "p":
        if (model.path === null) return false;
        surface.stepPath(key === "n" ? 1 : -1);
        return true;
      case "Escape":
        if (model.selected !== null) surface.choose(null);
        else model.markO = model.markX = null;
        break;
      default:
        return false;
    }
    surface.redraw();
    return true;
  }
}
