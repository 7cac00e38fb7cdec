"""Reads which exact question a prompt asks: by the sentences that people write most, or else by its words.

Nothing is looked up here: whether a name exists is the question of the answer.
"""

import re
from collections.abc import Collection

from lsp_harness.coding.questions.question import Question, QuestionSubject
from lsp_harness.coding.questions.question_cues import read_cues
from lsp_harness.coding.questions.question_sentences import correct_words, read_sentence

MAX_CHARS = 300
"""A longer prompt says more than a question for a fact."""
CONTRACTION = re.compile(r"\b(what|where|who|how)s\b", re.IGNORECASE)

HOW_MUCH = re.compile(r"\bhow much\b", re.IGNORECASE)


def read_question(prompt: str, declared: Collection[str] = (), last: QuestionSubject | None = None) -> Question | None:
    """Return the exact question that a prompt asks, or None if it asks none.

    A word with a typing slip counts as the word that is meant.

    Args:
        prompt: The prompt of the user.
        declared: The words of the prompt that are names of declarations.
        last: What the question before was about, for words such as “it”.
    """
    if len(prompt) > MAX_CHARS or "\n" in prompt.strip():
        return None
    text = CONTRACTION.sub(r"\1's", " ".join(prompt.replace("’", "'").split()))
    text = HOW_MUCH.sub("how many", text)
    corrected = correct_words(text)
    return read_sentence(text, last) or read_sentence(corrected, last) or read_cues(corrected, declared, last)
