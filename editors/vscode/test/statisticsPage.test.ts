import assert from "node:assert/strict";
import test from "node:test";
import type { Statistics } from "../src/protocol";
import { statisticsPage } from "../src/statisticsPage";

const statistics: Statistics = { shown: 8, accepted: 3, accepted_partly: 1, typed_through: 2, dismissed: 1, survived: 2, since: "2026-01-02" };

test("what was used is a share of what was shown", () => {
  assert.match(statisticsPage(statistics), /Counted since 2026-01-02[\s\S]*\| accepted \| 3 \|[\s\S]*75 % of what was shown was used/);
  assert.doesNotMatch(statisticsPage({ ...statistics, shown: 0 }), /NaN|%/);
});

test("a server that checks no types has no section about them", () => {
  assert.doesNotMatch(statisticsPage(statistics), /Types/);
});

test("the results of the type gate are counted in words, with the state of the checkers", () => {
  const counted = { ...statistics, types_passed: 40, types_cut: 2, types_hidden: 5, types_skipped: 1 };
  const page = statisticsPage(counted, [{ checker: "ty", folder: "/work", state: "starting", reason: "" }]);
  assert.match(page, /# Types[\s\S]*\| without a type error \| 40 \|\n\| cut before a type error \| 2 \|\n\| hidden because of a type error \| 5 \|\n\| not checked \| 1 \|/);
  assert.match(page, /- Type checker ty in \/work: starting/);
  assert.doesNotMatch(page, /replaced|undefined/);
  assert.match(statisticsPage({ ...counted, types_replaced: 4 }), /\| replaced because of a type error \| 4 \|/);
});
