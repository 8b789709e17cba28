// The animation: all runs side by side at the moment of the cursor, each as a ring, a grid or
// on its network; tape controls move the moment.
import { nextChange, standingPlaces } from "../animate";
import { button, choice, element } from "../dom";
import { Kind } from "../events";
import { formatTime } from "../format";
import type { Model } from "../model";
import { grid, networkScene, ring, type Scene } from "../scene";
import { clampInterval } from "../viewport";
import type { Desk, Tool } from "./desk";
import { colourOf, drawMovement, type Drawn } from "./movement";

const kMostPlaces = 10;
const kMostCollectives = 4; // at a time, of which rounds are told
const kMostPairs = 12;

// The names of the marks that say numbers.
function markNames(models: readonly Model[]): string[] {
  const names = new Set<string>();
  for (const { trace } of models)
    for (const shape of trace.shapes) if (shape.kind === Kind.mark) names.add(trace.head.names[shape.name]!);
  return [...names];
}

// "0 ⇄ 1, 2 → 3": who sends to whom, each two that exchange once.
function pairsText(pairs: readonly { from: number; to: number }[]): string {
  const all = new Set(pairs.map(({ from, to }) => `${from} ${to}`));
  const texts = pairs.filter(({ from, to }) => from < to || !all.has(`${to} ${from}`))
    .map(({ from, to }) => `${from} ${all.has(`${to} ${from}`) ? "⇄" : "→"} ${to}`);
  const shown = texts.slice(0, kMostPairs).join(", ");
  return texts.length > kMostPairs ? `${shown}, and ${texts.length - kMostPairs} more` : shown;
}

export class AnimationTool implements Tool {
  readonly id = "animation";
  readonly title = "Animation";
  readonly body = element("section");
  playing = false;
  shown: { ranks: number; messages: number; runs: readonly Drawn[] } = { ranks: 0, messages: 0, runs: [] }; // in the last picture
  private readonly scenes = new Map<Model, Scene>();
  private form: string = "ring";
  private mark = ""; // whose numbers stand at the ranks
  private seconds = 20; // for what is in view
  private of = "all";
  private last = 0; // performance.now() of the last picture
  private readonly canvas = element("canvas", "animation");
  private readonly scrub = element("input", "scrub");
  private readonly time = element("output", "time-text");
  private readonly standing = element("ul", "standing");
  private readonly play: HTMLButtonElement;

