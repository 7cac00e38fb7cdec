"""When nothing is suggested by itself, as one table in the order in which it is asked.

Each rule is a setting of `[quiet]` by the same name. Whoever asks for a suggestion passes all of them; what is kept from
the model for good (secrets, ignored files) is no matter of this table.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from lsp_harness.completion.policy.generated_files import generated
from lsp_harness.config.schema import Quiet
from lsp_harness.syntax.text_kind import text_kind_at
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.workspace.edit_history import Change
from lsp_harness.workspace.rejected_places import Dismissed

WORD = re.compile(r"[\w$]")
CHARACTER = 4
"""Bytes that a character takes at most."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A cursor and what led to it."""

    document: Document
    tree: SyntaxTree | None
    offset: int
    path: str
    change: Change | None = None
    """The document's latest."""
    dismissed: tuple[Dismissed, ...] = ()

    @property
    def language(self) -> str:
        return self.tree.language.id if self.tree else self.document.language


class Rule(NamedTuple):
    """`name` is that of its setting. `on_screen`: it also takes away what is shown already and typed along with."""

    name: str
    why: str
    silent: Callable[[Situation], bool]
    on_screen: bool = False


def after_dismissal(at: Situation) -> bool:
    return any(place.covers(at.document, at.offset) for place in at.dismissed)


def after_deletion(at: Situation) -> bool:
    change, document = at.change, at.document
    if change is None or not change.deletion or change.version != document.version:
        return False
    return document.line_of(min(change.start, len(document.data))) == document.line_of(at.offset)


def in_word(at: Situation) -> bool:
    data, offset = at.document.data, at.offset
    before = decode(data[max(0, offset - CHARACTER) : offset])[-1:]
    after = decode(data[offset : offset + CHARACTER])[:1]
    return WORD.match(before) is not None and WORD.match(after) is not None


def in_comment(at: Situation) -> bool:
    return at.tree is not None and text_kind_at(at.tree, at.offset) == "comment"


def in_string(at: Situation) -> bool:
    return at.tree is not None and text_kind_at(at.tree, at.offset) == "string"


def generated_files(at: Situation) -> bool:
    return generated(at.document, at.path)


RULES: tuple[Rule, ...] = (
    Rule("after_dismissal", "it was said no to here", after_dismissal, on_screen=True),
    Rule("after_deletion", "who takes away is not finished thinking", after_deletion, on_screen=True),
    Rule("in_word", "what is inserted there spoils the word", in_word),
    Rule("generated_files", "the next run of the generator undoes it", generated_files),
    Rule("in_comment", "a small model's prose is noise", in_comment),
    Rule("in_string", "a text for people is theirs to write", in_string),
)

MIN_PROBABILITY = "min_probability"
"""The rule about what the model wrote, which is asked when that is there."""


def silenced(at: Situation, settings: Quiet, *, on_screen: bool = False) -> str:
    """The name of the first rule that says to be silent here; empty where none does.

    With `on_screen` the question is whether to go on showing what the user types along with.
    """
    for rule in RULES:
        if getattr(settings, rule.name) and (rule.on_screen or not on_screen) and rule.silent(at):
            return rule.name
    return ""


def unlikely(probability: float | None, settings: Quiet) -> str:
    """The rule's name where a text is too improbable to show; what has no probability is shown."""
    return MIN_PROBABILITY if probability is not None and probability < settings.min_probability else ""
