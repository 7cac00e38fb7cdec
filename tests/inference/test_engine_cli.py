"""Tests of `lsp-harness engine` with a running engine."""

import asyncio
import json
from pathlib import Path

import psutil
import pytest

from lsp_harness.cli.commands import engine_cli as cli
from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.errors import ConfigError, EngineUnavailable
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.running_engines import list_engines


async def start(config: Config) -> int:
    client = EngineClient(config)
    props = await client.props()
    await client.aclose()
    return props.pid


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, also when its parent (this process) has not reaped it yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def test_status_lists_the_running_engine(home: Path, config: Config, capsys: pytest.CaptureFixture[str]):
    pid = await start(config)

    assert cli.status(json=True) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["pid"], row["props"]["model_alias"]) == (pid, "tiny")
    assert Path(row["socket"]).parent == home / "run"
    assert row["rss_bytes"] > 2**20
    assert cli.status() == 0
    out = capsys.readouterr().out
    assert str(pid) in out
    assert "tiny" in out


def test_start_starts_one_engine_and_keeps_it(
    home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("LSP_HARNESS_MODEL__PATH", str(tiny_model))
    monkeypatch.setenv("LSP_HARNESS_ENGINE__THREADS", "1")
    items: list[int] = []
    for _ in range(2):
        assert cli.start(json=True) == 0
        (row,) = json.loads(capsys.readouterr().out)
        items.append(row["pid"])
    assert items[0] == items[1]
    assert cli.start() == 0
    assert f"tiny (process {items[0]}" in capsys.readouterr().out
    assert cli.stop() == 0
    assert has_ended(items[0])
    monkeypatch.setenv("LSP_HARNESS_ENGINE__URL", "http://gpu-1:8080")
    with pytest.raises(ConfigError, match="no local engine to start"):
        cli.start()


async def test_stop_ends_the_engine(home: Path, config: Config, capsys: pytest.CaptureFixture[str]):
    process = psutil.Process(await start(config))

    assert await asyncio.to_thread(cli.stop, json=True) == 0
    assert json.loads(capsys.readouterr().out) == [process.pid]
    # it is gone when that is said
    assert has_ended(process.pid)
    assert list_engines() == []
    assert not list(paths.runtime_folder().glob("*.sock"))


def test_the_commands_say_that_no_engine_runs(home: Path, capsys: pytest.CaptureFixture[str]):
    assert (cli.status(), cli.stop(), cli.status(json=True), cli.stop(json=True)) == (0, 0, 0, 0)
    assert capsys.readouterr().out == (
        "no engine is running; the first request starts one\nno engine is running\n[]\n[]\n"
    )


def test_a_socket_without_a_process_is_no_engine(home: Path):
    (paths.runtime_folder() / "engine-0.sock").touch()

    assert list_engines() == []


def test_logs_show_the_end_of_each(home: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(EngineUnavailable, match="no engine has written a log"):
        cli.logs()
    for name in "ab":
        (paths.state_folder() / f"engine-{name}.log").write_text("".join(f"{name}{n}\n" for n in range(9)))

    assert cli.logs(lines=2) == 0
    state = paths.state_folder()
    assert capsys.readouterr().out.replace("\n", " ") == (
        f"== {state}/engine-a.log a7 a8 == {state}/engine-b.log b7 b8 "
    )
