"""A small development set, a real engine with the tiny model, and a program that replaces llama-server."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

FAKE = Path(__file__).with_name("fake_llama_server.py")
LINE = {
    "python": ("src/shop_{n}.py", "def price_{i}(value):\n    return value\n\n\n", "result = price_1(value) + 1"),
    "rust": (
        "src/shop_{n}.rs",
        "fn price_{i}(value: i32) -> i32 {{\n    value\n}}\n\n",
        "let result = price_1(value);",
    ),
    "typescript": (
        "src/shop_{n}.ts",
        "function price_{i}(value: number) {{\n  return value;\n}}\n\n",
        "const x = price_1(2);",
    ),
}


def write_set(folder: Path, files: int = 4) -> Path:
    """Write a set like `fim_repo` with `files` edits of each language."""
    rows: list[dict[str, object]] = []
    for language, (path, unit, gold) in LINE.items():
        for number in range(files):
            text = "".join(unit.format(i=i) for i in range(12))
            given = {"prefix": f"{text}# {number}\n", "suffix": f"\n{text}", "path": path.format(n=number)}
            rows.append({"lang": language, "input": given, "gold": gold})
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / "fim_repo.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


@pytest.fixture
def eval_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the set, name it by its variable, and return its folder."""
    folder = write_set(tmp_path / "data")
    monkeypatch.setenv("LSP_HARNESS_EVAL_DATA", str(folder))
    return folder


@pytest.fixture
def fake_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a program that replaces llama-server; it writes its requests to the file `seen` beside it."""
    program = tmp_path / "llama-server"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("LH_ANCHOR_SEEN", str(tmp_path / "seen"))
    return program


@pytest.fixture
def bench_shell(
    tmp_path: Path,
    home: Path,
    tiny_model: Path,
    eval_data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Shell:
    """Return a shell that runs commands in this process, with the tiny model."""
    monkeypatch.setenv("LSP_HARNESS_MODEL__PATH", str(tiny_model))
    monkeypatch.delenv("LSP_HARNESS_BENCH_ANCHOR", raising=False)
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys, monkeypatch)
