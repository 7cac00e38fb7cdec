"""Names that are likely or needed, made likelier: names that are imported but not used yet, names the code below needs.

A model that has read their definitions still prefers names it saw more often in training. Where a word begins, or
continues as one of these names, the logits of their tokens are raised. This is a bias and no constraint: the model
still writes what it is sure of.
"""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from lsp_harness.engine.decode.llama import Logits
from lsp_harness.engine.decode.vocabulary import Tokens, Vocabulary
from lsp_harness.inference.request import Sampling

LIKELY_BIAS = 5.0
"""Added to the logits of likely names. On holes of real commits 6 reproduced more of the original text than 4, and 4
more than 2."""
BINDING_BIAS = 8.0
"""Added to the logits of a name that nothing binds yet, where a name is bound."""
MAX_TEXT_BYTES = 200
"""Bytes of the text before the cursor that are read."""
WORD = re.compile(rb"(?<![\w$\x80-\xff])[\w$\x80-\xff]*\Z")
MEMBER_START = re.compile(rb"(?<!\.)\.\s*\Z|::\Z|\w->\Z")
"""The text before a member. After an arrow with a blank before it comes a return type, not a member."""
BINDING_LINE = re.compile(
    rb"""(?:
    (?:[*&]?\w+,\s*)*(?:\w+\s*:[^=()]*,\s*)?[*&]*                       # first of its line, after names and parameters
    |(?:for\s*\()?(?:(?:export|pub|static|async|const|let|var|mut|def|fn|function|for(?:\s+await)?)\s+)+
    [(\[{*&]*\s*(?:\w+,\s*)*[*&]*
    |(?:\w+\s+)*(?:def|fn|function)\s+\w+\s*\((?:[^()=]*,\s*)?[*&]*     # parameters
    |[^=]*\blet\s+(?:\w+\()?(?:mut\s+|ref\s+)*
    |(?:(?:async\s+)?with|except|import|from|case)\b.*\sas\s+
    )\Z""",
    re.VERBOSE,
)
"""A line up to a name that it binds. The indentation is left out."""
LEADS = (b"", b" ", b"(", b" (", b"[", b" [", b"{", b" {", b"!", b" !", b"&", b" &", b"<", b"*")
"""The text with which a token can begin before a name."""


