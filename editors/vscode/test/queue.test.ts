import assert from "node:assert/strict";
import test from "node:test";
import { Queue } from "../src/queue";

/** Work that ends when the test says so. */
function byHand() {
  const ends: { done: () => void; fail: (error: Error) => void }[] = [];
  const work = () => new Promise<void>((done, fail) => ends.push({ done, fail }));
  return { ends, queue: new Queue(work) };
}
/** Lets everything that can go on go on. */
const settled = () => new Promise((done) => setImmediate(done));

test("who asks while it runs shares one more run", async () => {
  const { ends, queue } = byHand();
  const first = queue.run();
  const others = [queue.run(), queue.run(), queue.run()];
  assert.equal(ends.length, 1);
  ends[0]?.done();
  await first;
  await settled();
  assert.equal(ends.length, 2);
  ends[1]?.done();
  await Promise.all(others);
  assert.equal(ends.length, 2);
});

test("a run that fails is told to who asked for it, and the next is run all the same", async () => {
  const { ends, queue } = byHand();
  const first = queue.run();
  const second = queue.run();
  ends[0]?.fail(new Error("no"));
  await assert.rejects(first, /no/);
  await settled();
  assert.equal(ends.length, 2);
  ends[1]?.done();
  await second;
});

test("who asks during the second run gets a third", async () => {
  const { ends, queue } = byHand();
  void queue.run();
  const second = queue.run();
  ends[0]?.done();
  await settled();
  const third = queue.run();
  ends[1]?.done();
  await second;
  await settled();
  assert.equal(ends.length, 3);
  ends[2]?.done();
  await third;
});
