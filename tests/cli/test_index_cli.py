"""`lsp-harness index`, `search` and `context`."""

import fcntl
import os
from typing import Any

import pytest

from lsp_harness.index.index_place import prepare_place
from tests.cli.conftest import Shell

SHAPES = "class Circle:\n    def area(self): ...\n    def parse_size(self): ...\n"
HERE = "from shapes import Circle\n\n\ndef grow(circle: Circle):\n    return circle.\n"


@pytest.fixture
def project(shell: Shell) -> Shell:
    shell.file("shapes.py", SHAPES)
    shell.file("here.py", HERE)
    shell.file("notes.txt", "How a circle grows.\n")
    shell.file("blob.py", b"\0\1\2")
    shell.file(".gitignore", "ignored.py\n")
    shell.file("ignored.py", "class Hidden: ...\n")
    return shell


def test_the_meaning_of_words_is_searched(project: Shell):
    result = project.run("search", "size")
    assert result.code == 0
    assert result.out.splitlines()[0] == "shapes.py:3: Circle.parse_size"
    assert result.out.splitlines()[1].startswith("  3: def parse_size(")
    [first, *_] = project.run("search", "parse_size", "--explain").out.splitlines()
    assert first == "shapes.py:3: Circle.parse_size  [name 1, words 1]"


def test_search_lists_each_file_once_with_the_matching_line_and_tests_last(project: Shell):
    project.file(
        "crypto.test.js",
        "describe('derive', () => {\n  it('makes a key', () => {\n    deriveKey('hmac')\n  })\n})\n" * 30,
    )
    project.file("crypto.js", "export function makeKey(salt) {\n  // derive by hmac\n  return salt\n}\n")
    out = project.run("search", "derive key hmac").out
    heads = [line for line in out.splitlines() if not line.startswith(" ")]
    assert heads[0] == "crypto.js:1: makeKey"
    assert "  2: // derive by hmac" in out
    assert len(heads) == len({*heads})
    tests = [line for line in heads if line.startswith("crypto.test.js")]
    assert tests
    assert not any(line.endswith(": text") for line in heads)
    assert "deriveKey('hmac')" in out
    # who asks for tests gets them first
    assert project.run("search", "tests that derive a key by hmac").out.startswith("crypto.test.js")


def test_search_prints_json_for_programs(project: Shell):
    [hit] = project.run("search", "size", "--limit", "1", "--json").json
    assert {name: hit[name] for name in ("path", "symbol", "kind", "line", "reasons")} == {
        "path": "shapes.py",
        "symbol": "Circle.parse_size",
        "kind": "method",
        "line": 2,
        "reasons": ["words 1"],
    }


def test_a_search_without_a_hit_has_status_1(project: Shell):
    nothing = "lsp-harness: nothing was found; try other words, or fewer of them\n"
    assert project.run("search", "zebra") == (1, "", nothing)
    assert project.run("search", "--files", "zebra") == (1, "", nothing)
    assert project.run("search", "zebra", "--json") == (1, "[]\n", "")


