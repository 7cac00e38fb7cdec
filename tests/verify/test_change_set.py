"""A set of changes: one verdict on several documents."""

from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, DocumentCheck, run_checks
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.ruff_linter import Ruff

FILE = Path("/p/a.py")


def change(name: str, before: str, after: str) -> Change:
    file = FILE.with_name(name)
    old = Document.from_text(file.as_uri(), before, language="python", version=3)
    return Change.from_documents(old, Document.from_text(old.uri, after, language="python"), file)


class MainCheck(DocumentCheck):
    """Passes, and lists the files that it read."""

    name = title = "main"
    feedback_label = "MAIN"
    criterion = ""
    is_about_finding = True

    def __init__(self) -> None:
        self.files: list[str] = []

    async def run(self, change: Change) -> Outcome:
        self.files.append(change.file.name)
        return Outcome(self.name, "passed")


def test_the_hash_of_one_document_is_the_hash_of_its_text() -> None:
    first, other = change("a.py", "x = 1\n", "x = 2\n"), change("b.py", "y = 1\n", "y = 2\n")
    assert ChangeSet.of(first).hash == first.after.hash
    hashes = {ChangeSet.of(first, other).hash, ChangeSet.of(other, first).hash, first.after.hash, other.after.hash}
    assert len(hashes) == 4


@pytest.mark.parametrize("names", [[], ["a.py", "a.py"]])
def test_a_change_set_has_exactly_one_change_for_each_document(names: list[str]) -> None:
    with pytest.raises(ValueError, match="only one for each document"):
        ChangeSet(tuple(change(name, "x\n", "y\n") for name in names))


async def test_a_fault_in_another_document_fails_the_whole_set() -> None:
    changes = ChangeSet.of(change("a.py", "x = 1\n", "x = 2\n"), change("b.py", "y = 1\n", "y = (1\n"))
    main_check = MainCheck()
    [syntax] = create_checks(Verification(lint=False), CheckContext(CheckTools(Ruff())))
    verdict = await run_checks(changes, [main_check, syntax])
    assert main_check.files == ["a.py"]
    assert (verdict.hash, verdict.marks) == (changes.hash, "main ✓, parse ✗")
    [line] = verdict.outcomes[-1].lines
    assert line.startswith("b.py: SYNTAX ERROR at line 1: ")
    assert verdict.findings == ()


async def test_a_set_passes_if_a_check_ran_for_one_of_its_documents() -> None:
    text = Document.from_text("file:///p/b.xyz", "y")
    other = Change.from_edits(text, [Edit(0, 1, b"z")], FILE.with_name("b.xyz"))
    changes = ChangeSet.of(change("a.py", "x = 1\n", "x = 2\n"), other)
    checks = create_checks(Verification(lint=False), CheckContext(CheckTools(Ruff()), Finding(0, 1, "bad")))
    verdict = await run_checks(changes, checks)
    assert verdict.passed
    assert verdict.outcomes[0].reason == "no grammar for .xyz"
