"""The newest bytes of an output, with their places in the whole output."""

from collections import deque

MAX_RING_BYTES = 2_000_000


class OutputRing:
    """The newest bytes of an output.

    Attributes:
        end: The number of bytes of the whole output.
    """

    def __init__(self, limit: int = MAX_RING_BYTES) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.end = 0

    @property
    def start(self) -> int:
        """The place of the oldest byte that is remembered."""
        return self.end - self._size

    def append(self, data: bytes) -> None:
        """Add the next bytes, and forget the oldest ones."""
        # many small chunks would need much more memory than their bytes
        if self._chunks and len(self._chunks[-1]) + len(data) <= 4096:
            self._chunks[-1] += data
        else:
            self._chunks.append(data)
        self._size += len(data)
        self.end += len(data)
        while self._size > self._limit and len(self._chunks) > 1:
            self._size -= len(self._chunks.popleft())

    def read(self, since: int = 0) -> tuple[int, bytes]:
        """Return the bytes from a place on, and the place of the first one, which is later if they are forgotten."""
        data = b"".join(self._chunks)
        first = min(max(since, self.start), self.end)
        return first, data[first - self.start :]
