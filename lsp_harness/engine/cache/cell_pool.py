"""The cells of the KV cache: which are free, and how many sequences share each of the others."""

from collections.abc import Sequence


class CellPool:
    """The cells and the number of references to each. A cell that several sequences share is in use once.

    Args:
        size: Number of cells.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = list(range(size))
        """The free cells. Other modules only read the number of them."""
        self._references = [0] * size

    @property
    def used(self) -> int:
        """Number of cells in use."""
        return self.size - len(self.free)

    def allocate(self, count: int) -> list[int]:
        """Take `count` free cells. The caller makes sure that there are as many."""
        free, references = self.free, self._references
        cells: list[int] = []
        for _ in range(count):
            cell = free.pop()
            references[cell] = 1
            cells.append(cell)
        return cells

    def share(self, cells: Sequence[int]) -> None:
        """Count one more sequence that uses `cells`."""
        for cell in cells:
            self._references[cell] += 1

    def release(self, cells: Sequence[int]) -> None:
        """Count one sequence less that uses `cells`, and free those that none uses."""
        for cell in cells:
            self._references[cell] -= 1
            if not self._references[cell]:
                self.free.append(cell)
