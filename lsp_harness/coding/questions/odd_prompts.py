"""Prompts that are no sentence: single words, commands of a shell, and pasted output of tools."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from lsp_harness.coding.location.task_mentions import is_surely_file
from lsp_harness.coding.questions.question import Question
from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.problem import ToolProblem

PROGRAMS = (
    r"(?:ls|cd|rm|mv|cp|mkdir|chmod|grep|rg|git|gh|pip3?|uv|poetry|npm|npx|yarn|pnpm|cargo|docker|kubectl|python3?|pytest|"
    r"curl|wget|ssh|brew|apt(?:-get)?|sudo|ruff|black|mypy|tsc|eslint|node)"
)
"""Names of programs that no sentence begins with."""
OTHER_PROGRAMS = r"(?:cat|find|make|go|kill|touch|echo|which|export|source|head|tail|sort|open|code|test)"
"""Names of programs that are words, too."""
ARGUMENT = r"(?:-{1,2}\w\S*|\S*/\S*|\.\S*|[|>&].*)"
"""An argument that no sentence has: an option, a path, or a pipe."""
COMMAND = re.compile(
    rf"(?:[$>%]\s+)?(?:{PROGRAMS}(?:\s+\S+){{0,12}}|{OTHER_PROGRAMS}\s+(?:\S+\s+)*{ARGUMENT}(?:\s+\S+)*)\s*"
)
NO_COMMAND = re.compile(r"[?]|(?<![\w./-])(?:please|should|the|a|an)(?![\w./-])")
"""A sentence has these, and a command seldom."""
WORD = re.compile(r"[`'\"]?([\w./:#$@+~-]+)(?:\(\))?[`'\"]?\s*[?.!]*")
FRAME = re.compile(r"File \"([^\"\n]+)\", line (\d+)|\bat (?:.*\()?(?:file://)?(/?[\w./@+~-]+\.\w+):(\d+)")
"""Matches a frame of a stack: of Python, or of JavaScript."""
RUNS_NO_COMMANDS = (
    "This looks like a command of a shell, and prompts run none. Write it in your shell. Its output can be piped or "
    "pasted here: {command} 2>&1 | lsp-harness code -"
)
GREETING = re.compile(
    r"(?:hi|hello|hey|hallo|thanks|thx|ok|okay|yes|yep|yeah|no|nope|cool|great|good|nice|bye|please|help|start|test|\W*\w?\W*)"
    r"[\s.!?]*",
    re.IGNORECASE,
)
"""A word that asks and orders nothing."""
UNKNOWN_WORD = "{name} is no name and no file that this folder has. "


@dataclass(frozen=True, slots=True)
class PastedOutput:
    """The problem in the pasted output of a tool.

    Attributes:
        task: The prompt that repairs the problem.
        place: The words that say its place, or an empty text if the task says it.
    """

    task: str
    place: str


def is_command(prompt: str) -> bool:
    """Return whether a prompt is a command of a shell."""
    return COMMAND.fullmatch(prompt.strip()) is not None and not NO_COMMAND.search(prompt)


def read_single_word(prompt: str, declared: Collection[str]) -> Question | None:
    """Return the question where a name or a file is, if a prompt is only this, else None."""
    match = WORD.fullmatch(prompt.strip())
    if match is None:
        return None
    word = match[1]
    if is_surely_file(word):
        return Question("contents", file=word)
    name = re.sub("::|#", ".", word)
    return Question("where", name) if name.rpartition(".")[2] in declared else None


def read_pasted_output(prompt: str, root: str, find_file: Callable[[str], str]) -> PastedOutput | None:
    """Return the first problem in a pasted output that is about this folder, or None if the prompt is no output.

    Args:
        prompt: The prompt, which may have words of the user before the output.
        root: The folder.
        find_file: Returns the path in the folder of a path, or an empty text if the folder has no such file.
    """
    if "\n" not in prompt.strip():
        return None
    for problem in digest_output(prompt, root=root).problems:
        if problem.test:
            return PastedOutput(f"fix the failing test {problem.test}", "")
        if place := _find_place(problem, prompt, find_file):
            return PastedOutput(f"fix {place}: {problem.message}", place)
    return None


def _find_place(problem: ToolProblem, prompt: str, find_file: Callable[[str], str]) -> str:
    """Return `path:line` of a problem, or else of the last frame of a stack that is in the folder."""
    if problem.line and (path := find_file(problem.path)):
        return f"{path}:{problem.line}"
    for frame in reversed([*FRAME.finditer(prompt)]):
        if path := find_file(frame[1] or frame[3]):
            return f"{path}:{frame[2] or frame[4]}"
    return ""
