"""Regular expressions for the parts of Python lines. `<NAME>` in a pattern stands for another pattern of `WORDS`.

All quantifiers are possessive, so that no text takes quadratic or exponential time. The patterns recognise strings,
comments and brackets, so that their content is not taken for code.
"""

import re
from functools import cache


def _match_brackets(depth: int) -> bytes:
    """Return a pattern for a pair of brackets that contains at most `depth` levels of other brackets."""
    return rb"[(\[{](?:<INSIDE>|" + (_match_brackets(depth - 1) if depth else rb"(?!)") + rb")*+[)\]}]"


WORDS = {
    b"NAME": rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+",
    b"DOTTED": rb"<NAME>(?:\.<NAME>)*+",
    # A string with its quotes. A prefix such as `rb` is matched as a name before it.
    b"STRING": rb'"""(?:[^"\\]++|\\(?s:.)|"(?!""))*+"""|"(?!"")(?:[^"\\\n]++|\\(?s:.))*+"'
    rb"|'''(?:[^'\\]++|\\(?s:.)|'(?!''))*+'''|'(?!'')(?:[^'\\\n]++|\\(?s:.))*+'",
    b"COMMENT": rb"#[^\n]*+",
    # The end of a line that continues on the next one.
    b"BROKEN": rb"\\\n",
    b"GAP": rb"(?:[ ]|<BROKEN>)*+",
    b"END": rb"(?:<COMMENT>)?\n",
    # Blank lines and comment lines.
    b"EMPTY": rb"(?:[ ]*+<END>)*+",
    b"INSIDE": rb"[^\"'#\\()\[\]{}]++|<STRING>|<COMMENT>|<BROKEN>",
    b"BRACKETS": _match_brackets(3),
    # Parts of a line whose content must not be examined.
    b"OPAQUE": rb"<STRING>|<BRACKETS>|<BROKEN>",
    # The start of a statement that is a declaration in any block.
    b"DECLARING": rb"(?:(?:async[ \t]++)?+def|class|import|from|type[ \t]++<NAME>)\b",
    # The start of a statement that may declare variables of a module or class.
    b"TARGET": rb"<NAME>[ ]*+(?:=(?!=)|:)"
    rb"|(?:[^\n=:;\"'#()\[\]{},]++|<BRACKETS>)*+,(?:[^\n=:;\"'#()\[\]{}]++|<BRACKETS>)*+=(?!=)",
    # The statements of a line, if none is a declaration other than of variables.
    b"QUIET": rb"(?:[^\n\"'#\\()\[\]{}:;]++|[:;](?!<GAP><DECLARING>)|<OPAQUE>)*+",
    # The same, if the line cannot declare variables of a module or class either.
    b"SILENT": rb"(?:[^\n\"'#\\()\[\]{}:;]++|[:;](?!<GAP>(?:<DECLARING>|<TARGET>))|<OPAQUE>)*+",
}


def compile_pattern(pattern: bytes) -> re.Pattern[bytes]:
    """Compile a pattern after the words in it were replaced by the patterns of `WORDS`."""
    expanded = re.sub(rb"<([A-Z]+)>", lambda word: WORDS[word[1]], pattern)
    return re.compile(expanded) if expanded == pattern else compile_pattern(expanded)


@cache
def quiet_lines(indent: int, has_variables: bool) -> re.Pattern[bytes]:
    """Return a pattern for the lines of a block that declare nothing.

    Args:
        indent: The indentation of the statements of the block.
        has_variables: Whether assignments in the block declare variables, as in a module or class.

    Returns:
        A pattern whose group 1 is these lines. It is followed by lines without code, and group 2 is the indentation of
        the next line of code.
    """
    deeper = rb"(?![@\t\\]|<DECLARING>)<QUIET><END>"
    # A line of the block itself must not start with what may be a variable.
    line = rb"(?:(?![ @\t\\]|<DECLARING>|<TARGET>)<SILENT><END>|[ ]++%b)" if has_variables else rb"[ ]*+%b"
    return compile_pattern(rb"((?:<EMPTY>[ ]{%d}%b)*+)<EMPTY>([ ]*+)" % (indent, line % deeper))


NOISE = compile_pattern(rb"<COMMENT>|<BROKEN>")
SPACES = compile_pattern(rb"[ ]*+")
EMPTY = compile_pattern(rb"<EMPTY>[ ]*+")
"""Matches everything up to the next code."""
LINE = compile_pattern(rb"<QUIET>")
STATEMENT = compile_pattern(rb"(?:[^\n\"'#\\()\[\]{};]++|<OPAQUE>)*+")
ANNOTATION = compile_pattern(rb"(?:[^\n\"'#\\()\[\]{}:;]++|<OPAQUE>)*+")
BRACKETS = compile_pattern(rb"<BRACKETS>")
BRACKET = compile_pattern(rb"<INSIDE>|([(\[{])|([)\]}])")
"""Text without brackets, or one bracket: an opening one is group 1, a closing one is group 2."""
DECLARING_START = compile_pattern(rb"[@\t\\]|<DECLARING>")
DEFINITION = compile_pattern(rb"(?:async[ ]++)?(def|class)[ ]++(<NAME>)[ ]*+")
ARROW = compile_pattern(rb"[ ]*+->")
COLON = compile_pattern(rb"[ ]*+:[ ]*+(<END>)?+")
"""The colon of a block. Group 1 matches if the block starts on the next line."""
BASE = compile_pattern(
    rb"[ \n]*+(?:(<DOTTED>(?:<BRACKETS>)*+)(?=[ \n]*+(?:,|$))"
    rb"|(?:\*\*?|<NAME>[ ]*+=(?!=))(?:[^\"'#\\()\[\]{},]++|<STRING>|<BRACKETS>)*+)[ \n]*+(?:,|$)"
)
"""One argument of a class statement. Group 1 is a base or a call; it is missing for keyword and starred arguments."""
IMPORT = compile_pattern(rb"(?:import|from<GAP>((?:\.[ ]*+)*+(?:(?!import\b)<DOTTED>)?+)<GAP>import)\b<GAP>")
IMPORTED = compile_pattern(rb"[ \n]*+(<DOTTED>|\*)(?:[ \n]++as[ \n]++(<NAME>))?[ \n]*+(?:,|$)")
TYPE = compile_pattern(rb"type[ ]++(<NAME>)[ ]*+[=\[]")
VARIABLE = compile_pattern(rb"(<NAME>)[ ]*+(?:=(?!=)|:)")
TARGETS = compile_pattern(rb"((?:[^\n\"'#\\()\[\]{}:;=!<>+\-/%&|^@]++|<BRACKETS>)*+)=(?!=)")
TARGET = compile_pattern(rb"[ ]*+((?:[^,()\[\]{}]++|<BRACKETS>)++)(?:,|$)")
NAME = compile_pattern(rb"<NAME>")
