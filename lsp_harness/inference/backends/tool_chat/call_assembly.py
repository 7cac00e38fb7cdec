"""The calls of a streamed answer, put together from their pieces."""

import json
from dataclasses import dataclass
from typing import Any

from lsp_harness.inference.backends.tool_chat.tool_wire import ToolWire
from lsp_harness.inference.request import WrittenCall


@dataclass(slots=True)
class _Pieces:
    id: str
    name: str = ""
    arguments: str = ""


class CallAssembly:
    """Puts the calls of one answer together.

    Pieces belong together by their index. Some services send none, or the same one for each call; then a new id begins
    a new call.
    """

    def __init__(self, wire: ToolWire) -> None:
        self.wire = wire
        self._calls: list[_Pieces] = []
        self._by_index: dict[int, _Pieces] = {}

    def add(self, index: int | None, id: str, name: str, arguments: Any) -> None:
        """Add a piece of a call. Each part may be empty."""
        pieces = self._find(index, id, name)
        pieces.id = pieces.id or id
        pieces.name = pieces.name or name
        pieces.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""

    @property
    def calls(self) -> tuple[WrittenCall, ...]:
        """The calls of tools, in their order."""
        named = ((self.wire.tool_of(pieces.name), pieces) for pieces in self._calls)
        answer = self.wire.answer_tool
        return tuple(WrittenCall(tool, pieces.arguments) for tool, pieces in named if pieces.name != answer)

    @property
    def answer(self) -> str:
        """The text that the call of the answer tool stands for, or an empty text."""
        texts = (pieces.arguments for pieces in self._calls if pieces.name == self.wire.answer_tool)
        return self.wire.unwrap(next(texts, ""))

    def _find(self, index: int | None, id: str, name: str) -> _Pieces:
        known = self._by_index.get(index) if index is not None else self._calls[-1] if self._calls else None
        is_other = bool(known and name and (known.id != id if known.id and id else index is None))
        if known is None or is_other:
            known = _Pieces(id)
            self._calls.append(known)
        if index is not None:
            self._by_index[index] = known
        return known
