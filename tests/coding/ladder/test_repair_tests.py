"""The ladder for failing tests, with real tests in the sandbox and a scripted model: plumbing, not quality."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.coding.ladder import repair_tests as repair_plan
from lsp_harness.coding.ladder.repair_tests import NothingFails, RepairTests, find_failures, limit_to_named
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config, Generation
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.request import Chunk, Infill, ModelRequest, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.results import Proposal
from tests.coding.project_bench import ProjectBench, apply_proposal

pytestmark = pytest.mark.process

COUNT = """def count_bits(n):
    count = 0
    while n:
        n ^= n - 1
        count += 1
    return count


def unrelated(n):
    return n
"""
TESTS = """from code_module import count_bits, unrelated


def test_many():
    assert count_bits(127) == 7


def test_none():
    assert count_bits(0) == 0


def test_unrelated():
    assert unrelated(3) == 3
"""
Reply = Callable[[str, int], str]
"""Returns the text for a prompt, in which a NUL is the hole, and for the index of the candidate."""


class HoleEngine(ScriptedEngine):
    """A model whose answer depends on the hole."""

    def __init__(self, reply: Reply) -> None:
        super().__init__([])
        self._reply = reply
        self.prompts: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        prompt = prompt_text(request)
        self.prompts.append(prompt)
        for index in range(request.sampling.n):
            text = self._reply(prompt, index) if isinstance(request, Infill) else "```\nno code\n```"
            yield Chunk(text, "eos", Usage(generated=len(text.split())), index)


class RepairBench(ProjectBench):
    """A project whose tests fail, and a repair of it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "code_module.py", TESTS)

    async def repair(self, text: str, reply: Reply, generation: Generation | None = None) -> Proposal:
        self.engine = HoleEngine(reply)
        config = Config() if generation is None else replace(Config(), generation=generation)
        context = self.create_context(self.engine, text, config, "Count the bits that are 1.")
        trace = await find_failures(context)
        self.proposal = await run_edit_task(RepairTests(context, trace))
        return self.proposal

    @property
    def new_text(self) -> str:
        return apply_proposal(self.proposal)

    def kinds(self) -> list[str]:
        return [event.data["kind"] for event in self.events if event.type == "candidate.generated"]


@pytest.fixture
async def whole_bench(tmp_path: Path) -> AsyncGenerator[RepairBench]:
    async with aclosing(RepairBench(tmp_path)) as bench:
        yield bench


@pytest.fixture
def repair_bench(whole_bench: RepairBench, monkeypatch: pytest.MonkeyPatch) -> RepairBench:
    """Return a bench on which no operator is changed, so that the model is asked first."""
    monkeypatch.setattr(repair_plan, "MAX_SLIPS", 0)
    return whole_bench


def answer(hole_line: str, text: str) -> Reply:
    """Return a model that knows one line: the one after `hole_line`."""
    return lambda prompt, index: text if prompt.split("\0")[0].rstrip().endswith(hole_line) else ""


async def test_the_statement_that_failing_tests_run_is_filled(repair_bench: RepairBench) -> None:
    await repair_bench.repair(COUNT, answer("while n:", "n &= n - 1"))
    assert "n &= n - 1" in repair_bench.new_text
    assert repair_bench.proposal.verdict.short_marks == "parse ✓, lint ✓, tests ✓"
    assert set(repair_bench.kinds()) == {"statement fill"}
    # the code that no failing test runs is not touched, and the prompt says what is wanted
    assert not any("def unrelated(n):\n    \0" in prompt for prompt in repair_bench.engine.prompts)
    assert all("# Count the bits that are 1.\n" in prompt for prompt in repair_bench.engine.prompts)
    assert repair_bench.file.read_text() == COUNT


