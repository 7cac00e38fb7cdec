"""What a text declares, and what the workspace does, as editors ask for it."""

from pathlib import Path

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, ResponseError

TEXT = "# 𐐀\nclass Circle:\n    def area(self):\n        return 1\n\n\nlimit = 3\n"


def pick(symbol: dict, *names: str) -> tuple:
    return tuple(symbol[name] for name in names)


def start(range: dict) -> tuple[int, int]:
    return range["start"]["line"], range["start"]["character"]


async def test_an_outline_is_a_tree_where_the_client_shows_one(spawn: Spawn):
    editor = await spawn("vscode")
    editor.open("file:///a.py", TEXT)
    found = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.py"}})

    [circle, limit] = found
    [area] = circle["children"]
    assert [pick(one, "name", "kind") for one in (circle, area, limit)] == [("Circle", 5), ("area", 6), ("limit", 13)]
    assert (start(area["range"]), start(area["selectionRange"])) == ((2, 4), (2, 8))
    assert circle["range"]["end"] == {"line": 3, "character": 16}


async def test_others_get_a_list(spawn: Spawn):
    editor = await spawn("plain")
    editor.open("file:///a.py", TEXT)
    found = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.py"}})

    assert [(one["name"], one.get("containerName")) for one in found] == [
        ("Circle", None),
        ("area", "Circle"),
        ("limit", None),
    ]


async def test_a_text_in_no_language_we_know_declares_nothing(spawn: Spawn):
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


async def found(editor: Editor, query: str, wanted: int) -> list[dict]:
    """Symbols of the workspace, as soon as there are so many: the index is made while the test asks."""
    while len(symbols := await editor.request("workspace/symbol", {"query": query})) != wanted:
        assert editor.process.returncode is None
    return symbols


async def test_symbols_of_the_workspace(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    [circle, area] = await found(editor, "circle", 2)
    assert pick(circle, "name", "kind") == ("Circle", 5)
    assert circle["location"]["uri"] == (workspace / "shapes.py").as_uri()
    assert pick(area, "name", "kind") == ("CircleArea", 12)
    [radius] = await found(editor, "radius", 1)
    # counted as the client counts
    assert radius["location"]["range"] == {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 14}}
    [method] = await found(editor, "Circle.area", 1)
    assert method["containerName"] == "Circle"


async def test_an_open_text_counts_as_it_is_and_not_as_it_is_on_disk(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await found(editor, "circle", 2)
    uri = (workspace / "shapes.py").as_uri()
    editor.open(uri, "\n\nclass CircleDraft: ...\n")
    [_, draft] = await found(editor, "circle", 2)
    assert (draft["name"], start(draft["location"]["range"])) == ("CircleDraft", (2, 6))
    editor.close_document(uri)
    assert [one["name"] for one in await found(editor, "circle", 2)] == ["Circle", "CircleArea"]


async def test_what_changes_on_disk_is_seen_by_two_servers_that_share_one_process(spawn: Spawn, workspace: Path):
    one = await spawn("vscode", rootUri=workspace.as_uri())
    other = await spawn("vscode", rootUri=workspace.as_uri())
    await found(one, "circle", 2)
    await found(other, "circle", 2)
    (workspace / "new.py").write_text("class CircleNew: ...\n")
    await found(one, "circle", 3)
    await found(other, "circle", 3)
    (workspace / "new.py").unlink()
    await found(one, "circle", 2)
    await found(other, "circle", 2)


async def test_folders_come_and_go(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode")
    folder = {"uri": workspace.as_uri(), "name": "ws"}
    assert await found(editor, "circle", 0) == []
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    await found(editor, "circle", 2)
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
    await found(editor, "circle", 0)


async def test_of_a_workspace_that_is_not_trusted_nothing_is_indexed(spawn: Spawn, workspace: Path, tmp_path: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri(), initializationOptions={"trusted": False})
    assert await editor.request("workspace/symbol", {"query": "circle"}) == []
    assert not (tmp_path / "home/cache/index").exists()


async def test_where_nobody_knows_better_definitions_and_references_are_guessed(spawn: Spawn, workspace: Path):
    (workspace / "use.py").write_text("from shapes import Circle\n\n'é'; Circle().area()\n# Circle\n")
    asks = {"capabilities": {"experimental": {"lspHarness": {"fallback": True}}}, "rootUri": workspace.as_uri()}
    editor = await spawn("plain", **asks)
    await found(editor, "circle", 2)
    uri = (workspace / "use.py").as_uri()
    # what is open counts, not what is on disk
    editor.open(uri, "\n" + (workspace / "use.py").read_text())
    at = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 7}}

    # what an import means is known a moment later than what is declared
    while len(found_there := await editor.request("textDocument/definition", at)) != 1:
        assert editor.process.returncode is None
    [declared] = found_there
    assert (declared["uri"], start(declared["range"])) == ((workspace / "shapes.py").as_uri(), (1, 6))
    everywhere = await editor.request("textDocument/references", at | {"context": {"includeDeclaration": True}})
    assert [(Path(one["uri"]).name, start(one["range"])) for one in everywhere] == [
        ("shapes.py", (1, 6)),
        ("use.py", (1, 19)),
        ("use.py", (3, 5)),
    ]
    others = await editor.request("textDocument/references", at | {"context": {"includeDeclaration": False}})
    assert len(others) == 2


async def test_whoever_has_not_said_so_gets_no_guesses(spawn: Spawn):
    editor = await spawn(None)
    said = await editor.initialize("nvim")
    assert not {"definitionProvider", "referencesProvider"} & said["capabilities"].keys()
    for method in ("textDocument/definition", "textDocument/references"):
        with pytest.raises(ResponseError, match="not supported"):
            await editor.request(method, {})


async def test_references_are_found_by_what_an_import_calls_it(spawn: Spawn, workspace: Path):
    """From the alias, and from the declaration."""
    (workspace / "use.py").write_text("from shapes import Circle as Ring\n\nRing()\n")
    (workspace / "other.py").write_text("import shapes\n\nshapes.Circle()\n")
    (workspace / "plain.py").write_text("class Ring: ...\n\n\nRing()\n")
    asks = {"capabilities": {"experimental": {"lspHarness": {"fallback": True}}}, "rootUri": workspace.as_uri()}
    editor = await spawn("plain", **asks)
    await found(editor, "circle", 2)
    expected = [("other.py", (2, 7)), ("shapes.py", (1, 6)), ("use.py", (0, 29)), ("use.py", (2, 0))]
    for name, line, character in (("use.py", 2, 1), ("shapes.py", 1, 7)):
        uri = (workspace / name).as_uri()
        editor.open(uri, (workspace / name).read_text())
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        asked = at | {"context": {"includeDeclaration": True}}
        # what imports mean is known a moment later than what is declared
        while len(listed := await editor.request("textDocument/references", asked)) < len(expected):
            assert editor.process.returncode is None
        assert [(Path(one["uri"]).name, start(one["range"])) for one in listed] == expected
