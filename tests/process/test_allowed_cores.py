"""The cores that a process may use: its affinity, and the limits of cgroups of both versions."""

from pathlib import Path

import pytest

from lsp_harness.process import allowed_cores
from lsp_harness.process.allowed_cores import count_allowed_cores


@pytest.fixture
def cgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a root of cgroups without limits, on a machine with 8 cores."""
    monkeypatch.setattr(allowed_cores, "CGROUP_ROOT", tmp_path)
    monkeypatch.setattr(allowed_cores, "PROCESS_CGROUPS", tmp_path / "self")
    monkeypatch.setattr(allowed_cores, "_count_affinity", lambda: 8)
    (tmp_path / "self").write_text("0::/user/editor\n")
    (tmp_path / "user" / "editor").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("max 100000", 8), ("50000 100000", 1), ("100000 100000", 1), ("150000 100000", 1), ("300000 100000", 3)],
)
def test_a_limit_of_time_is_rounded_down_to_whole_cores(cgroups: Path, limit: str, cores: int) -> None:
    (cgroups / "user" / "editor" / "cpu.max").write_text(f"{limit}\n")
    assert count_allowed_cores() == cores


def test_the_limit_of_a_parent_applies_too(cgroups: Path) -> None:
    (cgroups / "user" / "editor" / "cpu.max").write_text("max 100000\n")
    (cgroups / "user" / "cpu.max").write_text("200000 100000\n")
    assert count_allowed_cores() == 2


@pytest.mark.parametrize("controllers", ["cpu", "cpu,cpuacct"])
def test_the_first_version_of_cgroups_has_other_files(cgroups: Path, controllers: str) -> None:
    (cgroups / "self").write_text(f"3:cpuset:/\n2:{controllers}:/service\n1:memory:/other\n0::/\n")
    folder = cgroups / controllers / "service"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text("400000\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    assert count_allowed_cores() == 4
    (folder / "cpu.cfs_quota_us").write_text("-1\n")
    assert count_allowed_cores() == 8


def test_without_cgroups_the_affinity_gives_the_number_of_cores(cgroups: Path) -> None:
    (cgroups / "self").unlink()
    assert count_allowed_cores() == 8
