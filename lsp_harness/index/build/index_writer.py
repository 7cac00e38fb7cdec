"""Writing into an index: what was extracted of a file in place of what was known of it."""

from collections.abc import Collection, Iterable
from functools import cache
from itertools import chain
from typing import NamedTuple

from lsp_harness.files.walk import WorkspaceFile, SkippedFile
from lsp_harness.index.build.file_extract import Extract, Row
from lsp_harness.index.build.import_links import Links, declaring
from lsp_harness.index.index_tables import INDEXES
from lsp_harness.store.database import Writer, marks

IMPORTS = "SELECT path, language, imports.file, n, module, name FROM imports JOIN files ON files.id = imports.file"
SPACED = "SELECT id FROM files WHERE language = 'csharp'"
"""Files whose imports are of namespaces, and so say nothing of where that is."""

FIRST = 2_000
"""Files that are written before there are indexes; while there are none, all that is asked looks at every row."""


class Known(NamedTuple):
    """A file of the index."""

    id: int
    mtime: int
    size: int
    digest: bytes


class Filling:
    """The only one that writes an index; so ids are given out here, and what is in it need not be asked again."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        rows = writer.rows("SELECT path, id, mtime, size, digest FROM files")
        self.files = {path: Known(*row) for path, *row in rows}
        """By path."""
        self.interrupted = bool(writer.rows("SELECT 1 FROM unlinked LIMIT 1"))
        """Whoever wrote before did not come to say what imports mean."""
        [(files, chunks)] = writer.rows("SELECT (SELECT max(id) FROM files), (SELECT max(id) FROM chunks)")
        self._last = {"files": files or 0, "chunks": chunks or 0}
        self._indexed = False
        self._respaced = False

    def put(self, extracts: Iterable[Extract], same: Iterable[WorkspaceFile] = ()) -> None:
        """Writes what was extracted, and the times of files whose content is what it was, in one transaction."""
        written: dict[str, Known] = {}
        texts: list[Iterable[Row]] = []
        with self._writer.transaction():
            for one in extracts:
                known = self.files.get(one.found.path)
                declared = self._namespaces(known.id) if known else set[str]()
                if one.language == "csharp" or declared:
                    self._respaced |= declared != {row[4] for row in one.symbols if row[2] == "namespace"}
                if known:
                    self._empty(known.id)
                file = known.id if known else self._take("files", 1)
                written[one.found.path] = Known(file, one.found.mtime, one.found.size, one.digest)
                texts.append(self._fill(file, one))
                self._writer.do("INSERT OR IGNORE INTO unlinked VALUES (?)", (file,))
            for found in same:
                known = self.files[found.path]
                written[found.path] = known._replace(mtime=found.mtime, size=found.size)
                row = (found.mtime, found.size, known.id)
                self._writer.do("UPDATE files SET mtime = ?, size = ? WHERE id = ?", row)
            # last and at once: with every other statement between them SQLite would write out what it has of them
            sql = f"INSERT INTO texts(rowid, names, text, words) VALUES ({marks(4)})"
            self._writer.each(sql, chain.from_iterable(texts))
        self.files |= written
        if len(self.files) >= FIRST:
            self._index()

    def drop(self, paths: Iterable[str]) -> None:
        """Files that are gone."""
        dropped = {path: self.files[path].id for path in paths}
        with self._writer.transaction():
            for file in dropped.values():
                # whoever ends before all is linked leaves word of it: what meant this file, or one of two, may mean another
                self._writer.do("INSERT OR IGNORE INTO unlinked VALUES (?)", (file,))
                self._empty(file)
                self._writer.do("DELETE FROM files WHERE id = ?", (file,))
                self._writer.do("DELETE FROM targets WHERE target = ?", (file,))
        for path in dropped:
            del self.files[path]

    def leave_out(self, left: Iterable[SkippedFile]) -> None:
        """What is not indexed and why, all of it. It is the last that is written, so an index of no file is finished too."""
        self._index()
        with self._writer.transaction():
            self._writer.do("DELETE FROM left_out")
            self._writer.each("INSERT OR REPLACE INTO left_out VALUES (?, ?)", left)

    def link(self, links: Links, paths: Collection[str] | None = None) -> None:
        """Says what the imports of these files mean, of all of them by default."""
        self._index()
        links.spaces = cache(self._declaring)
        if paths is None:
            asked = self._writer.rows(IMPORTS)
        else:
            files = {self.files[path].id for path in paths}
            if self._respaced:
                # others name a namespace, and no file
                files |= {file for (file,) in self._writer.rows(SPACED)}
            asked = [
                row for file in sorted(files) for row in self._writer.rows(f"{IMPORTS} WHERE imports.file = ?", (file,))
            ]
        found = [
            (file, n, self.files[target].id)
            for path, language, file, n, module, name in asked
            for target in links.targets(path, language, module, name)
        ]
        with self._writer.transaction():
            if paths is None:
                self._writer.do("DELETE FROM targets")
            elif self._respaced:
                self._writer.do(f"DELETE FROM targets WHERE file IN ({SPACED})")
            self._writer.each(f"INSERT OR IGNORE INTO targets VALUES ({marks(3)})", found)
            self._writer.do("DELETE FROM unlinked")
        self.interrupted = self._respaced = False

    def _declaring(self, namespace: str) -> list[str]:
        """The files that declare it."""
        where, arguments = declaring(namespace)
        sql = f"SELECT DISTINCT path FROM symbols JOIN files ON files.id = symbols.file WHERE {where}"
        rows = self._writer.rows(sql, arguments)
        return [path for (path,) in rows]

    def _namespaces(self, file: int) -> set[str]:
        """Those that a file of this language declares."""
        rows = self._writer.rows(
            f"SELECT qualified FROM symbols WHERE file = ? AND kind = 'namespace' AND file IN ({SPACED})", (file,)
        )
        return {name for (name,) in rows}

    def _index(self) -> None:
        if not self._indexed:
            self._writer.script(INDEXES)
            self._indexed = True

    def _empty(self, file: int) -> None:
        self._writer.do("DELETE FROM texts WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)", (file,))
        for table in ("chunks", "symbols", "imports", "targets"):
            self._writer.do(f"DELETE FROM {table} WHERE file = ?", (file,))

    def _take(self, table: str, count: int) -> int:
        first = self._last[table] + 1
        self._last[table] += count
        return first

    def _fill(self, file: int, one: Extract) -> Iterable[Row]:
        """The texts are for the caller to write."""
        (path, mtime, size), writer = one.found, self._writer
        row = (file, path, mtime, size, one.digest, one.language, one.skipped)
        writer.do(f"INSERT OR REPLACE INTO files VALUES ({marks(7)})", row)
        writer.each(f"INSERT INTO symbols VALUES ({marks(12)})", ((file, *row) for row in one.symbols))
        writer.each(f"INSERT INTO imports VALUES ({marks(6)})", ((file, *row) for row in one.imports))
        first = self._take("chunks", len(one.chunks))
        rows = ((n, file, *row) for n, row in enumerate(one.chunks, first))
        writer.each(f"INSERT INTO chunks VALUES ({marks(6)})", rows)
        return [(n, *row) for n, row in enumerate(one.texts, first)]
