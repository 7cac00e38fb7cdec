"""The commands that are tried under each fault. What the model would say is in a script."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.talk import talk
from tests.faults.world import World


@dataclass(frozen=True)
class Command:
    """`script` is the file of the replies that its engine gives; none where the settings name no script."""

    name: str
    script: str = "none.json"

    @property
    def arguments(self) -> list[str]:
        return [part.replace("_", " ") for part in self.name.split()]

    def work(self, world: World) -> Callable[[], None]:
        if self.name == "serve":
            return lambda: talk(world.project)
        from lsp_harness.cli.main import main

        return lambda: main(self.arguments)


COMMANDS = (
    Command("serve", "one.json"),
    Command("complete a.py:2:12", "one.json"),
    Command("fix unused.py"),
    Command("fix unused.py --apply"),
    Command("context a.py:2:12"),
    Command("search ring"),
    Command("locate area_of_a_ring"),
    Command("index status"),
    Command("index rebuild"),
    Command("index context ring"),
    Command("index graph ring"),
    Command("index patterns"),
    Command("session"),
    Command("digest out.txt"),
    Command("docs tiny.area"),
    Command("model list"),
    Command("model path ../models/tiny.gguf", ""),
    Command("model info ../models/tiny.gguf", ""),
    Command("model rm qwen2.5-coder-0.5b-instruct", ""),
    Command("models"),
    Command("engine status"),
    Command("engine start"),
    Command("engine logs"),
    Command("engine token"),
    Command("engine stop"),
    Command("bench report nowhere.json"),
    Command("doctor"),
)
