import assert from "node:assert/strict";
import test from "node:test";
import type { Status } from "../src/protocol";
import { escapeMarkdown, modelName, statusText } from "../src/statusText";

const statistics = { shown: 5, accepted: 3, accepted_partly: 1, typed_through: 0, dismissed: 1 };
const status: Status = { engine: "ready", model: "small", message: null, paused: false, trusted: true, last: null, statistics };
const last = { prompt_tokens: 135, evaluated: 3, reused: 132, generated: 18, ms: 104.4 };
const textOf = (change: Partial<Status>) => statusText({ server: "running", status: { ...status, ...change } });

test("each state of the engine has its own text", () => {
  const texts = (["off", "starting", "ready", "busy", "failed"] as const).map((engine) => textOf({ engine }).text);
  assert.equal(new Set(texts).size, 5);
  assert.ok(texts.every((text) => text.includes("small")));
});

test("a failure has a colour and a reason", () => {
  const { level, tooltip } = textOf({ engine: "failed", message: "no memory" });
  assert.equal(level, "error");
  assert.match(tooltip, /no memory/);
});

test("reused tokens, pauses and missing trust are shown", () => {
  assert.match(textOf({ last }).text, /⟲ 132/);
  assert.match(textOf({ last }).tooltip, /\| reused \| 132 \|[\s\S]*in 104 ms/);
  assert.match(textOf({ last: { ...last, cached: true } }).tooltip, /from the cache/);
  assert.match(textOf({ paused: "here" }).text, /paused/);
  assert.match(textOf({ paused: "everywhere" }).tooltip, /all windows/);
  assert.match(textOf({ trusted: false }).tooltip, /not trusted/);
  const unparsed = [{ uri: "file:///work/table.h", why: "parsing takes more than 150 ms" }];
  assert.match(textOf({ unparsed }).tooltip, /Only suggestions in table\\?\.h: parsing takes more than 150 ms/);
});

test("the result of the type gate and the state of the checkers are said in words", () => {
  assert.doesNotMatch(textOf({ last }).tooltip, /Types|Type checker/);
  assert.match(textOf({ last: { ...last, types: "passed", types_ms: 7.6 } }).tooltip, /Types: without a type error/);
  const hidden = textOf({ last: { ...last, types: "hidden", types_ms: 12, types_reason: "Module has no member joinn" } });
  assert.match(hidden.tooltip, /Types: hidden because of a type error: Module has no member joinn/);
  const types = [
    { checker: "ty", folder: "/work/a", state: "ready" as const, reason: "" },
    { checker: "ty", folder: "/work/b", state: "missing" as const, reason: "ty is not installed" },
  ];
  assert.match(textOf({ types }).tooltip, /Type checker ty in \/work\/a: ready/);
  assert.match(textOf({ types }).tooltip, /Type checker ty in \/work\/b: ty is not installed/);
});

test("a server without status and a missing server are shown", () => {
  assert.match(statusText({ server: "running" }).tooltip, /running/);
  assert.equal(statusText({ server: "missing" }).level, "warning");
  const crashed = statusText({ server: "failed", reason: "spawn ENOENT" });
  assert.equal(crashed.level, "error");
  assert.match(crashed.tooltip, /spawn ENOENT/);
});

test("a message of the server cannot become a link or an image", () => {
  const escapedText = escapeMarkdown("![x](http://a/b) `c` <img>\nd");
  assert.doesNotMatch(escapedText, /(?<!\\)[[\]()`<>!]/);
});

test("the name of a model has no folder", () => {
  assert.equal(modelName("/models/qwen.gguf"), "qwen");
  assert.equal(modelName("C:\\models\\qwen.gguf"), "qwen");
  assert.equal(modelName("qwen2.5-coder-0.5b"), "qwen2.5-coder-0.5b");
});
