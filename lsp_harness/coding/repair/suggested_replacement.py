"""A repair that puts the code that the linter's message suggests at the place of the finding.

"Use `a in (b, c)` instead of multiple comparisons" needs no model.
"""

import re
from collections.abc import Iterator

from lsp_harness.coding.repair.import_forms import NewImport, make_import_edit
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.knowledge.python_stdlib import is_module
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.finding_subject import find_replaced_code, find_suggestions

KIND = "suggested code"
COST, WHOLE_RANGE_COST = 0.3, 0.7
"""It is likelier that the message quotes all that it wants to be replaced than that it means the whole range."""
MAX_RANGE_BYTES = 2_000
MODULE = re.compile(r"(\w+)\.\w")


async def replace_by_suggestion(request: RepairRequest) -> list[Repair]:
    """Return the replacements of the quoted code, or of the whole range of the finding, by each suggestion."""
    whole = Span(*request.subject.reported)
    if whole.start == whole.end or whole.end - whole.start > MAX_RANGE_BYTES:
        return []
    repairs: list[Repair] = []
    for code in find_suggestions(request.finding.message):
        imports = tuple(_find_import(request.tree, code))
        spans = [(span, COST) for span in _find_quoted(request)] + [(whole, WHOLE_RANGE_COST)]
        repairs += [Repair(KIND, (*imports, Edit(*span, encode(code))), cost) for span, cost in spans]
    return repairs


def _find_quoted(request: RepairRequest) -> Iterator[Span]:
    """Yield the place of the code that the message wants to be replaced, if the range of the finding has it once."""
    start, end = request.subject.reported
    text = decode(request.tree.data[start:end])
    for code in find_replaced_code(request.finding.message):
        # the name of a call or of an object does not stand for the whole expression
        places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(code)}(?![\w(.\[])", text)]
        if len(places) == 1:
            offset = start + len(encode(text[: places[0]]))
            yield Span(offset, offset + len(encode(code)))


def _find_import(tree: SyntaxTree, code: str) -> Iterator[Edit]:
    """Yield the edit that imports the module of a suggestion such as `operator.itemgetter(1)`, if it is missing."""
    module = MODULE.match(code)
    if module is None or not tree.language.imports.reads_interpreter_library or not is_module(module[1]):
        return
    if any(use.is_binding for use in find_occurrences(tree, module[1])):
        return
    if edit := make_import_edit(tree, NewImport(module[1])):
        yield edit
