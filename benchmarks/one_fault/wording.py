"""Messages of the usual server of each language, word by word: tsserver and eslint, gopls, rust-analyzer, jdtls, the C#
extension, intelephense, ruby and steep. What is said of Python is said by ruff and pyright themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

HINT_SHARE = 0.04
"""Share of the diagnostics that name the right word themselves ("Did you mean …?")."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A diagnostic without its place."""

    source: str
    code: str
    message: str
    severity: str = "error"


@dataclass(frozen=True, slots=True)
class Name:
    """An unknown name. `owner` is the type with the missing member, `receiver` the expression before the dot."""

    text: str
    truth: str
    owner: str = ""
    receiver: str = ""
    arguments: str = ""
    called: bool = False


Say = Callable[[Name, Random], Wording]


def _say_in_typescript(plain: str, hinted: str, message: str) -> Say:
    def say(name: Name, rng: Random) -> Wording:
        text = message.format(x=name.text, owner=name.owner)
        if rng.random() < HINT_SHARE:
            return Wording("ts", hinted, f"{text} Did you mean '{name.truth}'?")
        return Wording("ts", plain, text)

    return say


def _say_in_one_form(source: str, code: str, message: str) -> Say:
    def say(name: Name, rng: Random) -> Wording:
        return Wording(source, code, message.format(x=name.text, owner=name.owner, arguments=name.arguments))

    return say


_TS_NAME = _say_in_typescript("2304", "2552", "Cannot find name '{x}'.")
_TS_MEMBER = _say_in_typescript("2339", "2551", "Property '{x}' does not exist on type '{owner}'.")
_ESLINT = _say_in_one_form("eslint", "no-undef", "'{x}' is not defined.")


def _say_in_javascript(name: Name, rng: Random) -> Wording:
    return (_TS_NAME if rng.random() < 0.5 else _ESLINT)(name, rng)


def _go_member(name: Name, rng: Random) -> Wording:
    said = f"{name.receiver}.{name.text} undefined (type {name.owner} has no field or method {name.text})"
    return Wording("compiler", "MissingFieldOrMethod", said)


def _go_package(name: Name, rng: Random) -> Wording:
    if name.text[0].islower():
        return Wording("compiler", "UnexportedName", f"name {name.text} not exported by package {name.receiver}")
    return Wording("compiler", "UndeclaredImportedName", f"undefined: {name.receiver}.{name.text}")


def _say_in_rust(code: str, message: str) -> Say:
    def say(name: Name, rng: Random) -> Wording:
        label = "\nnot found in this scope" if rng.random() < 0.3 else ""
        return Wording("rustc", code, f"{message.format(x=name.text)}{label}")

    return say


def _say_rust_member(name: Name, rng: Random) -> Wording:
    if name.called:
        said = f"no method named `{name.text}` found for {name.owner} in the current scope"
        return Wording("rustc", "E0599", said)
    return Wording("rustc", "E0609", f"no field `{name.text}` on type `{name.owner.partition('`')[2].rstrip('`')}`")


def _say_java_member(name: Name, rng: Random) -> Wording:
    if name.called:
        said = f"The method {name.text}({name.arguments}) is undefined for the type {name.owner}"
        return Wording("Java", "67108964", said)
    return Wording("Java", "33554502", f"{name.text} cannot be resolved or is not a field")


def _say_php_member(name: Name, rng: Random) -> Wording:
    if name.called:
        return Wording("intelephense", "P1013", f"Undefined method '{name.text}'.")
    return Wording("intelephense", "P1014", f"Undefined property '${name.text}'.")


def _say_in_ruby(name: Name, rng: Random) -> Wording:
    where = f"an instance of {name.owner}" if name.owner else "main"
    if name.text[0].isupper() and not name.called:
        return Wording("ruby", "NameError", f"uninitialized constant {name.text}")
    if name.called:
        return Wording("ruby", "NoMethodError", f"undefined method '{name.text}' for {where}")
    return Wording("ruby", "NameError", f"undefined local variable or method '{name.text}' for {where}")


def _say_ruby_member(name: Name, rng: Random) -> Wording:
    if rng.random() < 0.5:
        return Wording("steep", "Ruby::NoMethod", f"Type `::{name.owner}` does not have method `{name.text}`")
    return Wording("ruby", "NoMethodError", f"undefined method '{name.text}' for an instance of {name.owner}")


def _say_ruby_type(name: Name, rng: Random) -> Wording:
    if rng.random() < 0.5:
        return Wording(
            "steep", "Ruby::UnknownConstant", f"Cannot find the declaration of constant: `{name.text}`", "warning"
        )
    return Wording("ruby", "NameError", f"uninitialized constant {name.text}")


_CS0103 = _say_in_one_form("csharp", "CS0103", "The name '{x}' does not exist in the current context")

