"""The commands that are run under each fault. A script has the replies of the model."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.talk import talk
from tests.faults.world import UserFolders


@dataclass(frozen=True)
class Command:
    """One command line, with its output, exit status and error message where nothing is wrong.

    `script` is the file with the replies of its engine. It is empty where the settings name no script.
    """

    name: str
    answer: str
    code: int = 0
    script: str = "none.json"
    error: str = ""

    @property
    def arguments(self) -> list[str]:
        return [part.replace("_", " ") for part in self.name.split()]

    def prepare(self, world: UserFolders) -> Callable[[], None]:
        if self.name == "serve":
            return lambda: talk(world.project)
        from lsp_harness.cli.main import main

        return lambda: main(self.arguments)


COMMANDS = (
    Command("serve", "completion ['3 * r']", 143, "one.json"),
    Command("complete a.py:2:12", "3 * r", script="one.json"),
    Command("fix unused.py", "-import os"),
    Command("fix unused.py --apply", "; applied"),
    Command("context a.py:2:12", "return <FILL>"),
    Command("search ring", "a.py:5: ring"),
    Command("locate area_of_a_ring", "a.py:5-6: ring"),
    Command("index status", "index.db"),
    Command("index rebuild", " files, "),
    Command("index context ring", "def ring(r, hole):"),
    Command("index graph ring", "a.py:5 ring"),
    Command("index patterns", "", 1),
    Command("sessions show --summary", "Goal: `os` imported but unused"),
    Command("digest out.txt", "Undefined name `pi`", 1),
    Command("docs tiny.area", "area(r: number): number"),
    Command("model list", "qwen2.5-coder-0.5b-instruct"),
    Command("model path ../models/tiny.gguf", "tiny.gguf", script=""),
    Command("model info ../models/tiny.gguf", "architecture", script=""),
    Command(
        "model rm qwen2.5-coder-0.5b-instruct",
        "",
        3,
        "",
        "qwen2.5-coder-0.5b-instruct is not on this machine, so there is nothing to delete",
    ),
    Command("models", "", 2, error="the settings name no remote server; choose one with --provider: …"),
    Command("engine status", "no engine is running"),
    Command(
        "engine start",
        "",
        2,
        error="the settings name a remote server or a script, so there is no local engine to start",
    ),
    Command("engine logs", "an engine began"),
    Command("engine token", "t" * 43),
    Command("engine stop", ""),
    Command("doctor", "python"),
)
