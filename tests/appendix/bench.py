"""A folder with a scripted model, and sessions in it through the SDK."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from lsp_harness.config import paths
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.sdk import ClientEvent, TurnStop, query
from lsp_harness.wire.event import Event
from tests.support.scripted_session import Reply, call_text, write_script

E = TypeVar("E")
READ = call_text("read", path="a.txt")
CREATE = call_text("create", path="new.txt", text="made\n")


def select_events(kind: type[E], events: list[ClientEvent]) -> list[E]:
    """Return the events of a class."""
    return [event for event in events if isinstance(event, kind)]


@dataclass(frozen=True, slots=True)
class Bench:
    """The folders of a test.

    Attributes:
        folder: The working folder of sessions.
        home: The folder with the settings and sessions of the user.
        scripts: The folder with the replies of models.
    """

    folder: Path
    home: Path
    scripts: Path

    def script(self, *replies: Reply) -> str:
        """Return a provider that plays replies."""
        return write_script(self.scripts, *replies)

    async def ask(self, *replies: Reply, prompt: str = "do it", **options: Any) -> list[ClientEvent]:
        """Return the events of a prompt in a new session in this process."""
        values = {"cwd": self.folder, "in_process": True, **options}
        if "provider" not in values:
            values["provider"] = self.script(*replies)
        return [event async for event in query(prompt, **values)]

    async def stop(self, *replies: Reply, **options: Any) -> TurnStop:
        """Return the last event of a prompt."""
        return select_events(TurnStop, await self.ask(*replies, **options))[-1]

    def log(self, session_id: str = "") -> list[Event]:
        """Return the events in the log of a session, or of the last one."""
        store = paths.sessions_folder()
        name = session_id or max(path.name for path in store.iterdir() if (path / "events.jsonl").exists())
        return list(read_history(store, name))

    def types(self) -> set[str]:
        """Return the types of the events in the logs of all sessions."""
        names = (path.name for path in paths.sessions_folder().iterdir() if (path / "events.jsonl").exists())
        return {event.type for name in names for event in self.log(name)}

    def write_settings(self, layer: str, text: str) -> None:
        """Write the settings of "user", "project" or "local"."""
        file = {
            "user": self.home / "config.toml",
            "project": self.folder / "lsp-harness.toml",
            "local": self.folder / "lsp-harness.local.toml",
        }[layer]
        file.write_text(text, encoding="utf-8")

    def hook(self, event: str, answer: Mapping[str, Any] | None = None) -> Path:
        """Set a hook of the user, and return the file to which it appends what it is told."""
        file = self.home / f"{event}.jsonl"
        reply = f"printf '%s' '{json.dumps(answer)}'" if answer else "true"
        command = f"cat >> {file}; echo >> {file}; {reply}"
        self.write_settings("user", f'[[hooks.{event}]]\ncommand = """{command}"""\n')
        return file


def read_facts(path: Path) -> list[dict[str, Any]]:
    """Return what a hook was told."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
