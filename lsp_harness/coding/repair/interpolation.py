"""A string that has the place of a value in it, and is none of the strings in which values are put: the prefix, or the quotes, are mended."""

import re

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.tree import nodes_around
from lsp_harness.text.edit import Edit

KIND = "interpolation"
REPORTED = re.compile(
    r"no-template-curly-in-string|W1311|RUF027|\bf[- ]?(?:string\b|prefix)|template (?:literal|string)", re.IGNORECASE
)
"""How linters report it, by rule or in words."""
PLACE = re.compile(rb"\$\{[^{}]+\}")
NAMED_PLACE = re.compile(rb"(?<!\{)\{[^\W\d][^{}]*\}(?!\})")
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})


async def interpolated(request: RepairRequest) -> list[Repair]:
    """The string of the finding with an `f` before it, or in backticks."""
    finding, tree = request.finding, request.tree
    if not REPORTED.search(f"{finding.code} {finding.message}"):
        return []
    nodes = nodes_around(tree.root, finding.start, max(finding.start + 1, min(finding.end, finding.start + 2)))
    node = next((one for one in nodes if one.type == "string"), None)
    if node is None:
        return []
    text = tree.data[node.start_byte : node.end_byte]
    if tree.language.id == "python" and text[:1] in b"'\"" and NAMED_PLACE.search(text):
        return [Repair(KIND, (Edit(node.start_byte, node.start_byte, b"f"),), 0.1)]
    if tree.language.id in SCRIPTS and PLACE.search(text) and b"`" not in text and len(text) > 2:
        ends = (node.start_byte, node.end_byte - 1)
        return [Repair(KIND, tuple(Edit(at, at + 1, b"`") for at in ends), 0.1)]
    return []
