"""The conversation until `initialize` is answered. Nothing here waits for the LSP types or the harness to be imported."""

import logging
from collections.abc import AsyncIterator

from lsp_harness.errors import UsageError
from lsp_harness.server import lsp_errors
from lsp_harness.server.features.lifecycle import initialize
from lsp_harness.server.features.lifecycle.initialize import Greeting
from lsp_harness.server.transport import rpc_message
from lsp_harness.server.transport.rpc_message import Noise, Notification, Refused, Request, Response
from lsp_harness.server.transport.transport import Transport

log = logging.getLogger(__name__)


async def greet(transport: Transport, messages: AsyncIterator[bytes]) -> Greeting | None:
    """Answers everything up to a good `initialize`. None when the client leaves without one."""
    async for body in messages:
        match message := rpc_message.parse(body):
            case Request(id, initialize.METHOD, params):
                try:
                    greeting, result = initialize.run(params)
                except UsageError as error:
                    transport.send(rpc_message.dump(rpc_message.refusal(id, lsp_errors.INVALID_PARAMS, error.message)))
                    continue
                transport.send(rpc_message.dump(rpc_message.result(id, result)))
                await transport.drain()
                return greeting
            case Request(id, method):
                reason = f"{method} came before initialize"
                transport.send(rpc_message.dump(rpc_message.refusal(id, lsp_errors.NOT_INITIALIZED, reason)))
            case Refused(id, code, reason):
                transport.send(rpc_message.dump(rpc_message.refusal(id, code, reason)))
            case Notification("exit"):
                return None
            case Notification() | Response() | Noise():
                log.debug("dropped before initialize: %s", message)
        await transport.drain()
    return None
