"""The files of a release, built from a checkout: `python -m tools.release_files FOLDER [python] [vscode] [neovim]`.

The wheel and the source distribution, the extension of VS Code, the archive of the Neovim plugin, and the hashes of all
of them. Each file is looked into after it was built. The same checkout gives the same bytes: members have a fixed
order, date and owner. `tools/release_trials.py` installs the files.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENDOR = Path("lsp_harness", "api", "page", "vendor")
EXTENSION = Path("editors", "vscode")
PLUGIN = Path("editors", "neovim")
MEMBER_TIME = 1_580_601_600
"""The date of all members of archives, in seconds. It is the one that hatchling gives by itself."""
TERMINAL_FILES = tuple((VENDOR / name).as_posix() for name in ("xterm.mjs", "addon-fit.mjs", "xterm.css"))
"""The terminal of the inspector, which git ignores and `make xterm` copies."""
WHEEL_FILES = (*TERMINAL_FILES, (VENDOR / "xterm.LICENSE").as_posix())
LICENCE_FILES = ("LICENSE", "NOTICE")
MAN_PAGE = "lsp-harness.1"
EXTENSION_FILE = "lsp-harness.vsix"
EXTENSION_MEMBERS = ("package.json", "readme.md", "changelog.md", "LICENSE.txt", "NOTICE", "out/extension.js")
EXTENSION_FIELDS = (
    *("name", "displayName", "description", "publisher", "license", "icon", "categories", "keywords"),
    *("engines", "extensionKind", "preview", "capabilities"),
)
"""Fields of `package.json` that Open VSX and the marketplace of VS Code show, or that decide where it runs."""
EXTENSION_ASSETS = ("Content.Details", "Content.Changelog", "Content.License", "Icons.Default")
"""Endings of the types of assets in the manifest of an extension: the pages and the icon of a marketplace."""
PLUGIN_MEMBERS = (
    *("README.md", "CHANGELOG.md", "LICENSE", "doc/lsp_harness.txt", "doc/tags", "lsp/lsp_harness.lua"),
    *("lua/lsp_harness/init.lua", "plugin/lsp_harness.lua"),
)
SUMS_FILE = "SHA256SUMS"
KINDS = ("python", "vscode", "neovim")


class ReleaseError(Exception):
    """A release is not possible. The text says why, and what to do."""


def run(root: Path, *command: str, date: int | None = None) -> str:
    """Run a program in the repository and return its output. Raise ReleaseError if it fails.

    Args:
        root: The repository.
        command: The program and its arguments.
        date: The date that the program gives to what it makes, in seconds. By default it is the present.
    """
    # a test that starts a release has variables for its own pytest
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    if date is not None:
        variables["SOURCE_DATE_EPOCH"] = str(date)
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=variables)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout.strip()


def read_version(root: Path) -> str:
    """Return the version in `pyproject.toml`."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def check_file(file: Path, faults: Iterable[str]) -> Path:
    """Return the file, or raise ReleaseError with what is wrong with it."""
    if found := "; ".join(faults):
        raise ReleaseError(f"{file.name}: {found}")
    return file


def build_distributions(root: Path, folder: Path) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it. Return both files."""
    run(root, sys.executable, "-m", "build", "--outdir", str(folder), date=MEMBER_TIME)
    version = read_version(root)
    [source] = folder.glob(f"lsp_harness-{version}.tar.gz")
    [wheel] = folder.glob(f"lsp_harness-{version}-*.whl")
    return source, wheel


def find_source_faults(archive: Path, version: str) -> list[str]:
    """Return what is wrong with a source distribution: its version, and the files that it lacks."""
    with tarfile.open(archive) as opened:
        names = set(opened.getnames())
    prefix = f"lsp_harness-{version}"
    wanted = ("PKG-INFO", "pyproject.toml", "README.md", f"docs/{MAN_PAGE}", *LICENCE_FILES, *WHEEL_FILES)
    return [f"{name} is missing" for name in wanted if f"{prefix}/{name}" not in names]


def find_wheel_faults(wheel: Path, version: str) -> list[str]:
    """Return what is wrong with a wheel: its version, its licences, and the terminal of the inspector."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        is_version = f"\nVersion: {version}\n" in archive.read(metadata).decode()
    info = metadata.removesuffix("METADATA")
    page = f"{info.removesuffix('.dist-info/')}.data/data/share/man/man1/{MAN_PAGE}"
    wanted = [*WHEEL_FILES, page, *(f"{info}licenses/{name}" for name in LICENCE_FILES)]
    faults = [f"{name} is missing" for name in wanted if name not in names]
    return faults if is_version else [f"its version is not {version}", *faults]


def build_extension(root: Path, folder: Path) -> Path:
    """Build the extension of VS Code."""
    run(root / EXTENSION, "npm", "run", "--silent", "package", date=MEMBER_TIME)
    return Path(shutil.copy(root / EXTENSION / EXTENSION_FILE, folder / EXTENSION_FILE))


def find_extension_faults(file: Path, version: str) -> list[str]:
    """Return what is wrong with an extension: files, its version, and what marketplaces and Open VSX show of it."""
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        wanted = (f"extension/{name}" for name in EXTENSION_MEMBERS)
        if faults := [f"{name} is missing" for name in wanted if name not in names]:
            return faults
        package = json.loads(archive.read("extension/package.json"))
        manifest = archive.read("extension.vsixmanifest").decode()
        page = archive.read("extension/readme.md").decode()
    faults = [f"package.json has no {name}" for name in EXTENSION_FIELDS if not package.get(name)]
    assets = re.findall(r'<Asset Type="[\w.]*?\.Services\.([\w.]+)" Path="([^"]+)"', manifest)
    shown = {kind for kind, path in assets if path in names}
    faults += [f"the manifest has no {kind}" for kind in EXTENSION_ASSETS if kind not in shown]
    faults += [f"its page has the relative link {link}" for link in find_relative_links(page)]
    return faults if package.get("version") == version else [f"its version is not {version}", *faults]


