"""The formatters of projects: which one a project configures, and what of its answer is kept."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.text.position import decode
from lsp_harness.verify.project_tools.changed_line_format import ChangedLineFormat, select_formatted_lines
from lsp_harness.verify.project_tools.formatters import FORMATTERS, find_formatter
from tests.verify.project_tools.workbench import Workbench


@pytest.mark.parametrize(
    ("settings", "file", "expected"),
    [
        ({"pyproject.toml": "[tool.ruff.format]\n"}, "a.py", "ruff format"),
        ({"ruff.toml": "[format]\nquote-style = 'single'\n"}, "a.py", "ruff format"),
        ({".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: ruff-format\n"}, "a.py", "ruff format"),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 100\n"}, "a.py", ""),
        ({".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: ruff\n"}, "a.py", ""),
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n"}, "a.pyi", "black"),
        ({".pre-commit-config.yaml": "- hooks: [{\n    id: black # newest\n  }]\n"}, "a.py", "black"),
        ({"pyproject.toml": "[tool.black]\n"}, "a.ts", ""),
        ({".prettierrc": "{}"}, "src/a.tsx", "prettier"),
        ({"prettier.config.mjs": ""}, "a.js", "prettier"),
        ({"package.json": '{"prettier": {"semi": false}}'}, "a.js", "prettier"),
        ({"package.json": '{"devDependencies": {"prettier": "3"}}'}, "a.js", ""),
        ({"Cargo.toml": "[package]\n"}, "a.rs", ""),
        ({"Cargo.toml": "[package]\n", "rustfmt.toml": ""}, "src/a.rs", "rustfmt"),
        ({"go.mod": "module a\n"}, "b/a.go", "gofmt"),
        ({"pyproject.toml": "[tool.black]\n", "lib/ruff.toml": "[format]\n"}, "lib/a.py", "ruff format"),
        ({"pyproject.toml": "[tool.black]\n", "lib/ruff.toml": "[format]\n"}, "a.py", "black"),
    ],
)
def test_only_a_formatter_that_the_project_configures_is_used(
    tmp_path: Path, settings: Mapping[str, str], file: str, expected: str
) -> None:
    for name, text in settings.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = find_formatter(tmp_path, tmp_path / file)
    assert (found.name if found else "") == expected


def test_the_edition_of_rust_is_that_of_the_crate_or_its_workspace(tmp_path: Path) -> None:
    rustfmt = next(one for one in FORMATTERS if one.name == "rustfmt")
    (tmp_path / "Cargo.toml").write_text("[workspace.package]\nedition = '2024'\n")
    (tmp_path / "crate").mkdir()
    (tmp_path / "crate/Cargo.toml").write_text("[package]\nedition.workspace = true\n")
    command = rustfmt.create_command("rustfmt", tmp_path, tmp_path / "crate/lib.rs")
    assert command[-2:] == ["--edition", "2024"]
    (tmp_path / "crate/Cargo.toml").write_text("[package]\nedition = '2021'\n")
    assert rustfmt.create_command("rustfmt", tmp_path, tmp_path / "crate/lib.rs")[-1] == "2021"


@pytest.mark.parametrize(
    ("before", "after", "formatted", "expected"),
    [
        # a line far from the change stays as it is
        ("a=1\nb = 2\nc = 3\n", "a=1\nb = 2\nc=4\n", "a = 1\nb = 2\nc = 4\n", "a=1\nb = 2\nc = 4\n"),
        # blank lines below an added block belong to it
        ("a = 1\n", "def f(): ...\na = 1\n", "def f(): ...\n\n\na = 1\n", "def f(): ...\n\n\na = 1\n"),
        # where lines were only removed, the blank lines around them count
        ("a = 1\n\nb = 2\n\nc=3\n", "a = 1\n\n\nc=3\n", "a = 1\n\nc = 3\n", "a = 1\n\nc=3\n"),
        ("a=1\n", "a=1\n", "a = 1\n", "a=1\n"),
        # lines side by side that only differ in blanks are looked at one by one
        ("a=1\nb=2\nc=3\n", "a=1\nb=5\nc=3\n", "a = 1\nb = 5\nc = 3\n", "a=1\nb = 5\nc=3\n"),
        # one line may become several
        ("f(1)\ng=1\n", "f(1,2)\ng=1\n", "f(\n  1,\n  2,\n)\ng = 1\n", "f(\n  1,\n  2,\n)\ng=1\n"),
        # a file that is indented in another way keeps its indentation
        ("{\n  a;\n  b;\n}\n", "{\n  a;\n  c;\n}\n", "{\n\ta;\n\tc;\n}\n", "{\n  a;\n  c;\n}\n"),
        ("{\n  a;\n}\n", "{\nb;\n}\n", "{\n\tb;\n}\n", "{\n\tb;\n}\n"),
    ],
)
def test_only_changed_lines_are_formatted(before: str, after: str, formatted: str, expected: str) -> None:
    assert decode(select_formatted_lines(before.encode(), after.encode(), formatted.encode())) == expected


class FormatBench:
    """A project with a formatter.

    Attributes:
        asked: The commands that the permission gate was asked about.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench, self.asked = bench, bench.asked
        self.format = ChangedLineFormat(bench.tools.access)

    async def propose(self, before: str, after: str, settings: str = "[format]\n") -> tuple[str, tuple[str, ...]]:
        """Return the formatted text of a changed file, and why it was not formatted."""
        self._bench.write({"ruff.toml": settings, "a.py": ""})
        (self._bench.root / "a.py").write_bytes(before.encode())
        changes = self._bench.propose({"a.py": ""})
        changed = type(changes).of(changes.main.with_after(after.encode()))
        result = await self.format.format(changed)
        return decode(result.changes.main.after.data), result.refusals


