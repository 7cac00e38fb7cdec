"""Vectors of the texts of chunks, made by one model: a matrix on disk that every reader maps into memory, and a table
that maps texts to its rows.

A row belongs to a text, not to a place, so a moved text keeps its vector. A search over all rows is cheap: 50,000 rows
of 384 numbers take 2 ms. A vector database would be slower (docs/adr/0011).
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.disk.opening import NO_WAIT, READING_AND_WRITING
from lsp_harness.errors import FileError, StoreError
from lsp_harness.extras import need_extra
from lsp_harness.store.database import DatabaseReader, DatabaseWriter, placeholders, remove_database

if TYPE_CHECKING:
    import numpy as np

FORMAT_VERSION = 1
SCHEMA = "CREATE TABLE vectors(digest BLOB PRIMARY KEY, row INTEGER NOT NULL UNIQUE) WITHOUT ROWID;"
FLOAT32, FLOAT32_BYTES = "<f4", 4
"""The type of the numbers in the matrix, as numpy names it, and its size."""
MAX_ROWS_PER_TEXT = 2
"""Number of rows per living text above which the rows of deleted texts are removed."""
MIN_ROWS_TO_COMPACT = 1_000
"""Number of rows below which removing them is not worth the work."""


class Vectors:
    """The vectors in the folder of an index.

    Methods raise StoreError and StoreDamaged as the classes of `store.database` do.
    """

    def __init__(self, folder: Path) -> None:
        self.matrix_path = folder / "vectors.f32"
        self.database_path = folder / "vectors.db"
        self._reader = DatabaseReader(self.database_path)
        self._change_token = 0
        self._digests: dict[int, bytes] = {}

    def close(self) -> None:
        self._reader.close()

    def remove(self) -> None:
        """Delete all vectors. The matrix is replaced when the first new vectors are added."""
        remove_database(self.database_path)

    def read_model(self) -> tuple[str, int] | None:
        """Return the name of the model and the length of its vectors, or None if there are no vectors."""
        rows = self._reader.rows("SELECT version FROM version")
        if not rows:
            return None
        _, dimension, name = rows[0][0].split(" ", 2)
        return name, int(dimension)

    def read_digests(self) -> Mapping[int, bytes]:
        """Return the digest of the text of each row."""
        if (token := self._reader.change_token()) != self._change_token:
            self._digests = dict(self._reader.rows("SELECT row, digest FROM vectors"))  # type: ignore[arg-type]
            self._change_token = token
        return self._digests

    def is_sound(self) -> bool:
        """Return whether the matrix has a row for every text, judged by the size of its file."""
        try:
            model, digests = self.read_model(), self.read_digests()
        except StoreError:
            return False
        return not digests or (model is not None and self._count_rows(model[1]) > max(digests))

    def add(self, name: str, vectors: Mapping[bytes, Sequence[float]], text_count: int) -> None:
        """Store vectors and remove those that do not fit.

        Vectors of another model or of another length are removed first. If there are too many rows for `text_count`
        texts, all rows are removed.

        Args:
            name: The name of the model.
            vectors: Vectors of length 1 by the digest of their text.
            text_count: Number of texts in the index that have a vector.
        """
        with need_extra("engine"):
            import numpy as np

        dimension = len(next(iter(vectors.values())))
        writer = DatabaseWriter(self.database_path, SCHEMA, f"{FORMAT_VERSION} {dimension} {name}")
        try:
            [(count,)] = writer.rows("SELECT count(*) FROM vectors")
            if count > max(MIN_ROWS_TO_COMPACT, MAX_ROWS_PER_TEXT * text_count):
                writer.close()
                remove_database(self.database_path)
                writer = DatabaseWriter(self.database_path, SCHEMA, f"{FORMAT_VERSION} {dimension} {name}")
            # Another server may write at the same time, so everything that was read before is read again.
            with writer.transaction():
                [(last_row,)] = writer.rows("SELECT coalesce(max(row), -1) FROM vectors")
                stored = {
                    digest
                    for (digest,) in writer.rows(
                        f"SELECT digest FROM vectors WHERE digest IN ({placeholders(len(vectors))})", [*vectors]
                    )
                }
                new_vectors = {digest: vector for digest, vector in vectors.items() if digest not in stored}
                # The numbers are written before the table refers to them. What a crash left behind is overwritten.
                self._write(last_row + 1, np.asarray(list(new_vectors.values()), FLOAT32))
                numbered = ((digest, row) for row, digest in enumerate(new_vectors, last_row + 1))
                writer.execute_many("INSERT INTO vectors VALUES (?, ?)", numbered)
        finally:
            writer.close()

    def _write(self, first_row: int, rows: "np.ndarray[Any, np.dtype[np.float32]]") -> None:
        if not len(rows):
            return
        # The first rows go into a new file, so that readers of the old file are not disturbed.
        path = self.matrix_path if first_row else self.matrix_path.with_suffix(".new")
        descriptor = os.open(remove_irregular_file(path), READING_AND_WRITING | os.O_CREAT | NO_WAIT, 0o600)
        with open(descriptor, "r+b") as file:
            file.seek(first_row * rows.shape[1] * FLOAT32_BYTES)
            file.write(rows.tobytes())
        if not first_row:
            os.replace(path, self.matrix_path)

    def find_nearest(self, vector: Sequence[float], count: int) -> list[bytes]:
        """Return the digests of the `count` texts whose vectors are most similar to `vector`, the most similar
        first. Raise ExtraMissing without numpy."""
        with need_extra("engine"):
            import numpy as np

        digests, model, dimension = self.read_digests(), self.read_model(), len(vector)
        if not digests or model is None or model[1] != dimension:
            return []
        # Rows behind the last known one were written by a process that did not finish.
        matrix = self._map_matrix(dimension)
        if matrix is None:
            return []
        matrix = matrix[: max(digests) + 1]
        scores = matrix @ np.asarray(vector, FLOAT32)
        best = np.argpartition(-scores, min(count, len(scores) - 1))[:count]
        ordered = best[np.argsort(-scores[best])]
        return [digests[row] for row in ordered.tolist() if row in digests]

    def find_similar(self, digest: bytes, count: int) -> list[bytes]:
        """Return the digests of the texts that are most similar to the text with this digest, without that text.

        The result is empty if the text has no vector.
        """
        model, row = (
            self.read_model(),
            next((row for row, row_digest in self.read_digests().items() if row_digest == digest), None),
        )
        matrix = self._map_matrix(model[1]) if model else None
        if row is None or matrix is None or row >= len(matrix):
            return []
        return [other for other in self.find_nearest(matrix[row].tolist(), count + 1) if other != digest][:count]

    def _count_rows(self, dimension: int) -> int:
        """Return the number of complete rows of the file."""
        try:
            return os.stat(self.matrix_path).st_size // (dimension * FLOAT32_BYTES)
        except OSError:
            return 0

    def _map_matrix(self, dimension: int) -> "np.ndarray[Any, np.dtype[np.float32]] | None":
        """Return all complete rows of the file, or None if there are none. Raise ExtraMissing without numpy."""
        with need_extra("engine"):
            import numpy as np

        try:
            # The mapping stays valid after the file is closed.
            with open_regular(self.matrix_path) as file:
                rows = self._count_rows(dimension)
                return np.memmap(file, FLOAT32, "r", shape=(rows, dimension)) if rows else None
        except (OSError, FileError):
            return None
