"""A request for repairs from a text in which `<|>` is before and behind what the finding marks."""

from pathlib import Path

from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.coding.repair.repair_sources import find_repairs
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.text.position import decode
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_subject

MARK = b"<|>"


def make_request(
    path: str,
    marked_text: str,
    message: str,
    code: str = "",
    index: IndexQuery | None = None,
    installed: InstalledPackages | None = None,
    root: Path | None = None,
) -> RepairRequest:
    """Return the request for repairs of the marked finding."""
    before, inside, after = marked_text.encode().split(MARK)
    document = Document.from_text(f"file:///{path}", before + inside + after)
    tree = parse(document)
    assert tree is not None
    finding = Finding(len(before), len(before) + len(inside), message, "tool", code)
    file = root / path if root else None
    return RepairRequest(finding, find_subject(finding, document), tree, path, index, installed, root, file)


async def make_all_repairs(request: RepairRequest, limit: int = 8) -> list[tuple[str, Repair]]:
    """Return the texts after each repair with the repair, the likeliest first."""
    repairs = await find_repairs(request, limit)
    return [(decode(apply(request.tree.data, repair.edits)), repair) for repair in repairs]
