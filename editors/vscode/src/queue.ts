/**
 * Runs a piece of work one at a time. Who asks while it runs waits for one more run, which all who ask meanwhile
 * share: ten changed settings are two restarts, and the last one sees the last settings.
 */
export class Queue {
  private current: Promise<void> | undefined;
  private waiting: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  run(): Promise<void> {
    if (this.current === undefined) {
      return this.begin();
    }
    // what came of the run before is for those who asked for that one
    this.waiting ??= this.current.then(
      () => this.next(),
      () => this.next(),
    );
    return this.waiting;
  }

  private next(): Promise<void> {
    this.waiting = undefined;
    return this.begin();
  }

  private begin(): Promise<void> {
    const run = this.work().finally(() => {
      if (this.current === run) {
        this.current = undefined;
      }
    });
    this.current = run;
    return run;
  }
}
