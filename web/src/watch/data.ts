// What the watcher tells: src/views/watch/watch_view.hpp.
export interface WatchRank {
  readonly rank: number;
  readonly doing: "absent" | "computing" | "calling" | "ended";
  readonly call: string;
  readonly place: string;
  readonly phase: string;
  readonly calls: number;
  readonly sent: number;
  readonly bytes: number;
  readonly waits: number; // for how many
  readonly waits_for: readonly number[]; // some of them, stopped ones first
  readonly guessed: boolean;
  readonly unread: readonly (readonly [from: number, messages: number])[];
  readonly process?: number; // it is stopped
}

export interface WatchState {
  readonly seconds: number;
  readonly ended: boolean;
  readonly line: string;
  readonly clock: string; // of the times
  readonly picture: string; // its version; "": there is none
  readonly compute: number; // seconds, of all ranks
  readonly functions: readonly (readonly [name: string, calls: number, seconds: number])[];
  readonly messages: readonly (readonly [from: number, to: number, messages: number, bytes: number])[]; // since the look before
  readonly ranks: readonly WatchRank[];
}

// What a rank is drawn as.
export function stateName(rank: WatchRank): string {
  if (rank.process !== undefined) return "stopped";
  if (rank.doing === "calling") return rank.call;
  return rank.doing === "computing" ? "COMPUTE" : rank.doing;
}

// Calls and bytes by second between two looks.
export function rates(before: WatchState | null, now: WatchState): { calls: number; bytes: number }[] {
  return now.ranks.map((rank, i) => {
    const then = before?.ranks[i];
    const time = now.seconds - (before?.seconds ?? now.seconds);
    if (then === undefined || time <= 0) return { calls: 0, bytes: 0 };
    return { calls: Math.max(0, rank.calls - then.calls) / time, bytes: Math.max(0, rank.bytes - then.bytes) / time };
  });
}

export interface Sum {
  readonly name: string;
  readonly calls: number;
  readonly seconds: number;
  readonly share: number;
}

// Where the time of all ranks went.
export function sums(state: WatchState): Sum[] {
  const all = [["COMPUTE", 0, state.compute] as const, ...state.functions];
  const total = all.reduce((sum, [, , seconds]) => sum + seconds, 0);
  return all.map(([name, calls, seconds]) => ({ name, calls, seconds, share: total > 0 ? seconds / total : 0 }));
}
