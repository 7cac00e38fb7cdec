"""Regular expressions for what the lines of Python are made of, `<NAME>` in one of them being another.

All of them are possessive: a text that repeats its beginning takes no longer than another. They know strings, comments
and brackets, so that nothing within these is taken for code.
"""

import re
from functools import cache


def _brackets(deep: int) -> bytes:
    """Brackets within brackets, so deep; where there are more they have to be counted."""
    return rb"[(\[{](?:<INSIDE>|" + (_brackets(deep - 1) if deep else rb"(?!)") + rb")*+[)\]}]"


WORDS = {
    b"NAME": rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+",
    b"DOTTED": rb"<NAME>(?:\.<NAME>)*+",
    # with its quotes; its prefix is a name before it
    b"STRING": rb'"""(?:[^"\\]++|\\(?s:.)|"(?!""))*+"""|"(?!"")(?:[^"\\\n]++|\\(?s:.))*+"'
    rb"|'''(?:[^'\\]++|\\(?s:.)|'(?!''))*+'''|'(?!'')(?:[^'\\\n]++|\\(?s:.))*+'",
    b"COMMENT": rb"#[^\n]*+",
    # a line that goes on in the next
    b"BROKEN": rb"\\\n",
    b"GAP": rb"(?:[ ]|<BROKEN>)*+",
    b"END": rb"(?:<COMMENT>)?\n",
    # lines with nothing in them, and comments
    b"EMPTY": rb"(?:[ ]*+<END>)*+",
    b"INSIDE": rb"[^\"'#\\()\[\]{}]++|<STRING>|<COMMENT>|<BROKEN>",
    b"BRACKETS": _brackets(3),
    # code of one line, comments apart, that has no signs of its own in it
    b"OPAQUE": rb"<STRING>|<BRACKETS>|<BROKEN>",
    # how a statement begins that declares something anywhere
    b"TELLING": rb"(?:(?:async[ \t]++)?+def|class|import|from|type[ \t]++<NAME>)\b",
    # how one begins that may declare variables of a module or class
    b"TARGET": rb"<NAME>[ ]*+(?:=(?!=)|:)"
    rb"|(?:[^\n=:;\"'#()\[\]{},]++|<BRACKETS>)*+,(?:[^\n=:;\"'#()\[\]{}]++|<BRACKETS>)*+=(?!=)",
    # statements of a line that declare nothing but variables
    b"QUIET": rb"(?:[^\n\"'#\\()\[\]{}:;]++|[:;](?!<GAP><TELLING>)|<OPAQUE>)*+",
    # the same without variables of a module or class
    b"SILENT": rb"(?:[^\n\"'#\\()\[\]{}:;]++|[:;](?!<GAP>(?:<TELLING>|<TARGET>))|<OPAQUE>)*+",
}


def compile_pattern(pattern: bytes) -> re.Pattern[bytes]:
    """Compiled, with what the words in it stand for."""
    written = re.sub(rb"<([A-Z]+)>", lambda word: WORDS[word[1]], pattern)
    return re.compile(written) if written == pattern else compile_pattern(written)


@cache
def quiet_lines(indent: int, outer: bool) -> re.Pattern[bytes]:
    """The lines of a block that declare nothing (1), then those without code, then the indentation of the next that has
    some (2); `outer` is a block of which variables count."""
    deeper = rb"(?![@\t\\]|<TELLING>)<QUIET><END>"
    # what may be a variable of the block itself is looked at
    line = rb"(?:(?![ @\t\\]|<TELLING>|<TARGET>)<SILENT><END>|[ ]++%b)" if outer else rb"[ ]*+%b"
    return compile_pattern(rb"((?:<EMPTY>[ ]{%d}%b)*+)<EMPTY>([ ]*+)" % (indent, line % deeper))


NOISE = compile_pattern(rb"<COMMENT>|<BROKEN>")
SPACES = compile_pattern(rb"[ ]*+")
EMPTY = compile_pattern(rb"<EMPTY>[ ]*+")
"""Up to the next code."""
LINE = compile_pattern(rb"<QUIET>")
STATEMENT = compile_pattern(rb"(?:[^\n\"'#\\()\[\]{};]++|<OPAQUE>)*+")
ANNOTATION = compile_pattern(rb"(?:[^\n\"'#\\()\[\]{}:;]++|<OPAQUE>)*+")
BRACKETS = compile_pattern(rb"<BRACKETS>")
BRACKET = compile_pattern(rb"<INSIDE>|([(\[{])|([)\]}])")
"""What is in brackets, or one (1: it opens, 2: it closes)."""
DECLARING_START = compile_pattern(rb"[@\t\\]|<TELLING>")
DEFINITION = compile_pattern(rb"(?:async[ ]++)?(def|class)[ ]++(<NAME>)[ ]*+")
ARROW = compile_pattern(rb"[ ]*+->")
COLON = compile_pattern(rb"[ ]*+:[ ]*+(<END>)?+")
"""1: what belongs to it is on the lines below."""
BASE = compile_pattern(
    rb"[ \n]*+(?:(<DOTTED>(?:<BRACKETS>)*+)(?=[ \n]*+(?:,|$))"
    rb"|(?:\*\*?|<NAME>[ ]*+=(?!=))(?:[^\"'#\\()\[\]{},]++|<STRING>|<BRACKETS>)*+)[ \n]*+(?:,|$)"
)
"""1: a base or a call; other arguments of a class have none."""
IMPORT = compile_pattern(rb"(?:import|from<GAP>((?:\.[ ]*+)*+(?:(?!import\b)<DOTTED>)?+)<GAP>import)\b<GAP>")
IMPORTED = compile_pattern(rb"[ \n]*+(<DOTTED>|\*)(?:[ \n]++as[ \n]++(<NAME>))?[ \n]*+(?:,|$)")
TYPE = compile_pattern(rb"type[ ]++(<NAME>)[ ]*+[=\[]")
VARIABLE = compile_pattern(rb"(<NAME>)[ ]*+(?:=(?!=)|:)")
TARGETS = compile_pattern(rb"((?:[^\n\"'#\\()\[\]{}:;=!<>+\-/%&|^@]++|<BRACKETS>)*+)=(?!=)")
TARGET = compile_pattern(rb"[ ]*+((?:[^,()\[\]{}]++|<BRACKETS>)++)(?:,|$)")
NAME = compile_pattern(rb"<NAME>")
