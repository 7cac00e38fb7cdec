"""The files of a release: what must be in them, and that the same checkout gives the same bytes."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.test_tidy import ROOT
from tools import release_files

VERSION = "99.0.0"
PAGE = """# Title

![A picture](../images/a.png) ![Another](b.png)

Read [the page](../docs/page.md), [its end](page.md#end) and [this](#title). Alt+[ and [it](http://localhost).
"""


def write_zip(file: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file


def test_a_wheel_without_the_terminal_of_the_inspector_is_refused(tmp_path: Path):
    members = {"lsp_harness-99.0.0.dist-info/METADATA": "Metadata-Version: 2.4\nVersion: 98.0.0\n"}
    wheel = write_zip(tmp_path / "lsp_harness-99.0.0-py3-none-any.whl", members)
    faults = release_files.find_wheel_faults(wheel, VERSION)
    assert faults[0] == "its version is not 99.0.0"
    page = "lsp_harness-99.0.0.data/data/share/man/man1/lsp-harness.1"
    assert [name for name in (*release_files.WHEEL_FILES, page) if f"{name} is missing" not in faults] == []


def test_a_source_distribution_that_no_wheel_can_be_built_from_is_refused(tmp_path: Path):
    archive = tmp_path / "lsp_harness-99.0.0.tar.gz"
    release_files.write_archive(archive, {"lsp_harness-99.0.0/README.md": b""})
    faults = release_files.find_source_faults(archive, VERSION)
    assert {"pyproject.toml is missing", "docs/lsp-harness.1 is missing"} <= {*faults}
    assert "README.md is missing" not in faults


def test_an_extension_that_a_marketplace_cannot_show_is_refused(tmp_path: Path):
    members = dict.fromkeys([f"extension/{name}" for name in release_files.EXTENSION_MEMBERS], "")
    package = {"name": "lsp-harness", "version": "98.0.0", "keywords": []}
    asset = '<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/readme.md" />'
    members |= {"extension/package.json": json.dumps(package), "extension.vsixmanifest": asset}
    members["extension/readme.md"] = PAGE
    faults = release_files.find_extension_faults(write_zip(tmp_path / "a.vsix", members), VERSION)
    assert faults[0] == "its version is not 99.0.0"
    assert {"package.json has no icon", "package.json has no keywords"} <= {*faults}
    assert "the manifest has no Icons.Default" in faults
    assert "the manifest has no Content.Details" not in faults
    assert "its page has the relative link ../images/a.png" in faults
    empty = write_zip(tmp_path / "b.vsix", {"extension/package.json": "{}"})
    assert "extension/NOTICE is missing" in release_files.find_extension_faults(empty, VERSION)


def test_a_page_outside_of_the_repository_has_no_relative_links():
    page = release_files.remove_relative_links(PAGE)
    assert release_files.find_relative_links(page) == []
    assert "\n\nRead the page, its end and [this](#title). Alt+[ and [it](http://localhost).\n" in page
    assert "picture" not in page


def test_a_plugin_without_one_of_its_modules_is_refused(tmp_path: Path):
    archive = tmp_path / "plugin.tar.gz"
    members = dict.fromkeys(release_files.PLUGIN_MEMBERS, b"")
    members |= {"plugin/lsp_harness.lua": b"require('lsp_harness').x() require(\"lsp_harness.gone\")"}
    release_files.write_archive(archive, members)
    assert release_files.find_plugin_faults(archive) == ["the module lsp_harness.gone is missing"]
    release_files.write_archive(archive, {"README.md": b"[a](b.md)"})
    faults = release_files.find_plugin_faults(archive)
    assert {"LICENSE is missing", "doc/tags is missing", "README.md has the relative link b.md"} <= {*faults}


def test_the_archive_of_the_plugin_is_complete_and_always_the_same(tmp_path: Path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        archive = release_files.build_plugin(ROOT, folder, VERSION)
        assert release_files.find_plugin_faults(archive) == []
        release_files.write_sums(folder)
    first, second = (folder / f"lsp-harness.nvim-{VERSION}.tar.gz" for folder in folders)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as opened:
        owners = {(entry.uid, entry.gid, entry.uname, entry.mtime, entry.mode) for entry in opened}
    assert owners == {(0, 0, "", release_files.MEMBER_TIME, 0o644)}
    checked = subprocess.run(
        ["sha256sum", "-c", release_files.SUMS_FILE], cwd=folders[1], capture_output=True, text=True, check=True
    )
    assert checked.stdout == f"{second.name}: OK\n"


def test_the_places_of_the_help_are_those_that_neovim_finds(tmp_path: Path):
    neovim = Path(sys.executable).with_name("nvim")
    if not neovim.exists():
        pytest.skip("Neovim is not installed beside Python")
    pages = {f"doc/{file.name}": file.read_bytes() for file in (ROOT / release_files.PLUGIN / "doc").glob("*.txt")}
    for name, text in pages.items():
        (tmp_path / Path(name).name).write_bytes(text)
    argv = [neovim, "--clean", "--headless", "-c", f"helptags {tmp_path}", "-c", "qall!"]
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    subprocess.run(argv, check=True, capture_output=True, env={**os.environ, **home})
    assert release_files.make_help_tags(pages) == (tmp_path / "tags").read_bytes()