def test_code_that_has_to_do_with_a_place_or_a_symbol(project: Shell):
    project.file("shapes.py", SHAPES.replace("): ...\n", "):\n        return 1\n"))
    at = project.run("search", "--at", "here.py:4")
    assert at.out.splitlines()[0] == "shapes.py:1: Circle"
    assert not any(": grow" in line for line in at.out.splitlines())
    assert project.run("search", "--at", "here.py:5:5", "--limit", "1", "--json").json[0]["symbol"] == "Circle"
    first, *others = project.run("search", "--symbol", "Circle", "--explain").out.splitlines()
    assert first.startswith("shapes.py:1: Circle  [named 1,")
    assert any(line.startswith("here.py:4: grow") and "uses it" in line for line in others)
    assert project.run("search", "--symbol", "shapes.py:Circle").out.splitlines()[0] == "shapes.py:1: Circle"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], 'lsp-harness search "WORDS", --at FILE:LINE or --symbol NAME'),
        (["--at", "here.py:1", "--symbol", "grow"], "a search needs one of"),
        (["--at", "here.py"], "--at here.py:LINE"),
        (["--at", "here.py:99"], "line 99 is past its end"),
        (["--at", "ignored.py:1"], "the index has no file 'ignored.py'"),
        (["--at", "none.py:1"], "there is no file 'none.py'"),
        (["--at", "../outside.py:1"], "write its folder as well: lsp-harness search --at ../outside.py:1 FOLDER"),
        (["--symbol", "nothing"], "there is no symbol 'nothing' in this folder"),
        (["--symbol", "grow", "nowhere"], "there is no folder 'nowhere'"),
        (["--files", "--symbol", "grow"], 'lsp-harness search --files "WORDS"'),
    ],
)
def test_a_search_that_is_not_possible_says_what_to_do(project: Shell, arguments: list[str], says: str):
    project.file("../outside.py", "x = 1\n")
    result = project.run("search", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_the_files_that_a_report_is_about(project: Shell):
    report = 'parse_size fails: File "/srv/app/here.py", line 5, in grow'
    assert project.run("search", "--files", report).out.splitlines()[:2] == ["here.py", "shapes.py"]
    first, *_ = project.run("search", report, "--files", "--limit", "2", "--json").json
    assert first["path"] == "here.py"
    assert first["score"] > 0.2
    assert project.run("search", "--files", "zebra").out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "size"],
        ["search", "--files", "size"],
        ["search", "--symbol", "grow"],
        ["index", "graph", "grow"],
        ["index", "context", "grow"],
        ["index", "patterns"],
        ["index", "rebuild"],
    ],
)
def test_a_folder_that_is_not_to_be_indexed_is_not(project: Shell, arguments: list[str]):
    project.set("LSP_HARNESS_INDEX__ENABLED", "false")
    result = project.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "the setting index.enabled is false" in result.err
    assert not prepare_place(project.folder).database.exists()


def test_changed_files_are_searched(project: Shell):
    project.run("search", "size")
    project.file("new.py", "def zebra(): ...\n")
    assert project.run("search", "zebra").out == "new.py:1: zebra\n  1: def zebra(): ...\n"
    (project.folder / "new.py").unlink()
    assert project.run("search", "zebra").code == 1


def test_index_status_reports_the_contents_of_the_index(project: Shell):
    assert project.run("index", "status", "--json").json["files"] == 0
    result = project.run("index", "rebuild")
    assert result.out == "7 files, 7 of them read\n"
    output = project.run("index", "status", "--json").json
    assert (output["files"], output["symbols"], output["kept"]) == (7, 4, False)
    assert output["languages"] == {"python": 2, "toml": 2, "text": 2, "left out": 1}
    assert output["left_out"] == {"blob.py": "binary"}
    text = project.run("index", "status").out
    assert "blob.py: binary" in text
    assert "no process at the moment" in text


def test_index_status_refuses_a_folder_that_does_not_exist(project: Shell):
    assert project.run("index", "status", "nowhere") == (2, "", "lsp-harness: there is no folder 'nowhere'\n")


def test_indexes_of_folders_that_are_gone_are_removed(project: Shell):
    from lsp_harness.index.index_place import remove_orphaned_indexes

    other = project.folder.parent / "other"
    other.mkdir()
    place = prepare_place(other)
    assert remove_orphaned_indexes() == []
    other.rmdir()
    assert remove_orphaned_indexes() == [other]
    assert not place.folder.exists()


def test_context_prints_the_prompt_of_a_place_and_the_sources_of_its_parts(project: Shell):
    project.replies()
    prompt = project.run("context", "here.py:5:19").out
    assert prompt.startswith("# shapes.py\nclass Circle:\n    def area(self): ...\n")
    assert "return circle.<FILL>\n" in prompt
    project.replies()
    output = project.run("context", "here.py:5:19", "--json").json
    assert [(row["origin"], row["reason"]) for row in output["fragments"]] == [
        ("shapes.py", "defines what is used here"),
        ("here.py", "text after the cursor"),
        ("here.py", "text before the cursor"),
    ]
    project.replies()
    text = project.run("context", "here.py:5:19", "--explain").out
    assert "defines what is used here" in text
    assert "evaluated" in text


def test_doctor_knows_the_index(project: Shell):
    assert "this folder has no index yet" in project.run("doctor").out
    project.run("index", "rebuild")
    text = project.run("doctor").out
    assert "7 files of this folder" in text
    assert "declarations and imports are known in 2 python" in text


def test_index_context_prints_a_symbol_with_its_imports(project: Shell):
    project.file(
        "tools.py", "import os\nimport re\n\n\ndef parse_config(path):\n    return os.stat(path)\n\n\ndef broken(\n"
    )
    result = project.run("index", "context", "parse_config")
    assert result == (0, "# tools.py:5\nimport os\n\ndef parse_config(path):\n    return os.stat(path)\n", "")
    [output] = project.run("index", "context", "Circle.area", "--json").json
    assert (output["path"], output["line"], output["imports"]) == ("shapes.py", 1, [])
    assert project.run("index", "context", "other.py:parse_config").code == 2
    assert "'nothing'" in project.run("index", "context", "nothing").err


