"""Real code with one token changed: what the weights of `syntax/recovery/recovery.py` are fitted on.

    python -m benchmarks.token_faults OUT.jsonl 300 FOLDER...

Each row has `language`, `kind`, `path`, `text` and `truth`, as those of `one_fault` have. Files whose names are in
`--without FILE` (one path a line) are left out, so that what a benchmark keeps back stays unseen.
"""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.lexemes import Lexeme, grammar_keywords, read_lexemes
from lsp_harness.syntax.syntax_errors import find_faults, find_python_fault
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

LINES = range(15, 400)
PER_FILE = 2
DOUBLED = 0.85
"""The share of extra tokens that stand beside a token that belongs there. Nobody writes a bracket just anywhere."""
LANGUAGES = (
    "python",
    "javascript",
    "typescript",
    "tsx",
    "go",
    "rust",
    "java",
    "csharp",
    "php",
    "ruby",
    "lua",
    "bash",
    "c",
    "cpp",
    "json",
)
BRACKETS = (b"(", b")", b"[", b"]", b"{", b"}")
QUOTE = re.compile(rb"\"\"\"|'''|[\"'`]")

Change = Callable[[bytes, Sequence[Lexeme], Random], bytes | None]


def cut(data: bytes, start: int, end: int, new: bytes = b"") -> bytes:
    return data[:start] + new + data[end:]


def remove_one_of(*texts: bytes) -> Change:
    def change(data: bytes, tokens: Sequence[Lexeme], rng: Random) -> bytes | None:
        found = [token for token in tokens if token.text in texts]
        if not found:
            return None
        token = rng.choice(found)
        start, end = data.rfind(b"\n", 0, token.start) + 1, data.find(b"\n", token.end) + 1
        if end and data[start:end].strip() == token.text and rng.random() < 0.5:
            return cut(data, start, end)
        return cut(data, token.start, token.end)

    return change


def add_one_of(*texts: bytes) -> Change:
    def change(data: bytes, tokens: Sequence[Lexeme], rng: Random) -> bytes | None:
        found = [token for token in tokens if token.text in texts]
        if not found:
            return None
        token = rng.choice(found)
        place = token if rng.random() < DOUBLED else rng.choice([one for one in tokens if one.kind != "string"])
        return cut(data, place.end, place.end, token.text)

    return change


def exchange_one_of(old: Sequence[bytes], new: Sequence[bytes]) -> Change:
    def change(data: bytes, tokens: Sequence[Lexeme], rng: Random) -> bytes | None:
        found = [token for token in tokens if token.text in old]
        if not found:
            return None
        token = rng.choice(found)
        return cut(data, token.start, token.end, rng.choice(new))

    return change


def quote(data: bytes, tokens: Sequence[Lexeme], rng: Random) -> bytes | None:
    """Remove or double a quote at one end of a string."""
    strings = [token for token in tokens if token.kind == "string" and token.text[-1:] in b"\"'`"]
    if not strings:
        return None
    token = rng.choice(strings)
    places = [found.span() for found in QUOTE.finditer(token.text)]
    start, end = rng.choice((places[0], places[-1]))
    start, end = start + token.start, end + token.start
    if rng.random() < 0.2:
        return cut(data, end, end, data[end - 1 : end])
    return cut(data, end - 1 if rng.random() < 0.5 else start, end)


def misspell_keyword(data: bytes, tokens: Sequence[Lexeme], rng: Random) -> bytes | None:
    """Misspell a keyword."""
    found = [token for token in tokens if token.kind == "keyword" and len(token.text) > 2]
    if not found:
        return None
    token = rng.choice(found)
    word, at = token.text, rng.randrange(len(token.text) - 1)
    slips = (
        word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at : at + 1] + word[at:],
        word[:at] + bytes([rng.randrange(97, 123)]) + word[at + 1 :],
    )
    return cut(data, token.start, token.end, rng.choice(slips))


def change_indentation(data: bytes, tokens: Sequence[Lexeme], rng: Random) -> bytes | None:
    """Indent one line too far or not far enough."""
    token = rng.choice([one for one in tokens if one.starts_line])
    start = data.rfind(b"\n", 0, token.start) + 1
    lead = data[start : token.start]
    return cut(data, start, token.start, rng.choice((lead + b"    ", lead[4:], lead + b" ", lead[1:])))


CHANGES: tuple[tuple[str, float, Change], ...] = (
    ("missing bracket", 8, remove_one_of(*BRACKETS)),
    ("extra bracket", 3, add_one_of(*BRACKETS)),
    ("other bracket", 1, exchange_one_of(BRACKETS[1::2], BRACKETS[1::2])),
    ("quote", 6, quote),
    ("missing colon", 3, remove_one_of(b":")),
    ("extra colon", 1, add_one_of(b":")),
    ("missing comma", 4, remove_one_of(b",")),
    ("extra comma", 1, add_one_of(b",")),
    ("missing semicolon", 3, remove_one_of(b";")),
    ("extra semicolon", 1, add_one_of(b";")),
    ("missing equals sign", 2, remove_one_of(b"=")),
    ("missing arrow", 1.5, remove_one_of(b"=>", b"->")),
    ("assignment for comparison", 0.7, exchange_one_of((b"==", b"==="), (b"=",))),
    (
        "missing end",
        4,
        remove_one_of(
            b"}", *frozenset[bytes]().union(*(language.tokens.block_end_words for language in shipped_languages()))
        ),
    ),
    ("missing word", 1, remove_one_of(b"then", b"do", b"in")),
    ("keyword", 2.5, misspell_keyword),
    ("indentation", 2, change_indentation),
)


def is_broken(language: str, data: bytes) -> bool:
    tree = parse(Document.from_text("x", data, language=language))
    return tree is None or bool(find_faults(tree)) or (language == "python" and find_python_fault(data) is not None)


def make_rows(path: Path, rng: Random) -> list[dict[str, str]]:
    """Return faulty forms of one file, or none if it does not parse."""
    known = language_for("", path.name)
    data = path.read_bytes()
    if (
        known is None
        or known.id not in LANGUAGES
        or data.count(b"\n") not in LINES
        or b"\r" in data
        or is_broken(known.id, data)
    ):
        return []
    tree = parse(Document.from_text("x", data, language=known.id))
    tokens = read_lexemes(tree) if tree and grammar_keywords(known) else []
    found: list[dict[str, str]] = []
    for _ in range(PER_FILE if tokens else 0):
        kind, _, change = rng.choices(CHANGES, [weight for _, weight, _ in CHANGES])[0]
        if kind == "indentation" and known.id != "python":
            continue
        text = change(data, tokens, rng)
        if text is not None and text != data and is_broken(known.id, text):
            row = {"language": known.id, "kind": kind, "path": str(path)}
            found.append({**row, "text": text.decode("utf-8", "replace"), "truth": data.decode("utf-8", "replace")})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("number", type=int, help="rows of each language")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--without", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = Random(args.seed)
    unwanted = set(args.without.read_text().splitlines()) if args.without else set[str]()
    files = sorted(
        {file for folder in args.folders for file in folder.rglob("*.*") if file.is_file()}
        - {Path(one) for one in unwanted}
    )
    rng.shuffle(files)
    counts: dict[str, int] = dict.fromkeys(LANGUAGES, 0)
    with args.out.open("w", encoding="utf-8") as out:
        for file in files:
            known = language_for("", file.name)
            if known and counts.get(known.id, args.number) < args.number:
                for row in make_rows(file, rng):
                    counts[known.id] += 1
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(counts)


if __name__ == "__main__":
    main()
