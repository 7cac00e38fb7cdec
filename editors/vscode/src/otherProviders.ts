/** Time after which a caller that shares a round of others stops waiting for its end. */
const SHARED_ROUND_TIMEOUT_MS = 2000;

/**
 * Finds out whether other providers answer a question. VS Code cannot list the other providers: a query asks all of
 * them, and this extension as well. That call must not start another round, so the class recognizes its own question
 * when it comes back.
 */
export class OtherProviders {
  private readonly rounds = new Map<string, Round>();

  /** `timeout` resolves when a caller that shares a round must not wait any longer. */
  constructor(
    private readonly timeout: () => Promise<unknown> = () => new Promise((resolve) => setTimeout(resolve, SHARED_ROUND_TIMEOUT_MS)),
  ) {}

  /**
   * Return whether no other provider answers a question. `askAll` asks all providers.
   *
   * Callers with the same question share a running round. The first call after the start of a round is taken for the
   * round's own call and gets `false` at once. A call of the user may come first; then the round's own call shares the
   * round and would wait for itself. So a caller that shares a round gets `false` after a timeout.
   */
  async haveNone(question: string, askAll: () => PromiseLike<readonly unknown[] | undefined>): Promise<boolean> {
    const round = this.rounds.get(question);
    if (round?.cameBack === false) {
      round.cameBack = true;
      return false;
    }
    return round ? Promise.race([round.isEmpty, this.timeout().then(() => false)]) : this.startRound(question, askAll).isEmpty;
  }

  private startRound(question: string, askAll: () => PromiseLike<readonly unknown[] | undefined>): Round {
    const round: Round = { cameBack: false, isEmpty: Promise.resolve(true) };
    // the round is registered before it asks because the question may come back before `askAll` returns
    this.rounds.set(question, round);
    round.isEmpty = hasNoAnswer(askAll).finally(() => this.rounds.delete(question));
    return round;
  }
}

interface Round {
  /** Whether the round's own question has come back to this extension. */
  cameBack: boolean;
  isEmpty: Promise<boolean>;
}

/** Return whether there is no answer. A query that fails has no answer. */
async function hasNoAnswer(askAll: () => PromiseLike<readonly unknown[] | undefined>): Promise<boolean> {
  try {
    return ((await askAll()) ?? []).length === 0;
  } catch {
    return true;
  }
}
