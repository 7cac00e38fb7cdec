"""Programs that run code: their options, and where the code comes from."""

import re
from collections.abc import Sequence

from lsp_harness.syntax.shell.shell_words import ShellWord

INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|expect|osascript|R|Rscript|julia|ghci?|"
    r"irb|groovy|scala|jshell|gdb|lldb|fish|csh|tcsh|pwsh|powershell|elvish|nu|xonsh)[\d.]*$",
    re.IGNORECASE,
)
RUNNING_MODULES = frozenset(
    {"timeit", "pdb", "cProfile", "profile", "trace", "code", "runpy", "doctest", "IPython", "ptpython", "bpython"}
)
"""Modules of Python that run code of their arguments."""
STREAM_FILE = re.compile(r"/+(?:dev/+(?:stdin|fd/+\d+)|proc/+(?:self|thread-self|\d+)/+fd/+\d+)")
"""Matches the names of streams, from which a program gets code that nobody sees."""
PYTHON_NAME = re.compile(r"(?:python|pypy)[\d.]*", re.IGNORECASE)
PLAIN_INTERPRETER_OPTIONS: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = (
    (PYTHON_NAME, re.compile(r"-[bBdEiIOPqsSuvx]+|-[XW].*")),
    (re.compile(r"perl[\d.]*"), re.compile(r"-[acnplwWXtTsu]+")),
    (re.compile(r"ruby[\d.]*"), re.compile(r"-[acnplswSv]+|-W\d?")),
    (
        re.compile(r"node(?:js)?"),
        re.compile(
            r"--(?:test|check|watch|inspect|inspect-brk|enable-source-maps|trace-warnings|trace-deprecation|"
            r"no-warnings|experimental-strip-types|expose-gc|max-old-space-size=\d+|test-only|"
            r"test-reporter=(?:spec|tap|dot)|test-name-pattern=.*|stack-trace-limit=\d+)"
        ),
    ),
    (re.compile(r"php[\d.]*"), re.compile(r"-[lnf]+")),
)
"""Name of an interpreter → its options before the script that run no other code. Others may do so."""
INTERPRETER_VALUES = frozenset({"-X", "-W"})
"""Options of Python whose value is the next word."""
MODULE = re.compile(r"-[bBdEiIOPqsSuvx]*m(.*)$", re.DOTALL)
INLINE_CODE = re.compile(
    r"-[a-zA-Z0-9]*[cCeEprBRxFM]$|--?(?:eval|exec|execute|command|print|run|require|import|init-command|ex|batch)(?:=|$)"
)
"""Matches an option of an interpreter that is followed by code."""
JOINED_CODE = re.compile(r"-(?:[A-Za-z]*[ceEr])[^\w-]|-[cer].+[(;'\"]")


def interpreter_reason(name: str, words: Sequence[ShellWord]) -> str:
    """Return why nobody can see the code that an interpreter runs; empty if it runs a file.

    Args:
        name: The name of the interpreter.
        words: The interpreter and its arguments.
    """
    plain = next((options for names, options in PLAIN_INTERPRETER_OPTIONS if names.fullmatch(name)), None)
    is_python, position = PYTHON_NAME.fullmatch(name) is not None, 1
    while position < len(words):
        word = words[position]
        position += 1
        if not word.is_known or word.text == "-":
            return f"{name} runs code that nobody sees"
        if not word.text.startswith("-"):
            return f"{name} gets code from a stream" if STREAM_FILE.fullmatch(word.text) else ""
        if is_python and (match := MODULE.match(word.text)):
            module = match[1] or next((other.text for other in words[position:]), "")
            return f"{name} -m {module} runs code" if module.partition(".")[0] in RUNNING_MODULES else ""
        if word.text in ("-V", "--version", "-h", "--help", "-v") and len(words) == 2:
            return ""
        if INLINE_CODE.match(word.text) or JOINED_CODE.match(word.text):
            return f"{name} {word.text[:8]} runs code"
        if word.text != "--" and (plain is None or not plain.fullmatch(word.text)):
            return f"{name} has the option {word.text}, which may run code"
        position += is_python and word.text in INTERPRETER_VALUES
    return f"{name} reads code from its standard input"
