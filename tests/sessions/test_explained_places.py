"""The code beside the place of a question: who raises an error, and what a short function calls."""

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from lsp_harness.coding.location.task_location import find_task_places
from lsp_harness.coding.questions.project_facts import ProjectFacts
from lsp_harness.sessions.explained_places import show_beside
from lsp_harness.text.document import Document
from tests.index.place import IndexedFolder

FILES = {
    "box/store.py": '''\
class EmptyRow(Exception):
    """A row has no cells."""


def insert(row):
    if not row:
        raise EmptyRow("no cells")
    return row


def read_all(path):
    return list(path)


def read_first(path):
    return read_all(path)[0]


def copy_rows(path):
    for row in read_all(path):
        yield row
        yield row
    print("all rows are copied")
    return None
''',
    "tests/test_store.py": "from box.store import EmptyRow\n\n\ndef test_it():\n    raise EmptyRow('x')\n",
}


@pytest.fixture(scope="module")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedFolder]:
    with closing(IndexedFolder(tmp_path_factory.mktemp("ws"), FILES)) as made:
        yield made


async def show(indexed: IndexedFolder, question: str) -> str:
    def read_text(path: str) -> Document | None:
        return Document.from_text(f"file:///{path}", FILES[path].encode()) if path in FILES else None

    async def refuse(*arguments: str) -> str:
        raise AssertionError(arguments)

    async def refuse_lines(path: str) -> Sequence[str]:
        raise AssertionError(path)

    async def refuse_findings(path: str) -> tuple[Sequence[str], str]:
        raise AssertionError(path)

    facts = ProjectFacts(indexed.query, "", "box", read_text, refuse, refuse_findings, refuse_lines, refuse)
    places = await find_task_places(indexed.query, "", question, read_text)
    assert places
    return await show_beside(facts, places.best, question)


async def test_a_question_about_the_cause_of_an_error_shows_who_raises_it(indexed_folder: IndexedFolder):
    shown = await show(indexed_folder, "why do I get EmptyRow?")
    assert shown.startswith("box/store.py:5-8\n")
    assert 'raise EmptyRow("no cells")' in shown
    assert "tests/" not in shown


async def test_a_question_about_an_error_itself_shows_nothing_more(indexed_folder: IndexedFolder):
    assert await show(indexed_folder, "explain EmptyRow") == ""


async def test_a_short_function_shows_what_it_calls(indexed_folder: IndexedFolder):
    assert (await show(indexed_folder, "what does read_first do?")).startswith("box/store.py:11-12\n")


@pytest.mark.parametrize("name", ["read_all", "copy_rows"])
async def test_a_function_that_works_itself_shows_nothing_more(indexed_folder: IndexedFolder, name: str):
    assert await show(indexed_folder, f"what does {name} do?") == ""
