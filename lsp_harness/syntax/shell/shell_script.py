"""The simple commands of a shell script, and the reasons why a part of it cannot be seen.

The reader knows the nodes of the bash grammar that it understands. Anything else, an error in the tree, and every text
that a shell reads in another way than the grammar, is reported as opaque. So a caller that asks a person about opaque
scripts is safe. For a shell that is not bash, everything that POSIX does not have is opaque, too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.grammars import language_named
from lsp_harness.syntax.parse_budget import ParseBudgetExceeded
from lsp_harness.syntax.shell.shell_words import UNKNOWN, UNKNOWN_WORD, ShellWord, foreign_to_posix, literal, read_word
from lsp_harness.syntax.tree import parse_root

MAX_SCRIPT_CHARS = 20_000
CONTAINERS = frozenset(
    {"program", "list", "pipeline", "subshell", "compound_statement", "negated_command", "redirected_statement"}
    | {"if_statement", "elif_clause", "else_clause", "while_statement", "for_statement", "case_statement", "case_item"}
    | {"do_group", "c_style_for_statement", "command_substitution", "process_substitution"}
)
"""Nodes that only contain commands and words."""
WORDS = frozenset(
    {"word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "expansion"}
    | {"simple_expansion", "arithmetic_expansion", "brace_expression", "extglob_pattern", "variable_name", "regex"}
    | {"binary_expression", "unary_expression", "parenthesized_expression", "ternary_expression", "test_operator"}
    | {"postfix_expression", "special_variable_name", "string_content", "heredoc_content", "array", "subscript"}
    | {"heredoc_start", "heredoc_end", "file_descriptor", "comment"}
)
"""Nodes without commands of their own. Substitutions in them are searched."""
INPUTS = frozenset({"<", "<&"})
OUTPUTS = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
INTEGER_VARIABLES = frozenset(
    {"BASHPID", "EPOCHREALTIME", "EPOCHSECONDS", "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"}
)
"""Variables of bash of which each value is evaluated as arithmetic."""
PLAIN_EXPANSION = re.compile(
    r"\$\{#?(?:\w+|[@*#?!$-])(?:\[(?:\d+|[@*])\])?(?:(?::?[-+?]|##?|%%?|//?|\^\^?|,,?)[\w ./:,@%*?^+=~-]*"
    r"|:[\d :]+)?\}"
)
"""Matches `${name}` with an operator and a text of ordinary characters. Others may run commands or set variables."""
ARITHMETIC_NAME = re.compile(r"(?<![\w-])[A-Za-z_]\w*")
INPUT_BUILTINS = frozenset({"read", "mapfile", "readarray", "getopts"})
"""Builtins of bash that set variables to texts of their input."""
READING_BUILTINS = INPUT_BUILTINS | {"printf", "declare", "typeset", "local"}
"""Builtins of bash that set variables to texts which nobody sees."""
TEST_SIGN = re.compile(r"[\[\]!]|={1,2}|!=|-[a-zA-Z]{1,2}")
"""Matches the signs of an expression in `[ … ]` that are words for a shell."""
MISREAD = re.compile(r"``|(?:^|(?<=[\s;&|()<>]))\\[ \t]")
"""Matches texts that the grammar reads in another way than a shell: an empty pair of backticks, and a word that begins
with a quoted blank."""
INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff]")
"""Matches characters that people do not see, or that a shell and the grammar may take for different things."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """A file that a command reads or writes. A copy of a descriptor is none."""

    access: Literal["read", "write"]
    target: ShellWord


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A simple command.

    Attributes:
        words: The program and its arguments. Empty for a mere assignment or redirection.
        assignments: The variables that are set for the program, or for the rest of the script without a program.
        before: The commands before it in a pipeline, whose output it reads. Empty if they are not simple.
    """

    words: tuple[ShellWord, ...] = ()
    assignments: tuple[tuple[str, ShellWord], ...] = ()
    before: tuple["ShellCommand", ...] = ()


