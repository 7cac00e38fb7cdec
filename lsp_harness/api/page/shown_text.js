// Texts of agents, models and tools in a form that cannot mislead: control characters and characters that turn the
// direction of writing are shown as their names.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Returns a text with its invisible characters written out, and with at most `limit` characters. */
export function shownText(value, limit = 20_000) {
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  const part = text.length > limit ? `${text.slice(0, limit)}… (${text.length - limit} more characters)` : text;
  return part
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (sign) => `⟨${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** Returns a text as one line. */
export const shownLine = (value, limit = 240) => shownText(value, limit).replace(/\s+/gu, " ").trim();

/** Returns a number of bytes as people read it. */
export function shownSize(bytes) {
  if (!Number.isFinite(bytes)) return "";
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

/** Returns a time in milliseconds as people read it. */
export const shownDuration = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** Returns the time of day of an ISO 8601 text, or an empty text. */
export function shownTime(iso) {
  const time = new Date(iso ?? "");
  return Number.isNaN(time.getTime()) ? "" : time.toTimeString().slice(0, 8);
}

/** Returns a number with its noun. */
export const shownCount = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns the name of a folder, of which the page knows the whole path on any system. */
export const shownFolder = (path) => shownLine(shownText(path).split(/[\\/]/u).filter(Boolean).at(-1) ?? "", 40);
