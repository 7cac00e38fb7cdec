"""The parts of a statement that a slip may be in, and the names and literals of its file that may be meant."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

from lsp_harness.syntax.names.binding_nodes import FUNCTION_NODES, IMPORT_NODES
from lsp_harness.syntax.names.calls import CALL_NODES, LITERAL_KINDS, RECEIVER_NAMES
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

MEMBER_NODES = frozenset({"attribute", "member_expression"})
SUBSCRIPT_NODES = frozenset({"subscript", "subscript_expression"})
BINARY_NODES = frozenset({"binary_operator", "binary_expression", "boolean_operator", "comparison_operator"})
CONDITIONAL_NODES = frozenset({"conditional_expression", "ternary_expression"})
BINDING_PARENTS = frozenset(
    {
        "parameters",
        "formal_parameters",
        "default_parameter",
        "typed_parameter",
        "lambda_parameters",
        "as_pattern_target",
    }
    | {"required_parameter", "optional_parameter", "global_statement", "nonlocal_statement"}
)
"""Nodes whose names are bound there, not used."""
BINDING_FIELDS = frozenset({"left", "name", "key", "alias"})
SIMILARITY_STEPS = 4
"""Names are told apart by so many degrees of similarity. Within one, the closest use comes first."""


class CodePart(NamedTuple):
    """A node with its parent, and its field in the parent, which a node itself would have to search for."""

    node: Node
    parent: Node | None
    field: str

    @property
    def span(self) -> Span:
        """The bytes of the node."""
        return Span(self.node.start_byte, self.node.end_byte)

    @property
    def text(self) -> str:
        """The text of the node."""
        return decode(self.node.text or b"")

    def replace(self, text: str) -> Edit:
        """Return the edit that writes another text in place of the node."""
        return Edit(*self.span, encode(text))


class WordUse(NamedTuple):
    """A use of a name: its place, whether it is called, and the text before the dot of a member."""

    offset: int
    is_called: bool
    receiver: str


def walk_parts(root: Node, span: Span) -> Iterator[CodePart]:
    """Yield the nodes within a range of bytes, in the order of the text, outer nodes first."""
    stack = [CodePart(root, None, "")]
    while stack:
        part = stack.pop()
        node = part.node
        if node.end_byte <= span.start or node.start_byte >= span.end:
            continue
        if span.start <= node.start_byte and node.end_byte <= span.end:
            yield part
        children = [
            CodePart(child, node, node.field_name_for_child(index) or "") for index, child in enumerate(node.children)
        ]
        stack += reversed(children)


@dataclass(frozen=True, slots=True)
class FileVocabulary:
    """The names and literals of a file.

    Attributes:
        names: Name → its uses as a value or a function, without members.
        members: Name of a member → its uses.
        literals: Kind of a literal (see `LITERAL_KINDS`) → its text → its places.
        wrappers: Text of a function of one argument → the texts of its arguments.
        functions: The bytes of the outermost functions.
    """

    names: dict[str, list[WordUse]] = field(default_factory=dict[str, list[WordUse]])
    members: dict[str, list[WordUse]] = field(default_factory=dict[str, list[WordUse]])
    literals: dict[str, dict[str, list[int]]] = field(default_factory=dict[str, dict[str, list[int]]])
    wrappers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    functions: list[Span] = field(default_factory=list[Span])

    @classmethod
    def read(cls, tree: SyntaxTree) -> "FileVocabulary":
        """Return the names and literals of a tree."""
        found = cls()
        for part in walk_parts(tree.root, Span(0, len(tree.data))):
            found._add(part)
        return found

    def find_function(self, offset: int) -> Span | None:
        """Return the outermost function around an offset, or None at the top level."""
        return next((span for span in self.functions if span.start <= offset < span.end), None)

    def rank_names(self, part: CodePart, uses: dict[str, list[WordUse]], *, is_called: bool) -> list[str]:
        """Return the names that may be meant in place of a name, the most similar and then the closest first."""
        old, offset = part.text, part.node.start_byte

        def rank(name: str) -> tuple[int, int]:
            similarity = SequenceMatcher(None, old, name, autojunk=False).quick_ratio()
            distance = min(abs(use.offset - offset) for use in uses[name])
            return -round(similarity * SIMILARITY_STEPS), distance

        fitting = [name for name, found in uses.items() if any(use.is_called == is_called for use in found)]
        return sorted((name for name in fitting if name != old and name not in RECEIVER_NAMES), key=rank)

    def _add(self, part: CodePart) -> None:
        node, parent = part.node, part.parent
        if node.type in FUNCTION_NODES and not (self.functions and node.start_byte < self.functions[-1].end):
            self.functions.append(Span(node.start_byte, node.end_byte))
        if kind := find_literal_kind(node):
            self.literals.setdefault(kind, {}).setdefault(part.text, []).append(node.start_byte)
        if node.type in CALL_NODES and (callee := node.child_by_field_name("function")):
            arguments = node.child_by_field_name("arguments")
            if arguments and arguments.named_child_count == 1 and (argument := arguments.named_children[0]):
                self.wrappers.setdefault(decode(callee.text or b""), []).append(decode(argument.text or b""))
        if parent is None or parent.type in IMPORT_NODES or "identifier" not in node.type:
            return
        if is_member(part):
            first = parent.children[0]
            # a call of a member is one level above
            called = self._is_called_member(part)
            self.members.setdefault(part.text, []).append(WordUse(node.start_byte, called, decode(first.text or b"")))
        elif parent.type != "keyword_argument" or part.field != "name":
            called = (parent.type in CALL_NODES and part.field == "function") or parent.type in FUNCTION_NODES
            self.names.setdefault(part.text, []).append(WordUse(node.start_byte, called, ""))

    def _is_called_member(self, part: CodePart) -> bool:
        assert part.parent is not None
        return is_called(part.parent)


def is_member(part: CodePart) -> bool:
    """Return whether a part is the name of a member, behind a dot."""
    return bool(part.parent) and part.parent.type in MEMBER_NODES and part.field in ("attribute", "property")  # type: ignore[union-attr]


def is_called(node: Node) -> bool:
    """Return whether an expression is followed by its arguments."""
    following = node.next_sibling
    return following is not None and following.type in ("argument_list", "arguments")


def is_use(part: CodePart) -> bool:
    """Return whether a name is used as a value or a function, and not bound or imported."""
    parent = part.parent
    if parent is None or part.node.type != "identifier" or part.text in RECEIVER_NAMES:
        return False
    if parent.type in IMPORT_NODES | BINDING_PARENTS or (parent.type in FUNCTION_NODES and part.field != "body"):
        return part.field == "value"
    is_bound = part.field in BINDING_FIELDS and parent.type not in BINARY_NODES and "augmented" not in parent.type
    return not is_bound and not is_member(part)


def find_literal_kind(node: Node) -> str:
    """Return the kind of a literal (see `LITERAL_KINDS`), or an empty text for any other node."""
    return LITERAL_KINDS.get(node.type, "") if node.is_named else ""


@dataclass(frozen=True)
class SlipPlace:
    """A statement that may contain a slip.

    Attributes:
        tree: The syntax tree of the text.
        statement: The bytes of the statement, or of the header of a compound statement.
        vocabulary: The names and literals of the file.
    """

    tree: SyntaxTree
    statement: Span
    vocabulary: FileVocabulary

    @cached_property
    def parts(self) -> list[CodePart]:
        """The nodes within the statement, outer nodes first."""
        start, end = self.statement
        node = self.tree.root.descendant_for_byte_range(start, max(start, end - 1))
        if node is None:
            return []
        outer = node.parent
        name = ""
        if outer:
            name = next((outer.field_name_for_child(n) or "" for n, c in enumerate(outer.children) if c == node), "")
        first, *others = walk_parts(node, Span(node.start_byte, node.end_byte))
        inside = [part for part in others if part.span.start >= start and part.span.end <= end]
        return [CodePart(first.node, outer, name), *inside] if node.end_byte <= end else inside

    @cached_property
    def node(self) -> Node | None:
        """The outermost node that begins where the statement begins, without the block around it."""
        start = self.statement.start
        found = self.tree.root.descendant_for_byte_range(start, max(start, self.statement.end - 1))
        while found and (parent := found.parent) and parent.start_byte == start and not is_block(parent):
            found = parent
        return found if found and found.start_byte == start else None

    @property
    def indent_width(self) -> int:
        """The number of characters before the statement in its line, which are blanks."""
        line = self.tree.document.line_of(self.statement.start)
        return self.statement.start - self.tree.document.line_starts[line]


def is_block(node: Node) -> bool:
    """Return whether a node holds statements."""
    return node.type in ("block", "module", "program", "statement_block", "class_body", "source_file")
