"""`fix FILE` of a compiled language: the compiler of the project is asked, or the user learns which output to pipe."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lsp_harness.harness.edits.diagnosis import diagnose
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.current_findings import Examination
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import NothingComparedError
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.workspace.workspace import Workspace

ERROR = Finding(12, 15, "no method named `pth` found", "cargo check", "E0599")
TYPES_REASON = "types: rust-analyzer is not installed"
LINT_REASON = "no linter is known for rust"


class NoNames:
    """Stands for a type checker that is not installed."""

    async def find(self, document: Document, file: Path, root: Path | None) -> tuple[Finding, ...]:
        raise NothingComparedError("rust-analyzer is not installed")


async def examine(folder: Path, answer: Callable[[], tuple[Finding, ...]], *, compiles: bool = True) -> Examination:
    (folder / "Cargo.toml").write_text("[package]\n")
    document = Document.from_text((folder / "main.rs").as_uri(), "fn main() { pth(); }\n", language="rust")

    async def find_errors(tool: object, changes: object) -> tuple[Finding, ...]:
        return answer()

    linters = cast("ToolComparison", SimpleNamespace(find_errors=find_errors))
    tools = CheckTools(Ruff(), linters=linters, names=cast("NameErrors", cast("Any", NoNames())))
    snapshot = Workspace([folder]).snapshot(document)
    return await diagnose(snapshot, parse(document), tools, compiles=compiles)


async def test_the_errors_of_the_compiler_are_findings(tmp_path: Path) -> None:
    examined = await examine(tmp_path, lambda: (ERROR,))
    assert examined == Examination((ERROR,), ("syntax", "cargo check"), (LINT_REASON,))


async def test_without_permission_the_user_learns_which_output_to_pipe(tmp_path: Path) -> None:
    def refuse() -> tuple[Finding, ...]:
        raise NothingComparedError("cargo may not run")

    examined = await examine(tmp_path, refuse)
    pipe = "pipe your compiler: cargo check 2>&1 | lsp-harness fix main.rs --failing=-"
    assert examined.skip_reasons == (LINT_REASON, "types: cargo may not run", pipe)
    assert examined.findings == ()


async def test_a_request_of_an_editor_runs_no_compiler(tmp_path: Path) -> None:
    examined = await examine(tmp_path, lambda: pytest.fail("the compiler ran"), compiles=False)
    assert replace(examined, findings=()) == Examination((), ("syntax",), (LINT_REASON, TYPES_REASON))
