"""Shapes of declarations: whether a declaration is a test, a request handler, a model and so on, by its head."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_harness.index.identifier_words import split_words
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import find_language
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

TEST_PATH = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.")
"""Matches the path of a test file."""
TEST_MODULES = frozenset({"test", "tests"})
STUB_PATH = re.compile(r"\.pyi\Z|\.d\.[cm]?ts\Z")
"""Matches the path of a file with heads of declarations that have their bodies elsewhere."""
HTTP_DECORATORS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "route"})
"""Decorators of functions that answer HTTP requests, in lower case."""
HTTP_AFFIXES = re.compile(r"^Http(?=[A-Z])|Mapping$")
"""Affixes that some frameworks add to these decorators: `@GetMapping`, `[HttpGet]`."""
TEST_DECORATORS = frozenset({"test", "fact", "theory", "testmethod", "parameterizedtest"})
COMMON_DECORATORS = frozenset(
    {"override", "staticmethod", "classmethod", "overload", "inline", "must_use", "allow", "wraps", "suppresswarnings"}
)
"""Decorators of declarations that have nothing else in common, in lower case."""
COMMON_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})
"""Bases of classes that have nothing else in common."""
RECEIVER_NAMES = frozenset({"self", "cls", "this"})
HANDLER_PARAMETERS = {"req": "request", "request": "request", "event": "event"}
"""Names of the first parameter of a handler, with the name that its shape gets."""
CONTEXT_PARAMETERS = frozenset({"ctx", "context"})
PARAMETER_MODIFIERS = frozenset({"mut", "private", "public", "readonly"})
PARAMETER_COUNT_STEPS = (1, 2, 4)
"""Functions with the same first word have different shapes if one of these numbers of parameters is between them."""

Criterion = Literal["test", "decorated", "extending", "taking", "named", "ending"]
"""The feature of a declaration that decides its shape."""
ShapeKey = tuple[str, str, bool, Criterion, str]


def is_test_code(path: str, qualified: str) -> bool:
    """Return whether a declaration is in a file of tests, or in a module of tests in another file.

    Args:
        path: The path of the file.
        qualified: The qualified name of the declaration.
    """
    return TEST_PATH.search(path) is not None or not TEST_MODULES.isdisjoint(qualified.split(".")[:-1])


@dataclass(frozen=True, slots=True)
class DeclarationHead:
    """A declaration without its body.

    `text_before` is the text before its name, with decorators; `text_after` follows up to the body.
    """

    language: str
    path: str
    kind: str
    name: str
    bases: Sequence[str]
    text_before: str
    text_after: str


@dataclass(frozen=True, slots=True)
class Shape:
    """The group of similar declarations that a declaration belongs to, such as request handlers.

    `value` is compared with other declarations; `label` is how the text writes it.
    """

    language: str
    kind: str
    is_test: bool
    criterion: Criterion
    value: str
    label: str

    @property
    def key(self) -> ShapeKey:
        """Return a key that is equal for declarations of the same shape."""
        return self.language, self.kind, self.is_test, self.criterion, self.value

    @property
    def is_name_only(self) -> bool:
        """Return whether the shape depends on the name alone, which is weak evidence."""
        return self.criterion in ("named", "ending")


def find_base_language(language: str) -> str:
    """Return the language that a dialect belongs to."""
    return find_language(language).dialect_of or language


def find_shape(head: DeclarationHead) -> Shape | None:
    """Return the shape of a declaration, or None if its head has no feature that tells one."""
    decorators = [name for name in _decorator_names(head) if _last_part(name).lower() not in COMMON_DECORATORS]
    is_test_file = bool(TEST_PATH.search(head.path))
    feature = next(_find_features(head, decorators, is_test_file), None)
    if feature is None:
        return None
    criterion, value, label = feature
    return Shape(
        find_base_language(head.language), head.kind, is_test_file or criterion == "test", criterion, value, label
    )


def describe_shapes(shapes: Sequence[Shape]) -> str:
    """Return a title for declarations of one key: `functions decorated with app.get, router.post`."""
    first = shapes[0]
    kinds = f"{first.kind}es" if first.kind == "class" else f"{first.kind}s"
    counts = Counter(shape.label for shape in shapes)
    labels = ", ".join(sorted(counts, key=lambda label: (-counts[label], label))[:2])
    if first.criterion == "test":
        return f"test {kinds}"
    traits = find_language(first.language).declarations
    phrases = {
        "decorated": traits.decorated_phrase,
        "extending": traits.extending_phrase,
        "ending": "named",
    }
    phrase = phrases.get(first.criterion, first.criterion)
    kinds = f"async {kinds}" if first.criterion == "named" and " async " in first.value else kinds
    return f"{kinds} {phrase} {labels}{' first' * (first.criterion == 'taking')}{' in tests' * first.is_test}"


def _find_features(
    head: DeclarationHead, decorators: Sequence[str], is_test_file: bool
) -> Iterator[tuple[Criterion, str, str]]:
    """Yield the criterion, value and label of each feature, the strongest first."""
    is_function = head.kind not in TYPE_KINDS
    name_words = split_words(head.name).lower().split()
    has_test_decorator = any(_last_part(name).lower() in TEST_DECORATORS for name in decorators)
    if is_function and (has_test_decorator or (is_test_file and name_words[:1] == ["test"])):
        yield "test", "", ""
        return
    if decorators:
        http_decorators = [name for name in decorators if _is_http_decorator(name)]
        decorator = (http_decorators or decorators)[0]
        yield "decorated", "HTTP" if http_decorators else _last_part(decorator), decorator
    yield from _function_features(head, name_words) if is_function else _type_features(head, name_words)


def _type_features(head: DeclarationHead, name_words: Sequence[str]) -> Iterator[tuple[Criterion, str, str]]:
    for base in map(_without_arguments, head.bases):
        if _last_part(base) not in COMMON_BASES:
            yield "extending", _last_part(base), base
    if len(name_words) > 1:
        yield "ending", name_words[-1], f"…{head.name[-len(name_words[-1]) :]}"


def _function_features(head: DeclarationHead, name_words: Sequence[str]) -> Iterator[tuple[Criterion, str, str]]:
    language, name = find_language(head.language), head.name
    parameters = _split_parameters(head.text_after)
    if (
        parameters
        and not language.declarations.types_follow_name
        and _parameter_name(language, parameters[0]) in RECEIVER_NAMES
    ):
        parameters = parameters[1:]
    first = _parameter_name(language, parameters[0]) if parameters else ""
    types_follow_name = language.declarations.types_follow_name and bool(parameters)
    handled = _go_handler_type(parameters[0]) if types_follow_name else HANDLER_PARAMETERS.get(first, "")
    if handled:
        yield "taking", handled, handled
    if name_words and not name.startswith("__"):
        line = head.text_before.rpartition("\n")[2] + head.text_after
        modifier = "async" if re.search(r"\basync\b", line) else ""
        size = sum(len(parameters) >= step for step in PARAMETER_COUNT_STEPS)
        joint = "_" if "_" in name.strip("_") else ""
        label = f"{name.lstrip('_')[: len(name_words[0])]}{joint}…" if len(name_words) > 1 else name
        context = "context" if first in CONTEXT_PARAMETERS else ""
        yield "named", f"{name_words[0]} {modifier} {size} {context}", label


def _decorator_names(head: DeclarationHead) -> list[str]:
    """Return the names of decorators, annotations and attributes."""
    start = find_language(head.language).declarations.decorator_start
    return re.findall(rf"(?m)^[ \t]*{start}\s*\\?([\w.:\\]*\w)", head.text_before)


def _is_http_decorator(name: str) -> bool:
    last = _last_part(name)
    # `mock.patch` is not a route
    is_mock = last == "patch" and name.rpartition(".")[0] in ("", "mock", "mocker")
    return HTTP_AFFIXES.sub("", last).lower() in HTTP_DECORATORS and not is_mock


def _last_part(name: str) -> str:
    return re.split(r"[.:\\]", name)[-1]


def _without_arguments(base: str) -> str:
    """Return the name of a type without its arguments in brackets."""
    return re.split(r"[\[<({ ]", base.strip("*& "))[0]


def _go_handler_type(parameter: str) -> str:
    """Return the type of the first parameter of a Go handler; empty for other functions.

    `context.Context` does not count, as all kinds of functions take one.
    """
    type_name = parameter.split()[-1].lstrip("*")
    is_context = type_name.endswith(".Context") and type_name != "context.Context"
    return type_name if type_name == "http.ResponseWriter" or is_context else ""


def _parameter_name(language: LanguageSpec, parameter: str) -> str:
    """Return the name of a parameter without its type, value and decorators."""
    text = re.sub(r"@[\w.]+(?:\([^)]*\))?", "", parameter).partition("=")[0]
    words = re.findall(r"[^\W\d]\w*", text)
    names = [word for word in words if word not in PARAMETER_MODIFIERS] or [""]
    return names[-1] if language.declarations.types_come_first else names[0].lstrip("_")


def _split_parameters(text: str) -> list[str]:
    """Return the parameters in the first pair of round brackets of a signature."""
    parameters, depth, start = list[str](), 0, 0
    for position, char in enumerate(text):
        if char in "([{<" and (depth or char == "("):
            depth += 1
            start = start or position + 1
        elif depth and char in ")]}>" and text[position - 1] not in "=-":
            depth -= 1
        if (depth == 1 and char == ",") or (start and depth == 0):
            parameters.append(text[start:position].strip())
            start = position + 1
        if start and depth == 0:
            break
    return [parameter for parameter in parameters if parameter and parameter not in "*/"]
