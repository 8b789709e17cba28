// The explanation above and below the time line: what limits the run, what to change
// first, and a way from each finding to its place in the time line.
import { formatPercent } from "../format";
import type { TraceData } from "../events";
import {
  describePlace, eventAround, type Explanation, type Finding, findLongest, type Found, kParts, type Parts, type Share,
} from "./data";
import { bar, type Child, element, percentOf, row, seconds, section, sensitivityPlot, table } from "./parts";

export type Show = (found: Found) => void;

// A button that leads to an event of the time line; words where there is none.
function link(text: string, found: Found | null, show: Show): Child {
  if (found === null) return text;
  const button = element("button", "link", text);
  button.type = "button";
  button.title = "Show it in the time line";
  button.addEventListener("click", () => show(found));
  return button;
}

function headline(data: Explanation): HTMLElement {
  const { headline: best, time } = data;
  const won = (with_: number): string => percentOf(time - with_, time);
  const strong = (text: string): HTMLElement => element("b", "", text);
  return element("div", "block head",
    element("p", "", strong(seconds(time)), ` on ${data.ranks} rank${data.ranks === 1 ? "" : "s"}${data.where}`),
    element("p", "headline", "At most ", strong(won(best.communication)), " can be won by a faster network, ",
      ...(best.files !== null ? [strong(won(best.files)), " by faster files, "] : []),
      strong(won(best.balance)), " by balance, ", strong(won(best.both)),
      best.files !== null ? " by network and balance; " : " by both; ", strong(won(best.waits)), " if nobody waited."),
    ...data.notes.map((note) => element("p", "note", note)));
}

function ranksText(ranks: readonly number[]): string {
  if (ranks.length <= 4) return ranks.join(", ");
  return `${ranks[0]} … ${ranks[ranks.length - 1]} (${ranks.length} ranks)`;
}

// Something else in its place, not only less of it.
const kReplaced = new Set(["algorithm", "placement", "no barriers", "merged messages", "posted messages", "faster link"]);

function finding(data: Explanation, trace: TraceData, one: Finding, most: number, show: Show): HTMLElement {
  const computing = one.kind === "imbalance";
  const found = findLongest(trace, one, one.ranks, computing);
  const spent = computing ? "above the mean of the ranks" : one.kind === "wait" ? "waiting, over all ranks" : one.link !== undefined ? "busy" : "in these calls, over all ranks";
  const where = one.kind === "placement" ? "processors of the ranks" : one.link !== undefined ? `link between ${one.link.join(" and ")}` : (computing && one.function !== "" ? "before " : "") + describePlace(one) + (one.elsewhere === true ? " and elsewhere" : "");
  const facts: Child[] = [
    one.kind === "placement" ? "" : `${spent}: ${seconds(one.spent)}; `,
    one.ranks.length === 0 ? "" : `rank${one.ranks.length === 1 ? "" : "s"} ${ranksText(one.ranks)}; `,
    `run ${kReplaced.has(one.kind) ? "then" : "without it"}: ${seconds(one.predicted_time)}`,
    one.verified ? ", simulated afresh" : one.estimated ? ", an estimate" : "",
  ];
  facts.push(`; effort: ${one.effort}`);
  if (one.enough !== null) facts.push(`; nearly all of it with ${percentOf(one.enough, 1)} of the change`);
  if (one.check !== "") facts.push("; alone: ", element("code", "", `explain ${one.check}`));
  if (one.cause !== null) facts.push("; because of ", link(`rank ${one.cause.rank}, ${describePlace(one.cause)}`,
    findLongest(trace, one.cause, [one.cause.rank], true), show));
  return element("li", "",
    element("div", "title", element("b", "", one.algorithm !== undefined ? `${one.kind} ${one.algorithm}` : one.wait ?? one.kind), " ", link(where, found, show)),
    bar([{ share: one.gain / most, colour: "gain", title: seconds(one.gain) }]),
    element("div", "gain-text", element("b", "", seconds(one.gain)), ` ${percentOf(one.gain, data.time)}`),
    element("div", "facts", ...facts));
}

