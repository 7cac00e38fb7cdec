"""The container files name only what exists. No test builds a container, because none can be had on these machines."""

import json
import re

from lsp_harness.cli.command_table import ALL_GROUPS, app
from tests.test_tidy import PROJECT, ROOT

CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")
DEVELOPMENT = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
VARIABLES = re.findall(r"\b(LSP_HARNESS_[A-Z_]+)=", CONTAINER)


def read_instructions(name: str) -> list[str]:
    """Return the arguments of all instructions of this name."""
    lines = re.sub(r"^#.*\n", "", CONTAINER, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    return [line.partition(" ")[2] for line in lines if line.startswith(f"{name} ")]


def test_copied_files_exist_and_are_enough_for_the_package():
    sources = [source for arguments in read_instructions("COPY") for source in arguments.split()[:-1]]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    build = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = [*build["packages"], *build["force-include"], *build["shared-data"]]
    wanted += ["pyproject.toml", PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]]
    assert [name for name in wanted if name not in sources] == []


def test_each_command_of_the_container_exists():
    lines = re.findall(r"(?:^RUN|&&) lsp-harness ([^&\\\n]+)", CONTAINER, re.MULTILINE)
    lines += re.findall(r"^#   podman run .* lsp-harness ((?!:)\w+)", CONTAINER, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        _, apps, rest = app.parse_commands(line.split())
        options = {name for argument in apps[-1].assemble_argument_collection() for name in argument.names}
        assert [word for word in rest if word not in options] == [], line
    assert json.loads(read_instructions("ENTRYPOINT")[0]) == ["lsp-harness"]
    [command] = json.loads(read_instructions("CMD")[0])
    assert command in {row.name for rows in ALL_GROUPS.values() for row in rows}


def test_each_variable_of_the_container_is_read_by_the_package():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "lsp_harness").rglob("*.py"))
    assert VARIABLES
    assert [name for name in VARIABLES if f'"{name}"' not in sources] == []


def test_the_containers_have_a_version_of_python_that_is_supported():
    images = [*read_instructions("FROM"), DEVELOPMENT["image"]]
    versions = {re.sub(r"^python:(3\.\d+)-.*", r"\1", image) for image in images}
    supported = {line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: 3." in line}
    assert versions <= supported


def test_each_target_of_make_in_the_container_for_development_exists():
    targets = re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = [text for name, text in DEVELOPMENT.items() if name.endswith("Command")]
    used = [target for command in commands for target in re.findall(r"\bmake (\w+)", command)]
    assert used == ["setup"]
    assert set(used) <= set(targets)


def test_the_container_files_say_that_no_test_builds_them():
    assert "No test builds this file." in CONTAINER.splitlines()[0]
    assert "no test builds" in DEVELOPMENT["name"]
