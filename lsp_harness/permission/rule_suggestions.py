"""Rules that would answer a question about an action from now on."""

import re
from collections.abc import Sequence

from lsp_harness.permission.action_parts import ActionPart
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.shell.git_reading import split_git
from lsp_harness.syntax.shell.shell_words import UNKNOWN

SUBCOMMANDS = frozenset(
    {
        "git",
        "npm",
        "yarn",
        "pnpm",
        "pip",
        "pip3",
        "uv",
        "cargo",
        "go",
        "docker",
        "kubectl",
        "poetry",
        "hatch",
        "gh",
        "apt",
    }
    | {"apt-get", "brew", "dotnet", "mvn", "gradle", "bundle", "rake", "composer", "terraform", "make", "just", "ruff"}
)
"""Programs whose first argument says what they do."""


def suggest_rules(parts: Sequence[ActionPart], protected: ProtectedPaths) -> tuple[str, ...]:
    """Return rules that would allow these parts from now on, or none if a part can never be allowed by a rule."""
    rules = list[str]()
    for part in parts:
        if part.opaque:
            return ()
        if part.is_wrapper or part.risk == "low":
            continue
        rule = _suggest_rule(part, protected)
        if rule is None:
            return ()
        rules.append(rule)
    return tuple(dict.fromkeys(rules))


def _suggest_rule(part: ActionPart, protected: ProtectedPaths) -> str | None:
    if part.command is not None:
        words = [word.text for word in part.command.words]
        if re.search(rf"[*?\n{UNKNOWN}]", words[0]):
            return None
        if part.risk == "high":
            text = " ".join(words)
            # only exactly this dangerous command, and no other one that a wildcard would match
            return f"{part.tool}({text})" if not re.search(rf"[*?{UNKNOWN}]", text) else None
        if words[0] in SUBCOMMANDS:
            subcommand = split_git(words[1:])[0] if words[0] == "git" else (words[1] if len(words) > 1 else "")
            if not re.fullmatch(r"[\w:.-]+", subcommand) or subcommand.startswith("-"):
                return f"{part.tool}({' '.join(words)})" if UNKNOWN not in part.command.text else None
            prefix = f"{words[0]} {subcommand}"
            if part.command.text != prefix and not part.command.text.startswith(prefix + " "):
                # options stand before the subcommand, so that this prefix would not match again
                return f"{part.tool}({part.command.text})" if UNKNOWN not in part.command.text else None
            return f"{part.tool}({prefix} *)"
        return f"{part.tool}({words[0]} *)"
    if part.paths:
        names = [protected.relative(forms[-1]) for forms in part.paths if forms]
        folders = {name.rpartition("/")[0] for name in names}
        if len(names) == 1:
            return f"{part.tool}({names[0]})"
        return f"{part.tool}({folder}/*)" if len(folders) == 1 and (folder := folders.pop()) else part.tool
    return part.tool
