"""The other places of files that are mounted twice."""

from pathlib import Path

import pytest

from lsp_harness.process.sandbox.mount_places import find_other_places

DISK = "1 0 8:1 / / rw - ext4 /dev/sda rw\n"


@pytest.mark.parametrize(
    ("root", "place", "path", "found"),
    [
        ("/", "wsl disk", "home/.ssh", ["wsl disk{tmp}/home/.ssh"]),
        ("{tmp}/home", "copy", "home/.ssh", ["copy/.ssh"]),
        # a part of the folder is mounted somewhere else
        ("{tmp}/home/.ssh", "keys", "home", ["keys"]),
        ("{tmp}/other", "copy", "home/.ssh", []),
    ],
)
def test_a_file_is_found_at_each_mount_point_of_its_file_system(
    root: str, place: str, path: str, found: list[str], tmp_path: Path
) -> None:
    expected = [tmp_path / name.format(tmp=tmp_path) for name in found]
    for folder in (tmp_path / path, *expected):
        folder.mkdir(parents=True, exist_ok=True)
    escaped = str(tmp_path / place).replace(" ", "\\040")
    table = f"{DISK}2 1 8:1 {root.format(tmp=tmp_path)} {escaped} rw - ext4 /dev/sda rw\n"
    assert find_other_places([tmp_path / path], table.encode()) == expected


def test_a_file_system_that_is_mounted_once_has_no_other_places(tmp_path: Path) -> None:
    assert find_other_places([tmp_path], f"{DISK}2 1 8:2 / {tmp_path}/other rw - ext4 /dev/sdb rw\n".encode()) == []
