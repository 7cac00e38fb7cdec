"""Work on a text that may take long. It runs at once for a short text, and in a thread for a long text.

A thread costs 0.1 ms, and only work that runs at once keeps its order among other events. Only work on long texts takes
so long that other requests have to wait.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SHORT_TEXT_BYTES = 10_000
"""Maximum size of a text that is parsed and compared in a few milliseconds."""


async def offload(size: int, work: Callable[[], T], *, limit: int = SHORT_TEXT_BYTES) -> T:
    """Run `work` and return its result.

    Args:
        size: Usually the bytes of the text.
        work: It runs in a thread if `size` is larger than `limit`.
        limit: The largest size for which `work` runs at once.
    """
    return work() if size <= limit else await asyncio.to_thread(work)
