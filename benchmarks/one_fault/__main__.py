"""Make the set of files with one fault, and count what becomes of it (see docs/benchmarks.md)."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.one_fault import case, fix_ruff
from benchmarks.one_fault.case import Case
from benchmarks.one_fault.generate import generate
from benchmarks.one_fault.registry import LANGUAGES
from benchmarks.one_fault.report import report
from benchmarks.one_fault.runner import Options, run
from benchmarks.one_fault.scorer import score

ALIASES = {"c#": "csharp"}
PARTS = ("dev", "heldout")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_fault", description=__doc__)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("generate", help="write cases, made of the code that is found on this machine")
    make.add_argument("out", type=Path)
    make.add_argument("--per-language", type=int, default=70)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--language", action="append", type=_resolve_language, choices=LANGUAGES)
    make.set_defaults(run=_generate)
    measure = commands.add_parser("run", help="ask the product to mend the cases, and count")
    measure.add_argument("cases", type=Path)
    measure.add_argument("--language", action="append", type=_resolve_language, choices=LANGUAGES)
    measure.add_argument("--kind", action="append")
    measure.add_argument("--part", choices=PARTS)
    measure.add_argument("--id", action="append", help="one case by its id")
    measure.add_argument("--lsp", action="store_true", help="through a server process and a client of the protocol")
    measure.add_argument("--stale", action="store_true", help="send each diagnostic of the text with its fault mended")
    _add_common_arguments(measure)
    measure.set_defaults(run=_measure)
    ruff = commands.add_parser("fix_ruff", help="the development set fix_ruff by the same count")
    ruff.add_argument("cases", type=Path)
    _add_common_arguments(ruff)
    ruff.set_defaults(run=_run_fix_ruff, lsp=False, stale=False)
    again = commands.add_parser("report", help="the figures of rows that a run has written")
    again.add_argument("rows", type=Path)
    again.set_defaults(run=lambda given: print(report(list(map(json.loads, given.rows.read_text().splitlines())))))
    given = parser.parse_args()
    try:
        given.run(given)
    except (OSError, ValueError) as error:
        sys.exit(f"one_fault: {error}")


def _add_common_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", action="store_true", help="with the model of the settings")
    which.add_argument("--no-model", dest="model", action="store_false", help="with an engine that refuses (default)")
    parser.add_argument("--limit", type=int, help="that many cases, evenly taken from all")
    parser.add_argument("--out", type=Path, help="where a row for each case is written, as JSON lines")


def _resolve_language(name: str) -> str:
    return ALIASES.get(name.lower(), name.lower())


def _generate(given: argparse.Namespace) -> None:
    cases = generate(given.per_language, given.seed, tuple(given.language or LANGUAGES))
    case.write(given.out, cases)
    for (language, kind), number in Counter((one.language, one.kind) for one in cases).items():
        print(f"{language:12} {kind:26} {number}")
    print(f"{len(cases)} cases; parts: {dict(Counter(one.part for one in cases))}")


def _measure(given: argparse.Namespace) -> None:
    wanted: dict[str, Sequence[str] | None] = {"language": given.language, "kind": given.kind, "id": given.id}
    wanted["part"] = [given.part] if given.part else None
    cases = [
        one
        for one in case.read(given.cases)
        if all(values is None or getattr(one, name) in values for name, values in wanted.items())
    ]
    _run_cases(_select_cases(cases, given.limit), given, Options(given.model, given.lsp, given.stale, given.out, score))


def _run_fix_ruff(given: argparse.Namespace) -> None:
    rows = fix_ruff.read(given.cases)
    options = Options(given.model, out=given.out, score=fix_ruff.load_scorer(given.cases, rows))
    _run_cases(_select_cases([one for one, _ in rows], given.limit), given, options)


def _select_cases(cases: list[Case], limit: int | None) -> list[Case]:
    """Return a limited number of cases, spread over the whole set."""
    if not limit or limit >= len(cases):
        return cases
    return [cases[at * len(cases) // limit] for at in range(limit)]


def _run_cases(cases: list[Case], given: argparse.Namespace, options: Options) -> None:
    if not cases:
        raise ValueError("no case is asked for by these options")
    print(report(run(cases, options)))
    if given.out:
        print(f"rows: {given.out}")


if __name__ == "__main__":
    main()
