// The routes of the API that the page uses. All requests go to the server that the page comes from.

const TOKEN_KEY = "lsp-harness-token";
const SUBPROTOCOL = "lsp-harness";

/** An answer with an error, as `{"error": {"code", "message", "resolution"}}`. */
export class ApiError extends Error {
  constructor(status, error) {
    super([error?.message ?? `the server answers ${status}`, error?.resolution].filter(Boolean).join(": "));
    this.status = status;
    this.code = error?.code ?? "";
  }
}

/**
 * Returns the token of this tab. `lsp-harness api` gives the page a key behind the `#` of its address, which is never sent
 * to a server as a part of it. The key leaves the address and the history at once, works once, and is changed for a token
 * that is kept for this tab only.
 */
export async function openAccess(location = window.location, history = window.history, storage = window.sessionStorage) {
  const [, key] = /^#key=([\w.~-]+)/u.exec(location.hash) ?? [];
  if (key) {
    history.replaceState(null, "", location.pathname);
    const answer = await fetch("login", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ key }), cache: "no-store", redirect: "error" });
    const value = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new ApiError(answer.status, value.error);
    storage.setItem(TOKEN_KEY, value.token);
  }
  const token = storage.getItem(TOKEN_KEY);
  if (!token) throw new ApiError(401, { message: "this page has no token" });
  return token;
}

const id = encodeURIComponent;

export class ApiClient {
  /** @param {string} token the token of this tab */
  constructor(token) {
    this.token = token;
  }

  get #headers() {
    return { authorization: `Bearer ${this.token}` };
  }

  /** Sends a request and returns the JSON of the answer. Throws ApiError. */
  async request(method, path, body = undefined, signal = undefined) {
    const response = await fetch(path, {
      method,
      headers: { accept: "application/json", ...this.#headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
    });
    const text = await response.text();
    let value;
    try {
      value = text === "" ? null : JSON.parse(text);
    } catch {
      value = text;
    }
    if (!response.ok) throw new ApiError(response.status, value?.error);
    return value;
  }

  /** Opens a stream of server-sent events after the event `lastId`. */
  stream(path, lastId, signal) {
    const headers = { accept: "text/event-stream", ...this.#headers, ...(lastId === "" ? {} : { "last-event-id": lastId }) };
    return fetch(path, { headers, signal, cache: "no-store", credentials: "same-origin", redirect: "error" });
  }

  /** Opens a WebSocket. A browser lets it have no headers, so the token is one of its subprotocols. */
  socket(path) {
    const address = new URL(path, window.location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address, [SUBPROTOCOL, `${SUBPROTOCOL}.bearer.${this.token}`]);
    socket.binaryType = "arraybuffer";
    return socket;
  }

  health = () => this.request("GET", "health");

  sessions = () => this.request("GET", "sessions?limit=200");
  newSession = (fields) => this.request("POST", "sessions", fields);
  sessionEvents = (session, lastId, signal) => this.stream(`sessions/${id(session)}/events`, lastId, signal);
  prompt = (session, prompt) => this.request("POST", `sessions/${id(session)}/turns?wait=0`, { prompt });
  interruptSession = (session) => this.request("POST", `sessions/${id(session)}/interrupt`, {});
  undo = (session, fields = {}) => this.request("POST", `sessions/${id(session)}/undo`, fields);
  fork = (session, seq) => this.request("POST", `sessions/${id(session)}/fork`, seq === undefined ? {} : { at_seq: seq });
  artifact = (session, artifact, since) => this.request("GET", `sessions/${id(session)}/artifacts/${id(artifact)}?since=${since}`);
  permissions = () => this.request("GET", "permissions");
  answerPermission = (question, fields) => this.request("POST", `permissions/${id(question)}`, fields);

  kinds = () => this.request("GET", "runtime/kinds");
  agents = () => this.request("GET", "agents");
  spawn = (fields) => this.request("POST", "agents", fields);
  agent = (agent) => this.request("GET", `agents/${id(agent)}`);
  send = (agent, message) => this.request("POST", `agents/${id(agent)}/send`, { message, queue: true });
  interruptAgent = (agent) => this.request("POST", `agents/${id(agent)}/interrupt`, {});
  stop = (agent, force = false) => this.request("DELETE", `agents/${id(agent)}${force ? "?force=1" : ""}`);
  screen = (agent) => this.request("GET", `agents/${id(agent)}/screen`);
  explain = (agent) => this.request("GET", `agents/${id(agent)}/explain`);
  questions = (agent) => this.request("GET", `agents/${id(agent)}/questions`);
  answerQuestion = (agent, question, fields) => this.request("POST", `agents/${id(agent)}/questions/${id(question)}`, fields);
  verifyChanges = (agent) => this.request("POST", `agents/${id(agent)}/changes`, {});
  applyChanges = (agent, review, unchecked) => this.request("POST", `agents/${id(agent)}/apply`, { reviewId: review, unchecked });
  undoChanges = (agent) => this.request("POST", `agents/${id(agent)}/undo`, {});
  discardChanges = (agent) => this.request("POST", `agents/${id(agent)}/discard`, {});
  agentEvents = (since) => this.socket(`ws/events?since=${since}`);
  terminal = (agent) => this.socket(`ws/agents/${id(agent)}/terminal?mode=binary`);
}
