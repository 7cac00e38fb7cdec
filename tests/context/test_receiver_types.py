"""Possible types of the receivers whose members are used."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.query.definition_lines import find_receiver_types, read_declared_types
from tests.index.place import IndexedFolder

FILES = {
    "core.py": (
        "class Command:\n    def run(self): ...\n\n\n"
        "class Context:\n    def __init__(self, command: Command) -> None:\n        self.command: Command = command\n"
    ),
    "plain.py": "class Session:\n    db: Database\n",
    "more.py": "class Database:\n    def query(self): ...\n",
    "pool.py": "class WorkerPool:\n    def drain(self): ...\n",
    "a.py": "class Job: ...\n",
    "b.py": "class Job: ...\n",
    "c.py": "class Job: ...\n",
    "web.ts": "export class Page { show() {} }\n",
    "here.py": "from core import Context\n",
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as made:
        yield made


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("def f(ctx: Context | None): ...", "ctx", ["Context"]),
        ("pool = WorkerPool(4)", "pool", ["WorkerPool"]),
        ("let mut b = grep::Builder::new();", "b", ["Builder"]),
        ("conn := db.NewPool()", "conn", ["NewPool"]),
        ("fn builder(p: &str) -> WalkBuilder {\n}\nlet b = builder(x);", "b", ["WalkBuilder"]),
        ("List<Item> items = f();\nvoid g(Cart cart) {}", "cart", ["Cart"]),
        ("const List<Item> items", "items", ["List"]),
        ("if ctx == Other:\n    pass", "ctx", []),
        ("context: Other", "text", []),
    ],
)
def test_declared_types_are_read_from_the_text(text: str, name: str, expected: list[str]):
    assert read_declared_types(text, name) == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("from core import Context\ndef f(ctx: Context):\n    ctx.", "ctx", ["Context"]),
        ("from core import Context\nclass A:\n    ctx: Context\n", "self.ctx.command.run", ["Command"]),
        ("session = Session()", "session.db.query", ["Database"]),
        ("", "worker_pool.drain", ["WorkerPool"]),
        # an import leads to none of them, and there are too many to guess
        ("job = Job()", "job.start", []),
        # another language
        ("page = Page()", "page.show", []),
        ("", "os.path", []),
    ],
)
def test_the_type_of_a_receiver_is_found_in_other_files(
    indexed_folder: IndexedFolder, text: str, name: str, expected: list[str]
):
    receiver_types = find_receiver_types(indexed_folder.view, "here.py", "python", text, [name])
    assert sorted({receiver_type.name for receiver_type in receiver_types}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "result = " + "call(" * 20_000,
        "def run(a) -> Result: ...\n" + "result = run(3)\n" * 5_000,
        "".join(f"result = call_{n}(3)\n" for n in range(5_000)),
        "result = " + "x" * 200_000,
    ],
)
def test_long_and_many_lines_are_read_in_part(text: str):
    """Without limits each of these takes minutes."""
    assert read_declared_types(text, "result") == (["Result"] if "Result" in text else [])
