import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";

const css = fs.readFileSync(new URL("../../../lsp_harness/api/page/inspector.css", import.meta.url), "utf8");
const colours = Object.fromEntries([...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/gu)].map(([, name, ...both]) => [name, both]));

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS = ["ink", "faint", "accent", "good", "bad", "warn", "special"];
const PAPERS = { page: TEXTS, paper: TEXTS, chosen: TEXTS, "good-paper": ["ink"], "bad-paper": ["ink"], "warn-paper": ["ink", "accent"] };

for (const [theme, name] of ["light", "dark"].entries()) {
  test(`texts have a contrast of at least 4.5 in the ${name} theme`, () => {
    for (const [paper, texts] of Object.entries(PAPERS)) {
      for (const text of texts) {
        const found = contrast(colours[text][theme], colours[paper][theme]);
        assert.ok(found >= 4.5, `${text} on ${paper}: ${found.toFixed(2)}`);
      }
    }
    // the text of the main button
    assert.ok(contrast(colours.paper[theme], colours.accent[theme]) >= 4.5);
  });

  test(`bars have a contrast of at least 3 in the ${name} theme`, () => {
    for (const bar of ["bar-cached", "bar-input", "bar-output", "bar-time"]) assert.ok(contrast(colours[bar][theme], colours.page[theme]) >= 3, bar);
  });
}
