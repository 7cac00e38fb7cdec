"""A program in a pseudo-terminal, with its screen, its log and its viewers."""


class Terminal:
    """A program in a pseudo-terminal."""

    def read_lines(self, count: int, *, raw: bool = False) -> list[str]:
        """Return the last lines of the output. `raw` keeps escape sequences."""
        raise NotImplementedError
