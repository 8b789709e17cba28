// The script of an HTML data sheet: puts plots that can be asked in the place of those that
// stand still. Without it the page shows the same curves.
import { Explorer } from "./explorer";
import { Figure } from "./figure";
import { type Sheet, timeOf } from "./model";
import type { Series } from "./plot";

const kMostRanks = 4;

// As many numbers of ranks as the plots that stand still show.
function thinned(values: readonly number[]): number[] {
  if (values.length <= kMostRanks) return [...values];
  return Array.from({ length: kMostRanks }, (_, i) => values[Math.floor((i * (values.length - 1)) / (kMostRanks - 1))]!);
}

// What the plot that stands still shows: of one machine several numbers of ranks, of several
// machines the ranks that all have.
function seriesOf(sheet: Sheet, name: string): Series[] {
  const found = sheet.machines.flatMap((machine) => machine.functions.filter((f) => f.name === name).map((f) => ({ machine, f })));
  if (sheet.machines.length > 1)
    return found.map(({ machine, f }) => ({
      label: machine.name,
      machine,
      f,
      ranks: f.group === "pair" ? 2 : sheet.common_ranks,
      colour: sheet.machines.indexOf(machine),
    }));
  return found.flatMap(({ machine, f }) => {
    if (f.group !== "both") return [{ label: f.name, machine, f, ranks: 2, colour: 0 }];
    const measured = [...new Set(f.points.map((point) => point.ranks))].sort((a, b) => a - b);
    return thinned(measured.length > 0 ? measured : sheet.ranks).map((ranks, colour) => ({
      label: `p = ${ranks}`,
      machine,
      f,
      ranks,
      colour,
    }));
  });
}

// The plots of one function become one, when they come into sight.
function replacePlots(sheet: Sheet, figures: Map<string, Figure>): void {
  const wake = (holder: HTMLElement): void => {
    const name = holder.dataset["function"] ?? "";
    const series = seriesOf(sheet, name);
    if (series.length === 0 || figures.has(name)) return;
    const figure = new Figure(
      {
        series,
        overRanks: series.every((each) => each.f.group === "ranks"),
        bytes: 0,
        quantity: "time",
        logX: true,
        logY: true,
        x: null,
        y: null,
      },
      sheet,
    );
    figures.set(name, figure);
    holder.querySelectorAll("svg").forEach((still) => still.classList.add("still"));
    holder.prepend(figure.node);
  };
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries)
        if (entry.isIntersecting) {
          watcher.unobserve(entry.target);
          wake(entry.target as HTMLElement);
        }
    },
    { rootMargin: "600px" },
  );
  document.querySelectorAll<HTMLElement>("[data-function]").forEach((holder) => watcher.observe(holder));
}

function main(): void {
  const data = document.querySelector("#sheet-data");
  const place = document.querySelector<HTMLElement>("#explorer");
  if (data === null || place === null) return;
  const sheet = JSON.parse(data.textContent ?? "") as Sheet;
  if (sheet.machines.every((machine) => machine.functions.length === 0)) return;
  const explorer = new Explorer(sheet);
  place.append(explorer.node);
  place.hidden = false;
  const figures = new Map<string, Figure>();
  replacePlots(sheet, figures);
  Object.assign(window, { foretraceSheet: { sheet, explorer, figures, timeOf } });
  const drawing = explorer.figure.redraw();
  document.documentElement.dataset["summary"] = JSON.stringify({ curves: drawing.curves, marks: drawing.marks });
}

main();
