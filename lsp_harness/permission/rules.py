"""Rules that allow, ask about or deny actions: `Bash(git *)`, `Edit(src/*)`, `mcp__server__*`.

The most restrictive rule of an action counts. A rule that denies or asks is generous in what it matches: names of
programs without their folder, files as they are written and after links are resolved, and commands of which a part is
not known are asked. A rule that allows matches only what is certain.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lsp_harness.files.walk import TooManyFilesError
from lsp_harness.permission.action_parts import ActionPart
from lsp_harness.permission.glob_patterns import matches, may_match
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.shell.command_parts import SYSTEM_FOLDERS
from lsp_harness.permission.shell.command_risk import list_inner_commands
from lsp_harness.permission.shell.file_words import may_hide_output
from lsp_harness.permission.shell.git_reading import OPTIONS_WITH_VALUE
from lsp_harness.syntax.shell.shell_words import UNKNOWN

LONG_FORMS: Mapping[str, Mapping[str, str]] = {
    "rm": {"r": "--recursive", "f": "--force", "i": "--interactive", "d": "--dir", "v": "--verbose"},
    "cp": {"r": "--recursive", "f": "--force", "a": "--archive", "n": "--no-clobber", "v": "--verbose"},
    "chmod": {"r": "--recursive", "v": "--verbose", "f": "--silent"},
    "chown": {"r": "--recursive", "v": "--verbose", "f": "--silent"},
    "git push": {"f": "--force", "d": "--delete", "u": "--set-upstream", "n": "--dry-run", "q": "--quiet"},
    "git commit": {"n": "--no-verify", "a": "--all", "m": "--message", "e": "--edit", "q": "--quiet", "s": "--signoff"},
    "git clean": {"f": "--force", "d": "-d", "x": "-x", "n": "--dry-run", "q": "--quiet"},
    "git branch": {"f": "--force", "d": "--delete", "m": "--move", "q": "--quiet"},
    "git reset": {"q": "--quiet"},
    "git checkout": {"f": "--force", "b": "-b", "q": "--quiet"},
    "git add": {"a": "--all", "f": "--force", "u": "--update", "n": "--dry-run", "v": "--verbose"},
}
"""Program → short option → its long form, in lower case, for the commands that people write rules about."""
VALUE_LETTERS: Mapping[str, str] = {"git commit": "mftcu", "git push": "o", "git branch": "u", "git checkout": "b"}
"""Program → short options whose value may stand in the same word."""
RuleDecision = Literal["allow", "ask", "deny"]
RULE_DECISIONS: tuple[RuleDecision, ...] = ("allow", "ask", "deny")
RULE = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
KIND_TOOLS = {
    "execute": ("bash",),
    "edit": ("edit", "write"),
    "read": ("read",),
    "network": ("web", "webfetch"),
    "agent": ("agent", "task"),
}
"""Kind of an action → the tools whose denials and questions count for it too."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the settings, of a list of tools, or of an answer.

    Attributes:
        decision: What happens to an action that matches.
        tool: A pattern for the name of the tool, without regard to case.
        pattern: A pattern for commands or files. None is every use of the tool.
        justification: Why, for the user and the model.
        source: The place where the rule stands, such as "user" or "session".
    """

    decision: RuleDecision
    tool: str
    pattern: str | None = None
    justification: str = ""
    source: str = ""

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The verdict of rules about an action or a part of it."""

    decision: RuleDecision
    rule: Rule
    reason: str


def parse_rule(text: str, decision: RuleDecision, source: str = "") -> Rule:
    """Return the rule of a text such as `Bash(git *)`.

    Raises:
        ValueError: The text is not a rule. The message says why.
    """
    match = RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a rule; write Tool or Tool(pattern), for example Bash(git *)")
    pattern = match[2].strip() if match[2] is not None else None
    if pattern == "":
        raise ValueError(f"{text!r} has an empty pattern; write {match[1]} for every use of the tool")
    return Rule(decision, match[1], pattern, source=source)


