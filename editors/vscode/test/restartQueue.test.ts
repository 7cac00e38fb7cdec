import assert from "node:assert/strict";
import test from "node:test";
import { RestartQueue } from "../src/restartQueue";

/** Return a queue whose runs end when the test ends them. */
function manualQueue() {
  const runs: { succeed: () => void; fail: (error: Error) => void }[] = [];
  const task = () => new Promise<void>((succeed, fail) => runs.push({ succeed, fail }));
  return { runs, queue: new RestartQueue(task) };
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test("calls during a run share one further run", async () => {
  const { runs, queue } = manualQueue();
  const first = queue.run();
  const others = [queue.run(), queue.run(), queue.run()];
  assert.equal(runs.length, 1);
  runs[0]?.succeed();
  await first;
  await nextTurn();
  assert.equal(runs.length, 2);
  runs[1]?.succeed();
  await Promise.all(others);
  assert.equal(runs.length, 2);
});

test("an error goes to the caller of that run, and the next run starts all the same", async () => {
  const { runs, queue } = manualQueue();
  const first = queue.run();
  const second = queue.run();
  runs[0]?.fail(new Error("no"));
  await assert.rejects(first, /no/);
  await nextTurn();
  assert.equal(runs.length, 2);
  runs[1]?.succeed();
  await second;
});

test("a call during the second run gets a third", async () => {
  const { runs, queue } = manualQueue();
  void queue.run();
  const second = queue.run();
  runs[0]?.succeed();
  await nextTurn();
  const third = queue.run();
  runs[1]?.succeed();
  await second;
  await nextTurn();
  assert.equal(runs.length, 3);
  runs[2]?.succeed();
  await third;
});
