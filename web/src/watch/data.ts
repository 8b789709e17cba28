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
  readonly waits_for: readonly number[];
  readonly guessed: boolean;
  readonly unread: readonly (readonly [from: number, messages: number])[];
  readonly process?: number; // it is stopped
}

export interface WatchState {
  readonly seconds: number;
  readonly ended: boolean;
  readonly line: string;
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
