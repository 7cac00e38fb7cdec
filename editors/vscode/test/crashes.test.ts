import assert from "node:assert/strict";
import test from "node:test";
import { Crashes, MOST, WITHIN_MS } from "../src/crashes";
import { statisticsPage } from "../src/pages";

test("a server that keeps stopping is left alone, one that stops now and then is not", () => {
  let now = 0;
  const often = new Crashes(() => now);
  assert.deepEqual(Array.from({ length: MOST + 1 }, () => often.again()), [...Array<boolean>(MOST).fill(true), false]);
  const seldom = new Crashes(() => (now += WITHIN_MS / MOST + 1));
  assert.ok(Array.from({ length: 3 * MOST }, () => seldom.again()).every(Boolean));
});

test("statistics of nobody divide by nothing", () => {
  const none = { shown: 0, accepted: 0, accepted_partly: 0, typed_through: 0, dismissed: 0, survived: 0, since: "2026-01-02" };
  assert.doesNotMatch(statisticsPage(none), /NaN|%/);
  assert.match(statisticsPage({ ...none, shown: 4, accepted: 2, typed_through: 1 }), /75 %/);
});
