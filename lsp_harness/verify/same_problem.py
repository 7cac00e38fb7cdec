"""Recognizes one problem that several tools report, each by its own rule, in its own words and with its own range.

An unknown name or unused code is the same problem if the name and its place are the same. Other findings are the same
if their rules mean the same and their ranges touch, or begin on one line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject, find_subject

GROUPS: tuple[tuple[str, ...], ...] = (
    # Python: names, imports and unused code
    (
        "F401",
        "W0611",
        "unused-import",
        "reportUnusedImport",
        "noUnusedImports",
        "unused_imports",
        "UnusedImport",
        "6192",
    ),
    ("F841", "W0612", "unused-variable", "reportUnusedVariable", "unused_variables", "UnusedVar"),
    ("ARG001", "ARG002", "W0613", "unused-argument", "reportUnusedParameter"),
    ("F821", "E0602", "undefined-variable", "undefined-name", "name-defined", "reportUndefinedVariable"),
    ("unresolved-reference", "no-undef", "2304", "E0425", "UndeclaredName"),
    (
        "E0401",
        "import-error",
        "import-not-found",
        "import-untyped",
        "reportMissingImports",
        "unresolved-import",
        "2307",
    ),
    ("E1101", "no-member", "attr-defined", "reportAttributeAccessIssue", "unresolved-attribute", "missing-attribute"),
    ("possibly-undefined", "reportPossiblyUnbound", "E0606", "E0601", "possibly-unresolved-reference"),
    ("possibly-used-before-assignment", "used-before-assignment", "F823", "2454"),
    # Python: types
    ("arg-type", "reportArgumentType", "invalid-argument-type", "2345"),
    ("call-arg", "reportCallIssue", "missing-argument", "unknown-argument", "too-many-positional-arguments"),
    ("E1120", "E1121", "no-value-for-parameter", "too-many-function-args", "2554"),
    ("return-value", "return", "reportReturnType", "invalid-return-type"),
    ("assignment", "reportAssignmentType", "invalid-assignment", "2322"),
    ("union-attr", "reportOptionalMemberAccess", "possibly-missing-attribute", "possibly-unbound-attribute"),
    ("index", "reportIndexIssue", "reportOptionalSubscript", "non-subscriptable", "not-subscriptable"),
    ("operator", "reportOperatorIssue", "reportOptionalOperand", "unsupported-operator"),
    ("override", "reportIncompatibleMethodOverride", "invalid-method-override", "W0221", "arguments-differ"),
    ("no-redef", "reportRedeclaration", "F811", "E0102", "redefined-while-unused", "function-redefined"),
    # Python: behaviour and style
    ("B006", "W0102", "mutable-argument-default", "dangerous-default-value"),
    ("E722", "W0702", "bare-except", "B001"),
    ("BLE001", "W0718", "W0703", "blind-except", "broad-except", "broad-exception-caught"),
    ("F541", "W1309", "f-string-missing-placeholders", "f-string-without-interpolation"),
    ("E711", "E712", "C0121", "none-comparison", "true-false-comparison", "singleton-comparison"),
    ("F632", "R0123", "is-literal", "literal-comparison"),
    ("PIE790", "W0107", "unnecessary-placeholder", "unnecessary-pass"),
    ("B018", "W0104", "W0106", "useless-expression", "pointless-statement", "expression-not-assigned"),
    ("reportUnusedExpression", "no-unused-expressions"),
    ("RET505", "R1705", "superfluous-else-return", "no-else-return"),
    ("I001", "C0411", "unsorted-imports", "wrong-import-order"),
    ("E402", "C0413", "module-import-not-at-top-of-file", "wrong-import-position"),
    ("E501", "C0301", "line-too-long", "max-len"),
    ("W291", "C0303", "trailing-whitespace", "no-trailing-spaces"),
    ("W292", "C0304", "missing-newline-at-end-of-file", "missing-final-newline", "eol-last"),
    ("E701", "E702", "C0321", "multiple-statements"),
    ("A001", "A002", "W0622", "builtin-variable-shadowing", "builtin-argument-shadowing", "redefined-builtin"),
    ("D100", "D101", "D102", "D103", "C0114", "C0115", "C0116"),
    ("SIM118", "C0201", "in-dict-keys", "consider-iterating-dictionary"),
    # JavaScript and TypeScript
    ("no-unused-vars", "noUnusedVariables", "noUnusedLocals", "6133", "6196", "6198"),
    ("no-unreachable", "noUnreachable", "7027", "reportUnreachable", "unreachable_code"),
    ("no-redeclare", "noRedeclare", "2451", "2300"),
    ("eqeqeq", "noDoubleEquals"),
    ("prefer-const", "useConst"),
    ("no-var", "noVar"),
    ("no-explicit-any", "noExplicitAny"),
    ("no-debugger", "noDebugger"),
)
"""Rules of several tools for one problem, without the prefixes that `_name_rule` takes off."""
LINKED_GROUPS = (
    ("F821", "unresolved-reference"),
    ("possibly-undefined", "F823"),
    ("call-arg", "E1120"),
    ("B018", "no-unused-expressions"),
)
"""Rules of two lines of `GROUPS` that are one group."""
SYNTAX_RULES = frozenset({"", "syntax", "invalid-syntax", "syntax-error", "E999", "E902", "E0001"})
"""Rules about texts that cannot be read. Type checkers report them without a rule, and TypeScript from 1000 to 1999."""
PYLINT_CODE = re.compile(r"PL([CEFRW]\d{4})\Z")
"""A rule of pylint, as ruff names it."""
PREFERRED_SOURCES = ("ruff", "lsp-harness")
"""The tools whose findings stand for a problem, because their rules have fixes."""


def _number_groups() -> Mapping[str, int]:
    numbers = {rule: number for number, rules in enumerate(GROUPS) for rule in rules}
    for first, second in LINKED_GROUPS:
        old, new = numbers[second], numbers[first]
        numbers |= {rule: new for rule, number in numbers.items() if number == old}
    return numbers


GROUP_NUMBERS = _number_groups()


def find_rule_group(code: str) -> str:
    """Return a name for all rules that mean the same as a rule. Empty for a finding without a rule."""
    rule = _name_rule(code)
    number = next((GROUP_NUMBERS[name] for name in (rule, *code.split(":")) if name in GROUP_NUMBERS), None)
    return rule if number is None else f"group {number}"


def _name_rule(code: str) -> str:
    """Return a rule without the name of its plug-in: `@typescript-eslint/no-unused-vars`, `lint/style/useConst`."""
    rule = code.partition(":")[0].rpartition("/")[2]
    if match := PYLINT_CODE.match(rule):
        return match.group(1)
    return rule.removeprefix("TS") if rule[2:].isdigit() else rule


@dataclass(slots=True)
class SharedProblem:
    """A problem, and all findings about it.

    Attributes:
        findings: The findings, in the order in which they were reported.
    """

    findings: list[Finding]

    @property
    def main(self) -> Finding:
        """The finding that stands for the problem: of a tool that has fixes, or else the first one."""
        return min(self.findings, key=lambda finding: _rank(finding.source))


def join_problems(
    findings: Iterable[Finding], document: Document, tree: SyntaxTree | None = None
) -> Sequence[SharedProblem]:
    """Return the problems that findings are about, in the order of their first findings.

    Args:
        findings: The findings of any tools.
        document: The text of the findings.
        tree: The syntax tree of the text. With it, a finding at a syntax error is recognized as one.
    """
    problems: list[tuple[SharedProblem, Subject]] = []
    for finding in findings:
        subject = find_subject(finding, document, tree)
        known = next(
            (
                problem
                for problem, other in problems
                if _is_same(document, (finding, subject), (problem.findings[0], other))
            ),
            None,
        )
        if known:
            known.findings.append(finding)
        else:
            problems.append((SharedProblem([finding]), subject))
    return [problem for problem, _ in problems]


def group_problems(findings: Iterable[Finding], problems: Iterable[SharedProblem]) -> list[list[Finding]]:
    """Return the groups of several problems that have the rule of one of some findings, by their main findings.

    Args:
        findings: The findings whose rules count. Rules of several tools that mean the same are one rule.
        problems: All problems of the text.
    """
    rules = {find_rule_group(finding.code) for finding in findings if finding.code}
    groups: dict[str, list[Finding]] = {}
    for problem in problems:
        if rule := next((rule for f in problem.findings if (rule := find_rule_group(f.code)) in rules), None):
            groups.setdefault(rule, []).append(problem.main)
    return [group for group in groups.values() if len(group) > 1]


def name_problem(finding: Finding, document: Document) -> tuple[int, str]:
    """Return a place and a name that all findings about one problem share, as far as these two decide that."""
    subject = find_subject(finding, document)
    if subject.kind in ("name", "removal") and subject.name:
        return subject.span.start, f"{subject.kind} {subject.name}"
    return finding.start, find_rule_group(finding.code) or finding.message


def is_same_problem(first: Finding, second: Finding, document: Document, tree: SyntaxTree | None = None) -> bool:
    """Return whether two findings are about one problem."""
    pair = ((finding, find_subject(finding, document, tree)) for finding in (first, second))
    return _is_same(document, *pair)


def _is_same(document: Document, one: tuple[Finding, Subject], two: tuple[Finding, Subject]) -> bool:
    (first, first_subject), (second, second_subject) = one, two
    is_one_tool = first.source != "" and first.source.lower() == second.source.lower()
    has_one_rule = _has_one_rule(first, second)
    if is_one_tool and first.code != second.code and not has_one_rule:
        # one tool does not report a problem by two rules
        return False
    is_on_line = document.line_of(first.start) == document.line_of(second.start)
    if "syntax" in (first_subject.kind, second_subject.kind) and not has_one_rule:
        # every tool marks another part of what it could not read
        return is_on_line and not is_one_tool and _reports_syntax(first) and _reports_syntax(second)
    if first_subject.kind != second_subject.kind and not has_one_rule:
        return False
    if first_subject.kind in ("name", "removal") and first_subject.name and second_subject.name:
        return first_subject.name == second_subject.name and first_subject.span.start == second_subject.span.start
    if first.code and second.code and not has_one_rule and first_subject.kind == "rule":
        return False
    if is_one_tool and first.message != second.message:
        return first.start == second.start
    if first_subject.kind in ("rule", "test") and not (first.code and second.code):
        return first.message == second.message and first.start == second.start
    return is_on_line and _touches(first, second)


def _reports_syntax(finding: Finding) -> bool:
    code = finding.code.removeprefix("TS")
    return code in SYNTAX_RULES or (code.isdigit() and code.startswith("1") and len(code) == 4)


def _has_one_rule(first: Finding, second: Finding) -> bool:
    group = find_rule_group(first.code)
    return group != "" and group == find_rule_group(second.code)


def _touches(first: Finding, second: Finding) -> bool:
    return first.start <= max(second.end, second.start) and second.start <= max(first.end, first.start)


def _rank(source: str) -> int:
    name = source.lower()
    return PREFERRED_SOURCES.index(name) if name in PREFERRED_SOURCES else len(PREFERRED_SOURCES)
