// What a server says of all ranks in an interval: measures, who does alike, messages under way.
import type { Group } from "../arrange";
import type { Rows } from "../rows";
import type { RankMeasure } from "../statistics";

export interface RankFacts {
  readonly measures: RankMeasure[];
  readonly delays: Float64Array; // how long others waited for each rank, NaN: not known; ps
}

// As Pyramid::ranks() has it.
export function readRankFacts(bytes: ArrayBuffer): RankFacts {
  const numbers = new Float64Array(bytes);
  const ranks = numbers.length / 4;
  const measures = Array.from({ length: ranks }, (_, i) => ({ compute: numbers[4 * i]!, calls: numbers[4 * i + 1]!, wait: numbers[4 * i + 2]! }));
  return { measures, delays: Float64Array.from({ length: ranks }, (_, i) => numbers[4 * i + 3]!) };
}

// As Pyramid::alike() has it.
export function readAlike(bytes: ArrayBuffer): Group[] {
  const groups = JSON.parse(new TextDecoder().decode(bytes)) as { ranks: number[]; apart: number }[];
  return groups.map(({ ranks: spans, apart }, i) => {
    const ranks: number[] = [];
    for (let k = 0; k < spans.length; k += 2) for (let n = 0; n < spans[k + 1]!; n++) ranks.push(spans[k]! + n);
    return { name: `alike ${i + 1}`, ranks, apart };
  });
}

// What Arrangement::parse() reads; null where the rows are the ranks.
export function tellRows({ list }: Rows, ranks: number): string | null {
  if (list.length === ranks && list.every((row, i) => row.ranks.length === 1 && row.ranks[0] === i)) return null;
  return JSON.stringify({ sizes: list.map((row) => row.ranks.length), ranks: list.flatMap((row) => row.ranks) });
}
