"""A process that parses a text before the server does, so that a crash or a loop of the parser stays outside of it.

    python -m lsp_harness.syntax.parse_worker

It reads requests from standard input: a line of JSON with `language` and `size`, followed by `size` bytes of text. It
answers each request with a line of JSON. Its field `why` says why the text has no tree, and is empty if the text may
have one. The process ends with its input. The operating system kills it if one text takes longer than `MAX_CPU_S`.
"""

import json
import sys
import time
from typing import BinaryIO

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.process.time_limit import end_after
from lsp_harness.syntax.bounded_parse import parse_bytes
from lsp_harness.syntax.grammars import language_named
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree_query import captures, load_query

MAX_CPU_S = 1.0
"""Processor time for one text. It only matters if a parser loops, or if a query takes this long: both ignore the
budget."""
CHECKED_QUERIES = "symbols", "outline", "scopes", "faults"


def refusal_reason(language: LanguageSpec, data: bytes) -> str:
    """Return why a text has no tree, or an empty string if it may have one."""
    try:
        tree = parse_bytes(language, data, Allowance(BUDGET.text_s))
    except ParseBudgetExceeded as error:
        return str(error)
    for name in CHECKED_QUERIES if language.queries else ():
        # The query is built outside of the measured time, as building it takes longer than running it.
        load_query(language, name)
        began = time.thread_time()
        captures(language, name, tree.root_node)
        if time.thread_time() - began > BUDGET.query_s:
            return f"to look through its tree takes more than {BUDGET.query_s * 1000:.0f} ms"
    return ""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the input ends."""
    while line := requests.readline():
        head = json.loads(line)
        data = requests.read(head["size"])
        end_after(MAX_CPU_S)
        language = language_named(head["language"])
        reason = refusal_reason(language, data) if language else ""
        end_after(0)
        answers.write(json.dumps({"why": reason}).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
