"""A repair that was found without a model, before any check has judged it."""

from dataclasses import dataclass

from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Author


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that may make a finding go away.

    `kind` is what a user reads in the table of candidates ("nearest name", "missing token", "import", "removal").
    `cost` orders the repairs of one finding, the likeliest first: 0 is certain, 1 is one typing error away, and a repair that is
    1 or more dearer than the cheapest one is a guess. Two repairs of almost the same cost mean that the text does not say which is right.
    """

    kind: str
    edits: tuple[Edit, ...]
    cost: float
    author: Author = "repair"
    """Who made it; a linter's own fix may change what its rule is about."""
