"""A server whose engine gives no sign of life: each request gets one answer, and the user gets one message."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config, EngineSettings, ModelSettings
from lsp_harness.inference.running_engines import peer_pid
from lsp_harness.inference.supervisor import engine_address
from tests.support.lsp import Editor, ResponseError
from tests.support.stuck import has_ended, start_listener

URI = "file:///tmp/half.py"
TEXT = "def area(r):\n    return r * \n"
STUCK = "gave no sign of life for 0.5 s (stopped by a signal); it was killed"


@pytest.fixture
def silence_s() -> float:
    return 0.5


@pytest.fixture
def engine_socket(home: Path, tiny_model: Path, silence_s: float, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The socket on which the engine of the server listens."""
    # an opened document must not start an engine before the test has put another process in its place
    monkeypatch.setenv("LSP_HARNESS_COMPLETION__WARM", "false")
    settings = {"MODEL__PATH": str(tiny_model), "ENGINE__SILENCE_S": str(silence_s), "ENGINE__THREADS": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"LSP_HARNESS_{name}", value)
    config = Config(
        model=ModelSettings(str(tiny_model)), engine=replace(EngineSettings(), silence_s=silence_s, threads=1)
    )
    return engine_address(tiny_model, config).socket


@pytest.fixture
async def editor(engine_socket: Path, tmp_path: Path) -> AsyncIterator[Editor]:
    editor = await Editor.spawn("-m", "lsp_harness", "serve", "--stdio", cwd=tmp_path)
    try:
        await editor.initialize()
        editor.open(URI, TEXT)
        yield editor
        await editor.leave()
        editor.check_answers()
    finally:
        await editor.kill()


def make_command(name: str, *arguments: object) -> dict[str, object]:
    return {"command": f"lspHarness.{name}", "arguments": list(arguments)}


def make_completion_params(character: int, kind: int = 1) -> dict[str, object]:
    position = {"line": 1, "character": character}
    return {"textDocument": {"uri": URI}, "position": position, "context": {"triggerKind": kind}}


def list_shown_messages(editor: Editor) -> list[str]:
    return [
        message["params"]["message"] for message in editor.received if message.get("method") == "window/showMessage"
    ]


async def test_a_waiting_request_fails_once_and_the_next_one_is_answered(engine_socket: Path, editor: Editor):
    # two verbs that need a model, at the same time
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}
    selection = {"uri": URI, "range": span}
    with start_listener(engine_socket, stopped=True) as process:
        requests = [
            editor.request("workspace/executeCommand", make_command("explain", selection)),
            editor.request("workspace/executeCommand", make_command("instruct", selection | {"instruction": "use pi"})),
        ]
        answers = await asyncio.gather(*requests, return_exceptions=True)

        assert [type(answer) for answer in answers] == [ResponseError, ResponseError]
        assert all(STUCK in str(answer) for answer in answers)
        assert has_ended(process.pid)
    assert (
        len([message for message in list_shown_messages(editor) if STUCK in message])
        == len(list_shown_messages(editor))
        == 1
    )
    # the request starts a new engine
    await editor.request("textDocument/inlineCompletion", make_completion_params(15))
    assert peer_pid(engine_socket) not in (None, process.pid)


@pytest.mark.parametrize("silence_s", [60.0])
async def test_requests_without_the_model_do_not_wait_for_the_engine(engine_socket: Path, editor: Editor):
    position = {"line": 1, "character": 15}
    with start_listener(engine_socket, stopped=True) as process:
        symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        context = await editor.request(
            "workspace/executeCommand",
            make_command("context", {"uri": URI, "range": {"start": position, "end": position}}),
        )
        status = await editor.request("workspace/executeCommand", make_command("status"))

        assert [symbol["name"] for symbol in symbols] == ["area"]
        assert "Token counts are estimates: the engine does not answer within 2 s." in context["text"]
        assert "    return r * <FILL>\n" in context["text"]
        assert status["engine"] == {"error": "it has not answered within 2 s (starting)"}
        # the engine is killed only after a longer wait
        assert not has_ended(process.pid)


async def test_a_restart_kills_an_engine_that_ignores_sigterm(engine_socket: Path, editor: Editor):
    with start_listener(engine_socket, stopped=True) as process:
        result = await editor.request("workspace/executeCommand", make_command("restartEngine"))

        assert has_ended(process.pid)
        assert result == {"model": "tiny", "pid": peer_pid(engine_socket)}
