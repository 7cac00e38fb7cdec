"""Tests of llama-server for comparison, used as llama.vim does."""

import json
from pathlib import Path

import pytest

from benchmarks.engine.reference_server import PROGRAM_VARIABLE, find_program, make_infill_body, start_llama_server
from benchmarks.engine.timing import measure_stream
from lsp_harness.errors import EngineRefused, EngineUnavailable, UsageError


def test_an_infill_request_has_256_lines_above_the_cursor_and_slot_0() -> None:
    before = "".join(f"line {n}\n" for n in range(300)) + "  x = "
    after = "rest\n" + "".join(f"below {n}\n" for n in range(100))
    body = make_infill_body(before, after, 16)
    assert body["input_prefix"].startswith("line 44\n")
    assert body["input_prefix"].count("\n") == 256
    assert body["prompt"] == "  x = "
    assert body["input_suffix"].startswith("rest\nbelow 0\n")
    assert body["input_suffix"].endswith("below 63\n")
    assert (body["id_slot"], body["n_predict"], body["n_indent"], body["cache_prompt"]) == (0, 16, 2, True)
    assert body["samplers"] == ["top_k", "top_p", "infill"]


def test_a_request_on_a_blank_line_starts_at_column_0() -> None:
    body = make_infill_body("def f():\n    ", "\n", 16)
    assert (body["prompt"], body["n_indent"], body["input_suffix"]) == ("", 4, "\n\n")


def test_the_error_names_a_missing_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROGRAM_VARIABLE, raising=False)
    assert find_program(None) is None
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"nowhere is not a program; build llama-server as docs/benchmarks\.md says"):
        find_program(None)


async def test_llama_server_is_started_with_our_model_threads_and_layout(fake_server: Path, tmp_path: Path) -> None:
    async with start_llama_server(fake_server, tmp_path / "m.gguf", threads=3, n_ctx=4096, repack=False) as anchor:
        timing = await measure_stream(anchor.infill("a\nb", "c\n", 16))
        assert (timing.text, timing.usage.evaluated, timing.usage.reused, timing.generated) == ("ab", 250, 750, 16)
        await measure_stream(anchor.completion("x", 4, slot=2, temperature=0.8, seed=7))
        with pytest.raises(EngineRefused, match="answered 400"):
            await measure_stream(anchor.completion("refuse", 1))
    argv, infill, completion, _ = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert argv[argv.index("--model") + 1] == str(tmp_path / "m.gguf")
    assert [argv[argv.index(name) + 1] for name in ("--threads", "--ctx-size", "--cache-reuse")] == ["3", "4096", "256"]
    assert "--no-repack" in argv
    assert (infill["path"], infill["prompt"]) == ("/infill", "b")
    assert [completion[key] for key in ("path", "id_slot", "temperature", "seed")] == ["/completion", 2, 0.8, 7]


async def test_the_error_quotes_the_last_line_of_a_server_that_ends_at_once(tmp_path: Path) -> None:
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\necho cannot load >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(EngineUnavailable, match=r"it ended with 3; its last line: 'cannot load'"):
        async with start_llama_server(program, tmp_path / "m.gguf", threads=1, n_ctx=512, repack=True):
            pass
