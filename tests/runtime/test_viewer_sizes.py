"""The size of a terminal with several viewers."""

import asyncio

from lsp_harness.runtime.viewer_sizes import ViewerSizes


class SizedFake:
    """A terminal that only has a size."""

    def __init__(self) -> None:
        self.size = (120, 40)
        self.viewer_sizes = ViewerSizes(self)

    def resize(self, columns: int, rows: int) -> None:
        """Take a size, and tell the viewers."""
        if self.size != (columns, rows):
            self.size = (columns, rows)
            self.viewer_sizes.announce()


async def test_the_viewer_who_typed_last_decides_the_size():
    terminal = SizedFake()
    first, second = terminal.viewer_sizes.join(), terminal.viewer_sizes.join()
    first.request(100, 30)
    second.request(80, 24)
    assert terminal.size == (80, 24)
    first.request(101, 31)
    assert terminal.size == (80, 24)
    assert await first.wait_for_change() == (80, 24)
    first.note_typing()
    assert terminal.size == (101, 31)
    first.close()
    assert terminal.size == (80, 24)
    second.close()
    second.close()
    assert terminal.size == (80, 24)


async def test_a_viewer_without_a_size_does_not_change_the_size():
    terminal = SizedFake()
    reader = terminal.viewer_sizes.join()
    reader.note_typing()
    assert terminal.size == (120, 40)
    waiting = asyncio.ensure_future(reader.wait_for_change())
    await asyncio.sleep(0)
    terminal.resize(90, 20)
    assert await waiting == (90, 20)


async def test_a_size_that_no_terminal_has_is_limited():
    terminal = SizedFake()
    viewer = terminal.viewer_sizes.join()
    viewer.request(1, 5000)
    assert terminal.size == (2, 1000)
