// A table whose columns sort it.
import { button, element } from "../dom";

export interface Column<T> {
  readonly name: string;
  readonly value: (row: T) => number | string; // what it is sorted by
  readonly text?: (row: T) => string; // what is shown, if not that
  readonly title?: string;
}

export class SortedTable<T> {
  readonly node: HTMLElement;
  private readonly head = element("thead");
  private readonly body = element("tbody");
  private by: number;
  private down: boolean;
  private rows: readonly T[] = [];

  // `act`: what a click on a row does. At first it is sorted by column `by`, the largest first.
  constructor(
    caption: string,
    private readonly columns: readonly Column<T>[],
    by: number,
    private readonly act: ((row: T) => void) | null = null,
    private readonly most = 500,
  ) {
    this.by = by;
    this.down = true;
    const table = element("table", "sorted", element("caption", "", caption), this.head, this.body);
    this.node = element("div", "table", table);
    const line = element("tr");
    columns.forEach((column, i) => {
      const name = button(column.name, column.title ?? `Sort by ${column.name}`, () => this.sortBy(i));
      const cell = element("th", "", name);
      cell.scope = "col";
      line.append(cell);
    });
    this.head.append(line);
  }

  // By a column, the largest first.
  sort(column: number): void {
    this.by = column;
    this.down = true;
    this.draw();
  }

  fill(rows: readonly T[]): void {
    this.rows = rows;
    this.draw();
  }

  get sorted(): readonly T[] {
    const { value } = this.columns[this.by]!;
    const sign = this.down ? -1 : 1;
    return [...this.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return x === y ? 0 : (x < y ? -1 : 1) * sign;
    });
  }

  private sortBy(column: number): void {
    const first = this.rows[0];
    this.down = column === this.by ? !this.down : first === undefined || typeof this.columns[column]!.value(first) === "number";
    this.by = column;
    this.draw();
  }

  private draw(): void {
    [...this.head.querySelectorAll("th")].forEach((cell, i) =>
      cell.setAttribute("aria-sort", i !== this.by ? "none" : this.down ? "descending" : "ascending"));
    const sorted = this.sorted;
    const lines = sorted.slice(0, this.most).map((row) => this.line(row));
    if (sorted.length > this.most) {
      const cell = element("td", "", `${sorted.length - this.most} more`);
      cell.colSpan = this.columns.length;
      lines.push(element("tr", "", cell));
    }
    this.body.replaceChildren(...lines);
  }

  private line(row: T): HTMLTableRowElement {
    const line = element("tr");
    this.columns.forEach((column, i) => {
      const value = column.value(row);
      const text = column.text?.(row) ?? String(value);
      const name = i === 0 && this.act !== null;
      const cell = element("td", typeof value === "number" ? "time" : "");
      const { act } = this;
      cell.append(name && act !== null ? button(text, "Mark in the time line", () => act(row)) : text);
      line.append(cell);
    });
    return line;
  }
}
