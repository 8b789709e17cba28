import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeBase64, decodeTrace } from "../../web/src/decode";
import { Kind, type TraceHead } from "../../web/src/events";
import { VarintReader } from "../../web/src/stream";

test("base64 gives the bytes back, with one, two and no padding signs", () => {
  assert.deepEqual([...decodeBase64("")], []);
  assert.deepEqual([...decodeBase64("AA==")], [0]);
  assert.deepEqual([...decodeBase64("//8=")], [255, 255]);
  assert.deepEqual([...decodeBase64("AQID")], [1, 2, 3]);
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 37) & 255);
  assert.deepEqual(decodeBase64(Buffer.from(bytes).toString("base64")), bytes);
});

test("base64 refuses other characters and lengths", () => {
  assert.throws(() => decodeBase64("AAA"), /multiple of 4/);
  assert.throws(() => decodeBase64("A*AA"), /character 1/);
  assert.throws(() => decodeBase64("A=AA"), /character 1/);
});

test("varints are exact up to 2^53", () => {
  // 300 = 0b10_0101100; 2^53 - 1 is seven full groups and 0b1111.
  const reader = new VarintReader(
    Uint8Array.of(0, 127, 0xac, 2, 255, 255, 255, 255, 255, 255, 255, 15),
  );
  assert.equal(reader.next(), 0);
  assert.equal(reader.next(), 127);
  assert.equal(reader.next(), 300);
  assert.equal(reader.next(), Number.MAX_SAFE_INTEGER);
  assert.throws(() => reader.next(), /cut off/);
});

function head(shapes: number[][], ranks: [number, number, number][]): TraceHead {
  return {
    version: 1, program: "p", trace: "t", clock: "virtual", notes: [],
    summary: { time: 0, serial: 0, speedup: 0, efficiency: 0 },
    names: ["MPI_Recv", "load", "MPI_Irecv", "MPI_Wait"], comms: [], places: [], shapes, ranks,
  };
}

test("times are in the head's unit", () => {
  const shapes = [[Kind.recv, 0, 0, -1, 0, 0, 1, 7, 64, 0, -1, 1, 2]];
  const { ranks } = decodeTrace({ ...head(shapes, [[1, 4, 30000]]), unit: 2000 }, Uint8Array.of(1, 5, 10, 4));
  assert.deepEqual([ranks[0]!.enter[0], ranks[0]!.leave[0], ranks[0]!.wait[0]], [10000, 30000, 8000]);
});

test("a rank's events add up their gaps and durations", () => {
  const shapes = [[Kind.recv, 0, 0, -1, 0, 0, 1, 7, 64, 0, -1, 1, 2]];
  // Shape 0 with a wait: gap 5, duration 10, wait 4; without: gap 1, duration 2.
  const stream = Uint8Array.of(1, 5, 10, 4, 0, 1, 2);
  const trace = decodeTrace(head(shapes, [[2, 7, 18]]), stream);
  const rank = trace.ranks[0]!;
  assert.deepEqual([...rank.enter], [5, 16]);
  assert.deepEqual([...rank.leave], [15, 18]);
  assert.deepEqual([...rank.wait], [4, 0]);
  assert.equal(trace.shapes[0]!.recvTag, 7);
  assert.equal(trace.shapes[0]!.place, 2);
  assert.equal(trace.end, 18);
  assert.equal(trace.events, 2);
});

