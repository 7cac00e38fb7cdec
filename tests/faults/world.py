"""A user's world to break: a project, a home with settings, sessions and an index, a folder for sockets, and models.

It is made once, by commands that work, and copied anew for each command under a fault.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.support.tiny import tiny_gguf

AREA = "def area(r):\n    return \n\n\ndef ring(r, hole):\n    return area(r) - area(hole)\n"
UNUSED = "import os\n\nx = 1\n"
FIXED = "x = 1\n"
OUTPUT = "a.py:2:12: F821 Undefined name `pi`\n"
PROJECT_NAMES = (
    *(".gitignore", ".lspharnessignore", ".git/info/exclude", "lsp-harness.toml", "localcode.toml"),
    *("lsp-harness.local.toml", "pyproject.toml", "ruff.toml", ".ruff.toml", "package.json", "tsconfig.json"),
    *("jsconfig.json", "go.mod", "Cargo.toml"),
    *("node_modules/tiny/package.json", "node_modules/tiny/index.d.ts"),
)
"""Names in a project that something is read from, by us or by what we start."""
STATE_NAMES = ("statistics.json", "statistics.lock", "crash.log", "paused", "engine-000000000000.log")
CACHE_NAMES = ("probe.json", "machine.json", "kv/model/0-0.kv", "kv/model/draft-1.tmp")
INDEX_NAMES = (
    *("root", "lock", "index.log", "index.db", "index.db-wal", "index.db-shm", "vectors.db", "vectors.db-wal"),
    *("vectors.db-shm", "vectors.f32", "vectors.new"),
)
RUNTIME_NAMES = ("token", "typed", "engine-000000000000.sock", "engine-000000000000.lock")
MODEL = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
MODEL_NAMES = ("tiny.gguf", MODEL, f"{MODEL}.json", f"{MODEL}.part", f"{MODEL}.part.json", f"{MODEL}.lock")


@dataclass(frozen=True)
class UserFolders:
    """The folders of one user, below `base`."""

    base: Path

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "lsp-harness"

    @property
    def cache(self) -> Path:
        return self.home / ".cache" / "lsp-harness"

    @property
    def settings(self) -> Path:
        return self.home / ".config" / "lsp-harness" / "config.toml"

    @property
    def runtime(self) -> Path:
        return self.base / "run"

    @property
    def models(self) -> Path:
        return self.base / "models"

    @property
    def temporary(self) -> Path:
        return self.base / "tmp"

    @property
    def index(self) -> Path:
        """Return the folder of the project's index."""
        [found] = (self.cache / "index").iterdir()
        return found

    @property
    def session(self) -> Path:
        """Return the log of the earlier session."""
        [found] = (self.state / "sessions").glob("*/events.jsonl")
        return found

    def environment(self) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "LSP_HARNESS_"))}
        return inherited | {
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "LSP_HARNESS_MODELS": str(self.models),
            "LSP_HARNESS_LIBRARIES": os.environ["LSP_HARNESS_LIBRARIES"],
            "TMPDIR": str(self.temporary),
        }

    def make(self) -> None:
        """Make the files and folders of a user who has not used the program yet."""
        for folder in (self.project / ".git" / "info", self.home, self.runtime, self.models, self.temporary):
            folder.mkdir(parents=True, mode=0o700)
        (self.project / "a.py").write_text(AREA)
        (self.project / "unused.py").write_text(UNUSED)
        (self.project / "out.txt").write_text(OUTPUT)
        (self.project / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
        (self.project / "lsp-harness.toml").write_text("[generation]\ncandidates = 1\n")
        package = self.project / "node_modules" / "tiny"
        package.mkdir(parents=True)
        (package / "package.json").write_text('{"name": "tiny", "version": "1.0.0", "types": "index.d.ts"}')
        (package / "index.d.ts").write_text(
            "/** The area of a circle. */\nexport declare function area(r: number): number;\n"
        )
        (self.project / "one.json").write_text(json.dumps([{"text": "3 * r"}]))
        (self.project / "none.json").write_text("[]")
        tiny_gguf(self.models / "tiny.gguf")

    def fill(self) -> None:
        """Write the files that earlier commands leave, except the files that only an engine makes."""
        for folder, names in ((self.state, STATE_NAMES), (self.runtime / "lsp-harness", RUNTIME_NAMES)):
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            for name in names:
                if name.endswith(".log"):
                    (folder / name).write_text("an engine began\n")
        (self.runtime / "lsp-harness" / "token").write_text("t" * 43)
        (self.runtime / "lsp-harness" / "token").chmod(0o600)

    def restore(self, template: Path) -> None:
        """Make `base` and everything below it as they are in a copy."""
        # the fault before may have given it to another user
        os.chown(self.base, os.getuid(), os.getgid())
        for entry in self.base.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        shutil.copytree(template, self.base, symlinks=True, dirs_exist_ok=True)
