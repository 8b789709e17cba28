// The page of a run on an architecture, or of two side by side: one tape for all.
import { button, choice, element, find } from "../dom";
import { coloursOfPage, type Colours } from "./drawing";
import { type Window } from "./line";
import { MachineView } from "./machine";
import { Run, timeText, type RunData } from "./run";

const kSeconds = 20; // that the whole run takes at speed 1
const kWords = 100; // ms between two changes of what is told in words while it plays
const kTape = 100000;

class Page {
  private readonly machines: MachineView[] = [];
  private now = 0; // of the first run
  private window: Window = { from: 0, to: 1 }; // of the first run
  private playing = false;
  private speed = 1;
  private quantity = "";
  private loads = false;
  private byCalls = false;
  private colours: Colours = coloursOfPage();
  private lastFrame = 0;
  private lastWords = 0;

  private readonly play = button("Play", "Space", () => this.toggle());
  private readonly scrub = element("input");
  private readonly time = element("output");
  private readonly loadButton = button("Link loads", "L", () => this.toggleLoads());

  constructor(data: readonly RunData[]) {
    this.makeTape();
    for (const one of data) this.add(one);
    const { from, to } = data[0]!;
    this.window = { from, to };
    this.makeTools();
    this.listen();
    this.measureFrame();
    const first = data[0]!.records.find(([kind]) => kind === 1);
    this.go(first === undefined ? from : (first[5] + first[6]) / 2);
    document.documentElement.dataset["entities"] = data.map(({ entities }) => entities.length).join(" ");
    document.documentElement.dataset["records"] = data.map(({ records }) => records.length).join(" ");
    requestAnimationFrame((t) => this.frame(t));
  }

  private get first(): MachineView {
    return this.machines[0]!;
  }

  private add(data: RunData): void {
    const hands = {
      go: (machine: MachineView, t: number) => this.go(this.ofFirst(machine, t)),
      zoom: (machine: MachineView, at: number, factor: number) => this.zoom(this.ofFirst(machine, at), factor),
      changed: () => this.draw(true),
    };
    this.machines.push(new MachineView(new Run(data), hands));
    find("#machines").classList.toggle("two", this.machines.length > 1);
    for (const machine of this.machines) machine.layOut();
  }

  // A moment of the first run in another: the same time, or the same call of the program.
  private of(machine: MachineView, t: number): number {
    if (machine === this.first || !this.byCalls) return t;
    return machine.run.timeAt(this.first.run.progressAt(t));
  }
  private ofFirst(machine: MachineView, t: number): number {
    if (machine === this.first || !this.byCalls) return t;
    return this.first.run.timeAt(machine.run.progressAt(t));
  }
  private get end(): number {
    return this.byCalls ? this.first.run.data.to : Math.max(...this.machines.map(({ run }) => run.data.to));
  }
  private get begin(): number {
    return this.first.run.data.from;
  }

  // ---- controls ----

  private makeTape(): void {
    const speed = element("input");
    Object.assign(speed, { type: "range", min: "-3", max: "1", step: "0.1", value: "0" });
    speed.addEventListener("input", () => (this.speed = 10 ** Number(speed.value)));
    Object.assign(this.scrub, { type: "range", min: "0", max: String(kTape), id: "scrub" });
    this.scrub.setAttribute("aria-label", "time");
    this.scrub.addEventListener("input", () => {
      this.stop();
      this.go(this.begin + (Number(this.scrub.value) / kTape) * (this.end - this.begin));
    });
    this.time.id = "time";
    this.play.id = "play";
    const previous = button("Back", "To the event before: left", () => this.step(false));
    const next = button("Step", "To the next event: right", () => this.step(true));
    previous.id = "previous";
    next.id = "next";
    find("#tape").append(previous, this.play, next, element("label", "", "speed ", speed), this.scrub, this.time);
  }

  private makeTools(): void {
    const names = new Set(this.machines.flatMap(({ run }) => run.data.quantities.filter((_, q) => run.states[q]!.length > 0).map(([, name]) => name)));
    const shown = choice("in place", [["", "bytes"], ...[...names].map((name) => [name, name] as const)], (name) => {
      this.quantity = name;
      this.draw(true);
    });
    shown.select.id = "quantity";
    this.loadButton.id = "loads";
    this.loadButton.setAttribute("aria-pressed", String(this.loads));
    const clear = button("No measure", "Escape", () => this.measure([]));
    const tools: HTMLElement[] = [shown.label, this.loadButton, button("+", "Zoom the time line", () => this.zoom(this.now, 0.5)),
      button("-", "Zoom the time line", () => this.zoom(this.now, 2)), button("Measure", "M: a line at this moment", () => this.mark()), clear];
    if (this.machines.length > 1) {
      const step = choice("in step by", [["time", "the same time"], ["calls", "the same call of the program"]], (way) => {
        this.byCalls = way === "calls";
        this.go(this.now);
      });
      step.select.id = "step";
      step.select.disabled = this.machines.some(({ run }) => run.progress.length === 0);
      step.select.value = this.byCalls ? "calls" : "time";
      tools.push(step.label);
    } else tools.push(this.other());
    find("#tools").replaceChildren(...tools);
  }

  // Another page, to be shown beside this one.
  private other(): HTMLElement {
    const input = element("input");
    input.type = "file";
    input.accept = ".html";
    input.id = "other";
    input.addEventListener("change", async () => {
      const text = await input.files?.[0]?.text();
      const data = /<script id="data" type="application\/json">([^<]*)<\/script>/.exec(text ?? "")?.[1];
      const note = find("#time");
      if (data === undefined) return void (note.textContent = "that is no page of a run on an architecture");
      this.add((JSON.parse(data) as RunData[])[0]!);
      this.makeTools();
      this.go(this.now);
    });
    return element("label", "", "beside it ", input);
  }

