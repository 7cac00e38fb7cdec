"""A parse ends when its allowance is spent, and trees on which queries would take long are refused."""

from itertools import count

import pytest

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.bounded_parse import check_shape, parse_bytes
from lsp_harness.syntax.grammars import language_named
from lsp_harness.syntax.names.calls import parse_parameters
from lsp_harness.syntax.parse_budget import BUDGET, MAX_TEXT_BYTES, Allowance, ParseBudget, ParseBudgetExceeded
from lsp_harness.syntax.recovery import recovery
from lsp_harness.syntax.recovery.broken_text import BrokenLineSearch
from lsp_harness.syntax.tree import SyntaxTree, parse, parse_root
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

MANY_LINES = b"x = f(1)\n" * 5_000


def find_language(name: str) -> LanguageSpec:
    result = language_named(name)
    assert result is not None
    return result


def parse_tree(name: str, text: str) -> SyntaxTree:
    tree = parse(Document.from_text("x", text, language=name))
    assert tree is not None
    return tree


class TickingClock:
    """A clock on which a second passes at each look."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return float(self.looks)


def test_a_parse_ends_soon_after_its_allowance_is_spent():
    clock = TickingClock()
    with pytest.raises(ParseBudgetExceeded, match="parsing takes more than 20000 ms"):
        parse_bytes(find_language("python"), MANY_LINES, Allowance(20.0, clock))
    # a slow parser gets 64 bytes at a time, so this text would need thousands of looks
    assert clock.looks < 40


def test_an_allowance_is_shared_and_can_be_withdrawn():
    clock = TickingClock()
    shared = Allowance(1e9, clock)
    assert parse_bytes(find_language("python"), b"x = 1\n", shared).root_node.child_count == 1
    shared.cancel()
    with pytest.raises(ParseBudgetExceeded):
        parse_bytes(find_language("python"), b"x = 1\n", shared)


def test_the_text_of_a_node_can_be_read_after_the_parse():
    name = "n" * 10_000
    tree = parse_bytes(find_language("python"), f"{name} = 1\n".encode(), Allowance(1e9))
    node = tree.root_node.descendant_for_byte_range(0, len(name))
    assert node is not None
    assert node.text == name.encode()


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("python", b"x" * (MAX_TEXT_BYTES + 1), "larger than 2000 kB"),
        ("python", b"x = 1\0", "not a text"),
        ("yaml", b"a:\n" + b" " * 300 + b"b: 1\n", "nested too deeply"),
    ],
)
def test_texts_that_are_not_parsed_at_all(name: str, data: bytes, why: str):
    with pytest.raises(ParseBudgetExceeded, match=why):
        parse_bytes(find_language(name), data, Allowance(1e9))


@pytest.mark.parametrize(
    ("name", "text", "limits", "why"),
    [
        ("python", "x = [" + "1, " * 900 + "]\n", ParseBudget(max_nodes=1_000), "more than 1,000 nodes"),
        (
            "python",
            "x = " + "(" * 900 + "1" + ")" * 900 + "\n",
            ParseBudget(max_depth=500),
            "more than 500 levels deep",
        ),
        ("javascript", "class a b " * 900, ParseBudget(max_error_children=300), "fit no rule"),
    ],
)
def test_trees_on_which_queries_take_long_are_refused(name: str, text: str, limits: ParseBudget, why: str):
    root = parse_root(find_language(name), text.encode())
    check_shape(root, ParseBudget())
    with pytest.raises(ParseBudgetExceeded, match=why):
        check_shape(root, limits)


def test_an_edit_is_parsed_within_the_allowance_too():
    tree = parse_tree("python", "x = 1\n")
    edit = Edit(0, 0, MANY_LINES)
    with pytest.raises(ParseBudgetExceeded):
        tree.apply_edit(edit, Allowance(20.0, TickingClock()))
    assert tree.apply_edit(edit, Allowance(BUDGET.text_s)) is not None


def test_the_search_for_broken_lines_ends_with_its_allowance():
    lines = [b"x = 1"] * 100 + [b"return )"]
    going = [False] * len(lines)
    assert BrokenLineSearch(find_language("python"), lines, going).find_lines(0, len(lines)) == [100]
    clock = TickingClock()
    assert (
        BrokenLineSearch(find_language("python"), lines, going, Allowance(20.0, clock)).find_lines(0, len(lines)) == []
    )
    assert clock.looks < 60


def test_all_trials_of_a_repair_share_one_allowance(monkeypatch: pytest.MonkeyPatch):
    tree, used = parse_tree("python", "x = (a + b * c\ny = 2\n"), list[Allowance]()
    apply_edit = SyntaxTree.apply_edit

    def recorded(self: SyntaxTree, edit: Edit, allowance: Allowance) -> SyntaxTree | None:
        used.append(allowance)
        return apply_edit(self, edit, allowance)

    monkeypatch.setattr(SyntaxTree, "apply_edit", recorded)
    assert recovery.find_recoveries(tree, 0, 0)
    assert len(used) > 1
    assert len({id(item) for item in used}) == 1
    monkeypatch.setattr(recovery, "PARSE_TIME_S", 0.0)
    assert recovery.find_recoveries(tree, 0, 0) == []


def test_an_expensive_trial_does_not_end_the_others(monkeypatch: pytest.MonkeyPatch):
    tree, numbers = parse_tree("python", "x = (a + b * c\ny = 2\n"), count()
    apply_edit = SyntaxTree.apply_edit

    def costly_first(self: SyntaxTree, edit: Edit, allowance: Allowance) -> SyntaxTree | None:
        if next(numbers) == 0:
            raise ParseBudgetExceeded("parsing takes more than 150 ms")
        return apply_edit(self, edit, allowance)

    monkeypatch.setattr(SyntaxTree, "apply_edit", costly_first)
    assert recovery.find_recoveries(tree, 0, 0)


def test_parameters_of_a_declaration_that_costs_too_much_are_not_known():
    assert len(parse_parameters(find_language("python"), b"def f(a, b): ...\n", "f")) == 1
    assert parse_parameters(find_language("python"), b"def f(a, b): ...\n\0", "f") == []
