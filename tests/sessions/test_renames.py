"""Renames of parameters by a prompt, in the forms of functions that languages have."""

from pathlib import Path

import pytest

from lsp_harness.errors import NoAnswer
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


STORE = '''\
"""Rows. Begin with `load_all`."""

import os

__all__ = ["load_all", "Store"]

LIMIT = 3


def load_all(path):
    parts = path.split(os.sep)
    for part in parts:
        print(part)
    return parts[:LIMIT]


class Store:
    """Keeps what `load_all` and `Store.add` give."""

    def add(self, row):
        return self.add_twice(row)

    def add_twice(self, row):
        return [row, row]
'''
USER = """\
from store import Store, load_all


def count(path, load):
    load()
    return len(load_all(path)) + len(Store().add(1))
"""


@pytest.mark.parametrize(
    ("prompt", "changes"),
    [
        ("rename load_all to read_rows", [("load_all", "read_rows")]),
        (
            "pls rename the function load_all in store.py into read_rows and update all callers",
            [("load_all", "read_rows")],
        ),
        ("class Store => Shop", [("Store", "Shop")]),
        ("LIMIT should be called MAX_ROWS", [("LIMIT", "MAX_ROWS")]),
        ("method add_twice of Store shall be named add_two", [("add_twice", "add_two")]),
        ("rename Store.add to put", [(".add(", ".put("), ("def add(", "def put("), ("Store.add`", "Store.put`")]),
        ("rename the variable parts in load_all to names", [("parts", "names")]),
        ("in load_all call the parameter path just folder", []),
    ],
)
async def test_a_rename_changes_all_uses_of_a_name_and_nothing_else(
    open_scripted: OpenScripted, tmp_path: Path, prompt: str, changes: list[tuple[str, str]]
) -> None:
    opened = await open_scripted(driver="code")
    folder = tmp_path / "project"
    (folder / "store.py").write_text(STORE)
    (folder / "user.py").write_text(USER)
    stopped = await ask(opened, prompt)
    assert stopped.reason == "completed", stopped
    store, user = STORE, USER
    for old, new in changes:
        store = store.replace(old, new)
        user = user.replace(old, new) if old != "parts" else user
    if not changes:
        store = store.replace("load_all(path)", "load_all(folder)").replace("path.split", "folder.split")
    assert (folder / "store.py").read_text() == store
    assert (folder / "user.py").read_text() == user


async def test_a_name_that_is_taken_is_refused(open_scripted: OpenScripted, tmp_path: Path) -> None:
    opened = await open_scripted(driver="code")
    (tmp_path / "project" / "store.py").write_text(STORE)
    with pytest.raises(NoAnswer, match="has a Store already, in line 17; choose another name"):
        await ask(opened, "rename load_all to Store")


async def test_imports_stay_sorted_where_the_project_sorts_them(open_scripted: OpenScripted, tmp_path: Path) -> None:
    opened = await open_scripted(driver="code")
    folder = tmp_path / "project"
    (folder / "pyproject.toml").write_text('[tool.ruff.lint]\nextend-select = ["I"]\n')
    (folder / "store.py").write_text(STORE)
    (folder / "user.py").write_text("from store import LIMIT, load_all\n\nprint(LIMIT, load_all)\n")
    stopped = await ask(opened, "rename load_all to ALL")
    assert stopped.reason == "completed", stopped
    assert (folder / "user.py").read_text() == "from store import ALL, LIMIT\n\nprint(LIMIT, ALL)\n"


@pytest.mark.parametrize("prompt", ["rename load_all to read_everything", "function load_all => read_everything"])
async def test_a_follow_up_knows_the_new_name(open_scripted: OpenScripted, tmp_path: Path, prompt: str) -> None:
    opened = await open_scripted(driver="code")
    folder = tmp_path / "project"
    (folder / "store.py").write_text(STORE)
    await ask(opened, prompt)
    await ask(opened, "hm, rename it to read_rows please")
    assert (folder / "store.py").read_text() == STORE.replace("load_all", "read_rows")