def find_relative_links(page: str) -> list[str]:
    """Return the links of a page in Markdown that lead to files."""
    return re.findall(r"\]\((?!\w+:|#)([^)\s]+)\)", page)


def remove_relative_links(page: str) -> str:
    """Return a page without links to files, which keeps their words, and without pictures."""
    pictures = re.compile(r"!\[[^\[\]]*\]\((?!\w+:)[^)]*\)")
    lines = [line for line in page.split("\n") if not line.strip() or pictures.sub("", line).strip()]
    text = re.sub(r"\[([^\[\]]*)\]\((?!\w+:|#)[^)]*\)", r"\1", pictures.sub("", "\n".join(lines)))
    return re.sub(r"\n{3,}", "\n\n", text)


def build_plugin(root: Path, folder: Path, version: str) -> Path:
    """Build the archive of the Neovim plugin. Its root is the plugin, so that it is unpacked into a package folder."""
    listed = run(root / PLUGIN, "git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    files = [name for name in listed if not name.startswith(".") and (root / PLUGIN / name).is_file()]
    members = {name: (root / PLUGIN / name).read_bytes() for name in files}
    members |= {name: (root / name).read_bytes() for name in ("LICENSE", "CHANGELOG.md")}
    for name in ("README.md", "CHANGELOG.md"):
        members[name] = remove_relative_links(members[name].decode()).encode()
    members["doc/tags"] = make_help_tags({name: text for name, text in members.items() if name.startswith("doc/")})
    archive = folder / f"lsp-harness.nvim-{version}.tar.gz"
    write_archive(archive, members)
    return archive


def make_help_tags(pages: dict[str, bytes]) -> bytes:
    """Return the file by which `:help` finds its places, as `:helptags` writes it."""
    tags = [
        (tag, Path(name).name)
        for name, text in pages.items()
        for tag in re.findall(r"(?:^|(?<=\s))\*([^*\s|]+)\*(?=\s|$)", text.decode(), re.MULTILINE)
    ]
    return "".join(f"{tag}\t{file}\t/*{tag}*\n" for tag, file in sorted(tags)).encode()


def write_archive(archive: Path, members: dict[str, bytes]) -> None:
    """Write a compressed archive with these members, the same bytes each time."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as opened:
        for name, content in sorted(members.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), MEMBER_TIME, 0o644
            opened.addfile(entry, io.BytesIO(content))
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=MEMBER_TIME) as packed:
        packed.write(raw.getvalue())


def find_plugin_faults(archive: Path) -> list[str]:
    """Return what is wrong with the archive of the plugin: files, and the modules that one of them names."""
    with tarfile.open(archive) as opened:
        texts = {entry.name: opened.extractfile(entry) for entry in opened if entry.isfile()}
        contents = {name: file.read().decode() for name, file in texts.items() if file}
    faults = [f"{name} is missing" for name in PLUGIN_MEMBERS if name not in contents]
    required = {
        name for text in contents.values() for name in re.findall(r"require\(?\s*['\"](lsp_harness[\w.]*)['\"]", text)
    }
    files = {name: f"lua/{name.replace('.', '/')}" for name in sorted(required)}
    missing = [name for name, path in files.items() if not {f"{path}.lua", f"{path}/init.lua"} & contents.keys()]
    faults += [f"the module {name} is missing" for name in missing]
    return [
        *faults,
        *(f"README.md has the relative link {link}" for link in find_relative_links(contents["README.md"])),
    ]


def write_sums(folder: Path) -> Path:
    """Write the SHA-256 of each file of a folder, in the form that `sha256sum -c` reads."""
    sums = folder / SUMS_FILE
    files = sorted(path for path in folder.iterdir() if path.is_file() and path != sums)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    sums.write_text("".join(lines), encoding="utf-8")
    return sums


def build_files(root: Path, folder: Path, kinds: Sequence[str], say: Callable[[str], None]) -> list[Path]:
    """Build the files of these kinds and their hashes, and look into them. Return the files.

    Args:
        root: The checkout.
        folder: The folder of the files, which must exist.
        kinds: Some of `KINDS`.
        say: Gets a line for each file, and for each part of a file that this machine lacks.

    Raises:
        ReleaseError: A program failed, or a file is not complete.
    """
    version = read_version(root)
    built: list[Path] = []
    if "python" in kinds:
        source, wheel = build_distributions(root, folder)
        faults = {source: find_source_faults(source, version), wheel: find_wheel_faults(wheel, version)}
        if not (root / VENDOR).is_dir():
            say(f"left out: the terminal of the inspector is not in {VENDOR}: run `make xterm`")
            faults = {file: [fault for fault in found if "/vendor/" not in fault] for file, found in faults.items()}
        built += [check_file(file, found) for file, found in faults.items()]
    if "vscode" in kinds:
        extension = build_extension(root, folder)
        built.append(check_file(extension, find_extension_faults(extension, version)))
    if "neovim" in kinds:
        plugin = build_plugin(root, folder, version)
        built.append(check_file(plugin, find_plugin_faults(plugin)))
    built.append(write_sums(folder))
    for file in built:
        say(f"{file.name} ({file.stat().st_size:,} bytes)")
    return built


def main(arguments: Sequence[str] | None = None) -> int:
    """Build files into a folder."""
    folder, *kinds = sys.argv[1:] if arguments is None else arguments
    target = Path(folder).absolute()
    target.mkdir(parents=True, exist_ok=True)
    try:
        build_files(ROOT, target, kinds or KINDS, print)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
