"""One prompt in a session of its own."""

from collections.abc import AsyncGenerator
from typing import Unpack

from lsp_harness.sdk.harness_client import HarnessClient
from lsp_harness.sdk.harness_options import HarnessKeywords
from lsp_harness.wire.client_events import ClientEvent


async def query(prompt: str, **options: Unpack[HarnessKeywords]) -> AsyncGenerator[ClientEvent, None]:
    """Yield the events of a prompt as they arrive: first `SessionStart`, last `TurnStop`.

    The session ends with the iterator, also if it is not read to its end.

    Args:
        prompt: The prompt.
        options: The options, which `HarnessOptions` describes.

    Raises:
        HarnessError: The session could not be started, or it ended within the turn.
    """
    async with HarnessClient(**options) as client:
        yield client.started
        turn = await client.send(prompt)
        async for event in turn:
            yield event
