/** For which who asks the same meanwhile waits for a round's end. */
const PATIENCE_MS = 2000;

/**
 * Whether anybody else has an answer. VS Code does not say who else there is: all can be asked, and then this extension
 * is asked as well. That must not begin another round, and so it has to know its own question when that comes back.
 */
export class Others {
  private readonly rounds = new Map<string, Round>();

  /** `late` is over when nobody can be kept waiting for another's round any longer. */
  constructor(private readonly late: () => Promise<unknown> = () => new Promise((over) => setTimeout(over, PATIENCE_MS))) {}

  /**
   * Whether nobody but us answers a question. `ask` asks everybody. Who asks the same while that goes on shares the
   * round; the first who asks after its beginning is taken for the round itself, which is told no at once. A user may
   * have been quicker than the round, which then comes back to wait for its own end: whoever shares one is told no
   * when that takes too long.
   */
  async silent(question: string, ask: () => PromiseLike<readonly unknown[] | undefined>): Promise<boolean> {
    const running = this.rounds.get(question);
    if (running?.cameBack === false) {
      running.cameBack = true;
      return false;
    }
    return running ? Promise.race([running.silent, this.late().then(() => false)]) : this.begin(question, ask).silent;
  }

  private begin(question: string, ask: () => PromiseLike<readonly unknown[] | undefined>): Round {
    const round: Round = { cameBack: false, silent: Promise.resolve(true) };
    // before it asks: the question may come back before there is anything to wait for
    this.rounds.set(question, round);
    round.silent = nothing(ask).finally(() => this.rounds.delete(question));
    return round;
  }
}

interface Round {
  /** Whether we have been asked by ourselves yet. */
  cameBack: boolean;
  silent: Promise<boolean>;
}

/** Who cannot be asked says nothing. */
async function nothing(ask: () => PromiseLike<readonly unknown[] | undefined>): Promise<boolean> {
  try {
    return ((await ask()) ?? []).length === 0;
  } catch {
    return true;
  }
}
