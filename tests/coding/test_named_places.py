"""Tests of names in a task: a name of the index wins over words, and a failing test leads to the tested code."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from lsp_harness.coding.location.task_location import TaskPlaces, find_task_places
from lsp_harness.coding.location.task_mentions import NEAR_CHARS, read_task
from lsp_harness.coding.plan.understanding import understand_by_facts
from lsp_harness.errors import NoAnswer
from lsp_harness.text.document import Document
from tests.index.place import IndexedFolder

FILES = {
    "src/box/store.py": '''\
"""Rows of a table."""

from src.box.keys import join_keys


class Store:
    """Keeps rows."""

    def insert(self, rows, separator="_"):
        """Insert rows, with an optional parameter separator to join the keys of nested rows, default "_"."""
        return [flatten(row) for row in rows]

    def get(self, name, default=None):
        return default

    def open(self):
        return self


class CachedStore(Store):
    def get(self, name, default=None):
        """Looks into the cache before the table."""
        return super().get(name, default)


def flatten(row):
    return join_keys(row)


def _walk(row):
    return row
''',
    "src/box/keys.py": '''\
def join_keys(row):
    return row


def sign(value, max_age=None):
    """Sign."""
    if max_age and max_age < 0:
        raise EmptyValues("values are empty")
    return value


class EmptyValues(Exception):
    """Reject empty values: nothing has any value."""


class Signer:
    def sign(self, value):
        return value

    def unsign(self, value, max_age=None):
        return value
''',
    "tools/speed.py": "def flatten(row):\n    return [row]\n",
    "src/box/_old.py": "def flatten(row):\n    return {row}\n",
    "src/colour.rs": "pub enum Colour {\n    RED,\n    BLUE,\n}\n",
    "web/path.ts": (
        "export function splitPath(path: string): string[] {\n  return path.split('/')\n}\n\n"
        "export const mergePath = (path: string): string => path\n"
    ),
    "tests/test_keys.py": """\
from src.box.keys import Signer, join_keys


def helper(value):
    return value


def flatten(row):
    return row


class TestSigner:
    def test_max_age(self, signer):
        value = signer.sign("x")
        assert signer.unsign(value, max_age=10)


def test_join():
    def ruler():
        return 1

    assert join_keys({}) == {}