@pytest.fixture
async def bench(workbench: Workbench) -> FormatBench:
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")
    return FormatBench(workbench)


@pytest.mark.process
async def test_ruff_formats_what_an_edit_changes(bench: FormatBench) -> None:
    old = "x = {'a':1}\n\ndef f():\n    return 1\n"
    new = "x = {'a':1}\n\ndef f():\n    return g( 'a',1 )\n"
    text, refusals = await bench.propose(old, new)
    assert (text, refusals) == ("x = {'a':1}\n\ndef f():\n    return g(\"a\", 1)\n", ())
    await bench.format.aclose()


@pytest.mark.process
async def test_line_ends_and_the_byte_order_mark_stay(bench: FormatBench) -> None:
    text, refusals = await bench.propose("\ufeffa = 1\nb = 2\n".replace("\n", "\r\n"), "\ufeffa=2\r\nb = 2\r\n")
    assert (text, refusals) == ("\ufeffa = 2\r\nb = 2\r\n", ())
    await bench.format.aclose()


@pytest.mark.process
async def test_lines_keep_the_indentation_of_the_lines_around(bench: FormatBench) -> None:
    # the formatter indents by four blanks, and the last line would leave the first block
    old = "if a:\n  if b:\n    c()\n\n  d()\n"
    assert await bench.propose(old, old.replace("c()", "c( )")) == (old, ())
    await bench.format.aclose()


@pytest.mark.process
async def test_a_formatter_that_fails_changes_nothing_and_says_why(bench: FormatBench) -> None:
    text, refusals = await bench.propose("a = 1\n", "a=2\n", "[format]\nquote-style = 'none'\n")
    assert text == "a=2\n"
    assert len(refusals) == 1
    assert refusals[0].startswith("ruff format failed: ")
    await bench.format.aclose()


@pytest.mark.process
async def test_no_formatter_runs_on_a_text_with_a_syntax_error_or_without_settings(bench: FormatBench) -> None:
    assert await bench.propose("a = 1\n", "a=(2\n") == ("a=(2\n", ())
    assert await bench.propose("a = 1\n", "a=2\n", "") == ("a=2\n", ())
    assert bench.asked == []


async def test_the_permission_gate_is_asked_first(workbench: Workbench) -> None:
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")
    bench = FormatBench(workbench)
    workbench.objection = "ruff may not run"
    assert await bench.propose("a = 1\n", "a=2\n") == ("a=2\n", ("ruff may not run",))
    assert [command[1:] for command in bench.asked] == [("format",)]


async def test_a_formatter_that_is_missing_is_named_with_its_settings(workbench: Workbench) -> None:
    workbench.write({".prettierrc": "{}", "a.ts": "let a = 1;\n"})
    changes = workbench.propose({"a.ts": "let a=2;\n"})
    result = await ChangedLineFormat(workbench.tools.access).format(changes)
    assert result.changes.main.after.data == b"let a=2;\n"
    assert result.refusals == (".prettierrc asks for prettier, which is not installed (npm install)",)
