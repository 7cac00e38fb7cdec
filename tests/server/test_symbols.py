"""The declarations of a text and of the workspace, definitions and references, as editors request them."""

from pathlib import Path

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, ResponseError

TEXT = "# 𐐀\nclass Circle:\n    def area(self):\n        return 1\n\n\nlimit = 3\n"


def read_values(symbol: dict, *names: str) -> tuple:
    return tuple(symbol[name] for name in names)


def start_of(range: dict) -> tuple[int, int]:
    return range["start"]["line"], range["start"]["character"]


async def test_an_outline_is_a_tree_where_the_client_shows_one(spawn: Spawn):
    editor = await spawn("vscode")
    editor.open("file:///a.py", TEXT)
    symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.py"}})

    [circle, limit] = symbols
    [area] = circle["children"]
    assert [read_values(symbol, "name", "kind") for symbol in (circle, area, limit)] == [
        ("Circle", 5),
        ("area", 6),
        ("limit", 13),
    ]
    assert (start_of(area["range"]), start_of(area["selectionRange"])) == ((2, 4), (2, 8))
    assert circle["range"]["end"] == {"line": 3, "character": 16}


async def test_a_client_without_trees_gets_a_list_of_symbols(spawn: Spawn):
    editor = await spawn("plain")
    editor.open("file:///a.py", TEXT)
    symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.py"}})

    assert [(symbol["name"], symbol.get("containerName")) for symbol in symbols] == [
        ("Circle", None),
        ("area", "Circle"),
        ("limit", None),
    ]


async def test_a_text_in_an_unknown_language_has_no_symbols(spawn: Spawn):
    editor = await spawn("vscode")
    editor.open("file:///a.odd", TEXT, language="odd")
    assert await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.odd"}}) == []


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "shapes.py").write_text("𐐀 = 1; radius = 2\nclass Circle:\n    def area(self): ...\n")
    (folder / "other.go").write_text("package other\n\nfunc CircleArea() int { return 1 }\n")
    return folder


async def wait_for_symbols(editor: Editor, query: str, count: int) -> list[dict]:
    """Return the symbols of the workspace as soon as there are so many. The index is built while the test runs."""
    while len(symbols := await editor.request("workspace/symbol", {"query": query})) != count:
        assert editor.process.returncode is None
    return symbols


async def test_symbols_of_the_workspace_are_found(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    [circle, area] = await wait_for_symbols(editor, "circle", 2)
    assert read_values(circle, "name", "kind") == ("Circle", 5)
    assert circle["location"]["uri"] == (workspace / "shapes.py").as_uri()
    assert read_values(area, "name", "kind") == ("CircleArea", 12)
    [radius] = await wait_for_symbols(editor, "radius", 1)
    # in UTF-16 units, as the client counts
    assert radius["location"]["range"] == {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 14}}
    [method] = await wait_for_symbols(editor, "Circle.area", 1)
    assert method["containerName"] == "Circle"


