"""Every provider runs a turn with a tool call, in the way that its service or server has for calls."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lsp_harness.sdk import ErrorEvent, ToolEnd, TurnStop
from tests.appendix.bench import READ, Bench, select_events
from tests.appendix.names import require_complete_table
from tests.support.provider_replies import MODEL, ScriptedAnswer, serve_answers
from tests.support.server import FakeServer, Reply, open_server

ANSWERS = (READ, "It is the text of a.")


NATIVE_ANSWERS = (
    ScriptedAnswer(calls=[("read", ['{"path": ', '"a.txt"}'])]),
    ScriptedAnswer(["It is the ", "text of a."]),
)


def serve_anthropic() -> FakeServer:
    return serve_answers("anthropic", *NATIVE_ANSWERS)


def serve_openai() -> FakeServer:
    return serve_answers("openai", *NATIVE_ANSWERS)


def serve_llama_cpp() -> FakeServer:
    server = FakeServer()
    server.on["GET", "/props"] = Reply(
        json={"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1, "model_alias": MODEL}
    )
    server.on["GET", "/health"] = Reply(json={"status": "ok"})
    server.on["POST", "/apply-template"] = Reply(json={"prompt": "the prompt"})
    server.on["POST", "/tokenize"] = Reply(json={"tokens": [1, 2, 3]})
    ends = {"content": "", "stop": True, "stop_type": "eos"}
    server.on["POST", "/completion"] = [Reply(({"content": text}, ends)) for text in ANSWERS]
    return server


PROVIDERS: Mapping[str, tuple[Callable[[], FakeServer], str, str]] = {
    # the server, the variable with its address, and the variable with the key
    "anthropic": (serve_anthropic, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "openai": (serve_openai, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "ollama": (serve_openai, "LSP_HARNESS_OLLAMA_BASE_URL", ""),
    "openrouter": (serve_openai, "", "OPENROUTER_API_KEY"),
    "llama.cpp": (serve_llama_cpp, "", ""),
    "lmstudio": (serve_openai, "", ""),
}


@pytest.mark.parametrize("name", require_complete_table("sdk", "providers", PROVIDERS))
async def test_a_provider_runs_a_turn_with_a_tool(name: str, session_bench: Bench, monkeypatch: pytest.MonkeyPatch):
    make_server, variable, key = PROVIDERS[name]
    if key:
        monkeypatch.setenv(key, "sk-secret-of-a-test")
    async with open_server(make_server()) as server:
        options: dict[str, Any] = {"provider": name, "model": MODEL}
        if variable:
            monkeypatch.setenv(variable, server.url)
        else:
            _move(name, server.url, monkeypatch)
        events = await session_bench.ask(allowed_tools=["read"], **options)
    [end], [stop] = select_events(ToolEnd, events), select_events(TurnStop, events)
    assert (end.tool, end.error) == ("read", False), [event.message for event in select_events(ErrorEvent, events)]
    assert "the text of a" in end.output
    assert (stop.reason, stop.text) == ("completed", ANSWERS[1])
    if key:
        sent = {header: value for request in server.requests for header, value in request.headers.items()}
        assert "sk-secret-of-a-test" in str(sent)
        assert "sk-secret-of-a-test" not in str([event.data for event in session_bench.log()])


async def test_a_request_to_a_server_that_fails_once_is_repeated(session_bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-a-test")
    server = serve_answers("openai", Reply(status=500), ScriptedAnswer(["fine"]))
    async with open_server(server):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        events = await session_bench.ask(provider="openai", model=MODEL)
    [error], [stop] = select_events(ErrorEvent, events), select_events(TurnStop, events)
    assert (error.recoverable, "500" in error.message) == (True, True)
    assert (stop.reason, stop.text) == ("completed", "fine")


def _move(name: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a service another address. Those without a variable for it have a fixed one."""
    from dataclasses import replace

    from lsp_harness.inference import providers

    rows = [replace(row, url=url) if row.name == name else row for row in providers.providers()]
    monkeypatch.setattr(providers, "providers", lambda: rows)
