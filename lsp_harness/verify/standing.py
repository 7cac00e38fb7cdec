"""What our own checks say of a text as it is, changed by nobody."""

from pathlib import Path

from lsp_harness.syntax.faults import faults
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.lint import PYTHON
from lsp_harness.verify.ruff import Ruff


async def standing(
    document: Document, tree: SyntaxTree | None, ruff: Ruff, file: Path, root: Path | None
) -> list[Finding]:
    """Broken syntax, or for Python what ruff says. Raises RuffFailed."""
    broken = [Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in faults(tree)] if tree else []
    python = document.language == "python" or file.suffix in PYTHON
    if broken or not python or ruff.missing:
        return broken
    return [report.finding for report in await ruff.check(document, file, root)]
