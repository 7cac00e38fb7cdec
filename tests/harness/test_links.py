"""Tests of a workspace folder and its files under different names."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from lsp_harness.coding.module_tests import find_test_file, open_or_begin
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from tests.harness.bench import Bench, Make

pytestmark = pytest.mark.process

MAIN = "from app.till import Till\n\n\ndef run(till: Till) -> None:\n    till.deposit()\n"
TILL = "class Till:\n    def deposit(self) -> int:\n        return 1\n"
Start = Callable[[str], Awaitable[Bench]]


@pytest.fixture
async def start(bench: Make, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Return a function that opens and indexes the folder `real` under its own name or as `link`."""
    benches: list[Bench] = []

    async def start(opened: str) -> Bench:
        b = bench(works_ahead=True)
        monkeypatch.setenv("LSP_HARNESS_HOME", str(b.folder / "home"))
        (b.folder / "real" / "app").mkdir(parents=True)
        (b.folder / "link").symlink_to("real")
        for name, text in (("__init__.py", ""), ("till.py", TILL), ("main.py", MAIN)):
            (b.folder / "real" / "app" / name).write_text(text)
        b.harness.workspace.set_roots([b.folder / opened])
        benches.append(b)
        b.harness.keep_indexes()
        await wait_for_index_runs(b)
        return b

    yield start
    for b in benches:
        await b.harness.services.index.folder_indexes.aclose()


async def wait_for_index_runs(b: Bench, times: int = 1) -> None:
    """Wait until the index was ready this number of times."""
    ready = asyncio.Event()
    [folder] = b.harness.services.index.folder_indexes.folders
    b.on_index(lambda root, said: ready.set())
    while folder.update_count < times:
        ready.clear()
        await ready.wait()


def uri_of(b: Bench, name: str) -> str:
    return (b.folder / name).as_uri()


@pytest.mark.parametrize("opened", ["real", "link"])
@pytest.mark.parametrize("named", ["real", "link", "link/app/..", "real/x/.."])
async def test_a_file_finds_the_other_files_under_any_name_of_the_folder(start: Start, opened: str, named: str):
    b = await start(opened)
    main = f"file://{b.folder}/{named}/app/main.py"
    b.harness.open(Document.from_text(main, MAIN, language="python", version=1))
    snapshot = b.harness.snapshot(main)
    assert (snapshot.root, snapshot.path) == (b.folder / opened, "app/main.py")
    assert snapshot.file == b.folder / opened / "app/main.py"

    [definition] = await b.harness.symbols.definition(snapshot, MAIN.index("Till"))
    # under the name that the folder is open by
    assert (definition.uri, definition.line) == (uri_of(b, f"{opened}/app/till.py"), 0)
    [symbol] = await b.harness.symbols.search("Till")
    assert symbol.uri == uri_of(b, f"{opened}/app/till.py")

    # what is open has the name that the client gave it, to the byte
    till = f"FILE://{b.folder}/{named}/app/%74ill.py"
    b.harness.open(Document.from_text(till, TILL, language="python", version=1))
    b.harness.change(till, Edit(0, 0, b"\n"), 2)
    [definition] = await b.harness.symbols.definition(snapshot, MAIN.index("Till"))
    assert (definition.uri, definition.line) == (till, 1)
    [symbol] = await b.harness.symbols.search("Till")
    assert (symbol.uri, symbol.line) == (till, 1)
    indexes = b.harness.services.index.folder_indexes
    assert await indexes.run(main, lambda view: [path for path, _ in view.symbols.unsaved.values()], []) == [
        "app/till.py"
    ]
    places = await b.harness.symbols.references(snapshot, MAIN.index("Till"), include_declaration=False)
    assert {place.uri for place in places} == {main}


@pytest.mark.parametrize("opened", ["real", "link"])
@pytest.mark.parametrize("named", ["real", "link"])
async def test_a_written_file_is_read_again_under_any_of_its_names(
    start: Start, monkeypatch: pytest.MonkeyPatch, opened: str, named: str
):
    b = await start(opened)
    told: list[str] = []
    [folder] = b.harness.services.index.folder_indexes.folders
    monkeypatch.setattr(folder, "report_change", told.append)
    b.harness.record_save(uri_of(b, f"{named}/app/till.py"))
    b.harness.record_save(uri_of(b, f"{named}/gone.py"))
    b.harness.record_save(uri_of(b, "elsewhere.py"))
    assert told == ["app/till.py", "gone.py"]


async def test_rules_above_the_folder_that_are_written_are_read_again(start: Start):
    b = await start("link")
    main = b.harness.workspace.snapshot(Document.from_text(uri_of(b, "real/app/main.py"), MAIN, language="python"))
    assert await b.harness.symbols.definition(main, MAIN.index("Till"))
    (b.folder / ".git" / "info").mkdir(parents=True)
    for name, rules in ((".gitignore", "till.py\n"), (".gitignore", ""), (".git/info/exclude", "till.py\n")):
        (b.folder / name).write_text(rules)
        [folder] = b.harness.services.index.folder_indexes.folders
        updates = folder.update_count
        b.harness.record_save(uri_of(b, name))
        await wait_for_index_runs(b, updates + 1)
        assert bool(await b.harness.symbols.search("Till")) is not bool(rules)


async def test_the_tests_of_a_file_go_where_the_folder_is(bench: Make):
    b = bench()
    (b.folder / "real" / "tests").mkdir(parents=True)
    (b.folder / "real" / "tests" / "test_a.py").touch()
    (b.folder / "link").symlink_to("real")
    b.harness.workspace.set_roots([b.folder / "link"])
    snapshot = b.harness.workspace.snapshot(Document.from_text(uri_of(b, "real/a.py"), ""))
    assert snapshot.root
    assert snapshot.file
    index = b.harness.services.index.query
    file = await find_test_file(index, snapshot.root, snapshot.file, "f")
    assert file == b.folder / "link/tests/test_a.py"
    opened = Document.from_text(uri_of(b, "real/tests/test_a.py"), "x = 1\n", language="python")
    b.harness.open(opened)
    assert open_or_begin(b.harness.documents, file) == (opened, False)
