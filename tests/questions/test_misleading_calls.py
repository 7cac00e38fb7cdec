"""The texts of questions about misleading calls: the same in each surface, and nothing of them is hidden."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.questions import asking_doors
from tests.questions.misleading_calls import CALLS, read_question, take_back
from tests.support.programs import find_node_problem

DOORS = ("terminal", "LSP", "ACP", "HTTP", "inspector")
Asked = dict[str, list[str]]


@pytest.fixture(scope="module")
def asked_questions() -> Iterator[Asked]:
    """The questions of all surfaces, each in the order of the calls."""
    # the path of a socket has at most 107 characters
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="lh-") as name:
        place = Path(name)
        texts: Asked = {}
        for door in DOORS[:4]:
            home = place / f"{door}-home"
            home.mkdir()
            patch.setenv("LSP_HARNESS_HOME", str(home))
            folder = place / door
            match door:
                case "terminal":
                    found = asking_doors.ask_in_terminal(folder)
                case "LSP":
                    found = asyncio.run(asking_doors.ask_over_lsp(folder))
                case "ACP":
                    found = asyncio.run(asking_doors.ask_over_acp(folder))
                case _:
                    rows = asyncio.run(asking_doors.ask_over_http(folder))
                    found = [row["text"] for row in rows]
                    if not find_node_problem():
                        shown = asking_doors.show_in_page("node", rows)
                        texts["inspector"] = asking_doors.replace_places(shown, folder, home)
            texts[door] = asking_doors.replace_places(found, folder, home)
        yield texts


def find_fault(text: str, name: str, terminal: str) -> str:
    """Return what is wrong with the text of a question about a call, or an empty text."""
    shown = CALLS[name].shown
    if read_question(text, shown) != shown:
        return f"{name}: does not show {shown!r}"
    if not all(sign.isprintable() or sign in "\n\t" for sign in text):
        return f"{name}: has a sign that cannot be seen"
    return "" if text == terminal else f"{name}: differs from the question in the terminal"


@pytest.mark.timeout(300)
def test_each_question_shows_what_would_happen_in_each_surface(asked_questions: Asked):
    missing = {door for door in DOORS if door not in asked_questions}
    assert missing <= ({"inspector"} if find_node_problem() else set())
    assert {door: len(texts) for door, texts in asked_questions.items()} == dict.fromkeys(asked_questions, len(CALLS))
    assert len(CALLS) == 40
    faults = [
        f"{door}, {fault}"
        for door, texts in asked_questions.items()
        for text, name, terminal in zip(texts, CALLS, asked_questions["terminal"], strict=True)
        if (fault := find_fault(text, name, terminal))
    ]
    assert faults == []


def test_each_escape_means_exactly_one_text():
    assert take_back(r"a\u001bb\u0020{3}c\u005cu001b\U000e0041") == "a\x1bb   c\\u001b\U000e0041"
