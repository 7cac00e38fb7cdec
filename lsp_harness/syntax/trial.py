"""A process that parses a text before the server does, so that a parser that crashes or never ends takes nothing else with it.

    python -m lsp_harness.syntax.trial

It reads a line of JSON (`language` and `size`), then so many bytes, and answers with a line of JSON: `why` there is no tree of that
text, empty where there may be one. It ends when its input does, and is killed by the system when one text takes `CPU_S`.
"""

import json
import resource
import sys
import time
from typing import BinaryIO

from tree_sitter import Parser

from lsp_harness.syntax.bounded import check_shape, refusal
from lsp_harness.syntax.budget import BUDGET, TooCostly
from lsp_harness.syntax.languages import Language, called, grammar
from lsp_harness.syntax.query import captures

CPU_S = 2
QUERIES = "symbols", "outline", "scopes", "faults"


def why(language: Language, data: bytes) -> str:
    """Why there is no tree of a text; empty where there may be one."""
    if refused := refusal(language, data):
        return refused
    began = time.thread_time()
    tree = Parser(grammar(language)).parse(data)
    if time.thread_time() - began > BUDGET.text_s:
        return f"parsing takes more than {BUDGET.text_s * 1000:.0f} ms"
    try:
        check_shape(tree.root_node, BUDGET)
    except TooCostly as error:
        return str(error)
    for name in QUERIES if language.queries else ():
        began = time.thread_time()
        captures(language, name, tree.root_node)
        if time.thread_time() - began > BUDGET.query_s:
            return f"to look through its tree takes more than {BUDGET.query_s * 1000:.0f} ms"
    return ""


def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there is nothing more to read."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    while line := asked.readline():
        head = json.loads(line)
        data = asked.read(head["size"])
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + 1 + CPU_S
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
        language = called(head["language"])
        said = why(language, data) if language else ""
        answers.write(json.dumps({"why": said}).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
