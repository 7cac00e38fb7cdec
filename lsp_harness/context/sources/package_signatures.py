"""What installed packages have of what some code uses, for a first prompt: signatures, with the first sentence that is said of each.

What belongs to the language itself is left out: a model knows that best, and there is most of it.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.sources.package_documentation import describe_name, look_up_names
from lsp_harness.files.secrets import spans
from lsp_harness.knowledge.doc_fragment import Absent, DocFragment
from lsp_harness.knowledge.installed_packages import Installed
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode, encode

STANDARD = frozenset({"Python", "Go", "@types/node"})
MOST = 8
"""Names that are told of."""
SIGNATURE = 200
"""Characters of a signature; of a longer one the names of its parameters are told, and one that is longer even so is left out."""
SENTENCE = 100
"""Characters of what is said of a name; a longer sentence is left out."""

_Said = tuple[str, str, str]
"""The package, a line, and what may be said behind it."""


@dataclass(frozen=True, slots=True)
class PackageSignatures:
    """What is `installed` for the workspace folder `root`, and what a `file` of it uses of that."""

    installed: Installed
    root: Path
    file: Path
    count: TokenCounter

    async def of(self, document: Document, span: Span, budget: int, comment: str) -> tuple[Fragment, ...]:
        """A fragment for each package that the code in a span uses, together at most `budget` tokens: names in the order of their
        use, a name by its signature alone where its sentence has no room."""
        if budget <= 0:
            return ()
        code = decode(document.data[slice(*span)])
        # packages are read from disk and parsed
        said = await asyncio.to_thread(lambda: list(self._said(document, code, comment)))
        titles = {release: f"{comment} {release} has\n" for release, _, _ in said}
        kept: dict[str, list[str]] = {}
        spent: dict[str, int] = {}
        for release, line, sentence in said:
            title = "" if release in kept else titles[release]
            whole = [f"{line}  {comment} {sentence}\n"] if sentence else []
            for text in (*whole, f"{line}\n"):
                cost = sum(await self.count([title, text]))
                if cost <= budget:
                    budget -= cost
                    spent[release] = spent.get(release, 0) + cost
                    kept.setdefault(release, []).append(text)
                    break
        return tuple(
            Fragment(titles[release] + "".join(lines), spent[release], release, "documents what is used here")
            for release, lines in kept.items()
        )

    def _said(self, document: Document, code: str, comment: str) -> Iterator[_Said]:
        found: dict[_Said, None] = {}
        for one in look_up_names(self.installed, self.root, self.file, [(document, code)]):
            if one.package in STANDARD or not describe_name(one):
                continue
            line, sentence = _line(one, comment)
            if len(line) <= SIGNATURE and not spans(encode(f"{line} {sentence}")):
                found[(one.release, line, sentence)] = None
            if len(found) >= MOST:
                break
        yield from found


def _line(one: DocFragment | Absent, comment: str) -> tuple[str, str]:
    """How a name is used, and what is said of it in a sentence."""
    if isinstance(one, Absent):
        return f"{comment} {describe_name(one).removeprefix(f'{one.release} has ')}", ""
    inside = "" if one.module in (one.package, "") else f"{one.module}: "
    called = one.called if len(one.called) <= SIGNATURE else shorten_signature(one.called)
    sentence = one.documentation.partition(". ")[0].strip()
    return f"{inside}{called}", sentence if len(sentence) <= SENTENCE else ""


def shorten_signature(called: str) -> str:
    """A signature with no more than the names of its parameters: `get(url: str, *, timeout: float = 5) -> Response` is
    `get(url, *, timeout)`."""
    name, bracket, rest = called.partition("(")
    # an arrow closes no bracket
    rest = re.sub("[=-]>", "  ", rest)
    depth, taken, names = 0, "", list[str]()
    for c in rest:
        if c == ")" and not depth:
            names.append(taken)
            break
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and not depth:
            names.append(taken)
            taken = ""
        else:
            taken += c
    else:
        # it was cut off, perhaps in a name
        names.append("…")
    names = [re.split(r"[:=]", one, maxsplit=1)[0].strip() for one in names]
    return f"{name}({', '.join(filter(None, names))})" if bracket else called
