"""Questions to a person about actions, and the rules that their answers become."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lsp_harness.session.permission.action import Action
from lsp_harness.session.permission.action_parts import ActionPart
from lsp_harness.session.permission.protected_paths import ProtectedPaths
from lsp_harness.session.permission.shell.git_reading import split_git
from lsp_harness.syntax.shell.shell_words import UNKNOWN

Choice = Literal["once", "session", "always", "reject"]
"""An answer: this time, until the session ends, from now on, or no."""
CHOICES: tuple[Choice, ...] = ("once", "session", "always", "reject")
TITLES: Mapping[Choice, str] = {
    "once": "Allow once",
    "session": "Allow for this session",
    "always": "Always allow",
    "reject": "Reject",
}
"""Answer → its name on a button."""
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


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """A question about an action.

    Attributes:
        request_id: The id in the event `permission.requested`.
        action: The action.
        reason: Why it is asked.
        suggestions: Rules that together would answer this question from now on. Empty if no rule can.
        text: The whole question for a person (see `question_text.py`).
    """

    request_id: str
    action: Action
    reason: str
    suggestions: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a person. `reason` says to the model why not, or what to do instead."""

    choice: Choice
    reason: str = ""


class AskPerson(Protocol):
    """A surface that shows questions to a person."""

    async def ask(self, question: PermissionQuestion) -> Answer | None:
        """Return the answer, or None if nobody is there."""
        ...


@dataclass(frozen=True, slots=True)
class RequestingUser:
    """The user who asked for an action: the request is the answer to the question whether it may happen.

    The request does not say that code of a folder may run which the user does not trust. A person is asked about that.

    Attributes:
        reason: What the user asked for, in words.
        person: The surface that can ask the user, or None.
    """

    reason: str
    person: AskPerson | None = None

    async def ask(self, question: PermissionQuestion) -> Answer | None:
        """Answer a question."""
        if question.action.untrusted:
            return await self.person.ask(question) if self.person else None
        return Answer("once", self.reason)


def offered_choices(suggestions: Collection[str]) -> tuple[Choice, ...]:
    """Return the answers to a question. Without a rule, no answer can count for more than this time."""
    return CHOICES if suggestions else ("once", "reject")


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
