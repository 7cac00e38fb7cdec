"""The environments of generated projects, from one cache: packages are installed once and linked into each project."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.layouts.layout import Layout, NodeModules, PythonEnvironment

PYTHON_SETS: Mapping[str, tuple[str, ...]] = {
    "plain": ("pytest",),
    "xdist": ("pytest", "pytest-xdist"),
    "cov": ("pytest", "pytest-cov"),
    "asyncio": ("pytest", "pytest-asyncio"),
    "django": ("django",),
}
"""The sets of packages of virtual environments."""
BUILDERS = (
    *("pip", "setuptools>=70", "wheel", "hatchling", "editables", "flit-core", "poetry-core"),
    *("pdm-backend", "uv-build"),
)
"""The packages that install projects in editable form. They lie in no environment of a project."""
PLAIN_DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
NODE_SETS: Mapping[str, tuple[str, ...]] = {
    "vitest": ("vitest@3",),
    "jest": ("jest@30",),
    "mocha": ("mocha@11",),
    "tsx": ("tsx@4", "typescript@5"),
}
"""The sets of packages for node."""
PNPM = "pnpm@9"
MAX_SCRIPT_BYTES = 1 << 16


class FailedInstallationError(Exception):
    """An error of an environment that cannot be made, with the end of the printed output."""


def run(argv: Sequence[str], folder: Path, **variables: str) -> str:
    """Run a program and return its output.

    Raises:
        FailedInstallationError: Its exit status is not 0.
    """
    env = {**os.environ, **variables}
    env.pop("VIRTUAL_ENV", None)
    result = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if result.returncode:
        raise FailedInstallationError(f"{' '.join(argv[:4])}: {(result.stdout + result.stderr)[-1500:]}")
    return result.stdout + result.stderr


class EnvironmentCache:
    """The packages that projects share.

    Args:
        folder: The cache. It should lie on the disk of the projects, because files are linked.
        is_local: Whether nothing is fetched: `plain` is made of the packages of this environment.
    """

    def __init__(self, folder: Path, *, is_local: bool = False) -> None:
        self._folder, self._is_local = folder, is_local
        folder.mkdir(parents=True, exist_ok=True)

    def fill(self, layouts: Iterable[Layout]) -> None:
        """Fetch the packages of some layouts, before several processes need them."""
        for layout in layouts:
            for environment in layout.environments:
                self._find_python_base(environment.packages)
                if environment.editable:
                    self._find_builders()
            if layout.node and layout.node.program == "npm":
                self._install_npm(layout.node.packages, NODE_SETS[layout.node.packages])
            elif layout.node:
                self._install_npm("pnpm", (PNPM,))

    def add_python(self, root: Path, environment: PythonEnvironment) -> Path:
        """Make a virtual environment of a project and return its interpreter.

        Args:
            root: The project.
            environment: The environment.
        """
        folder = root / environment.folder
        if environment.target:
            target = root.parent / environment.target
            folder.symlink_to(target, target_is_directory=True)
            folder = target
        base = self._find_python_base(environment.packages)
        link_tree(base, folder)
        rewrite_scripts(folder, base, root / environment.folder)
        python = root / environment.folder / "bin" / "python"
        packages = find_site_packages(folder)
        if environment.paths:
            lines = [f"{root / path}\n" for path in environment.paths]
            (packages / "_project.pth").write_text("".join(lines))
        for path in environment.editable:
            self._install_editable(root / path, python, environment.options)
        return python

    def _install_editable(self, project: Path, python: Path, options: Sequence[str]) -> None:
        base = self._find_builders()
        builders, path = str(find_site_packages(base)), os.pathsep.join([str(base / "bin"), os.environ["PATH"]])
        install = [str(python), "-m", "pip", "-q", "install", "--no-deps", "--no-build-isolation", "--no-index"]
        run([*install, *options, "-e", "."], project, PATH=path, PYTHONPATH=builders, PIP_DISABLE_PIP_VERSION_CHECK="1")

    def add_node(self, root: Path, modules: NodeModules) -> None:
        """Install the packages of a project for node.

        The program runs once for each text of `package.json` files, because links between packages are its own.
        """
        if modules.program == "pnpm":
            pnpm = self._install_npm("pnpm", (PNPM,)) / "node_modules" / ".bin" / "pnpm"
            run([str(pnpm), "install", "--prefer-offline", "--ignore-scripts"], root, CI="1")
            return
        settings = json.loads((root / "package.json").read_text())
        link_tree(
            self._install_npm(modules.packages, NODE_SETS[modules.packages]) / "node_modules", root / "node_modules"
        )
        for pattern in settings.get("workspaces", ()):
            for package in sorted(root.glob(pattern)):
                name = json.loads((package / "package.json").read_text())["name"]
                link = root / "node_modules" / name
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(os.path.relpath(package, link.parent), target_is_directory=True)

    def _find_python_base(self, name: str) -> Path:
        folder = self._folder / f"python{sys.version_info[0]}.{sys.version_info[1]}-{name or 'empty'}"
        if self._is_local:
            folder = folder.with_name(f"{folder.name}-local")
        if not is_ready(folder):
            make_python(folder)
            if name and self._is_local:
                if name != "plain":
                    raise FailedInstallationError(f"the packages {name} must be fetched")
                copy_distributions(PLAIN_DISTRIBUTIONS, folder)
            elif name:
                install = [sys.executable, "-m", "pip", "-q", "--python", str(folder / "bin" / "python"), "install"]
                run([*install, *PYTHON_SETS[name]], self._folder)
            mark_ready(folder)
        return folder

    def _find_builders(self) -> Path:
        folder = self._folder / "builders"
        if not is_ready(folder):
            if self._is_local:
                raise FailedInstallationError("the build systems must be fetched")
            make_python(folder)
            install = [sys.executable, "-m", "pip", "-q", "--python", str(folder / "bin" / "python"), "install"]
            run([*install, *BUILDERS], self._folder)
            mark_ready(folder)
        return folder

    def _install_npm(self, name: str, packages: Sequence[str]) -> Path:
        folder = self._folder / f"node-{name}"
        if not is_ready(folder):
            if self._is_local:
                raise FailedInstallationError(f"the packages {name} must be fetched")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            (folder / "package.json").write_text('{"private": true}\n')
            run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *packages], folder)
            mark_ready(folder)
        return folder


def is_ready(folder: Path) -> bool:
    """Return whether a folder of the cache was finished."""
    return (folder / ".ready").is_file()


def mark_ready(folder: Path) -> None:
    """Note that a folder of the cache is finished."""
    (folder / ".ready").touch()


def make_python(folder: Path) -> None:
    """Make a virtual environment without pip."""
    shutil.rmtree(folder, ignore_errors=True)
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder.parent)


def find_site_packages(environment: Path) -> Path:
    """Return the folder of the packages of a virtual environment."""
    return next(environment.glob("lib/python3*/site-packages"))


def copy_distributions(names: Iterable[str], environment: Path) -> None:
    """Copy installed packages of this interpreter into a virtual environment, without their programs."""
    packages = find_site_packages(environment)
    for name in names:
        for file in importlib.metadata.files(name) or ():
            source = Path(str(file.locate()))
            if ".." in file.parts or not source.is_file() or source.suffix == ".pyc":
                continue
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def link_tree(source: Path, target: Path) -> None:
    """Copy a folder with hard links in place of its files, or copies if it lies on another disk. Links stay links."""

    def link(old: str, new: str) -> None:
        try:
            os.link(old, new)
        except OSError:
            shutil.copy2(old, new)

    shutil.copytree(source, target, symlinks=True, copy_function=link, ignore=shutil.ignore_patterns(".ready"))


def rewrite_scripts(environment: Path, base: Path, path: Path) -> None:
    """Replace the path of a copied environment in its programs and its settings.

    Args:
        environment: The copy.
        base: The environment that it was copied from.
        path: The path by which the project knows it.
    """
    for file in (*(environment / "bin").iterdir(), environment / "pyvenv.cfg"):
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_SCRIPT_BYTES:
            continue
        data = file.read_bytes()
        mode = file.stat().st_mode
        # a new file: the present one is linked to the cache
        file.unlink()
        file.write_bytes(data.replace(str(base).encode(), str(path).encode()))
        file.chmod(mode)
