// Events whose numbers stand in columns, as src/views/timeline/columns.hpp describes them.
import { type EventSource, VarintReader } from "./stream";

// A number at a time: how many bytes it has, then these from their planes.
class Column {
  private readonly planes: Uint8Array[] = [];
  private readonly at: number[] = [];
  readonly end: number; // of the column in the bytes

  constructor(bytes: Uint8Array, start: number) {
    const reader = new VarintReader(bytes, start);
    const sizes = Array.from({ length: Math.min(9, reader.next()) }, () => reader.next());
    let from = reader.position;
    for (const size of sizes) {
      this.planes.push(bytes.subarray(from, (from += size)));
      this.at.push(0);
    }
    if (from > bytes.length) throw new Error("trace data: cut off");
    this.end = from;
  }

  next(): number {
    const { planes, at } = this;
    const count = planes[0]![at[0]!++];
    if (count === undefined || count >= planes.length) throw new Error("trace data: cut off");
    let value = 0;
    for (let plane = count; plane > 0; plane--) value = value * 256 + planes[plane]![at[plane]!++]!;
    return value;
  }

  get atEnd(): boolean {
    return this.planes.every((plane, i) => this.at[i] === plane.length);
  }
}

export class Columns implements EventSource {
  gap = 0;
  duration = 0;
  wait = 0;
  private readonly columns: readonly Column[];
  private readonly values: VarintReader;

  constructor(private readonly bytes: Uint8Array) {
    const columns: Column[] = [];
    let end = 0;
    for (let i = 0; i < 5; i++) {
      columns.push(new Column(bytes, end));
      end = columns[i]!.end;
    }
    this.columns = columns;
    this.values = new VarintReader(bytes, end);
  }

  word(): number {
    return this.columns[0]!.next();
  }

  times(waits: boolean): void {
    this.gap = this.columns[1]!.next();
    const own = this.columns[2]!.next();
    this.wait = waits ? this.columns[3]!.next() : 0;
    this.duration = own + this.wait;
  }

  done(): number {
    return this.columns[4]!.next();
  }

  double(): number {
    return this.values.double();
  }

  get atEnd(): boolean {
    return this.columns.every((column) => column.atEnd) && this.values.position === this.bytes.length;
  }
}