async def test_a_name_that_keeps_the_code_from_being_imported_is_repaired_first(repair_bench: RepairBench) -> None:
    header = "def count_bits(n: int):"
    broken = "import math\n\n" + COUNT.replace("^=", "&=").replace("(n):\n    count", "(n: Innt):\n    count")

    def reply(prompt: str, index: int) -> str:
        return header if prompt.split("\0")[1].startswith("\n    count = 0") else ""

    await repair_bench.repair(broken, reply)
    assert header in repair_bench.new_text
    assert repair_bench.proposal.verdict.short_marks == "parse ✓, lint ✓, tests ✓"
    # the statement with the missing name is the first hole, though nothing says which lines ran
    assert (
        "# test_code_module.py: NameError: name 'Innt' is not defined\n\0\n    count = 0"
        in repair_bench.engine.prompts[0]
    )


async def test_a_missing_statement_is_inserted(repair_bench: RepairBench) -> None:
    broken = COUNT.replace("        n ^= n - 1\n", "        if n > 9999:\n            n = 0\n")

    def reply(prompt: str, index: int) -> str:
        before, after = prompt.split("\0")
        is_free_line = before.endswith("while n:\n        ") and after.startswith("\n        if n > 9999")
        return "n &= n - 1" if is_free_line and index == 2 else ""

    await repair_bench.repair(broken, reply)
    assert "        n &= n - 1\n        if n > 9999:\n" in repair_bench.new_text
    assert repair_bench.kinds()[-1] == "insertion"


async def test_two_fills_that_each_help_are_combined(repair_bench: RepairBench) -> None:
    broken = COUNT.replace("n ^= n - 1", "n = n & (n - 1) or 0").replace("count += 1", "count += 2")
    broken = broken.replace("    count = 0\n", "    count = 5\n")
    tests = TESTS + "\n\ndef test_difference():\n    assert count_bits(127) - count_bits(0) == 7\n"
    repair_bench.write_tests(tests)
    fixes = {"def count_bits(n):": "count = 0", "n = n & (n - 1) or 0": "count += 1"}

    def reply(prompt: str, index: int) -> str:
        before = prompt.split("\0")[0].rstrip()
        return next((text for line, text in fixes.items() if before.endswith(line)), "")

    await repair_bench.repair(broken, reply)
    assert "    count = 0\n" in repair_bench.new_text
    assert "        count += 1\n" in repair_bench.new_text
    assert repair_bench.kinds()[-1] == "two fills"


async def test_a_candidate_that_breaks_another_test_is_no_repair(repair_bench: RepairBench) -> None:
    text = COUNT.replace("n ^= n - 1", "unrelated.__code__ = (lambda n: 0).__code__; n &= n - 1")
    with pytest.raises(NoAnswer, match="No candidate passed"):
        await repair_bench.repair(COUNT, answer("while n:", text.splitlines()[3].strip()), Generation(max_retries=0))
    rejected = [event.data["reason"] for event in repair_bench.events if event.type == "candidate.rejected"]
    assert any("test_unrelated" in reason for reason in rejected)


async def test_a_candidate_without_an_end_does_not_stop_the_others(repair_bench: RepairBench) -> None:
    def reply(prompt: str, index: int) -> str:
        before = prompt.split("\0")[0].rstrip()
        if before.endswith("while n:"):
            return "n &= n - 1"
        return "count = 0\n    while True: pass" if before.endswith("def count_bits(n):") else ""

    await repair_bench.repair(COUNT, reply)
    assert "n &= n - 1" in repair_bench.new_text


async def test_without_a_failing_test_no_candidate_is_made(repair_bench: RepairBench) -> None:
    with pytest.raises(NoAnswer, match=r"no test that depends on code_module\.py fails"):
        await repair_bench.repair(COUNT.replace("^=", "&="), lambda prompt, index: "never asked")
    assert repair_bench.engine.prompts == []


async def test_only_the_tests_that_a_prompt_names_count(whole_bench: RepairBench) -> None:
    whole_bench.write_tests(AGE_TESTS)
    engine = HoleEngine(lambda prompt, index: "never asked")
    trace = await find_failures(whole_bench.create_context(engine, AGE.format("<", ""), Config(), ""))
    assert len(trace.failures) > 1
    named = limit_to_named(trace, "fix the failing test test_old")
    assert [failure.title for failure in named.failures] == ["test_old"]
    assert limit_to_named(trace, "fix the failing tests") is trace
    with pytest.raises(NothingFails, match=r"test_words does not fail here \(2 other tests fail\)"):
        limit_to_named(trace, "fix the failing test test_words")


