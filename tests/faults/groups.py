"""Groups of commands with the same messages under a fault, and the messages that several faults share."""

from tests.faults.commands import COMMANDS

ALL = tuple(command.name for command in COMMANDS)
FILE = ("complete a.py:2:12", "fix unused.py", "fix unused.py --apply", "context a.py:2:12")
FIX = ("fix unused.py", "fix unused.py --apply")
APPLY = "fix unused.py --apply"
FIND = ("search ring", "locate area_of_a_ring", "index context ring", "index graph ring", "index patterns")
ENGINE = ("engine status", "engine token", "engine stop")
MODEL = ("model path ../models/tiny.gguf", "model info ../models/tiny.gguf")
REBUILD, STATUS, TOKEN, SESSION, LOGS, DOCS = (
    *("index rebuild", "index status", "engine token", "sessions show --summary", "engine logs", "docs tiny.area"),
)
NO_FILE = "not a regular file; remove it or replace it with a file"
NOT_IGNORED = "until then its patterns are not used"
NEW = "was not a regular file; it was removed, and a new file is written"
NO_TOKEN = "…token holds no token that only you can read; delete it, and the engine makes a new one"
IN_THE_WAY = "is a folder, where a file must be; remove it"
AGAIN = "remove it; the next command creates a new one"
SETTINGS = (*FILE, *FIND, REBUILD, DOCS, "engine start")
IGNORES = ("serve", *FILE, *FIND, REBUILD)
STATISTICS = ("serve", "complete a.py:2:12")
RUFF = "…pyproject.toml is no regular file, and ruff would wait for it; it is asked without settings"
REMOVE = "model rm qwen2.5-coder-0.5b-instruct"
