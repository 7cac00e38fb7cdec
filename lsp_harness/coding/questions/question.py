"""An exact question: its family, and the name, the file or the kind that it is about."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from lsp_harness.disk.file_reading import read_text

Family = Literal[
    "where",
    "code",
    "contents",
    "members",
    "callers",
    "callees",
    "tests",
    "kinds",
    "signature",
    "documentation",
    "subtypes",
    "bases",
    "raises",
    "imports",
    "importers",
    "changes",
    "commits",
    "last_commit",
    "first_commit",
    "file_commits",
    "declaration_commits",
    "person_commits",
    "findings",
    "results",
]


ONE = "one"
"""The topic of a question such as “show me the float one”: its name is only a word of a name."""


@cache
def read_patterns() -> dict[str, Any]:
    """Return the table `question_patterns.toml`: the sentences and the words by which questions are read."""
    return tomllib.loads(read_text(Path(__file__).with_name("question_patterns.toml")))


@dataclass(frozen=True, slots=True)
class QuestionSubject:
    """The subject of a question: the name of a declaration and the path of a file. Each may be empty."""

    name: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """An exact question.

    Attributes:
        family: What is asked.
        name: The name of the declaration that the question is about, with dots between its parts. It may be empty.
        file: The path, or the end of the path, of the file that the question is about. It may be empty.
        folder: The folder that the question is limited to. It may be empty.
        topic: The kind of declarations that are wanted, in lower case and as it was written. It may be empty.
    """

    family: Family
    name: str = ""
    file: str = ""
    folder: str = ""
    topic: str = ""
