"""A cell of a notebook as the linter reads it: within the notebook on disk, so that names of other cells are known.

An editor sends the text of one cell with the path of the notebook. The other cells are taken as they are saved.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.text.position import decode

SUFFIX = ".ipynb"
MAX_NOTEBOOK_BYTES = 10_000_000
MAX_COMPARED_CHARS = 20_000
MIN_SIMILARITY = 0.6
"""How much of two texts must be the same, from 0 to 1, so that one is a later state of the other."""
RULES_ABOUT_OTHER_CELLS = frozenset({"F401", "F811"})
"""Rules that depend on the place of a cell: whether an import is used, and whether a name is defined twice."""
CELL_MAGIC = re.compile(r"(?:\s*(?:#[^\n]*)?\n)*%%(\w+)")
"""The first line of a cell that is handed to another program, after blank lines and comments."""
PYTHON_MAGIC = re.compile(r"capture|prun|pypy|python3?|time|timeit")
"""The magics whose cells ruff reads as Python."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CellInNotebook:
    """A notebook that has a cell in it.

    Attributes:
        data: The notebook as a file.
        number: The number of the cell, from 1, among its cells. All of them have code.
        is_placed: Whether the place of the cell in the notebook is known. If not, it is the last one.
    """

    data: bytes
    number: int
    is_placed: bool


def find_other_language(data: bytes) -> str:
    """Return the magic (`%%bash`) by which a cell is no Python, or an empty text."""
    match = CELL_MAGIC.match(decode(data))
    return f"%%{match[1]}" if match and not PYTHON_MAGIC.fullmatch(match[1]) else ""


def place_cell(data: bytes, notebook: Path) -> CellInNotebook:
    """Return the notebook on disk with a text in the place of the cell that it is a later state of.

    Args:
        data: The text of the cell.
        notebook: The file. It may be missing, as that of a new notebook is.
    """
    text = decode(data)
    cells = [*_read_cells(notebook)]
    index = _find_most_similar(text, cells)
    if index is None:
        cells.append(text)
    else:
        cells[index] = text
    written: Json = {"cells": [*map(_to_cell, cells)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    is_placed = index is not None or len(cells) == 1
    return CellInNotebook(json.dumps(written).encode(), (len(cells) if index is None else index + 1), is_placed)


def _read_cells(notebook: Path) -> Iterator[str]:
    """Yield the texts of the cells with code."""
    try:
        value: Any = json.loads(read_text(notebook, MAX_NOTEBOOK_BYTES))
    except (FileError, ValueError, RecursionError):
        return
    cells: Any = cast("Json", value).get("cells") if isinstance(value, dict) else None
    for cell in cast("list[Any]", cells) if isinstance(cells, list) else []:
        if isinstance(cell, dict) and cast("Json", cell).get("cell_type") == "code":
            source: Any = cast("Json", cell).get("source", "")
            yield "".join(map(str, cast("list[Any]", source))) if isinstance(source, list) else str(source)


def _find_most_similar(text: str, cells: Sequence[str]) -> int | None:
    """Return the index of the cell that has the same text, or nearly the same one, or None."""
    if text in cells:
        return cells.index(text)
    matcher = SequenceMatcher(None, b=text[:MAX_COMPARED_CHARS])
    best, best_ratio = None, MIN_SIMILARITY
    for index, cell in enumerate(cells):
        matcher.set_seq1(cell[:MAX_COMPARED_CHARS])
        if matcher.real_quick_ratio() >= best_ratio and matcher.quick_ratio() >= best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio or (ratio == best_ratio and best is None):
                best, best_ratio = index, ratio
    return best


def _to_cell(source: str) -> Json:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
