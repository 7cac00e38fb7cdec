"""Tests of `lsp-harness bench` from the command line to the last table, with the tiny model. They measure nothing."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from benchmarks.bench_cli import BENCHMARKS
from tests.cli.conftest import Shell

ROOT = Path(__file__).resolve().parents[3]
SIDE_REQUEST_COMMANDS = {"typing", "jump", "candidates", "preempt", "cancel", "share", "threads"}
"""Those that have an anchor to stand beside."""


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_runs_with_a_reference_server_beside_it(
    bench_shell: Shell, fake_server: Path, name: str
) -> None:
    # a rewrite is two answers of 900 tokens
    limit = "1" if name in ("lookup", "restart") else "2"
    ran = bench_shell.run("bench", name, "--limit", limit, "--anchor", str(fake_server), "--json")
    assert ran.code == 0, ran.err
    body = ran.json
    assert body["name"] == name
    assert body["figures"][0]["value"] is not None
    requests = [json.loads(line) for line in Path(bench_shell.folder / "seen").read_text().splitlines()][1:]
    assert bool(requests) == (name in SIDE_REQUEST_COMMANDS)
    assert any(figure["beside"] is not None for figure in body["figures"])
    assert f"a short run (--limit {limit}): not a measurement" in body["notes"]
    assert any(values for lines in body["series"].values() for values in lines.values())


def test_without_a_reference_server_the_report_has_only_our_figures(bench_shell: Shell) -> None:
    ran = bench_shell.run("bench", "typing", "--limit", "3")
    assert ran.code == 0, ran.err
    assert "no llama-server was given (--anchor or LSP_HARNESS_BENCH_ANCHOR): only our own figures" in ran.out
    assert "not measured" in ran.out
    assert "typing: 3 keys of 1 edits in python" in ran.out


def test_the_cursor_can_rest_before_each_edit(bench_shell: Shell) -> None:
    ran = bench_shell.run("bench", "typing", "--limit", "6", "--rest", "--json")
    assert "begins with a rest in which the full prompt is evaluated" in ran.json["notes"][0]
    figures = {figure["name"]: figure["value"] for figure in ran.json["figures"]}
    assert figures["keys answered from a short prompt"] == 0
    cold = bench_shell.run("bench", "typing", "--limit", "6", "--json")
    assert "begins with a cold prompt" in cold.json["notes"][0]


def test_the_reference_server_can_run_a_part_of_the_edits(bench_shell: Shell, fake_server: Path) -> None:
    ran = bench_shell.run(
        "bench", "jump", "--limit", "5", "--anchor", str(fake_server), "--anchor-every", "3", "--json"
    )
    told = [json.loads(line) for line in Path(bench_shell.folder / "seen").read_text().splitlines()][1:]
    assert len(told) == 2, ran.err
    assert "llama-server did one of 3 parts: edits, jumps or keys" in ran.json["notes"]


def test_the_anchor_can_be_named_by_the_environment(bench_shell: Shell, fake_server: Path) -> None:
    bench_shell.set("LSP_HARNESS_BENCH_ANCHOR", str(fake_server))
    ran = bench_shell.run("bench", "typing", "--limit", "3", "--json")
    assert ran.json["figures"][0]["beside"] == 250


def test_no_engine_and_no_file_is_left_behind(bench_shell: Shell, home: Path) -> None:
    from lsp_harness.inference.running_engines import list_engines

    before = sorted(home.rglob("*"))
    bench_shell.run("bench", "typing", "--limit", "1")
    assert list_engines() == []
    assert sorted(home.rglob("*")) == sorted({*before, home / "run"})


def test_missing_data_is_one_sentence(bench_shell: Shell, tmp_path: Path) -> None:
    bench_shell.set("LSP_HARNESS_EVAL_DATA", str(tmp_path / "nowhere"))
    ran = bench_shell.run("bench", "typing")
    assert (ran.code, ran.out) == (2, "")
    assert "set LSP_HARNESS_EVAL_DATA to the development set, or name a git repository with --repo" in ran.err
    assert "starting our engine" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--limit", "-1"), "--limit must be 0 (all) or more"),
        (("--anchor-every", "0"), "--anchor-every must be 1 (all) or more"),
        (("--anchor", "nowhere"), "nowhere is not a program"),
        (("--repo", "nowhere"), "cannot be read as a git repository"),
    ],
)
def test_bad_arguments_are_one_sentence(bench_shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    ran = bench_shell.run("bench", "typing", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_a_report_of_saved_results(bench_shell: Shell) -> None:
    saved = bench_shell.run("bench", "typing", "--limit", "2", "--json").out
    file = bench_shell.file("typing.json", saved)
    ran = bench_shell.run("bench", "report", str(file), str(file), "--out", "page.html")
    assert (ran.code, ran.out) == (0, "page.html: 2 benchmarks\n")
    assert (bench_shell.folder / "page.html").read_text().count("<h2>typing</h2>") == 2


def test_a_report_needs_results_and_a_place(bench_shell: Shell) -> None:
    other = bench_shell.file("other.json", "[]")
    ran = bench_shell.run("bench", "report", str(other))
    assert ran.code == 2
    assert "other.json is not a saved benchmark result" in ran.err


def test_a_benchmark_that_is_terminated_ends_its_engine(bench_shell: Shell, fake_server: Path, home: Path) -> None:
    seen = bench_shell.folder / "seen"
    argv = [sys.executable, "-m", "lsp_harness", "bench", "typing", "--anchor", str(fake_server)]
    process = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    children: list[psutil.Process] = []
    while not (seen.exists() and "/infill" in seen.read_text()):
        with suppress(subprocess.TimeoutExpired):
            pytest.fail(f"it ended with {process.wait(0.05)}")
        children = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    _, err = process.communicate()
    assert (process.returncode, err) == (130, b"")
    assert len(children) >= 2
    psutil.wait_procs(children, timeout=30)
    assert [child for child in children if child.is_running()] == []
