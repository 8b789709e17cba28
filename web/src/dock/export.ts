// What is in view as a file.
import { button, element } from "../dom";
import { csvLines } from "../export/csv";
import { renderSvg } from "../export/svg";
import type { Desk, Tool } from "./desk";

export interface Picture {
  readonly canvas: HTMLCanvasElement; // what is drawn
  readonly width: number; // of the time lines, in CSS pixels
}

export class ExportTool implements Tool {
  readonly id = "export";
  readonly title = "Export";
  readonly body = element("section");

  // `picture`: what is on the canvases now.
  constructor(private readonly desk: Desk, private readonly picture: () => Picture) {
    this.body.append(
      element("div", "tool-line", button("SVG", "The rows in view as vectors", () => this.svg()),
        button("PNG", "The picture as it is", () => this.png()),
        button("CSV", "The events in view, or those found", () => this.csv()), button("print", "Print the page", () => window.print())),
      element("p", "hint", "CSV holds the computations and calls in view; where something was found, only that."));
  }

  update(): void {}

  private svg(): void {
    this.save(new Blob([renderSvg(this.desk.model, Math.round(this.picture().width))], { type: "image/svg+xml" }), "svg");
  }

  private csv(): void {
    const parts: string[] = [];
    for (const line of csvLines(this.desk.model)) parts.push(`${line}\n`);
    this.save(new Blob(parts, { type: "text/csv" }), "csv");
  }

  private png(): void {
    this.picture().canvas.toBlob((blob) => {
      if (blob !== null) this.save(blob, "png");
    });
  }

  private save(blob: Blob, ending: string): void {
    const link = element("a");
    const program = this.desk.model.trace.head.program.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 40) || "run";
    link.href = URL.createObjectURL(blob);
    link.download = `${program}.${ending}`;
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    this.desk.say(`${link.download} written`);
  }
}
