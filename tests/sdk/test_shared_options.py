"""Each option of a session, through all its forms: a new one needs no test of its own for them."""

import json
from pathlib import Path
from typing import Annotated, Any

import cyclopts
import pytest

from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.sdk import HarnessOptions
from lsp_harness.sdk.session_arguments import session_arguments, session_options
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.session_options import ClientKeywords, ClientOptions, Option, list_options

OPTIONS = list(list_options(ClientOptions))
WORDS = {"permission_mode": "plan", "driver": "code", "setting_sources": ["user", "local"]}
"""Options that allow some words only → one that is not the default."""


def make_sample_value(item: Option, folder: Path) -> Any:
    """Return a value of an option that is not its default."""
    values: dict[str, Any] = {
        "text": "x -y",
        "path": str(folder),
        "names": ["read", "bash(cut -d, *)"],
        "count": 7,
        "seconds": 2.5,
        "flag": not item.form.absent,
        "variables": {"A": "1"},
        "schema": {"type": "object"},
    }
    return WORDS.get(item.name, values[item.form.kind])


def parse(arguments: list[str]) -> SessionOptions:
    """Return the options that the command line makes of arguments."""
    parsed: list[SessionOptions] = []
    app = cyclopts.App(name="t", result_action="return_value")

    @app.default
    def run(*, flags: Annotated[SessionFlags | None, cyclopts.Parameter(name="*")] = None) -> None:
        parsed.append((flags or SessionFlags()).options("sdk"))

    app(arguments)
    return parsed[0]


def convert_to_plain_value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("item", [item for item in OPTIONS if item.form.is_argument], ids=lambda item: item.name)
def test_an_option_of_the_sdk_reaches_the_session_over_the_command_line(item: Option, tmp_path: Path):
    value = make_sample_value(item, tmp_path)
    options = HarnessOptions(**{"permission_mode": None, "max_turns": None, "cwd": tmp_path, item.name: value})
    opened = parse(session_arguments(session_options(options, None)))
    assert convert_to_plain_value(getattr(opened, item.name)) == value
    assert getattr(parse([]), item.name) == item.form.absent != value


@pytest.mark.parametrize("item", OPTIONS, ids=lambda item: item.name)
def test_an_option_has_the_same_value_from_json(item: Option, tmp_path: Path):
    value = json.loads(json.dumps(make_sample_value(item, tmp_path)))
    assert convert_to_plain_value(getattr(SessionOptions.from_mapping({item.name: value}), item.name)) == value


@pytest.mark.parametrize("item", [item for item in OPTIONS if item.form.is_flag], ids=lambda item: item.name)
def test_a_flag_has_a_description_and_the_default_of_the_session(item: Option):
    assert item.form.help.endswith(".")
    assert SessionOptions.from_mapping({}) == SessionOptions()
    assert getattr(SessionOptions(), item.name) == item.form.absent


def test_keywords_and_fields_are_the_same():
    assert list(ClientKeywords.__annotations__) == [item.name for item in OPTIONS]


def test_the_page_of_the_sdk_names_each_option():
    page = (Path(__file__).parents[2] / "docs" / "sdk.md").read_text(encoding="utf-8")
    assert [item.name for item in OPTIONS if f"`{item.name}`" not in page] == []
