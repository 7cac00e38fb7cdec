"""Which Python runs the code of a project."""

import base64
import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_harness.cli.doctor.doctor_installation import check_project_python
from lsp_harness.config.schema import Config, Knowledge
from lsp_harness.knowledge.project_python import (
    find_environment,
    find_project_folder,
    find_project_python,
    list_project_pythons,
)


def make(folder: Path, *modules: str, windows: bool = False) -> Path:
    """Make an environment whose interpreter is an empty program."""
    python = folder / ("Scripts/python.exe" if windows else "bin/python")
    python.parent.mkdir(parents=True)
    python.touch(0o755)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for name in modules:
        (folder / "lib/python3.12/site-packages" / name).mkdir(parents=True)
    return python


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def check(
    root: Path,
    expected: Path,
    reason: str,
    *,
    file: str = "app.py",
    setting: str = "",
    module: str = "",
    **environ: str,
) -> None:
    variables: Mapping[str, str] = {"HOME": str(root / "home"), "PATH": "", **environ}
    found = find_project_python(root, root / file, setting, module=module, environ=variables)
    assert (found.python, found.reason) == (expected, reason)


def hash_path(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(str(path).encode()).digest()).decode()[:8]


def test_the_setting_wins_over_all_environments(tmp_path: Path):
    root, chosen = tmp_path / "w", make(tmp_path / "chosen")
    make(root / ".venv")
    check(root, chosen, "knowledge.python", setting=str(tmp_path / "chosen"), VIRTUAL_ENV=str(root / ".venv"))
    check(root, root / "../chosen/bin/python", "knowledge.python", setting="../chosen")
    check(root, root / "../chosen/bin/python", "knowledge.python", setting="../chosen/bin/python")


def test_a_setting_that_names_no_python_is_reported(tmp_path: Path):
    python = make(tmp_path / ".venv")
    check(tmp_path, python, ".venv (knowledge.python names gone, which has no Python)", setting="gone")


def test_an_active_environment_comes_before_the_folder(tmp_path: Path):
    root, active = tmp_path / "w", make(tmp_path / "active")
    make(root / ".venv")
    check(root, active, "VIRTUAL_ENV", VIRTUAL_ENV=str(tmp_path / "active"))


def test_the_active_environment_of_another_project_comes_after_the_own_one(tmp_path: Path):
    backend, frontend = make(tmp_path / "backend/.venv"), make(tmp_path / "frontend/.venv")
    for name in ("backend", "frontend"):
        write(tmp_path / name / "pyproject.toml")
    active = str(tmp_path / "frontend/.venv")
    check(tmp_path, backend, "backend/.venv", file="backend/app.py", VIRTUAL_ENV=active)
    check(tmp_path, frontend, "VIRTUAL_ENV", file="frontend/app.py", VIRTUAL_ENV=active)
    check(tmp_path, frontend, "VIRTUAL_ENV", file="tools/app.py", VIRTUAL_ENV=active)


def test_the_active_environment_of_this_program_comes_after_the_own_one(tmp_path: Path):
    python = make(tmp_path / ".venv")
    check(tmp_path, python, ".venv", VIRTUAL_ENV=sys.prefix)


@pytest.mark.parametrize("name", [".venv", "venv", "env"])
def test_the_folders_of_a_file_are_searched_upwards(tmp_path: Path, name: str):
    backend, outer = make(tmp_path / "backend" / name), make(tmp_path / ".venv")
    check(tmp_path, backend, f"backend/{name}", file="backend/src/pkg/app.py")
    check(tmp_path, outer, ".venv", file="frontend/app.py")
    check(tmp_path, outer, ".venv", file="../elsewhere.py")


def test_a_link_and_a_file_lead_to_an_environment(tmp_path: Path):
    root = tmp_path / "w"
    python = make(tmp_path / "store")
    root.mkdir()
    (root / ".venv").symlink_to(tmp_path / "store")
    check(root, root / ".venv/bin/python", ".venv")
    (root / ".venv").unlink()
    write(root / ".venv", f"{tmp_path / 'store'}\n")
    check(root, python, ".venv")


