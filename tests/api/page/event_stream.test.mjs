import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { EventParser, followEvents } from "../../../lsp_harness/api/page/event_stream.js";

const parse = (...pieces) => {
  const events = [];
  const parser = new EventParser((event) => events.push(event));
  pieces.forEach((piece) => parser.feed(piece));
  return { events, parser };
};

test("a stream may be cut anywhere", () => {
  const text = ": hello\r\nid: 7\r\nevent: turn.started\r\ndata: {\"a\":1}\r\n\r\nretry: 20\ndata: one\ndata:two\n\ndata: never ended";
  const whole = parse(text).events;
  assert.deepEqual(whole, [
    { id: "7", name: "turn.started", data: '{"a":1}' },
    { id: "7", name: "message", data: "one\ntwo" },
  ]);
  for (let cut = 0; cut <= text.length; cut += 1) assert.deepEqual(parse(text.slice(0, cut), text.slice(cut)).events, whole, `cut at ${cut}`);
  assert.deepEqual(parse(...text).events, whole);
  assert.equal(parse(text).parser.retryMs, 20);
});

async function serve(answer) {
  const requests = [];
  const server = http.createServer((request, response) => {
    requests.push(request.headers["last-event-id"] ?? "");
    answer(requests.length, response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const open = (last, signal) => fetch(address, { signal, headers: last === "" ? {} : { "last-event-id": last } });
  return { requests, open, close: () => (server.closeAllConnections(), server.close()) };
}

test("after a broken connection it goes on after the last event, and no event comes twice", async () => {
  const event = (seq) => `id: ${seq}\ndata: ${seq}\n\n`;
  const server = await serve((number, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (number === 1) {
      response.write(event(0) + event(1) + "id: 2\ndata: half of");
      setTimeout(() => response.destroy(), 20);
    } else {
      // a server that does not know the header sends all of them again
      response.end(event(0) + event(1) + event(2) + event(3));
    }
  });
  const seen = [];
  const states = [];
  const abort = new AbortController();
  await followEvents({
    open: server.open,
    signal: abort.signal,
    pause: () => Promise.resolve(),
    onState: (state) => states.push(state),
    onEvent: ({ data }) => {
      seen.push(data);
      if (data === "3") abort.abort();
    },
  });
  server.close();
  assert.deepEqual(seen, ["0", "1", "2", "3"]);
  assert.deepEqual(server.requests, ["", "1"]);
  assert.deepEqual(states, ["live", "waiting", "live"]);
});

test("the waits between tries grow, and have an end", async () => {
  const waits = [];
  const abort = new AbortController();
  await followEvents({
    open: () => Promise.reject(new TypeError("no server")),
    signal: abort.signal,
    onEvent: () => assert.fail("there is no event"),
    pause: async (ms) => void (waits.push(ms), waits.length === 7 && abort.abort()),
  });
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 10000, 10000]);
});

test("a refused request is not repeated", async () => {
  const server = await serve((_number, response) => response.writeHead(401).end());
  const states = [];
  await followEvents({ open: server.open, signal: new AbortController().signal, onEvent: () => {}, onState: (...state) => states.push(state) });
  server.close();
  assert.deepEqual(states, [["failed", "the server answers 401"]]);
  assert.equal(server.requests.length, 1);
});