  constructor(private readonly desk: Desk) {
    this.canvas.setAttribute("role", "img");
    this.scrub.type = "range";
    this.scrub.min = "0";
    this.scrub.max = "10000";
    this.scrub.step = "1";
    this.scrub.setAttribute("aria-label", "Moment of the animation");
    this.scrub.addEventListener("input", () => {
      const { t0, t1 } = desk.model.view;
      this.goTo(t0 + (Number(this.scrub.value) / 10000) * (t1 - t0));
    });
    this.play = button("▶ play", "Play or pause (space)", () => this.toggle());
    this.play.className = "play";
    const tape = element("div", "tool-line",
      button("|◀", "To the start of what is in view", () => this.goTo(desk.model.view.t0)),
      button("◀ step", "To the change before", () => this.step(-1)), this.play, button("step ▶", "To the next change", () => this.step(1)),
      choice("steps of", [["all", "all ranks"], ["one", "the chosen rank"]], (value) => (this.of = value)).label,
      this.speed(), this.forms(), ...this.marks(), this.time);
    this.standing.setAttribute("aria-label", "Where ranks stand");
    this.body.append(tape, this.scrub, element("div", "movement", this.canvas, this.standing));
    this.body.addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLButtonElement) return;
      if (event.key === " ") this.toggle();
      else return;
      event.preventDefault();
    });
  }

  private forms(): HTMLElement {
    const { models } = this.desk;
    const network = models.find((model) => model.trace.head.network !== undefined)?.trace.head.network;
    const options: [string, string][] = [["ring", "ring"], ["grid", "grid"]];
    if (network !== undefined) options.unshift(["network", models.length > 1 ? "network" : network.name.replace(/^.*\//, "")]);
    this.form = options[0]![0];
    return choice("as", options, (value) => {
      this.form = value;
      this.scenes.clear();
      this.draw();
    }).label;
  }

  private marks(): HTMLElement[] {
    const names = markNames(this.desk.models);
    if (names.length === 0) return [];
    return [choice("numbers of", [["", "no mark"], ...names.map((name): [string, string] => [name, name])], (value) => {
      this.mark = value;
      this.draw();
    }).label];
  }

  private speed(): HTMLElement {
    const { label, select } = choice("what is in view in", [["5", "5 s"], ["20", "20 s"], ["60", "1 min"], ["300", "5 min"]],
      (value) => (this.seconds = Number(value)));
    select.value = "20";
    return label;
  }

  update(): void {
    if (this.desk.model.cursor === null) this.goTo(this.desk.model.view.t0);
    this.draw();
  }

  toggle(): void {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "❚❚ pause" : "▶ play";
    this.last = performance.now();
    if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }

  step(direction: 1 | -1): void {
    const { model } = this.desk;
    if (this.playing) this.toggle();
    const rank = this.of === "all" ? null : model.selected?.rank ?? model.phaseRank;
    const from = model.cursor ?? model.view.t0;
    const to = nextChange(model, from, direction, rank);
    this.goTo(rank === null ? model.rounds().next(from, direction, to) : to);
  }

  // Moves the cursor; the view follows it.
  goTo(t: number): void {
    const { model } = this.desk;
    model.cursor = Math.min(model.end, Math.max(0, t));
    const { t0, t1 } = model.view;
    if (model.cursor < t0 || model.cursor > t1)
      model.view = clampInterval({ t0: model.cursor - (t1 - t0) * 0.1, t1: model.cursor + (t1 - t0) * 0.9 }, model.end);
    this.draw();
    this.desk.redraw();
  }

  private tick(now: number): void {
    if (!this.playing || this.body.hidden) {
      if (this.playing) this.toggle();
      return;
    }
    const { model } = this.desk;
    const { t0, t1 } = model.view;
    const at = (model.cursor ?? t0) + ((now - this.last) / 1000 / this.seconds) * (t1 - t0);
    this.last = now;
    this.goTo(at);
    if (at >= model.end) this.toggle();
    else requestAnimationFrame((next) => this.tick(next));
  }

  private sceneOf(model: Model): Scene {
    const { form } = this;
    const known = this.scenes.get(model);
    if (known !== undefined) return known;
    const { network, ranks } = model.trace.head;
    const scene = form === "network" && network !== undefined ? networkScene(network) : form === "grid" ? grid(ranks.length) : ring(ranks.length);
    this.scenes.set(model, scene);
    return scene;
  }

  private draw(): void {
    const { canvas, desk } = this;
    if (this.body.hidden) return;
    const { model, models } = desk;
    const t = model.cursor ?? model.view.t0;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.max(200, canvas.clientWidth), Math.max(120, canvas.clientHeight)];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    // All runs at the same moment, side by side.
    const drawn = models.map((each, i) => drawMovement(context, each, this.sceneOf(each),
      { left: (i * width) / models.length, top: 0, width: width / models.length, height }, t, this.markNameOf(each)));
    const messages = drawn[models.indexOf(model)]!.messages;
    this.shown = { ranks: model.trace.ranks.length, messages, runs: drawn };
    const inside = drawn.reduce((sum, each) => sum + each.inside, 0);
    const { t0, t1 } = model.view;
    this.scrub.value = String(Math.round(((t - t0) / (t1 - t0)) * 10000));
    this.scrub.setAttribute("aria-valuetext", formatTime(Math.round(t)));
    this.time.textContent = `${formatTime(Math.round(t))}, ${drawn.map((each) => each.messages).join(" and ")} message${messages === 1 && drawn.length === 1 ? "" : "s"} under way${inside === 0 ? "" : `, ${inside} inside collectives`}`;
    canvas.setAttribute("aria-label", `Ranks at ${this.time.textContent}`);
    this.tellPlaces(t);
  }

  // Which round collectives are in, and who sends to whom.
  private tellRounds(model: Model, t: number): HTMLLIElement[] {
    return model.rounds().at(t).slice(0, kMostCollectives).map(({ name, algorithm, shape, round, first, rounds, messages }) => {
      const dot = element("span", "dot square");
      dot.style.background = colourOf(model, model.states.ofShape[shape]!);
      const last = messages[messages.length - 1]?.round ?? round;
      const what = round === 0 ? `${rounds} rounds, none has begun` : `round ${first > 0 && first < last ? `${first} to ${last}` : last} of ${rounds}`;
      const item = element("li", "rounds", dot, element("b", "", `${model.trace.head.names[name]!}: ${what}`), ` (${algorithm.replace(/_/g, " ")})`);
      for (let each = first; each > 0 && each <= last; each++) {
        const pairs = messages.filter((message) => message.round === each);
        if (pairs.length > 0) item.append(element("div", "", `${each}: ${pairsText(pairs)}`));
      }
      return item;
    });
  }

  private markNameOf(model: Model): number {
    return this.mark === "" ? -1 : model.trace.head.names.indexOf(this.mark);
  }

  // Where in the program ranks stand, in words.
  private tellPlaces(t: number): void {
    const { models } = this.desk;
    this.standing.replaceChildren(...models.flatMap((model) => {
      const places = standingPlaces(model, t);
      const items = places.slice(0, kMostPlaces).map(({ cls, what, ranks }) => {
        const dot = element("span", "dot");
        dot.style.background = colourOf(model, cls);
        const few = ranks.length > 6 ? `${ranks.slice(0, 5).join(", ")}, …` : ranks.join(", ");
        return element("li", "", dot, `${ranks.length} × ${what} (rank${ranks.length === 1 ? "" : "s"} ${few})`);
      });
      items.unshift(...this.tellRounds(model, t));
      if (model.name !== "") items.unshift(element("li", "run-name", model.name));
      if (places.length > kMostPlaces) items.push(element("li", "", `and ${places.length - kMostPlaces} other places`));
      return items;
    }));
  }
}
