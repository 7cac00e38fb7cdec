/** How often a server may stop by itself before it is left alone. */

export const MOST = 4;
export const WITHIN_MS = 3 * 60_000;

export class Crashes {
  private readonly times: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Notes one more; whether the server is worth another start. */
  again(): boolean {
    const now = this.now();
    this.times.push(now);
    while (this.times[0] !== undefined && now - this.times[0] > WITHIN_MS) {
      this.times.shift();
    }
    return this.times.length <= MOST;
  }
}
