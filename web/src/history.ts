// What a rank computed and waited for, piece by piece in the order of time.

// Of one cause in a stretch of time.
export interface Spent {
  time: number; // ps
  most: number; // the longest piece
  event: number; // of that piece
}

export class History {
  private readonly causes: number[] = [];
  private readonly from: number[] = [];
  private readonly to: number[] = [];
  private readonly times: number[] = []; // of [from, to]; several causes may share that
  private readonly events: number[] = [];

  get length(): number {
    return this.causes.length;
  }

  add(cause: number, from: number, to: number, time: number, event: number): void {
    this.causes.push(cause);
    this.from.push(from);
    this.to.push(to);
    this.times.push(time);
    this.events.push(event);
  }

  // By cause, what lies between two moments; of no pieces before `first`.
  sums(since: number, until: number, first = 0): Map<number, Spent> {
    const found = new Map<number, Spent>();
    for (let i = this.length - 1; i >= first && this.to[i]! > since; i--) {
      const part = Math.min(this.to[i]!, until) - Math.max(this.from[i]!, since);
      if (part <= 0) continue;
      const time = (this.times[i]! * part) / (this.to[i]! - this.from[i]!);
      const spent = found.get(this.causes[i]!);
      if (spent === undefined) found.set(this.causes[i]!, { time, most: time, event: this.events[i]! });
      else {
        spent.time += time;
        if (time > spent.most) [spent.most, spent.event] = [time, this.events[i]!];
      }
    }
    return found;
  }
}
