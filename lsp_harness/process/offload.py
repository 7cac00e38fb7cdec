"""Work on a text that may take long: done at once for a short text, and in a thread for a long one.

A thread costs a tenth of a millisecond, and what is done at once keeps its order among other events. Only the work on long
texts takes so long that other requests would wait for it.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SHORT_TEXT_BYTES = 10_000
"""Size of a text that is parsed and compared in a few milliseconds."""


async def offload(size: int, work: Callable[[], T], *, limit: int = SHORT_TEXT_BYTES) -> T:
    """Return what `work` returns. It runs in a thread if `size`, the bytes of its text or what else is counted, is above `limit`."""
    return work() if size <= limit else await asyncio.to_thread(work)
