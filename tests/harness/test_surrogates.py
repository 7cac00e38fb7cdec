"""Tests of edits of a text with half a surrogate pair, which stays in the text."""

import pytest

from lsp_harness.kernel.results import Progress
from tests.harness.bench import Bench, Make
from tests.harness.test_edit_verbs import apply_document_edit, fence_code, open_selection
from tests.harness.tools import make_settings

HALF, MARK = "\ud83d", "\ufffd"
ONE = make_settings(generation={"candidates": 1, "max_retries": 0})


def ignore_progress(progress: Progress) -> None: ...


async def test_a_rewritten_function_keeps_its_half_of_a_surrogate_pair(bench: Make):
    b = bench(fence_code(f'def area(r):\n    name = "{MARK}"\n    return name, 3 * r'), config=ONE)
    where = open_selection(b, f'def <|>area(r):\n    name = "{HALF}"\n    return name, r\n')

    made = await b.harness.edits.instruct(*where, "three times as much", ignore_progress)

    assert apply_document_edit(made) == f'def area(r):\n    name = "{HALF}"\n    return name, 3 * r\n'


@pytest.mark.parametrize("text", [f'NAME = "{HALF}"\n\n\ndef area(r):\n    return zzqx * r\n'])
async def test_findings_of_ruff_have_their_places_in_a_text_with_a_surrogate(bench: Make, text: str):
    b: Bench = bench()
    src = b.open(text)
    snapshot = b.harness.snapshot(src.document.uri)

    [finding] = (await b.harness.fixes.diagnose(snapshot)).findings

    assert finding.code == "F821"
    assert src.document.data[finding.start : finding.end] == b"zzqx"
