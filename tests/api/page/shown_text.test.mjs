import assert from "node:assert/strict";
import test from "node:test";
import { diffLineKinds } from "../../../lsp_harness/api/page/diff_view.js";
import { shownFolder, shownLine, shownSize, shownText } from "../../../lsp_harness/api/page/shown_text.js";

test("characters that cannot be seen are written out", () => {
  assert.equal(shownText("a\u001b[31mb\u202ec\u200bd\r\ne\tf"), "a⟨001B⟩[31mb⟨202E⟩c⟨200B⟩d\ne\tf");
  assert.equal(shownText("<script>alert(1)</script>"), "<script>alert(1)</script>");
});

test("long texts are cut, and say so", () => {
  assert.equal(shownText("abcdef", 4), "abcd… (2 more characters)");
  assert.equal(shownLine(" a\n b "), "a b");
  assert.equal(shownText(undefined), "");
  assert.equal(shownText({ a: 1 }), '{"a":1}');
});

test("a folder is shown by its name", () => {
  assert.deepEqual(["/home/me/shop", "C:\\work\\shop\\", "/", undefined].map(shownFolder), ["shop", "shop", "", ""]);
});

test("sizes have units", () => {
  assert.deepEqual([shownSize(3), shownSize(2048), shownSize(3 * 1024 ** 2), shownSize(undefined)], ["3 B", "2.0 KiB", "3.0 MiB", ""]);
});

test("lines of a diff have a kind", () => {
  const lines = ["--- a/a", "+++ b/a", "@@ -1,2 +1,2 @@", "--- x", "+++ x", " x", "--- a/b", "@@ -1 +1 @@", "-x", "\\ No newline at end of file", "+x", "+++ b"];
  const kinds = ["file", "file", "hunk", "removed", "added", "same", "file", "hunk", "removed", "same", "added", "file"];
  assert.deepEqual(lines.map(diffLineKinds()), kinds);
  // the old and the new text of an edit have no heads
  assert.deepEqual(["- -- a", "+ ++ b"].map(diffLineKinds()), ["removed", "added"]);
});
