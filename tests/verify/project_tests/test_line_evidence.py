"""The lines of Python files that a run records, and the lines of a change that it should record."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Change
from lsp_harness.verify.project_tests import line_evidence
from lsp_harness.verify.project_tests.recorded_lines import (
    list_changed_lines,
    read_lines,
    startup_environment,
    write_request,
    write_startup,
)

pytestmark = pytest.mark.process

RAN, NOT_RUN = "# ran", "# not run"
RUN_S = 30.0


def find_lines_with(source: str, *marks: str) -> set[int]:
    return {number for number, line in enumerate(source.splitlines(), 1) if line.endswith(marks)}


def run_marked(source: str, lines: set[int]) -> set[int]:
    """Return which lines a program records when it runs."""
    seen: set[int] = set()

    def mark(number: int, ran: tuple[int, ...]) -> None:
        assert number == 7
        seen.update(ran)

    tree = line_evidence.add_marks(source, 7, lines)
    assert isinstance(tree, ast.Module)
    exec(compile(tree, "program.py", "exec"), {line_evidence.MARK: mark, "__name__": "program"})
    return seen


PROGRAMS = {
    "if": """
flag = 2  # ran
if flag == 1:  # ran
    a = 1  # not run
elif flag == 2:  # ran
    a = 2  # ran
elif flag == 3:  # not run
    a = 3  # not run
else:
    a = 4  # not run
if flag == 1: a = 5  # ran
""",
    "else": """
if []:  # ran
    a = 1  # not run
else:
    # a comment
    a = 2  # ran
""",
    "try with an error": """
try:  # ran
    int("x")  # ran
    a = 1  # not run
except TypeError:  # not run
    a = 2  # not run
except (  # ran
    ValueError,  # ran
):  # ran
    a = 3  # ran
else:
    a = 4  # not run
finally:
    a = 5  # ran
""",
    "try without an error": """
try:  # ran
    a = 1  # ran
except ValueError:  # not run
    a = 2  # not run
else:
    a = 3  # ran
finally:
    a = 4  # ran
""",
    "match": """
match (1, 2):  # ran
    case (0, _):  # not run
        a = 1  # not run
    case (1, second) if second > 5:  # not run
        a = 2  # not run
    case (1, second):  # ran
        a = 3  # ran
    case _:  # not run
        a = 4  # not run
""",
    "loops": """
for item in (1, 2):  # ran
    if item == 2:  # ran
        continue  # ran
    a = item  # ran
else:
    b = 1  # ran
while a > 5:  # ran
    a = 0  # not run
else:
    c = 1  # ran
for item in (1, 2):  # ran
    break  # ran
else:
    d = 1  # not run
""",
    "with": """
import contextlib  # ran
with contextlib.suppress(  # ran
    ZeroDivisionError  # ran
):  # ran
    a = 1 / 0  # ran
    b = 1  # not run
""",
    "statements of several lines": """
a = [  # ran
    1,  # ran
    # a comment within a statement counts as one of its lines  # ran
    2,  # ran
]; b = 1  # ran
if a == [  # ran
    3,  # ran
]:  # ran
    c = (  # not run
        1  # not run
    )  # not run
""",
    "class": '''
class Empty:  # ran
    """A docstring."""

    size = 1  # ran

    def grow(self):  # not run
        """A docstring."""
        return self.size + 1  # not run

    class Inner:  # ran
        depth = 2  # ran
''',
    "functions": '''
import functools  # ran

@functools.lru_cache(  # ran
    maxsize=1  # ran
)  # ran
def called(  # ran
    a,  # ran
    b=2,  # ran
):  # ran
    """A docstring
    of two lines."""
    def inner():  # not run
        return 1  # not run
    return a  # ran

@functools.lru_cache  # not run
def never(a):  # not run
    return a  # not run

async def waiting():  # not run
    return 1  # not run

def generate():  # ran
    yield 1  # ran
    yield 2  # not run

called(1)  # ran
next(generate())  # ran
''',
    "a docstring and imports from the future": '''"""A module
