"""Creates the file that a prompt names: “write hello.py that …”, “create src/x/y.py with …”, “a script in tools/a.py”.

A file that exists is never written over: such a prompt is about its code.
"""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.instruct import Instruct, Rewriter
from lsp_harness.coding.location.task_mentions import PRODUCT, FileMention, read_task
from lsp_harness.errors import NoAnswer
from lsp_harness.files.folders import resolve_links
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.grammar import find_code_block
from lsp_harness.inference.prompt_ceilings import PromptName
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.syntax.tree import parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.misspelling import is_misspelling
from lsp_harness.text.position import Span, encode

NEW_FILE_TOKENS = 768
"""Most tokens of a new file."""
POLITE = r"\s*(?:please\s+|(?:can|could|would)\s+you\s+(?:please\s+)?)?"
OBJECT = (
    r"(?:(?:me|a|an|the|new|small|short|simple|empty|python|source|code|test|file|module|script|program|called|named)"
    r"\s+)*"
)
WRITTEN = re.compile(rf"{POLITE}(?:write|create|make|generate|start|begin)\s+{OBJECT}[`'\"“]?\Z", re.IGNORECASE)
"""Text directly before the path of a file that is to be written."""
CREATED = re.compile(
    rf"{POLITE}(?:create\s+{OBJECT}|(?:(?:write|make|add|generate|start)\s+)?(?:an?\s+|the\s+)?new\s+{OBJECT}file\s+{OBJECT})"
    r"[`'\"“]?\Z",
    re.IGNORECASE,
)
"""Text directly before the path of a file that must not exist yet."""
PUT = re.compile(
    rf"{POLITE}(?:write|create|generate|put|build)\s+(?P<what>[^.;\n]*?)\s+"
    rf"(?:in|into|to|as|at)\s+{OBJECT}[`'\"“]?\Z",
    re.IGNORECASE,
)
"""Text before a path that says what is to be written there."""
PART_OF_FILE = re.compile(r"\b(?:tests?|docstrings?|documentation|comments?|sure|it)\b", re.IGNORECASE)
"""Words for what belongs to code that exists."""


def may_create_file(task: str) -> bool:
    """Return whether a prompt may ask for a new file. Nothing is looked up."""
    return _find_mention(task) is not None


async def find_new_file(index: IndexQuery, root: Path, task: str) -> str:
    """Return the path of the file that a prompt wants to be created, relative to the folder, or an empty text.

    Args:
        index: The indexes of the workspace folders.
        root: The workspace folder.
        task: The prompt.

    Raises:
        NoAnswer: The file exists, or would lie outside of the folder.
    """
    mention = _find_mention(task)
    if mention is None:
        return ""
    path = os.path.normpath(mention.path).replace(os.sep, "/")
    file = root / path
    if not resolve_links(file).is_relative_to(resolve_links(root)):
        raise NoAnswer(f"{mention.path} would lie outside of {root.name}; name a path inside of it")
    before = task[: mention.start]
    if os.path.lexists(file):
        if CREATED.fullmatch(before):
            raise NoAnswer(f"{path} exists already; say what to change in it, or name another file")
        return ""
    uri = root.as_uri()
    if await index.paths_ending(uri, path):
        return ""
    if not WRITTEN.fullmatch(before) and not CREATED.fullmatch(before):
        stem = PurePosixPath(path).stem
        stems = {PurePosixPath(other).stem for other in await index.code_paths(uri)}
        if any(is_misspelling(stem, other) for other in stems):
            # the name of a file that exists was meant, and LOCATE says so
            return ""
    return path


def _find_mention(task: str) -> FileMention | None:
    """Return the file of a prompt that wants one to be written, if its suffix is that of a language."""
    for mention in read_task(task).files[:1]:
        before = task[: mention.start]
        put = PUT.fullmatch(before)
        is_put = put is not None and not PART_OF_FILE.search(put["what"])
        is_wanted = is_put or WRITTEN.fullmatch(before) or CREATED.fullmatch(before)
        language = find_language_of_file(mention.path)
        if is_wanted and language and not mention.first and not PRODUCT.match(mention.path):
            return mention
    return None


class CreateFile(Instruct):
    """The task that lets the model write the whole text of a new file."""

    async def create_source(self, checked: CandidateChecks | None = None) -> "FileWriter":
        if find_secrets(encode(self.instruction)):
            raise NoAnswer("the prompt contains what looks like a secret, so it is not sent to the model")
        if self.context.document.data:
            raise NoAnswer(f"{self.context.path} has a text already; say what to change in it")
        # an empty text resembles everything, and a small model copies the examples that it gets
        context = replace(self.context, workspace=None)
        return FileWriter(context, parse(context.document), Span(0, 0), 0, self.instruction)


@dataclass(slots=True)
class FileWriter(Rewriter):
    """Generates the text of a new file (see `CandidateSource`)."""

    name: ClassVar[PromptName] = "new file"
    system: ClassVar[str] = (
        "You write a new file. Answer with the whole text of the file in one code block and nothing else."
    )

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer."""
        return NEW_FILE_TOKENS

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit that writes the text of an answer, or None if it has no whole code block."""
        code = find_code_block(to_lf(answer))
        if code is None or not code.strip():
            return None
        return Edit(0, len(self.context.document.data), encode(code.strip("\n") + "\n"))
