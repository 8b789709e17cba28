// Which ranks the rows show and in what order: a row is one rank, or a group of ranks
// folded into one.

export interface Row {
  readonly ranks: readonly number[]; // at least one, ascending
  readonly label: string;
}

export class Rows {
  readonly of: Int32Array; // the row of each rank, -1: in none
  readonly plain: boolean; // every rank has a row of its own, in whatever order

  constructor(
    readonly list: readonly Row[],
    ranks: number,
  ) {
    this.of = new Int32Array(ranks).fill(-1);
    list.forEach((row, i) => {
      for (const rank of row.ranks) this.of[rank] = i;
    });
    this.plain = list.length === ranks && !this.of.includes(-1);
  }

  get count(): number {
    return this.list.length;
  }

  // The rank that row `row` shows alone; -1 where it shows none or several.
  rank(row: number): number {
    const ranks = this.list[row]?.ranks;
    return ranks?.length === 1 ? ranks[0]! : -1;
  }
}

export function rankRow(rank: number): Row {
  return { ranks: [rank], label: String(rank) };
}

export function allRanks(ranks: number): Rows {
  return new Rows(Array.from({ length: ranks }, (_, rank) => rankRow(rank)), ranks);
}
