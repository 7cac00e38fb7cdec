import assert from "node:assert/strict";
import test from "node:test";
import { OtherProviders } from "../src/otherProviders";

/**
 * Simulate an editor that asks all providers, ours among them. `known` holds the answers of the others by place. A
 * round waits until `finish` ends it. If the editor is `slow`, a round comes back to our provider in a later turn of
 * the event loop, as in VS Code, and a caller that shares a round times out one turn after that.
 */
function editor(known: Record<string, string[]>, slow = false) {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const others = new OtherProviders(slow ? nextTurn : () => new Promise(() => {}));
  const endRound: (() => void)[] = [];
  let rounds = 0;
  /** Return all answers together, as a user sees them. */
  async function askAll(place: string): Promise<string[]> {
    const [ours] = await Promise.all([ourProvider(place)]);
    return [...(known[place] ?? []), ...ours];
  }
  async function ourProvider(place: string): Promise<string[]> {
    const othersHaveNone = await others.haveNone(place, async () => {
      rounds += 1;
      if (slow) await nextTurn();
      const answers = await askAll(place);
      await new Promise<void>((resolve) => endRound.push(resolve));
      return answers;
    });
    return othersHaveNone ? ["a guess"] : [];
  }
  /** End all rounds, also those that start meanwhile, and return the result of `pending`. */
  async function finish<T>(pending: Promise<T>): Promise<T> {
    let isDone = false;
    const result = pending.finally(() => (isDone = true));
    for (let turns = 0; !isDone; turns += 1) {
      assert.ok(turns < 100, "it never ends");
      await nextTurn();
      endRound.splice(0).forEach((end) => end());
    }
    return result;
  }
  return { askAll, finish, nextTurn, rounds: () => rounds };
}

test("without other providers it answers after one round", async () => {
  const { askAll, finish, rounds } = editor({});
  assert.deepEqual(await finish(askAll("a")), ["a guess"]);
  assert.equal(rounds(), 1);
});

test("if others have an answer, nothing is added", async () => {
  const { askAll, finish } = editor({ a: ["known"] });
  assert.deepEqual(await finish(askAll("a")), ["known"]);
  assert.deepEqual(await finish(askAll("b")), ["a guess"]);
});

test("the same question starts a new round the next time", async () => {
  const known: Record<string, string[]> = {};
  const { askAll, finish, rounds } = editor(known);
  assert.deepEqual(await finish(askAll("a")), ["a guess"]);
  known["a"] = ["known"];
  assert.deepEqual(await finish(askAll("a")), ["known"]);
  assert.equal(rounds(), 2);
});

test("callers with the same question share the round and its answer", async () => {
  const { askAll, finish, nextTurn, rounds } = editor({});
  const first = askAll("a");
  await nextTurn();
  const all = Promise.all([first, askAll("a"), askAll("a")]);
  assert.deepEqual(await finish(all), [["a guess"], ["a guess"], ["a guess"]]);
  assert.equal(rounds(), 1);
});

test("two calls before the round comes back do not make it wait for itself", async () => {
  const known: Record<string, string[]> = { b: ["known"] };
  const { askAll, finish } = editor(known, true);
  assert.deepEqual(await finish(Promise.all([askAll("a"), askAll("a")])), [["a guess"], []]);
  assert.deepEqual(await finish(Promise.all([askAll("b"), askAll("b")])), [["known"], ["known"]]);
  known["a"] = ["known"];
  assert.deepEqual(await finish(askAll("a")), ["known"]);
});

test("other places have their own rounds", async () => {
  const { askAll, finish, rounds } = editor({ b: ["known"] });
  assert.deepEqual(await finish(Promise.all([askAll("a"), askAll("b")])), [["a guess"], ["known"]]);
  assert.equal(rounds(), 2);
});

test("if the query fails it answers, and can ask again", async () => {
  const others = new OtherProviders();
  const fail = () => Promise.reject(new Error("no such document"));
  assert.equal(await others.haveNone("a", fail), true);
  assert.equal(await others.haveNone("a", async () => ["known"]), false);
  assert.equal(await others.haveNone("a", async () => undefined), true);
});
