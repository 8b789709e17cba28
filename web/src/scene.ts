// Where ranks are drawn when they are seen at one moment, and the ways of messages between
// them: a ring, a grid, or the network that the run was simulated on. Geometry only.
export type Point = readonly [x: number, y: number]; // in a square of side 1

// As the page's data has it (src/views/timeline/network.hpp).
export interface Network {
  readonly name: string;
  readonly nodes: readonly (readonly [x: number, y: number, kind: number])[]; // 0 processor, 1 switch, 2 bus
  readonly links: readonly (readonly [number, number])[];
  readonly ranks: readonly number[]; // the node of each
  readonly routes: readonly (readonly number[])[]; // nodes from sender to receiver
}

const kMostBent = 2000;

// A stretch of a message's way that others may share.
export interface Leg {
  readonly key: number;
  readonly points: readonly Point[]; // at least two
}

export interface Scene {
  readonly form: "ring" | "grid" | "network";
  readonly at: readonly Point[]; // by rank
  readonly size: number; // room for a rank: the radius of its dot
  readonly others: readonly Point[]; // switches and buses
  readonly links: readonly Leg[]; // that are there without messages
  way(from: number, to: number): readonly Leg[];
}

function straight(at: readonly Point[]): (from: number, to: number) => readonly Leg[] {
  return (from, to) => [{ key: from * at.length + to, points: [at[from]!, at[to]!] }];
}

// Clockwise, rank 0 on top.
export function ring(ranks: number): Scene {
  const at = Array.from({ length: ranks }, (_, rank): Point => {
    const angle = (2 * Math.PI * rank) / ranks - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  });
  return { form: "ring", at, size: 1.3 / ranks, others: [], links: [], way: straight(at) };
}

// Line by line, as near to a square as the number allows.
export function grid(ranks: number): Scene {
  let columns = Math.ceil(Math.sqrt(ranks));
  for (let width = columns; width <= 2 * columns; width++)
    if (ranks % width === 0) {
      columns = width;
      break;
    }
  const lines = Math.ceil(ranks / columns);
  const side = Math.max(columns, lines);
  const at = Array.from({ length: ranks }, (_, rank): Point => [
    ((rank % columns) + 0.5) / side, (Math.floor(rank / columns) + 0.5 + (side - lines) / 2) / side,
  ]);
  return { form: "grid", at, size: 0.35 / side, others: [], links: [], way: straight(at) };
}

// A link that passes over nodes, as those that close a torus, is bent around them.
function linkPoints(a: Point, b: Point, nodes: readonly Point[]): Point[] {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const square = dx * dx + dy * dy;
  const over = nodes.some((node) => {
    const [x, y] = [node[0] - a[0], node[1] - a[1]];
    const share = (x * dx + y * dy) / square;
    return share > 0.01 && share < 0.99 && Math.abs(x * dy - y * dx) < 1e-3 * Math.sqrt(square);
  });
  if (!over) return [a, b];
  return Array.from({ length: 13 }, (_, i): Point => {
    const far = i / 12;
    const bow = 0.32 * far * (1 - far);
    return [a[0] + far * dx - bow * dy, a[1] + far * dy + bow * dx];
  });
}

export function networkScene(network: Network): Scene {
  const nodes = network.nodes.map(([x, y]): Point => [x, y]);
  const length = ([a, b]: readonly [number, number]): number => Math.hypot(nodes[a]![0] - nodes[b]![0], nodes[a]![1] - nodes[b]![1]);
  const lengths = network.links.map(length).sort((x, y) => x - y);
  const count = nodes.length;
  const legs = new Map<number, Leg>();
  for (const [a, b] of network.links) {
    // Where there are so many, none is seen by itself.
    const points = linkPoints(nodes[a]!, nodes[b]!, network.links.length > kMostBent ? [] : nodes);
    legs.set(a * count + b, { key: a * count + b, points });
  }
  // Both directions of a link are one leg to look at, with one load.
  const leg = (from: number, to: number): readonly Point[] => {
    const known = legs.get(Math.min(from, to) * count + Math.max(from, to));
    return known === undefined ? [nodes[from]!, nodes[to]!] : from < to ? known.points : [...known.points].reverse();
  };
  const routes = new Map(network.routes.map((route) => [route[0]! * count + route[route.length - 1]!, route]));
  const guests = new Map<number, number[]>();
  network.ranks.forEach((node, rank) => guests.set(node, [...(guests.get(node) ?? []), rank]));
  const least = lengths.find((each) => each > 0) ?? 0.2;
  const room = Math.min(0.05, 0.3 * least, 0.9 / Math.sqrt(Math.max(1, count)) / 2);
  // Ranks that share a processor stand around it.
  const most = Math.max(1, ...[...guests.values()].map((list) => list.length));
  const at = network.ranks.map((node, rank): Point => {
    const list = guests.get(node)!;
    if (list.length === 1) return nodes[node]!;
    const angle = (2 * Math.PI * list.indexOf(rank)) / list.length - Math.PI / 2;
    return [nodes[node]![0] + room * Math.cos(angle), nodes[node]![1] + room * Math.sin(angle)];
  });
  const ways = new Map<number, readonly Leg[]>();
  return {
    form: "network", at, size: most > 1 ? (room * 2) / most : room,
    others: nodes.filter((_, i) => network.nodes[i]![2] !== 0),
    links: [...legs.values()],
    way(from, to) {
      const key = from * at.length + to;
      let known = ways.get(key);
      if (known === undefined) {
        const [a, b] = [network.ranks[from]!, network.ranks[to]!];
        const route = routes.get(a * count + b);
        known = route === undefined ? [{ key: -1 - key, points: [at[from]!, at[to]!] }]
          : route.slice(1).map((node, i) => ({ key: Math.min(route[i]!, node) * count + Math.max(route[i]!, node), points: leg(route[i]!, node) }));
        ways.set(key, known);
      }
      return known;
    },
  };
}

// The point that is the share `far` of the way along.
export function along(way: readonly Leg[], far: number): Point {
  const points = way.flatMap((leg, i) => (i === 0 ? leg.points : leg.points.slice(1)));
  const steps = points.slice(1).map((point, i) => Math.hypot(point[0] - points[i]![0], point[1] - points[i]![1]));
  let left = far * steps.reduce((sum, step) => sum + step, 0);
  for (let i = 0; i < steps.length; i++) {
    if (left <= steps[i]! || i === steps.length - 1) {
      const share = steps[i]! > 0 ? Math.min(1, left / steps[i]!) : 0;
      const [a, b] = [points[i]!, points[i + 1]!];
      return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
    }
    left -= steps[i]!;
  }
  return points[0]!;
}
