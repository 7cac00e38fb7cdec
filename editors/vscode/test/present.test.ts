import assert from "node:assert/strict";
import test from "node:test";
import { escaped, present, short } from "../src/present";
import type { Status } from "../src/protocol";

const statistics = { shown: 5, accepted: 3, accepted_partly: 1, typed_through: 0, dismissed: 1 };
const status: Status = { engine: "ready", model: "small", message: null, paused: false, trusted: true, last: null, statistics };
const last = { prompt_tokens: 135, evaluated: 3, reused: 132, generated: 18, ms: 104.4 };
const shown = (change: Partial<Status>) => present({ server: "running", status: { ...status, ...change } });

test("each state of the engine has its own words", () => {
  const texts = (["off", "starting", "ready", "busy", "failed"] as const).map((engine) => shown({ engine }).text);
  assert.equal(new Set(texts).size, 5);
  assert.ok(texts.every((text) => text.includes("small")));
});

test("a failure has a colour and its reason", () => {
  const { level, tooltip } = shown({ engine: "failed", message: "no memory" });
  assert.equal(level, "error");
  assert.match(tooltip, /no memory/);
});

test("the reused tokens are shown, pauses and a missing trust are said", () => {
  assert.match(shown({ last }).text, /⟲ 132/);
  assert.match(shown({ last }).tooltip, /\| reused \| 132 \|[\s\S]*in 104 ms/);
  assert.match(shown({ last: { ...last, cached: true } }).tooltip, /worked out before/);
  assert.match(shown({ paused: "here" }).text, /paused/);
  assert.match(shown({ paused: "everywhere" }).tooltip, /all windows/);
  assert.match(shown({ trusted: false }).tooltip, /not trusted/);
  const unparsed = [{ uri: "file:///work/table.h", why: "parsing takes more than 150 ms" }];
  assert.match(shown({ unparsed }).tooltip, /Only suggestions in table\\?\.h: parsing takes more than 150 ms/);
});

test("a server without status, and no server at all, are said", () => {
  assert.match(present({ server: "running" }).tooltip, /running/);
  assert.equal(present({ server: "missing" }).level, "warning");
  const crashed = present({ server: "failed", why: "spawn ENOENT" });
  assert.equal(crashed.level, "error");
  assert.match(crashed.tooltip, /spawn ENOENT/);
});

test("what a server says cannot become a link or a picture", () => {
  const said = escaped("![x](http://a/b) `c` <img>\nd");
  assert.doesNotMatch(said, /(?<!\\)[[\]()`<>!]/);
});

test("a model's file is named without its folder", () => {
  assert.equal(short("/models/qwen.gguf"), "qwen");
  assert.equal(short("C:\\models\\qwen.gguf"), "qwen");
  assert.equal(short("qwen2.5-coder-0.5b"), "qwen2.5-coder-0.5b");
});
