"""The conversation until `initialize` is answered.

Nothing here waits for the import of the LSP types or the harness.
"""

import logging
from collections.abc import AsyncIterator

from lsp_harness.errors import UsageError
from lsp_harness.server import lsp_errors
from lsp_harness.server.features.lifecycle import initialize
from lsp_harness.server.features.lifecycle.initialize import Greeting
from lsp_harness.server.transport.transport import Transport
from lsp_harness.wire import rpc_message
from lsp_harness.wire.rpc_message import (
    InvalidRequest,
    Notification,
    Request,
    Response,
    UnanswerableMessage,
)

log = logging.getLogger(__name__)


async def greet(transport: Transport, messages: AsyncIterator[bytes]) -> Greeting | None:
    """Answer all messages up to a valid `initialize`, and return what it says.

    Return None if the client leaves before.
    """
    async for body in messages:
        match message := rpc_message.parse(body):
            case Request(id, initialize.METHOD, params):
                try:
                    greeting, result = initialize.run(params)
                except UsageError as error:
                    answer = rpc_message.error_response(id, lsp_errors.INVALID_PARAMS, error.message)
                    transport.send(rpc_message.dump(answer))
                    continue
                transport.send(rpc_message.dump(rpc_message.response(id, result)))
                await transport.drain()
                return greeting
            case Request(id, method):
                reason = f"{method} came before initialize"
                answer = rpc_message.error_response(id, lsp_errors.NOT_INITIALIZED, reason)
                transport.send(rpc_message.dump(answer))
            case InvalidRequest(id, code, reason):
                transport.send(rpc_message.dump(rpc_message.error_response(id, code, reason)))
            case Notification("exit"):
                return None
            case Notification() | Response() | UnanswerableMessage():
                log.debug("ignored before initialize: %s", message)
        await transport.drain()
    return None
