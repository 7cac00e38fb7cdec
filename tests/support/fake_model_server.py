"""A fake of the hosted models, on the loopback device: enough of four APIs for the command line agents of other makers.

A message of the user says what the model does:

- `SAY text` is answered with the text, in several parts.
- `RUN command` calls the shell tool of the agent with the command. When the agent sends its result, the model answers
  `RAN ` and the result, or `REFUSED` if the tool was not allowed to run.
- `USE tool input` calls another tool of the agent. The input is JSON on the same line. The answer after it is as that
  after `RUN`.
- `WAIT` begins an answer and does not end it until the agent hangs up.

Every other message gets the answer `nothing to do`. The APIs are Anthropic Messages, OpenAI Responses, OpenAI Chat
Completions and Gemini, all with and without streaming.
"""

import itertools
import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

COMMAND = re.compile(r"^(SAY|RUN|USE|WAIT)\b ?(.*)$", re.MULTILINE)
REFUSALS = ("denied", "rejected", "doesn't want", "not allowed", "declined", "refused", "cancelled", "canceled")
WAIT_S = 60.0
NUMBERS = itertools.count(1)
"""The numbers of the calls of tools."""


@dataclass(frozen=True)
class Reply:
    """An answer of the model: a text, or a call of a tool, or the beginning of a text that does not end."""

    text: str = ""
    command: str = ""
    tool: str = ""
    input: Any = None
    waits: bool = False

    @property
    def is_call(self) -> bool:
        """Return whether the model calls a tool."""
        return bool(self.command or self.tool)

    @property
    def parts(self) -> list[str]:
        """The text in parts of seven characters."""
        return [self.text[i : i + 7] for i in range(0, len(self.text), 7)]


@dataclass
class FakeModelServer:
    """A running fake. Use it as a context manager.

    Attributes:
        requests: The method and path of each request, and its body.
        status: If it is not 0, every request for a model is answered with this status.
    """

    requests: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    headers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    status: int = 0

    def __enter__(self) -> Self:
        self.closing = threading.Event()
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # an agent that is killed breaks its connection
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: ClassVar[FakeModelServer]

    def do_GET(self) -> None:
        self._answer({})

    def do_HEAD(self) -> None:
        self._send_head(200, "application/json", 0)

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(text or b"{}")
        except ValueError:
            body = {}
        self._answer(body)

    def log_message(self, format: str, *args: object) -> None:
        del format, args

    def _answer(self, body: Any) -> None:
        path = self.path.partition("?")[0]
        self.fake.requests.append((f"{self.command} {self.path}", body))
        self.fake.headers.append(dict(self.headers))
        api = next((api for ending, api in APIS.items() if path.endswith(ending)), None)
        if api is None or self.command != "POST":
            self._send_json({"input_tokens": 1, "totalTokens": 1, "models": [], "data": [], "object": "list"})
        elif self.fake.status:
            self._send_json({"error": {"type": "authentication_error", "message": "invalid key"}}, self.fake.status)
        else:
            reply = api.read(body)
            if reply.is_call and not api.tools(body):
                # a request for a title
                reply = Reply("a title")
            if "stream" in path or body.get("stream"):
                self._stream(api.stream(body, reply), reply)
            else:
                self._send_json(api.whole(body, reply))

    def _stream(self, events: Iterator[str], reply: Reply) -> None:
        self._send_head(200, "text/event-stream", None)
        with suppress(BrokenPipeError, ConnectionResetError):
            for i, event in enumerate(events):
                if reply.waits and i >= 3:
                    self.fake.closing.wait(WAIT_S)
                    break
                self._send_chunk(event.encode())
            self._send_chunk(b"")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _send_json(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self._send_head(status, "application/json", len(data))
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(data)

    def _send_head(self, status: int, kind: str, length: int | None) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        if length is None:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(length))
        self.end_headers()


def _decide(user_text: str, result: str | None) -> Reply:
    """Return the reply to the last message of the user, or to the result of the tool that came after it."""
    found = COMMAND.findall(user_text)
    if not found:
        return Reply("nothing to do")
    verb, rest = found[-1]
    if verb == "WAIT":
        return Reply("this text does not end" * 3, waits=True)
    if verb == "SAY":
        return Reply(rest)
    if result is None and verb == "USE":
        tool, _, value = rest.partition(" ")
        return Reply(tool=tool, input=json.loads(value or "{}"))
    if result is None:
        return Reply(command=rest)
    if any(word in result.lower() for word in REFUSALS):
        return Reply("REFUSED")
    return Reply("RAN " + result.strip())


