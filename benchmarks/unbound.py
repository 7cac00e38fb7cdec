"""Holes whose code below uses a name that nothing binds: how many there are, and whether what was written binds it. No
model.

    python -m benchmarks.unbound fim_repo fim_he_single

Cases are read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md). The text is that of the case with the hole empty.
The time is that of one call, the first ones with the queries they build left out.
"""

import argparse
import re
import sys
from time import perf_counter

from benchmarks.engine.figures import p50, p95
from benchmarks.fim import LANGUAGES, read_cases
from lsp_harness.syntax.names.unbound_names import find_missing_names
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--show", action="store_true", help="each hole where what was written binds none of the names")
    args = parser.parse_args()
    for name in args.sets:
        report(name, show=args.show)


def report(name: str, *, show: bool) -> None:
    rows = read_cases(name, smoke=False, limit=0)
    holes = bound = names = right = 0
    times: list[float] = []
    for row in rows:
        prefix, suffix, lang = row["input"]["prefix"], row["input"]["suffix"], str(row["lang"])
        path = row["input"].get("path") or f"case.{lang}"
        tree = parse(Document.from_text(f"file:///{path}", prefix + suffix, language=LANGUAGES.get(lang, lang)))
        if tree is None:
            sys.exit(f"{row['id']}: no language for {path}")
        began = perf_counter()
        bindings = find_missing_names(tree, len(prefix.encode())).bindings
        times.append((perf_counter() - began) * 1000)
        found = [text.split()[-1] for text in bindings]
        written = set(re.findall(r"\w+", row["gold"]))
        holes += bool(found)
        bound += bool(written & {*found})
        names += len(found)
        right += len(written & {*found})
        if show and found and not written & {*found}:
            print(f"{row['id']}: {', '.join(found)} not in {row['gold']!r:.80}")
    first = len(times) // 20
    print(f"{name}: {holes} of {len(rows)} holes; binds one of them {bound}, {right} of {names} names;", end=" ")
    print(f"{p50(times[first:]):.2f} ms (p95 {p95(times[first:]):.2f})")


if __name__ == "__main__":
    main()
