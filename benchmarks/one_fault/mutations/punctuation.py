"""Missing and extra brackets, quotes, colons, commas, semicolons and `end`."""

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.uses import find_grammar
from benchmarks.one_fault.registry import LANGUAGES, Candidate, register_mutation
from lsp_harness.text.edit import Edit

OPENING, CLOSING, QUOTES = ("(", "[", "{"), (")", "]", "}"), ('"', "'")
WITH_SEMICOLON = ("javascript", "typescript", "rust", "java", "csharp", "php")


def _find_tokens(code: Code, texts: tuple[str, ...]) -> list[Item]:
    return [leaf for leaf in code.leaves if leaf.type in texts and leaf.text == leaf.type]


def _remove_token(code: Code, item: Item) -> Edit:
    """Return the removal of a token, with its line if nothing else is on it."""
    return Edit(*code.line_of(item.start), b"") if code.alone(item) else Edit(item.start, item.end, b"")


def _make_candidate(code: Code, edit: Edit, token: str, change: str) -> Candidate:
    number = code.data.count(b"\n", 0, edit.start)
    return Candidate(edit, "syntax", facts={"token": token, "change": change, "line": number})


def _remove_tokens(code: Code, rng: Random, texts: tuple[str, ...]) -> Iterator[Candidate]:
    tokens = _find_tokens(code, texts)
    # brackets of each sort as often, though some are rare in some languages
    rng.shuffle(tokens)
    rare = {text: sum(token.type == text for token in tokens) for text in texts}
    tokens.sort(key=lambda token: rng.random() * rare[token.type])
    for item in tokens:
        yield _make_candidate(code, _remove_token(code, item), item.type, "missing")


def _add_tokens(code: Code, rng: Random, texts: tuple[str, ...]) -> Iterator[Candidate]:
    tokens = _find_tokens(code, texts)
    for item in rng.sample(tokens, len(tokens)):
        if code.alone(item):
            start, end = code.line_of(item.start)
            edit = Edit(end, end, code.data[start:end])
        else:
            edit = Edit(item.end, item.end, item.text.encode())
        yield _make_candidate(code, edit, item.type, "extra")


def _find_strings(code: Code) -> list[tuple[Item, str]]:
    """Return the string literals on one line, with their quotes."""
    types = find_grammar(code).quoted
    found = [(item, item.text[-1:]) for item in code.items if item.type in types and "\n" not in item.text]
    return [(item, quote) for item, quote in found if quote in QUOTES and item.text[-3:] != quote * 3]


@register_mutation("missing_quote")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    strings = _find_strings(code)
    for item, quote in rng.sample(strings, len(strings)):
        opening = rng.random() < 0.3 and item.text.startswith(quote)
        at = item.start if opening else item.end - 1
        yield _make_candidate(code, Edit(at, at + 1, b""), quote, "missing")


@register_mutation("extra_quote")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    strings = _find_strings(code)
    for item, quote in rng.sample(strings, len(strings)):
        yield _make_candidate(code, Edit(item.end, item.end, quote.encode()), quote, "extra")


def _register(kind: str, make: Callable[..., Iterator[Candidate]], texts: tuple[str, ...], *languages: str) -> None:
    @register_mutation(kind, *languages)
    def _(code: Code, rng: Random) -> Iterator[Candidate]:
        return make(code, rng, texts)


_register("missing_closing_bracket", _remove_tokens, CLOSING, *LANGUAGES)
_register("missing_opening_bracket", _remove_tokens, OPENING, *LANGUAGES)
_register("extra_bracket", _add_tokens, CLOSING, *LANGUAGES)
_register("missing_comma", _remove_tokens, (",",), *LANGUAGES)
_register("extra_comma", _add_tokens, (",",), *LANGUAGES)
_register("missing_colon", _remove_tokens, (":",), *LANGUAGES)
_register("extra_colon", _add_tokens, (":",), "python", "javascript", "typescript")
_register("missing_semicolon", _remove_tokens, (";",), *WITH_SEMICOLON)
_register("missing_end", _remove_tokens, ("end",), "ruby")
_register("extra_end", _add_tokens, ("end",), "ruby")


def count_alternatives(code: Code, candidate: Candidate) -> int:
    """Count the other places of its line where the missing token makes the text parse again."""
    if candidate.facts.get("change") != "missing" or candidate.edit.start == code.line_of(candidate.edit.start)[0]:
        return 0
    after, token = candidate.text(code), str(candidate.facts["token"]).encode()
    broken = Code(code.language.id, after)
    start, end = broken.line_of(candidate.edit.start)
    places = sorted({edge for leaf in broken.leaves for edge in (leaf.start, leaf.end) if start <= edge <= end})
    truth = b"".join(code.data.split())
    texts = {after[:place] + token + after[place:] for place in places}
    others = {b"".join(text.split()): text for text in texts}
    others.pop(truth, None)
    return sum(not Code(code.language.id, text).broken for text in others.values())
