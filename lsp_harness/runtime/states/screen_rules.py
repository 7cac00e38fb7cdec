"""The rules by which screens of agents are read, from data files, and the parts of a screen where a rule may look."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, Protocol, cast, get_args

from lsp_harness.runtime.agent_state import Activity, BlockKind

RegionName = Literal[
    "title", "bottom", "above_composer", "composer", "footer", "below_rule", "body", "options", "before_cursor"
]
"""A part of the screen: the title of the terminal, the last rows that are not empty, the rows above the composer, the
composer (the box for the user's next message), the rows below it, the rows below the last horizontal rule, the text
and the options of a dialog, and the row of the cursor up to the cursor."""
HORIZONTAL_RULE = re.compile(r"[─━═▔]{10,}(.{0,60}[─━═▔]+)?")
"""A row that is a horizontal rule, perhaps with a label in it."""
MAX_COMPOSER_ROWS = 15
BORDERS = "│┃║▌▐▏"


class ScreenView(Protocol):
    """The screen of a terminal, as rules read it."""

    def rows(self) -> list[str]:
        """Return the text of all rows."""
        ...

    def backgrounds(self, row: int) -> list[str]:
        """Return the background of each column of a row, to be compared with each other."""
        ...

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the cursor, from 0 on."""
        ...

    @property
    def title(self) -> str:
        """The title of the terminal."""
        ...


@dataclass(frozen=True, slots=True)
class ComposerShape:
    """The look of a composer on the screen of one kind of agent.

    Attributes:
        pattern: Its first row, without borders and spaces around it.
        lies_between_rules: Whether horizontal rules are above and below it.
        max_rows_below: How many rows that are not empty may be below it.
        prompt: The sign before the text of the user. None: the composer has no text that can be read.
        placeholder: A hint that the agent shows in an empty composer. None: it is only known that such a hint is behind
            the cursor.
        is_edge: Whether `pattern` is the lower edge, so that the text is above it.
    """

    pattern: re.Pattern[str]
    lies_between_rules: bool = False
    max_rows_below: int = 4
    prompt: re.Pattern[str] | None = None
    placeholder: re.Pattern[str] | None = None
    is_edge: bool = False


@dataclass(frozen=True, slots=True)
class Composer:
    """A composer that was found: its first row, and the first row below it."""

    first: int
    end: int


def strip_borders(row: str) -> str:
    """Return a row without the borders of a box and without spaces around it."""
    return row.strip().strip(BORDERS).strip()


def is_rule(row: str) -> bool:
    """Return whether a row is a horizontal rule."""
    return HORIZONTAL_RULE.fullmatch(row.strip()) is not None


def join_rows(rows: Sequence[str]) -> str:
    """Return the text of rows as one line, so that a fragment is found where a narrow terminal wraps it."""
    return " ".join(" ".join(strip_borders(row) for row in rows).split())


def last_rows(rows: Sequence[str], count: int) -> list[str]:
    """Return the last rows that are not empty."""
    return [row for row in rows if strip_borders(row)][-count:]


def rows_below_rule(rows: Sequence[str]) -> list[str]:
    """Return the rows below the last horizontal rule, or none without a rule."""
    last = max((number for number, row in enumerate(rows) if is_rule(row)), default=len(rows))
    return list(rows[last + 1 :])


def text_before_cursor(screen: ScreenView) -> str:
    """Return the row of the cursor up to the cursor, without borders."""
    row, column = screen.cursor
    rows = screen.rows()
    text = rows[row][:column] if row < len(rows) else ""
    return text.strip().lstrip(BORDERS).strip()


def find_composer(rows: Sequence[str], shape: ComposerShape | None) -> Composer | None:
    """Return the composer at the bottom of a screen."""
    if shape is None:
        return None
    found = _find_between_rules(rows, shape) if shape.lies_between_rules else _find_last(rows, shape)
    if found is None or len(last_rows(rows[found.end :], len(rows))) > shape.max_rows_below:
        return None
    return found


def _find_between_rules(rows: Sequence[str], shape: ComposerShape) -> Composer | None:
    rules = [number for number, row in enumerate(rows) if is_rule(row)][-2:]
    if len(rules) < 2 or rules[1] - rules[0] - 1 > MAX_COMPOSER_ROWS:
        return None
    first = rules[0] + 1
    return Composer(first, rules[1]) if shape.pattern.match(strip_borders(rows[first])) else None


def _find_last(rows: Sequence[str], shape: ComposerShape) -> Composer | None:
    numbers = [number for number, row in enumerate(rows) if shape.pattern.match(strip_borders(row))]
    return Composer(numbers[-1], numbers[-1] + 1) if numbers else None


def find_unsent_text(screen: ScreenView, composer: Composer, shape: ComposerShape) -> str:
    """Return the text that the user typed into a composer and did not send.

    It is the text before the cursor, because agents show a hint behind it. Where the hint is known, everything else is
    such a text, too.
    """
    if shape.prompt is None:
        return ""
    rows, (row, column) = screen.rows(), screen.cursor
    first = composer.first
    while shape.is_edge and first > 0 and rows[first - 1].strip()[:1] in tuple(BORDERS):
        first -= 1
    if not first <= row < min(len(rows), first + MAX_COMPOSER_ROWS):
        return ""
    text = _strip_prompt([*rows[first:row], rows[row][:column]], shape.prompt)
    if text or shape.placeholder is None:
        return text
    text = _strip_prompt(rows[first : row + 1], shape.prompt)
    return "" if shape.placeholder.match(text) else text


def _strip_prompt(rows: Sequence[str], prompt: re.Pattern[str]) -> str:
    return prompt.sub("", "\n".join(strip_borders(row) for row in rows).strip(), count=1).strip()


GENERAL_RULES = "general"
"""The name of the file with rules for all agents and versions."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a rule: a pattern that a region of the screen must or must not show.

    Attributes:
        region: The region.
        rows: How many rows of it, from its edge at the dialog or at the bottom. 0 is all.
        contains: Texts that must all be there.
        pattern: A pattern that must be there.
        absent: A pattern that must not be there.
    """

    region: RegionName
    rows: int = 0
    contains: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    absent: re.Pattern[str] | None = None

    def find_fault(self, text: str) -> str:
        """Return why a text does not meet the condition, or an empty text if it does."""
        for wanted in self.contains:
            if wanted not in text:
                return f"{self.region}: no {wanted!r}"
        if self.pattern and not self.pattern.search(text):
            return f"{self.region}: no match of {self.pattern.pattern!r}"
        if self.absent and (match := self.absent.search(text)):
            return f"{self.region}: {match.group()!r} is there"
        return ""


@dataclass(frozen=True, slots=True)
class ScreenRule:
    """A rule: what an agent does whose screen or title meets all conditions.

    Attributes:
        name: Its name, with the name of the file before it.
        source: Whether it reads the title or the screen.
        priority: Rules with a higher number are tried first.
        activity: What the agent does.
        kind: What it waits for.
        conditions: The conditions.
        composer: Whether there must be a composer. None: it does not matter.
        settle_s: The screen must not have changed for so long.
        allow: The label of the option that allows what the agent asks.
        deny: The label of the option that denies it.
        harmless: The label of an option that may be taken without asking anyone, such as a colour theme.
    """

    name: str
    source: Literal["title", "screen"]
    priority: int
    activity: Activity
    kind: BlockKind = ""
    conditions: tuple[Condition, ...] = ()
    composer: bool | None = None
    settle_s: float = 0.0
    allow: re.Pattern[str] | None = None
    deny: re.Pattern[str] | None = None
    harmless: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ScreenRuleSet:
    """The rules for one kind of agent.

    Attributes:
        agent: The kind of agent.
        recorded_on: The versions of the program whose screens the rules were recorded on, the oldest first. Between
            them they count as known. A shorter number stands for all versions that begin with it.
        rules: The rules, the highest priority first.
        composer: The look of its composer.
        row_of_options: Options that are beside each other.
    """

    agent: str
    recorded_on: tuple[str, ...] = ()
    rules: tuple[ScreenRule, ...] = ()
    composer: ComposerShape | None = None
    row_of_options: re.Pattern[str] | None = None

    def knows(self, version: str) -> bool:
        """Return whether a version lies in the range on which the rules were recorded."""
        if not self.recorded_on:
            return True
        numbers = _read_version(version)
        if not numbers:
            return False
        first, last = _read_version(self.recorded_on[0]), _read_version(self.recorded_on[-1])
        return first <= numbers and numbers[: len(last)] <= last


class InvalidRules(ValueError):
    """A file of rules is wrong."""


@cache
def load_rules(agent: str) -> ScreenRuleSet:
    """Return the rules for a kind of agent. An agent without a file has none.

    Raises:
        InvalidRules: The file is wrong.
    """
    file = resources.files("lsp_harness.runtime.states").joinpath("rules", f"{agent}.toml")
    if not re.fullmatch(r"[a-z][a-z-]*", agent) or not file.is_file():
        return ScreenRuleSet(agent)
    return read_rules(agent, file.read_text(encoding="utf-8"))


def read_rules(agent: str, text: str) -> ScreenRuleSet:
    """Read the text of a file of rules.

    Raises:
        InvalidRules: It is wrong.
    """
    try:
        content = tomllib.loads(text)
        shape = content.get("composer")
        composer = _read_composer(cast("dict[str, Any]", shape)) if shape else None
        rules = [_read_rule(agent, cast("dict[str, Any]", table)) for table in content["rules"]]
        return ScreenRuleSet(
            agent,
            tuple(content.get("recorded_on", ())),
            tuple(sorted(rules, key=lambda rule: -rule.priority)),
            composer,
            _read_pattern(content, "row_of_options"),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise InvalidRules(f"the rules for {agent} cannot be read: {error!r}") from error


def _read_composer(table: dict[str, Any]) -> ComposerShape:
    return ComposerShape(
        re.compile(table["regex"]),
        table.get("between_rules", False),
        table.get("max_rows_below", 4),
        _read_pattern(table, "prompt"),
        _read_pattern(table, "placeholder"),
        table.get("is_edge", False),
    )


def _read_rule(agent: str, table: dict[str, Any]) -> ScreenRule:
    source = table.get("source", "screen")
    if table["activity"] not in get_args(Activity) or table.get("kind", "") not in get_args(BlockKind):
        raise InvalidRules(f"the rule {table['name']} for {agent} has an unknown activity or kind")
    return ScreenRule(
        name=f"{agent}/{table['name']}",
        source=source,
        priority=table["priority"],
        activity=table["activity"],
        kind=table.get("kind", ""),
        conditions=tuple(_read_condition(condition, source) for condition in table.get("when", ())),
        composer=table.get("composer"),
        settle_s=table.get("settle_s", 0.0),
        allow=_read_pattern(table, "allow"),
        deny=_read_pattern(table, "deny"),
        harmless=_read_pattern(table, "harmless"),
    )


def _read_condition(table: Mapping[str, Any], source: str) -> Condition:
    region = table.get("region", "title" if source == "title" else "bottom")
    if region not in get_args(RegionName) or (region == "title") != (source == "title"):
        raise InvalidRules(f"a rule for the {source} cannot have the region {region}")
    return Condition(
        region,
        table.get("rows", 0),
        tuple(table.get("contains", ())),
        _read_pattern(table, "regex"),
        _read_pattern(table, "not"),
    )


def _read_pattern(table: Mapping[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(table[key]) if key in table else None


def _read_version(version: str) -> tuple[int, ...]:
    match = re.search(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()
