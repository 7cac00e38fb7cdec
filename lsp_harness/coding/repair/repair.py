"""A repair that was found without a model and is not checked yet."""

from dataclasses import dataclass

from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Author


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that may resolve a finding and that need no model.

    Attributes:
        kind: The kind that a user reads in the table of candidates, for example "nearest name" or "import".
        edits: The edits of the text.
        cost: Orders the repairs of one finding. 0 is certain and 1 is one typing error. A repair that costs 1 or more
            than the cheapest one is a guess. If two repairs cost almost the same, the text does not show which is
            correct.
        author: The author of the edits. A linter's own fix may change the code that its rule is about.
        learned_id: The fix in the error cache that it repeats, or an empty text.
    """

    kind: str
    edits: tuple[Edit, ...]
    cost: float
    author: Author = "repair"
    learned_id: str = ""
