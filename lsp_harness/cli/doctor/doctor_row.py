"""One line of `lsp-harness doctor`."""

from typing import Literal, NamedTuple

State = Literal["ok", "note", "bad"]
"""`ok` works, `note` works less well than it could, and `bad` does not work."""


class DoctorRow(NamedTuple):
    """A result of a check: its state, what was checked (one word), and a sentence with the repair."""

    state: State
    what: str
    says: str