  private listen(): void {
    window.addEventListener("resize", () => {
      for (const machine of this.machines) machine.layOut();
      this.draw(true);
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.colours = coloursOfPage();
      for (const machine of this.machines) machine.layOut();
      this.draw(true);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const on = event.target instanceof HTMLElement ? event.target : null;
    const typing = on !== null && /^(INPUT|SELECT|SUMMARY)$/.test(on.tagName);
    const isButton = on instanceof HTMLButtonElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: { [key: string]: () => void } = {
      ArrowRight: () => this.step(true), ArrowLeft: () => this.step(false), ArrowDown: () => this.first.move(1), ArrowUp: () => this.first.move(-1),
      Home: () => this.go(this.begin), End: () => this.go(this.end), m: () => this.mark(), Escape: () => this.measure([]),
      "+": () => this.zoom(this.now, 0.5), "-": () => this.zoom(this.now, 2), l: () => this.toggleLoads(),
    };
    if (!isButton) {
      actions[" "] = () => this.toggle();
      actions["Enter"] = () => this.first.toggleBox(this.first.chosen);
    }
    const action = actions[event.key];
    if (action === undefined || typing) return;
    event.preventDefault();
    action();
  }

  private toggle(): void {
    if (!this.playing && this.now >= this.end) this.now = this.begin;
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "Pause" : "Play";
    if (!this.playing) this.draw(true);
  }
  private stop(): void {
    if (this.playing) this.toggle();
  }
  private toggleLoads(): void {
    this.loads = !this.loads;
    this.loadButton.setAttribute("aria-pressed", String(this.loads));
    this.draw(true);
  }

  // To the next event of any of the machines, or the one before.
  private step(forth: boolean): void {
    this.stop();
    const all = this.machines.map((machine) => {
      const own = this.of(machine, this.now);
      return this.ofFirst(machine, forth ? machine.run.after(own) : machine.run.before(own));
    });
    const there = all.filter((t) => (forth ? t > this.now : t < this.now));
    this.go(there.length === 0 ? (forth ? this.end : this.begin) : forth ? Math.min(...there) : Math.max(...there));
  }

  private mark(): void {
    const { marks } = this.first;
    this.measure(marks.length === 1 ? [marks[0]!, this.now] : [this.now]);
  }
  private measure(marks: number[]): void {
    for (const machine of this.machines) machine.marks = marks.map((t) => this.of(machine, t));
    this.draw(true);
  }

  private zoom(at: number, factor: number): void {
    const { from, to } = this.window;
    const span = Math.min(this.end - this.begin, Math.max(1000, (to - from) * factor));
    const begin = Math.min(this.end - span, Math.max(this.begin, at - ((at - from) / Math.max(1, to - from)) * span));
    this.window = { from: begin, to: begin + span };
    this.draw(true);
  }

  private go(t: number): void {
    this.now = Math.min(this.end, Math.max(this.begin, t));
    const { from, to } = this.window;
    const all = from <= this.begin && to >= this.end;
    if (!all && (this.now < from || this.now > to)) {
      const begin = Math.min(this.end - (to - from), Math.max(this.begin, this.now - (to - from) / 4));
      this.window = { from: begin, to: begin + (to - from) };
    }
    if (this.window.to > this.end || (all && to < this.end)) this.window = { from: this.begin, to: this.end };
    this.draw(!this.playing);
  }

  // ---- frames ----

  private frame(t: number): void {
    if (this.playing) {
      const next = this.now + ((t - this.lastFrame) / 1000 / kSeconds) * (this.end - this.begin) * this.speed;
      if (next >= this.end) this.stop();
      this.go(next);
    }
    this.lastFrame = t;
    requestAnimationFrame((time) => this.frame(time));
  }

  private draw(words: boolean): void {
    const time = performance.now();
    const tell = words || time - this.lastWords > kWords;
    if (tell) this.lastWords = time;
    const moving = this.machines.map((machine) => {
      const window = { from: this.of(machine, this.window.from), to: this.of(machine, this.window.to) };
      return machine.draw({ now: this.of(machine, this.now), window, quantity: this.quantity, loads: this.loads }, this.colours, tell);
    });
    this.scrub.value = String(Math.round(((this.now - this.begin) / Math.max(1, this.end - this.begin)) * kTape));
    this.time.textContent = this.machines.map((machine) => `${timeText(this.of(machine, this.now))} of ${timeText(machine.run.data.to)}`).join(" | ");
    const { dataset } = document.documentElement;
    dataset["now"] = this.machines.map((machine) => Math.round(this.of(machine, this.now))).join(" ");
    dataset["moving"] = moving.join(" ");
    dataset["shown"] = this.machines.map(({ shownCount }) => shownCount).join(" ");
    dataset["marks"] = this.first.marks.map((t) => Math.round(t)).join(" ");
  }

  // What drawing takes, told to tests and benches.
  private measureFrame(): void {
    const began = performance.now();
    const frames = 10;
    for (let i = 0; i < frames; i++) {
      this.now = this.begin + (i / frames) * (this.end - this.begin);
      this.draw(i === 0);
    }
    document.documentElement.dataset["frameMs"] = ((performance.now() - began) / frames).toFixed(2);
  }

  placeOf(machine: number, name: string): readonly [number, number] {
    return this.machines[machine]!.placeOf(name);
  }
}

const page = new Page(JSON.parse(find("#data").textContent!) as RunData[]);
// Where an entity is drawn, for tests.
Object.assign(window, { placeOf: (machine: number, name: string) => page.placeOf(machine, name) });