function findings(data: Explanation, trace: TraceData, show: Show): HTMLElement {
  if (data.findings.length === 0) return section("findings", "Findings", element("p", "", "No wait or imbalance shortens the run."));
  const most = data.findings[0]!.gain;
  return section("findings", "What to change first",
    element("p", "hint", "How much shorter the run would be at most, best first. A name leads to its longest case in the time line."),
    element("ol", "findings", ...data.findings.map((one) => finding(data, trace, one, most, show))));
}

const kBounds: readonly [key: string, name: string][] = [
  ["no_waits", "no waits"],
  ["balanced", "computation balanced"],
  ["ideal_network", "ideal network"],
  ["balanced_ideal_network", "both"],
  ["zero_latency", "no latency"],
  ["infinite_bandwidth", "infinite bandwidth"],
  ["no_files", "files in no time"],
  ["moving_always", "messages move by themselves"],
  ["compute_half", "computation twice as fast"],
  ["compute_double", "computation half as fast"],
];

function bounds(data: Explanation): HTMLElement {
  const rows: [string, number][] = [["as it is", data.time]];
  for (const [key, name] of kBounds) {
    const value = data.bounds[key];
    if (value !== undefined && value !== null) rows.push([name, value]);
  }
  const most = Math.max(...rows.map(([, value]) => value));
  return section("bounds", "Bounds: run time with one thing made perfect",
    element("div", "rows", ...rows.map(([name, value], i) => row(name,
      bar([{ share: value / most, colour: i === 0 ? "as-is" : value > data.time ? "worse" : "bound", title: seconds(value) }],
        data.time / most),
      `${seconds(value)}  ${percentOf(value, data.time)}`))));
}

function efficiency(data: Explanation): HTMLElement {
  const { efficiency: e } = data;
  const rows: [string, string, string][] = [
    ["parallel", "parallel", "mean computation / run time"],
    ["load_balance", "= load balance", "mean computation / largest"],
    ["serialisation", "× serialisation",
      `largest computation / run time on an ideal network${data.bounds.no_files === null ? "" : ", files in no time"}`],
    ["files", "× files", "the latter / run time on an ideal network"],
    ["transfer", "× transfer", "run time on an ideal network / run time"],
  ];
  return section("efficiency", "Efficiency",
    element("div", "rows", ...rows.filter(([key]) => key !== "files" || data.bounds.no_files !== null).map(([key, name, formula], i) => row(name,
      bar([{ share: Math.min(1, e[key] ?? 0), colour: i === 0 ? "as-is" : "bound", title: formula }]),
      formatPercent(e[key] ?? 0)))));
}

function partsBar(parts: Parts, whole: number): HTMLElement {
  return bar(kParts.map(([key, name]) => ({
    share: whole > 0 ? parts[key] / whole : 0, colour: `part-${key}`, title: `${name}: ${seconds(parts[key])}`,
  })));
}

const kShown = 10;

function pathTable(data: Explanation, name: string, shares: readonly Share[]): HTMLElement {
  const label = (share: Share): string => (share.rank === undefined ? describePlace(share) : `rank ${share.rank}`);
  const rest = shares.slice(kShown).reduce((sum, share) => sum + share.time, 0);
  const rows = shares.slice(0, kShown).filter((share) => share.time > 0).map((share) =>
    row(label(share), partsBar(share, data.time), `${seconds(share.time)}  ${percentOf(share.time, data.time)}`));
  if (rest > 0) rows.push(row("others", element("div", ""), `${seconds(rest)}  ${percentOf(rest, data.time)}`));
  return element("div", "", element("h3", "", `by ${name}`), element("div", "rows", ...rows));
}

function path(data: Explanation): HTMLElement {
  const { critical_path: all, time } = data;
  const legend = element("ul", "legend", ...kParts.filter(([key]) => all[key] > 0).map(([key, name]) =>
    element("li", "", element("span", `dot part-${key}`), `${name} ${seconds(all[key])} (${percentOf(all[key], time)})`)));
  return section("critical-path", "Critical path",
    element("p", "hint", `What led to the end of the run: its parts add up to the run time. It passes from rank to rank by ${all.messages} message${all.messages === 1 ? "" : "s"}.`),
    partsBar(all, time), legend,
    pathTable(data, "call site", all.places),
    ...(all.phases.some((share) => share.phase) ? [pathTable(data, "phase", all.phases)] : []),
    pathTable(data, "rank", all.ranks));
}