""",
}


@pytest.fixture(scope="module")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedFolder]:
    with closing(IndexedFolder(tmp_path_factory.mktemp("ws"), FILES)) as made:
        yield made


async def find(indexed: IndexedFolder, task: str) -> TaskPlaces:
    def text(path: str) -> Document | None:
        return Document.from_text(f"file:///{path}", FILES[path].encode()) if path in FILES else None

    places = await find_task_places(indexed.query, "", task, text)
    assert places
    return places


@pytest.mark.parametrize(
    ("task", "symbol"),
    [
        # words of other declarations
        ('add an optional parameter separator to flatten, default "_", and use it to join the keys', "flatten"),
        ("make unsign reject empty values", "Signer.unsign"),
        ("make `unsign` reject empty values", "Signer.unsign"),
        ("unsign() has to reject empty values", "Signer.unsign"),
        # names that are ordinary words
        ("let insert return the number of rows", "Store.insert"),
        ("open should insert a row first", "Store.open"),
        ("speed up insert", "Store.insert"),
        ("fix insert", "Store.insert"),
        ("insert a check into flatten", "flatten"),
        ("add a docstring to open", "Store.open"),
        ("write tests for flatten", "flatten"),
        ("explain how insert finds the separator", "Store.insert"),
        ("raise EmptyValues in flatten if the row is empty", "flatten"),
        ("use join_keys in insert", "Store.insert"),
        ("flatten - how does it join the keys", "flatten"),
        ("write test for flatten pls, with an empty row", "flatten"),
        ("flatten in store.py should take a depth and sign it", "flatten"),
        # polite wishes, and the last call of a chain
        ("can the insert operation get an optional step? default 1", "Store.insert"),
        ("hi, could flatten take a depth?", "flatten"),
        ("open('x').insert([1], '-') joins with the wrong sign", "Store.insert"),
        # a parameter of a function in a named file
        ("what accepts a negativ max_age in keys.py must raise ValueError", "sign"),
        # what is said about the place
        ("make CachedStore.get faster", "CachedStore.get"),
        ("make CachedStore::get faster", "CachedStore.get"),
        ("the get method of CachedStore ignores its default", "CachedStore.get"),
        ("in class Store, get must raise", "Store.get"),
        ("make CachedStore.open return None", "Store.open"),
        ("let keys.sign accept bytes", "sign"),
        ("let src.box.keys.sign accept bytes", "sign"),
        ("let Signer.sign accept bytes", "Signer.sign"),
        ("in store.py let get raise a KeyError", "Store.get"),
        ("src/box/store.py:10 is slow", "Store.insert"),
        ("store.py line 16: wrong", "Store.open"),
        ("make _walk lazy", "_walk"),
        ("make splitPath throw a TypeError if path is not a string", "splitPath"),
        ("rename the parameter path of splitPath to pathname", "splitPath"),
        # a text of the code in quotation marks
        ("the message 'values are empty' does not say which ones", "sign"),
        # a kind that has members is named together with one of them
        ("Colour could use a method is_warm that returns true for RED", "Colour"),
        # a name of a test file only counts if the task speaks of tests
        ("make `flatten` raise", "flatten"),
        ("let `helper` return None", "helper"),
        # the code under a test that fails
        ("fix the failing test test_max_age", "Signer.unsign"),
        ("test_max_age fails, repair it", "Signer.unsign"),
        ("make TestSigner.test_max_age pass", "Signer.unsign"),
        ("tests/test_keys.py:15 fails, fix it", "Signer.unsign"),
        ("fix test_join", "join_keys"),
        ("fix tests/test_keys.py::TestSigner::test_max_age", "Signer.unsign"),
        ("test_keys.py::test_join[a-1] fails", "join_keys"),
        ("unsign fails its tests, fix it", "Signer.unsign"),
        # unless the test itself is to be changed
        ("update the test test_max_age to expect 3", "TestSigner.test_max_age"),
        ("delete the failing test test_join", "test_join"),
        ("explain why test_join fails", "test_join"),
    ],
)
async def test_the_named_declaration_is_chosen(indexed_folder: IndexedFolder, task: str, symbol: str):
    best = (await find(indexed_folder, task)).best
    assert best.symbol == symbol
    assert best.path not in ("tools/speed.py", "src/box/_old.py")
    assert best.path.startswith("tests/") == (symbol.rpartition(".")[2].startswith("test_") or symbol == "helper")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("make `unsgn` reject empty values", "no symbol unsgn in this folder; the most similar names are: unsign"),
        ("make unsgn reject empty values", "no symbol unsgn in this folder; the most similar names are: unsign"),
        (
            "let splitPaths() return a list",
            "no symbol splitPaths in this folder; the most similar names are: splitPath",
        ),
        ("fix joinkeys_all", "there is no symbol joinkeys_all in this folder"),
        ("make Signer.sgn raise", "Signer has no member sgn; the most similar names are: sign, unsign"),
        ("src/box/nothing.py:3 is wrong", "there is no file src/box/nothing.py in the index of this folder"),
        ("in nothing.py, make load faster", "there is no file nothing.py in the index of this folder"),
        ("add a log line to load in the file `nothing.py`", "there is no file nothing.py in the index of this folder"),
        ("store.py:300 is wrong", "src/box/store.py has 31 lines, so there is no line 300"),
    ],
)
async def test_an_unknown_name_in_a_task_is_an_error_and_no_place_is_chosen(
    indexed_folder: IndexedFolder, task: str, message: str
):
    with pytest.raises(NoAnswer) as raised:
        await find(indexed_folder, task)
    assert message in raised.value.message


@pytest.mark.parametrize(
    "task",
    [
        "add a function slugify_all to keys.py",
        "create a class Queue_2 in store.py",
        "rename join_keys to merge_keys",
        "add an optional parameter max_length to flatten",
        "make loading rows faster",
        "keep rows in a GitHub issue",
        # a function inside of a test is not what is meant
        "the ruler is not drawn",
    ],
)
async def test_a_new_name_or_an_ordinary_word_is_not_missing(indexed_folder: IndexedFolder, task: str):
    assert await find(indexed_folder, task)


async def test_doubt_is_reported_without_a_named_place_or_with_several(indexed_folder: IndexedFolder):
    assert (await find(indexed_folder, "make unsign raise")).doubt == ""
    several = await find(indexed_folder, "make sign raise")
    assert several.doubt == "sign is the name of 2 declarations"
    assert {place.symbol for place in several.candidates[:2]} == {"sign", "Signer.sign"}
    assert (await find(indexed_folder, "let state.ruler be drawn")).is_guess
    guess = await find(indexed_folder, "keep the cache of the table")
    assert guess.is_guess
    assert (await find(indexed_folder, "in store.py keep the cache")).doubt.startswith(
        "the task names no code of this file"
    )


async def test_named_lines_outside_of_declarations_are_the_place(indexed_folder: IndexedFolder):
    places = await find(indexed_folder, "sort the import in src/box/store.py:3")
    assert (places.best.place, places.doubt) == ("src/box/store.py:3-3", "")
    places = await find(indexed_folder, "simplify store.py:22-26")
    assert places.best.place == "src/box/store.py:22-26"


@pytest.mark.parametrize(
    ("task", "path", "lines", "is_place"),
    [
        ("src/a.ts(6,3): error TS2322: Type 'a'", "src/a.ts", (6, 6), False),
        ("fix a.py(5): handle None", "a.py", (5, 5), False),
        ("fix a.py (lines 5-7)", "a.py", (5, 7), False),
        ("in the module a.py load is slow", "a.py", (0, 0), True),
        ("as in Next.js, make load async", "Next.js", (0, 0), False),
    ],
)
def test_files_and_lines_are_read_from_a_task(task: str, path: str, lines: tuple[int, int], is_place: bool):
    [file] = read_task(task).files
    assert (file.path, (file.first, file.last), file.is_place) == (path, lines, is_place)


@pytest.mark.parametrize(
    ("task", "repairs", "edits"),
    [
        ("fix the failing test test_max_age", True, False),
        ("fix tests/test_keys.py::test_join", True, False),
        ("make the tests of flatten pass", True, False),
        ("the test for upload is red, repair it", True, False),
        ("change flatten so that its tests pass", True, False),
        ("update the test test_join to expect 3", False, True),
        ("skip the failing tests", False, True),
        ("fix the test itself, it is outdated", False, True),
        ("fix the typo in test_join", False, True),
        ("write tests for flatten", False, False),
        ("why does test_join fail?", False, False),
        ("make flatten raise a TypeError", False, False),
    ],
)
def test_a_task_about_a_failing_test_differs_from_one_about_the_test_code(task: str, repairs: bool, edits: bool):
    reading = read_task(task)
    assert (reading.repairs_tests, reading.edits_tests) == (repairs, edits)


@pytest.mark.parametrize(
    ("task", "intent"),
    [
        ("make want_bytes raise a clear TypeError if the value is neither str nor bytes", "edit"),
        ("please let load reject an empty name with a ValueError", "edit"),
        ("raise ValueError in get if the key is missing", "edit"),
        ("fix the failing test test_join", "fix"),
        ("make test_join pass, it raises a KeyError", "fix"),
        ("load raises a KeyError", None),
        ("explain why load raises", None),
        ("write a test that makes load raise", "generate"),
        ("can the increment operation get an optional step? default 1 of course", "edit"),
        ("could Table.count take an optional cond?", "edit"),
        ("can load get an error?", None),
        ("also mention this in the comment above", "edit"),
        ("doc comment for the helper which returns the last element", "generate"),
    ],
)
def test_the_intent_of_prompts_that_leave_no_choice(task: str, intent: str | None):
    known = understand_by_facts(task)
    assert (known[0] if known else None) == intent


def test_only_the_words_near_a_name_say_how_it_is_used():
    # a search in the whole text would take hours in a pasted log
    assert read_task("create a load_all").names[-1].is_new
    assert not read_task(f"create a {' ' * NEAR_CHARS}load_all").names[-1].is_new
