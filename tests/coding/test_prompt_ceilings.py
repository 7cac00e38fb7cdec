"""Every prompt of the driver `code`, rendered with the worst inputs, has no more tokens than its row allows."""

import ast
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import lsp_harness
from lsp_harness.coding import write_tests as test_writing
from lsp_harness.coding.candidates import sampling
from lsp_harness.coding.candidates.candidate_generator import CandidateGenerator
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan
from lsp_harness.coding.docstring import WriteDocstring
from lsp_harness.coding.explain import Explain
from lsp_harness.coding.finding_location import locate_finding
from lsp_harness.coding.fix import RepairChooser
from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.ladder.ladder import HolePlan, LadderSource
from lsp_harness.coding.location.task_location import TaskPlace, TaskPlaces, choose_place
from lsp_harness.coding.new_file import CreateFile
from lsp_harness.coding.plan.plan_choice import decide_item
from lsp_harness.coding.plan.understanding import understand_prompt
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import NEXT_STATES
from lsp_harness.coding.write_code import WriteCode, WriteMember, WriteTestCode
from lsp_harness.coding.write_tests import WriteTests, find_target_function
from lsp_harness.config.schema import Config
from lsp_harness.context import source_registry
from lsp_harness.context.context_inputs import WorkspaceScope
from lsp_harness.context.context_source import InstructionSource
from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.sources.index_sources import RelatedCodeSource
from lsp_harness.errors import HarnessError
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.prompt_ceilings import CEILINGS, PROMPT_NAMES, PromptLimit, PromptName
from lsp_harness.inference.request import Chunk, ModelRequest, Props, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import ToolProblem
from lsp_harness.verify.finding import Finding, Verdict
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.tools import make_settings
from tests.support.tokenizer import Tokenizer

TEXTS = {
    "short": "check that the radius is no negative number",
    "long": "add a check of the input and raise an error " * 25,
    "huge": "add a check, and return 42; " * 8_000,
    "one word": "x" * 60_000,
    "lines": "area = 3 * radius\n" * 6_000,
    "unicode": "日本語のテキスト🦀ß→" * 5_000,
    "blank": " \t\n" * 20_000,
}
CODE = "def area(radius, unit):\n{body}    side = radius == None\n    return side\n"
PATH = "src/" + "a_folder_with_a_long_name/" * 150 + "a.py"


