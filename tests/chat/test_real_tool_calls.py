"""Tests that every answer of a real model at temperature 2 is a text or a valid call, and of what it does by itself."""

import json
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lsp_harness.chat.shown_tools import FindTool, render_views
from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tool_calls import parse_answer
from lsp_harness.chat.tool_grammar import AnswerForm, build_tool_grammar
from lsp_harness.chat.tool_prompt import render_tools
from lsp_harness.chat.tools.tool_input import object_schema
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.config.schema import Config
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.sessions.open_session import SYSTEM_PROMPT
from tests.chat.scripted_tool import ScriptedTool
from tests.chat.tools.surroundings import ToolWorkspace
from tests.support.engine import EngineProcess
from tests.support.user_home import reuse_measurements

pytestmark = [pytest.mark.model, pytest.mark.timeout(400)]
COUNT = 6
MAX_TOKENS = 200
WORD: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 12}
LINE: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 99}
SHORT_TOOLS = (
    ScriptedTool("read", object_schema({"path": WORD}, {"first_line": LINE, "last_line": LINE}), "Read a file."),
    ScriptedTool("grep", object_schema({"pattern": WORD}), "Find lines."),
)
"""Tools whose arguments are short, because every token of a grammar costs time at such a temperature."""
TOOLS = ("read", "edit", "grep", "bash")


@pytest.fixture(scope="module")
def engine(measurements: Path) -> Iterator[EngineProcess]:
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch, reuse_measurements(measurements, folder):
        path = resolve_model(Config().model.path)
        patch.setenv("LSP_HARNESS_HOME", str(folder))
        with EngineProcess.start(path, folder / "s", "--n-ctx", "8192", "--kv-disk", "0", "--threads", "2") as engine:
            yield engine
    shutil.rmtree(folder)


async def generate(engine: EngineProcess, tools: Collection[Tool], ask: str, **settings: Any) -> list[str]:
    """Return the answers of the model. None of them is cut off by the token limit."""
    system = settings.pop("system", "") or render_tools(tools)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": ask}]
    async with engine.http() as http:
        prompt = (await http.post("/apply-template", json={"messages": messages}, timeout=300)).json()["prompt"]
        body = {"prompt": prompt, "n_predict": MAX_TOKENS, "top_k": 0, "top_p": 1.0} | settings
        answer = (await http.post("/completion", json=body, timeout=300)).raise_for_status().json()
    candidates = answer if isinstance(answer, list) else [answer]
    assert {candidate["stop_type"] for candidate in candidates} == {"eos"}
    return [candidate["content"] for candidate in candidates]


async def test_calls_at_temperature_two_fit_their_schemas(engine: EngineProcess):
    grammar = build_tool_grammar(SHORT_TOOLS, AnswerForm(must_call=True)).text
    schemas = {tool.name: tool.schema for tool in SHORT_TOOLS}
    answers: list[str] = []
    for seed in range(0, COUNT, 6):
        ask = "Read lines 1 to 20 of the file app.py."
        answers += await generate(engine, SHORT_TOOLS, ask, grammar=grammar, temperature=2.0, seed=seed, n_cmpl=6)
    assert len(answers) == COUNT
    for text in answers:
        answer = parse_answer(text, schemas)
        assert not answer.problem, text
        [call] = answer.calls
        # of bytes that are no text, llama.cpp counts fewer characters than there are marks for them
        input = json.loads(json.dumps(call.input).replace("\\ufffd", ""))
        jsonschema.validate(input, schemas[call.name])


async def test_the_model_reads_a_file_on_request(engine: EngineProcess, tmp_path: Path):
    desk = ToolWorkspace(tmp_path, {})
    tools = create_tools(desk.environment, TOOLS)
    grammar = build_tool_grammar(tools.values()).text
    [text] = await generate(engine, tools.values(), "Read the file src/app.py.", grammar=grammar, temperature=0.0)
    [call] = parse_answer(text, tools).calls
    assert (call.name, call.input["path"]) == ("read", "src/app.py")


async def test_the_model_calls_tools_that_are_described_in_one_line(engine: EngineProcess, tmp_path: Path):
    tools = create_tools(ToolWorkspace(tmp_path, {}).environment)
    tools["find_tool"] = FindTool(tools)
    grammar = build_tool_grammar(tools.values()).text
    whole, short = render_views("", tools.values())
    async with engine.http() as http:
        counts = [
            len((await http.post("/tokenize", json={"content": text})).json()["tokens"]) for text in (whole, short)
        ]
    assert counts[0] > 2_000
    assert counts[1] < 350
    for ask, name, part in (
        ("Read the file src/app.py.", "read", "src/app.py"),
        ("Create the file notes.txt with the text: buy milk", "create", "notes.txt"),
        # the prompt has only the name of this one
        ("Which functions does shop.py have? Use the tool symbol_overview.", "symbol_overview", "shop.py"),
    ):
        system = f"{SYSTEM_PROMPT.format(folder='shop')}\n\n{short}"
        [text] = await generate(engine, tools.values(), ask, grammar=grammar, temperature=0.0, system=system)
        [call] = parse_answer(text, tools).calls
        assert (call.name, call.input["path"]) == (name, part)
