/** Limits how often a crashed server is started again. */

export const MAX_RESTARTS = 4;
export const CRASH_WINDOW_MS = 3 * 60_000;

export class CrashCounter {
  private readonly times: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Record a crash and return whether the server may be started again. */
  recordCrash(): boolean {
    const now = this.now();
    this.times.push(now);
    while (this.times[0] !== undefined && now - this.times[0] > CRASH_WINDOW_MS) {
      this.times.shift();
    }
    return this.times.length <= MAX_RESTARTS;
  }
}
