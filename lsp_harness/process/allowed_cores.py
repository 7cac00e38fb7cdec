"""The number of processor cores that this process may use.

A container or a service often sees all cores of its machine and may use a part of them only. More threads than allowed
cores make llama.cpp much slower, because its threads wait for each other.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")
PROCESS_CGROUPS = Path("/proc/self/cgroup")
"""The cgroups of this process, one line for each hierarchy: `number:controllers:path`."""


def count_allowed_cores() -> int:
    """Return the number of cores, at least 1: the affinity of the process, and the time that its cgroups allow.

    Half a core counts as one, because there is no smaller number of threads. One and a half count as one too, because
    two threads would have to wait in every period of the scheduler.
    """
    quota = min(_read_quotas(PROCESS_CGROUPS, CGROUP_ROOT), default=float("inf"))
    cores = _count_affinity()
    return max(1, int(min(quota, cores)))


def find_cgroup() -> Path | None:
    """Return the folder of this process's cgroup of version 2, or None if it has none."""
    paths = (path for controllers, path in _read_memberships(PROCESS_CGROUPS) if not controllers)
    path = next(paths, None)
    return None if path is None else CGROUP_ROOT / path.strip("/")


def _count_affinity() -> int:
    """Return the number of cores of the cpuset. Only Linux reports one."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_memberships(process_cgroups: Path) -> Iterator[tuple[str, str]]:
    """Yield the controllers and the path of each cgroup of this process. Cgroups of version 2 name no controllers."""
    try:
        lines = process_cgroups.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        yield controllers, path


def _read_quotas(process_cgroups: Path, root: Path) -> Iterator[float]:
    """Yield the limits of this process in cores: each cgroup has its own, and its parents limit it too."""
    for controllers, path in _read_memberships(process_cgroups):
        if not controllers:
            yield from _read_upwards(root, path, "cpu.max")
        elif "cpu" in controllers.split(","):
            folders = {root / controllers, root / "cpu"}
            yield from (quota for folder in folders for quota in _read_upwards(folder, path, "cpu.cfs_quota_us"))


def _read_upwards(root: Path, path: str, name: str) -> Iterator[float]:
    """Yield the limits of a cgroup and of its parents."""
    folder = root / path.strip("/")
    for cgroup in (folder, *folder.parents):
        quota = _read_quota(cgroup / name)
        if quota is not None:
            yield quota
        if cgroup == root:
            return


def _read_quota(file: Path) -> float | None:
    """Return the limit in cores, or None if the file has none."""
    try:
        words = file.read_text(encoding="ascii").split()
        if file.name == "cpu.cfs_quota_us":
            words.append(file.with_name("cpu.cfs_period_us").read_text(encoding="ascii").strip())
        quota_us, period_us = (float(word) for word in words)
    except (OSError, ValueError):
        # `max` in cgroup v2 is no number
        return None
    return quota_us / period_us if quota_us > 0 and period_us > 0 else None
