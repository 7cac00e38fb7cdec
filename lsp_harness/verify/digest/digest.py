"""From any tool's output to its digest: who understands it is asked, by name or one after the other."""

import re
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import redacted
from lsp_harness.verify.digest import (
    cargo,
    cargo_test,
    eslint,
    generic_output,
    go_build,
    go_test,
    junit,
    mypy,
    pyright,
    pytest,
    ruff,
    tsc,
)
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, Problem
from lsp_harness.verify.digest.tool_output import ToolOutput

Reader = Callable[[ToolOutput], Digest | None]

READERS_BY_TOOL: MappingProxyType[str, tuple[Reader, ...]] = MappingProxyType(
    {
        "pytest": (junit.read, pytest.read),
        "junit": (junit.read,),
        "ruff": (ruff.read,),
        "eslint": (eslint.read,),
        "mypy": (mypy.read,),
        "pyright": (pyright.read,),
        "tsc": (tsc.read,),
        "go": (go_build.read, go_test.read),
        "cargo": (cargo.read, cargo_test.read),
    }
)
"""Who reads what by the tool's name. Their forms do not overlap: a log of several tools is read by several."""
MAX_MESSAGE_CHARS = 300
"""Characters of a message in a digest."""
LOOKED_AT = 8_000
"""… and of what it is made from: a secret must be seen whole to be taken out."""


def digest_output(text: str, tool: str = "", root: str = "") -> Digest:
    """The problems in what a tool printed; `tool` is told by the output where it is not given.

    Paths below the folder `root` become relative to it. Never raises for any text; UsageError for a tool that is
    not in TOOLS.
    """
    if tool and tool not in READERS_BY_TOOL:
        raise UsageError(f"the output of {tool!r} is not supported; --tool can be {', '.join(READERS_BY_TOOL)}")
    output = ToolOutput(text)
    readers = (
        READERS_BY_TOOL[tool]
        if tool
        else dict.fromkeys(reader for readers in READERS_BY_TOOL.values() for reader in readers)
    )
    found = [answer for reader in readers if (answer := reader(output))]
    if not found and (answer := generic_output.read(output)):
        found = [replace(answer, tool=tool or answer.tool)]
    elif not tool and not any(one.problems for one in found) and (answer := generic_output.read_errors(output)):
        # one tool of a log is content, another that is not known is not
        found.append(answer)
    if not found:
        return _nothing(output, tool)
    made = _joined(found)
    if made.failed and not made.problems:
        made = replace(
            made, problems=(Problem(f"{made.failed} failed; the output does not say which", code=SUMMARY_CODE),)
        )
    return replace(made, problems=tuple(_finished(problem, root) for problem in made.problems))


def _nothing(output: ToolOutput, tool: str) -> Digest:
    """Where nothing was printed, a tool that was named had nothing to say; else that cannot be known."""
    value, cut = output.value
    blank = not output.raw.strip() or (value == [] and not cut)
    if blank:
        return Digest(tool, note="" if tool else "no output")
    count = output.raw.strip().count("\n") + 1
    return Digest(note=f"no problem is recognized in this output ({count:,} line{'s' * (count > 1)})")


def _joined(found: list[Digest]) -> Digest:
    return Digest(
        ", ".join(dict.fromkeys(one.tool for one in found)),
        tuple(problem for one in found for problem in one.problems),
        sum(one.passed for one in found),
        sum(one.failed for one in found),
        sum(one.skipped for one in found),
        any(one.is_truncated for one in found),
    )


def _finished(problem: Problem, root: str) -> Problem:
    path = _relative(problem.path, root)
    test = problem.test
    return replace(
        problem,
        message=_sentence(problem.message),
        path=_clean(path),
        code=_clean(problem.code),
        test=_clean(test),
    )


def _relative(path: str, root: str) -> str:
    root = root.rstrip("/\\")
    if root and path.startswith(root) and path[len(root) :][:1] in ("/", "\\"):
        path = path[len(root) + 1 :]
    return path.removeprefix("./")


def _sentence(message: str) -> str:
    """One line: lines are joined, blanks folded, secrets taken out, and what is too long loses its middle."""
    lines = [" ".join(line.split()) for line in _clean(message, LOOKED_AT).split("\n")]
    text = ""
    for line in filter(None, lines):
        text = line if not text else f"{text}{' ' if text[-1] in '.,:;' else '; '}{line}"
    if len(text) <= MAX_MESSAGE_CHARS:
        return text or "no message"
    # what a compiler means stands at the beginning, and what differs at the end
    return f"{text[: MAX_MESSAGE_CHARS * 2 // 3].rstrip()} … {text[-MAX_MESSAGE_CHARS // 3 + 3 :].lstrip()}"


def _clean(text: str, longest: int = MAX_MESSAGE_CHARS) -> str:
    """Without secrets; where it had to be cut, without the word that was cut in two."""
    if len(text) > LOOKED_AT:
        text = re.sub(r"\S*\Z", "", text[:LOOKED_AT], count=1) + "…"
    text = redacted(text) if text else text
    return text if len(text) <= longest + 1 else text[:longest] + "…"
