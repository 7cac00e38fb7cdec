"""All sources of repairs without a model, by the kind of subject that they are for."""

from collections.abc import Mapping

from lsp_harness.coding.repair.argument_swap import swapped_arguments
from lsp_harness.coding.repair.declaration_repair import missing_declaration
from lsp_harness.coding.repair.interpolation import interpolated
from lsp_harness.coding.repair.missing_imports import missing_import
from lsp_harness.coding.repair.name_marks import missing_mark, missing_receiver
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest, Source
from lsp_harness.coding.repair.similar_names import near_names
from lsp_harness.coding.repair.token_repairs import missing_tokens
from lsp_harness.coding.repair.unused_removal import removal
from lsp_harness.verify.finding_subject import SubjectKind

REPAIRS: Mapping[SubjectKind, tuple[Source, ...]] = {
    "syntax": (missing_tokens,),
    "name": (near_names, missing_import, missing_mark, missing_receiver, missing_declaration),
    "removal": (removal,),
    "argument": (swapped_arguments,),
    "rule": (interpolated,),
}


async def repairs(request: RepairRequest, limit: int) -> list[Repair]:
    """The repairs of a finding, the likeliest first, each once; at most `limit`."""
    found: dict[tuple[object, ...], Repair] = {}
    for source in REPAIRS.get(request.subject.kind, ()):
        for repair in await source(request):
            known = found.get(repair.edits)
            if known is None or repair.cost < known.cost:
                found[repair.edits] = repair
    return sorted(found.values(), key=lambda one: one.cost)[:limit]
