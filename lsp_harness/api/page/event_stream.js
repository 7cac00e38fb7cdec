// Server-sent events over `fetch`, which, unlike EventSource, can send headers: the token stays out of addresses, and
// the first request can already say after which event it goes on.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** Answers after which it is of no use to ask again. */
const FINAL = new Set([400, 401, 403, 404, 405, 410]);

/** Splits a stream of server-sent events. `feed` takes text as it comes, in pieces of any size. */
export class EventParser {
  #rest = "";
  #data = [];
  #id = "";
  #name = "";

  /** @param {(event: {id: string, name: string, data: string}) => void} onEvent */
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.retryMs = null;
  }

  feed(text) {
    this.#rest += text;
    let end;
    // a carriage return at the end may be the first half of a line end
    while ((end = this.#rest.search(/\r\n|\n|\r(?!$)/u)) >= 0) {
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (this.#rest.startsWith("\r\n", end) ? 2 : 1));
      this.#line(line);
    }
  }

  #line(line) {
    if (line === "") {
      if (this.#data.length > 0) this.onEvent({ id: this.#id, name: this.#name || "message", data: this.#data.join("\n") });
      this.#data = [];
      this.#name = "";
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /u, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#name = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/u.test(value)) this.retryMs = Number(value);
  }
}

/**
 * Follows events until `signal` is aborted, and connects again when the connection ends.
 *
 * `open(lastId, signal)` returns a promise of a Response. `onState` hears "live", "waiting" and "failed". Events that have
 * an id and come again after a new connection are dropped, so that each is seen once.
 */
export async function followEvents({ open, onEvent, onState = () => {}, signal, lastId = "", pause = waitFor }) {
  let wait = FIRST_WAIT_MS;
  let last = lastId;
  while (!signal.aborted) {
    let suggested = null;
    try {
      const response = await open(last, signal);
      if (!response.ok) {
        if (FINAL.has(response.status)) {
          onState("failed", `the server answers ${response.status}`);
          return;
        }
        throw new Error(`the server answers ${response.status}`);
      }
      onState("live", "");
      wait = FIRST_WAIT_MS;
      const parser = new EventParser((event) => {
        if (event.id !== "" && isNumber(last) && isNumber(event.id) && Number(event.id) <= Number(last)) return;
        if (event.id !== "") last = event.id;
        onEvent(event);
      });
      const decoder = new TextDecoder();
      for await (const chunk of chunks(response.body)) parser.feed(decoder.decode(chunk, { stream: true }));
      suggested = parser.retryMs;
    } catch (error) {
      if (signal.aborted) return;
      onState("waiting", String(error?.message ?? error));
      await pause(wait, signal);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      continue;
    }
    if (signal.aborted) return;
    onState("waiting", "the connection ended");
    await pause(suggested ?? wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

const isNumber = (text) => /^\d+$/u.test(text);

async function* chunks(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function waitFor(ms, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}
