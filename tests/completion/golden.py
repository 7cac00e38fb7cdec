"""The case files of `cases/`: readable text in, readable text out.

A case is `-- name (language, mode, untouched) --`, the source with `<|>` for the cursor, `-- model --` and what the
model wrote, then `-- shown --` and what is shown, or `-- nothing --`. All three words in brackets are optional: the
language is python, the mode is what `choose` says, and `untouched` means that the file's rule must have no part in
the result. `⇥` is a tab, `␍` a carriage return, `␣` a blank at a line's end, `␊` a newline at the text's end. Blank
lines at the end of a part do not count.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from lsp_harness.completion.rules.ghost_text import DisplayMode, Ghost, choose_display_mode
from lsp_harness.completion.rules.shaping import ShapedText, shape_ghost

CASES = Path(__file__).parent / "cases"
HEADER = re.compile(r"^-- (.+?)(?: \(([^()]*)\))? --$")
MARKS = {"⇥": "\t", "␍": "\r", "␣": " ", "␊": "\n"}


@dataclass(frozen=True)
class Case:
    """A case as it is written; `shown` is None for no suggestion and "?" if the expectation is unknown."""

    rule: str
    name: str
    options: tuple[str, ...]
    source: str
    model: str
    shown: str | None

    @property
    def ghost(self) -> Ghost:
        prefix, suffix = remove_marks(self.source).split("<|>")
        language = next((o for o in self.options if o not in (*get_args(DisplayMode), "untouched")), "python")
        mode = next((m for m in get_args(DisplayMode) if m in self.options), None) or choose_display_mode(
            prefix, suffix, language
        )
        return Ghost(prefix, suffix, remove_marks(self.model), mode, language, "\r\n" if "␍" in self.source else "\n")

    def run(self) -> ShapedText:
        return shape_ghost(self.ghost)

    def text(self, shown: str | None) -> str:
        options = f" ({', '.join(self.options)})" if self.options else ""
        expected = "-- nothing --\n" if shown is None else f"-- shown --\n{shown}\n"
        return f"-- {self.name}{options} --\n{self.source}\n-- model --\n{self.model}\n{expected}"


def remove_marks(text: str) -> str:
    for mark, char in MARKS.items():
        text = text.replace(mark, char)
    return text


def add_marks(text: str) -> str:
    """Replace characters that cannot be seen by marks. This is the inverse of `remove_marks`."""
    if text.endswith("\n"):
        text = f"{text[:-1]}␊"
    text = text.replace("\t", "⇥").replace("\r", "␍")
    return re.sub(r" +(?=␍?$)", lambda blanks: "␣" * len(blanks.group()), text, flags=re.MULTILINE)


def read(path: Path) -> list[Case]:
    parts: list[tuple[str, tuple[str, ...], list[str]]] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if header := HEADER.match(line):
            options = tuple(option.strip() for option in (header[2] or "").split(",") if option.strip())
            parts.append((header[1], options, []))
        else:
            parts[-1][2].append(line)
    cases: list[Case] = []
    for name, options, lines in parts:
        body = "\n".join(lines).rstrip("\n")
        if name == "model":
            cases[-1] = _change_case(cases[-1], model=body)
        elif name in ("shown", "nothing"):
            cases[-1] = _change_case(cases[-1], shown=body if name == "shown" else None)
        else:
            cases.append(Case(path.stem, name, options, body, "", "?"))
    return cases


def write(path: Path, cases: list[Case]) -> None:
    """Write the cases to a file, each with the text that completion shows now."""
    texts = [case.text(None if (result := case.run().text) is None else add_marks(result)) for case in cases]
    path.write_text("\n".join(texts), encoding="utf-8")


def _change_case(case: Case, *, model: str | None = None, shown: str | None = "?") -> Case:
    return Case(case.rule, case.name, case.options, case.source, case.model if model is None else model, shown)
