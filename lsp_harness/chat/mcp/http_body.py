"""The bodies of answers over HTTP, without halves of characters, which the library would refuse."""

from collections.abc import AsyncIterator

import httpx2

from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES


class MendedBody(httpx2.AsyncByteStream):
    """A body of JSON, or of events whose lines are JSON.

    Args:
        body: The body as the server sends it.
        is_stream: Whether it may go on for ever, so that only its lines have a limit.
    """

    def __init__(self, body: AsyncIterator[bytes] | httpx2.AsyncByteStream, *, is_stream: bool) -> None:
        self._body, self._is_stream = body, is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield whole lines, because an escape may be cut between two parts. Raise StreamError if one is too long."""
        waiting, total = bytearray(), 0
        async for part in self._body:
            total += len(part)
            if (len(waiting) + len(part) if self._is_stream else total) > MAX_LINE_BYTES:
                raise httpx2.StreamError(f"the answer has more than {MAX_LINE_BYTES:,} bytes")
            waiting += part
            if end := max(part.rfind(b"\n"), part.rfind(b"\r")) + 1:
                whole = len(waiting) - len(part) + end
                yield to_scalar_json(bytes(waiting[:whole]))
                del waiting[:whole]
        if waiting:
            yield to_scalar_json(bytes(waiting))

    async def aclose(self) -> None:
        """Close the body."""
        if isinstance(self._body, httpx2.AsyncByteStream):
            await self._body.aclose()
