"""No prompt about a function has the whole of a file with more than 80 lines, and no edit has more than the function.

The files are those of this repository, and the tasks of the development sets where they are (LSP_HARNESS_EVAL_DATA).
"""

import gzip
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import lsp_harness
from lsp_harness.coding.candidates.sampling import CandidatePlan, build_hole
from lsp_harness.coding.finding_location import MAX_REWRITE_LINES
from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.syntax.scope import function_text_span
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff

MAX_LINES = 80
PACKAGE = Path(lsp_harness.__file__).parent
EVERY = 24
"""One of so many files of this repository."""
SETS = ("edit_canitedit", "edit_refactor")


class LetterTokenizer(ScriptedEngine):
    """A tokenizer with a token for every four letters, about as many as real models need for code."""

    def __init__(self) -> None:
        super().__init__([])

    async def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]


def own_files() -> Iterator[str]:
    texts = [path.read_text() for path in sorted(PACKAGE.rglob("*.py"))]
    yield from [text for text in texts if text.count("\n") > MAX_LINES][::EVERY]


def read_eval_tasks() -> Iterator[str]:
    folder = os.environ.get("LSP_HARNESS_EVAL_DATA", "")
    for name in SETS:
        path = Path(folder) / f"{name}.jsonl.gz"
        if not folder or not path.is_file():
            pytest.skip("the development sets are not here")
        with gzip.open(path, "rt") as lines:
            tasks = [json.loads(line) for line in lines]
        yield from (task["input"]["code"] for task in tasks if task["input"]["code"].count("\n") > MAX_LINES)


def is_whole(text: str, prompt: str) -> bool:
    shown = {line.strip() for line in prompt.splitlines()}
    return all(line.strip() in shown for line in text.splitlines())


@pytest.mark.parametrize("files", [own_files, read_eval_tasks], ids=["own", "tasks"])
@pytest.mark.process
async def test_no_prompt_and_no_edit_has_a_whole_long_file(files: Callable[[], Iterator[str]], tmp_path: Path) -> None:
    prompts = 0
    for text in files():
        file = tmp_path / "a.py"
        document = Document.from_text(file.as_uri(), text, language="python")
        if (tree := parse(document)) is None:
            continue
        functions = [one for one in find_declarations(tree.language, tree.data, tree.root)[0] if one.kind != "class"]
        where = (document, file, tmp_path, "a.py")
        turn = SessionLog(is_saved=False).turn()
        context = TurnContext(LetterTokenizer(), Config(), CheckTools(Ruff()), turn, *where, lambda progress: None)
        for function in functions[:: max(1, len(functions) // 3)]:
            own = function_text_span(tree, function.start) or Span(function.start, function.end)
            plan = CandidatePlan("fill", 0.0, 0, (1,))
            hole = await build_hole(context, "fill", Span(function.body_start, function.end), ("", ""), plan, 60)
            around = hole.around.prefix + hole.around.suffix
            assert around.count("\n") <= MAX_LINES
            assert not is_whole(text, around)
            try:
                source = await Instruct(context, Span(function.start, function.end), "check the input").create_source()
                messages = (await source.build_prompt()).messages
            except NoAnswer:
                # a function above the budget is not rewritten
                continue
            prompts += 1
            assert not is_whole(text, "\n".join(content for _, content in messages))
            lines = text.encode()[source.span.start : source.span.end].count(b"\n")
            assert lines <= max(MAX_REWRITE_LINES, text.encode()[own.start : own.end].count(b"\n") + 1)
    assert prompts > 10