function sensitivity(data: Explanation): Child[] {
  const plots = Object.entries(data.sensitivity).flatMap(([name, one]) => {
    const plot = sensitivityPlot(name, one, data.time);
    return plot === null ? [] : [element("figure", "", plot)];
  });
  if (plots.length === 0) return [];
  return [section("sensitivity", "Network: run time over its parameters",
    element("p", "hint", "The dot is the run as it is. Dashed: where it takes 1, 5 and 10 % longer."),
    element("div", "plots", ...plots))];
}

// What a late rank did too long, before the place.
function doneIn(what: string): string {
  return what === "computation before" ? "computation before " : what === "transfer" ? "transfer in " : "";
}

function waits(data: Explanation, trace: TraceData, show: Show): Child[] {
  if (data.waits.length === 0) return [];
  const rows: Child[][] = [["time", "times", "kind", "where", "because of"]];
  for (const group of data.waits.slice(0, 2 * kShown)) {
    const { cause } = group;
    rows.push([seconds(group.time), String(group.count), group.kind,
      link(describePlace(group), findLongest(trace, group, group.ranks, false), show),
      cause === null ? "" : `rank ${cause.rank}: ${doneIn(cause.what)}${describePlace(cause)}`]);
  }
  return [section("waits", "Waits, over all ranks",
    element("p", "hint", "A long wait that is in no finding is harmless: nobody needs what the rank would do."),
    table(rows, [2, 3, 4]))];
}

function delays(data: Explanation, trace: TraceData, show: Show): Child[] {
  if (data.delays.costs.length === 0) return [];
  const rows: Child[][] = [["waits", "direct", "indirect", "most by rank", "because of"]];
  for (const cost of data.delays.costs.slice(0, 2 * kShown)) {
    const computing = cost.what === "computation before";
    rows.push([seconds(cost.direct + cost.indirect), seconds(cost.direct), seconds(cost.indirect), String(cost.most),
      link(doneIn(cost.what) + describePlace(cost), findLongest(trace, cost, [cost.most], computing), show)]);
  }
  return [section("delays", "Delays, over all ranks",
    element("p", "hint", "How long others waited because of it: for the late rank itself, and for ranks that waited for it."),
    table(rows, [4]))];
}

function domino(data: Explanation, trace: TraceData, show: Show): Child[] {
  if (data.domino_path.length === 0) return [];
  return [section("domino", "Domino path",
    element("p", "hint", "The wait whose absence shortens the run most, and whom it waited for, back to the cause."),
    element("ol", "domino", ...data.domino_path.map((step) => {
      const where = link(describePlace(step), eventAround(trace, step.rank, Math.round(step.at * 1e12)), show);
      return step.wait === undefined
        ? element("li", "", `for rank ${step.rank}, `, where)
        : element("li", "", `rank ${step.rank} waits ${seconds(step.wait)} in `, where, `: ${seconds(step.time_without ?? 0)} without`);
    })))];
}

function computation(data: Explanation): Child[] {
  if (data.regions.length === 0) return [];
  const rows: Child[][] = [["mean", "most", "on rank", "run if balanced", "if twice as fast", "computation"]];
  for (const region of data.regions)
    rows.push([seconds(region.mean), seconds(region.most), String(region.slowest), seconds(region.balanced),
      seconds(region.twice_as_fast),
      region.function === undefined ? (region.phase ? `in phase ${region.phase}` : "in no phase") : `before ${describePlace(region)}`]);
  return [section("computation", "Computation, by phase and call site", table(rows, [5]))];
}

// Fills the page's two places around the time line.
export function showExplanation(data: Explanation, trace: TraceData, show: Show): void {
  document.body.classList.add("explained");
  const above = element("div", "explanation", headline(data), findings(data, trace, show),
    element("div", "columns", bounds(data), efficiency(data)));
  const below = element("div", "explanation", path(data), ...sensitivity(data), ...domino(data, trace, show),
    ...waits(data, trace, show), ...delays(data, trace, show), ...computation(data));
  const main = document.querySelector("main")!;
  main.before(above);
  main.after(below);
}