VARIABLE: dict[str, Say] = {
    "javascript": _say_in_javascript,
    "typescript": _TS_NAME,
    "go": _say_in_one_form("compiler", "UndeclaredName", "undefined: {x}"),
    "rust": _say_in_rust("E0425", "cannot find value `{x}` in this scope"),
    "java": _say_in_one_form("Java", "33554515", "{x} cannot be resolved to a variable"),
    "csharp": _CS0103,
    "php": _say_in_one_form("intelephense", "P1008", "Undefined variable '{x}'."),
    "ruby": _say_in_ruby,
}
FUNCTION: dict[str, Say] = VARIABLE | {
    "rust": _say_in_rust("E0425", "cannot find function `{x}` in this scope"),
    "java": _say_java_member,
    "php": _say_in_one_form("intelephense", "P1010", "Undefined function '{x}'."),
}
TYPE: dict[str, Say] = {
    "javascript": _say_in_javascript,
    "typescript": _TS_NAME,
    "go": VARIABLE["go"],
    "rust": _say_in_rust("E0412", "cannot find type `{x}` in this scope"),
    "java": _say_in_one_form("Java", "16777218", "{x} cannot be resolved to a type"),
    "csharp": _say_in_one_form(
        "csharp",
        "CS0246",
        (
            "The type or namespace name '{x}' could not be found (are you missing a using directive or an assembly "
            "reference?)"
        ),
    ),
    "php": _say_in_one_form("intelephense", "P1009", "Undefined type '{owner}{x}'."),
    "ruby": _say_ruby_type,
}
MEMBER: dict[str, Say] = {
    "javascript": _TS_MEMBER,
    "typescript": _TS_MEMBER,
    "go": _go_member,
    "rust": _say_rust_member,
    "java": _say_java_member,
    "csharp": _say_in_one_form(
        "csharp",
        "CS1061",
        "'{owner}' does not contain a definition for '{x}' and no accessible extension method '{x}' accepting a first "
        "argument of type '{owner}' could be found (are you missing a using directive or an assembly reference?)",
    ),
    "php": _say_php_member,
    "ruby": _say_ruby_member,
}
PACKAGE: dict[str, Say] = {"go": _go_package}
JAVA_QUALIFIER = _say_in_one_form("Java", "570425394", "{x} cannot be resolved")
RUST_TRAIT = _say_in_one_form("rustc", "E0405", "cannot find trait `{x}` in this scope")
RUST_MODULE = _say_in_one_form("rustc", "E0433", "failed to resolve: use of undeclared crate or module `{x}`")
RUST_PATH = _say_in_one_form("rustc", "E0433", "failed to resolve: use of undeclared type `{x}`")

UNUSED_VARIABLE: dict[str, list[Wording]] = {
    "javascript": [
        Wording("eslint", "no-unused-vars", "'{x}' is assigned a value but never used.", "warning"),
        Wording("ts", "6133", "'{x}' is declared but its value is never read.", "hint"),
    ],
    "typescript": [Wording("ts", "6133", "'{x}' is declared but its value is never read.", "hint")],
    "go": [Wording("compiler", "UnusedVar", "declared and not used: {x}")],
    "rust": [Wording("rustc", "unused_variables", "unused variable: `{x}`", "warning")],
    "java": [Wording("Java", "536870973", "The value of the local variable {x} is not used", "warning")],
    "csharp": [Wording("csharp", "CS0219", "The variable '{x}' is assigned but its value is never used", "warning")],
    "php": [Wording("intelephense", "P1003", "Symbol '{x}' is declared but not used.", "hint")],
    "ruby": [Wording("rubocop", "Lint/UselessAssignment", "Useless assignment to variable - `{x}`.", "warning")],
}
UNUSED_IMPORT: dict[str, list[Wording]] = {
    "javascript": [
        Wording("eslint", "no-unused-vars", "'{x}' is assigned a value but never used.", "warning"),
        Wording("ts", "6133", "'{x}' is declared but its value is never read.", "hint"),
    ],
    "typescript": [Wording("ts", "6133", "'{x}' is declared but its value is never read.", "hint")],
    "go": [Wording("compiler", "UnusedImport", '"{path}" imported and not used')],
    "rust": [Wording("rustc", "unused_imports", "unused import: `{path}`", "warning")],
    "java": [Wording("Java", "268435844", "The import {path} is never used", "warning")],
    "csharp": [Wording("csharp", "CS8019", "Unnecessary using directive.", "hint")],
    "php": [Wording("intelephense", "P1003", "Symbol '{x}' is declared but not used.", "hint")],
}
ARGUMENT: dict[str, Wording] = {
    "typescript": Wording(
        "ts", "2345", "Argument of type '{given}' is not assignable to parameter of type '{wanted}'."
    ),
    "go": Wording(
        "compiler",
        "IncompatibleAssign",
        "cannot use {text} ({kind}) as {wanted} value in argument to {function}",
    ),
    "rust": Wording("rustc", "E0308", "arguments to this function are incorrect"),
    "java": Wording(
        "Java",
        "67108979",
        "The method {function}({parameters}) in the type {owner} is not applicable for the arguments ({arguments})",
    ),
    "csharp": Wording("csharp", "CS1503", "Argument {position}: cannot convert from '{given}' to '{wanted}'"),
    "php": Wording("intelephense", "P1006", "Expected type '{wanted}'. Found '{given}'."),
}
