"""What chunks are about, as vectors of one model: rows of a matrix on disk that every reader maps into memory, and a table that
says which text a row is of.

A row is of a text, not of a place, so that what moved keeps its vector. To look at all rows is cheap: 50,000 of 384 numbers
take 2 ms, and a database of vectors would be slower (docs/adr/0011).
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import FileProblem, StoreError
from lsp_harness.store.database import Reader, Writer, marks, remove

FORMAT = 1
SCHEMA = "CREATE TABLE vectors(digest BLOB PRIMARY KEY, row INTEGER NOT NULL UNIQUE) WITHOUT ROWID;"
NUMBER = np.dtype("<f4")
NONE = np.empty((0, 0), NUMBER)
SPARE = 2
"""As many rows as there are texts, times this, before those that are of no text any more are thrown away."""
LEAST = 1_000
"""Rows below which that is not worth it."""


class Vectors:
    """In the folder of an index. Raises StoreError, and StoreDamaged, as the databases do."""

    def __init__(self, folder: Path) -> None:
        self.matrix = folder / "vectors.f32"
        self.database = folder / "vectors.db"
        self._reader = Reader(self.database)
        self._state = 0
        self._texts: dict[int, bytes] = {}

    def close(self) -> None:
        self._reader.close()

    def model(self) -> tuple[str, int] | None:
        """Of which model they are, and how many numbers each has; None where there are none."""
        rows = self._reader.rows("SELECT version FROM version")
        if not rows:
            return None
        _, dimension, name = rows[0][0].split(" ", 2)
        return name, int(dimension)

    def texts(self) -> Mapping[int, bytes]:
        """The digest of the text that each row is of."""
        if (state := self._reader.state()) != self._state:
            self._texts = dict(self._reader.rows("SELECT row, digest FROM vectors"))  # type: ignore[arg-type]
            self._state = state
        return self._texts

    def sound(self) -> bool:
        """Whether there are numbers for every text, as far as a look at the size of the file can tell."""
        try:
            model, texts = self.model(), self.texts()
        except StoreError:
            return False
        return not texts or (model is not None and len(self._matrix(model[1])) > max(texts))

    def put(self, name: str, made: Mapping[bytes, Sequence[float]], living: int) -> None:
        """Adds vectors of length 1. Those of another model, or of another length, are thrown away first, and those of no
        text any more where they are too many for `living` texts."""
        dimension = len(next(iter(made.values())))
        writer = Writer(self.database, SCHEMA, f"{FORMAT} {dimension} {name}")
        try:
            [(count,)] = writer.rows("SELECT count(*) FROM vectors")
            if count > max(LEAST, SPARE * living):
                writer.close()
                remove(self.database)
                writer = Writer(self.database, SCHEMA, f"{FORMAT} {dimension} {name}")
            # another front end may write, too: nothing that was asked before counts
            with writer.transaction():
                [(last,)] = writer.rows("SELECT coalesce(max(row), -1) FROM vectors")
                known = {
                    digest
                    for (digest,) in writer.rows(
                        f"SELECT digest FROM vectors WHERE digest IN ({marks(len(made))})", [*made]
                    )
                }
                new = {digest: vector for digest, vector in made.items() if digest not in known}
                # first the numbers, then that they are there: what a crash left behind is written over
                self._write(last + 1, np.asarray(list(new.values()), NUMBER))
                numbered = ((digest, row) for row, digest in enumerate(new, last + 1))
                writer.each("INSERT INTO vectors VALUES (?, ?)", numbered)
        finally:
            writer.close()

    def _write(self, first: int, rows: "np.ndarray[Any, np.dtype[np.float32]]") -> None:
        if not len(rows):
            return
        # the first go into a new file: whoever reads the old one reads on
        name = self.matrix if first else self.matrix.with_suffix(".new")
        with open(os.open(remove_irregular_file(name), os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600), "r+b") as file:
            file.seek(first * rows.shape[1] * NUMBER.itemsize)
            file.write(rows.tobytes())
        if not first:
            os.replace(name, self.matrix)

    def nearest(self, vector: Sequence[float], count: int) -> list[bytes]:
        """Digests of the texts whose vectors are most like this one, the most alike first."""
        texts, model, dimension = self.texts(), self.model(), len(vector)
        if not texts or model is None or model[1] != dimension:
            return []
        # what is behind the last row was written by somebody who did not come to say so
        matrix = self._matrix(dimension)[: max(texts) + 1]
        if not len(matrix):
            return []
        scores = matrix @ np.asarray(vector, NUMBER)
        best = np.argpartition(-scores, min(count, len(scores) - 1))[:count]
        ordered = best[np.argsort(-scores[best])]
        return [texts[row] for row in ordered.tolist() if row in texts]

    def like(self, digest: bytes, count: int) -> list[bytes]:
        """Digests of the texts whose vectors are most like that of this text, itself left out; none where it has none."""
        model, row = self.model(), next((row for row, known in self.texts().items() if known == digest), None)
        matrix = self._matrix(model[1]) if model else NONE
        if row is None or row >= len(matrix):
            return []
        return [one for one in self.nearest(matrix[row].tolist(), count + 1) if one != digest][:count]

    def _matrix(self, dimension: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """All whole rows of the file."""
        try:
            # a mapping outlives the descriptor
            with open_regular(self.matrix) as file:
                rows = os.fstat(file.fileno()).st_size // (dimension * NUMBER.itemsize)
                return np.memmap(file, NUMBER, "r", shape=(rows, dimension)) if rows else NONE
        except (OSError, FileProblem):
            return NONE
