"""The routing of messages: every request gets exactly one answer.

pygls does not answer a request if its params are invalid. It keeps its own copy of each document, whose lines it splits
where LSP does not. It starts async handlers after later messages have changed the state. So this module replaces the
routing of pygls: a handler is called at once, in the order of the messages, and its result or its exception becomes
the answer. The rest of pygls is used: its registry, its converter, and its requests and notifications to the client.
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
from lsp_harness.server.transport.transport import Transport
from lsp_harness.wire import rpc_message
from lsp_harness.wire.rpc_message import (
    Id,
    InvalidRequest,
    Notification,
    Request,
    Response,
    UnanswerableMessage,
)

log = logging.getLogger(__name__)

# of each method: the types of the request, the response, the params and the registration options
_METHOD_TYPES = cast(
    "dict[str, tuple[Any, Any, Any, Any]]",
    types.METHOD_TO_TYPES,  # pyright: ignore[reportUnknownMemberType]
)

RAW_METHODS = frozenset(
    {types.CANCEL_REQUEST, "lspHarness/didFocus", "lspHarness/didMoveCursor"}
    | {types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE}
)
"""The methods whose handlers get plain JSON.

LSP has no types for our own methods and for some ids. The text of a document must not be lost because a value that
is not used has the wrong type.
"""


class Protocol(LanguageServerProtocol):
    """Routes the messages of an initialized connection.

    Attributes:
        transport: Sends and receives the messages.
        running: The tasks of the requests in progress.
        is_shut_down: Whether `shutdown` was received. After that, only `exit` is accepted.
        on_unreadable: Is called with a message that is not JSON.
    """

    transport: Transport

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.running: dict[Id, asyncio.Task[Any]] = {}
        self.is_shut_down = False
        self.on_unreadable: Callable[[bytes], None] = lambda body: None
        converter.register_structure_hook(types.InlineCompletionTriggerKind, _trigger_kind)

    def _register_builtin_features(self) -> None:
        """Register nothing: the modules in `features` handle documents, the life cycle and commands."""

    @property
    def _handlers(self) -> "dict[str, Callable[[Any], Any]]":
        return cast("Any", self.fm).features

    # -- messages from the client
    def receive(self, body: bytes) -> None:
        """Route one message. Never raises."""
        match rpc_message.parse(body):
            case Request(id, method, params):
                self._request(id, method, params)
            case Notification(method, params):
                self._dispatch_notification(method, params)
            case Response() as response:
                self._dispatch_response(response)
            case InvalidRequest(id, code, reason):
                self._refuse(id, code, reason)
                if code == rpc_message.PARSE_ERROR:
                    self.on_unreadable(body)
            case UnanswerableMessage(reason):
                log.warning("ignored a message: %s", reason)

    def _request(self, id: Id, method: str, params: Any) -> None:
        # some clients send `exit` as a request
        if self.is_shut_down and method != types.EXIT:
            return self._refuse(id, rpc_message.INVALID_REQUEST, f"{method} came after shutdown")
        if method == types.INITIALIZE:
            return self._refuse(id, rpc_message.INVALID_REQUEST, "the server is already initialized")
        handler = self._handlers.get(method)
        if handler is None:
            return self._refuse(id, lsp_errors.METHOD_NOT_FOUND, f"{method} is not supported")
        try:
            outcome = handler(self._convert_params(method, params))
        except Exception as error:  # noqa: BLE001 - the client gets an answer to every request
            return self._fail(id, method, error)
        if not inspect.iscoroutine(outcome):
            return self._answer(id, method, outcome)
        task = asyncio.ensure_future(cast("Coroutine[Any, Any, Any]", outcome))
        self.running[id] = task
        task.add_done_callback(partial(self._finish, id, method))
        return None

    def _finish(self, id: Id, method: str, task: "asyncio.Task[Any]") -> None:
        # a client that uses an id twice gets two answers; only the later request can still be cancelled
        if self.running.get(id) is task:
            del self.running[id]
        if task.cancelled():
            self._fail(id, method, asyncio.CancelledError())
        elif error := task.exception():
            self._fail(id, method, error)
        else:
            self._answer(id, method, task.result())

    def _dispatch_notification(self, method: str, params: Any) -> None:
        handler = self._handlers.get(method)
        if handler is None or (self.is_shut_down and method != types.EXIT):
            log.debug("ignored %s", method)
            return
        try:
            handler(self._convert_params(method, params))
        except DocumentOutOfSync as error:
            # the client was warned when the text was lost
            log.debug("%s: %s", method, error.message)
        except HarnessError as error:
            log.warning("%s: %s", method, error.message)
        except Exception:
            log.exception("%s failed", method)

    def _dispatch_response(self, response: Response) -> None:
        future = self._request_futures.pop(cast("Any", response.id), None)
        expected = self._result_types.pop(cast("Any", response.id), None)
        if future is None or future.done():
            if response.is_empty and future is None:
                self._refuse(response.id, rpc_message.INVALID_REQUEST, "a request needs a method")
            else:
                log.info("ignored a response to no request: %s", response.id)
        elif response.error is not None:
            future.set_exception(JsonRpcException(f"the client refused: {response.error}"))
        else:
            try:
                raw = {"jsonrpc": "2.0", "id": response.id, "result": response.result}
                future.set_result(self._converter.structure(raw, expected).result if expected else response.result)
            except Exception as error:  # noqa: BLE001 - the waiting request must end, whatever the error is
                future.set_exception(JsonRpcException(f"the client's answer does not fit: {_first_fault(error)}"))

    def _convert_params(self, method: str, params: Any) -> Any:
        """Convert params to their LSP type. Raises UsageError."""
        if method in RAW_METHODS:
            return params
        kind = _METHOD_TYPES.get(method, (None, None, None))[2]
        if kind is None:
            return None
        try:
            return self._converter.structure(params, kind)
        except Exception as error:  # noqa: BLE001 - validators and hooks of cattrs may raise anything
            raise UsageError(f"params of {method} are not valid: {_first_fault(error)}") from None

    # -- messages to the client
    def _answer(self, id: Id, method: str, value: Any) -> None:
        try:
            body = rpc_message.dump(rpc_message.response(id, self._converter.unstructure(value)))
        except Exception as error:  # noqa: BLE001 - a result that is not JSON still needs an answer
            return self._fail(id, method, error)
        return self.transport.send(body)

    def _fail(self, id: Id, method: str, error: BaseException) -> None:
        code = lsp_errors.error_code(error, method)
        if code == lsp_errors.INTERNAL_ERROR:
            log.error("%s failed", method, exc_info=error)
        self._refuse(id, code, lsp_errors.error_message(error, method), lsp_errors.error_data(error))

    def _refuse(self, id: Id | None, code: int, reason: str, data: dict[str, Any] | None = None) -> None:
        self.transport.send(rpc_message.dump(rpc_message.error_response(id, code, reason, data)))

    def _send_data(self, data: Any) -> None:
        """Send a notification or a request to the client. pygls calls this method."""
        self.transport.send(rpc_message.dump(self._converter.unstructure(data)))


class LspServer(LanguageServer):
    """The server of pygls, with our protocol."""

    def __init__(self, transport: Transport) -> None:
        initialize = cast("Any", super().__init__)  # pyright: ignore[reportUnknownMemberType]
        initialize("lsp-harness", "", protocol_cls=Protocol, converter_factory=default_converter)
        self.lsp = cast("Protocol", self.protocol)
        self.lsp.transport = transport

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error. pygls would show a popup."""
        log.error("%s", error)


def _first_fault(error: Exception) -> str:
    """Return the first fault that cattrs reports, without class names and source lines."""
    try:
        faults = transform_error(error, path="params")
    except Exception:  # noqa: BLE001 - it fails on some exceptions of cattrs itself
        return "they do not fit the specification"
    return " ".join(faults[0].split())[:200] if faults else "they do not fit the specification"


def _trigger_kind(value: Any, _: type) -> types.InlineCompletionTriggerKind:
    """Read a trigger kind. vscode-languageclient 9 sends the numbers of the VS Code API, which begin at 0."""
    return types.InlineCompletionTriggerKind(1 if value == 0 else value)
