"""`docs/config.md`, made from the schema: `python -m lsp_harness.config.reference`.

The text of a setting is the string under it in the schema, so there is no second place to keep.
"""

import ast
import sys
from pathlib import Path
from typing import Any

from lsp_harness.config import schema
from lsp_harness.config.schema import tables

HEAD = """# Settings

Generated from `lsp_harness/config/schema.py` by `make docs`; do not edit.

Every key can be set, weakest first, in `config.toml` in the user's configuration directory (`~/.config/lsp-harness` on
Linux), in the project's `lsp-harness.toml` (or `localcode.toml`) and `lsp-harness.local.toml`, in the environment
(`LSP_HARNESS_<TABLE>__<KEY>`), and by the editor (section `lspHarness`, same tables and keys). The project is an editor's
first workspace folder, and on the command line the nearest folder upwards that has such a file or is a repository. A
change in a file counts at once where it is saved in the editor, or where the editor watches files for its servers (VS Code
does), whoever made it; else from the next start. `LSP_HARNESS_HOME` puts state, cache, sockets and the user's file under
one folder, `LSP_HARNESS_MODELS` names the one of the models. Opening a folder must not decide who is talked to: the
project's files may not set `[engine]`, and an editor, whose settings a workspace can change, not its `url`, `model`,
`api_key_env` and `script`. What is not understood, or only planned and read by nothing yet, is reported and ignored.
"""


def texts() -> dict[str, dict[str, str]]:
    """Class → attribute → the string under it; the class's own docstring is under ``."""
    all_of_them: dict[str, dict[str, str]] = {}
    for node in ast.parse(Path(schema.__file__).read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        found = all_of_them.setdefault(node.name.lower(), {"": ast.get_docstring(node) or ""})
        for field, text in zip(node.body, node.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    found[name] = words
                case _:
                    pass
    return all_of_them


def render() -> str:
    """The whole page."""
    words = texts()
    parts = [HEAD]
    for table, keys in tables().items():
        parts.append(
            f"\n## `[{table}]`\n\n{words[table]['']}\n\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
        )
        for key, (kind, default) in keys.items():
            parts.append(f"| `{key}` | {kind.__name__} | `{_toml(default)}` | {words[table].get(key, '')} |\n")
    return "".join(parts)


def _toml(value: Any) -> str:
    return (
        {True: "true", False: "false"}[value]
        if isinstance(value, bool)
        else f'"{value}"'
        if isinstance(value, str)
        else str(value)
    )


if __name__ == "__main__":
    sys.stdout.write(render())
