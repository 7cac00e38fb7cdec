"""The uses and the most informative test of a declaration."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.declaration_uses import Use, find_uses
from lsp_harness.index.query.related_tests import RelatedTest, find_related_test


@dataclass(frozen=True, slots=True)
class DeclarationUsage:
    """The uses of a declaration. `test` is the most informative test of it."""

    uses: Sequence[Use] = ()
    test: RelatedTest | None = None


def find_usage(view: IndexView, path: str, qualified_name: str, failing_tests: AbstractSet[str]) -> DeclarationUsage:
    """Return where a declaration is used; empty if the index does not contain it.

    Args:
        view: The index.
        path: The file of the declaration.
        qualified_name: The name of the declaration.
        failing_tests: The names of tests that fail. One of them is preferred.
    """
    symbol = view.symbols.find_symbol(path, qualified_name)
    if symbol is None:
        return DeclarationUsage()
    uses = find_uses(view, symbol)
    return DeclarationUsage(uses, find_related_test(view, symbol, uses, failing_tests))