class NameBias:
    """The bias of likely and needed names for one candidate.

    Args:
        vocabulary: The vocabulary of the model.
        sampling: The settings of the request; `expected` and `unbound` hold the names.
        before: The text before the answer, or its end.
    """

    def __init__(self, vocabulary: Vocabulary, sampling: Sampling, before: bytes) -> None:
        self._vocabulary = vocabulary
        self._likely_names, self._unbound_names = (
            [name.encode("utf-8", "replace") for name in names] for names in (sampling.expected, sampling.unbound)
        )
        self._before = before[-MAX_TEXT_BYTES:]
        self._generated = b""
        self._spelling_tokens: dict[tuple[bytes, bytes], Tokens] = {}
        self._longest_tokens: dict[tuple[bytes, bytes], Tokens] = {}

    def add(self, piece: bytes) -> None:
        """Add the text of a generated token."""
        self._generated += piece

    def apply(self, logits: Logits, forced: bytes) -> Logits:
        """Return the logits with the bias of the names that fit at the end of the text.

        Args:
            logits: The scores of all tokens. They are not changed.
            forced: The text with which the next tokens must begin.
        """
        likely = [*self._likely_tokens(forced)] if self._likely_names else []
        binding = [*self._binding_tokens(forced)] if self._unbound_names else []
        if not likely and not binding:
            return logits
        logits = logits.copy()
        for tokens, bias in ((likely, LIKELY_BIAS), (binding, BINDING_BIAS)):
            if tokens:
                logits[np.unique(np.concatenate(tokens))] += bias
        return logits

    def _likely_tokens(self, forced: bytes) -> Iterator[Tokens]:
        text = (self._before + self._generated)[-MAX_TEXT_BYTES:] + forced
        word = _last_word(text)
        start = text[: len(text) - len(word)]
        if MEMBER_START.search(start):
            return
        for name in self._likely_names:
            if name == word or not name.startswith(word) or self._is_generated(name):
                continue
            if forced or word:
                yield self._tokens_spelling(*_split_rest(name, word, forced))
            else:
                yield from (self._tokens_spelling(lead, name) for lead in LEADS)

    def _binding_tokens(self, forced: bytes) -> Iterator[Tokens]:
        text = (self._before + self._generated)[-MAX_TEXT_BYTES:] + forced
        line = text[text.rfind(b"\n") + 1 :]
        # An empty line is skipped, because a name must not decide the indentation. Within brackets nothing is bound.
        generated_lines = self._generated[: self._generated.rfind(b"\n") + 1]
        if not line or len(line) >= MAX_TEXT_BYTES or _has_open_bracket(generated_lines):
            return
        word, line = _last_word(line), line.lstrip()
        before_word = line[: len(line) - len(word)]
        leads = [] if forced else [(lead, (line + lead).lstrip()) for lead in LEADS if lead or not word]
        binding_leads = [lead for lead, start in leads if BINDING_LINE.match(start)]
        first_leads = [lead for lead, start in leads if not start]
        later_leads = [lead for lead in binding_leads if lead not in first_leads]
        word_is_bound, word_is_first = bool(BINDING_LINE.match(before_word)), not before_word
        for unbound in self._unbound_names:
            # `total`, `const total` (after that keyword) or ` total` (after something)
            keyword, separator, name = unbound.rpartition(b" ")
            if self._is_generated(name):
                continue
            yield from self._find_continuations(
                name,
                word,
                forced,
                later_leads if separator else binding_leads,
                continues_word=word_is_bound and not (separator and word_is_first),
            )
            if keyword:
                yield from self._find_continuations(keyword, word, forced, first_leads, continues_word=word_is_first)

    def _find_continuations(
        self, name: bytes, word: bytes, forced: bytes, leads: Iterable[bytes], *, continues_word: bool
    ) -> Iterator[Tokens]:
        """Yield the tokens that write the rest of `name` after `word`, and those that write `name` after a lead."""
        if continues_word and (forced or word) and word != name and name.startswith(word):
            yield self._find_longest(*_split_rest(name, word, forced))
        yield from (self._find_longest(lead, name) for lead in leads)

    def _find_longest(self, lead: bytes, name: bytes) -> Tokens:
        """Return the token that spells most of `name`. A token of one letter could continue as any name."""
        key = lead, name
        if key not in self._longest_tokens:
            self._longest_tokens[key] = np.asarray(self._vocabulary.longest_tokens(lead, name), np.int32)
        return self._longest_tokens[key]

    def _is_generated(self, name: bytes) -> bool:
        """Return whether the answer contains the name already."""
        return re.search(rb"(?<![\w$])%s(?![\w$])" % re.escape(name), self._generated) is not None

    def _tokens_spelling(self, lead: bytes, name: bytes) -> Tokens:
        """Return the tokens that are `lead` and a beginning of `name`."""
        key = lead, name
        if key not in self._spelling_tokens:
            matching = self._vocabulary.matching_tokens(lead + name)
            tokens = [token for token in matching if len(self._vocabulary.piece(int(token))) > len(lead)]
            self._spelling_tokens[key] = np.asarray(tokens, np.int32)
        return self._spelling_tokens[key]


def _has_open_bracket(text: bytes) -> bool:
    """Return whether a text opens more brackets than it closes."""
    return text.count(b"(") + text.count(b"[") > text.count(b")") + text.count(b"]")


def _last_word(text: bytes) -> bytes:
    match = WORD.search(text)
    return match[0] if match else b""


def _split_rest(name: bytes, word: bytes, forced: bytes) -> tuple[bytes, bytes]:
    """Return what the next token must begin with and what is left of `name`, which begins with `word`.

    The end of `word` may be part of the forced text.
    """
    inside = min(len(word), len(forced))
    return forced[: len(forced) - inside], name[len(word) - inside :]
