"""Renames of parameters by a prompt, in the forms of functions that languages have."""

from pathlib import Path

import pytest

from tests.sessions.conftest import OpenScripted, ask

ARROW = """/**
 * Splits a path.
 * @param path - The path, not empty
 */
export const splitPath = (path: string): string[] => path.split("/");
"""
FIELD = "export class Box {\n  size = 1;\n  scale = (factor: number) => {\n    return this.size * factor;\n  };\n}\n"
PYTHON = """\
def split(path):
    '''Split a path.

    Args:
        path: The path.
    '''
    return path.split("/")
"""


@pytest.mark.parametrize(
    ("name", "text", "prompt", "expected"),
    [
        (
            *("a.ts", ARROW, "rename the parameter path of splitPath to pathname"),
            ARROW.replace("@param path", "@param pathname")
            .replace("(path:", "(pathname:")
            .replace("path.split", "pathname.split"),
        ),
        (
            *("a.ts", FIELD, "rename the parameter factor of Box.scale to ratio"),
            FIELD.replace("factor", "ratio"),
        ),
        (
            *("a.py", PYTHON, "rename the parameter path of split to name"),
            PYTHON.replace("(path)", "(name)").replace("path:", "name:").replace("path.split", "name.split"),
        ),
    ],
)
async def test_a_rename_reaches_the_documentation_and_every_form_of_function(
    open_scripted: OpenScripted, tmp_path: Path, name: str, text: str, prompt: str, expected: str
) -> None:
    opened = await open_scripted(driver="code")
    (tmp_path / "project" / name).write_text(text)
    stopped = await ask(opened, prompt)
    assert stopped.reason == "completed", stopped
    assert (tmp_path / "project" / name).read_text() == expected