def test_an_environment_without_an_interpreter_is_passed_over(tmp_path: Path):
    write(tmp_path / ".venv/pyvenv.cfg")
    (tmp_path / ".venv/bin").mkdir()
    (tmp_path / ".venv/bin/python").symlink_to(tmp_path / "gone")
    write(tmp_path / "env/notes.txt")
    python = make(tmp_path / "venv")
    check(tmp_path, python, "venv")


def test_windows_has_another_layout(tmp_path: Path):
    check(tmp_path, make(tmp_path / ".venv", windows=True), ".venv")


def test_the_environment_of_conda_is_used(tmp_path: Path):
    root, python = tmp_path / "w", make(tmp_path / "conda")
    check(root, python, "CONDA_PREFIX", CONDA_PREFIX=str(tmp_path / "conda"))
    own = make(root / "env")
    check(root, own, "env", CONDA_PREFIX=str(tmp_path / "conda"))


def test_the_base_of_conda_comes_after_the_environments_of_projects(tmp_path: Path):
    make(tmp_path / "conda")
    python = make(tmp_path / ".tox/py312")
    check(tmp_path, python, "tox (py312)", CONDA_PREFIX=str(tmp_path / "conda"), CONDA_DEFAULT_ENV="base")


def test_the_environment_of_uv_is_used(tmp_path: Path):
    write(tmp_path / "pyproject.toml")
    check(tmp_path, make(tmp_path / "e/x"), "UV_PROJECT_ENVIRONMENT", UV_PROJECT_ENVIRONMENT="e/x")


def test_the_environment_of_poetry_is_used(tmp_path: Path):
    root, store = tmp_path / "w", tmp_path / "w/home/.cache/pypoetry/virtualenvs"
    if sys.platform == "darwin":
        store = root / "home/Library/Caches/pypoetry/virtualenvs"
    write(root / "pyproject.toml", '[tool.poetry]\nname = "My Shop"\n')
    name = f"my_shop-{hash_path(root.resolve())}"
    make(store / f"{name}-py3.9")
    newest = make(store / f"{name}-py3.12")
    make(store / "my_shop-AAAAAAAA-py3.13")
    check(root, newest, "poetry")
    write(store / "envs.toml", f'["{name}"]\nminor = "3.9"\n')
    check(root, store / f"{name}-py3.9/bin/python", "poetry")
    moved = make(tmp_path / f"moved/{name}-py3.11")
    write(root / "poetry.toml", f'[virtualenvs]\npath = "{tmp_path}/moved"\n')
    check(root, moved, "poetry")


def test_the_environment_of_pdm_is_used(tmp_path: Path):
    python = make(tmp_path / "store/pdm")
    write(tmp_path / "w/.pdm-python", f"{python}\n")
    check(tmp_path / "w", python, ".pdm-python")


def test_the_environment_of_hatch_is_used(tmp_path: Path):
    write(tmp_path / "pyproject.toml", '[project]\nname = "My_Shop"\n[tool.hatch.envs.default]\n')
    store = tmp_path / "data/env/virtual/my-shop" / hash_path(tmp_path)
    tests, main = make(store / "hatch-test.py3.12", "pytest"), make(store / "my-shop")
    make(store / "hatch-build")
    check(tmp_path, main, "hatch (my-shop)", HATCH_DATA_DIR=str(tmp_path / "data"))
    check(tmp_path, tests, "hatch (hatch-test.py3.12)", module="pytest", HATCH_DATA_DIR=str(tmp_path / "data"))


def test_the_environments_of_pipenv_and_pyenv_are_used(tmp_path: Path):
    root = tmp_path / "w"
    write(root / "Pipfile")
    other, own = make(tmp_path / "envs/w-other"), make(tmp_path / "envs/w-mine")
    write(other.parent.parent / ".project", "/elsewhere/w")
    write(own.parent.parent / ".project", str(root))
    check(root, own, "pipenv", WORKON_HOME=str(tmp_path / "envs"))
    (root / "Pipfile").unlink()
    write(root / ".python-version", "3.12\n")
    make(tmp_path / "pyenv/versions/3.12.2")
    python = make(tmp_path / "pyenv/versions/3.12.10")
    check(root, python, ".python-version (pyenv)", PYENV_ROOT=str(tmp_path / "pyenv"))


