"""An index follows what is on disk, and reads no more of it than has changed."""

import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.files.walk import WalkedFile
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.builder.import_links import ImportLinks
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.builder.indexer import Indexer, ScanResult
from lsp_harness.index.builder.reader_processes import ReaderPool
from lsp_harness.index.index_tables import SCHEMA, is_complete, read_schema_version
from lsp_harness.store.database import DatabaseReader, DatabaseWriter

pytestmark = pytest.mark.process


class IndexedWorkspace:
    """A workspace and its index."""

    def __init__(self, root: Path) -> None:
        self.root = root / "ws"
        self.root.mkdir()
        self.writer = DatabaseWriter(root / "index.db", SCHEMA, read_schema_version())
        self.told: list[tuple[int, int]] = []

    def write(self, name: str, text: str | bytes) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def scan(self, *first: str) -> ScanResult:
        indexer = Indexer(self.root, self.writer, lambda done, of: self.told.append((done, of)))
        try:
            return indexer.scan(first)
        finally:
            indexer.close()

    def update(self, *names: str) -> ScanResult | None:
        indexer = Indexer(self.root, self.writer)
        try:
            return indexer.update([self.root / name for name in names])
        finally:
            indexer.close()

    def symbols(self) -> list[str]:
        sql = "SELECT path || ' ' || qualified FROM symbols JOIN files ON files.id = file ORDER BY 1"
        return [row[0] for row in self.writer.rows(sql)]

    def matching(self, query: str) -> list[str]:
        sql = (
            "SELECT path FROM texts JOIN chunks ON chunks.id = texts.rowid JOIN files ON files.id = file "
            "WHERE texts MATCH ? ORDER BY path"
        )
        return [row[0] for row in self.writer.rows(sql, (query,))]


@pytest.fixture
def indexed_workspace(tmp_path: Path):
    place = IndexedWorkspace(tmp_path)
    yield place
    place.writer.close()


def test_existing_files_are_indexed_and_not_read_again(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "import b\n\nclass Circle(Shape):\n    def area(self): ...\n")
    indexed_workspace.write("lib/b.go", "package b\nfunc NewThing() {}\n")
    assert indexed_workspace.scan() == ScanResult(files=2, parsed=2, same=0, dropped=0, left=0)
    assert indexed_workspace.symbols() == ["a.py Circle", "a.py Circle.area", "lib/b.go NewThing"]
    assert indexed_workspace.writer.rows("SELECT module, name, alias FROM imports") == [("b", "", "")]
    assert indexed_workspace.told[-1] == (2, 2)
    assert indexed_workspace.scan() == ScanResult(files=2, parsed=0, same=0, dropped=0, left=0)


def test_only_changed_files_are_parsed(indexed_workspace: IndexedWorkspace):
    for n in range(5):
        indexed_workspace.write(f"{n}.py", f"def f{n}(): pass\n")
    indexed_workspace.scan()
    indexed_workspace.write("3.py", "def other(): pass\n")
    assert indexed_workspace.scan() == ScanResult(files=5, parsed=1, same=0, dropped=0, left=0)
    assert indexed_workspace.symbols() == ["0.py f0", "1.py f1", "2.py f2", "3.py other", "4.py f4"]
    assert indexed_workspace.matching("f3") == []


