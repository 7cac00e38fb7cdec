"""The rules by which screens of agents are read, from data files that name the versions on which they were recorded."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, cast, get_args

from lsp_harness.runtime.agent_state import Activity, BlockKind
from lsp_harness.runtime.states.screen_regions import ComposerShape, RegionName

GENERAL_RULES = "general"
"""The name of the file with rules for all agents and versions."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A demand on one region.

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
class RuleSet:
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
def load_rules(agent: str) -> RuleSet:
    """Return the rules for a kind of agent. An agent without a file has none.

    Raises:
        InvalidRules: The file is wrong.
    """
    file = resources.files("lsp_harness.runtime.states").joinpath("rules", f"{agent}.toml")
    if not re.fullmatch(r"[a-z][a-z-]*", agent) or not file.is_file():
        return RuleSet(agent)
    return read_rules(agent, file.read_text(encoding="utf-8"))


def read_rules(agent: str, text: str) -> RuleSet:
    """Read the text of a file of rules.

    Raises:
        InvalidRules: It is wrong.
    """
    try:
        content = tomllib.loads(text)
        shape = content.get("composer")
        composer = _read_composer(cast("dict[str, Any]", shape)) if shape else None
        rules = [_read_rule(agent, cast("dict[str, Any]", table)) for table in content["rules"]]
        return RuleSet(
            agent,
            tuple(content.get("recorded_on", ())),
            tuple(sorted(rules, key=lambda rule: -rule.priority)),
            composer,
            _read_pattern(content, "row_of_options"),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise InvalidRules(f"the rules for {agent} are wrong: {error!r}") from error


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
        raise InvalidRules(f"the rule {table['name']} for {agent} has no known activity and kind")
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
        raise InvalidRules(f"a rule for the {source} looks at {region}")
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
