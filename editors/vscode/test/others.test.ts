import assert from "node:assert/strict";
import test from "node:test";
import { Others } from "../src/others";

/**
 * An editor that asks its providers, with ours among them, of what the others know at a place. `ended` is what everybody
 * said to each round of ours; a round waits until the test lets it go on. Where it is `slow` a round comes back to us in
 * another turn, as it does in VS Code, and whoever shares one is late in the turn after that.
 */
function editor(known: Record<string, string[]>, slow = false) {
  const settled = () => new Promise((done) => setImmediate(done));
  const others = new Others(slow ? settled : () => new Promise(() => {}));
  const held: (() => void)[] = [];
  let rounds = 0;
  /** What a user sees: all answers together. */
  async function everybody(place: string): Promise<string[]> {
    const [ours] = await Promise.all([provider(place)]);
    return [...(known[place] ?? []), ...ours];
  }
  async function provider(place: string): Promise<string[]> {
    const silent = await others.silent(place, async () => {
      rounds += 1;
      if (slow) await settled();
      const found = await everybody(place);
      await new Promise<void>((go) => held.push(go));
      return found;
    });
    return silent ? ["a guess"] : [];
  }
  /** Lets all rounds end, those that begin meanwhile as well. */
  async function over<T>(asked: Promise<T>): Promise<T> {
    let done = false;
    const end = asked.finally(() => (done = true));
    for (let turns = 0; !done; turns += 1) {
      assert.ok(turns < 100, "it never ends");
      await settled();
      held.splice(0).forEach((go) => go());
    }
    return end;
  }
  return { everybody, over, settled, rounds: () => rounds };
}

test("alone it answers, and asks one round for it", async () => {
  const { everybody, over, rounds } = editor({});
  assert.deepEqual(await over(everybody("a")), ["a guess"]);
  assert.equal(rounds(), 1);
});

test("where others know something nothing is added", async () => {
  const { everybody, over } = editor({ a: ["known"] });
  assert.deepEqual(await over(everybody("a")), ["known"]);
  assert.deepEqual(await over(everybody("b")), ["a guess"]);
});

test("a question that was answered is a new one the next time", async () => {
  const known: Record<string, string[]> = {};
  const { everybody, over, rounds } = editor(known);
  assert.deepEqual(await over(everybody("a")), ["a guess"]);
  known["a"] = ["known"];
  assert.deepEqual(await over(everybody("a")), ["known"]);
  assert.equal(rounds(), 2);
});

test("who asks the same meanwhile shares the round and gets the answer too", async () => {
  const { everybody, over, settled, rounds } = editor({});
  const first = everybody("a");
  await settled();
  const both = Promise.all([first, everybody("a"), everybody("a")]);
  assert.deepEqual(await over(both), [["a guess"], ["a guess"], ["a guess"]]);
  assert.equal(rounds(), 1);
});

test("two who ask before the round comes back do not make it wait for itself", async () => {
  const known: Record<string, string[]> = { b: ["known"] };
  const { everybody, over } = editor(known, true);
  assert.deepEqual(await over(Promise.all([everybody("a"), everybody("a")])), [["a guess"], []]);
  assert.deepEqual(await over(Promise.all([everybody("b"), everybody("b")])), [["known"], ["known"]]);
  known["a"] = ["known"];
  assert.deepEqual(await over(everybody("a")), ["known"]);
});

test("other places have rounds of their own", async () => {
  const { everybody, over, rounds } = editor({ b: ["known"] });
  assert.deepEqual(await over(Promise.all([everybody("a"), everybody("b")])), [["a guess"], ["known"]]);
  assert.equal(rounds(), 2);
});

test("where others cannot be asked it answers, and may ask again", async () => {
  const others = new Others();
  const fails = () => Promise.reject(new Error("no such document"));
  assert.equal(await others.silent("a", fails), true);
  assert.equal(await others.silent("a", async () => ["known"]), false);
  assert.equal(await others.silent("a", async () => undefined), true);
});
