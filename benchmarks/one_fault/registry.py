"""The kinds of fault, and for which languages each can be made.

A mutation is a function of a text and a random generator that yields candidates, the more wanted ones first. A
candidate is not believed: `check` says whether it has the fault it should have.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from benchmarks.one_fault.case import Diagnostic
from benchmarks.one_fault.code import Code
from lsp_harness.text.edit import Edit, apply

LANGUAGES = ("python", "javascript", "typescript", "go", "rust", "java", "csharp", "php", "ruby")
Judge = Literal["syntax", "parses", "ruff", "pyright"]
"""Who says that a candidate has the fault: it no longer parses, it still parses, or a tool reports just that."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The edit that makes the fault; `diagnostic` has offsets of the faulty text. A tool that judges gives its own."""

    edit: Edit
    judge: Judge
    diagnostic: Diagnostic | None = None
    expected: tuple[str, ...] = ()
    """Codes that the judging tool must report, and no others."""
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def text(self, code: Code) -> bytes:
        return apply(code.data, [self.edit])


Mutation = Callable[[Code, Random], Iterator[Candidate]]
MUTATIONS: dict[tuple[str, str], Mutation] = {}
"""By language and kind."""


def register_mutation(kind: str, *languages: str) -> Callable[[Mutation], Mutation]:
    """Register a function as the mutation of a kind in these languages."""

    def register(function: Mutation) -> Mutation:
        for language in languages or LANGUAGES:
            MUTATIONS[language, kind] = function
        return function

    return register


def list_kinds(language: str) -> list[str]:
    """Return the kinds of fault that can be made in a language."""
    from benchmarks.one_fault import mutations  # noqa: F401 (fills the registry)

    return [kind for known, kind in MUTATIONS if known == language]
