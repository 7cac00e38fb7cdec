// The model of these tests: an HTTP server that speaks as the engine does and knows a few answers by heart. So all of
// lsp-harness runs as it does for a user, and what is shown is known beforehand, however often VS Code asks.
import http from "node:http";

/**
 * An answer is a function of {prefix, suffix, prompt, body} that returns a text, several (one for each candidate), HANG
 * for one that never comes, or undefined where it has nothing to say. The first that says something is used.
 */
export const HANG = Symbol("an answer that never comes");

/** Goes on with the first of these lines that the cursor's own begins, from at least `least` characters of it. */
export const continues = (lines, least = 4) => ({ prefix }) => {
  const typed = prefix.split("\n").pop();
  const rests = lines
    .filter((line) => line.startsWith(typed) && typed.trim().length >= least && line !== typed)
    .map((line) => line.slice(typed.length));
  return rests.length > 0 ? rests : undefined;
};

export async function startModel() {
  const model = { answers: [], asked: [], hanging: 0, left: 0, port: 0 };
  const server = http.createServer(async (request, response) => {
    const text = await all(request);
    if (text === undefined) return; // whoever asked is gone
    const body = text === "" ? {} : JSON.parse(text);
    const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    switch (new URL(request.url, "http://model").pathname) {
      case "/health":
        return json({ status: "ok" });
      case "/props":
        return json({
          default_generation_settings: { n_ctx: 8192 },
          model_alias: "by-heart",
          fim_order: "prefix-suffix-middle",
          pid: process.pid,
        });
      case "/tokenize":
        return json({ counts: body.content.map((text) => text.split(/\s+/).length) });
      case "/apply-template":
        return json({ prompt: body.messages.map(({ role, content }) => `${role}: ${content}\n`).join("") });
      case "/cancel":
        return json({ cancelled: false });
      case "/infill":
      case "/completion":
        return answer(model, body, response);
      default:
        return response.writeHead(404).end();
    }
  });
  const sockets = new Set();
  server.on("connection", (socket) => sockets.add(socket) && socket.once("close", () => sockets.delete(socket)));
  model.start = () =>
    new Promise((done) => server.listen(model.port, "127.0.0.1", () => done((model.port = server.address().port))));
  // as when the process is killed: nobody is told goodbye
  model.stop = () =>
    new Promise((done) => {
      server.close(done);
      sockets.forEach((socket) => socket.destroy());
    });
  await model.start();
  return model;
}

function answer(model, body, response) {
  const question = {
    body,
    prefix: (body.input_prefix ?? "") + (typeof body.prompt === "string" ? body.prompt : ""),
    suffix: body.input_suffix ?? "",
    prompt: typeof body.prompt === "string" ? body.prompt : JSON.stringify(body.input_prefix),
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (value) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const wanted = body.n_cmpl ?? 1;
  let texts = [];
  if (body.n_predict !== 0) {
    model.asked.push(question);
    const said = model.answers.map((each) => each(question)).find((each) => each !== undefined) ?? "";
    if (said === HANG) {
      model.hanging += 1;
      response.flushHeaders();
      response.once("close", () => (model.left += 1));
      return;
    }
    texts = [said].flat();
  }
  const words = question.prefix.split(/\s+/).length;
  for (let index = 0; index < wanted; index += 1) {
    const content = texts[index % Math.max(1, texts.length)] ?? "";
    const timings = { cache_n: words - 1, prompt_n: 1, predicted_n: content.split(/\s+/).length };
    send({ index, content, stop: false, timings });
    send({ index, content: "", stop: true, stop_type: "eos", stop_reason: "eos", timings });
  }
  response.end();
}

async function all(stream) {
  let text = "";
  try {
    for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  } catch (error) {
    if (error.code === "ECONNRESET") return undefined;
    throw error;
  }
  return text;
}
