"""Names that whoever asks knows to be likely, made likelier: what is imported and not used yet, and what the code below needs.

A model that has read their definitions still writes what it has seen more often. Where a word begins, or goes on as one of these
names, their tokens are weighed by what is known. It is a bias and no constraint: what the model is sure of it still says.
"""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from lsp_harness.engine.decode.llama import Llama, Logits, Tokens
from lsp_harness.inference.request import Sampling

BIAS = 5.0
"""Added to the logits. On holes of real commits 6 found more of what was written than 4, and 4 more than 2."""
BINDING = 8.0
"""Added for a name that nothing binds, where one is bound."""
TAIL = 200
"""Bytes of the text that are looked at."""
WORD = re.compile(rb"(?<![\w$\x80-\xff])[\w$\x80-\xff]*\Z")
MEMBER = re.compile(rb"(?<!\.)\.\s*\Z|::\Z|\w->\Z")
"""What a member stands behind; behind an arrow with a blank before it stands what a function gives."""
BINDS = re.compile(
    rb"""(?:
    (?:[*&]?\w+,\s*)*(?:\w+\s*:[^=()]*,\s*)?[*&]*                       # the first of its line, behind names and parameters
    |(?:for\s*\()?(?:(?:export|pub|static|async|const|let|var|mut|def|fn|function|for(?:\s+await)?)\s+)+[(\[{*&]*\s*(?:\w+,\s*)*[*&]*
    |(?:\w+\s+)*(?:def|fn|function)\s+\w+\s*\((?:[^()=]*,\s*)?[*&]*     # parameters
    |[^=]*\blet\s+(?:\w+\()?(?:mut\s+|ref\s+)*
    |(?:(?:async\s+)?with|except|import|from|case)\b.*\sas\s+
    )\Z""",
    re.VERBOSE,
)
"""A line, without the blanks it begins with, up to a name that is bound."""
LEADS = (b"", b" ", b"(", b" (", b"[", b" [", b"{", b" {", b"!", b" !", b"&", b" &", b"<", b"*")
"""What a token may begin with before a name."""


class Expectation:
    """Of one candidate. `before` is the end of the text before what is generated."""

    def __init__(self, llama: Llama, sampling: Sampling, before: bytes) -> None:
        self._llama = llama
        self._names, self._unbound = (
            [name.encode("utf-8", "replace") for name in names] for names in (sampling.expected, sampling.unbound)
        )
        self._before = before[-TAIL:]
        self._written = b""
        self._known: dict[tuple[bytes, bytes], Tokens] = {}
        self._best: dict[tuple[bytes, bytes], Tokens] = {}

    def add(self, piece: bytes) -> None:
        """It was generated."""
        self._written += piece

    def weighed(self, logits: Logits, forced: bytes) -> Logits:
        """The logits, with what is expected behind the text so far and what is `forced` of the next."""
        likely = [*self._likely(forced)] if self._names else []
        binding = [*self._binding(forced)] if self._unbound else []
        if not likely and not binding:
            return logits
        logits = logits.copy()
        for tokens, bias in ((likely, BIAS), (binding, BINDING)):
            if tokens:
                logits[np.unique(np.concatenate(tokens))] += bias
        return logits

    def _likely(self, forced: bytes) -> Iterator[Tokens]:
        text = (self._before + self._written)[-TAIL:] + forced
        word = _word(text)
        start = text[: len(text) - len(word)]
        if MEMBER.search(start):
            return
        for name in self._names:
            if name == word or not name.startswith(word) or self._said(name):
                continue
            if forced or word:
                yield self._tokens(*_rest(name, word, forced))
            else:
                yield from (self._tokens(lead, name) for lead in LEADS)

    def _binding(self, forced: bytes) -> Iterator[Tokens]:
        text = (self._before + self._written)[-TAIL:] + forced
        line = text[text.rfind(b"\n") + 1 :]
        # how far in a line begins is not for a name to say, and in brackets nothing is bound
        if not line or len(line) >= TAIL or _open(self._written[: self._written.rfind(b"\n") + 1]):
            return
        word, line = _word(line), line.lstrip()
        begun = line[: len(line) - len(word)]
        leads = [] if forced else [(lead, (line + lead).lstrip()) for lead in LEADS if lead or not word]
        binds, begins = [lead for lead, start in leads if BINDS.match(start)], bool(BINDS.match(begun))
        first, firsts = not begun, [lead for lead, start in leads if not start]
        behind = [lead for lead in binds if lead not in firsts]
        for one in self._unbound:
            keyword, told, name = one.rpartition(b" ")
            if self._said(name):
                continue
            yield from self._goes_on(
                name, word, forced, behind if told else binds, begins=begins and not (told and first)
            )
            if keyword:
                yield from self._goes_on(keyword, word, forced, firsts, begins=first)

    def _goes_on(
        self, name: bytes, word: bytes, forced: bytes, leads: Iterable[bytes], *, begins: bool
    ) -> Iterator[Tokens]:
        """With the rest of a name of which a word is written, and with all of it behind these leads."""
        if begins and (forced or word) and word != name and name.startswith(word):
            yield self._longest(*_rest(name, word, forced))
        yield from (self._longest(lead, name) for lead in leads)

    def _longest(self, lead: bytes, name: bytes) -> Tokens:
        """The one that spells most of it: one that spells a letter may go on as anything."""
        key = lead, name
        if key not in self._best:
            self._best[key] = np.asarray(self._llama.most(lead, name), np.int32)
        return self._best[key]

    def _said(self, name: bytes) -> bool:
        return re.search(rb"(?<![\w$])%s(?![\w$])" % re.escape(name), self._written) is not None

    def _tokens(self, lead: bytes, name: bytes) -> Tokens:
        """Those that spell a name from its beginning, behind its lead."""
        key = lead, name
        if key not in self._known:
            spelled = self._llama.spelled(lead + name)
            self._known[key] = np.asarray([t for t in spelled if len(self._llama.piece(int(t))) > len(lead)], np.int32)
        return self._known[key]


def _open(text: bytes) -> bool:
    """Whether brackets that are opened in a text are not closed in it."""
    return text.count(b"(") + text.count(b"[") > text.count(b")") + text.count(b"]")


def _word(text: bytes) -> bytes:
    found = WORD.search(text)
    return found[0] if found else b""


def _rest(name: bytes, word: bytes, forced: bytes) -> tuple[bytes, bytes]:
    """What is forced before what is left of a name that begins with `word`, and that; a part of the word may be forced, too."""
    inside = min(len(word), len(forced))
    return forced[: len(forced) - inside], name[len(word) - inside :]