def test_context_prints_the_prompt_of_a_task(project: Shell):
    project.replies()
    prompt = project.run("context", "here.py:4", "--task", "make it twice as big").out
    assert "Instruction: make it twice as big" in prompt
    assert "# shapes.py\nclass Circle:\n    def area(self): ..." in prompt
    project.replies()
    output = project.run("context", "here.py:4", "--task", "grow", "--json").json
    reasons = [fragment["reason"] for fragment in output["fragments"]]
    assert reasons[-2:] == ["code to change", "the task"]
    assert output["answer"] > 256
    project.replies()
    assert "reserved for the answer" in project.run("context", "here.py:4", "--task", "grow", "--explain").out
    assert project.run("context", "here.py:4").code == 2


def test_hits_near_a_file_come_first(project: Shell):
    for folder in "ab":
        (project.folder / folder).mkdir()
    project.file("a/money.py", "def convert(amount): ...\n")
    project.file("b/money.py", "def convert(amount): ...\n")
    first, other = (line[0] for line in project.run("search", "convert").out.splitlines()[:4:2])
    project.file("till.py", f"from {other}.money import convert\n")
    near = project.run("search", "convert", "--near", "till.py", "--limit", "2").out.splitlines()[::2]
    assert (first != other, near) == (True, [f"{other}/money.py:1: convert", f"{first}/money.py:1: convert"])
    assert "the index has no file 'no.py'" in project.run("search", "convert", "--near", "no.py").err


def test_patterns_of_the_project_are_listed(project: Shell):
    assert project.run("index", "patterns") == (1, "", "")
    handler = "@app.get('/{0}')\ndef {0}(id):\n    return find(id, '{0}')\n\n\n"
    project.file("api.py", "".join(handler.format(name) for name in ("user", "order", "item")))
    project.file("test_it.py", "".join(f"def test_{name}():\n    assert 1\n" for name in "abcd"))
    result = project.run("index", "patterns")
    assert result.code == 0
    tests, handlers = result.out.splitlines()
    assert tests == "4 test functions: test_it.py:1 test_a"
    assert handlers.startswith("3 functions decorated with app.get: api.py:")
    [output] = project.run("index", "patterns", "--json", "--limit", "1").json
    assert output == {
        "name": "test functions",
        "language": "python",
        "count": 4,
        "representative": {"path": "test_it.py", "line": 0, "symbol": "test_a"},
    }
    assert project.run("index", "patterns", "nowhere").code == 2


def test_the_prompt_of_a_task_has_an_example(project: Shell):
    handler = "@app.get('/{0}')\ndef {0}(id):\n    return find(id, '{0}')\n\n\n"
    project.file("api.py", "".join(handler.format(name) for name in ("user", "order", "item")))
    project.replies()
    prompt = project.run("context", "api.py:7", "--task", "give 404").out
    assert prompt.index("How such code is written here") < prompt.index("def user") < prompt.index("def order")


def test_a_fix_without_an_editor_uses_the_index(project: Shell):
    project.file("broken.py", "def size():\n    return Circle()\n")
    project.replies()
    # to make an index is no business of a fix
    assert project.run("fix", "broken.py").code != 0
    project.run("index", "rebuild")
    project.replies()
    result = project.run("fix", "broken.py")
    assert "+from shapes import Circle" in result.out
    assert result.code == 0


