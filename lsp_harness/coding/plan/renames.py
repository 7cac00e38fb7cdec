"""Renames that a prompt asks for and nothing else: index, scopes and types give all edits, and no model is asked."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from lsp_harness.coding.location.task_location import LocatedTask, TaskPlaces
from lsp_harness.coding.location.task_mentions import is_surely_file
from lsp_harness.coding.plan.turn_texts import TurnTexts
from lsp_harness.errors import NoAnswer
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.index.graph.dependents import Dependents
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.syntax.names.documented_parameters import find_documented_parameters
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.names.parameter_names import find_local_uses, find_named_arguments
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations, qualified_name
from lsp_harness.syntax.symbols.import_block import find_import_statements
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

QUOTE = "[`'\"“”]?"
NAME = r"[^\W\d][\w$]*"
QUALIFIED = rf"{NAME}(?:(?:\.|::|\#){NAME})*"
LOCAL_KIND = r"(?:parameter|argument|param|arg|(?:local )?variable|var)"
KIND = (
    rf"(?:the |our |a )?(?:{LOCAL_KIND}|(?:helper |private |static )?(?:function|method)|class|struct|enum|trait|"
    r"interface|type|constant|const|attribute|field|property|helper|exception|error|fixture|test|member|variant)"
)
PLACE = (
    rf"(?:\s+(?:of|in|from|inside)\s+(?:the\s+)?(?:{KIND}\s+|file\s+)?{QUOTE}(?P<owner>[\w./:#$-]+)(?:\(\))?{QUOTE})"
)
PLACE_BEFORE = PLACE.replace(r"(?:\s+(?:of", "(?:(?:of", 1).replace("<owner>", "<before>")
OLD = rf"(?:(?P<kind>{KIND})\s+)?{QUOTE}(?P<old>{QUALIFIED})(?:\(\))?{QUOTE}"
NEW = rf"{QUOTE}(?P<new>{NAME})(?:\(\))?{QUOTE}"
ARROW = r"\s*(?:=>|-+>|→)\s*"
TO = rf"(?:\s+(?:to|into|as)\s+|{ARROW})"
LEAD = (
    r"(?:(?:no|please|pls|plz|hi|hello|hey|hm+|ok(?:ay)?|now|just|(?:can|could|would) (?:you|u|we)|"
    r"i (?:want|need|would like) to|we (?:should|need to|have to)|let's|let us)\b[\s,.!:]*)*"
)
TAIL = (
    r"(?:[\s,]*(?:please|pls|plz|thanks?|thank you|instead|rather|too|as well|(?:and )?also in (?:the )?(?:unit )?"
    r"(?:tests?|docs?|documentation|examples?|comments?)|everywhere|(?:but )?keep (?:the )?(?:file ?names?|"
    r"files?)(?: as (?:it is|they are))?|in (?:all|the whole) (?:files|places|project|code|repo)|"
    r"(?:and|also)? ?(?:update|fix|adapt|change) (?:all |the |its |every )*(?:callers?|references|usages|uses|imports|"
    r"tests|call sites|occurrences))\b)*[\s.!?]*"
)
SHALL = r"(?:should|shall|must|has to|needs to|ought to)(?: now)? be (?:called|named|renamed(?: to)?)"
CALL_IT = (
    r"(?:call|name|rename) it (?:to )?(?!(?:once|twice|later|first|again|only|directly|from|with|in|before|after|when|"
    r"less|more|lazily|always|never|here|there|instead|just|if|like|every|for|on|at|by|without|often)\b)"
)
"""The words before a new name. Behind them, an adverb is no name."""
IT_SHALL = r"(?:(?:it|this|that)\s+)?(?:should|shall|must|could|ought to) (?:rather )?be (?:called |named )?"
REASON = r"(?:is|has|sounds|seems)\b[^.;:]{0,60}[,;:.-]+\s*(?:please |pls |so )?"
"""Why a name is not good."""
FORMS = tuple(
    re.compile(rf"{LEAD}{form}{TAIL}", re.IGNORECASE)
    for form in (
        rf"(?:{PLACE_BEFORE}[\s,:]+)?(?:please |pls )?rename\s+{OLD}{PLACE}?{TO}{NEW}",
        rf"change (?:the )?name of\s+{OLD}{PLACE}?{TO}{NEW}",
        rf"(?:{PLACE_BEFORE}[\s,:]+)?{OLD}{PLACE}?\s+{SHALL}\s+{NEW}",
        rf"{PLACE_BEFORE}[\s,:]+(?:please |pls )?(?:call|name)\s+{OLD}\s+(?:(?:just|simply|instead|rather)\s+)?{NEW}",
        rf"(?:call|name)\s+(?P<kind>{KIND})\s+{QUOTE}(?P<old>{QUALIFIED}){QUOTE}\s+(?:(?:just|simply|instead|rather)\s+)?{NEW}",
        rf"{OLD}{PLACE}?{ARROW}{NEW}",
        rf"{OLD}{PLACE}?\s+is (?:a |not a )?(?:bad|poor|wrong|strange|ugly|good|odd) name\W+{IT_SHALL}{NEW}",
        rf"{OLD}{PLACE}?[\s,;:.-]+(?:a |the )?better name(?: would be| is| could be)?[\s:]+{NEW}",
        rf"(?:{PLACE_BEFORE}[\s,:]+)?{OLD}{PLACE}?\s+{REASON}{CALL_IT}{NEW}",
        rf"rename\s+{OLD}{PLACE}?[\s,;:.-]+(?:(?:the )?new name(?: is| should be| shall be)?|call it|to)[\s:=]+{NEW}",
        rf"{OLD}{PLACE}?[\s,;:.-]+(?:please |pls )?{CALL_IT}{NEW}",
    )
)
"""The sentences of a rename. A group may stand twice in a sentence, and the first one with a text counts."""
DESCRIBED = tuple(
    re.compile(f"{LEAD}{form}{TAIL}", re.IGNORECASE)
    for form in (
        rf"(?:the|our)\s+(?:\S+\s+){{2,20}}?{SHALL}\s+{NEW}",
        rf"rename\s+(?:the|our)\s+(?:\S+\s+){{2,20}}?(?:to|into)\s+{NEW}",
        rf"(?:rename\s+)?(?:the|our)\s+(?:\S+\s+){{2,25}}?(?:please |pls )?{CALL_IT}{NEW}",
        rf"rename\s+(?:the|our)\s+(?:\S+\s+){{2,25}}?(?:the )?new name(?: is)?[\s:=]+{NEW}",
    )
)
"""The sentences of a rename of code that is described and not named."""
DOCUMENTED = r"`(?:[\w.:]+(?:\.|::))?(?P<name>NAME)(?:(?:\.|::)\w+)*(?:\(\))?`|(?:\.|::)(?P<used>NAME)\b(?!\.\w)"
"""Matches a name in the documentation, where NAME stands for it."""
ALL_NAMES = re.compile(rb"^__all__\s*(?::[^=\n]*)?\+?=\s*[\[(][^\])]*[\])]", re.MULTILINE)
"""Matches the list of the names that a module of Python exports."""
MAX_CHARS = 300
"""A longer prompt asks for more than a rename."""
MAX_UNCERTAIN = 200
"""Most uses without a proof that are renamed."""


@dataclass(frozen=True, slots=True)
class Rename:
    """A rename, and nothing else.

    Attributes:
        old: The present name, with dots between its parts. Empty if the prompt describes the code and does not name it.
        new: The new name.
        owner: The function, the type or the file that has the name. It may be empty.
        kind: What the prompt says that the name is, if it is a name of a function: a "parameter" or a "variable".
    """

    old: str
    new: str
    owner: str = ""
    kind: Literal["", "parameter", "variable"] = ""


def parse_rename(task: str) -> Rename | None:
    """Return the rename that a task asks for, or None if it asks for something else, or for more."""
    text = " ".join(task.split())
    if len(text) > MAX_CHARS:
        return None
    for form in FORMS:
        match = form.fullmatch(text)
        if match is None:
            continue
        groups = match.groupdict()
        old, owner = (
            re.sub("::|#", ".", text or "") for text in (groups["old"], groups.get("owner") or groups.get("before"))
        )
        if is_surely_file(match["old"]) or old == match["new"]:
            return None
        return Rename(old, match["new"], owner, _read_kind(groups.get("kind") or ""))
    described = next(filter(None, (form.fullmatch(text) for form in DESCRIBED)), None)
    return Rename("", described["new"]) if described else None


def _read_kind(words: str) -> Literal["", "parameter", "variable"]:
    if not re.search(LOCAL_KIND, words, re.IGNORECASE):
        return ""
    return "variable" if re.search(r"\bvar", words, re.IGNORECASE) else "parameter"


def describe_place(task: str) -> str:
    """Return the words by which the code of a task is found: those of a rename are the name, or what has it."""
    rename = parse_rename(task)
    if rename is None or not rename.old or (rename.kind and not rename.owner):
        return task
    if rename.kind:
        return f"`{rename.owner}`" if not is_surely_file(rename.owner) else task
    inside = f" in {rename.owner}" if is_surely_file(rename.owner) else f" of `{rename.owner}`" if rename.owner else ""
    return f"`{rename.old}`{inside}"


DESCRIBED_KINDS: Mapping[str, frozenset[str]] = {
    "constant": frozenset({"constant", "variable", "field"}),
    "class": frozenset({"class", "struct"}),
    "struct": frozenset({"struct"}),
    "enum": frozenset({"enum", "class"}),
    "function": frozenset({"function", "method"}),
    "method": frozenset({"function", "method"}),
    "test": frozenset({"function", "method"}),
}
"""Word of a prompt for the code that it describes → the kinds that it may mean."""


def _read_described_kinds(task: str) -> frozenset[str]:
    """Return the kinds of the code that a rename describes. Empty if it does not say the kind."""
    match = re.search(rf"\b(?:the|our)\s+(?:\w+\s+)?({'|'.join(DESCRIBED_KINDS)})\b", task, re.IGNORECASE)
    return DESCRIBED_KINDS[match[1].lower()] if match else frozenset()


def _choose_kind(located: LocatedTask, kinds: frozenset[str]) -> LocatedTask:
    """Return the places with the first one of some kinds as the chosen one. Raise NoAnswer if there is none."""
    candidates = located.ranking.candidates
    chosen = next((place for place in candidates if place.kind in kinds), None)
    if chosen is None:
        raise NoAnswer("nothing of this kind fits the description; write its present name")
    return replace(located, ranking=TaskPlaces(candidates, candidates.index(chosen), doubt=located.ranking.doubt))


def choose_renamed_function(located: LocatedTask, task: str) -> LocatedTask:
    """Return the places with the function in which a rename has its parameter or variable as the chosen one.

    Other tasks keep their place.

    Raises:
        NoAnswer: The rename names no function, or more than one.
    """
    rename = parse_rename(task)
    if rename and not rename.old and (kinds := _read_described_kinds(task)):
        return _choose_kind(located, kinds)
    if rename is None or not rename.kind or not rename.owner or is_surely_file(rename.owner):
        return located
    candidates, name = located.ranking.candidates, rename.owner
    same = [place for place in candidates if place.symbol == name]
    same = same or [place for place in candidates if place.symbol.endswith(f".{name}")]
    if not same:
        raise NoAnswer(f"there is no function {name} in {located.root.name}; name one that it has")
    if same[1:]:
        listed = ", ".join(f"{place.symbol} at {place.place}" for place in same)
        raise NoAnswer(f"{name} may be one of {listed}; write the name of its class before it, or move one of them")
    return replace(located, ranking=TaskPlaces(candidates, candidates.index(same[0])))


@dataclass(frozen=True, slots=True)
class RenameSearch:
    """The search for the edits of one rename.

    Attributes:
        rename: The rename.
        located: The declaration that has the name, or the function that has the parameter or variable.
        items: The declaration and what depends on it.
        dependents: The uses of the declaration.
        texts: The texts of the folder.
        index: The index of the folder.
    """

    rename: Rename
    located: LocatedTask
    items: Sequence[PlannedItem]
    dependents: Dependents
    texts: TurnTexts
    index: IndexQuery

    @property
    def is_local(self) -> bool:
        """True if the name is a parameter or a variable of the located function, and not the located declaration."""
        own, old = self.located.ranking.best.symbol.rpartition(".")[2], self.rename.old.rpartition(".")[2]
        return bool(self.rename.kind) or (bool(old) and old != own)

    async def find_edits(self) -> Mapping[PlannedItem, list[Edit]]:
        """Return the edits of each item that has some, about the texts as they are.

        Raises:
            NoAnswer: The name cannot be renamed safely.
            HarnessError: The index cannot be read.
        """
        best, dependents = self.located.ranking.best, self.dependents
        offsets = {(item.path, item.symbol): item.offsets for item in dependents.certain}
        offsets[best.path, best.symbol] = dependents.own_offsets
        if not self.is_local:
            await self._refuse_second_meaning()
        found: dict[PlannedItem, list[Edit]] = {}
        items = self.items
        if not self.is_local and (more := await self._find_unproved()):
            items = [*items, *more]
            offsets |= {(item.path, item.symbol): more[item] for item in more}
        for item in items:
            tree = await self._parse(item)
            spans = self._find_local(item, tree, offsets[item.path, item.symbol]) if self.is_local else None
            if spans is None:
                spans = self._find_declared(item, tree, offsets[item.path, item.symbol])
            if edits := [Edit(start, end, encode(self.rename.new)) for start, end in sorted(set(spans))]:
                found[item] = edits
        if not self.is_local:
            found |= await self._find_imports([item.path for item in found])
        if not found:
            raise NoAnswer(f"there is no {self.rename.old} in {best.symbol or best.path}; name one that it has")
        return found

    async def _parse(self, item: PlannedItem) -> SyntaxTree:
        document = self.texts.present(item.path)
        tree = await asyncio.to_thread(parse, document)
        if tree is None:
            raise NoAnswer(f"{item.path} has no syntax tree, so nothing can be renamed there")
        return tree

    # -- parameters and variables
    def _find_local(self, item: PlannedItem, tree: SyntaxTree, offsets: Sequence[int]) -> list[tuple[int, int]]:
        """Return the places of a parameter or variable: in the function, its overrides and the calls that name it."""
        old = self.rename.old
        spans = [tuple(span) for span in find_named_arguments(tree, offsets, old)]
        if item.role in ("definition", "override"):
            declaration = find_item_declaration(tree, item)
            if declaration is None:
                raise NoAnswer(f"{item.symbol} is no longer in {item.path}; ask again")
            may_be_variable = self.rename.kind != "parameter"
            places = find_local_uses(
                tree, declaration.name_start, old, self.rename.new, may_be_variable=may_be_variable
            )
            spans += map(tuple, places)
            spans += map(tuple, find_documented_parameters(tree, declaration.name_start, old))
        return [(start, end) for start, end in spans]

    # -- declarations
    async def _refuse_second_meaning(self) -> None:
        """Raise NoAnswer if the type or file of the declaration has the new name already."""
        best = self.located.ranking.best
        owner = best.symbol.rpartition(".")[0]
        new = f"{owner}.{self.rename.new}" if owner else self.rename.new
        for symbol in await self.index.symbols_in(self.located.root.as_uri(), best.path):
            if symbol.qualified == new:
                raise NoAnswer(f"{best.path} has a {new} already, in line {symbol.line + 1}; choose another name")

    async def _find_unproved(self) -> Mapping[PlannedItem, tuple[int, ...]]:
        """Return the uses whose types are not known, with their offsets, if nothing else has the name.

        The name then says what is meant.
        """
        best, uri = self.located.ranking.best, self.located.root.as_uri()
        name = best.symbol.rpartition(".")[2]
        family = {(item.path, item.symbol) for item in self.items if item.role in ("definition", "override")}
        named = await self.index.symbols_with_names(uri, [name])
        if any((one.path, one.qualified) not in family for one in named):
            return {}
        found: dict[PlannedItem, tuple[int, ...]] = {}
        for place in self.dependents.uncertain[:MAX_UNCERTAIN]:
            path, _, line = place.rpartition(":")
            tree = parse(self.texts.present(path))
            if tree is None:
                continue
            span = Span(*tree.document.line_span(int(line) - 1))
            starts = tuple(one.span.start for one in find_occurrences(tree, name, span) if one.role != "key")
            item = PlannedItem(path, f"line {line}", int(line), "caller", "nothing else has this name")
            found[item] = starts
        return found

    async def _find_imports(self, edited: Sequence[str]) -> Mapping[PlannedItem, list[Edit]]:
        """Return the edits of the statements that import the declaration, with the lists of exported names.

        Args:
            edited: The files in which the declaration is used.
        """
        best, uri = self.located.ranking.best, self.located.root.as_uri()
        if "." in best.symbol:
            # members are not imported
            return {}
        found: dict[PlannedItem, list[Edit]] = {}
        todo = dict.fromkeys([*edited, *await self.index.importers(uri, best.path)])
        seen = {best.path}
        while todo:
            path = next(iter(todo))
            del todo[path]
            if path in seen:
                continue
            seen.add(path)
            tree = await asyncio.to_thread(parse, self.texts.present(path))
            starts = self._find_imported(tree, path in edited) if tree else []
            if tree is None or not starts:
                continue
            size, new = len(encode(best.symbol)), encode(self.rename.new)
            line = tree.document.line_of(starts[0]) + 1
            starts += self._find_exported(tree.data, best.symbol)
            found[PlannedItem(path, f"import in line {line}", line, "caller", f"imports {best.symbol}")] = [
                Edit(start, start + size, new) for start in sorted(set(starts))
            ]
            # a package exports what its module declares
            todo |= dict.fromkeys(await self.index.importers(uri, path))
        return found

    def _find_imported(self, tree: SyntaxTree, is_user: bool) -> list[int]:
        """Return the places of the name in the statements that import it.

        Args:
            tree: The tree of a file.
            is_user: Whether the file surely uses the declaration.
        """
        best = self.located.ranking.best
        file = PurePosixPath(best.path)
        modules = {file.stem, file.parent.name, "", "crate", "super", "self"}
        word = re.compile(rb"(?<![\w.$/])" + re.escape(encode(best.symbol)) + rb"(?![\w$]|\s*(?:\.|::|/))")
        found: list[int] = []
        for statement in find_import_statements(tree):
            end = re.split(r"[./:]+", re.sub(r"\.[jt]sx?$", "", statement.module))[-1]
            if not is_user and end not in modules and best.symbol not in end:
                continue
            data = tree.data[statement.span.start : statement.span.end]
            # what stands before this word names the module
            names = data.find(b"import") + len(b"import") if data.startswith(b"from") else 0
            found += [statement.span.start + match.start() for match in word.finditer(data, names)]
        return found

    def _find_declared(self, item: PlannedItem, tree: SyntaxTree, offsets: Sequence[int]) -> list[tuple[int, int]]:
        """Return the places of the name of a declaration in one item."""
        name = self.located.ranking.best.symbol.rpartition(".")[2]
        data, size = tree.data, len(encode(name))
        starts = [start for start in offsets if data[start : start + size] == encode(name)]
        if item.role in ("definition", "override"):
            declarations = find_declarations(tree.language, data, tree.root)[0]
            # overloads, and the functions that get and set a property
            starts += [one.name_start for one in declarations if qualified_name(declarations, one) == item.symbol]
            starts += self._find_exported(data, name)
            starts += self._find_documented(tree, name)
        return [(start, start + size) for start in starts]

    def _find_exported(self, data: bytes, name: str) -> list[int]:
        quoted = re.compile(rb"(?<=['\"])" + re.escape(encode(name)) + rb"(?=['\"])")
        return [match.start() + one.start() for match in ALL_NAMES.finditer(data) for one in quoted.finditer(match[0])]

    def _find_documented(self, tree: SyntaxTree, name: str) -> list[int]:
        """Return the places of the name between backquotes in comments and documentation."""
        text = decode(tree.data)
        pattern = re.compile(DOCUMENTED.replace("NAME", re.escape(name)))
        found: list[int] = []
        for match in pattern.finditer(text):
            start = len(encode(text[: max(match.start("name"), match.start("used"))]))
            node = tree.root.descendant_for_byte_range(start, start + 1)
            while node and node.parent and "string" in node.type and "string" in node.parent.type:
                node = node.parent
            is_docstring = node and node.type == "string" and node.parent and node.parent.type == "expression_statement"
            if node and ("comment" in node.type or is_docstring):
                found.append(start)
        return found


def find_item_declaration(tree: SyntaxTree | None, item: PlannedItem) -> Declaration | None:
    """Return the declaration of an item, the nearest to its line if there are several."""
    if tree is None:
        return None
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    same = [one for one in declarations if qualified_name(declarations, one) == item.symbol]
    return min(same, key=lambda one: abs(one.line + 1 - item.line), default=None)
