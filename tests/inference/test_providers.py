"""Tests of the servers that settings name, and of the sources of keys. No network is used."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Config, EngineSettings
from lsp_harness.errors import ApiKeyMissing, ConfigError
from lsp_harness.inference.backends import backend_kinds
from lsp_harness.inference.backends.backend import BackendKind
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.backends.model_family import FAMILIES
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.providers import targets
from lsp_harness.inference.target import Provider, Target


def read_targets(env: dict[str, str] | None = None, **settings: Any) -> list[Target]:
    return targets(EngineSettings(**settings), env or {})


def read_only_target(env: dict[str, str] | None = None, **settings: Any) -> Target:
    [target] = read_targets(env, **settings)
    return target


@pytest.mark.parametrize(
    ("url", "base", "socket"),
    [
        ("http://host:8080", "http://host:8080", ""),
        ("http://host:8000/v1/", "http://host:8000", ""),
        ("https://host/api/v1", "https://host/api", ""),
        ("/run/engine.sock", "", "/run/engine.sock"),
        ("unix:/run/engine.sock", "", "/run/engine.sock"),
    ],
)
def test_an_address_is_a_url_or_a_socket(url: str, base: str, socket: str):
    target = read_only_target(url=url)

    assert (target.base, target.socket) == (base, socket)
    assert target.name == (base or f"unix:{socket}")


def test_several_addresses_are_separated_by_commas():
    assert [t.base for t in read_targets(url="http://a:1, http://b:2,")] == ["http://a:1", "http://b:2"]


@pytest.mark.parametrize(
    ("model", "base", "name", "fim"),
    [
        ("openai/gpt-3.5-turbo-instruct", "https://api.openai.com", "gpt-3.5-turbo-instruct", "auto"),
        ("openrouter/qwen/qwen-2.5-coder", "https://openrouter.ai/api", "qwen/qwen-2.5-coder", "auto"),
        ("ollama/qwen2.5-coder:7b", "http://127.0.0.1:11434", "qwen2.5-coder:7b", "suffix"),
        ("anthropic/x", "https://api.anthropic.com", "x", "auto"),
        ("lmstudio/x", "http://127.0.0.1:1234", "x", "auto"),
        ("vllm/x", "http://127.0.0.1:8000", "x", "auto"),
        ("llama.cpp/x", "http://127.0.0.1:8080", "x", "auto"),
    ],
)
def test_a_model_string_names_its_provider(model: str, base: str, name: str, fim: str):
    target = read_only_target({"OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, model=model)

    assert (target.base, target.model, target.fim) == (base, name, fim)
    own = {"llama.cpp": "llama-server", "anthropic": "anthropic"}
    assert target.dialect == own.get(model.split("/")[0], "openai")


def test_with_a_url_the_whole_model_string_is_the_name():
    assert read_only_target(url="http://h:1", model="openai/gpt-oss-20b").model == "openai/gpt-oss-20b"


def test_a_setting_is_stronger_than_the_provider():
    target = read_only_target(model="ollama/x", dialect="llama-server", fim="granite")

    assert (target.dialect, target.fim) == ("llama-server", "granite")


@pytest.mark.parametrize("name", ["LSP_HARNESS_OLLAMA_BASE_URL", "LEHARNESS_OLLAMA_BASE_URL"])
def test_the_address_of_ollama_comes_from_the_environment(name: str):
    assert read_only_target({name: "http://box:11434"}, model="ollama/x").base == "http://box:11434"


def test_the_address_of_openai_comes_from_the_environment():
    target = read_only_target({"OPENAI_BASE_URL": "http://mine:1/v1", "OPENAI_API_KEY": "k"}, model="openai/x")

    assert target.base == "http://mine:1"


@pytest.mark.parametrize(
    ("env", "settings", "name"),
    [
        ({"LSP_HARNESS_API_KEY": "g"}, {"url": "http://h:1"}, "LSP_HARNESS_API_KEY"),
        ({"OPENAI_API_KEY": "o"}, {"url": "http://h:1"}, ""),
        ({"OPENAI_API_KEY": "o"}, {"url": "https://api.openai.com/v1"}, "OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": "o", "LSP_HARNESS_API_KEY": "g"}, {"model": "openai/x"}, "OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": "o", "MINE": "m"}, {"model": "openai/x", "api_key_env": "MINE"}, "MINE"),
        ({"LSP_HARNESS_API_KEY": "g"}, {"model": "openai/x"}, "LSP_HARNESS_API_KEY"),
        ({"LSP_HARNESS_API_KEY": ""}, {"url": "http://h:1"}, ""),
    ],
)
def test_a_key_is_sent_only_to_its_provider(env: dict[str, str], settings: dict[str, Any], name: str):
    target = read_only_target(env, **settings)

    assert target.key_name == name
    assert target.key == env.get(name, "")


@pytest.mark.parametrize("settings", [{"model": "openai/x"}, {"url": "https://api.openai.com/v1"}])
def test_a_missing_key_is_reported_before_any_request(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LSP_HARNESS_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ApiKeyMissing, match="set OPENAI_API_KEY or LSP_HARNESS_API_KEY in the environment") as caught:
        EngineClient(Config(engine=EngineSettings(**settings)))

    assert caught.value.exit_code == 1


def test_a_key_does_not_show():
    assert "secret" not in repr(read_only_target({"LSP_HARNESS_API_KEY": "secret"}, url="http://h:1"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "host:8080"}, "must be http://host:port"),
        ({"url": "ftp://host"}, "must be http://host:port"),
        ({"url": "http://host:99999"}, "must be http://host:port"),
        ({"url": "http://host/?key=1"}, "must be http://host:port"),
        ({"url": "http://host:99999/?key=secret"}, "must be http://host:port"),
        ({"url": "http://me:secret@host"}, "must not contain a name or password"),
        ({"url": "http://me:secret@host:99999"}, "must not contain a name or password"),
        ({"url": "me:secret@host"}, "must not contain a name or password"),
        ({"url": ","}, "engine.url ',' is not the address of a server"),
        (
            {"url": "http://h:1", "dialect": "soap"},
            "engine.dialect must be one of auto, llama-server, openai, .*, not 'soap'",
        ),
        (
            {"model": "gpt-4"},
            "engine.model 'gpt-4' needs engine.url as well, or the form provider/model with one of llama.cpp, openai",
        ),
        ({"model": "nobody/x"}, "needs engine.url as well, or the form provider/model"),
        ({"model": "openai/"}, "needs engine.url as well, or the form provider/model"),
    ],
)
def test_settings_that_name_no_server_are_refused(settings: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message) as caught:
        read_targets(**settings)

    assert "secret" not in caught.value.message


@pytest.mark.parametrize("key", ["sk-fake\u200b1", "sk-“fake”", "sk-\x07fake"])
def test_a_key_with_a_character_that_no_key_has_is_named_and_not_shown(key: str):
    with pytest.raises(ConfigError, match="the key in OPENAI_API_KEY") as error:
        read_only_target({"OPENAI_API_KEY": key}, model="openai/x")
    assert "fake" not in error.value.message


def test_a_kind_of_server_is_one_entry_of_the_registry(monkeypatch: pytest.MonkeyPatch):
    async def open_backend(endpoint: Endpoint) -> None: ...

    service = Provider("sample", "https://sample.example/v1", key_env=("SAMPLE_API_KEY",), needs_key=True)
    kind = BackendKind("sample-api", open_backend, (service,), make_headers=lambda key: {"x-key": key})
    monkeypatch.setattr(backend_kinds, "KINDS", (*backend_kinds.KINDS, kind))

    target = read_only_target({"SAMPLE_API_KEY": "secret"}, model="sample/small")

    assert (target.dialect, target.base, target.headers) == (
        "sample-api",
        "https://sample.example",
        {"x-key": "secret"},
    )
    assert read_only_target(url="http://host:1", dialect="sample-api").dialect == "sample-api"
    with pytest.raises(ConfigError, match="sample-api, not 'other'"):
        read_only_target(url="http://host:1", dialect="other")


def test_the_page_about_servers_names_every_kind_service_key_and_family():
    page = (Path(__file__).parents[2] / "docs" / "team.md").read_text(encoding="utf-8")
    names = [
        *backend_kinds.dialects(),
        *(provider.name for provider in backend_kinds.providers()),
        *(key for provider in backend_kinds.providers() for key in provider.key_env),
        *(family.name for family in FAMILIES),
    ]
    assert [name for name in names if f"`{name}`" not in page] == []
