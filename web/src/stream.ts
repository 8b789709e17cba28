// The numbers of events, as they stand in bytes.

// Reads unsigned LEB128 integers, exact up to 2^53.
export class VarintReader {
  constructor(private readonly bytes: Uint8Array, private at = 0) {}

  get position(): number {
    return this.at;
  }

  next(): number {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte === undefined) throw new Error("trace data: cut off");
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 128;
    do {
      byte = bytes[this.at++];
      if (byte === undefined) throw new Error("trace data: cut off");
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    return value;
  }

  // An IEEE double, low byte first.
  double(): number {
    if (this.at + 8 > this.bytes.length) throw new Error("trace data: cut off");
    const value = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8).getFloat64(0, true);
    this.at += 8;
    return value;
  }
}

// Where events are read from, in order.
export interface EventSource {
  gap: number;
  duration: number;
  wait: number;
  word(): number;
  times(waits: boolean): void; // of the event whose word was read last
  done(): number;
  double(): number;
}

// The numbers of an event side by side.
export class Stream extends VarintReader implements EventSource {
  gap = 0;
  duration = 0;
  wait = 0;

  word(): number {
    return this.next();
  }

  times(waits: boolean): void {
    this.gap = this.next();
    this.duration = this.next();
    this.wait = waits ? this.next() : 0;
  }

  done(): number {
    return this.next();
  }
}