def test_a_file_that_was_only_touched_is_not_parsed(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def f(): pass\n")
    indexed_workspace.scan()
    os.utime(indexed_workspace.root / "a.py", ns=(1, 1))
    assert indexed_workspace.scan() == ScanResult(files=1, parsed=0, same=1, dropped=0, left=0)
    assert indexed_workspace.scan() == ScanResult(files=1, parsed=0, same=0, dropped=0, left=0)


def test_a_change_that_keeps_size_and_time_apart_is_seen(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def f(): pass\n")
    indexed_workspace.scan()
    indexed_workspace.write("a.py", "def g(): pass\n")
    assert indexed_workspace.scan().parsed == 1
    assert indexed_workspace.symbols() == ["a.py g"]


def test_a_removed_file_is_not_in_the_index(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def f(): pass\n")
    indexed_workspace.write("b.py", "def g(): pass\n")
    indexed_workspace.scan()
    (indexed_workspace.root / "a.py").unlink()
    assert indexed_workspace.scan() == ScanResult(files=1, parsed=0, same=0, dropped=1, left=0)
    assert indexed_workspace.symbols() == ["b.py g"]
    assert indexed_workspace.matching("f") == []
    for table in ("chunks", "texts", "symbols"):
        assert indexed_workspace.writer.rows(f"SELECT count(*) FROM {table}") == [(1,)]


def test_words_within_names_are_found(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def parse_config(x):\n    return HTTPServer(x)\n")
    indexed_workspace.write("b.js", "function renderTable() { return loadedRows; }\n")
    indexed_workspace.write("notes.txt", "The configuration is parsed by hand.\n")
    indexed_workspace.scan()
    assert indexed_workspace.matching("configs") == ["a.py"]
    assert indexed_workspace.matching("parsing") == ["a.py", "notes.txt"]
    assert indexed_workspace.matching("server") == ["a.py"]
    assert indexed_workspace.matching("names: table") == ["b.js"]
    assert indexed_workspace.matching("row") == ["b.js"]


def test_a_file_that_is_no_text_or_too_large_is_known_but_empty(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.bin", b"\0\1\2")
    indexed_workspace.write("b.csv", "1,2,3\n" * 50_000)
    indexed_workspace.write("c.py", "x = 1\n" * 400_000)
    assert indexed_workspace.scan() == ScanResult(files=3, parsed=3, same=0, dropped=0, left=0)
    assert indexed_workspace.writer.rows("SELECT path, skipped FROM files ORDER BY path") == [
        ("a.bin", "binary"),
        ("b.csv", "larger than 200 kB"),
        ("c.py", "larger than 2000 kB"),
    ]
    assert indexed_workspace.writer.rows("SELECT count(*) FROM chunks") == [(0,)]
    assert indexed_workspace.scan().parsed == 0


def test_secrets_are_not_indexed(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write(".env", "PASSWORD=hunter2\n")
    indexed_workspace.write("a.py", 'def f():\n    return "AKIA' + "ABCDEFGHIJKLMNOP" + '"\n')
    assert indexed_workspace.scan().left == 1
    assert indexed_workspace.writer.rows("SELECT * FROM left_out") == [(".env", "a file for secrets, by its name")]
    assert indexed_workspace.matching("f") == ["a.py"]
    assert "AKIA" not in str(indexed_workspace.writer.rows("SELECT text FROM texts"))


def test_open_files_are_read_first(indexed_workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch):
    for n in range(40):
        indexed_workspace.write(f"{n:02}.py", "x = 1\n")
    items: list[str] = []
    read = ReaderPool.read

    def noted(self: ReaderPool, wanted: list[tuple[WalkedFile, bytes]]):
        items.extend(item.path for item, _ in wanted)
        return read(self, wanted)

    monkeypatch.setattr(ReaderPool, "read", noted)
    indexed_workspace.scan("33.py", "05.py")
    assert items[:3] == ["05.py", "33.py", "00.py"]


def test_only_reported_files_are_looked_at(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def a(): ...\n")
    indexed_workspace.write("b.py", "def b(): ...\n")
    indexed_workspace.scan()
    indexed_workspace.write("a.py", "def changed(): ...\n")
    assert indexed_workspace.update("a.py", "b.py") == ScanResult(files=2, parsed=1, same=0, dropped=0, left=0)
    assert indexed_workspace.symbols() == ["a.py changed", "b.py b"]
    (indexed_workspace.root / "b.py").unlink()
    assert indexed_workspace.update("b.py") == ScanResult(files=1, parsed=0, same=0, dropped=1, left=0)
    assert indexed_workspace.symbols() == ["a.py changed"]


def test_a_new_file_or_ignore_file_requires_a_scan_of_the_folder(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def a(): ...\n")
    indexed_workspace.write(".gitignore", "build\n")
    indexed_workspace.scan()
    indexed_workspace.write("new.py", "def new(): ...\n")
    assert indexed_workspace.update("new.py") is None
    indexed_workspace.write(".gitignore", "build\nnew.py\n")
    assert indexed_workspace.update(".gitignore") is None
    (indexed_workspace.root / "a.py").unlink()
    (indexed_workspace.root / "a.py").mkdir()
    assert indexed_workspace.update("a.py") is None


def test_output_of_a_build_does_not_require_a_scan(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "def a(): ...\n")
    indexed_workspace.write(".gitignore", "build\n")
    indexed_workspace.scan()
    indexed_workspace.write("build/a.py", "def built(): ...\n")
    assert indexed_workspace.update("build/a.py", "build/gone.py") == ScanResult(
        files=2, parsed=0, same=0, dropped=0, left=0
    )
    assert indexed_workspace.symbols() == ["a.py a"]


def read_import_targets(place: IndexedWorkspace) -> list[str]:
    sql = (
        "SELECT a.path || ' > ' || b.path FROM targets JOIN files a ON a.id = targets.file JOIN files b ON b.id = "
        "target "
        "ORDER BY 1"
    )
    return [row[0] for row in place.writer.rows(sql)]


def test_imports_lead_to_files(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("a.py", "import b\nfrom c import d\n")
    indexed_workspace.write("b.py", "import os\n")
    indexed_workspace.scan()
    assert read_import_targets(indexed_workspace) == ["a.py > b.py"]
    # what meant nothing means something as soon as it is there, and nothing again when it is gone
    indexed_workspace.write("c/d.py", "import a\n")
    indexed_workspace.scan()
    assert read_import_targets(indexed_workspace) == ["a.py > b.py", "a.py > c/d.py", "c/d.py > a.py"]
    (indexed_workspace.root / "b.py").unlink()
    indexed_workspace.scan()
    assert read_import_targets(indexed_workspace) == ["a.py > c/d.py", "c/d.py > a.py"]
    indexed_workspace.write("a.py", "x = 1\n")
    indexed_workspace.scan()
    assert read_import_targets(indexed_workspace) == ["c/d.py > a.py"]


@pytest.mark.parametrize(
    ("gone", "before", "after"),
    [
        ("b.py", ["a.py > b.py"], ["a.py > src/b.py"]),
        # of two that are as near none was meant
        ("y/far/b.py", [], ["a.py > x/far/b.py"]),
    ],
)
def test_files_that_disappear_before_a_kill_are_removed_by_the_next_indexer(
    indexed_workspace: IndexedWorkspace, gone: str, before: list[str], after: list[str]
):
    indexed_workspace.write("a.py", "import b\n" if gone == "b.py" else "import far.b\n")
    for name in ("b.py", "src/b.py", "x/far/b.py", "y/far/b.py"):
        indexed_workspace.write(name, "x = 1\n")
    indexed_workspace.scan()
    assert read_import_targets(indexed_workspace) == before
    (indexed_workspace.root / gone).unlink()
    IndexWriter(indexed_workspace.writer).remove([gone])
    with closing(DatabaseReader(indexed_workspace.writer.path)) as reader:
        assert not is_complete(reader)
        assert indexed_workspace.scan().dropped == 0
        assert read_import_targets(indexed_workspace) == after
        assert is_complete(reader)


def test_the_meaning_of_a_namespace_follows_the_files_that_declare_it(indexed_workspace: IndexedWorkspace):
    indexed_workspace.write("web/Page.cs", "using Shop.Money;\nusing System;\nclass Page {}\n")
    indexed_workspace.write("shop/Rate.cs", "namespace Shop.Money;\nclass Rate {}\n")
    indexed_workspace.write("shop/Far.cs", "namespace Shop { namespace Money { class Far {} } namespace Other {} }\n")
    indexed_workspace.write("a.py", "Shop = 1\n")
    indexed_workspace.scan()
    assert read_import_targets(indexed_workspace) == ["web/Page.cs > shop/Far.cs", "web/Page.cs > shop/Rate.cs"]
    indexed_workspace.write("shop/Far.cs", "namespace Shop { class Far {} }\n")
    indexed_workspace.update("shop/Far.cs")
    assert read_import_targets(indexed_workspace) == ["web/Page.cs > shop/Rate.cs"]
    indexed_workspace.write("shop/Far.cs", "namespace Shop.Money { class Further {} }\n")
    indexed_workspace.update("shop/Far.cs")
    assert read_import_targets(indexed_workspace) == ["web/Page.cs > shop/Far.cs", "web/Page.cs > shop/Rate.cs"]


class WatchedImportLinks(ImportLinks):
    """An import table that records the questions, and what readers see meanwhile."""

    def __init__(self, files: Iterable[str], reader: DatabaseReader) -> None:
        super().__init__(files)
        self._reader = reader
        self.asked: dict[str, int] = {}

    def find_targets(self, path: str, language: str, module: str, name: str) -> list[str]:
        [(seen,)] = self._reader.rows("SELECT count(*) FROM targets")
        self.asked[path] = seen
        return super().find_targets(path, language, module, name)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        # what it declares in its namespace may change as it likes
        ("using Far;\nnamespace Shop.Money { class Other {} }\n", {"shop/Rate.cs": 1}),
        ("using Far;\nnamespace Shop.Other { class Rate {} }\n", {"shop/Rate.cs": 1, "web/Page.cs": 1}),
    ],
)
def test_a_namespace_keeps_its_meaning_while_its_file_changes(
    indexed_workspace: IndexedWorkspace, text: str, asked: dict[str, int]
):
    files = {
        "web/Page.cs": "using Shop.Money;\nclass Page {}\n",
        "shop/Rate.cs": "using Far;\nnamespace Shop.Money { class Rate {} }\n",
    }
    filling = IndexWriter(indexed_workspace.writer)
    filling.write(extract_file(WalkedFile(path, 1, len(item)), item.encode()) for path, item in files.items())
    filling.link_imports(ImportLinks(files))
    assert read_import_targets(indexed_workspace) == ["web/Page.cs > shop/Rate.cs"]
    filling.write([extract_file(WalkedFile("shop/Rate.cs", 2, len(text)), text.encode())])
    with closing(DatabaseReader(indexed_workspace.writer.path)) as reader:
        watched = WatchedImportLinks(files, reader)
        filling.link_imports(watched, ["shop/Rate.cs"])
    assert watched.asked == asked
    assert read_import_targets(indexed_workspace) == (["web/Page.cs > shop/Rate.cs"] if "Money" in text else [])
