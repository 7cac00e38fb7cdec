// Stands between VS Code and the server: passes everything on as it is, and writes down when a suggestion was asked for
// and answered, and the server's figures of it. A line of the file is one event; times are the machine's monotonic clock.
//
//     node keypress_tap.mjs FILE PROGRAM [ARGUMENT…]
import { spawn } from "node:child_process";
import fs from "node:fs";
import process from "node:process";

const [file, program, ...args] = process.argv.slice(2);
const METHOD = "textDocument/inlineCompletion";
const log = fs.openSync(file, "a");
const note = (event) => fs.writeSync(log, `${JSON.stringify(event)}\n`);
const pending = new Set();

/** Calls `act` with each message of a stream, as soon as its last byte is here. */
function messages(stream, act) {
  let rest = Buffer.alloc(0);
  stream.on("data", (chunk) => {
    const at = Number(process.hrtime.bigint()) / 1e6;
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(rest.subarray(0, end).toString())[1]);
      if (rest.length < end + 4 + length) return;
      const body = rest.subarray(end + 4, end + 4 + length);
      rest = rest.subarray(end + 4 + length);
      // most are neither, and need not be read
      if (body.includes(METHOD) || body.includes("lspHarness/status") || pending.size > 0) act(JSON.parse(body), at);
    }
  });
}

const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
messages(process.stdin, ({ id, method, params }, at) => {
  if (method !== METHOD) return;
  pending.add(id);
  note({ what: "asked", id, at, uri: params.textDocument.uri, position: params.position });
});
messages(server.stdout, ({ id, method, params, result }, at) => {
  if (method === "lspHarness/status" && params.last) note({ what: "figures", at, figures: params.last });
  else if (method === undefined && pending.delete(id)) {
    const items = Array.isArray(result) ? result : (result?.items ?? []);
    note({ what: "answered", id, at, suggestion: items[0]?.command.arguments[1] ?? null });
  }
});
server.once("exit", (code) => process.exit(code ?? 1));
