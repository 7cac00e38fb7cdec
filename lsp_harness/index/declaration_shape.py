"""What a declaration is an instance of, told by the text of its head alone: its decorator, what it extends, what it takes, how it is
called, and whether its file is one of tests."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_harness.index.identifier_words import words
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

TESTS = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.")
"""In the path of a file of tests."""
HTTP = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "route"})
"""Decorators that make a function answer requests, and what some frameworks put around them (`@GetMapping`, `[HttpGet]`)."""
AROUND_HTTP = re.compile(r"^Http(?=[A-Z])|Mapping$")
TESTING = frozenset({"test", "fact", "theory", "testmethod", "parameterizedtest"})
SAY_NOTHING = frozenset(
    {"override", "staticmethod", "classmethod", "overload", "inline", "must_use", "allow", "wraps", "suppresswarnings"}
)
"""Decorators of things that are not alike, in lower case."""
OPEN_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})
"""Bases of classes that are not alike."""
TYPED_FIRST = frozenset({"c", "cpp", "csharp", "java", "php"})
"""Languages that put the type before the name of a parameter."""
RECEIVERS = frozenset({"self", "cls", "this"})
HANDED = {"req": "request", "request": "request", "event": "event"}
"""First parameters that tell a handler, whatever it is called."""
CONTEXT = frozenset({"ctx", "context"})
MARKS = {"csharp": r"\[", "rust": r"#\[", "php": r"#\["}
CALLED = {
    "java": "annotated with",
    "csharp": "with the attribute",
    "rust": "with the attribute",
    "php": "with the attribute",
}
SIZES = (1, 2, 4)
"""Counts of parameters from which on a function is another sort of thing."""

How = Literal["test", "decorated", "extending", "taking", "named", "ending"]
Key = tuple[str, str, bool, How, str]


@dataclass(frozen=True, slots=True)
class Shape:
    """By `what`, told in the way `how`, it belongs with others; `written` is how the text has that."""

    language: str
    kind: str
    test: bool
    how: How
    what: str
    written: str

    @property
    def key(self) -> Key:
        """Equal for what belongs together."""
        return self.language, self.kind, self.test, self.how, self.what

    @property
    def weak(self) -> bool:
        """Whether nothing but the name tells: that two are called alike need not mean anything."""
        return self.how in ("named", "ending")


def family(language: str) -> str:
    """Of dialects the language that they are one of."""
    return "typescript" if language == "tsx" else language


def shape(language: str, path: str, kind: str, name: str, bases: Sequence[str], before: str, head: str) -> Shape | None:
    """Of a declaration, `before` being the text before its name, decorators and all, and `head` that from its name to its body;
    None for one that nothing tells about."""
    marks = [mark for mark in _marks(language, before) if _last(mark).lower() not in SAY_NOTHING]
    test = bool(TESTS.search(path))
    found = next(_told(language, kind, name, bases, marks, test, before, head), None)
    if found is None:
        return None
    how, what, written = found
    return Shape(family(language), kind, test or how == "test", how, what, written)


def name_of(shapes: Sequence[Shape]) -> str:
    """What declarations of one key are called, for people: `functions decorated with app.get, router.post`."""
    one = shapes[0]
    kinds = f"{one.kind}es" if one.kind == "class" else f"{one.kind}s"
    ways = Counter(each.written for each in shapes)
    written = ", ".join(sorted(ways, key=lambda text: (-ways[text], text))[:2])
    if one.how == "test":
        return f"test {kinds}"
    how = CALLED.get(one.language, "decorated with") if one.how == "decorated" else one.how
    how = {"ending": "named", "extending": "embedding" if one.language == "go" else how}.get(one.how, how)
    kinds = f"async {kinds}" if one.how == "named" and " async " in one.what else kinds
    return f"{kinds} {how} {written}{' first' * (one.how == 'taking')}{' in tests' * one.test}"


def _told(
    language: str, kind: str, name: str, bases: Sequence[str], marks: Sequence[str], test: bool, before: str, head: str
) -> Iterator[tuple[How, str, str]]:
    """In which ways it belongs to others, by what, and how that is written; the surest way first."""
    inner = kind not in TYPE_KINDS
    called = words(name).lower().split()
    if inner and (any(_last(mark).lower() in TESTING for mark in marks) or (test and called[:1] == ["test"])):
        yield "test", "", ""
        return
    if marks:
        answers = [mark for mark in marks if _answers(mark)]
        mark = (answers or marks)[0]
        yield "decorated", "HTTP" if answers else _last(mark), mark
    if not inner:
        for base in (base for base in bases if _last(_bare(base)) not in OPEN_BASES):
            yield "extending", _last(_bare(base)), _bare(base)
        if len(called) > 1:
            ending = name[-len(called[-1]) :]
            yield "ending", called[-1], f"…{ending}"
        return
    taken = _parameters(head)
    if taken and language != "go" and _name(language, taken[0]) in RECEIVERS:
        taken = taken[1:]
    first = _name(language, taken[0]) if taken else ""
    handed = _go_handed(taken[0]) if language == "go" and taken else HANDED.get(first, "")
    if handed:
        yield "taking", handed, handed
    if called and not name.startswith("__"):
        kept = "async" if re.search(r"\basync\b", before.rpartition("\n")[2] + head) else ""
        size = sum(len(taken) >= least for least in SIZES)
        joint = "_" if "_" in name.strip("_") else ""
        written = f"{name.lstrip('_')[: len(called[0])]}{joint}…" if len(called) > 1 else name
        yield "named", f"{called[0]} {kept} {size} {'context' if first in CONTEXT else ''}", written


def _marks(language: str, before: str) -> list[str]:
    """The names of decorators, annotations, attributes."""
    return re.findall(rf"(?m)^[ \t]*{MARKS.get(language, '@')}\s*\\?([\w.:\\]*\w)", before)


def _answers(mark: str) -> bool:
    last = _last(mark)
    # `mock.patch` is no route
    mocks = last == "patch" and mark.rpartition(".")[0] in ("", "mock", "mocker")
    return AROUND_HTTP.sub("", last).lower() in HTTP and not mocks


def _last(name: str) -> str:
    return re.split(r"[.:\\]", name)[-1]


def _bare(base: str) -> str:
    """A type without what is in brackets behind it."""
    return re.split(r"[\[<({ ]", base.strip("*& "))[0]


def _go_handed(parameter: str) -> str:
    """What tells a handler in Go, which is the type of what it takes first: all sorts of functions take a `context.Context`."""
    kind = parameter.split()[-1].lstrip("*")
    handed = kind == "http.ResponseWriter" or (kind.endswith(".Context") and kind != "context.Context")
    return kind if handed else ""


def _name(language: str, parameter: str) -> str:
    """Of a parameter, without its type, value, and decorators."""
    text = re.sub(r"@[\w.]+(?:\([^)]*\))?", "", parameter).partition("=")[0]
    names = re.findall(r"[^\W\d]\w*", text)
    names = [one for one in names if one not in ("mut", "private", "public", "readonly")] or [""]
    return names[-1] if language in TYPED_FIRST else names[0].lstrip("_")


def _parameters(head: str) -> list[str]:
    """What is between the first brackets of a signature, apart where the commas are."""
    found, depth, begun = list[str](), 0, 0
    for at, char in enumerate(head):
        if char in "([{<" and (depth or char == "("):
            depth += 1
            begun = begun or at + 1
        elif depth and char in ")]}>" and head[at - 1] not in "=-":
            depth -= 1
        if (depth == 1 and char == ",") or (begun and depth == 0):
            found.append(head[begun:at].strip())
            begun = at + 1
        if begun and depth == 0:
            break
    return [one for one in found if one and one not in "*/"]