def tool_matches(pattern: str, tool: str) -> bool:
    """Return whether a pattern for tools matches a name, without regard to case."""
    return matches(pattern.casefold(), tool.casefold())


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that are active.

    Attributes:
        rules: All rules, in any order.
        protected: The folders that relative patterns of files belong to.
    """

    rules: tuple[Rule, ...] = ()
    protected: ProtectedPaths = field(default_factory=ProtectedPaths)

    def judge(self, part: ActionPart) -> RuleVerdict | None:
        """Return the most restrictive verdict about a part, or None if no rule is about it."""
        question: RuleVerdict | None = None
        for rule in self.rules:
            if rule.decision == "allow" or not self.concerns(rule, part):
                continue
            certainty = self._rate_certainty(rule, part)
            if certainty == "certain" and rule.decision == "deny":
                return RuleVerdict("deny", rule, rule.justification or f"the rule {rule} denies it")
            if certainty != "no" and question is None:
                reason = rule.justification if certainty == "certain" else ""
                unseen = part.opaque or "nobody sees all that the command does"
                hidden = f"{unseen}, so the rule {rule} may concern it"
                question = RuleVerdict(
                    "ask", rule, reason or (f"the rule {rule} asks" if certainty == "certain" else hidden)
                )
        if question:
            return question
        if part.opaque:
            return None
        for rule in self.rules:
            if rule.decision == "allow" and tool_matches(rule.tool, part.tool) and self.allows(rule, part):
                return RuleVerdict("allow", rule, rule.justification or f"the rule {rule} allows it")
        return None

    def concerns(self, rule: Rule, part: ActionPart) -> bool:
        """Return whether a rule that restricts is about the tool of a part, or about all tools of its kind."""
        names = (part.tool, *KIND_TOOLS.get(part.kind, ()))
        return any(tool_matches(rule.tool, name) for name in names)

    def allows(self, rule: Rule, part: ActionPart) -> bool:
        """Return whether the pattern of a rule certainly matches a part. The tool is not compared."""
        if part.opaque:
            return False
        if rule.pattern is None:
            return True
        if part.command is not None:
            variants = part.command.variants or (part.command.words,)
            if any(may_hide_output(part.command.name, words[1:]) for words in variants):
                return False
            return any(_command_matches(rule.pattern, text) for text in _certain_commands(part))
        if part.paths:
            # a link is the file that it leads to
            return all(
                bool(forms) and any(self._path_matches(rule.pattern, name) for name in self._names(forms[-1]))
                for forms in part.paths
            )
        return bool(part.texts) and all(matches(rule.pattern, text) for text in part.texts)

    def _rate_certainty(self, rule: Rule, part: ActionPart) -> Literal["no", "possible", "certain"]:
        """Return whether a rule that restricts matches a part, also if nobody can know."""
        if rule.pattern is None:
            return "possible" if part.is_possible or part.is_searched else "certain"
        pattern = rule.pattern.casefold()
        if part.command is not None:
            texts = [text.casefold() for text in _possible_commands(part)]
            texts += [text for text in (_write_out(pattern, text) for text in texts) if text]
            if any(_command_matches(pattern, text) for text in texts):
                return "certain"
            if any(spelled_alike(pattern, text) for text in texts):
                return "certain"
            # an unknown program may run the command that its words name
            for inner in list_inner_commands(part.command):
                texts.append(inner.loose.casefold())
                texts.append(" ".join([inner.name, *(word.loose for word in inner.words[1:])]).casefold())
            return "possible" if part.opaque or any(_command_may_match(pattern, text) for text in texts) else "no"
        if part.paths:
            found = [form for forms in part.paths for form in forms]
            try:
                found += [
                    name for forms in part.paths for form in forms[-1:] for name in self.protected.other_names(form)
                ]
            except TooManyFilesError:
                # one of its other names may be in the pattern
                return "possible"
            names = (name.casefold() for form in found for name in self._names(form))
            if not any(self._path_matches(pattern, name, covers=True) for name in names):
                return "no"
            return "possible" if part.is_searched else "certain"
        if part.opaque:
            return "possible"
        return "certain" if any(matches(pattern, text.casefold()) for text in part.texts) else "no"

    def _names(self, form: str) -> list[str]:
        """Return the ways to write an absolute path."""
        relative = self.protected.relative(form)
        home = os.path.expanduser("~")
        names = [form, relative]
        if home != "/" and form.startswith(home + "/"):
            names.append("~" + form[len(home) :])
        return names

    @staticmethod
    def _path_matches(pattern: str, name: str, *, covers: bool = False) -> bool:
        """Return whether a pattern matches a path. With `covers` a folder that matches covers its files."""
        pattern = pattern.removeprefix("./")
        patterns = [pattern, *([pattern.removeprefix("**/")] if pattern.startswith("**/") else [])]
        if covers and pattern.endswith("/**"):
            patterns.append(pattern.removesuffix("/**"))
        for candidate in patterns:
            if matches(candidate, name):
                return True
            if "/" not in candidate and matches(candidate, name.rsplit("/", 1)[-1]):
                return True
            if covers and any(matches(candidate.rstrip("/"), folder) for folder in _list_folders(name)):
                return True
            if covers and "/" not in candidate and any(matches(candidate, piece) for piece in name.split("/")):
                return True
        return False


def combine(verdicts: Iterable[RuleVerdict | None]) -> RuleVerdict | None:
    """Return the most restrictive verdict of the parts of an action: deny, ask, none, allow."""
    found = list(verdicts)
    for decision in ("deny", "ask"):
        if chosen := next((verdict for verdict in found if verdict and verdict.decision == decision), None):
            return chosen
    return None if None in found or not found else found[0]


def _list_folders(name: str) -> list[str]:
    pieces = name.split("/")
    return ["/".join(pieces[:count]) for count in range(1, len(pieces)) if pieces[:count] != [""]]


def _list_forms(pattern: str) -> list[str]:
    """Return the patterns that a pattern for commands stands for: `git *` and `git:*` match `git` too."""
    if pattern.endswith(":*"):
        pattern = pattern[:-2] + " *"
    return [pattern, pattern[:-2]] if pattern.endswith(" *") else [pattern]


def _command_matches(pattern: str, text: str) -> bool:
    return any(matches(form, text) for form in _list_forms(pattern))


def _command_may_match(pattern: str, text: str) -> bool:
    return any(may_match(form, text) for form in _list_forms(pattern))


def _certain_commands(part: ActionPart) -> list[str]:
    """Return the texts of a command for rules that allow. A program with a folder is not the one of that name."""
    if part.command is None or not part.command.words:
        return []
    words = part.command.words
    texts = [part.command.text]
    program = words[0].text
    if program.startswith(SYSTEM_FOLDERS) and ".." not in program:
        texts.append(" ".join([part.command.name, *(word.text for word in words[1:])]))
    return texts


def _possible_commands(part: ActionPart) -> list[str]:
    """Return the texts of a command for rules that restrict: without folders, and without leading options."""
    if part.command is None or not part.command.words:
        return [UNKNOWN]
    words = [word.loose for word in part.command.words]
    name = part.command.name if part.command.words[0].is_known else words[0]
    texts = [" ".join(words), part.command.text]
    for rest in _without_leading_options(words[1:]):
        texts.append(" ".join([name, *rest]))
        texts.append(" ".join([name, *(word for word in rest if not word.startswith("-"))]))
    return list(dict.fromkeys(texts))


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A command with its options in one spelling: the program, the long forms of its options, and the other words."""

    program: str
    options: frozenset[str]
    rest: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join([self.program, *sorted(self.options), *self.rest])


