import assert from "node:assert/strict";
import test from "node:test";
import { CRASH_WINDOW_MS, CrashCounter, MAX_RESTARTS } from "../src/crashes";
import { statisticsPage } from "../src/statisticsPage";

test("a server that crashes often is not restarted, one that crashes rarely is", () => {
  let now = 0;
  const often = new CrashCounter(() => now);
  const answers = Array.from({ length: MAX_RESTARTS + 1 }, () => often.recordCrash());
  assert.deepEqual(answers, [...Array<boolean>(MAX_RESTARTS).fill(true), false]);
  const rarely = new CrashCounter(() => (now += CRASH_WINDOW_MS / MAX_RESTARTS + 1));
  assert.ok(Array.from({ length: 3 * MAX_RESTARTS }, () => rarely.recordCrash()).every(Boolean));
});

test("statistics without suggestions do not divide by zero", () => {
  const empty = { shown: 0, accepted: 0, accepted_partly: 0, typed_through: 0, dismissed: 0, survived: 0, since: "2026-01-02" };
  assert.doesNotMatch(statisticsPage(empty), /NaN|%/);
  assert.match(statisticsPage({ ...empty, shown: 4, accepted: 2, typed_through: 1 }), /75 %/);
});
