"""A repair of a string that contains a placeholder but does not interpolate: it gets the prefix `f` or backticks."""

import re

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.tree import nodes_around
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

KIND = "interpolation"
INTERPOLATION_REPORT = re.compile(
    r"no-template-curly-in-string|W1311|RUF027|\bf[- ]?(?:string\b|prefix)|template (?:literal|string)", re.IGNORECASE
)
"""The codes and messages of linters for such a string."""
SCRIPT_PLACEHOLDER = re.compile(rb"\$\{[^{}]+\}")
PYTHON_PLACEHOLDER = re.compile(rb"(?<!\{)\{[^\W\d][^{}]*\}(?!\})")


async def fix_interpolation(request: RepairRequest) -> list[Repair]:
    """Add `f` before the string of the finding in Python, or put it in backticks in JavaScript and TypeScript."""
    finding, tree = request.finding, request.tree
    if not INTERPOLATION_REPORT.search(f"{finding.code} {finding.message}"):
        return []
    nodes = nodes_around(tree.root, finding.start, max(finding.start + 1, min(finding.end, finding.start + 2)))
    node = next((node for node in nodes if node.type == "string"), None)
    if node is None:
        return []
    text = tree.data[node.start_byte : node.end_byte]
    mark = tree.language.tokens.interpolation_mark
    if mark.isalpha() and text[:1] in b"'\"" and PYTHON_PLACEHOLDER.search(text):
        return [Repair(KIND, (Edit(node.start_byte, node.start_byte, encode(mark)),), 0.1)]
    if mark and not mark.isalpha() and SCRIPT_PLACEHOLDER.search(text) and encode(mark) not in text and len(text) > 2:
        quotes = (node.start_byte, node.end_byte - 1)
        return [Repair(KIND, tuple(Edit(quote, quote + 1, encode(mark)) for quote in quotes), 0.1)]
    return []
