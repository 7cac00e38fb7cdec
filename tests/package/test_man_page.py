"""The page for `man`: it names every command, and the programs that show it accept it."""

import re
import shutil
import subprocess

import pytest

from lsp_harness.cli.command_table import ALL_GROUPS, app
from tests.test_tidy import ROOT
from tools import man_page

PAGE = ROOT / "docs" / "lsp-harness.1"
MACROS = {"TH", "SH", "SS", "TP", "PP", "B", "BI", "BR", "I", "IR", "RI", "RB", "br"}
ESCAPE = re.compile(r"\\(?:-|&|f[BIR]|\((?:rs|dq|aq|ga|ti|ha)|\[u[0-9A-F]{4,5}\])")
SHOW_PAGE = {
    "groff": ["-man", "-Tascii", "-ww", "-z"],
    "man": ["--warnings=w", "--local-file"],
}
"""Program → the arguments with which it reads a page and reports what is wrong with it."""


def test_the_page_is_generated():
    assert PAGE.read_text(encoding="ascii") == man_page.render(), "run `make docs`"


def test_the_page_names_each_command_of_an_installed_package():
    shown = {line.replace(r"\-", "-") for line in PAGE.read_text().splitlines()}
    names = {match[1] for line in shown if (match := re.match(r"\\fBlsp-harness ([a-z -]+)\\fR", line))}
    commands = [row for rows in ALL_GROUPS.values() for row in rows]
    wanted = {row.name for row in commands if not row.has_subcommands and not row.is_measurement}
    for group in (row for row in commands if row.has_subcommands and not row.is_measurement):
        wanted |= {f"{group.name} {name}" for name in app[group.name] if not name.startswith("-")}
    assert names == wanted


def test_each_line_is_a_known_macro_or_an_escaped_text():
    lines = [line for line in PAGE.read_text().splitlines() if not line.startswith('.\\"')]
    unknown = [line for line in lines if line.startswith(".") and line[1:].split(" ")[0] not in MACROS]
    assert unknown == []
    texts = [line for line in lines if not line.startswith(".")]
    assert [line for line in texts if not line or line.startswith("'")] == []
    assert [line for line in lines if "\\" in ESCAPE.sub("", line)] == []


def test_a_text_is_shown_as_it_is():
    assert man_page.escape("a-b\\c “d” 'e'") == r"a\-b\(rsc \[u201C]d\[u201D] \(aqe\(aq"
    assert man_page.escape(".first") == r"\&.first"


@pytest.mark.parametrize("program", SHOW_PAGE)
def test_a_program_shows_the_page_without_a_warning(program: str):
    if not (found := shutil.which(program)):
        pytest.skip(f"{program} is not installed")
    argv = [found, *SHOW_PAGE[program], PAGE]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
