// Pairs of ranks between which messages are slow, put together by what their ways have in common: a
// link, where the network is known.
import type { Loss } from "./losses";
import type { Messages } from "./messages";
import type { EventRef } from "./model";
import type { Network } from "./scene";

export interface SlowPair {
  readonly from: number;
  readonly to: number;
  readonly phase: string;
  readonly lost: number; // ps
  readonly worst: EventRef;
  readonly most: number; // that it lost
  readonly ratios: number[]; // of each slow message's time to the usual one
  usual: number; // time of the worst one's size
}

const kFew = 2; // pairs that are told one by one

interface Link {
  readonly name: string;
  pairs: SlowPair[];
  slow: number; // messages over it
  all: number;
}

// As `foretrace topology --route` calls it.
function nodeName({ nodes }: Network, node: number): string {
  const kind = nodes[node]![2];
  return kind === 0 ? String(node) : `${kind === 1 ? "s" : "b"}${nodes.slice(0, node).filter((each) => each[2] === kind).length}`;
}

// The links of the pairs' ways, with all messages that go over them.
function linksOf(pairs: readonly SlowPair[], network: Network, messages: Messages): Link[] {
  const count = network.nodes.length;
  const routes = new Map(network.routes.map((route) => [route[0]! * count + route[route.length - 1]!, route]));
  const way = (from: number, to: number): readonly number[] => routes.get(network.ranks[from]! * count + network.ranks[to]!) ?? [];
  const links = new Map<number, Link>();
  for (const pair of pairs)
    way(pair.from, pair.to).forEach((node, i, all) => {
      if (i === 0) return;
      const key = all[i - 1]! * count + node;
      const link = links.get(key) ?? { name: `${nodeName(network, all[i - 1]!)} → ${nodeName(network, node)}`, pairs: [], slow: 0, all: 0 };
      link.pairs.push(pair);
      link.slow += pair.ratios.length;
      links.set(key, link);
    });
  for (let i = 0; i < messages.count; i++)
    way(messages.source[i]!, messages.dest[i]!).forEach((node, k, all) => {
      const link = k > 0 ? links.get(all[k - 1]! * count + node) : undefined;
      if (link !== undefined) link.all++;
    });
  return [...links.values()];
}

function lost(pairs: readonly SlowPair[]): number {
  return pairs.reduce((sum, pair) => sum + pair.lost, 0);
}

function together(pairs: readonly SlowPair[], link: string): Loss {
  const worst = pairs.reduce((a, b) => (b.most > a.most ? b : a));
  const ratios = pairs.flatMap((pair) => pair.ratios).sort((a, b) => a - b);
  return {
    kind: "slow messages", lost: lost(pairs), phase: worst.phase, worst: worst.worst, ranks: [worst.from, worst.to], others: [], further: 0,
    ratio: ratios[ratios.length >> 1] ?? 1, usual: worst.usual, link, pairs: pairs.length,
  };
}

// First a link goes that has most of what is lost, the more of its messages are slow.
export function slowWays(pairs: readonly SlowPair[], network: Network | undefined, messages: Messages): Loss[] {
  const found: Loss[] = [];
  for (const phase of new Set(pairs.map((pair) => pair.phase))) {
    let left = pairs.filter((pair) => pair.phase === phase);
    while (network !== undefined && left.length >= kFew) {
      const links = linksOf(left, network, messages).filter((link) => link.pairs.length >= kFew);
      if (links.length === 0) break;
      const weight = (link: Link): number => (lost(link.pairs) * link.slow) / link.all;
      const most = links.reduce((a, b) => (weight(b) > weight(a) ? b : a));
      found.push(together(most.pairs, most.name));
      left = left.filter((pair) => !most.pairs.includes(pair));
    }
    if (left.length > kFew) found.push(together(left, ""));
    else for (const pair of left) found.push(together([pair], ""));
  }
  return found;
}