def _read_text(content: Any) -> str:
    """Return the text of a message, whose content is a text or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or () if isinstance(part, dict))


def _format_event(value: Mapping[str, Any], name: str = "") -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n"


def _make_call(reply: Reply, names: set[str]) -> tuple[str, Any]:
    """Return the name and input of the called tool, which is one of those that the agent offers."""
    if not reply.tool:
        return _make_shell_call(reply.command, names)
    if reply.tool not in names:
        raise AssertionError(f"no tool {reply.tool} is among {sorted(names)}")
    return reply.tool, reply.input


def _make_shell_call(command: str, names: set[str]) -> tuple[str, Any]:
    shapes: dict[str, dict[str, Any]] = {
        "Bash": {"command": command, "description": "run it"},
        "bash": {"command": command, "description": "run it"},
        "exec_command": {
            "cmd": command,
            "sandbox_permissions": "require_escalated",
            "justification": "the test wants it",
        },
        "shell_command": {"command": command},
        "shell": {"command": ["bash", "-c", command]},
        "run_shell_command": {"command": command, "description": "run it"},
    }
    for name, value in shapes.items():
        if name in names:
            return name, value
    raise AssertionError(f"no tool that runs a command is among {sorted(names)}")


class _Messages:
    """Anthropic Messages."""

    def tools(self, body: Any) -> set[str]:
        return {tool["name"] for tool in body.get("tools", ())}

    def read(self, body: Any) -> Reply:
        text, result = "", None
        for message in body["messages"]:
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if message["role"] == "user" and block["type"] == "tool_result":
                    result = "denied" if block.get("is_error") else _read_text(block["content"])
                elif message["role"] == "user" and COMMAND.search(block.get("text", "")):
                    text, result = block["text"], None
        return _decide(text, result)

    def whole(self, body: Any, reply: Reply) -> dict[str, Any]:
        block: dict[str, Any] = {"type": "text", "text": reply.text}
        if reply.is_call:
            name, value = _make_call(reply, self.tools(body))
            block = {"type": "tool_use", "id": f"toolu_{next(NUMBERS)}", "name": name, "input": value}
        return {
            # claude joins messages with the same id
            "id": f"msg_{next(NUMBERS)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [block],
            "stop_reason": "tool_use" if reply.is_call else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }

    def stream(self, body: Any, reply: Reply) -> Iterator[str]:
        whole = self.whole(body, reply)
        block = whole["content"][0]
        start = {**whole, "content": [], "stop_reason": None}
        empty = {**block, "input": {}} if reply.is_call else {"type": "text", "text": ""}
        yield _format_event({"type": "message_start", "message": start}, "message_start")
        yield _format_event({"type": "content_block_start", "index": 0, "content_block": empty}, "content_block_start")
        deltas: list[dict[str, str]] = [{"type": "text_delta", "text": part} for part in reply.parts]
        if reply.is_call:
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        for delta in deltas:
            yield _format_event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
        yield _format_event({"type": "content_block_stop", "index": 0}, "content_block_stop")
        stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield _format_event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}, "message_delta")
        yield _format_event({"type": "message_stop"}, "message_stop")


class _Responses:
    """OpenAI Responses."""

    def tools(self, body: Any) -> set[str]:
        # codex sends the tools of newer models as the first item of the input, some of them in groups
        pending = [*body.get("tools", ()), *(tool for item in body["input"] for tool in item.get("tools", ()))]
        found = set[str]()
        while pending:
            tool = pending.pop()
            pending += tool.get("tools", ())
            name = tool.get("name", tool["type"])
            found.add(name)
            if tool["type"] == "namespace":
                # the tools of MCP servers are called with the name of their group
                found.update(f"{name}.{inner['name']}" for inner in tool["tools"])
        return found

    def read(self, body: Any) -> Reply:
        text, result = "", None
        items = [{"role": "user", "content": body["input"]}] if isinstance(body["input"], str) else body["input"]
        for item in items:
            if str(item.get("type", "")).endswith("_output"):
                output = item["output"]
                result = output if isinstance(output, str) else json.dumps(output)
            elif item.get("role") == "user" and COMMAND.search(_read_text(item["content"])):
                text, result = _read_text(item["content"]), None
        return _decide(text, result)

    def whole(self, body: Any, reply: Reply) -> dict[str, Any]:
        item: dict[str, Any] = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        }
        if reply.is_call:
            name, value = _make_call(reply, self.tools(body))
            number = next(NUMBERS)
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
            group, _, name = name.rpartition(".")
            item |= {"name": name, "arguments": json.dumps(value)} | ({"namespace": group} if group else {})
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": body["model"],
            "output": [item],
            "usage": usage,
        }

    def stream(self, body: Any, reply: Reply) -> Iterator[str]:
        whole = self.whole(body, reply)
        item = whole["output"][0]
        begun = {**whole, "status": "in_progress", "output": []}
        events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
        empty = {**item, "status": "in_progress"} | ({} if reply.is_call else {"content": []})
        events.append({"type": "response.output_item.added", "output_index": 0, "item": empty})
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events += [{"type": "response.output_text.delta", **place, "delta": part} for part in reply.parts]
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        events.append({"type": "response.completed", "response": whole})
        for i, event in enumerate(events):
            yield _format_event({**event, "sequence_number": i}, event["type"])


class _Chat:
    """OpenAI Chat Completions."""

    def tools(self, body: Any) -> set[str]:
        return {tool["function"]["name"] for tool in body.get("tools", ())}

    def read(self, body: Any) -> Reply:
        text, result = "", None
        for message in body["messages"]:
            if message["role"] == "tool":
                result = _read_text(message["content"])
            elif message["role"] == "user" and COMMAND.search(_read_text(message["content"])):
                text, result = _read_text(message["content"]), None
        return _decide(text, result)

    def _call(self, body: Any, reply: Reply) -> dict[str, Any]:
        name, value = _make_call(reply, self.tools(body))
        function = {"name": name, "arguments": json.dumps(value)}
        return {"index": 0, "id": f"call_{next(NUMBERS)}", "type": "function", "function": function}

    def whole(self, body: Any, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.is_call:
            message = {"role": "assistant", "content": None, "tool_calls": [self._call(body, reply)]}
        reason = "tool_calls" if reply.is_call else "stop"
        return self._frame(body, "chat.completion", {"message": message, "finish_reason": reason})

    def stream(self, body: Any, reply: Reply) -> Iterator[str]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": part} for part in reply.parts]
        if reply.is_call:
            deltas = [{"role": "assistant", "tool_calls": [self._call(body, reply)]}]
        for delta in deltas:
            yield _format_event(self._frame(body, "chat.completion.chunk", {"delta": delta, "finish_reason": None}))
        reason = "tool_calls" if reply.is_call else "stop"
        yield _format_event(self._frame(body, "chat.completion.chunk", {"delta": {}, "finish_reason": reason}))
        yield "data: [DONE]\n\n"

    def _frame(self, body: Any, kind: str, choice: Mapping[str, Any]) -> dict[str, Any]:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        head = {"id": "chatcmpl-1", "object": kind, "created": 0, "model": body["model"], "usage": usage}
        return {**head, "choices": [{"index": 0, **choice}]}


class _Gemini:
    """Gemini."""

    def tools(self, body: Any) -> set[str]:
        return {tool["name"] for group in body.get("tools", ()) for tool in group.get("functionDeclarations", ())}

    def read(self, body: Any) -> Reply:
        text, result = "", None
        for content in body["contents"]:
            if content.get("role") == "model":
                continue
            responses = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
            if responses:
                result = json.dumps(responses[-1]["response"])
            elif COMMAND.search(_read_text(content["parts"])):
                text, result = _read_text(content["parts"]), None
        return _decide(text, result)

    def whole(self, body: Any, reply: Reply) -> dict[str, Any]:
        return self._frame(self._part(body, reply), "STOP")

    def stream(self, body: Any, reply: Reply) -> Iterator[str]:
        parts: list[dict[str, Any]] = [{"text": text} for text in reply.parts]
        if reply.is_call:
            parts = [self._part(body, reply)]
        for i, part in enumerate(parts):
            yield _format_event(self._frame(part, "STOP" if i == len(parts) - 1 else ""))

    def _part(self, body: Any, reply: Reply) -> dict[str, Any]:
        if not reply.is_call:
            return {"text": reply.text}
        name, value = _make_call(reply, self.tools(body))
        return {"functionCall": {"name": name, "args": value}}

    def _frame(self, part: Mapping[str, Any], reason: str) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if reason:
            candidate["finishReason"] = reason
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}


APIS: dict[str, Any] = {
    "/v1/messages": _Messages(),
    "/responses": _Responses(),
    "/chat/completions": _Chat(),
    ":generateContent": _Gemini(),
    ":streamGenerateContent": _Gemini(),
}
"""The APIs by the end of the path."""
