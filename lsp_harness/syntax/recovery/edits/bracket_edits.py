"""Brackets that have no partner: the partner inserted, the bracket deleted, or one of another kind in its place."""

from collections.abc import Iterator

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, grammar_keywords
from lsp_harness.syntax.recovery.broken_text import Scene, Suspect
from lsp_harness.syntax.recovery.edits.token_layout import inserted, own_line
from lsp_harness.syntax.recovery.token_edit import Trial, deletion, replacement, shown
from lsp_harness.text.edit import Edit

WITHOUT_BRACES = frozenset(["python", "ruby", "lua", "bash", "json"])
"""Languages whose blocks are not in braces."""
OWN_LINE = frozenset(["csharp", "php", "c", "cpp"])
"""Languages in which many write the brace of a block on a line of its own."""
MAY_END = frozenset(b", ; : ? ... .. * \" ' ` /".split())
"""Signs behind which brackets may be closed."""
GAPS = 48
"""How many places are tried for the partner of one bracket."""


def closers(scene: Scene) -> Iterator[Trial]:
    """The closer of each opener that has none, at each place where its expression or block may end."""
    for suspect in scene.suspects:
        opener = scene.tokens[suspect.at]
        if opener.kind != "open":
            continue
        closer = OPENERS[opener.text[-1:]]
        note = "indentation" if suspect.by_indentation else ""
        for gap in _gaps(scene, suspect, closer == b"}"):
            before = scene.tokens[gap - 1]
            if before.kind == "mark" and before.text not in MAY_END:
                continue
            yield Trial(inserted(scene, gap, closer, suspect.at), "insert", closer, gap, suspect.at, note)


def openers(scene: Scene) -> Iterator[Trial]:
    """The opener of each closer that has none, at each place where its expression or block may begin."""
    for suspect in scene.suspects:
        closer = scene.tokens[suspect.at]
        if closer.kind != "close":
            continue
        opener = CLOSERS[closer.text[:1]]
        note = "indentation" if suspect.by_indentation else ""
        for gap in range(min(suspect.last, suspect.first + GAPS), suspect.first - 1, -1):
            yield Trial(inserted(scene, gap, opener), "insert", opener, gap, suspect.at, note)
        yield from _split(scene, suspect, opener)


def body_openers(scene: Scene) -> Iterator[Trial]:
    """A brace behind a line near the fault that is followed by deeper lines, or by the end of its own block."""
    tokens = scene.tokens
    if scene.language in WITHOUT_BRACES:
        return
    for gap in scene.near:
        if not gap or not tokens[gap].starts_line or tokens[gap - 1].text in (b"{", b";", b","):
            continue
        header = scene.line_of(gap - 1).start
        below = scene.indentation(gap) - scene.indentation(header)
        if below > 0 or (below == 0 and tokens[gap].text == b"}"):
            yield Trial(inserted(scene, gap, b"{"), "insert", b"{", gap, -1, "behind a header")
            if scene.language in OWN_LINE:
                yield Trial(own_line(scene, gap, scene.lead(header), b"{"), "insert", b"{", gap, -1, "below a header")


def stray(scene: Scene) -> Iterator[Trial]:
    """Each bracket without a partner deleted, and others of its kind near it."""
    for suspect in scene.suspects:
        bracket = scene.tokens[suspect.at]
        for at in {suspect.at, *range(suspect.first, min(suspect.last + 1, suspect.first + GAPS, len(scene.tokens)))}:
            if scene.tokens[at].text == bracket.text:
                yield deletion(scene, at)


def swapped_brackets(scene: Scene) -> Iterator[Trial]:
    """A bracket of another kind in the place of one without a partner."""
    for suspect in scene.suspects:
        ends = [suspect.at, *([suspect.last] if suspect.last < len(scene.tokens) else [])]
        for at in ends:
            token = scene.tokens[at]
            if len(token.text) == 1 and token.kind in ("open", "close"):
                for other in OPENERS if token.kind == "open" else CLOSERS:
                    if other != token.text:
                        yield replacement(scene, at, other, f"for {shown(token.text)}")


def _gaps(scene: Scene, suspect: Suspect, block: bool) -> list[int]:
    """The places for a closer, the latest first; of a long block only those between lines."""
    last = min(suspect.last, len(scene.tokens))
    gaps = range(last, suspect.first - 1, -1)
    if len(gaps) <= GAPS:
        return list(gaps)
    between = [gap for gap in gaps if gap == len(scene.tokens) or scene.tokens[gap].starts_line]
    if block:
        width = scene.indentation(suspect.at)
        between.sort(key=lambda gap: (gap < len(scene.tokens) and scene.indentation(gap) > width, -gap))
        return between[:GAPS]
    return [*dict.fromkeys([*gaps[-GAPS:], *between[: GAPS // 2]])]


def _split(scene: Scene, suspect: Suspect, opener: bytes) -> Iterator[Trial]:
    """An opener inside of a word that is two names: `lenx)`."""
    for at in range(suspect.first, min(suspect.last, suspect.first + GAPS)):
        token = scene.tokens[at]
        if token.kind != "word" or len(token.text) < 3:
            continue
        for cut in range(1, len(token.text)):
            left, right = token.text[:cut], token.text[cut:]
            known = scene.words | grammar_keywords(scene.tree.language)
            digits = right.isdigit() and not left[-1:].isdigit()
            if left in known or right in known or digits:
                both = (left in known and right in known) or digits
                place = token.start + cut
                yield Trial(Edit(place, place, opener), "insert", opener, at, suspect.at, "split" if both else "half")