def test_a_shim_of_pyenv_leads_to_an_installation(tmp_path: Path):
    shim = write(tmp_path / "pyenv/shims/python3", "#!/bin/sh\n")
    shim.chmod(0o755)
    check(tmp_path, shim, "python3 on PATH", PATH=str(shim.parent))
    python = make(tmp_path / "pyenv/versions/3.12.10")
    write(tmp_path / "pyenv/version", "3.12\n")
    check(tmp_path, python, "python3 on PATH", PATH=str(shim.parent))


def test_the_environments_of_tox_and_nox_are_used(tmp_path: Path):
    nox = make(tmp_path / ".nox/tests-3-12", "pytest")
    check(tmp_path, nox, "nox (tests-3-12)")
    make(tmp_path / ".tox/lint")
    tox = make(tmp_path / ".tox/py312")
    check(tmp_path, tox, "tox (py312)")
    check(tmp_path, nox, "nox (tests-3-12)", module="pytest")


def test_the_first_python_on_path_comes_last(tmp_path: Path):
    first, second = write(tmp_path / "a/bin/python"), make(tmp_path / "b", "pytest")
    first.chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "a/bin"), str(tmp_path / "b/bin")])
    check(tmp_path, first, "python on PATH", PATH=path)
    check(tmp_path, second, "python on PATH", PATH=path, module="pytest")
    check(tmp_path, Path(sys.executable), "the Python of lsp-harness", PATH="")


def test_an_environment_without_the_module_is_used_if_there_is_no_other(tmp_path: Path):
    python = make(tmp_path / ".venv")
    check(tmp_path, python, ".venv", module="no_such_module_anywhere")


def test_an_editable_install_counts_as_installed(tmp_path: Path):
    python = make(tmp_path / ".venv", "pytest-8.0.dist-info")
    check(tmp_path, python, ".venv", module="pytest")


def test_the_environment_of_packages_needs_no_interpreter(tmp_path: Path):
    write(tmp_path / "backend/venv/pyvenv.cfg")
    assert find_environment(tmp_path, tmp_path / "backend/a.py", environ={}) == tmp_path / "backend/venv"
    assert find_environment(tmp_path, tmp_path / "a.py", environ={}) is None
    assert find_environment(tmp_path, None, "e", environ={}) == tmp_path / "e"


def test_the_projects_of_a_workspace_folder_are_listed_with_their_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    outer, backend = make(tmp_path / ".venv"), make(tmp_path / "services/backend/.venv")
    for name in ("services/backend", "services/shared", "node_modules/x"):
        write(tmp_path / name / "pyproject.toml")
    found = [(folder, python.python) for folder, python in list_project_pythons(tmp_path)]
    assert found == [(tmp_path, outer), (tmp_path / "services/backend", backend)]


def test_doctor_shows_the_python_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    python = make(tmp_path / ".venv")
    [row] = check_project_python(tmp_path, Config())
    assert row == ("ok", "project python", f"{python} (.venv)")
    [row] = check_project_python(tmp_path, Config(knowledge=Knowledge(python="gone")))
    assert (row.state, row.says) == ("note", f"{python} (.venv (knowledge.python names gone, which has no Python))")


def test_the_nearest_project_of_a_file_is_found(tmp_path: Path):
    write(tmp_path / "packages/app/package.json")
    write(tmp_path / "package.json")
    find = find_project_folder
    assert find(tmp_path, tmp_path / "packages/app/src/a.js", ["package.json"]) == tmp_path / "packages/app"
    assert find(tmp_path, tmp_path / "packages/b.js", ["package.json"]) == tmp_path
    assert find(tmp_path, tmp_path / "packages/app/src/a.js", ["Cargo.toml"]) == tmp_path
    assert find(tmp_path, Path("/elsewhere/a.js"), ["package.json"]) == tmp_path