@dataclass(frozen=True, slots=True)
class ShellScript:
    """The visible part of a script.

    Attributes:
        commands: All simple commands, also those in substitutions, in the order of the text.
        redirections: All files that are read or written by redirections.
        opaque: Why a part of the script cannot be seen; empty if all of it can.
        shown_variables: The variables that stand in other parts than the words of commands, such as a herestring.
    """

    commands: tuple[ShellCommand, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    opaque: tuple[str, ...] = ()
    shown_variables: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Reading:
    source: bytes
    is_posix: bool = False
    commands: list[ShellCommand] = field(default_factory=list[ShellCommand])
    redirections: list[Redirection] = field(default_factory=list[Redirection])
    opaque: list[str] = field(default_factory=list[str])
    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    evaluated: set[str] = field(default_factory=set[str])
    shown: set[str] = field(default_factory=set[str])

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def read_script(text: str, *, is_posix: bool = False) -> ShellScript:
    """Return the commands of a script. Never raises: what cannot be read is opaque.

    Args:
        text: The script.
        is_posix: Whether a shell runs it that knows only the grammar of POSIX.
    """
    if len(text) > MAX_SCRIPT_CHARS:
        return ShellScript(opaque=(f"it is longer than {MAX_SCRIPT_CHARS} characters",))
    if INVISIBLE.search(text) or UNKNOWN in text:
        return ShellScript(opaque=("it contains characters that cannot be seen",))
    if MISREAD.search(text):
        return ShellScript(opaque=("its quoting can be read in several ways",))
    joined = _join_lines(text)
    if joined is None:
        return ShellScript(opaque=("a word continues on the next line",))
    language = language_named("bash")
    try:
        source = joined.encode()
    except UnicodeEncodeError:
        return ShellScript(opaque=("it is not a text",))
    if language is None:
        return ShellScript(opaque=("there is no parser for shell scripts",))
    try:
        root = parse_root(language, source)
    except ParseBudgetExceeded as error:
        return ShellScript(opaque=(f"it cannot be parsed: {error}",))
    reading = _Reading(source, is_posix)
    if root.has_error:
        reading.opaque.append("it does not follow the grammar of bash")
    try:
        _visit(root, reading)
    except RecursionError:
        reading.opaque.append("it is nested too deeply")
    _check_evaluated(reading)
    opaque = tuple(dict.fromkeys(reading.opaque))
    return ShellScript(tuple(reading.commands), tuple(reading.redirections), opaque, frozenset(reading.shown))


def _join_lines(text: str) -> str | None:
    """Join lines where a backslash at the end continues a word. Return None if the quoting there is not clear."""
    if "\\\n" not in text:
        return text
    if "<<" in text:
        # it may join the lines of a heredoc, or its end
        return None
    if not re.search(r"['#]|<<", text):
        return re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", text)
    return None if re.search(r"(?<![ \t])\\\n|\\[ \t]+\\\n", text) else text


def _visit(node: Node, reading: _Reading) -> None:
    if reading.is_posix and (reason := foreign_to_posix(node, reading.text(node))):
        reading.opaque.append(f"{reason} is not in the grammar of sh")
    match node.type:
        case "command":
            _read_command(node, reading)
        case "declaration_command" | "unset_command":
            _read_declaration(node, reading)
        case "variable_assignment":
            _read_assignment(node, reading)
        case "variable_assignments":
            _visit_children(node, reading)
        case "test_command" if reading.text(node).startswith("[") and not reading.text(node).startswith("[["):
            _read_test(node, reading)
        case "test_command":
            _check_arithmetic(node, reading)
            _note_shown(node, reading)
            if re.search(r"-(?:eq|ne|lt|le|gt|ge|v|R)\b", reading.text(node)):
                _note_evaluated(node, reading)
            _visit_children(node, reading)
        case "case_statement":
            if (value := node.child_by_field_name("value")) is not None:
                _note_shown(value, reading)
            _visit_children(node, reading)
        case "for_statement":
            if reading.text(node).startswith("select"):
                _note_shown(node, reading)
            if (name := node.child_by_field_name("variable")) is not None:
                _check_touching(node.children_by_field_name("value"), reading)
                values = [read_word(value, reading.source) for value in node.children_by_field_name("value")]
                values = values or [UNKNOWN_WORD]
                reading.commands.append(ShellCommand(assignments=tuple((reading.text(name), item) for item in values)))
                reading.values.setdefault(reading.text(name), []).extend(item.loose for item in values)
            _visit_children(node, reading)
        case "function_definition":
            reading.opaque.append("it defines a function")
            _visit_children(node, reading)
        case "file_redirect":
            _read_redirection(node, reading)
        case "pipeline":
            _read_pipeline(node, reading)
        case "heredoc_redirect":
            _read_heredoc(node, reading)
        case "herestring_redirect" | "heredoc_body":
            _note_shown(node, reading)
            _visit_children(node, reading)
        case "comment":
            before = reading.source[: node.start_byte][-2:].decode("utf-8", "replace")
            if before and (before[-1] not in " \t\n;&|()" or before.startswith("\\")):
                reading.opaque.append("a comment begins within a word")
        case kind if kind in CONTAINERS:
            if kind == "command_substitution" and _has_escaped_backticks(node, reading):
                reading.opaque.append("backticks with backslashes")
            if kind == "c_style_for_statement" or (kind == "compound_statement" and reading.text(node)[:2] == "(("):
                _check_arithmetic(node, reading)
                _note_evaluated(node, reading)
            _visit_children(node, reading)
        case kind if kind in WORDS:
            if kind == "translated_string":
                reading.opaque.append("a string that is translated")
            if kind == "array":
                _check_touching(node.named_children, reading)
                if "[" in reading.text(node):
                    reading.opaque.append("an array has subscripts")
            if kind == "file_descriptor" and reading.text(node).startswith("{"):
                reading.opaque.append("a redirection sets a variable")
            if kind == "word" and re.search(r"\s", re.sub(r"\\.", "", reading.text(node), flags=re.DOTALL)):
                reading.opaque.append("a word contains a blank")
            if kind in ("arithmetic_expansion", "subscript"):
                _check_arithmetic(node, reading)
                _note_evaluated(node, reading)
            if kind == "expansion" and not PLAIN_EXPANSION.fullmatch(reading.text(node)):
                # the grammar keeps the text after the operator as it is, with the commands in it
                reading.opaque.append("an expansion has a text that cannot be read")
            if kind == "expansion" and re.match(r"\$\{\w+:[^-+=?]", reading.text(node)):
                _note_evaluated(node, reading)
            _visit_children(node, reading)
        case "ERROR":
            reading.opaque.append("it does not follow the grammar of bash")
            _visit_children(node, reading)
        case kind if not node.is_named:
            pass
        case kind:
            reading.opaque.append(f"{kind.replace('_', ' ')} is not understood")
            _visit_children(node, reading)


def _read_test(node: Node, reading: _Reading) -> None:
    """Read the builtin `[`, whose words the grammar takes for an expression: for a shell, `|` and `>` end them."""
    words, place = list[ShellWord](), node.start_byte
    for leaf in _leaves(node):
        text = reading.text(leaf)
        gap = reading.source[place : leaf.start_byte].decode("utf-8", "replace")
        # the grammar takes a word behind `==` for a pattern
        is_plain = leaf.type in ("regex", "extglob_pattern") and re.fullmatch(r"[\w./@:-]+", text) is not None
        is_sign = not leaf.is_named or leaf.type == "test_operator"
        if (is_sign and not TEST_SIGN.fullmatch(text)) or not re.fullmatch(r"(?:[ \t]|\\\n)*", gap):
            reading.opaque.append("a test contains more than its words")
        words.append(literal(text) if is_plain or is_sign else read_word(leaf, reading.source))
        place = leaf.end_byte
    reading.commands.append(ShellCommand(tuple(words)))
    _visit_children(node, reading)


def _leaves(node: Node) -> Iterator[Node]:
    """Yield the words and signs of an expression in their order."""
    if node.type != "test_command" and not node.type.endswith("_expression"):
        yield node
        return
    for child in node.children:
        yield from _leaves(child)


def _note_evaluated(node: Node, reading: _Reading) -> None:
    """Note the variables that bash evaluates as arithmetic: their texts may contain commands."""
    text = reading.text(node)
    if re.search(r"`|\$\(|\$[^A-Za-z_{(]|\$\{[^A-Za-z_#]", text.removeprefix("$((").removeprefix("$[")):
        reading.opaque.append("a text that nobody sees is evaluated as arithmetic")
    reading.evaluated.update(ARITHMETIC_NAME.findall(re.sub(r"-(?:eq|ne|lt|le|gt|ge|v|R|[a-zA-Z])\b", "", text)))
    for name in re.findall(r"([A-Za-z_]\w*)\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|([A-Za-z_]\w*)(?:\+\+|--)", text):
        # a number that nobody computes here
        word = ShellCommand(assignments=((name[0] or name[1], UNKNOWN_WORD),))
        if node.type != "test_command":
            reading.commands.append(word)


def _note_shown(node: Node, reading: _Reading) -> None:
    """Note the variables in a node whose texts a command or a message may show."""
    reading.shown.update(re.findall(r"\$\{?[#!]?(\w+|[@*?$!-])", reading.text(node)))


def _check_evaluated(reading: _Reading) -> None:
    """Report variables in arithmetic that the script sets to anything but numbers."""
    sets_unseen = any(
        command.words
        and command.words[0].text in READING_BUILTINS
        and not (command.words[0].text == "printf" and not any(word.text[:2] == "-v" for word in command.words))
        for command in reading.commands
    )
    for name in sorted(reading.evaluated | (INTEGER_VARIABLES & reading.values.keys())):
        values = reading.values.get(name, [])
        if sets_unseen or not values or any(not re.fullmatch(r"-?\d+", text) for text in values):
            reading.opaque.append(f"the text of {name} is evaluated as arithmetic")
            return


def _visit_children(node: Node, reading: _Reading) -> None:
    for child in node.named_children:
        _visit(child, reading)


def _has_escaped_backticks(node: Node, reading: _Reading) -> bool:
    text = reading.text(node)
    return text.startswith("`") and "\\" in text


def _check_arithmetic(node: Node, reading: _Reading) -> None:
    """Report subscripts, because bash evaluates substitutions in them even if they are quoted."""
    if "[" in (text := reading.text(node)) and re.search(r"\[.*[$`].*", text[2:], re.DOTALL):
        reading.opaque.append("a subscript may run a command")


def _read_command(node: Node, reading: _Reading) -> None:
    words, assignments = list[ShellWord](), list[tuple[str, ShellWord]]()
    place = len(reading.commands)
    for child in node.named_children:
        match child.type:
            case "variable_assignment":
                assignments.append(_assignment(child, reading))
                _visit_children(child, reading)
            case "file_redirect" | "heredoc_redirect" | "herestring_redirect":
                _visit(child, reading)
            case "comment":
                _visit(child, reading)
            case _:
                words.append(read_word(child, reading.source))
                if child.type == "command_name":
                    _visit_children(child, reading)
                else:
                    _visit(child, reading)
    _check_gaps(node, reading)
    parent = node.parent
    if parent is not None and parent.type == "redirected_statement":
        _check_gaps(parent, reading)
    reading.commands.insert(place, ShellCommand(tuple(words), tuple(assignments)))


def _read_pipeline(node: Node, reading: _Reading) -> None:
    """Read the commands of a pipeline, and note for each the commands before it, as long as all are simple."""
    before = list[ShellCommand]()
    for child in node.named_children:
        place = len(reading.commands)
        _visit(child, reading)
        has_other_input = any("redirect" in part.type for part in child.named_children)
        if child.type != "command" or len(reading.commands) != place + 1 or has_other_input:
            before = []
            continue
        if before:
            reading.commands[place] = replace(reading.commands[place], before=tuple(before))
        before.append(reading.commands[place])


def _check_gaps(node: Node, reading: _Reading) -> None:
    """Report a command that the grammar continues where a shell ends it: only blanks stand between its words."""
    _check_touching(node.children, reading)
    place = node.start_byte
    for child in node.children:
        gap = reading.source[place : child.start_byte].decode("utf-8", "replace")
        if not re.fullmatch(r"(?:[ \t]|\\\n)*", gap):
            reading.opaque.append("a command goes on after its end")
            return
        if child.type in ("=~", "==", "=") and not child.is_named:
            reading.opaque.append("an operator stands in a command")
            return
        place = child.end_byte


def _check_touching(nodes: Sequence[Node], reading: _Reading) -> None:
    """Report neighbours between which no blank stands: a shell reads `{\\a,b}` as one word, and the grammar as two."""
    for before, node in pairwise(nodes):
        gap = reading.source[before.end_byte : node.start_byte]
        if before.is_named and node.is_named and not node.type.endswith("redirect") and not gap.strip(b"\\\n"):
            reading.opaque.append("two words stand side by side without a blank")
            return


def _read_declaration(node: Node, reading: _Reading) -> None:
    _check_touching(node.named_children, reading)
    words, assignments = [literal(reading.text(node.children[0]))], list[tuple[str, ShellWord]]()
    for child in node.named_children:
        if child.type == "variable_assignment":
            assignments.append(_assignment(child, reading))
            words.append(
                literal(f"{assignments[-1][0]}=") if not assignments[-1][1].is_known else _join_values(assignments[-1])
            )
            _visit_children(child, reading)
        else:
            words.append(read_word(child, reading.source))
            _visit(child, reading)
    _check_arithmetic(node, reading)
    if any(child.type in ("string", "raw_string", "concatenation", "array") for child in node.named_children):
        reading.opaque.append("a declaration has a text that is read as another assignment")
    reading.commands.append(ShellCommand(tuple(words), tuple(assignments)))


def _join_values(assignment: tuple[str, ShellWord]) -> ShellWord:
    return literal(f"{assignment[0]}={assignment[1].text}")


def _read_assignment(node: Node, reading: _Reading) -> None:
    reading.commands.append(ShellCommand(assignments=(_assignment(node, reading),)))
    _visit_children(node, reading)


def _assignment(node: Node, reading: _Reading) -> tuple[str, ShellWord]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None and name.type == "subscript":
        _check_arithmetic(name, reading)
    text = reading.text(name) if name is not None else UNKNOWN
    word = read_word(value, reading.source) if value is not None else literal("")
    if re.match(r"[^=]*\+=", reading.text(node)):
        # the text is put behind another one
        word = UNKNOWN_WORD
    is_number = value is not None and value.type == "arithmetic_expansion"
    reading.values.setdefault(text.partition("[")[0], []).append("0" if is_number else word.loose)
    return text, word


def _read_redirection(node: Node, reading: _Reading) -> None:
    operator = next((child.type for child in node.children if not child.is_named), "")
    targets = node.children_by_field_name("destination")
    for target in targets:
        word = read_word(target, reading.source)
        _visit(target, reading)
        if operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", word.text):
            continue
        if operator in (">&", "<&") and not re.fullmatch(r"[\w./@%+,:=-]+", reading.text(target)):
            # bash expands this word twice, also if it is quoted
            reading.opaque.append("a redirection has a target that is evaluated twice")
        if operator not in INPUTS | OUTPUTS:
            reading.opaque.append(f"the redirection {operator} is not understood")
        reading.redirections.append(Redirection("read" if operator in INPUTS else "write", word))
    if not targets and operator not in (">&-", "<&-"):
        reading.opaque.append("a redirection has no target")
    if len(targets) > 1:
        # the grammar takes the words after a redirection for further targets
        reading.opaque.append("a redirection has several targets")


def _read_heredoc(node: Node, reading: _Reading) -> None:
    start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
    body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
    end = next((child for child in node.named_children if child.type == "heredoc_end"), None)
    if start is None or body is None or end is None:
        reading.opaque.append("a heredoc has no end")
        return
    raw = reading.text(start)
    word = re.sub(r"['\"\\]", "", raw)
    text = reading.text(body)
    may_indent = reading.source[node.start_byte :].startswith(b"<<-")
    lines = [line.lstrip("\t") if may_indent else line for line in text.split("\n")]
    if word in lines or reading.text(end).strip("\t" if may_indent else "") != word:
        reading.opaque.append("the end of a heredoc is not clear")
    if raw == word and re.search(r"`|\$", text):
        reading.opaque.append("a heredoc contains substitutions")
    for child in node.named_children:
        if child.type not in ("heredoc_start", "heredoc_end"):
            _visit(child, reading)
