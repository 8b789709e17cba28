// "Where time is lost", beside the time lines: a line for each cause, which leads to an example.
import { button, element, find } from "./dom";
import { formatNumber, formatPercent, formatTime } from "./format";
import { endedShare, kLeast, type Loss, lossesOf } from "./losses";
import type { EventRef, Model } from "./model";

const kMost = 6; // lines

// "3, 5 and 7 to 12"
export function rankList(ranks: readonly number[]): string {
  const spans: string[] = [];
  for (let i = 0; i < ranks.length; ) {
    let last = i;
    while (last + 1 < ranks.length && ranks[last + 1] === ranks[last]! + 1) last++;
    spans.push(last === i ? `${ranks[i]}` : last === i + 1 ? `${ranks[i]}, ${ranks[last]}` : `${ranks[i]} to ${ranks[last]}`);
    i = last + 1;
  }
  if (spans.length > 6) return `${ranks.length} ranks`;
  const text = spans.join(", ").replace(/, ([^,]*)$/, " and $1");
  return `${ranks.length === 1 ? "rank" : "ranks"} ${text}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function lossText({ kind, ranks, others, further, phase, ratio, usual, link, pairs }: Loss): { title: string; detail: string } {
  const where = phase === "" ? "" : ` in “${phase}”`;
  const wait = others.length === 1 ? "waits" : "wait";
  const also = further === 0 ? "" : `; ${further} ${further === 1 ? "other waits" : "others wait"} because of that`;
  switch (kind) {
    case "late send":
      return { title: `${capital(rankList(ranks))} sends late${where}`, detail: `${rankList(others)} ${wait} for its messages${also}` };
    case "late receive":
      return { title: `${capital(rankList(ranks))} receives late${where}`, detail: `${rankList(others)} ${wait} to send to it${also}` };
    case "other calls":
      return { title: `${capital(rankList(ranks))} comes late from other calls${where}`, detail: `${rankList(others)} ${wait} for it${also}` };
    case "uneven":
      return {
        title: `Uneven computation${where}`,
        detail: ratio >= 1.1 ? `${rankList(ranks)} ${ranks.length === 1 ? "computes" : "compute"} ${formatNumber(Number(ratio.toPrecision(2)))} times as long as the others, who wait` : "now one rank, now another takes longest; the others wait",
      };
    case "slow messages":
      return {
        title: link !== "" ? `Messages over the link ${link} are slow${where}`
          : pairs > 1 ? `Messages between ${pairs} pairs of ranks are slow${where}`
            : `Messages from rank ${ranks[0]} to rank ${ranks[1]} are slow${where}`,
        detail: `${pairs > 1 ? `of ${pairs} pairs of ranks; ` : ""}${formatNumber(Number(ratio.toPrecision(2)))} times as long on their way as others of their size (${formatTime(Math.round(usual))})`,
      };
  }
}

// What a page of its own has and a served one has not.
export function tellUnserved(): void {
  const host = find("#losses");
  host.hidden = false;
  host.append(element("h2", "", "Not on a served page"), element("p", "",
    "Where time is lost, who came last to a collective, the second window, the animation, and tracks of marks and links need all events at once. Make a page of its own of a run with fewer events or ranks (timeline -o FILE.html), or see foretrace report, which has waits and last ranks of any run."));
}

// Fills the list: at once for runs that are small enough, else when the user asks.
export function showLosses(model: Model, reveal: (ref: EventRef) => void): void {
  const host = find("#losses");
  host.hidden = false;
  const body = element("div");
  host.append(element("h2", "", "Where time is lost"), body);
  const fill = (): void => {
    const whole = model.trace.end * model.trace.ranks.length;
    const losses = lossesOf(model);
    const list = element("ol");
    for (const loss of losses.slice(0, kMost)) {
      const { title, detail } = lossText(loss);
      const line = button("", "Show an example", () => reveal(loss.worst));
      line.append(element("b", "", title), element("span", "share", formatPercent(loss.lost / whole)), element("span", "detail", detail));
      list.append(element("li", "", line));
    }
    body.replaceChildren(losses.length > 0 ? list : element("p", "", "Nothing that costs half a percent of the run."));
    if (losses.length > 0) body.append(element("p", "", "Of the time of all ranks. Click for an example."));
    const ended = endedShare(model.trace);
    if (ended >= kLeast) body.append(element("p", "ended", `Ranks end before the last one does: ${formatPercent(ended)} of the time of all.`));
  };
  if (model.small) window.setTimeout(fill, 0);
  else body.append(button("look for it", "Joins all messages of the run; takes some seconds", fill));
}
