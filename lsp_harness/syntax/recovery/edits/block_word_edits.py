"""Words that end a block and are missing, and keywords that are almost spelt right."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from lsp_harness.syntax.lexemes import BLOCK_END_WORDS, grammar_keywords
from lsp_harness.syntax.recovery.blocks import goes_on
from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.edits.token_layout import own_line
from lsp_harness.syntax.recovery.token_edit import Trial, replacement
from lsp_harness.text.edit import Edit

ELSE_IF = {
    "python": b"elif",
    "ruby": b"elsif",
    **dict.fromkeys(("javascript", "typescript", "tsx", "go", "rust", "java", "csharp", "c", "cpp"), b"else if"),
}
"""How each language begins a further condition."""
ODD_WORDS = 60
"""How many words far from the fault are compared with keywords."""


def block_ends(scene: Scene) -> Iterator[Trial]:
    """A word that ends a block, before the lines that are indented as if the block had ended."""
    words = BLOCK_END_WORDS.get(scene.language)
    if not words:
        return
    levels: list[tuple[int, int, bool]] = []
    """The first tokens of the lines whose blocks may go on, how far they are indented, and whether a deeper line followed."""
    for at, token in enumerate(scene.tokens):
        if not token.starts_line:
            continue
        width = scene.indentation(at)
        while levels and levels[-1][1] >= width:
            level, own, deeper = levels.pop()
            if goes_on(token, scene.language) and own == width:
                if token.text not in words:
                    # `else`: what began before it goes on
                    levels.append((level, own, deeper))
                break
            if deeper or scene.tokens[level].kind == "keyword":
                yield from _ended(scene, at, level, words)
        else:
            if levels:
                levels[-1] = (*levels[-1][:2], True)
            levels.append((at, width, False))
            continue
        if not goes_on(token, scene.language):
            levels.append((at, width, False))
    for level, _, deeper in reversed(levels):
        if deeper or scene.tokens[level].kind == "keyword":
            yield from _ended(scene, len(scene.tokens), level, words)


def misspelt(scene: Scene) -> Iterator[Trial]:
    """A keyword in the place of a word near the fault that is almost spelt so."""
    known = grammar_keywords(scene.tree.language)
    for at in dict.fromkeys([*scene.near, *_odd_words(scene)]):
        token = scene.tokens[at]
        if token.kind != "word" or len(token.text) < 2:
            continue
        for word in known:
            if (
                word != token.text
                and abs(len(word) - len(token.text)) <= 1
                and len(word) > 1
                and one_slip(token.text, word)
            ):
                yield replacement(scene, at, word, "keyword")


def joined_words(scene: Scene) -> Iterator[Trial]:
    """`else if`, `elif` and `elsif` written for each other."""
    right = ELSE_IF.get(scene.language)
    for at in scene.near if right else ():
        token, after = scene.tokens[at], scene.tokens[at + 1] if at + 1 < len(scene.tokens) else None
        if token.text == b"else" and after and after.text == b"if" and not after.starts_line and right != b"else if":
            yield Trial(Edit(token.start, after.end, right or b""), "replace", right or b"", at, -1, "keyword")
        elif token.text in (b"elif", b"elsif", b"elseif") and token.text != right:
            yield replacement(scene, at, right or b"", "keyword")


def _odd_words(scene: Scene) -> list[int]:
    """Words that the text has only once and that another word follows, wherever they are: `interfaec Shape`."""
    tokens = scene.tokens
    counts = Counter(token.text for token in tokens if token.kind == "word")
    return [
        at
        for at, (token, after) in enumerate(pairwise(tokens))
        if token.kind == "word"
        and counts[token.text] == 1
        and not after.starts_line
        and after.kind in ("word", "keyword")
    ][:ODD_WORDS]


def one_slip(written: bytes, meant: bytes) -> bool:
    """Whether one letter was left out, added, replaced, or exchanged with the next one."""
    if written == meant:
        return False
    head = next(
        (i for i, (a, b) in enumerate(zip(written, meant, strict=False)) if a != b), min(len(written), len(meant))
    )
    a, b = written[head:], meant[head:]
    return a[1:] == b or b[1:] == a or a[1:] == b[1:] or (len(a) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:])


def _ended(scene: Scene, at: int, level: int, words: frozenset[bytes]) -> Iterator[Trial]:
    for word in words - {b"until"}:
        yield Trial(own_line(scene, at, scene.lead(level), word), "insert", word, at, level, "block")
