"""PLAN and GENERATE: which symbols a task changes, in their order, and the edit of each of them.

Each item is an edit of one symbol, in the texts that the items before it have left. Items that do not depend on each
other are edited at the same time, and their edits are made in the order of the plan. An edit is checked on its own, and
all of them together by the caller.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter

from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.location.task_location import LocatedTask, TaskPlace
from lsp_harness.coding.plan.plan_choice import CHANGE, SWAP, decide_item, keeps_calls
from lsp_harness.coding.plan.renames import Rename, RenameSearch, find_item_declaration, parse_rename
from lsp_harness.coding.plan.turn_texts import TurnTexts, describe_edits, with_data
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Verification
from lsp_harness.errors import NoAnswer
from lsp_harness.events.plan_events import (
    ItemCompleted,
    ItemDecided,
    LoggedEdit,
    PlannedItem,
    PlanProposed,
    PlanSkipped,
)
from lsp_harness.index.graph.dependents import Dependent, Dependents
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.client import Engine
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.code_progress import CodeProgress
from lsp_harness.kernel.results import Proposal
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Span, decode
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.check import Check, CheckContext

MAX_DEPENDENTS = 8
"""Most dependents that are edited one by one. A change of more than these must keep the interface of its symbol."""
MAX_DESCRIBED = 8
"""Most items that are shown of a plan."""
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
        if groups and not any(other in item.depends_on or _is_nested(items[other], item) for other in groups[-1]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _is_nested(first: PlannedItem, second: PlannedItem) -> bool:
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
    """Return the items in words: how many there are, and the first of them."""
    more = f" and {len(items) - MAX_DESCRIBED:,} more" if len(items) > MAX_DESCRIBED else ""
    return f"{format_count(len(items), 'edit')}: {', '.join(map(describe_item, items[:MAX_DESCRIBED]))}{more}"


def describe_item(item: PlannedItem) -> str:
    """Return an item as `symbol at path:line`."""
    return f"{item.symbol or 'code'} at {item.path}:{item.line}"


def _create_item(symbol: str, dependent: Dependent) -> PlannedItem:
    reason = f"{REASONS[dependent.role].format(symbol=symbol)}: {dependent.text}"
    return PlannedItem(dependent.path, dependent.symbol, dependent.line, dependent.role, reason)


MAX_SIGNATURE_CHARS = 160
MAX_WRITTEN_AT_ONCE = 4
"""Most items that are written at the same time. Other servers have a time limit for the first token of each request."""
PLAN_IS_OFF = "one edit; generation.plan is off, so code that depends on it stays as it is"
REPEATED = "The interrupted turn has written the edit"
REPEATED_SUMMARY = "the edit of the interrupted turn"


@dataclass(frozen=True, slots=True)
class EditWork:
    """A task, and the turn that does it.

    Attributes:
        task: The task in words.
        known: What an earlier process has found out.
        turn: The turn.
        states: The states of the turn.
        create_context: Returns the context of an edit of a document: of a kind, at a place.
        edits_dependents: Whether to edit the code that depends on the symbol, too.
    """

    task: str
    known: CodeProgress
    turn: Turn
    states: TurnStates
    create_context: Callable[[Document, str, str], Awaitable[TurnContext]]
    edits_dependents: bool = True


@dataclass(slots=True)
class PlannedEdits:
    """The writer of the edits of one task. An object is used for one task only.

    Attributes:
        work: What the edits must do, and for whom.
        index: The index of the folder.
        engine: The client of the model.
        located: The code that the task is about.
        summary: How the edits were made, in words.
        is_by_model: Whether the model wrote at least one edit.
    """

    work: EditWork
    index: IndexQuery
    engine: Engine
    located: LocatedTask
    summary: str = field(default="", init=False)
    is_by_model: bool = field(default=True, init=False)
    _texts: TurnTexts = field(init=False)

    def __post_init__(self) -> None:
        self._texts = TurnTexts(self.located.root, self.located.read_text)

    async def write(self) -> Proposal | ChangeSet:
        """Return the checked edit of a single symbol, or the edits of several symbols, which nobody has checked yet.

        Raises:
            NoAnswer: The first symbol cannot be edited, or nothing was changed.
        """
        best, uri, states = self.located.ranking.best, self.located.root.as_uri(), self.work.states
        states.enter("PLAN")
        dependents = await self.index.dependents(uri, best.path, best.symbol) if best.symbol else Dependents()
        rename = parse_rename(self.work.task) if self.work.edits_dependents else None
        if rename and best.symbol:
            return await self._rename(rename, dependents)
        items = await self._plan(dependents)
        states.outcome = describe_plan(items) if items[1:] else states.outcome
        if not items[1:]:
            return await self._write_one(items[0])
        changed = 0
        for numbers in find_independent(items):
            changed += await self._write_items(numbers, items)
        self.summary = f"{changed} of {len(items)} planned edits"
        return self._texts.create_changes()

    # -- plan
    async def _plan(self, dependents: Dependents) -> list[PlannedItem]:
        """Return the accepted items in the order in which they are edited, the definition first."""
        work, best, known = self.work, self.located.ranking.best, self.work.known
        may_plan = work.edits_dependents and len(dependents.certain) <= MAX_DEPENDENTS
        proposed = plan_edits(best, dependents.certain if may_plan else ())
        if known.plan is None or known.plan.items != tuple(proposed):
            known.decisions, known.items = {}, {}
            if proposed[1:]:
                work.turn.append(PlanProposed(tuple(proposed)))
        accepted, swapped = [0], list[int]()
        for number, item in enumerate(proposed[1:], 1):
            decision = known.decisions.get(number)
            if decision is None and keeps_calls(work.task, item):
                work.turn.append(decision := ItemDecided(number, False, "facts"))
            elif decision is None:
                # what comes before the item that it was swapped with stays there
                following = None if swapped else find_swappable(proposed, number)
                word = await decide_item(self.engine, work.task, best.symbol, item, following)
                decision = ItemDecided(number, word in (CHANGE, SWAP), "model", word == SWAP)
                work.turn.append(decision)
            accepted += [number] * (decision.is_accepted and not decision.is_swapped) + swapped
            swapped = [number] * decision.is_swapped
        if not accepted[1:]:
            reason = describe_skipped_plan(best.symbol, dependents) if work.edits_dependents else PLAN_IS_OFF
            if proposed[1:]:
                others = format_count(len(proposed) - 1, "dependent")
                reason = f"one edit; {others} of {best.symbol} {'stays' if len(proposed) == 2 else 'stay'} unchanged"
            work.turn.append(PlanSkipped(reason))
            work.states.outcome = f"Skipped: {reason}"
        kept = [proposed[number] for number in accepted]
        return [replace(item, depends_on=_renumber_dependencies(item, proposed, kept)) for item in kept]

    # -- items
    async def _write_one(self, item: PlannedItem) -> Proposal | ChangeSet:
        """Return the edit of the only item of a plan. If an earlier process has written this edit, it is only checked
        again.
        """
        if self._repeat_edit(0):
            self.summary = REPEATED_SUMMARY
            self.work.states.enter("GENERATE", reason=REPEATED)
            return self._texts.create_changes()
        document = self._texts.present(item.path)
        context = await self.work.create_context(document, "edit", "")
        proposal = await run_edit_task(Instruct(context, self.located.span(self.located.ranking.best), self.work.task))
        self._record(0, item, document, describe_edits(proposal.changes.main.edits), proposal.summary)
        return proposal

    async def _write_items(self, numbers: Sequence[int], items: Sequence[PlannedItem]) -> int:
        """Edit the symbols of items that do not depend on each other. Return how many of them were changed.

        Raises:
            NoAnswer: The symbol is the one that the task is about, and cannot be edited.
        """
        states, changed = self.work.states, 0
        missing: list[int] = []
        for number in numbers:
            if self._repeat_edit(number):
                states.enter("GENERATE", reason=f"{REPEATED} of {describe_item(items[number])}")
                changed += bool(self.work.known.items[number].edits)
            else:
                missing.append(number)
        limit = asyncio.Semaphore(MAX_WRITTEN_AT_ONCE)
        tasks = [asyncio.ensure_future(self._write_item(number, items, limit)) for number in missing]
        done: dict[str, list[Edit]] = {}
        try:
            for number, task in zip(missing, tasks, strict=True):
                edits, reason = await task
                changed += self._make_edits(number, items[number], edits, reason, done)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return changed

    async def _write_item(
        self, number: int, items: Sequence[PlannedItem], limit: asyncio.Semaphore
    ) -> tuple[Sequence[Edit], str]:
        """Return the edits of the symbol of one item in the present text of its file, and how they were made.

        Raises:
            NoAnswer: The symbol is the one that the task is about, and cannot be edited.
        """
        item = items[number]
        document, instruction = self._texts.present(item.path), self._write_instruction(number, items)
        try:
            async with limit:
                tree = await asyncio.to_thread(parse, document)
                span = _find_span(document, tree, item)
                context = await self.work.create_context(document, "edit", describe_item(item))
                proposal = await run_edit_task(Instruct(_as_item(context, number), span, instruction))
        except NoAnswer as error:
            if number == 0:
                raise
            # a dependent may fit as it is; the checks of all edits together decide
            return (), error.message
        return proposal.changes.main.edits, proposal.summary

    def _make_edits(
        self, number: int, item: PlannedItem, edits: Sequence[Edit], reason: str, done: dict[str, list[Edit]]
    ) -> bool:
        """Make the edits of an item and add them to `done`: the edits that were written for the same texts before it.

        Returns:
            Whether anything was edited.
        """
        before, earlier = self._texts.present(item.path), done.setdefault(item.path, [])
        if any(edit.start < other.end and other.start < edit.end for edit in edits for other in earlier):
            edits, reason = (), "another edit of the plan has changed these lines"
        moved = [_move(edit, earlier) for edit in edits]
        earlier += edits
        self._texts.change(item.path, before, with_data(before, apply(before.data, moved)))
        self._record(number, item, before, describe_edits(moved), reason)
        return bool(moved)

    def _write_instruction(self, number: int, items: Sequence[PlannedItem]) -> str:
        """Return the instruction of one item: the task, and what the items before it have changed."""
        if number == 0:
            return self.work.task
        first = items[0]
        document = self._texts.present(first.path)
        declaration = find_item_declaration(parse(document), first)
        head = decode(document.data[declaration.start : declaration.body_start]) if declaration else first.symbol
        signature = " ".join(head.split())[:MAX_SIGNATURE_CHARS]
        return f"{first.symbol} was changed: {self.work.task}. It is now `{signature}`. Adapt this code to that"

    def _repeat_edit(self, number: int) -> bool:
        """Make the edit of an item again that an earlier process has finished. Return whether there was one."""
        item = self.work.known.items.get(number)
        return item is not None and self._texts.repeat(item)

    def _record(
        self, number: int, item: PlannedItem, document: Document, edits: tuple[LoggedEdit, ...], reason: str
    ) -> None:
        self.work.turn.append(ItemCompleted(number, item.path, document.hash, edits, reason))

    # -- renames
    async def _rename(self, rename: Rename, dependents: Dependents) -> ChangeSet:
        """Return the edits of a rename.

        Raises:
            NoAnswer: The name cannot be renamed safely.
        """
        proposed = plan_edits(self.located.ranking.best, dependents.certain)
        search = RenameSearch(rename, self.located, proposed, dependents, self._texts, self.index)
        edits = await search.find_edits()
        items = [replace(item, depends_on=_renumber_dependencies(item, proposed, [*edits])) for item in edits]
        self.work.turn.append(PlanProposed(tuple(items)))
        states = self.work.states
        states.outcome = describe_plan(items) + _warn_uncertain(dependents, items)
        states.enter("GENERATE", reason="Names and scopes give the edits, and no model is asked")
        done: dict[str, set[Edit]] = {}
        for number, (item, found) in enumerate(edits.items()):
            before, earlier = self._texts.present(item.path), done.setdefault(item.path, set())
            moved = [_move(edit, earlier) for edit in sorted({*found} - earlier)]
            after = with_data(before, apply(before.data, moved))
            self._texts.change(item.path, before, after)
            earlier.update(found)
            logged = tuple(LoggedEdit(edit.start, edit.end, rename.new) for edit in moved)
            self._record(number, item, before, logged, "a rename")
        self.summary, self.is_by_model = f"the rename in {format_count(len(items), 'place')}", False
        return self._texts.create_changes()


def _move(edit: Edit, earlier: Iterable[Edit]) -> Edit:
    """Return an edit of a text as an edit of the text after other edits of it."""
    growth = sum(len(one.new) - (one.end - one.start) for one in earlier if one.start < edit.start)
    return edit._replace(start=edit.start + growth, end=edit.end + growth)


def _as_item(context: TurnContext, number: int) -> TurnContext:
    """Return the context of one item of a plan. Slow checks, such as tests, only run when all items are written."""

    def create_quick_checks(settings: Verification, purpose: CheckContext) -> list[Check]:
        return [check for check in context.make_checks(settings, purpose) if not check.is_slow]

    return replace(context, item=number, make_checks=create_quick_checks)


def _renumber_dependencies(
    item: PlannedItem, proposed: Sequence[PlannedItem], kept: Sequence[PlannedItem]
) -> tuple[int, ...]:
    """Return the dependencies of an item among the kept items."""
    return tuple(kept.index(proposed[number]) for number in item.depends_on if proposed[number] in kept)


def _warn_uncertain(dependents: Dependents, items: Sequence[PlannedItem]) -> str:
    edited = {f"{item.path}:{item.line}" for item in items}
    left = [place for place in dependents.uncertain if place not in edited]
    if not left:
        return ""
    shown = ", ".join(left[:3])
    more = f" and {len(left) - 3} more" if left[3:] else ""
    return f". Look at {shown}{more}: these may mean it, too, and stay as they are"


def _find_span(document: Document, tree: SyntaxTree | None, item: PlannedItem) -> Span:
    """Return the whole lines of the declaration of an item, or its line outside of declarations.

    Raises:
        NoAnswer: The declaration is no longer there.
    """
    declaration = find_item_declaration(tree, item) if item.symbol else None
    if item.symbol and declaration is None:
        raise NoAnswer(f"{item.symbol} is no longer in {item.path}")
    if declaration is None:
        line = min(item.line - 1, len(document.line_starts) - 1)
        return Span(*document.line_span(line))
    first, last = document.line_of(declaration.start), document.line_of(max(declaration.start, declaration.end - 1))
    return Span(document.line_starts[first], document.line_span(last)[1])
