"""All sources of repairs without a model: the error cache, and others by the kind of the finding's subject."""

from collections.abc import Mapping

from lsp_harness.coding.repair.argument_swap import swap_arguments
from lsp_harness.coding.repair.block_indentation import indent_block
from lsp_harness.coding.repair.declaration_repair import declare_name
from lsp_harness.coding.repair.interpolation import fix_interpolation
from lsp_harness.coding.repair.learned_repairs import apply_learned_fixes
from lsp_harness.coding.repair.missing_imports import find_missing_imports
from lsp_harness.coding.repair.name_prefixes import add_receiver, add_sigil
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest, RepairSource
from lsp_harness.coding.repair.similar_names import find_similar_names
from lsp_harness.coding.repair.suggested_replacement import replace_by_suggestion
from lsp_harness.coding.repair.token_repairs import repair_tokens
from lsp_harness.coding.repair.unused_removal import remove_unused_code
from lsp_harness.verify.finding_subject import SubjectKind

SOURCES_BY_KIND: Mapping[SubjectKind, tuple[RepairSource, ...]] = {
    "syntax": (repair_tokens, indent_block),
    "name": (find_similar_names, find_missing_imports, add_sigil, add_receiver, declare_name),
    "removal": (remove_unused_code,),
    "argument": (swap_arguments,),
    "rule": (fix_interpolation, replace_by_suggestion),
}


async def find_repairs(request: RepairRequest, limit: int) -> list[Repair]:
    """Return at most `limit` different repairs of a finding, the most likely first."""
    repairs_by_edits: dict[tuple[object, ...], Repair] = {}
    for source in (apply_learned_fixes, *SOURCES_BY_KIND.get(request.subject.kind, ())):
        for repair in await source(request):
            previous = repairs_by_edits.get(repair.edits)
            if previous is None or repair.cost < previous.cost:
                repairs_by_edits[repair.edits] = repair
    return sorted(repairs_by_edits.values(), key=lambda repair: repair.cost)[:limit]