of two lines."""

from __future__ import annotations
from __future__ import division

import os  # ran
"a text that is no docstring"  # ran
''',
    "functions that other tools compile": """
def njit(function):  # ran
    return function  # ran

class numba:  # ran
    @staticmethod  # ran
    def vectorize(*types):  # ran
        return njit  # ran

@njit
def fast(a):
    return a

@numba.vectorize(["f8(f8)"])
def faster(a):
    return a

fast(1)  # ran
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_lines_that_run_are_recorded(source: str) -> None:
    everything = set(range(1, len(source.splitlines()) + 1))
    assert run_marked(source, everything) == find_lines_with(source, RAN)
    assert find_lines_with(source, RAN, NOT_RUN) == line_evidence.list_lines(source, everything)


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_only_chosen_lines_are_recorded(source: str) -> None:
    ran = sorted(find_lines_with(source, RAN))
    chosen = {ran[0], ran[-1], *find_lines_with(source, NOT_RUN)}
    assert run_marked(source, chosen) == {ran[0], ran[-1]}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_without_chosen_lines_is_not_changed(source: str) -> None:
    assert ast.dump(line_evidence.add_marks(source, 7, set())) == ast.dump(ast.parse(source))


class Processes:
    """Python processes that begin with the program that records lines of one module."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder
        self.module = folder / "mod.py"
        self.module.write_text(source)
        self.lines = {self.module.resolve(): frozenset(range(1, len(source.splitlines()) + 1))}
        self.out = folder / "out"
        self.startup = write_startup(folder)
        write_request(folder / "request.json", self.lines, self.out)

    def run(self, code: str) -> str:
        own = startup_environment(self.startup, self.folder / "request.json")
        env = {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", code]
        result = subprocess.run(
            command, env=env, cwd=self.folder, capture_output=True, text=True, timeout=RUN_S, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout.strip()

    def recorded(self) -> dict[Path, frozenset[int]]:
        return read_lines(self.out.read_text(), self.lines)


SOURCE = "def halve(n):\n    if n > 5:\n        return n / 2\n    return n\n"


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path, SOURCE)


def test_a_process_of_a_process_records_the_lines_of_a_module(processes: Processes) -> None:
    inner = "import mod; mod.halve(8); mod.halve(9)"
    processes.run(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)")
    assert processes.recorded() == {processes.module: frozenset({1, 2, 3})}
    # each process writes a line once
    assert len(processes.out.read_text().splitlines()) == 3


def test_several_processes_record_into_one_file(processes: Processes) -> None:
    processes.run("import mod; mod.halve(8)")
    processes.run("import mod; mod.halve(1)")
    assert processes.recorded() == {processes.module: frozenset({1, 2, 3, 4})}


def test_a_module_that_is_imported_by_a_link_is_recorded(processes: Processes) -> None:
    linked = processes.folder / "linked"
    linked.mkdir()
    (linked / "other.py").symlink_to(processes.module)
    processes.run("import sys; sys.path.insert(0, 'linked'); import other; other.halve(8)")
    assert processes.recorded() == {processes.module: frozenset({1, 2, 3})}


def test_a_module_with_a_syntax_error_raises_this_error(tmp_path: Path) -> None:
    processes = Processes(tmp_path, "def halve(:\n")
    code = "try:\n    import mod\nexcept SyntaxError as error:\n    print(error.lineno, error.filename)"
    assert processes.run(code) == f"1 {processes.module}"


def test_a_customization_of_the_project_is_still_imported(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import builtins\nbuiltins.project_is_set_up = True\nNAME = 'project'\n")
    monkeypatch.setenv("PYTHONPATH", str(other))
    code = "import builtins, sitecustomize, mod; print(builtins.project_is_set_up, sitecustomize.NAME); mod.halve(8)"
    assert processes.run(code) == "True project"
    assert processes.recorded() == {processes.module: frozenset({1, 2, 3})}


def test_the_folder_of_the_program_is_not_on_the_path(processes: Processes) -> None:
    assert processes.run("import os, sys; print([p for p in sys.path if 'startup' in os.path.basename(p)])") == "[]"


def test_tools_that_trace_lines_are_left_alone(processes: Processes) -> None:
    code = """
