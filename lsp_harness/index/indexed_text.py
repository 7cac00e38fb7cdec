"""The texts of the files and symbols of an index, put together from its chunks.

Chunks are whole lines. Blank lines between chunks are not stored, and spaces stand where a secret was.
"""

from lsp_harness.index.symbol_table import Symbol, SymbolTable
from lsp_harness.text.position import decode, encode


class IndexedText:
    """Reads texts of one index.

    The text of an unsaved file is its text in the editor, if a method does not say otherwise.
    """

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._reader = symbols.reader

    def read_text(self, symbol: Symbol, start: int, end: int) -> str:
        """Return the bytes from `start` to `end` of a symbol's file, up to the end of the chunk of `start`."""
        chunk_start, data = self.read_chunk(symbol.file, start)
        return decode(data[start - chunk_start : end - chunk_start])

    def read_signature(self, symbol: Symbol) -> str:
        """Return the declaration without its body, on one line."""
        return " ".join(self.read_text(symbol, symbol.start, symbol.body).split())

    def read_line_start(self, symbol: Symbol) -> str:
        """Return the text before the name of a symbol on its line."""
        chunk_start, data = self.read_chunk(symbol.file, symbol.named)
        return decode(data[: symbol.named - chunk_start].rpartition(b"\n")[2])

    def read_body(self, symbol: Symbol) -> str:
        """Return the text of a declaration, without the blank lines between its chunks."""
        if symbol.file in self._symbols.unsaved:
            return decode(self._symbols.unsaved[symbol.file][1].data[symbol.start : symbol.end])
        rows = self._reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id "
            "WHERE file = ? AND chunks.end > ? AND chunks.start < ? ORDER BY 1",
            (symbol.file, symbol.start, symbol.end),
        )
        return "".join(decode(encode(text)[max(0, symbol.start - start) : symbol.end - start]) for start, text in rows)

    def read_with_comments(self, symbol: Symbol) -> str:
        """Return the whole lines of a declaration and of the comments and decorators above it.

        The result is empty for a declaration that has no chunk of its own.
        """
        if symbol.file in self._symbols.unsaved:
            unsaved = self._symbols.unsaved[symbol.file][1]
            starts = [chunk.start for chunk in unsaved.chunks if chunk.symbol == symbol.n]
            end = unsaved.data.find(b"\n", symbol.end)
            return decode(unsaved.data[min(starts) : end if end >= 0 else None]) if starts else ""
        rows = self._reader.rows(
            "SELECT chunks.start, chunks.end, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE file = ? "
            "AND chunks.start < ? AND chunks.start >= (SELECT min(start) FROM chunks WHERE file = ? AND symbol = ?) "
            "ORDER BY 1",
            (symbol.file, symbol.end, symbol.file, symbol.n),
        )
        text, previous_end = "", rows[0][0] if rows else 0
        for start, end, piece in rows:
            # One blank line stands for the blank lines that are not stored.
            text, previous_end = text + "\n" * min(2, start - previous_end) + piece, end
        return text

    def read_lines(self, path: str, start: int, end: int) -> list[str]:
        """Return the lines of the chunks between two byte offsets of a file, as it was indexed."""
        rows = self._reader.rows(
            "SELECT text FROM chunks JOIN texts ON texts.rowid = chunks.id JOIN files ON files.id = chunks.file "
            "WHERE path = ? AND chunks.start >= ? AND chunks.end <= ? ORDER BY chunks.start",
            (path, start, end),
        )
        return [line for (text,) in rows for line in text.splitlines()]

    def read_file(self, file: int) -> bytes:
        """Return the text of a file at its byte offsets. Line ends stand for each byte between its chunks."""
        if file in self._symbols.unsaved:
            return self._symbols.unsaved[file][1].data
        data = bytearray()
        rows = self._reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE file = ? ORDER BY 1",
            (file,),
        )
        for start, text in rows:
            data += b"\n" * (start - len(data)) + encode(text)
        return bytes(data)

    def read_chunk(self, file: int, offset: int) -> tuple[int, bytes]:
        """Return the start and the text of the chunk that contains a byte; the text is empty if there is no such chunk.

        An unsaved text is one chunk.
        """
        if file in self._symbols.unsaved:
            return 0, self._symbols.unsaved[file][1].data
        rows = self._reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id "
            "WHERE chunks.file = ? AND chunks.start <= ? AND chunks.end > ?",
            (file, offset, offset),
        )
        return (rows[0][0], encode(rows[0][1])) if rows else (offset, b"")
