"""A request for repairs from a text in which `<|>` is before and behind what the finding marks."""

from pathlib import Path

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.repair_sources import repairs
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.text.position import decode
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_subject

MARK = b"<|>"


def asked(
    path: str,
    marked: str,
    message: str,
    code: str = "",
    known: IndexQuery | None = None,
    installed: InstalledPackages | None = None,
    root: Path | None = None,
) -> RepairRequest:
    """The request for the finding that a text is marked with."""
    before, within, behind = marked.encode().split(MARK)
    document = Document.from_text(f"file:///{path}", before + within + behind)
    tree = parse(document)
    assert tree is not None
    finding = Finding(len(before), len(before) + len(within), message, "tool", code)
    file = root / path if root else None
    return RepairRequest(finding, find_subject(finding, document), tree, path, known, installed, root, file)


async def repaired(request: RepairRequest, limit: int = 8) -> list[tuple[str, Repair]]:
    """The texts that the repairs make, the likeliest first."""
    found = await repairs(request, limit)
    return [(decode(apply(request.tree.data, one.edits)), one) for one in found]
