"""The options: the same names everywhere, their checks, and their form for the session."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import HarnessBinaryNotFoundError, HarnessClient, HarnessError, HarnessOptions, query
from lsp_harness.sdk.harness_binary import find_binary
from lsp_harness.sdk.harness_options import HarnessKeywords
from lsp_harness.sdk.session_arguments import session_arguments, session_options

SOURCE_OPTIONS = {
    *("model", "permission_mode", "allowed_tools", "disallowed_tools", "max_turns", "system_prompt", "cwd", "env"),
    *("tools", "can_use_tool", "resume", "setting_sources"),
}


def test_query_client_and_dataclass_have_the_same_options():
    names = {field.name for field in dataclasses.fields(HarnessOptions)}
    assert names == set(HarnessKeywords.__annotations__)
    assert names > SOURCE_OPTIONS
    for function in (query, HarnessClient.__init__):
        assert function.__annotations__["options"].__args__ == (HarnessKeywords,)


def test_an_option_that_is_none_is_no_keyword():
    assert HarnessOptions().to_kwargs() == {
        "permission_mode": "trust",
        "max_turns": 20,
        "permission_timeout": 30.0,
        "start_timeout": 60.0,
    }
    options = HarnessOptions(model="m", allowed_tools=[], env={"A": "1"})
    assert HarnessOptions(**options.to_kwargs()) == options
    assert options.to_kwargs().get("allowed_tools") == []


def test_options_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        HarnessOptions().model = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"permission_mode": "yes"}, "must be one of ask, trust, deny, acceptEdits, plan, auto, bypassPermissions"),
        ({"driver": "fast"}, "must be one of chat, code"),
        ({"max_turns": 0}, "a number above 0"),
        ({"max_turns": True}, "a number above 0"),
        ({"max_seconds": float("nan")}, "a number above 0"),
        ({"permission_timeout": "30"}, "a number above 0"),
        ({"allowed_tools": "bash"}, "must be a list"),
        ({"setting_sources": ["user", "global"]}, "has global, and may have user, project, local"),
        ({"env": {"A": 1}}, "not a text"),
        ({"attach": True, "in_process": True}, "exclude each other"),
    ],
)
def test_a_wrong_value_is_an_error(values: dict[str, Any], message: str):
    with pytest.raises(HarnessError, match=message) as failure:
        HarnessClient(**values)
    assert failure.value.code == "usage"


async def test_a_working_folder_that_does_not_exist_is_an_error(tmp_path: Path):
    with pytest.raises(HarnessError, match="does not exist"):
        await anext(query("hi", cwd=tmp_path / "none"))


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ({"model": "m", "provider": "p"}, ["--model=m", "--provider=p"]),
        ({"permission_mode": None}, []),
        ({"permission_mode": "plan"}, ["--permission-mode=plan"]),
        ({"allowed_tools": []}, ["--allowed-tools="]),
        ({"allowed_tools": ["read", "bash(cut -d, *)"]}, ["--allowed-tools=read,bash(cut -d, *)"]),
        ({"disallowed_tools": ("bash",)}, ["--disallowed-tools=bash"]),
        ({"max_turns": 3}, ["--max-turns=3"]),
        ({"system_prompt": "--be brief"}, ["--system-prompt=--be brief"]),
        ({"resume": "01X"}, ["--resume=01X"]),
        ({"setting_sources": []}, ["--setting-sources="]),
        ({"setting_sources": ["user", "local"]}, ["--setting-sources=user,local"]),
        ({"mcp_config": "/a/b.json"}, ["--mcp-config=/a/b.json"]),
        ({"strict_mcp_config": True}, ["--strict-mcp-config"]),
        ({"strict_mcp_config": False}, []),
        ({"can_use_tool": lambda context: "allow"}, ["--ask-permissions"]),
        ({"can_use_tool": print, "permission_timeout": 30.0}, ["--ask-permissions"]),
        ({"can_use_tool": print, "permission_timeout": 90}, ["--ask-permissions", "--permission-timeout=90"]),
        ({"ask_permissions": True, "permission_timeout": 90}, ["--ask-permissions", "--permission-timeout=90"]),
        ({"ask_permissions": False}, []),
        ({"permission_timeout": 90}, []),
        ({"session_persistence": False}, ["--no-session-persistence"]),
        ({"session_persistence": True}, []),
        ({"max_tokens_total": 9, "max_seconds": 1.5}, ["--max-tokens-total=9", "--max-seconds=1.5"]),
        ({"driver": "code"}, ["--driver=code"]),
    ],
)
def test_each_option_becomes_an_argument_of_the_session(values: dict[str, Any], arguments: list[str], tmp_path: Path):
    options = HarnessOptions(**{"permission_mode": None, "max_turns": None, **values, "cwd": tmp_path})
    made = session_arguments(session_options(options, None))
    assert sorted(made) == sorted([*arguments, f"--cwd={tmp_path}"])


@pytest.mark.parametrize("name", ["a,b", "bash(", "bash)", "", " ", "a\0b"])
def test_a_name_that_would_be_split_is_an_error(name: str, tmp_path: Path):
    options = HarnessOptions(allowed_tools=[name], cwd=tmp_path)
    with pytest.raises(HarnessError):
        session_arguments(session_options(options, None))


def test_a_wrong_variable_is_an_error_and_not_ignored(tmp_path: Path):
    path = str(tmp_path / "bin")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lsp-harness").write_text("")
    (tmp_path / "bin" / "lsp-harness").chmod(0o755)
    (tmp_path / "plain").write_text("")
    for named, problem in (("none", "no such file"), ("plain", "not executable"), ("bin", "not a file")):
        with pytest.raises(HarnessBinaryNotFoundError, match=problem) as failure:
            find_binary({"PATH": path, "LSP_HARNESS_BINARY": str(tmp_path / named)})
        assert path in str(failure.value)
        assert str(tmp_path / named) in str(failure.value)
        assert failure.value.code == "binary_not_found"


def test_the_binary_is_the_variable_then_the_path_then_this_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "lsp-harness"
    program.write_text("")
    program.chmod(0o755)
    other = tmp_path / "other"
    other.write_text("")
    other.chmod(0o755)
    assert find_binary({"PATH": str(tmp_path), "LSP_HARNESS_BINARY": str(other)}) == (str(other),)
    assert find_binary({"PATH": str(tmp_path)}) == (str(program),)
    program.chmod(0o644)
    assert find_binary({"PATH": str(tmp_path)}) == (sys.executable, "-P", "-m", "lsp_harness")
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(HarnessBinaryNotFoundError) as failure:
        find_binary({"PATH": "/nonexistent"})
    assert len(failure.value.tried) == 3
    assert all(line in str(failure.value) for line in failure.value.tried)
