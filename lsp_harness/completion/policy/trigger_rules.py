"""The rules that keep the editor free of automatic suggestions at certain places, in the order in which they are asked.

Each rule is a setting of `[quiet]` by the same name. A suggestion that the user asks for passes all rules. Files and
lines that no model may see (secrets, ignored files) are decided elsewhere.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from lsp_harness.completion.policy.generated_files import is_generated
from lsp_harness.config.schema import Quiet
from lsp_harness.syntax.text_kind import text_kind_at
from lsp_harness.text.position import decode
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.edit_history import EditHistory

WORD = re.compile(r"[\w$]")
MAX_CHARACTER_BYTES = 4
"""Bytes of the longest UTF-8 character."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A cursor and the edits that led to it, as a trigger rule sees them."""

    cursor: Cursor
    history: EditHistory


class TriggerRule(NamedTuple):
    """A reason to show no suggestion in a situation, with its name in the settings.

    Attributes:
        name: The name of its setting.
        reason: Why the rule exists, for the documentation.
        applies: Returns whether the rule forbids a suggestion in a situation.
        hides: Whether the rule also removes a suggestion that is displayed while the user types along with it.
    """

    name: str
    reason: str
    applies: Callable[[Situation], bool]
    hides: bool = False


def is_after_dismissal(situation: Situation) -> bool:
    """Return whether the user rejected a suggestion at this place."""
    cursor = situation.cursor
    return any(place.covers(cursor.document, cursor.offset) for place in situation.history.rejected_places)


def is_after_deletion(situation: Situation) -> bool:
    """Return whether the last change of the text deleted something on the line of the cursor."""
    cursor, change = situation.cursor, situation.history.last_change
    document = cursor.document
    if change is None or not change.is_deletion or change.version != document.version:
        return False
    return document.line_of(min(change.start, len(document.data))) == document.line_of(cursor.offset)


def is_in_word(situation: Situation) -> bool:
    """Return whether the cursor stands between two characters of a word."""
    data, offset = situation.cursor.document.data, situation.cursor.offset
    character_before = decode(data[max(0, offset - MAX_CHARACTER_BYTES) : offset])[-1:]
    character_after = decode(data[offset : offset + MAX_CHARACTER_BYTES])[:1]
    return WORD.match(character_before) is not None and WORD.match(character_after) is not None


def is_in_comment(situation: Situation) -> bool:
    cursor = situation.cursor
    return cursor.tree is not None and text_kind_at(cursor.tree, cursor.offset) == "comment"


def is_in_string(situation: Situation) -> bool:
    cursor = situation.cursor
    return cursor.tree is not None and text_kind_at(cursor.tree, cursor.offset) == "string"


def is_in_generated_file(situation: Situation) -> bool:
    return is_generated(situation.cursor.document, situation.cursor.path)


TRIGGER_RULES: tuple[TriggerRule, ...] = (
    TriggerRule("after_dismissal", "The user rejected a suggestion at this place.", is_after_dismissal, hides=True),
    TriggerRule(
        "after_deletion", "A user who deletes text has not decided what comes next.", is_after_deletion, hides=True
    ),
    TriggerRule("in_word", "An insertion in the middle of a word breaks the word.", is_in_word),
    TriggerRule("generated_files", "The next run of the generator overwrites the edit.", is_in_generated_file),
    TriggerRule("in_comment", "A small model writes poor prose.", is_in_comment),
    TriggerRule("in_string", "The user writes the texts that people read.", is_in_string),
)

MIN_PROBABILITY = "min_probability"
"""The name of the rule about the answer of the model. It is tested when that answer has arrived."""


def find_rule(situation: Situation, settings: Quiet, *, is_displayed: bool = False) -> str:
    """Return the name of the first rule that forbids a suggestion, or an empty text.

    Args:
        situation: The cursor and the edits before.
        settings: The rules that the user switched on.
        is_displayed: Ask only the rules that also remove a suggestion which is displayed already.
    """
    for rule in TRIGGER_RULES:
        if getattr(settings, rule.name) and (rule.hides or not is_displayed) and rule.applies(situation):
            return rule.name
    return ""


def find_probability_rule(probability: float | None, settings: Quiet) -> str:
    """Return the rule's name if an answer is too improbable to show. An answer without a probability is shown."""
    return MIN_PROBABILITY if probability is not None and probability < settings.min_probability else ""