import json, sys, threading
found = [sys.gettrace(), sys.getprofile(), getattr(threading, "_trace_hook", None)]
lines = []
def trace(frame, event, argument):
    if frame.f_code.co_filename.endswith("mod.py") and event == "line":
        lines.append(frame.f_lineno)
    return trace
sys.settrace(trace)
import mod
mod.halve(8)
is_kept = sys.gettrace() is trace
sys.settrace(None)
print(json.dumps([found, is_kept, sorted(set(lines))]))
"""
    assert json.loads(processes.run(code)) == [[None, None, None], True, [1, 2, 3]]


@pytest.mark.parametrize("request_text", ["", "{}", "{", '{"files": {}}'])
def test_an_invalid_request_records_no_lines(request_text: str, processes: Processes) -> None:
    (processes.folder / "request.json").write_text(request_text)
    assert processes.run("import mod; print(mod.halve(8))") == "4.0"
    assert not processes.out.exists()


def test_records_of_other_lines_and_files_do_not_count(tmp_path: Path) -> None:
    lines = {tmp_path / "a.py": frozenset({1, 2}), tmp_path / "b.py": frozenset({3})}
    text = "0:1\n0:9\n1:3\n2:1\n-1:3\nx:1\n0:\n\n0:2"
    assert read_lines(text, lines) == {tmp_path / "a.py": frozenset({1, 2}), tmp_path / "b.py": frozenset({3})}


def change_text(before: str, after: str) -> Change:
    file = Path("/project/mod.py")
    old, new = (Document.from_text(file.as_uri(), text, language="python") for text in (before, after))
    return Change.from_documents(old, new, file)


BLOCK = "def clean(items):\n    items.sort()\n    items.reverse()\n    return items\n"


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        pytest.param(BLOCK, BLOCK.replace("reverse", "clear"), {3}, id="a changed line"),
        pytest.param(BLOCK, BLOCK.replace("    items.reverse()\n", ""), {2, 3}, id="a removed line"),
        pytest.param(BLOCK, BLOCK.replace("    items.sort()\n", ""), {1, 2}, id="a removed first line"),
        pytest.param(BLOCK, BLOCK.replace("    return items\n", ""), {3}, id="a removed last line"),
        pytest.param(BLOCK + "x = 1\n", BLOCK, {4}, id="a removed end"),
        pytest.param("x = 1\n" + BLOCK, BLOCK, {1}, id="a removed beginning"),
        pytest.param(BLOCK, BLOCK.replace("    items.reverse()\n", "    # nothing\n"), set[int](), id="a comment"),
        pytest.param('def f():\n    "a"\n', 'def f():\n    "b"\n', set[int](), id="a docstring"),
        pytest.param(BLOCK, BLOCK.replace("sort()", "sort(\n        key=str,\n    )"), {2, 3, 4}, id="several lines"),
        pytest.param(BLOCK, BLOCK + "\n\n# end\nclean(\n", {8}, id="a text that this Python cannot parse"),
    ],
)
def test_the_lines_of_a_change_are_those_that_can_run(before: str, after: str, lines: set[int]) -> None:
    assert list_changed_lines(change_text(before, after)) == lines


def test_two_removed_places_have_neighbours_of_both() -> None:
    text = "".join(f"a{number} = {number}\n" for number in range(1, 10))
    edits = [Edit(text.index(f"a{n} ="), text.index(f"a{n + 1} ="), b"") for n in (3, 7)]
    before = Document.from_text("file:///project/mod.py", text, language="python")
    change = Change.from_edits(before, edits, Path("/project/mod.py"))
    # a2 and a4, a6 and a8
    assert list_changed_lines(change) == {2, 3, 5, 6}
