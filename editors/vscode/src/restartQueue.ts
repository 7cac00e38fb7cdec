/**
 * Runs a task one at a time. Callers that arrive during a run share one further run: ten changed settings cause two
 * restarts, and the last restart uses the last settings.
 */
export class RestartQueue {
  private current: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly task: () => Promise<void>) {}

  run(): Promise<void> {
    if (this.current === undefined) {
      return this.start();
    }
    // an error of the current run concerns only its own caller
    this.next ??= this.current.then(
      () => this.startNext(),
      () => this.startNext(),
    );
    return this.next;
  }

  private startNext(): Promise<void> {
    this.next = undefined;
    return this.start();
  }

  private start(): Promise<void> {
    const run = this.task().finally(() => {
      if (this.current === run) {
        this.current = undefined;
      }
    });
    this.current = run;
    return run;
  }
}