def test_the_relations_of_a_symbol_are_listed(project: Shell):
    (project.folder / "tests").mkdir()
    project.file(
        "base.py", "from shapes import Circle\n\n\nclass Base:\n    'What is drawn.'\n\n    def draw(self): ...\n"
    )
    project.file(
        "shapes.py",
        "import json\nfrom base import Base as B\n\n\nclass Circle(B):\n    def area(self):\n        '''How large.'''\n"
        "        self.draw()\n        json.dumps(1)\n",
    )
    project.file(
        "use.py", "from shapes import Circle\n\n\ndef show(it):\n    Circle().area()\n    it.area()\n\n\nshow(1)\n"
    )
    project.file(
        "far.py", "class Circle:\n    def area(self): ...\n\n\ndef other(x):\n    Circle().area()\n    x.area()\n"
    )
    project.file("tests/test_use.py", "from use import show\n\n\ndef test_show():\n    show(1)\n")
    assert project.run("index", "graph", "shapes.py:Circle.area").out == (
        "shapes.py:6 Circle.area  How large.\n"
        "calls\n  base.py:7 Base.draw\n  shapes.py:9 json.dumps  unresolved\n"
        "called by\n  use.py:5 show\n  use.py:6 show  unresolved\n"
        "tests\n  tests/test_use.py:5 test_show, through show\n"
        "imported by\n  base.py\n  here.py\n  use.py\n"
        "import cycles\n  shapes.py > base.py > shapes.py\n"
    )
    [output] = project.run("index", "graph", "Base", "--json").json
    assert output == {
        "path": "base.py",
        "line": 3,
        "kind": "class",
        "symbol": "Base",
        "signature": "class Base:",
        "doc": "What is drawn.",
        "calls": [],
        "called_by": [],
        "inherits": [],
        "inherited_by": [{"path": "shapes.py", "line": 4, "name": "Circle", "sure": True, "through": ""}],
        "tests": [],
        "imported_by": ["shapes.py"],
        "cycles": [["base.py", "shapes.py", "base.py"]],
    }
    assert "use.py:9 (outside of functions)\n" in project.run("index", "graph", "show").out
    both = project.run("index", "graph", "Circle.area").out
    assert "\n\nshapes.py:6 Circle.area" in both
    assert project.run("index", "graph", "other.py:Circle").code == 2
    assert project.run("index", "graph", "nothing").err == (
        "lsp-harness: there is no symbol 'nothing' in this folder; lsp-harness search finds similar code\n"
    )
    assert project.run("index", "graph", "Circle", "nowhere").err == "lsp-harness: there is no folder 'nowhere'\n"


def test_the_first_line_of_documentation_is_shown(project: Shell):
    project.file("tools.py", "# parses it\ndef parse_config(path):\n    '''Reads the settings.\n\n    All.\n    '''\n")
    [hit, *_] = project.run("search", "parse_config", "--json").json
    assert (hit["symbol"], hit["doc"]) == ("parse_config", "Reads the settings.")
    assert project.run("search", "parse_config", "--explain").out.splitlines()[0].endswith("]  Reads the settings.")
    assert "Reads" not in project.run("search", "parse_config").out
    [output] = project.run("index", "context", "parse_config", "--json").json
    assert output["doc"] == "Reads the settings."


def test_a_file_that_cannot_be_read_is_reported(project: Shell, monkeypatch: pytest.MonkeyPatch):
    project.run("index", "rebuild")
    read = os.open

    def refused(path: Any, *arguments: Any, **more: Any) -> int:
        if str(path).endswith("here.py"):
            raise PermissionError(13, "Permission denied")
        return read(path, *arguments, **more)

    monkeypatch.setattr(os, "open", refused)
    assert project.run("search", "--at", "here.py:4") == (
        2,
        "",
        "lsp-harness: here.py cannot be read: Permission denied; give yourself the right to read it (chmod u+r)\n",
    )


@pytest.mark.parametrize(
    "command",
    [("search", "--symbol", "\udcff"), ("search", "size", "--near", "\udcff.py"), ("index", "graph", "a\udcff")],
)
def test_a_name_that_is_not_utf_8_is_not_found(project: Shell, command: tuple[str, ...]):
    result = project.run(*command)
    # the index can hold no such name
    assert result.code == 2
    assert "there is no symbol" in result.err or "the index has no file" in result.err


def test_a_name_can_be_written_as_in_other_languages(project: Shell):
    project.file("cart.rs", "struct Cart;\n\nimpl Cart {\n    fn total(&self) -> u8 {\n        1\n    }\n}\n")
    for name in ("Cart::total", "cart.rs:Cart::total", "Cart.total"):
        assert project.run("search", "--symbol", name).out.splitlines()[0] == "cart.rs:4: Cart.total"
        assert project.run("index", "graph", name).out.startswith("cart.rs:4 Cart.total")
        assert "fn total" in project.run("index", "context", name).out


def test_a_symbol_that_has_left_its_file_is_reported(project: Shell):
    project.run("index", "rebuild")
    project.file("shapes.py", "")
    with open(prepare_place(project.folder).lock, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = project.run("index", "context", "Circle.area")
    assert (result.code, result.out) == (2, "")
    assert "'Circle.area' is no longer in its file" in result.err
