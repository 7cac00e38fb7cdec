"""The settings in the VS Code extension's `package.json`, made from the schema: `python -m lsp_harness.config.vscode_settings FILE`.

The first group of `contributes.configuration` is the extension's own; the others, and what a workspace that is not
trusted may not set, are written here. Everything else in the file stays as it is.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from lsp_harness.config.load import EDITOR_FORBIDDEN_KEYS
from lsp_harness.config.schema import tables
from lsp_harness.config.settings_page import setting_descriptions

SECTION = "lspHarness"
MACHINE_TABLES = frozenset({"model", "engine", "index"})
"""Tables about what a machine has. They are not synchronised with another one, and only a trusted workspace sets them."""
JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def render(package: str) -> str:
    """The file's text again, with the settings as the schema has them."""
    found: dict[str, Any] = json.loads(package)
    groups = found["contributes"]["configuration"]
    made = [group for table in tables() if (group := _group(table))["properties"]]
    found["contributes"]["configuration"] = groups[:1] + made
    own = [name for name in groups[0]["properties"] if name.startswith(f"{SECTION}.server.")]
    restricted = [name for group in made for name in group["properties"] if name.split(".")[1] in MACHINE_TABLES]
    found["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] = own + restricted
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _group(table: str) -> dict[str, Any]:
    words = setting_descriptions()[table]
    return {
        "title": table.capitalize(),
        "properties": {
            f"{SECTION}.{table}.{key}": {
                "type": JSON_TYPES[kind],
                "default": default,
                "scope": "machine-overridable" if table in MACHINE_TABLES else "window",
                "markdownDescription": _plain(words.get(key, "")),
            }
            for key, (kind, default) in tables()[table].items()
            if key not in EDITOR_FORBIDDEN_KEYS.get(table, ())
        },
    }


def _plain(text: str) -> str:
    """The text without links to pages that the extension does not contain."""
    link = r"\[[^\]]*\]\([^)]*\.md[^)]*\)"
    return re.sub(rf"\s*(?:\({link}\)|(?:See )?{link}\.?)", "", text)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(render(file.read_text(encoding="utf-8")), encoding="utf-8")
