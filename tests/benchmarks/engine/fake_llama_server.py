"""A program with the routes of llama-server that the benchmarks use. It records its requests.

`LH_ANCHOR_SEEN` names a file that gets its arguments, then one JSON line a request.
"""

import json
import os
import socketserver
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer("application/json", b'{"status": "ok"}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note({"path": self.path, **body})
        if body.get("prompt") == "refuse":
            self._answer("application/json", b'{"error": "no"}', 400)
            return
        timings = {"prompt_n": 250, "cache_n": 750, "predicted_n": body["n_predict"]}
        chunks = [{"content": "a"}, {"content": "b", "stop": True, "stop_type": "limit", "timings": timings}]
        self._answer("text/event-stream", "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode())

    def _answer(self, kind: str, data: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def address_string(self) -> str:
        return "socket"


def note(what: object) -> None:
    if seen := os.environ.get("LH_ANCHOR_SEEN"):
        with Path(seen).open("a") as file:
            file.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    if "--cache-reuse" not in sys.argv:
        sys.exit("not started as an anchor")
    note(sys.argv[1:])
    socketserver.ThreadingUnixStreamServer(sys.argv[sys.argv.index("--host") + 1], Handler).serve_forever()
