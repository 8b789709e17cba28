// Traces made by hand for the tests of the page's modules.
import { Kind, type Mark, type PhaseSpan, type RankData, type Shape, type TraceData } from "../../web/src/events";

export interface Call {
  gap: number; // computation before it, ps
  takes: number;
  wait?: number;
  done?: number; // irecv: index of the event that completed it
  shape: Partial<Shape> & { kind: number };
}

const kNoShape: Shape = {
  kind: Kind.call, name: 0, comm: 0, sendPeer: -1, sendTag: 0, sendBytes: 0,
  recvPeer: -1, recvTag: 0, recvBytes: 0, collectiveBytes: 0, root: -1, count: 1, place: 0,
};

export function buildTrace(names: string[], calls: Call[][]): TraceData {
  const shapes: Shape[] = [];
  const ranks = calls.map((list): RankData => {
    const n = list.length;
    const rank = {
      count: n, first: 0, end: 0, phases: [] as PhaseSpan[], marks: [] as Mark[],
      enter: new Float64Array(n), leave: new Float64Array(n), wait: new Float64Array(n),
      shape: new Uint32Array(n), done: new Uint32Array(n),
    };
    list.forEach((call, i) => {
      rank.enter[i] = rank.end + call.gap;
      rank.leave[i] = rank.end = rank.enter[i]! + call.takes;
      rank.wait[i] = call.wait ?? 0;
      rank.done[i] = call.done ?? 0;
      rank.shape[i] = shapes.length;
      shapes.push({ ...kNoShape, ...call.shape });
    });
    return rank;
  });
  const end = Math.max(1, ...ranks.map((rank) => rank.end));
  const head = {
    version: 1, program: "", trace: "", clock: "virtual", notes: [],
    summary: { time: end, serial: 0, speedup: 0, efficiency: 0 },
    names, comms: [{ name: "MPI_COMM_WORLD", size: ranks.length }], places: [], shapes: [], ranks: [],
  };
  return { head, end, events: calls.flat().length, shapes, ranks };
}
