"""PLAN: the edits of single symbols that a task needs, each after those that it depends on."""

from collections.abc import Sequence
from graphlib import TopologicalSorter

from lsp_harness.coding.task_location import TaskPlace
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.index.graph.dependents import Dependent, Dependents

MAX_DEPENDENTS = 8
"""Most dependents that are edited one by one. A change of more than these must keep the interface of its symbol."""
REASONS = {
    "override": "the same method of a related type",
    "caller": "uses {symbol}",
    "test": "tests {symbol}",
}


def plan_edits(place: TaskPlace, dependents: Sequence[Dependent]) -> list[PlannedItem]:
    """Return an item for a declaration and one for each dependent, in a topological order.

    Overrides follow the definition, callers follow all of these, and tests come last.
    """
    first = PlannedItem(place.path, place.symbol, place.first, "definition", "the task is about it")
    items = [first, *(_create_item(place.symbol, dependent) for dependent in dependents)]
    earlier = {"definition": (), "override": ("definition",), "caller": ("definition", "override")}
    before = earlier | {"test": ("definition", "override", "caller")}
    graph = {
        number: [other for other, candidate in enumerate(items) if candidate.role in before[item.role]]
        for number, item in enumerate(items)
    }
    order = [*TopologicalSorter(graph).static_order()]
    position = {number: index for index, number in enumerate(order)}
    return [
        PlannedItem(
            *(items[number].path, items[number].symbol, items[number].line, items[number].role, items[number].reason),
            tuple(sorted(position[other] for other in graph[number])),
        )
        for number in order
    ]


def find_swappable(items: Sequence[PlannedItem], number: int) -> PlannedItem | None:
    """Return the item after an item if it may come before it, because it does not depend on it."""
    following = items[number + 1] if number + 1 < len(items) else None
    return following if following and number not in following.depends_on else None


def find_independent(items: Sequence[PlannedItem]) -> list[list[int]]:
    """Return the numbers of items in their order, in groups whose items neither depend on nor contain each other."""
    groups: list[list[int]] = []
    for number, item in enumerate(items):
        if groups and not any(other in item.depends_on or _nests(items[other], item) for other in groups[-1]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _nests(first: PlannedItem, second: PlannedItem) -> bool:
    """Return whether the declaration of one of two items is a part of the other one."""
    shorter, longer = sorted((f"{first.symbol}.", f"{second.symbol}."), key=len)
    return first.path == second.path and longer.startswith(shorter)


def describe_skipped_plan(symbol: str, dependents: Dependents) -> str:
    """Return why only the symbol itself is edited."""
    count = len(dependents.certain)
    if count > MAX_DEPENDENTS:
        return f"one edit; the {count} declarations that use {symbol} are too many to edit, so it keeps its interface"
    return f"one edit; nothing else depends on {symbol or 'this code'}"


def describe_plan(items: Sequence[PlannedItem]) -> str:
    """Return the items in words."""
    return f"{len(items)} edits: {', '.join(map(describe_item, items))}"


def describe_item(item: PlannedItem) -> str:
    """Return an item as `symbol at path:line`."""
    return f"{item.symbol or 'code'} at {item.path}:{item.line}"


def _create_item(symbol: str, dependent: Dependent) -> PlannedItem:
    reason = f"{REASONS[dependent.role].format(symbol=symbol)}: {dependent.text}"
    return PlannedItem(dependent.path, dependent.symbol, dependent.line, dependent.role, reason)
