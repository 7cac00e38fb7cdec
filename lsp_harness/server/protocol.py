"""Every request gets exactly one answer: pygls' protocol with its gate replaced.

pygls leaves requests unanswered when their params do not fit, keeps its own copy of each document (splitting lines
where LSP does not) and starts async handlers after later messages have changed the state. So messages are routed here:
a handler is called in message order, at once, and whatever it returns or raises ends in `_answer` or `_refuse`. From
pygls stay the registry, the converter, and the requests and notifications that go out.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, cast

from cattrs import Converter, transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from lsp_harness.errors import DocumentOutOfSync, HarnessError, UsageError
from lsp_harness.server import lsp_errors
from lsp_harness.server.transport import rpc_message
from lsp_harness.server.transport.rpc_message import Id, Noise, Notification, Refused, Request, Response
from lsp_harness.server.transport.transport import Transport

log = logging.getLogger(__name__)

# method → request, response, params, registration options
_PARAMS = cast("dict[str, tuple[Any, Any, Any, Any]]", types.METHOD_TO_TYPES)  # pyright: ignore[reportUnknownMemberType]

RAW = frozenset(
    {types.CANCEL_REQUEST, "lspHarness/didFocus", "lspHarness/didMoveCursor"}
    | {types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE}
)
"""Methods whose handlers read plain JSON: for the sake of ids that do not fit the LSP types, because a text must not be lost for a value
in a corner that is not used, or because LSP has no types for them."""


class Protocol(LanguageServerProtocol):
    """Routes messages of an initialized connection."""

    transport: Transport

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.running: dict[Id, asyncio.Task[Any]] = {}
        self.shut = False
        self.on_unreadable: Callable[[bytes], None] = lambda body: None
        """Called with a message that is not JSON."""
        converter.register_structure_hook(types.InlineCompletionTriggerKind, _trigger_kind)

    def _register_builtin_features(self) -> None:
        """None: document sync, life cycle and commands are files in `features`."""

    @property
    def _handlers(self) -> "dict[str, Callable[[Any], Any]]":
        return cast("Any", self.fm).features

    # -- in
    def receive(self, body: bytes) -> None:
        """Routes one message. Never raises."""
        match rpc_message.parse(body):
            case Request(id, method, params):
                self._request(id, method, params)
            case Notification(method, params):
                self._notification(method, params)
            case Response() as response:
                self._response(response)
            case Refused(id, code, reason):
                self._refuse(id, code, reason)
                if code == lsp_errors.PARSE_ERROR:
                    self.on_unreadable(body)
            case Noise(reason):
                log.warning("ignored a message: %s", reason)

    def _request(self, id: Id, method: str, params: Any) -> None:
        # sent as a request by some, `exit` still means what it says
        if self.shut and method != types.EXIT:
            return self._refuse(id, lsp_errors.INVALID_REQUEST, f"{method} came after shutdown")
        if method == types.INITIALIZE:
            return self._refuse(id, lsp_errors.INVALID_REQUEST, "the server is already initialized")
        handler = self._handlers.get(method)
        if handler is None:
            return self._refuse(id, lsp_errors.METHOD_NOT_FOUND, f"{method} is not supported")
        try:
            outcome = handler(self._structure(method, params))
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            return self._fail(id, method, error)
        if not inspect.iscoroutine(outcome):
            return self._answer(id, method, outcome)
        task = asyncio.ensure_future(cast("Coroutine[Any, Any, Any]", outcome))
        self.running[id] = task
        task.add_done_callback(partial(self._finish, id, method))
        return None

    def _finish(self, id: Id, method: str, task: "asyncio.Task[Any]") -> None:
        # a client that uses an id twice gets two answers; only the later one can still be cancelled by then
        if self.running.get(id) is task:
            del self.running[id]
        if task.cancelled():
            self._fail(id, method, asyncio.CancelledError())
        elif error := task.exception():
            self._fail(id, method, error)
        else:
            self._answer(id, method, task.result())

    def _notification(self, method: str, params: Any) -> None:
        handler = self._handlers.get(method)
        if handler is None or (self.shut and method != types.EXIT):
            log.debug("ignored %s", method)
            return
        try:
            handler(self._structure(method, params))
        except DocumentOutOfSync as error:
            # the client was told when it happened
            log.debug("%s: %s", method, error.message)
        except HarnessError as error:
            log.warning("%s: %s", method, error.message)
        except Exception:
            log.exception("%s failed", method)

    def _response(self, response: Response) -> None:
        future = self._request_futures.pop(cast("Any", response.id), None)
        expected = self._result_types.pop(cast("Any", response.id), None)
        if future is None or future.done():
            if response.bare and future is None:
                self._refuse(response.id, lsp_errors.INVALID_REQUEST, "a request needs a method")
            else:
                log.info("ignored an answer to nothing: %s", response.id)
        elif response.error is not None:
            future.set_exception(JsonRpcException(f"the client refused: {response.error}"))
        else:
            try:
                raw = {"jsonrpc": "2.0", "id": response.id, "result": response.result}
                future.set_result(self._converter.structure(raw, expected).result if expected else response.result)
            except Exception as error:  # noqa: BLE001 - who waits for the answer is told, whatever it is
                future.set_exception(JsonRpcException(f"the client's answer does not fit: {_one_line(error)}"))

    def _structure(self, method: str, params: Any) -> Any:
        """Params as their LSP type. Raises UsageError."""
        if method in RAW:
            return params
        kind = _PARAMS.get(method, (None, None, None))[2]
        if kind is None:
            return None
        try:
            return self._converter.structure(params, kind)
        except Exception as error:  # noqa: BLE001 - cattrs lets through what validators and hooks raise
            raise UsageError(f"params of {method} are not valid: {_one_line(error)}") from None

    # -- out
    def _answer(self, id: Id, method: str, value: Any) -> None:
        try:
            body = rpc_message.dump(rpc_message.result(id, self._converter.unstructure(value)))
        except Exception as error:  # noqa: BLE001 - a result that is no JSON still needs an answer
            return self._fail(id, method, error)
        return self.transport.send(body)

    def _fail(self, id: Id, method: str, error: BaseException) -> None:
        code = lsp_errors.code(error, method)
        if code == lsp_errors.INTERNAL_ERROR:
            log.error("%s failed", method, exc_info=error)
        self._refuse(id, code, lsp_errors.sentence(error, method))

    def _refuse(self, id: Id | None, code: int, reason: str) -> None:
        self.transport.send(rpc_message.dump(rpc_message.refusal(id, code, reason)))

    def _send_data(self, data: Any) -> None:
        """pygls' own way out, for notifications and our requests."""
        self.transport.send(rpc_message.dump(self._converter.unstructure(data)))


class Server(LanguageServer):
    """pygls' server, on our protocol."""

    def __init__(self, transport: Transport) -> None:
        start = cast("Any", super().__init__)  # pyright: ignore[reportUnknownMemberType]
        start("lsp-harness", "", protocol_cls=Protocol, converter_factory=default_converter)
        self.lsp = cast("Protocol", self.protocol)
        self.lsp.transport = transport

    def report_server_error(self, error: Exception, source: Any) -> None:
        """To the log; pygls would raise a popup."""
        log.error("%s", error)


def _one_line(error: Exception) -> str:
    """What cattrs found wrong first, without class names or source lines."""
    try:
        found = transform_error(error, path="params")
    except Exception:  # noqa: BLE001 - it trips over some of what cattrs itself raises
        return "they do not fit the specification"
    return " ".join(found[0].split())[:200] if found else "they do not fit the specification"


def _trigger_kind(value: Any, _: type) -> types.InlineCompletionTriggerKind:
    """vscode-languageclient 9 passes on the editor API's numbers, which begin at 0."""
    return types.InlineCompletionTriggerKind(1 if value == 0 else value)
