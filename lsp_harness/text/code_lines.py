"""What a single line of code looks like: its indentation, whether it opens or closes a block."""

import re

TAB_COLUMNS = 4  # columns of a tab when widths are compared; both sides of a comparison use it
HASH_COMMENT_LANGUAGES = frozenset(
    {"python", "ruby", "shellscript", "bash", "sh", "yaml", "toml", "makefile", "r", "perl", "elixir"}
)
BLOCK_WORD_LANGUAGES = frozenset({"ruby", "lua", "shellscript", "bash", "sh", "elixir", "julia"})
MARKUP_LANGUAGES = frozenset({"html", "xml", "svg", "vue", "svelte", "javascriptreact", "typescriptreact"})
PROSE_LANGUAGES = frozenset({"markdown", "plaintext", "restructuredtext", "latex", "mdx"})

INDENTATION = re.compile(r"[ \t]*")
LONE_CLOSER = re.compile(
    r"\s*(?:[)\]}]+[)\]};,]*|end\b[\s;,)]*|fi|done|esac|</[\w.:-]*>[;,)]*|/?>|\*/|\"\"\"|''')\s*",
)
HASH_COMMENT = re.compile(r"(?:^|\s)#.*$")
SLASH_COMMENT = re.compile(r"(?:^|\s)(?://.*|/\*(?:(?!/\*).)*\*/\s*)$")
WORD_OPENER = re.compile(
    r"(?:\b(?:do|then|else|begin|repeat)|\bdo\s*\|[^|]*\||^\s*(?:def|class|module|if|unless|while|case|when)\b.*"
    r"|\bfunction\b[^()]*\([^()]*\))$"
)
OPEN_TAG = re.compile(r"<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?(?<!/)>\s*$")
VOID_TAGS = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "source", "track", "wbr"})
CONTINUES_STATEMENT = re.compile(
    r"\s*(?:[})\]]+\s*)?(?:else|elif|elsif|except|finally|catch|rescue|ensure|when|case|default|while)\b"
    r"|\s*[})\]]+\s*\S"
)


def to_lf(text: str) -> str:
    """Any of the protocol's three terminators becomes one; `splitlines` would split at form feeds as well."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_blank(line: str) -> bool:
    return not line or line.isspace()


def indentation_of(line: str) -> str:
    match = INDENTATION.match(line)
    return match.group() if match else ""


def indentation_columns(indent: str) -> int:
    return len(indent.expandtabs(TAB_COLUMNS))


def line_depth(line: str) -> int:
    """Columns of indentation."""
    return indentation_columns(indentation_of(line))


def is_lone_closer(line: str) -> bool:
    """A line with nothing on it but what ends a block."""
    return LONE_CLOSER.fullmatch(line) is not None


def strip_comment(line: str, language: str) -> str:
    """The line without its trailing comment or blanks. A marker inside a string costs at most a missed rule."""
    is_comment = HASH_COMMENT if language in HASH_COMMENT_LANGUAGES else SLASH_COMMENT
    return is_comment.sub("", line).rstrip()


def is_comment(line: str, language: str) -> bool:
    """Whether the line is nothing but a comment, or ends a docstring."""
    bare = line.strip()
    if bare.endswith(('"""', "'''")):
        return True
    return bare.startswith("#" if language in HASH_COMMENT_LANGUAGES else ("//", "/*", "*", "<!--"))


def opens_block(line: str, language: str) -> bool:
    """Whether the line leaves statements to be written below it, one level deeper."""
    bare = strip_comment(line, language)
    if not bare:
        return False
    if bare[-1] == "{":
        return True
    if bare[-1] == ":":
        return language not in PROSE_LANGUAGES
    if language in BLOCK_WORD_LANGUAGES and WORD_OPENER.search(bare):
        return True
    if language in MARKUP_LANGUAGES:
        tag = OPEN_TAG.search(bare)
        return tag is not None and tag[1].lower() not in VOID_TAGS
    return False
