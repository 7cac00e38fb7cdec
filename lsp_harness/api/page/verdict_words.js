// The words and the colour of a verdict. Only a verified text is green: other ones were not looked at far enough.

/** Status of a check → its sign. */
export const MARKS = { passed: "✓", failed: "✗", skipped: "–" };

const STANDINGS = {
  __proto__: null,
  verified: ["verified", "passed"],
  form: ["form only", "unknown"],
  incomplete: ["syntax only", "unknown"],
  unresolved: ["not verified", "unknown"],
  failed: ["failed", "failed"],
  unchecked: ["not checked", "unknown"],
};

const GOOD = new Set(["verified", "form", "incomplete"]);

/** Returns the short word about what a verdict says. */
export const standingWords = (standing) => STANDINGS[standing]?.[0] ?? "not checked";

/** Returns the kind of badge, and so the colour, for what a verdict says. */
export const standingKind = (standing) => STANDINGS[standing]?.[1] ?? "unknown";

/** Returns what an event `verify.completed` says. Whatever else it says, a check that failed is a failure. */
export function standingOf(data) {
  const reports = Array.isArray(data.outcomes) ? data.outcomes : [];
  if (reports.some((report) => report?.status === "failed") || (data.passed === false && GOOD.has(data.standing))) return "failed";
  // the log of an older version does not say what was looked at
  return data.standing || (data.passed === true ? "form" : "failed");
}
