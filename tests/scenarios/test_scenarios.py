"""Every scenario of this folder, played with the scripted engine and no socket."""

from pathlib import Path

import pytest

from tests.scenarios.runner import Scenario, play

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_scenario_has_its_recorded_result(
    path: Path, tmp_path: Path, golden_update: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    text = path.read_text(encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    result = (await play(Scenario.parse(text), folder)).write()
    if golden_update:
        path.write_text(result, encoding="utf-8")
    assert result == path.read_text(encoding="utf-8")


def test_the_scenarios_cover_several_languages_and_have_descriptions() -> None:
    scenarios = [Scenario.parse(path.read_text(encoding="utf-8")) for path in FILES]
    assert len(scenarios) >= 8
    suffixes = {Path(part.name).suffix for scenario in scenarios for part in scenario.parts}
    assert suffixes >= {".py", ".js", ".go"}
    assert all(scenario.parts[0].text.strip() for scenario in scenarios)


def test_a_scenario_is_written_in_the_form_in_which_it_was_read() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert Scenario.parse(text).write() == text
