"""Generator of `docs/config.md`: `python -m tools.settings_page`.

The description of a setting is the string below it in the schema, so it exists only once.
"""

import ast
import sys
from collections.abc import Mapping
from inspect import getsource
from typing import Any, cast, get_type_hints

from lsp_harness.config import action_schema, permission_schema, runtime_schema, schema
from lsp_harness.config.schema import Config, Kind, find_item_type, list_item_keys, tables

PAGE_HEAD = """# Settings

Generated from `lsp_harness/config/schema.py` by `make docs`; do not edit.

A setting is taken from the first of these places that has it:

1. the editor (section `lspHarness`, with the same tables and keys);
2. the environment: `LSP_HARNESS_<TABLE>__<KEY>`;
3. the project: `lsp-harness.local.toml`, then `lsp-harness.toml` (or `localcode.toml`);
4. the user: `config.toml` in the user's configuration directory (`~/.config/lsp-harness` on Linux);
5. the default.

**The project** is the first workspace folder of the editor. On the command line it is the nearest folder upwards that
has such a file or is a repository.

**A change counts at once** if the file is saved in the editor, or if the editor watches files for its servers, as VS
Code does. Otherwise it counts from the next start.

**A project's files cannot set `[engine]`**, and an editor cannot set `engine.url`, `engine.model`, `engine.api_key_env`
and `engine.script`, because a workspace can change the settings of an editor: opening a folder must not decide which
server gets your code.

**The lists of `[permissions]` and `[hooks]`** of all files count together, and a project that you do not trust can only
forbid more. See [Permissions](permissions.md).

**A setting that is unknown** is reported and ignored.

`LSP_HARNESS_HOME` puts state, cache, sockets and the user's file under one folder. `LSP_HARNESS_MODELS` names the
folder of the models.
"""
TABLE_HEAD = """| key | type | default | meaning |
| --- | --- | --- | --- |
"""


def setting_descriptions() -> dict[str, dict[str, str]]:
    """Return table → key → description. The description of the table has the empty key."""
    descriptions: dict[str, dict[str, str]] = {}
    names = {kind.__name__: name for name, kind in get_type_hints(Config).items()}
    sources = [getsource(module) for module in (schema, permission_schema, action_schema, runtime_schema)]
    for node in (node for source in sources for node in ast.parse(source).body):
        if not isinstance(node, ast.ClassDef):
            continue
        table = descriptions.setdefault(
            names.get(node.name, node.name.lower()), {"": " ".join((ast.get_docstring(node) or "").split())}
        )
        for field, text in zip(node.body, node.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(description))):
                    table[name] = " ".join(description.split())
                case _:
                    pass
    return descriptions


def render() -> str:
    """Return the page as Markdown."""
    descriptions = setting_descriptions()
    parts = [PAGE_HEAD]
    for table, keys in tables().items():
        parts.append(f"\n## `[{table}]`\n\n{descriptions[table]['']}\n\n{TABLE_HEAD}")
        parts += _list_rows(keys, descriptions[table])
        items = dict.fromkeys(item for kind, _ in keys.values() if (item := find_item_type(kind)) not in (None, str))
        for item in filter(None, items):
            texts = descriptions[item.__name__.lower()]
            names = [key for key, (kind, _) in keys.items() if find_item_type(kind) is item]
            name = names[0] if len(names) == 1 else "…"
            parts.append(f"\n`[[{table}.{name}]]`: {texts['']}\n\n{TABLE_HEAD}")
            parts += _list_rows(list_item_keys(item), texts)
    return "".join(parts)


def _list_rows(keys: Mapping[str, tuple[Kind, Any]], texts: Mapping[str, str]) -> list[str]:
    return [
        f"| `{key}` | {_type_name(kind)} | `{_format_toml(default)}` | {texts.get(key, '')} |\n"
        for key, (kind, default) in keys.items()
    ]


def _type_name(kind: Kind) -> str:
    item = find_item_type(kind)
    return cast("type", kind).__name__ if item is None else "list of str" if item is str else "list of tables"


def _format_toml(value: Any) -> str:
    if isinstance(value, tuple):
        return "[]"
    return (
        {True: "true", False: "false"}[value]
        if isinstance(value, bool)
        else f'"{value}"'
        if isinstance(value, str)
        else str(value)
    )


if __name__ == "__main__":
    sys.stdout.write(render())
