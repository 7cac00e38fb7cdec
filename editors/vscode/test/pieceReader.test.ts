import assert from "node:assert/strict";
import test from "node:test";
import type { Piece } from "../src/agents/agentProtocol";
import { PieceReader } from "../src/agents/pieceReader";

const piece = (bytes: Uint8Array | string, isEnd = false, reason = ""): Piece => ({ data: Buffer.from(bytes).toString("base64"), isEnd, reason });

/** A source whose pieces a test gives one by one. */
function source(...pieces: Piece[]) {
  const calls: string[] = [];
  let give: ((piece: Piece) => void) | undefined;
  return {
    calls,
    give: (next: Piece) => give?.(next),
    attach: (columns: number, rows: number) => {
      calls.push(`attach ${columns}x${rows}`);
      return Promise.resolve({ viewerId: "v", columns, rows });
    },
    read: (viewerId: string) => {
      calls.push(`read ${viewerId}`);
      const next = pieces.shift();
      return next ? Promise.resolve(next) : new Promise<Piece>((resolve) => (give = resolve));
    },
    detach: (viewerId: string) => {
      calls.push(`detach ${viewerId}`);
      return Promise.resolve();
    },
  };
}

test("pieces are shown in order, also a character that is cut, and the end gives its reason", async () => {
  const bytes = Buffer.from("é😀");
  const from = source(piece(bytes.subarray(0, 1)), piece(bytes.subarray(1, 4)), piece(bytes.subarray(4)), piece("", true, "it was stopped"));
  const shown: string[] = [];
  assert.equal(await new PieceReader(from).run(80, 24, (text) => shown.push(text)), "it was stopped");
  assert.equal(shown.join(""), "é😀");
  assert.deepEqual(from.calls, ["attach 80x24", "read v", "read v", "read v", "read v"]);
});

test("after it is closed, nothing more is shown or asked for", async () => {
  const from = source(piece("a"));
  const shown: string[] = [];
  const reader = new PieceReader(from);
  const running = reader.run(80, 24, (text) => shown.push(text));
  await new Promise((resolve) => setImmediate(resolve));
  reader.close();
  from.give(piece("b"));
  assert.equal(await running, "");
  assert.deepEqual(shown, ["a"]);
  assert.deepEqual(from.calls, ["attach 80x24", "read v", "read v", "detach v"]);
});

test("a view that begins after the close ends at once", async () => {
  const from = source();
  const reader = new PieceReader(from);
  const running = reader.run(80, 24, () => assert.fail("nothing is shown"));
  reader.close();
  assert.equal(await running, "");
  assert.deepEqual(from.calls, ["attach 80x24", "detach v"]);
});

test("a server that has gone ends it with its error", async () => {
  const from = { ...source(), read: () => Promise.reject(new Error("the server is not running")) };
  await assert.rejects(new PieceReader(from).run(80, 24, () => undefined), /not running/);
});