async def test_symbols_of_an_open_text_replace_those_on_disk(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await wait_for_symbols(editor, "circle", 2)
    uri = (workspace / "shapes.py").as_uri()
    editor.open(uri, "\n\nclass CircleDraft: ...\n")
    [_, draft] = await wait_for_symbols(editor, "circle", 2)
    assert (draft["name"], start_of(draft["location"]["range"])) == ("CircleDraft", (2, 6))
    editor.close_document(uri)
    assert [symbol["name"] for symbol in await wait_for_symbols(editor, "circle", 2)] == ["Circle", "CircleArea"]


async def test_a_change_on_disk_is_seen_by_two_servers_that_share_one_process(spawn: Spawn, workspace: Path):
    first = await spawn("vscode", rootUri=workspace.as_uri())
    second = await spawn("vscode", rootUri=workspace.as_uri())
    await wait_for_symbols(first, "circle", 2)
    await wait_for_symbols(second, "circle", 2)
    (workspace / "new.py").write_text("class CircleNew: ...\n")
    await wait_for_symbols(first, "circle", 3)
    await wait_for_symbols(second, "circle", 3)
    (workspace / "new.py").unlink()
    await wait_for_symbols(first, "circle", 2)
    await wait_for_symbols(second, "circle", 2)


async def test_folders_come_and_go(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode")
    folder = {"uri": workspace.as_uri(), "name": "ws"}
    assert await wait_for_symbols(editor, "circle", 0) == []
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    await wait_for_symbols(editor, "circle", 2)
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
    await wait_for_symbols(editor, "circle", 0)


async def test_a_workspace_that_is_not_trusted_is_not_indexed(spawn: Spawn, workspace: Path, tmp_path: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri(), initializationOptions={"trusted": False})
    assert await editor.request("workspace/symbol", {"query": "circle"}) == []
    assert not (tmp_path / "home/cache/index").exists()


async def test_without_another_server_definitions_and_references_are_guessed(spawn: Spawn, workspace: Path):
    (workspace / "use.py").write_text("from shapes import Circle\n\n'é'; Circle().area()\n# Circle\n")
    options = {"capabilities": {"experimental": {"lspHarness": {"fallback": True}}}, "rootUri": workspace.as_uri()}
    editor = await spawn("plain", **options)
    await wait_for_symbols(editor, "circle", 2)
    uri = (workspace / "use.py").as_uri()
    # the open text counts, not the file on disk
    editor.open(uri, "\n" + (workspace / "use.py").read_text())
    params = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 7}}

    # the index resolves imports a moment after it has the declarations
    while len(locations := await editor.request("textDocument/definition", params)) != 1:
        assert editor.process.returncode is None
    [declaration] = locations
    assert (declaration["uri"], start_of(declaration["range"])) == ((workspace / "shapes.py").as_uri(), (1, 6))
    references = await editor.request("textDocument/references", params | {"context": {"includeDeclaration": True}})
    assert [(Path(location["uri"]).name, start_of(location["range"])) for location in references] == [
        ("shapes.py", (1, 6)),
        ("use.py", (1, 19)),
        ("use.py", (3, 5)),
    ]
    uses = await editor.request("textDocument/references", params | {"context": {"includeDeclaration": False}})
    assert len(uses) == 2


async def test_a_client_that_does_not_ask_for_guesses_gets_none(spawn: Spawn):
    editor = await spawn(None)
    result = await editor.initialize("nvim")
    assert not {"definitionProvider", "referencesProvider"} & result["capabilities"].keys()
    for method in ("textDocument/definition", "textDocument/references"):
        with pytest.raises(ResponseError, match="not supported"):
            await editor.request(method, {})


async def test_references_are_found_under_an_imported_alias(spawn: Spawn, workspace: Path):
    """References are requested at the alias, and at the declaration."""
    (workspace / "use.py").write_text("from shapes import Circle as Ring\n\nRing()\n")
    (workspace / "other.py").write_text("import shapes\n\nshapes.Circle()\n")
    (workspace / "plain.py").write_text("class Ring: ...\n\n\nRing()\n")
    options = {"capabilities": {"experimental": {"lspHarness": {"fallback": True}}}, "rootUri": workspace.as_uri()}
    editor = await spawn("plain", **options)
    await wait_for_symbols(editor, "circle", 2)
    expected = [("other.py", (2, 7)), ("shapes.py", (1, 6)), ("use.py", (0, 29)), ("use.py", (2, 0))]
    for name, line, character in (("use.py", 2, 1), ("shapes.py", 1, 7)):
        uri = (workspace / name).as_uri()
        editor.open(uri, (workspace / name).read_text())
        params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        params |= {"context": {"includeDeclaration": True}}
        # the index resolves imports a moment after it has the declarations
        while len(references := await editor.request("textDocument/references", params)) < len(expected):
            assert editor.process.returncode is None
        assert [(Path(location["uri"]).name, start_of(location["range"])) for location in references] == expected