class CountingEngine(ScriptedEngine):
    """An engine that counts tokens with a real vocabulary and gives empty answers."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__([])
        self.tokenizer = tokenizer

    async def count(self, texts: Sequence[str]) -> list[int]:
        return self.tokenizer.count(texts)

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return self.tokenizer.render(messages)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self.foreground_requests.append(request)
        for index in range(request.sampling.n):
            yield Chunk("", "eos", Usage(), index)

    async def props(self) -> Props:
        return Props("counting", 32_768, 0, {"fim_tokens": self.tokenizer.fim_tokens, "opening": 1})


async def fill_budget(text: str, budget: int, count: TokenCounter) -> tuple[Fragment, ...]:
    """Return a piece of a text, in whole lines, which has nearly as many tokens as it may have."""
    unit = "".join(f"# {line}\n" for line in text[:200].splitlines() or [text[:200]])
    [cost] = await count([unit])
    piece = unit * (budget // cost)
    [tokens] = await count([piece])
    return (
        (Fragment(piece, tokens, PATH if text != TEXTS["short"] else "b.py", "all that it may have"),)
        if 0 < tokens <= budget
        else ()
    )


@dataclass(frozen=True, slots=True)
class PromptCase:
    """A text, and a file with a function that has the text before, in and behind it."""

    engine: CountingEngine
    text: str
    folder: Path
    turn: Any

    @property
    def config(self) -> Config:
        return Config()

    @property
    def path(self) -> str:
        """Return a usual path for a short text, or a long path."""
        return "src/a.py" if self.text == TEXTS["short"] else PATH

    def write_code(self, lines: int) -> str:
        """Return a file with a function of so many lines."""
        comment = "".join(f"# {line}\n" for line in self.text.splitlines()[:200])
        body = "".join(f"    # {line}\n" for line in (self.text[:400].splitlines() * lines)[:lines])
        others = "".join(f"\n\ndef helper_{number}(radius, unit):\n    return unit\n" for number in range(60))
        return f"{comment}\n\nunit = 1\n{others}\n\n{CODE.format(body=body)}\n\n{comment}"

    def context(self, lines: int = 20) -> TurnContext:
        file = self.folder / "a.py"
        document = Document.from_text(file.as_uri(), self.write_code(lines), language="python")
        problem = ToolProblem(self.text, "a.py", 3, test=f"test_a.py::{self.text}")
        return TurnContext(
            *(self.engine, self.config, CheckTools(Ruff()), self.turn, document, file, self.folder, self.path),
            lambda progress: None,
            WorkspaceScope(None),  # type: ignore[arg-type]
            output=Digest("pytest", (problem,) * 20),
            session_lines=tuple(self.text.splitlines()[:50]),
            task=self.text,
        )

    def locate(self, context: TurnContext) -> tuple[SyntaxTree, Span, Finding]:
        """Return the tree, the function, and a finding in it."""
        tree, data = parse(context.document), context.document.data
        assert tree is not None
        at = data.index(b"radius == None")
        start = data.index(b"def area")
        return tree, Span(start, data.index(b"return side") + 11), Finding(at, at + 14, self.text, "ruff", "E711")


Render = Callable[[PromptCase], Awaitable[object]]


async def drain(source: CandidateSource, plan: CandidatePlan, feedback: Sequence[str] = ()) -> None:
    async for _ in source.generate(plan, feedback):
        pass


def make_plan(kind: str) -> CandidatePlan:
    return CandidatePlan(kind, 0.5, 1, (1, 2, 3))


async def write_edit(case: PromptCase) -> None:
    for lines in (0, 20, 60):
        context = case.context(lines)
        _, span, _ = case.locate(context)
        source = await Instruct(context, span, case.text).create_source()
        await drain(source, make_plan("rewrite"), [case.text] * 5)


async def write_new_code(case: PromptCase, task: type[WriteCode] = WriteCode) -> None:
    context = case.context()
    _, span, _ = case.locate(context)
    await drain(await task(context, span, case.text).create_source(), make_plan("rewrite"), [case.text] * 5)


async def write_new_file(case: PromptCase) -> None:
    context = case.context()
    context = replace(context, document=Document.from_text(context.document.uri, "", language="python"))
    await drain(await CreateFile(context, Span(0, 0), case.text).create_source(), make_plan("rewrite"), [case.text] * 5)


async def generate_for_finding(case: PromptCase, *kinds: str) -> None:
    context = case.context()
    tree, _, finding = case.locate(context)
    place = locate_finding(tree, finding)
    assert place is not None
    for kind in kinds:
        await drain(CandidateGenerator(context, tree, place, finding), make_plan(kind), [case.text] * 5)


async def climb_ladder(case: PromptCase) -> None:
    context = case.context()
    tree, region, finding = case.locate(context)
    source = LadderSource(context, tree, region, case.text.splitlines() * 3, 1, None, (), math.inf)
    for hole in (Span(finding.start, finding.end), Span(region.start, region.start)):
        for is_hinted in (False, True):
            await drain(source, HolePlan("statement fill", 0.5, 1, (1, 2), hole, is_hinted))


async def write_docstring(case: PromptCase) -> None:
    context = case.context()
    _, span, _ = case.locate(context)
    await drain(await WriteDocstring(context, span).create_source(), make_plan("fill"))


async def write_tests(case: PromptCase) -> None:
    context = case.context()
    tree, span, _ = case.locate(context)
    target = find_target_function(tree, span.start, case.path)
    assert target is not None
    await drain(await WriteTests(context, target).create_source(), make_plan("fill"))


async def choose_repair(case: PromptCase) -> None:
    context = case.context()
    _, _, finding = case.locate(context)
    passed = list[CheckedCandidate]()
    for number, word in enumerate((b"radius is None", b"unit is None"), 1):
        change = Change.from_edits(context.document, [Edit(finding.start, finding.end, word)], context.file)
        candidate = Candidate(number, make_plan("nearest name"), change.edits, Usage())
        passed.append(CheckedCandidate(candidate, ChangeSet.of(change), Verdict(change.after.hash)))
    await RepairChooser(context).choose(passed)


async def review(case: PromptCase) -> None:
    for lines in (1, 60):
        context = case.context(lines)
        _, _, finding = case.locate(context)
        change = Change.from_edits(context.document, [Edit(finding.start, finding.end, b"None")], context.file)
        await Reviewer(lambda: case.engine).review(case.text, ChangeSet.of(change))


async def explain(case: PromptCase) -> None:
    context = case.context()
    _, span, _ = case.locate(context)
    await Explain(context, span, case.text).run()


async def choose(case: PromptCase) -> None:
    places = [
        TaskPlace(PATH, case.text[:200], "function", number, number + 1, case.text[:120], 1.0, ())
        for number in range(8)
    ]
    await choose_place(case.engine, case.text, TaskPlaces(tuple(places)), case.config.context.task_budget)
    places = [TaskPlace("a.py", "area", "function", n, n + 1, "def area(radius)", 1.0, ()) for n in range(8)]
    await choose_place(case.engine, case.text, TaskPlaces(tuple(places)), case.config.context.task_budget)


RENDERERS: dict[PromptName, Render] = {
    "understand": lambda case: understand_prompt(case.engine, case.text, 0.1),
    "locate": choose,
    "plan": lambda case: decide_item(
        case.engine,
        case.text,
        case.text,
        *[PlannedItem(PATH, case.text, 1, "caller", f"uses {case.text}: {case.text}") for _ in range(2)],
    ),
    "edit": write_edit,
    "new code": write_new_code,
    "new member": lambda case: write_new_code(case, WriteMember),
    "new test": lambda case: write_new_code(case, WriteTestCode),
    "new file": write_new_file,
    "fix": lambda case: generate_for_finding(case, "rewrite"),
    "fill": lambda case: generate_for_finding(case, "fill", "hinted fill", "import", "plain import"),
    "ladder fill": climb_ladder,
    "docstring": write_docstring,
    "tests": write_tests,
    "repair choice": choose_repair,
    "review": review,
    "explain": explain,
}


@pytest.fixture(scope="module")
def tiny_tokenizer(tiny_model: Path) -> Iterator[Tokenizer]:
    tokenizer = Tokenizer(tiny_model)
    yield tokenizer
    tokenizer.close()


@pytest.fixture(scope="module")
def real_tokenizer() -> Iterator[Tokenizer]:
    tokenizer = Tokenizer(resolve_model(Config().model.path))
    yield tokenizer
    tokenizer.close()


@pytest.fixture
def fill_sources(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that lets all sources of context use all that they may use, with a text."""

    def set_text(text: str) -> None:
        class Repository:
            def __init__(self, index: object, count: TokenCounter, **more: object) -> None:
                self._count = count

            async def find_fragments(self, cursor: object, budget: int) -> tuple[Fragment, ...]:
                halves = [await fill_budget(text, budget // 2, self._count) for _ in range(2)]
                return (*halves[0], *halves[1])

        def greedy_source(source: type[InstructionSource]) -> type[InstructionSource]:
            class Greedy(source):
                async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
                    return await fill_budget(text, budget, self._inputs.count)

            return Greedy

        monkeypatch.setattr(sampling, "RepositoryContext", Repository)
        sources = tuple(map(greedy_source, source_registry.INSTRUCTION_SOURCES))
        monkeypatch.setattr(source_registry, "INSTRUCTION_SOURCES", sources)
        monkeypatch.setattr(test_writing, "RelatedCodeSource", greedy_source(RelatedCodeSource))

    return set_text


async def check_ceiling(name: PromptName, tokenizer: Tokenizer, folder: Path, greedy: Callable[[str], None]) -> None:
    sent = list[int]()
    for title, text in TEXTS.items():
        greedy(text)
        engine = CountingEngine(tokenizer)
        turn = (log := SessionLog(is_saved=False)).turn()
        case = PromptCase(engine, text, folder, turn)
        # a prompt that cannot be cut is refused
        with suppress(HarnessError):
            await RENDERERS[name](case)
        limit = PromptLimit.of(name, case.config)
        tokens = [tokenizer.count_request(request) for request in engine.foreground_requests]
        assert max(tokens, default=0) <= limit.tokens, f"{name} with the text {title!r}"
        templates = [event.data["template"] for event in log.turns[turn.number] if event.type == "context.built"]
        assert templates == [limit.template] * len(templates)
        sent += tokens
    # a prompt that nothing lets through would be below every ceiling
    assert sent


@pytest.mark.parametrize("name", PROMPT_NAMES)
@pytest.mark.process
async def test_no_prompt_exceeds_its_ceiling(
    name: PromptName, tiny_tokenizer: Tokenizer, tmp_path: Path, fill_sources: Callable[[str], None]
) -> None:
    await check_ceiling(name, tiny_tokenizer, tmp_path, fill_sources)


@pytest.mark.parametrize("name", PROMPT_NAMES)
@pytest.mark.process
async def test_a_prompt_that_exceeds_its_ceiling_is_not_sent(
    name: PromptName,
    tiny_tokenizer: Tokenizer,
    tmp_path: Path,
    fill_sources: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_sources(TEXTS["short"])
    monkeypatch.setitem(CEILINGS, name, replace(CEILINGS[name], tokens=-400, budgets=("context.task_budget",)))
    engine, log = CountingEngine(tiny_tokenizer), SessionLog(is_saved=False)
    with suppress(HarnessError):
        await RENDERERS[name](PromptCase(engine, TEXTS["short"], tmp_path, log.turn()))
    assert engine.foreground_requests == []


@pytest.mark.model
@pytest.mark.parametrize("name", PROMPT_NAMES)
async def test_no_prompt_of_the_default_model_exceeds_its_ceiling(
    name: PromptName, real_tokenizer: Tokenizer, tmp_path: Path, fill_sources: Callable[[str], None]
) -> None:
    await check_ceiling(name, real_tokenizer, tmp_path, fill_sources)


# -- the table
PACKAGE = Path(lsp_harness.__file__).parent
REQUESTS = ("ChatRequest", "Infill", "Continuation", "ToolChat")
LAYERS = ("coding", "verify", "sessions", "harness/edits")
FIXED = "sessions/ability_measurement.py"
"""Has a short prompt that is always the same, so that it needs no ceiling."""


def find_prompts(module: ast.Module) -> int:
    """Return how many prompts a module writes: requests to the model, or only system prompts for those of a base."""
    calls = [
        node.func.id for node in ast.walk(module) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    names = [
        target.id
        for node in ast.walk(module)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.JoinedStr | ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id.lower() == "system"
    ]
    return sum(calls.count(name) for name in REQUESTS) or len(names)


def test_every_prompt_of_the_code_has_a_row() -> None:
    """Prompts for holes are made by `build_hole`, whose callers name them; others are found by their request."""
    found = dict[str, int]()
    for path in (path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py")):
        name, module = path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text())
        holes = len(re.findall(r"\bbuild_fill\(", path.read_text())) if name != HOLES else 0
        if (count := find_prompts(module) + holes) and name not in (HOLES, FIXED):
            found[name] = count
    rows = [ceiling.module for ceiling in CEILINGS.values()]
    assert found == {module: rows.count(module) for module in rows}


HOLES = "coding/candidates/sampling.py"
"""Makes the requests of those that fill holes, and writes nothing itself."""


def test_the_table_is_complete() -> None:
    assert set(CEILINGS) == set(PROMPT_NAMES) == set(RENDERERS)
    assert {ceiling.state for ceiling in CEILINGS.values()} <= set(NEXT_STATES)
    page = (PACKAGE.parent / "docs" / "code-driver.md").read_text()
    for name, ceiling in CEILINGS.items():
        assert f"| {ceiling.state} | {name} | `{ceiling.module}` | {ceiling.version} |" in page, name


def test_the_settings_move_the_ceiling() -> None:
    assert PromptLimit.of("edit", Config()).tokens == 192 + 256 + 1536 + 512
    assert PromptLimit.of("edit", make_settings(context={"code_budget": 100})).tokens == 192 + 256 + 100 + 512
    assert PromptLimit.of("fill", make_settings(completion={"prefix_tokens": -1})).tokens == 256 + 96 + 400 + 512
