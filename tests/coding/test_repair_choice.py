"""Tests of the choice among equally likely repairs: the model may write one of them, and no other text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan
from lsp_harness.coding.fix import Fix, RepairChooser
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.backends.backend import NO_INFILL_KEY
from lsp_harness.inference.request import Usage
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.ruff_linter import Ruff
from tests.files.test_secrets import TOKEN
from tests.harness.tools import Script, make_settings, read_checked_log, select_event_data
from tests.support import markup

pytestmark = pytest.mark.process

TEXT = "def f(item_a, item_b):\n    return g(item_x, 1)  # both\n"
SIMILAR_NAMES = (b"item_a", b"item_b")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SessionLog]:
    log = SessionLog(tmp_path / "sessions")
    yield log
    log.close()


def make_job(engine: Script, log: SessionLog, document: Document, folder: Path, **tables: Any) -> TurnContext:
    config = make_settings(generation={"candidates": 1, "max_retries": 0, "repairs": True}, **tables)
    where = (document, folder / "a.py", folder, "a.py")
    return TurnContext(engine, config, CheckTools(Ruff()), log.turn(), *where, lambda progress: None)


def make_checked_candidate(document: Document, number: int, *edits: Edit, cost: float = 1.0) -> CheckedCandidate:
    change = Change.from_edits(document, edits, Path("/a.py"))
    candidate = Candidate(number, CandidatePlan("nearest name", 0.0, 0, (number,)), edits, Usage(), "repair", cost)
    return CheckedCandidate(candidate, ChangeSet.of(change), Verdict(change.after.hash))


def make_name_repairs(document: Document, costs: Sequence[float] = (1.0, 1.0)) -> list[CheckedCandidate]:
    """Return repairs of `item_x` in a text, one for each of the similar names."""
    at = document.data.index(b"item_x")
    return [
        make_checked_candidate(document, n, Edit(at, at + 6, name), cost=costs[n - 1])
        for n, name in enumerate(SIMILAR_NAMES, 1)
    ]


async def choose_repair_number(
    passed: Sequence[CheckedCandidate], engine: Script, log: SessionLog, folder: Path, *, allowed: bool = True
) -> int:
    """Return the number of the repair that is chosen, or 0 for none."""
    job = make_job(engine, log, passed[0].change.before, folder)
    taken = await RepairChooser(job, allowed).choose(passed)
    return taken.candidate.number if taken else 0


@pytest.mark.parametrize(("answer", "number"), [("a, 1)  # both", 1), ("b, 1)  # both", 2)])
async def test_the_model_writes_one_of_the_repairs(log: SessionLog, tmp_path: Path, answer: str, number: int) -> None:
    engine = Script(answer)
    assert (
        await choose_repair_number(make_name_repairs(Document.from_text("file:///a.py", TEXT)), engine, log, tmp_path)
        == number
    )
    [asked] = engine.foreground_requests
    # what they begin with is before the hole, and only where they differ there is a choice
    assert engine.prompt(0).endswith("    return g(item_<FILL>\n")
    assert asked.sampling.grammar == 'root ::= "a, 1)  # both" | "b, 1)  # both"\n'
    assert (asked.sampling.temperature, asked.sampling.n) == (0.0, 1)
    await engine.aclose()


@pytest.mark.parametrize(("answer", "number"), [("a, 1)  # both", 1), ("b, 1)  # both", 0)])
async def test_the_model_and_the_costs_have_to_agree(log: SessionLog, tmp_path: Path, answer: str, number: int) -> None:
    passed = make_name_repairs(Document.from_text("file:///a.py", TEXT), costs=(0.5, 0.6))
    assert await choose_repair_number(passed, Script(answer), log, tmp_path) == number
    [made] = select_event_data(list(read_log(log.path)), "choice.made")
    assert made["agreed"] is (number == 1)


async def test_an_answer_that_matches_no_repair_chooses_none_and_is_logged(log: SessionLog, tmp_path: Path) -> None:
    assert (
        await choose_repair_number(
            make_name_repairs(Document.from_text("file:///a.py", TEXT)), Script("c, 1)"), log, tmp_path
        )
        == 0
    )
    [failed] = select_event_data(list(read_log(log.path)), "choice.failed")
    assert failed["reason"] == "the model chose none of the repairs"


async def test_an_engine_that_fails_chooses_no_repair(log: SessionLog, tmp_path: Path) -> None:
    assert (
        await choose_repair_number(
            make_name_repairs(Document.from_text("file:///a.py", TEXT)),
            Script({"error": "out of memory"}),
            log,
            tmp_path,
        )
        == 0
    )
    [failed] = select_event_data(list(read_log(log.path)), "choice.failed")
    assert failed["reason"] == "out of memory"


async def test_a_model_without_fill_in_the_middle_is_not_asked(log: SessionLog, tmp_path: Path) -> None:
    engine = Script()
    engine.extra_props = {NO_INFILL_KEY: "it only follows instructions"}
    assert (
        await choose_repair_number(make_name_repairs(Document.from_text("file:///a.py", TEXT)), engine, log, tmp_path)
        == 0
    )
    assert engine.foreground_requests == []


@pytest.mark.parametrize(
    ("text", "allowed"),
    [(TEXT, False), (TEXT.replace("1", f"'{TOKEN}'"), True), (TEXT.replace("1", f"'{'x ' * 1000}'"), True)],
)
async def test_a_private_repair_is_not_shown_to_the_model(
    log: SessionLog, tmp_path: Path, text: str, allowed: bool
) -> None:
    engine = Script()
    assert (
        await choose_repair_number(
            make_name_repairs(Document.from_text("file:///a.py", text)), engine, log, tmp_path, allowed=allowed
        )
        == 0
    )
    assert engine.foreground_requests == []


@pytest.mark.parametrize(
    ("text", "away", "name", "answer", "number"),
    [
        ("n = 1\nx = 2\n", (0, 6), (0, 1), "x = 2", 1),
        ("n = 1\nx = 2\n", (0, 6), (0, 1), "_n = 1\nx = 2", 2),
        # nothing stands behind it: the empty answer ends at once
        ("x = 2\nn = 1", (5, 11), (6, 7), "\n", 1),
        ("x = 2\nn = 1", (5, 11), (6, 7), "\n_n = 1", 2),
    ],
)
async def test_the_model_can_choose_the_removal_of_a_line(
    log: SessionLog,
    tmp_path: Path,
    text: str,
    away: tuple[int, int],
    name: tuple[int, int],
    answer: str,
    number: int,
) -> None:
    document = Document.from_text("file:///a.py", text)
    passed = [
        make_checked_candidate(document, 1, Edit(*away, b"")),
        make_checked_candidate(document, 2, Edit(*name, b"_n")),
    ]
    assert await choose_repair_number(passed, Script(answer), log, tmp_path) == number


async def test_repairs_of_several_places_are_chosen_by_all_lines_between(log: SessionLog, tmp_path: Path) -> None:
    document = Document.from_text("file:///a.py", "x = item_x\ny = 1\nz = item_x\n")
    places = (4, 21)
    passed = [
        make_checked_candidate(document, n, *(Edit(at, at + 6, name) for at in places))
        for n, name in enumerate(SIMILAR_NAMES, 1)
    ]
    engine = Script("b\ny = 1\nz = item_b")
    assert await choose_repair_number(passed, engine, log, tmp_path) == 2
    assert engine.prompt(0).endswith("x = item_<FILL>\n")


# -- in a fix
SOURCE = """
    def f(item_a, item_b):
        return item_p, item_a, item_b
        #      ^^^^^^ F821 Undefined name `item_p`
    """


async def propose_fix(engine: Script, log: SessionLog, folder: Path, model: bool = True) -> str:
    (folder / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    src = markup.parse(SOURCE, folder / "a.py")
    proposal = await run_edit_task(Fix(make_job(engine, log, src.document, folder), src.finding, model))
    assert proposal.summary.startswith("nearest name passes (parse ✓, ")
    return apply(src.document.data, proposal.edits).decode()


@pytest.mark.parametrize("letter", ["a", "b"])
async def test_a_fix_applies_the_repair_that_the_model_chooses(log: SessionLog, tmp_path: Path, letter: str) -> None:
    engine = Script(f"{letter}, item_a, item_b")
    assert f"return item_{letter}, item_a, item_b" in await propose_fix(engine, log, tmp_path)
    events = read_checked_log(log.path)
    assert [data["kind"] for data in select_event_data(events, "candidate.generated")] == ["nearest name"] * 2
    await engine.aclose()


@pytest.mark.parametrize(("replies", "model"), [(["none of them"], True), ([], False)])
async def test_without_a_choice_the_error_names_all_repairs_and_no_file_is_changed(
    log: SessionLog, tmp_path: Path, replies: list[str], model: bool
) -> None:
    with pytest.raises(NoAnswer) as raised:
        await propose_fix(Script(*replies), log, tmp_path, model)
    assert str(raised.value) == (
        "Several repairs are equally likely: `return item_a, item_a, item_b` or `return item_b, item_a, item_b`; "
        "choose one yourself; nothing was changed"
    )
    assert select_event_data(read_checked_log(log.path), "edit.proposed") == []


MISSPELT = """
    def f(price):
        return prcie
        #      ^^^^^ F821 Undefined name `prcie`
    """


@pytest.mark.parametrize(
    ("source", "repairs", "replies", "is_by_model"),
    [
        (MISSPELT, True, [], False),
        (MISSPELT, False, ["return price"], True),
        (SOURCE, True, ["a, item_a, item_b"], True),
    ],
)
async def test_a_repair_that_the_model_wrote_or_chose_counts_as_its_own(
    log: SessionLog, tmp_path: Path, source: str, repairs: bool, replies: list[str], is_by_model: bool
) -> None:
    """The editor asks the user about edits of the model alone, whatever the title of the quick fix was."""
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    src = markup.parse(source, tmp_path / "a.py")
    job = make_job(Script(*replies), log, src.document, tmp_path)
    config = replace(job.config, generation=replace(job.config.generation, repairs=repairs))
    proposal = await run_edit_task(Fix(replace(job, config=config), src.finding))
    assert proposal.is_by_model is is_by_model
