"""Signatures from installed packages for the names that some code uses.

A signature is followed by the first sentence of its documentation.

The standard library is left out: models know it best, and it would take most of the budget.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence

from lsp_harness.context.context_inputs import CodeSelection, PackageScope
from lsp_harness.context.context_source import InstructionSource, SectionTitle, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.lookup.package_documentation import describe_name, look_up_names
from lsp_harness.files.secrets import find_secrets
from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.text.position import encode

STANDARD_LIBRARIES = frozenset({"Python", "Go", "@types/node"})
MAX_NAMES = 8
MAX_SIGNATURE_CHARS = 200
"""A longer signature is reduced to the names of its parameters. It is left out if that is still too long."""
MAX_SENTENCE_CHARS = 100
"""A longer sentence is left out."""
REASON = "documents what is used here"

_Description = tuple[str, str, str]
"""The package, the line about a name, and the sentence that may follow the line."""


class PackageSignatureSource(InstructionSource):
    """The source of signatures in installed packages: a fragment for each package that the code uses.

    Names stand in the order of their use. The sentence of a name is left out if only its signature fits.
    """

    name = "signatures of installed packages"
    share = Share(("docs_budget", "code_budget"))
    order = 20
    reasons = (REASON,)
    section = SectionTitle("packages", "What the installed packages have")

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        code, packages = self._inputs.code, self._inputs.packages
        if packages is None:
            return ()
        comment = code.comment
        # this reads packages from disk and parses them
        descriptions = await asyncio.to_thread(lambda: list(_describe(packages, code, comment)))
        titles = {release: f"{comment} {release} has\n" for release, _, _ in descriptions}
        lines_by_release: dict[str, list[str]] = {}
        tokens_by_release: dict[str, int] = {}
        for release, line, sentence in descriptions:
            title = "" if release in lines_by_release else titles[release]
            with_sentence = [f"{line}  {comment} {sentence}\n"] if sentence else []
            for text in (*with_sentence, f"{line}\n"):
                cost = sum(await self._inputs.count([title, text]))
                if cost <= budget:
                    budget -= cost
                    tokens_by_release[release] = tokens_by_release.get(release, 0) + cost
                    lines_by_release.setdefault(release, []).append(text)
                    break
        return tuple(
            Fragment(titles[release] + "".join(lines), tokens_by_release[release], release, REASON)
            for release, lines in lines_by_release.items()
        )


def _describe(packages: PackageScope, code: CodeSelection, comment: str) -> Iterator[_Description]:
    descriptions: dict[_Description, None] = {}
    written = [(code.document, code.text)]
    for item in look_up_names(packages.installed, packages.root, packages.file, written):
        if item.package in STANDARD_LIBRARIES or not describe_name(item):
            continue
        line, sentence = _to_line(item, comment)
        if len(line) <= MAX_SIGNATURE_CHARS and not find_secrets(encode(f"{line} {sentence}")):
            descriptions[(item.release, line, sentence)] = None
        if len(descriptions) >= MAX_NAMES:
            break
    yield from descriptions


def _to_line(item: DocFragment | AbsentName, comment: str) -> tuple[str, str]:
    """Return the signature of a name and the first sentence of its documentation."""
    if isinstance(item, AbsentName):
        return f"{comment} {describe_name(item).removeprefix(f'{item.release} has ')}", ""
    module = "" if item.module in (item.package, "") else f"{item.module}: "
    signature = item.usage if len(item.usage) <= MAX_SIGNATURE_CHARS else shorten_signature(item.usage)
    sentence = item.documentation.partition(". ")[0].strip()
    return f"{module}{signature}", sentence if len(sentence) <= MAX_SENTENCE_CHARS else ""


def shorten_signature(signature: str) -> str:
    """Return a signature with only the names of its parameters.

    `get(url: str, *, timeout: float = 5) -> Response` becomes `get(url, *, timeout)`.
    """
    name, bracket, rest = signature.partition("(")
    # the `>` of an arrow closes no bracket
    rest = re.sub("[=-]>", "  ", rest)
    depth, parameter, parameters = 0, "", list[str]()
    for character in rest:
        if character == ")" and not depth:
            parameters.append(parameter)
            break
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and not depth:
            parameters.append(parameter)
            parameter = ""
        else:
            parameter += character
    else:
        # the signature was cut off, perhaps inside a name
        parameters.append("…")
    names = [re.split(r"[:=]", text, maxsplit=1)[0].strip() for text in parameters]
    return f"{name}({', '.join(filter(None, names))})" if bracket else signature
