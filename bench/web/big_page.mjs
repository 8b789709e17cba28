// Writes a time line page of a made-up run: a ring of ranks that compute, post receives,
// send, wait, and reduce every 16th step, in one of two phases.
//
//   node big_page.mjs TEMPLATE RANKS EVENTS OUT.html [SLOW]
//
// TEMPLATE: build/web/timeline.html. EVENTS: of all ranks, roughly. SLOW: a factor for the
// computation of one rank in the second phase; the page then shows both runs.
import { deflateSync } from "node:zlib";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

const kNames = ["MPI_Init", "MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Allreduce", "MPI_Finalize", "solve", "exchange"];
const [kInit, kIrecv, kSend, kWait, kAllreduce, kFinalize, kSolve, kExchange] = kNames.keys();

class Stream {
  bytes = new Uint8Array(4096);
  length = 0;
  byte(value) {
    if (this.length === this.bytes.length) {
      const more = new Uint8Array(this.bytes.length * 2);
      more.set(this.bytes);
      this.bytes = more;
    }
    this.bytes[this.length++] = value;
  }
  varint(value) {
    while (value >= 128) {
      this.byte((value % 128) + 128);
      value = Math.floor(value / 128);
    }
    this.byte(value);
  }
}

// A column of numbers, as src/views/timeline/columns.hpp describes it.
class Column {
  planes = [new Stream()];
  add(value) {
    let bytes = 0;
    for (; value > 0; value = Math.floor(value / 256)) {
      if (this.planes.length === ++bytes) this.planes.push(new Stream());
      this.planes[bytes].byte(value % 256);
    }
    this.planes[0].byte(bytes);
  }
  write(out) {
    const sizes = new Stream();
    sizes.varint(this.planes.length);
    for (const plane of this.planes) sizes.varint(plane.length);
    out.push(...[sizes, ...this.planes].map((part) => part.bytes.subarray(0, part.length)));
  }
}

// Rank after rank.
function inColumns(parts) {
  const columns = Array.from({ length: 5 }, () => new Column());
  for (const numbers of parts)
    for (let i = 0; i < numbers.length; i += 5) {
      const [shape, gap, duration, wait, done] = numbers.slice(i, i + 5);
      columns[0].add(shape * 2 + (wait > 0 ? 1 : 0));
      columns[1].add(gap);
      columns[2].add(duration - wait);
      if (wait > 0) columns[3].add(wait);
      if (done >= 0) columns[4].add(done);
    }
  const out = [];
  for (const column of columns) column.write(out);
  return Buffer.concat(out);
}

function makeRun(ranks, events, slow) {
  const shapes = [
    [1, kInit, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
    [7, kIrecv, 0, -1, 0, 0, ranks - 1, 5, 4096, 0, -1, 1, 1],
    [3, kSend, 0, 1, 5, 4096, -1, 0, 0, 0, -1, 1, 2],
    [8, kWait, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 3],
    [9, kAllreduce, 0, -1, 0, 0, -1, 0, 0, 8, -1, 1, 4],
    [2, kFinalize, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
    [11, kSolve, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
    [12, kSolve, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
    [11, kExchange, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
    [12, kExchange, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0],
  ];
  const steps = Math.max(2, Math.floor(events / ranks / 3));
  let seed = 7;
  const random = (limit) => (seed = (seed * 48271) % 2147483647) % limit;
  // Times by step and rank: each waits for the left neighbour.
  const now = new Float64Array(ranks);
  const counts = new Array(ranks).fill(0);
  const last = new Float64Array(ranks);
  const parts = Array.from({ length: ranks }, () => []); // shape, gap, duration, wait, done or -1
  const put = (rank, shape, enter, leave, wait = 0, done = null) => {
    parts[rank].push(shape, enter - last[rank], leave - enter, wait, done ?? -1);
    last[rank] = leave;
    counts[rank]++;
  };
  for (let rank = 0; rank < ranks; rank++) {
    put(rank, 0, 0, 0);
    put(rank, 6, 0, 0);
  }
  const half = Math.floor(steps / 2);
  const sent = new Float64Array(ranks);
  for (let step = 0; step < steps; step++) {
    if (step === half) for (let rank = 0; rank < ranks; rank++) {
      put(rank, 7, now[rank], now[rank]);
      put(rank, 8, now[rank], now[rank]);
    }
    for (let rank = 0; rank < ranks; rank++) {
      const factor = step >= half && rank === 3 % ranks ? slow : 1;
      const t = now[rank] + (80 + random(40)) * 1e6 * factor;
      put(rank, 1, t, t + 2e5, 0, 2);
      put(rank, 2, t + 2e5, t + 3e6);
      now[rank] = sent[rank] = t + 3e6;
    }
    let most = 0;
    for (let rank = 0; rank < ranks; rank++) {
      const ready = sent[(rank + ranks - 1) % ranks] + 5e6;
      const leave = Math.max(now[rank] + 1e6, ready);
      put(rank, 3, now[rank], leave, Math.max(0, ready - now[rank]));
      now[rank] = leave;
      most = Math.max(most, leave);
    }
    if (step % 16 === 15)
      for (let rank = 0; rank < ranks; rank++) {
        put(rank, 4, now[rank], most + 8e6, most - now[rank]);
        now[rank] = most + 8e6;
      }
  }
  const end = Math.max(...now);
  for (let rank = 0; rank < ranks; rank++) {
    put(rank, 9, now[rank], now[rank]);
    put(rank, 5, now[rank], now[rank]);
  }
  const head = {
    version: 1, program: `ring ${ranks}`, trace: "made up", clock: "virtual", notes: [],
    summary: { time: end, serial: end * ranks * 0.8, speedup: ranks * 0.8, efficiency: 0.8 },
    names: kNames, comms: [{ name: "MPI_COMM_WORLD", size: ranks }], places: ["ring.c:31", "ring.c:32", "ring.c:33", "ring.c:40"],
    shapes, ranks: parts.map((_, rank) => [counts[rank], 0, last[rank]]),
  };
  return { head, parts };
}

const [template, ranks, events, out, slow] = process.argv.slice(2);
const page = readFileSync(template, "utf8").replace("@FORETRACE_EXPLANATION@", "null");
const [before, after] = page.split("@FORETRACE_RUNS@");
const file = openSync(out, "w");
writeSync(file, before);
let total = 0;
let bytes = 0;
for (const [name, factor] of slow === undefined ? [["run", 1]] : [["before", 1], ["after", Number(slow)]]) {
  const { head, parts } = makeRun(Number(ranks), Number(events), factor);
  writeSync(file, `<script class="trace-head" data-name="${name}" type="application/json">${JSON.stringify(head)}</script>\n`);
  // As render_html_runs() packs it.
  const packed = deflateSync(inColumns(parts), { level: 6 });
  bytes += packed.length;
  writeSync(file, `<script class="trace-stream" type="application/octet-stream" data-packed>${packed.toString("base64")}</script>\n`);
  total += head.ranks.reduce((sum, [count]) => sum + count, 0);
}
writeSync(file, after);
closeSync(file);
console.log(JSON.stringify({ events: total, bytes_per_event: bytes / total }));
