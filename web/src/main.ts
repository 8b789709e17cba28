// The page: reads the runs that it carries, and puts it all together.
import { decodeBase64, decodeTrace } from "./decode";
import { find } from "./dom";
import { formatBytes } from "./format";
import type { TraceData, TraceHead } from "./events";
import type { Explanation } from "./explain/data";
import { showExplanation } from "./explain/explain";
import { Model } from "./model";
import { Page } from "./page";
import { CriticalPath } from "./path";
import { Remote, servedStates, servedTrace } from "./served/remote";
import { kMaxStates, makeSharedStates } from "./sums";

const kLarge = 4e6; // characters
const kPaint = 30; // ms in which a browser paints

interface Run {
  readonly name: string;
  readonly trace: TraceData;
}

// A run that a server has.
function makeServed(run: Run): Model {
  const { states, ofClass, totals } = servedStates(run.trace.head, kMaxStates);
  const model = new Model(run.trace, states, run.trace.end, "", totals);
  model.remote = new Remote(run.trace, ofClass);
  return model;
}

function makeModels(runs: readonly Run[]): Model[] {
  if (runs[0]!.trace.head.served !== undefined) return [makeServed(runs[0]!)];
  const states = makeSharedStates(runs.map((run) => run.trace));
  const end = runs.reduce((most, run) => Math.max(most, run.trace.end), 1);
  return runs.map((run, i) => new Model(run.trace, states[i]!, end, runs.length > 1 ? run.name : ""));
}

// The bytes of a run's events.
async function readStream(node: HTMLElement): Promise<Uint8Array> {
  const bytes = decodeBase64((node.textContent ?? "").trim());
  if (node.dataset["packed"] === undefined) return bytes;
  const unpacked = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

function readRuns(): Promise<Run[]> {
  const heads = [...document.querySelectorAll<HTMLElement>(".trace-head")];
  const streams = [...document.querySelectorAll<HTMLElement>(".trace-stream")];
  return Promise.all(heads.map(async (node, i) => {
    const head = JSON.parse(node.textContent ?? "") as TraceHead;
    const stream = streams[i]!;
    const trace = head.served !== undefined ? servedTrace(head) : decodeTrace(head, await readStream(stream), stream.dataset["packed"] !== undefined);
    stream.remove();
    return { name: node.dataset["name"] ?? "", trace };
  }));
}

// Of a large run that takes seconds, the page tells it before.
async function tellLoading(): Promise<void> {
  const streams = [...document.querySelectorAll<HTMLElement>(".trace-stream")];
  const bytes = streams.reduce((sum, node) => sum + (node.textContent ?? "").length, 0);
  if (bytes < kLarge) return;
  find("#loading").textContent = `The run is being unpacked: ${formatBytes(bytes)}…`;
  await new Promise((resolve) => window.setTimeout(resolve, kPaint));
}

async function start(): Promise<void> {
  const began = performance.now();
  await tellLoading();
  const runs = await readRuns();
  const models = makeModels(runs);
  const model = models[0]!;
  const explanation = JSON.parse(find("#explanation-data").textContent ?? "null") as Explanation | null;
  if (explanation !== null) {
    model.path = new CriticalPath(explanation.path);
    showExplanation(explanation, model.trace, (found) => page.reveal(found));
  }
  find("#loading").hidden = true;
  const page = new Page(models, explanation !== null);
  if (explanation !== null) document.title = document.title.replace(/time line$/, "explained");
  const loaded = performance.now() - began;
  const first = page.begin();
  // What was drawn, for tests and scripts.
  document.documentElement.dataset["summary"] = JSON.stringify({
    ranks: model.trace.ranks.length,
    events: model.trace.events,
    states: model.states.names,
    runs: runs.map((run) => run.name),
    loadMilliseconds: loaded,
    ...first,
  });
  Object.assign(window, { foretraceTimeline: { model, models, page, stage: page.stages[0], explanation } });
}

start().catch((error: unknown) => {
  find("#loading").hidden = true;
  const notes = find("#notes");
  notes.hidden = false;
  notes.textContent = `This page's trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  document.documentElement.dataset["error"] = String(error);
});
