"""More than a hundred attempts of a program in a sandbox to reach the machine outside: none has an effect.

They run in each sandbox that works here, as the user of these tests and, if that is root, as an ordinary user, too.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from lsp_harness.process.sandbox.sandbox_choice import SANDBOXES
from tests.process.sandbox import probes
from tests.process.sandbox.probe_world import SECRET

ROOT = Path(__file__).parents[3]
NAMES = [sandbox.name for sandbox in SANDBOXES]
NOBODY = 65534
NEEDED_PYTHON = (
    "import subprocess, sys; assert sys.version_info >= (3, 11); subprocess.check_call([sys.executable, '-V'])"
)
"""A program that fails in a Python that is too old, or that its own children cannot start."""
PROCESSES_ARE_HIDDEN = ("namespaces", "bubblewrap")
CONNECTED_WITHIN = {"network_datagram"}
"""Probes that find a network of their own in some sandboxes. Nothing arrives outside."""


def find_common_python() -> str:
    """Return an interpreter that other users can start, or an empty text."""
    for program in (sys.executable, "/usr/bin/python3"):
        command = [*make_command_as_nobody(), program, "-c", NEEDED_PYTHON]
        try:
            if subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=False).returncode == 0:
                return program
        except OSError:
            continue
    return ""


def make_command_as_nobody() -> list[str]:
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


@pytest.fixture(scope="module")
def folders() -> Iterator[list[Path]]:
    """Yield a list for folders that are removed at the end."""
    made: list[Path] = []
    yield made
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["own user", "ordinary user"])
def user(request: pytest.FixtureRequest) -> str:
    if request.param == "ordinary user" and os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    return str(request.param)


@cache
def _try_probes(sandbox: str, user: str, base: str, outside: str) -> dict[str, Any]:
    command, env = [sys.executable], dict(os.environ)
    if user == "ordinary user":
        python = find_common_python()
        if not python or not os.access(ROOT, os.R_OK):
            return {"problem": "no Python that an ordinary user can start"}
        for folder in (base, outside):
            os.chown(folder, NOBODY, NOBODY)
        packages = {Path(str(module.__file__)).parents[1] for module in (platformdirs,)}
        env["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, *packages)))
        command = [*make_command_as_nobody(), python]
    command += ["-B", "-m", "tests.process.sandbox.probe_world", sandbox, base, outside]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


_bases: dict[tuple[str, str], tuple[str, str]] = {}


@pytest.fixture
def results(sandbox: str, user: str, folders: list[Path]) -> dict[str, Any]:
    if (sandbox, user) not in _bases:
        # the folder outside lies in no folder that a sandbox covers, if these tests may write somewhere else
        elsewhere = next((place for place in ("/srv", "/opt") if os.access(place, os.W_OK)), None)
        made = [Path(tempfile.mkdtemp(prefix="pw-", dir=place)) for place in (None, elsewhere)]
        folders += made
        _bases[sandbox, user] = (str(made[0]), str(made[1]))
    found = _try_probes(sandbox, user, *_bases[sandbox, user])
    if problem := found.get("problem"):
        pytest.skip(f"{sandbox} does not work here: {problem}")
    return found


@pytest.mark.parametrize("sandbox", NAMES)
def test_no_probe_has_an_effect_outside_or_learns_a_secret(results: dict[str, Any]) -> None:
    names = set(probes.all_probes())
    learned = [name for name in names if SECRET in results["answers"][name]]
    changed = {name: states for name, states in results["changed"].items() if name.split(" of ")[-1] in names}
    assert (learned, changed) == ([], {})


@pytest.mark.parametrize("sandbox", NAMES)
def test_no_probe_changes_shared_objects(results: dict[str, Any]) -> None:
    shared = ("objects", "victim of all", "memory of all")
    assert {name: states for name, states in results["changed"].items() if name in shared} == {}


@pytest.mark.parametrize("sandbox", NAMES)
def test_sockets_outside_do_not_answer(results: dict[str, Any]) -> None:
    answers = {name: said for name, said in results["answers"].items() if name.startswith(("sockets", "network"))}
    assert [name for name, said in answers.items() if "connected" in said and name not in CONNECTED_WITHIN] == []


@pytest.mark.parametrize("sandbox", NAMES)
def test_each_probe_was_run(results: dict[str, Any]) -> None:
    # a probe that fails by a mistake of its own says nothing about the sandbox; a limit is refused by a ValueError
    failed = {name: said for name, said in results["answers"].items() if said.startswith(("failed", "ended"))}
    assert set(failed) <= {"limits_raised"}
    assert results["answers"].keys() == probes.all_probes().keys()
