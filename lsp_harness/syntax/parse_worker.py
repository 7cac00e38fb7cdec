"""A process that parses a text before the server does, so that a parser that crashes or never ends takes nothing else with it.

    python -m lsp_harness.syntax.parse_worker

It reads a line of JSON (`language` and `size`), then so many bytes, and answers with a line of JSON: `why` there is no tree of that
text, empty where there may be one. It ends when its input does, and is killed by the system when one text takes `CPU_S`.
"""

import json
import signal
import sys
import time
from typing import BinaryIO

from lsp_harness.syntax.bounded_parse import parsed
from lsp_harness.syntax.languages import Language, called
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, TooCostly
from lsp_harness.syntax.tree_query import captures, query

CPU_S = 1.0
"""Of a text that cannot be ended before: its parser goes in circles, or a query takes as long."""
QUERIES = "symbols", "outline", "scopes", "faults"


def why(language: Language, data: bytes) -> str:
    """Why there is no tree of a text; empty where there may be one."""
    try:
        tree = parsed(language, data, Allowance(BUDGET.text_s))
    except TooCostly as error:
        return str(error)
    for name in QUERIES if language.queries else ():
        # to build a query takes longer than to ask it
        query(language, name)
        began = time.thread_time()
        captures(language, name, tree.root_node)
        if time.thread_time() - began > BUDGET.query_s:
            return f"to look through its tree takes more than {BUDGET.query_s * 1000:.0f} ms"
    return ""


def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there is nothing more to read."""
    while line := asked.readline():
        head = json.loads(line)
        data = asked.read(head["size"])
        # what nobody handles ends the process
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S)
        language = called(head["language"])
        said = why(language, data) if language else ""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        answers.write(json.dumps({"why": said}).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