def _spell_command(text: str) -> _Spelled | None:
    """Return a command in one spelling, or None if the options of its program are not known."""
    words = text.split(" ")
    program = next((name for name in (" ".join(words[:2]), words[0]) if name in LONG_FORMS), "")
    if not program:
        return None
    forms, options, rest = LONG_FORMS[program], set[str](), list[str]()
    for word in words[len(program.split()) :]:
        match = re.fullmatch(r"-([a-z0-9]+)(.*)", word)
        letters = re.split(f"(?<=[{VALUE_LETTERS.get(program, '-')}])", match[1])[0] if match else ""
        options.update(forms[letter] for letter in letters if letter in forms)
        # a long option may be shortened
        long = {form for form in forms.values() if len(word) > 2 and word.startswith("--") and form.startswith(word)}
        if long or word in forms.values():
            options |= long or {word}
        elif not letters or any(letter not in forms for letter in letters) or (match and match[2]):
            # what stands behind known letters may matter, too
            rest.append(word)
    return _Spelled(program, frozenset(options), tuple(rest))


def spelled_alike(pattern: str, text: str) -> bool:
    """Return whether a pattern matches a command that has its options in another spelling or order, or more of them."""
    wanted, found = _spell_command(pattern), _spell_command(text)
    if wanted is None or found is None or wanted.program != found.program:
        return False
    if _command_matches(wanted.text, found.text):
        return True
    plain = (" ".join([one.program, *one.rest]) for one in (wanted, found))
    return bool(wanted.options) and wanted.options <= found.options and _command_matches(*plain)


def _write_out(pattern: str, text: str) -> str:
    """Return a command with the long options of a pattern in place of their short forms; empty if it has none."""
    wanted = re.findall(r"--[a-z][a-z-]+", pattern)
    words = text.split(" ")
    for place, word in enumerate(words):
        name, sign, value = word.partition("=")
        whole = next((option for option in wanted if name != option and len(name) > 2 and option.startswith(name)), "")
        if whole and name.startswith("--"):
            words[place] = f"{whole}{sign}{value}"
    written = " ".join(words)
    return written if written != text else ""


def _without_leading_options(arguments: Sequence[str]) -> list[Sequence[str]]:
    """Return the arguments, and what remains without leading options, each of which may have a value."""
    results = [arguments]
    waiting = {0}
    while waiting:
        start = waiting.pop()
        if start < len(arguments) and arguments[start].startswith("-") and arguments[start] not in ("-", "--"):
            ends = {start + 1} if arguments[start] not in OPTIONS_WITH_VALUE else set[int]()
            for end in ends | {start + 2}:
                if end <= len(arguments) and arguments[end:] not in results:
                    results.append(arguments[end:])
                    waiting.add(end)
    return results