test("a posted receive knows the event that completed it", () => {
  const shapes = [
    [Kind.irecv, 2, 0, -1, 0, 0, 1, 0, 8, 0, -1, 1, 0],
    [Kind.complete, 3, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
  ];
  // irecv completed one event later, wait, irecv that nobody completed.
  const stream = Uint8Array.of(0, 0, 1, 1, 2, 0, 1, 0, 0, 1, 0);
  const rank = decodeTrace(head(shapes, [[3, 11, 3]]), stream).ranks[0]!;
  assert.deepEqual([...rank.done], [1, 0, 0]);
});

test("phases nest; an open one lasts to the end", () => {
  const shape = (kind: number): number[] => [kind, 1, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0];
  const shapes = [shape(Kind.phaseBegin), shape(Kind.phaseEnd)];
  // begin at 2, begin at 5, end at 9 (the inner), rank ends at 20.
  const stream = Uint8Array.of(0, 2, 0, 0, 3, 0, 2, 4, 0);
  const rank = decodeTrace(head(shapes, [[3, 9, 20]]), stream).ranks[0]!;
  assert.deepEqual(rank.phases, [
    { name: 1, depth: 0, from: 2, to: 20 },
    { name: 1, depth: 1, from: 5, to: 9 },
  ]);
});

test("a phase without a name has the one that it is closed under", () => {
  const shape = (kind: number, name: number): number[] => [kind, name, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0];
  const shapes = [shape(Kind.phaseBegin, 4), shape(Kind.phaseEnd, 1), shape(Kind.phaseBegin, 1)];
  // "" at 2, "load" inside it from 3 to 5, "" ends as "load" at 9, "" from 9 on.
  const stream = Uint8Array.of(0, 2, 0, 4, 1, 0, 2, 2, 0, 2, 4, 0, 0, 0, 0);
  const named = head(shapes, [[5, 15, 20]]);
  const rank = decodeTrace({ ...named, names: [...named.names, ""] }, stream).ranks[0]!;
  assert.deepEqual(rank.phases, [
    { name: 1, depth: 0, from: 2, to: 9 },
    { name: 1, depth: 1, from: 3, to: 5 },
  ]);
});

test("a mark has its moment and its number", () => {
  const shapes = [[Kind.mark, 1, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0]];
  // At 5 the value 2.5, 0x4004000000000000; 3 later the value 0.
  const stream = Uint8Array.of(0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 64, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const rank = decodeTrace(head(shapes, [[2, 22, 8]]), stream).ranks[0]!;
  assert.deepEqual(rank.marks, [{ event: 0, value: 2.5 }, { event: 1, value: 0 }]);
  assert.deepEqual([...rank.enter], [5, 8]);
  assert.throws(() => decodeTrace(head(shapes, [[1, 5, 5]]), Uint8Array.of(0, 5, 0, 0, 0)), /cut off/);
});

// As src/views/timeline/columns.hpp has it.
function column(values: number[]): number[] {
  const planes: number[][] = [[]];
  for (let value of values) {
    let bytes = 0;
    for (; value > 0; value = Math.floor(value / 256)) (planes[++bytes] ??= []).push(value % 256);
    planes[0]!.push(bytes);
  }
  return [planes.length, ...planes.map((plane) => plane.length), ...planes.flat()];
}

test("columns give the events that the stream gives", () => {
  const shapes = [
    [Kind.irecv, 2, 0, -1, 0, 0, 1, 0, 8, 0, -1, 1, 0],
    [Kind.complete, 3, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
    [Kind.mark, 1, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
  ];
  // irecv after 5, done by the next; 300 later a wait of 70000 in a call of 70001; a mark of 2.5.
  const value = [0, 0, 0, 0, 0, 0, 4, 64];
  const stream = Uint8Array.of(0, 5, 1, 1, 3, 0xac, 2, 0xf1, 0xa2, 4, 0xf0, 0xa2, 4, 4, 0, 0, ...value);
  const packed = Uint8Array.from([
    ...column([0, 3, 4]), ...column([5, 300, 0]), ...column([1, 1, 0]), ...column([70000]), ...column([1]), ...value]);
  const about = (bytes: number): TraceHead => head(shapes, [[3, bytes, 70307]]);
  const expected = decodeTrace(about(stream.length), stream).ranks;
  assert.deepEqual([...expected[0]!.leave], [6, 70307, 70307]);
  assert.deepEqual(decodeTrace(about(0), packed, true).ranks, expected);
  for (let cut = 0; cut < packed.length; cut++) assert.throws(() => decodeTrace(about(0), packed.subarray(0, cut), true), /cut off/);
  assert.throws(() => decodeTrace(about(0), Uint8Array.from([...packed, 0]), true), /more than its events/);
});

test("a damaged stream is refused", () => {
  const shapes = [[Kind.call, 0, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0]];
  assert.throws(() => decodeTrace(head(shapes, [[1, 3, 1]]), Uint8Array.of(0, 1)), /cut off/);
  assert.throws(() => decodeTrace(head(shapes, [[1, 3, 1]]), Uint8Array.of(8, 1, 1)), /no shape 4/);
  assert.throws(() => decodeTrace(head(shapes, [[1, 4, 1]]), Uint8Array.of(0, 1, 1, 0)), /length/);
  assert.throws(() => decodeTrace({ ...head([], []), version: 2 }, Uint8Array.of()), /version 2/);
});
