"""One suggestion on its way to the screen: the cursor's surroundings and what the model wrote there.

While tokens stream in, make one `Ghost` and ask for it `having` each new text: whatever was worked out about the
surroundings is kept.
"""

import copy
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.pipeline.around import Around
from lsp_harness.pipeline.mode import Mode


@dataclass(frozen=True)
class Ghost:
    """`text` continues `prefix`; `newline` is the terminator the document uses."""

    prefix: str
    suffix: str
    text: str
    mode: Mode
    language: str = ""
    newline: str = "\n"

    def having(self, text: str) -> "Ghost":
        if text == self.text:
            return self
        # not dataclasses.replace, which would forget the cached surroundings
        other = copy.copy(self)
        object.__setattr__(other, "text", text)
        return other

    @cached_property
    def around(self) -> Around:
        return Around(self.prefix, self.suffix, self.language)

    @property
    def line_prefix(self) -> str:
        return self.around.line_prefix

    @property
    def line_suffix(self) -> str:
        return self.around.line_suffix

    @property
    def indent(self) -> str:
        return self.around.indent

    @property
    def previous(self) -> str:
        return self.around.previous

    @property
    def next(self) -> str:
        return self.around.next
