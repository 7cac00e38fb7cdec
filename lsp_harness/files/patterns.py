"""The regular expressions of ignore patterns, so written that none takes for ever.

An ignore file is anybody's: `*a*a*a*a*b` asks of a name of many `a` in how many ways these can be chosen. But one way is enough.
Between two stars of a component only a known number of characters is wanted, and between two `**` only such components: who takes
the first place that fits leaves the most to what follows, so that no other place need be tried.
"""

import re

STAR = "[^/]*"
"""What pathspec makes of `*`, and below of `**` where a pattern begins and within it. No pattern can say any of these itself: what it
says is escaped, and no class of characters has a slash in it."""
FIRST = "^(?:.+/)?"
WITHIN = "(?:/.+)?"
CLASS = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
NO_SLASH = "(?!/)"


def steady(regex: str) -> str:
    """The same without ways to go back; what follows the last star or `**` has to be looked for from the end. A class never means
    a slash, as in git."""
    begin, *parts = map(_stars, CLASS.sub(_of_component, regex).split(WITHIN))
    if not parts:
        return begin
    if begin.startswith(FIRST):
        begin = f"^(?>(?:[^/]+/)*?{begin.removeprefix(FIRST)}(?=/))"
    blocks = "".join(f"(?>(?:/[^/]+)*?{part}(?=/))" for part in parts[:-1])
    return f"{begin}{blocks}{WITHIN}{parts[-1]}"


def _stars(part: str) -> str:
    begin, *pieces = part.split(STAR)
    made = [begin]
    for n, piece in enumerate(pieces, 1):
        # the last one of a component has to reach its end
        ends = n == len(pieces) or "/" in piece.replace("[^/]", "").replace(NO_SLASH, "")
        made.append(f"{STAR}{piece}" if ends else f"(?>{STAR}?{piece})")
    return "".join(made)


def _of_component(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") or found[0] == "[^/]" else NO_SLASH + found[0]
