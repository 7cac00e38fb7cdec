"""Generator of the settings in the `package.json` of the VS Code extension.

Run it with `python -m tools.vscode_settings FILE`.

The first group of `contributes.configuration` is written by hand. The other groups and `restrictedConfigurations`,
which a workspace without trust cannot set, are generated. The rest of the file does not change.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from lsp_harness.config.load import EDITOR_FORBIDDEN_KEYS
from lsp_harness.config.schema import Kind, find_item_type, tables
from lsp_harness.config.setting_values import WORDS
from tools.settings_page import setting_descriptions

SECTION = "lspHarness"
MACHINE_TABLES = frozenset({"model", "engine", "index"})
"""Tables that depend on the machine.

They are not synchronised with other machines, and only a trusted workspace can set them.
"""
JSON_TYPES: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def render(package: str) -> str:
    """Return the text of `package.json` with the settings of the schema."""
    manifest: dict[str, Any] = json.loads(package)
    groups = manifest["contributes"]["configuration"]
    generated = [group for table in tables() if (group := _group(table))["properties"]]
    manifest["contributes"]["configuration"] = groups[:1] + generated
    own = [name for name in groups[0]["properties"] if name.startswith(f"{SECTION}.server.")]
    restricted = [name for group in generated for name in group["properties"] if name.split(".")[1] in MACHINE_TABLES]
    manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] = own + restricted
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _group(table: str) -> dict[str, Any]:
    descriptions = setting_descriptions()[table]
    return {
        "title": table.capitalize(),
        "properties": {
            f"{SECTION}.{table}.{key}": {
                **_json_type(f"{table}.{key}", kind, default),
                "scope": "machine-overridable" if table in MACHINE_TABLES else "window",
                "markdownDescription": _drop_links(descriptions.get(key, "")),
            }
            for key, (kind, default) in tables()[table].items()
            if key not in EDITOR_FORBIDDEN_KEYS.get(table, ())
        },
    }


def _json_type(name: str, kind: Kind, default: Any) -> dict[str, Any]:
    if name in WORDS:
        return {"type": ["string", "boolean"], "enum": [*WORDS[name], False, True], "default": default}
    if find_item_type(kind) is None:
        return {"type": JSON_TYPES[kind], "default": default}
    return {"type": "array", "items": {"type": "string"}, "default": list(default)}


def _drop_links(text: str) -> str:
    """Return the text without links to pages that the extension does not contain."""
    link = r"\[[^\]]*\]\([^)]*\.md[^)]*\)"
    return re.sub(rf"\s*(?:\({link}\)|(?:See )?{link}\.?)", "", text)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(render(file.read_text(encoding="utf-8")), encoding="utf-8")
