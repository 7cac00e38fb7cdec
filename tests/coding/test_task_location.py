"""Tests that the code of a task is found without a given place."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.coding.location.task_location import TaskPlace, TaskPlaces, choose_place, find_task_places
from lsp_harness.errors import ModelMissing
from lsp_harness.index.builder.chunks import MAX_CHUNK_LINES
from lsp_harness.index.query.code_search import WEIGHTS
from lsp_harness.inference.grammar import choice_grammar
from lsp_harness.inference.request import ChatRequest
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.text.document import Document
from tests.index.place import IndexedFolder

AREAS = ("order", "invoice", "customer", "shipment", "ledger", "session", "report", "catalog", "payment", "stock")
MODULE = '''\
"""What is done with one {area}, part {n}."""

from src.config import parse_config


def validate_{area}_{n}(given):
    """Checks the input before a {area} is saved."""
    if not given:
        raise ValueError("the {area} is empty")
    return given


def load_{area}_{n}(path):
    settings = parse_config(path)
    return validate_{area}_{n}(settings.get("{area}"))
'''
CONFIG = '''\
"""Settings of the application."""

import json
import os

LONGEST_LINE = 4096

DEFAULTS = {"retries": 3, "timeout": 10, "colour": "auto"}


class Settings(dict):
    """Settings as attributes."""

    def __getattr__(self, name):
        return self[name]


def find_file(folder):
    """Walks up the folders to where the settings are."""
    while folder != os.path.dirname(folder):
        path = os.path.join(folder, "app.json")
        if os.path.exists(path):
            return path
        folder = os.path.dirname(folder)
    return None


def merged(base, other):
    both = dict(base)
    both.update(other)
    return both


@staticmethod
def parse_config(path):
    """Reads settings from a file.

    What the file does not say is as in DEFAULTS, lines that begin
    with two slashes are comments, and what is an object has its
    members as attributes.
    """
    with open(path) as file:
        text = file.read()
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("//"):
            continue
        lines.append(line)
    found = json.loads("\\n".join(lines))
    settings = Settings(DEFAULTS)
    for name, value in found.items():
        if isinstance(value, dict):
            settings[name] = Settings(value)
        else:
            settings[name] = value
    if "timeout" in found:
        settings["timeout"] = float(found["timeout"])
    return settings


def write_config(path, settings):
    with open(path, "w") as file:
        json.dump(settings, file)
'''
DECOYS = {
    # another module, the same words and more
    "src/lines.py": (
        "def parse_config_line(line):\n"
        "    '''Adds input validation to a line of a config: parse and validate the input.'''\n"
        "    name, _, value = line.partition('=')\n    if not name:\n        raise ValueError('invalid input')\n"
        "    return name, value\n"
    ),
    "tests/test_config.py": (
        "from src.config import parse_config\n\n\ndef test_parse_config(tmp_path):\n"
        "    '''Input validation of parse_config.'''\n    assert parse_config(tmp_path / 'none.json')\n"
    ),
    "docs/config.md": (
        "# Configuration\n\n"
        "To add input validation to `parse_config`, call `parse_config()` and look at what `parse_config`\n"
        "says. `parse_config` has no validation of its input yet.\n"
    ),
}


def make_workspace_files() -> dict[str, str]:
    """Return the path and the text of 200 files."""
    files = {"src/config.py": CONFIG, **DECOYS}
    for n in range(200 - len(files)):
        area = AREAS[n % len(AREAS)]
        files[f"src/{area}/part_{n}.py"] = MODULE.format(area=area, n=n)
    return files


@pytest.fixture(scope="module")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedFolder]:
    with closing(IndexedFolder(tmp_path_factory.mktemp("ws"), make_workspace_files())) as made:
        yield made


async def locate_task(
    indexed: IndexedFolder, task: str, files: dict[str, str] | None = None, similar_texts: Sequence[bytes] = ()
) -> TaskPlaces:
    files = files or make_workspace_files()

    def text(path: str) -> Document | None:
        return Document.from_text(f"file:///{path}", files[path].encode()) if path in files else None

    task_places = await find_task_places(indexed.query, "", task, text, similar_texts)
    assert task_places
    return task_places


async def test_a_task_finds_its_function_among_200_files_and_three_decoys(indexed_folder: IndexedFolder):
    assert len(make_workspace_files()) == 200
    found = await locate_task(indexed_folder, "add input validation to parse_config")
    assert (found.best.place, found.best.symbol) == ("src/config.py:34-58", "parse_config")
    assert CONFIG.splitlines()[33] == "@staticmethod"
    assert CONFIG.splitlines()[57] == "    return settings"
    assert any(reason.startswith("mention") for reason in found.best.reasons)
    # by words alone it is the decoys that are found
    words = indexed_folder.search.fuse_rankings(
        [indexed_folder.search.rank_by_words("add input validation to parse_config")], 4
    )
    assert {hit.path for hit in words} >= {*DECOYS}


async def test_a_named_function_comes_before_a_function_with_similar_words(indexed_folder: IndexedFolder):
    """Words and meaning rank the decoy first, and do not find the function that is named."""
    texts = await indexed_folder.query.embedding_texts("", await indexed_folder.query.text_digests(""))
    decoys = [digest for digest, text in texts.items() if "def parse_config_line" in text]
    found = await locate_task(indexed_folder, "add input validation to parse_config", similar_texts=decoys)
    assert (found.best.symbol, found.candidates[1].symbol) == ("parse_config", "parse_config_line")
    assert found.candidates[1].reasons[-1] == "meaning 1"


CART = {
    "cart.py": "def discount(price):\n    return price - 1\n",
    "tests/test_cart.py": (
        "def test_discount_of_a_cart():\n    '''A cart has a discount.'''\n    assert discount(1) == 0\n"
    ),
    "README.md": "Round the discount of a cart.\n",
}


@pytest.mark.parametrize(
    ("task", "path"),
    [
        ("round the discount of a cart", "cart.py"),
        ("the tests of the discount", "tests/test_cart.py"),
        ("say in the docs how to round the discount of a cart", "README.md"),
    ],
)
async def test_code_comes_before_prose_and_before_tests_that_are_not_mentioned(tmp_path: Path, task: str, path: str):
    with closing(IndexedFolder(tmp_path, CART)) as found:
        assert (await locate_task(found, task, CART)).best.path == path


@pytest.mark.parametrize(
    ("task", "place", "symbol"),
    [
        ("write the settings to a file in a stable order", "src/config.py:61-63", "write_config"),
        (
            "stop walking up the folders at the home folder when looking for the settings",
            "src/config.py:18-25",
            "find_file",
        ),
        ("a line of a config without an equals sign is invalid", "src/lines.py:1-6", "parse_config_line"),
        (
            "the test of the input validation uses a file that is not there",
            "tests/test_config.py:4-6",
            "test_parse_config",
        ),
        ("make LONGEST_LINE a setting", "src/config.py:6-6", "LONGEST_LINE"),
        ("parse_config has to respect LONGEST_LINE", "src/config.py:34-58", "parse_config"),
        ("let merged() take more than two", "src/config.py:28-31", "merged"),
    ],
)
async def test_a_task_in_words_finds_its_code(indexed_folder: IndexedFolder, task: str, place: str, symbol: str):
    found = await locate_task(indexed_folder, task)
    assert (found.best.place, found.best.symbol) == (place, symbol)


@pytest.mark.parametrize("weight", [WEIGHTS["linked"], 100.0])
async def test_neighbours_of_the_best_place_are_listed_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weight: float
):
    """The wanted function has one word of the task, as nine others have; only the best hit uses it."""
    files = {
        "order.py": "from money import settle\n\n\ndef round_order_total(order):\n    return settle(order)\n",
        "money.py": "def settle(order):\n    return order\n",
        **{f"part{n}.py": f"def take{n}(order):\n    return order\n" for n in range(9)},
    }
    with closing(IndexedFolder(tmp_path, files)) as made:
        monkeypatch.setitem(WEIGHTS, "linked", weight)
        found = await locate_task(made, "round the order total", files)
    first, second, *_ = found.candidates
    assert [first.symbol, second.symbol] == ["round_order_total", "settle"]
    assert second.reasons[-1] == "linked 1"


async def test_places_have_the_lines_of_the_current_text(indexed_folder: IndexedFolder):
    files = make_workspace_files()
    files["src/config.py"] = "# a line\n\n" + files["src/config.py"]
    found = await locate_task(indexed_folder, "add input validation to parse_config", files)
    assert found.best.place == "src/config.py:36-60"
    # what is gone is no candidate any more
    del files["src/config.py"]
    found = await locate_task(indexed_folder, "add input validation to parse_config", files)
    assert "src/config.py" not in {candidate.path for candidate in found.candidates}


async def test_a_task_without_a_match_has_no_place(indexed_folder: IndexedFolder):
    assert await find_task_places(indexed_folder.query, "", "zzz", lambda path: None) is None
    assert (
        await find_task_places(indexed_folder.query, "", "add input validation to parse_config", lambda path: None)
        is None
    )


def make_places(count: int, signature: str = "def work(of)") -> TaskPlaces:
    return TaskPlaces(
        tuple(TaskPlace(f"a{n}.py", f"work_{n}", "function", n + 1, n + 3, signature, 1.0, ()) for n in range(count))
    )


async def test_the_model_chooses_a_place_by_its_number():
    engine = ScriptedEngine(
        [{"text": "2", "expect": "Task: work less\n\nPlaces:\n0: a0.py:1 def work(of)\n1: a1.py:2"}]
    )
    place = await choose_place(engine, "work less", make_places(3), 500)
    assert (place.best.place, place.chooser) == ("a2.py:3-5", "model")
    [request] = engine.foreground_requests
    assert isinstance(request, ChatRequest)
    assert (request.sampling.grammar, request.sampling.n_predict) == (choice_grammar(3), 1)
    await engine.aclose()


@pytest.mark.parametrize("reply", [{"text": "7"}, {"text": ""}, {"error": "the model is gone"}])
async def test_without_an_answer_the_index_decides(reply: dict[str, str]):
    place = await choose_place(ScriptedEngine([reply]), "work less", make_places(3), 500)
    assert (place.choice, place.chooser) == (0, "index")


async def test_without_a_model_the_index_decides():
    class Missing(ScriptedEngine):
        async def count(self, texts):
            raise ModelMissing("there is no model")

    assert await choose_place(Missing([]), "work less", make_places(3), 500) == make_places(3)


async def test_the_prompt_of_a_choice_stays_within_its_budget():
    fixed = shown = 0
    for budget in range(200):
        engine = ScriptedEngine([{"text": "0"}])
        await choose_place(engine, "work less", make_places(8, "def work(of, that, and, those)"), budget)
        if not engine.foreground_requests:
            fixed = budget
            continue
        prompt = prompt_text(engine.foreground_requests[0])
        shown = prompt.count(".py:")
        # what the chat's own marks cost is no part of it
        assert len(prompt.split()) - 2 <= budget
        assert engine.foreground_requests[0].sampling.grammar == choice_grammar(shown)
    # two fit or nobody is asked
    assert 0 < fixed < 100
    assert shown == 8


async def test_a_task_with_a_secret_is_not_shown_to_a_model():
    engine = ScriptedEngine([])
    assert await choose_place(engine, "put sk-proj-" + "a1B2" * 12 + " in", make_places(3), 500) == make_places(3)
    assert engine.foreground_requests == []


async def test_a_signature_with_a_secret_is_shortened_to_its_name(tmp_path: Path):
    files = {"a.py": "def connect(key='sk-proj-" + "a1B2" * 12 + "'):\n    return key\n"}
    with closing(IndexedFolder(tmp_path, files)) as found:
        [one] = (await locate_task(found, "connect with a key", files)).candidates
    assert (one.signature, one.place) == ("connect", "a.py:1-2")


async def test_lines_that_begin_inside_a_private_key_are_not_shown(tmp_path: Path):
    lines = [f"word{n}" for n in range(MAX_CHUNK_LINES - 10)]
    key = ["-----BEGIN PRIVATE KEY-----", *["Q0hFQ0tT" * 8] * 30, "-----END PRIVATE KEY-----"]
    files = {"notes.txt": "\n".join([*lines, *key, "How a shipment is weighed."]) + "\n"}
    with closing(IndexedFolder(tmp_path, files)) as found:
        [one] = (await locate_task(found, "weigh a shipment", files)).candidates
    assert MAX_CHUNK_LINES - 10 < one.first <= MAX_CHUNK_LINES + 1
    assert (one.symbol, one.signature) == ("", "")
