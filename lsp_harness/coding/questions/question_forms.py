"""Recognizes by its form a prompt that only wants to know or to see something, so that no edit may come of it."""

import re

from lsp_harness.coding.questions.question_sentences import ORDER

LEAD = (
    r"\W*(?:(?:and|but|so|ok(?:ay)?|well|now|then|also|hi|hello|hey|please|pls|hm+|oh|sorry|thanks|no|yes|again|"
    r"by the way|btw)\b\W*)*"
)
ASKS = re.compile(
    LEAD + r"(?:(?:does|did|is|are|was|were|has|isn't|aren't|doesn't|didn't|hasn't)\b|"
    r"(?:do|have) (?:any|some)\w*\b|"
    r"(?:do|have|can|could|will|would|should|may|might|must) (?:i|we|they|it|this|that|he|she|there|these|those|"
    r"the(?! same| other| rest)|its|all|our)\b|"
    r"(?:who|whom|whose|which)\b|why\b(?! (?:not|don't))|how (?!about\b)|"
    r"(?:what|where|when)(?:'s|s)? (?:is|are|was|were|does|do|did|has|have|can|could|will|would|should|must|may|"
    r"happens|"
    r"happened|kinds?|types?|else|exactly)\b|what's\b|where's\b|"
    r"(?:can|could|would|will) you (?:please )?(?:explain|describe|tell|show|say|list|summari[sz]e)\b|"
    r"(?:explain|describe|summari[sz]e)\b|(?:show|tell|remind) (?:me|us)\b|let me (?:see|look|read|know)\b|"
    r"i(?:'d like| want| need|'m trying| would like) to (?:see|know|understand|read|look)\b)",
    re.IGNORECASE,
)
GETS_MORE = re.compile(
    r"\b(?:can|could|may)\s+(?!you\b|u\b|i\b|we\b)(?:[^\s,;?!]+\s+){1,8}?(?:get|have|take|accept|support)\s+"
    r"(?:an?|another|one more)\b(?!\s+(?:look|idea|list|error|exception))",
    re.IGNORECASE,
)
"""Matches a polite wish for something more: “can increment get an optional step?”."""
WISH = re.compile(
    r"\b(?:is there a way|are you able|(?:is|would) (?:it|that|this) (?:be )?(?:possible|ok(?:ay)?|fine)) to\b",
    re.IGNORECASE,
)
"""Matches a question that politely orders: “is it possible to add …?”."""
CLAUSE = re.compile(r"[.;?!]\s+|,\s+(?:and |so |then |please )*|\s(?:and|then) (?:please )?|\s[-–]\s")


def is_surely_question(prompt: str) -> bool:
    """Return whether a prompt only wants an answer, and no clause of it orders a change."""
    text = " ".join(prompt.replace("’", "'").split())
    if not ASKS.match(text) or WISH.search(text) or GETS_MORE.search(text):
        return False
    clauses = CLAUSE.split(text)
    return not any(ORDER.match(clause) and not _tells(clause) for clause in clauses[1:])


def _tells(clause: str) -> bool:
    """Return whether the verb of a clause asks for words only."""
    return re.match(r"(?:please )?explain\b", clause, re.IGNORECASE) is not None