async def test_a_module_that_is_not_installed_is_no_fault_of_the_code(repair_bench: RepairBench) -> None:
    with pytest.raises(NoAnswer, match=r"test_code_module\.py cannot be imported \(ModuleNotFoundError: No module"):
        await repair_bench.repair("import no_such_module\n" + COUNT, lambda prompt, index: "never asked")
    assert repair_bench.engine.prompts == []


async def test_the_time_of_the_settings_ends_the_ladder(repair_bench: RepairBench) -> None:
    with pytest.raises(NoAnswer, match="the time for this repair is over"):
        await repair_bench.repair(COUNT, lambda prompt, index: "", Generation(test_repair_s=0))
    assert repair_bench.engine.prompts == []


AGE = """def is_expired(age, limit):
    if age {} limit:
        return True
    return False


def first_words(words, count):
    return words[:count{}]
"""
AGE_TESTS = """from code_module import first_words, is_expired


def test_old():
    assert is_expired(3, 2)


def test_young():
    assert not is_expired(1, 2)


def test_at_the_limit():
    assert not is_expired(2, 2)


def test_words():
    assert first_words(["a", "b", "c"], 2) == ["a", "b"]
"""
AGE_RIGHT = AGE.format(">", "")


@pytest.mark.parametrize(
    ("broken", "right"),
    [
        (AGE.format("<", ""), AGE_RIGHT),
        (AGE.format(">", " + 1"), AGE_RIGHT),
        (AGE_RIGHT.replace("words[:count]", "words[:words]"), AGE_RIGHT),
        (AGE_RIGHT.replace("    return words", "    words"), AGE_RIGHT),
    ],
    ids=["operator", "one more", "name", "return"],
)
async def test_a_slip_is_undone_without_the_model(whole_bench: RepairBench, broken: str, right: str) -> None:
    whole_bench.write_tests(AGE_TESTS)
    await whole_bench.repair(broken, lambda prompt, index: "never asked")
    assert whole_bench.new_text == right
    assert whole_bench.proposal.verdict.marks == "parse ✓, lint ✓, tests ✓ (4 tests in 1 file, 1 of 1 changed lines)"
    assert whole_bench.engine.prompts == []


async def test_a_slip_in_code_that_only_the_import_runs_is_undone(whole_bench: RepairBench) -> None:
    right = "def double(number):\n    return number * 2\n\n\nFOUR = double(2)\n"
    whole_bench.write_tests("from code_module import FOUR\n\n\ndef test_four():\n    assert FOUR == 4\n")
    await whole_bench.repair(right.replace("* 2", "- 2"), lambda prompt, index: "never asked")
    assert whole_bench.new_text in (right, right.replace("* 2", "+ 2"))
    assert whole_bench.engine.prompts == []


async def test_without_repairs_the_model_is_asked_at_once(whole_bench: RepairBench) -> None:
    whole_bench.write_tests(AGE_TESTS)
    with pytest.raises(NoAnswer):
        await whole_bench.repair(AGE.format("<", ""), lambda prompt, index: "", Generation(repairs=False))
    assert whole_bench.engine.prompts


async def test_only_a_repair_that_makes_the_failing_tests_pass_is_a_candidate(whole_bench: RepairBench) -> None:
    whole_bench.write_tests(AGE_TESTS)
    await whole_bench.repair(AGE.format("<", ""), lambda prompt, index: "never asked")
    rejected = [event.data["reason"] for event in whole_bench.events if event.type == "candidate.rejected"]
    assert not any("test_old" in reason for reason in rejected)


async def test_the_summary_says_how_many_repairs_pass_and_shows_the_next(whole_bench: RepairBench) -> None:
    whole_bench.write_tests(AGE_TESTS.replace("is_expired(2, 2)", "is_expired(0, 2)"))
    await whole_bench.repair(AGE.format("<", ""), lambda prompt, index: "never asked")
    assert re.search(r"one of \d+ that pass; the next changes line 2 to `if ", whole_bench.proposal.summary)
