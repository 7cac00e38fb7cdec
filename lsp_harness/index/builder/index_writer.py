"""Writing to an index: the extract of a file replaces what was stored of the file."""

from collections.abc import Collection, Iterable
from functools import cache
from itertools import chain
from typing import NamedTuple

from lsp_harness.files.walk import SkippedFile, WalkedFile
from lsp_harness.index.builder.file_extract import Extract, Row
from lsp_harness.index.builder.import_links import ImportLinks, list_namespace_languages, make_namespace_condition
from lsp_harness.index.index_tables import INDEXES
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import DatabaseWriter, placeholders

SELECT_IMPORTS = (
    "SELECT path, language, imports.file, n, module, name FROM imports JOIN files ON files.id = imports.file"
)

MIN_FILES_FOR_INDEXES = 2_000
"""Number of files after which database indexes are created. Until then every query reads all rows."""


def select_namespace_users() -> str:
    """Return the SQL for the files whose imports name namespaces, so that any other file may be meant.

    Its arguments are the ids of `list_namespace_languages`.
    """
    return f"SELECT id FROM files WHERE language IN ({placeholders(len(list_namespace_languages()))})"


class IndexedFile(NamedTuple):
    """A file in the index."""

    id: int
    mtime: int
    size: int
    digest: bytes


class IndexWriter:
    """Writes an index. There is only one writer, so it allocates the ids and keeps the list of files in memory."""

    def __init__(self, writer: DatabaseWriter) -> None:
        self._writer = writer
        rows = writer.rows("SELECT path, id, mtime, size, digest FROM files")
        self.files = {path: IndexedFile(*row) for path, *row in rows}
        """The files in the index by path."""
        self.was_interrupted = bool(writer.rows("SELECT 1 FROM unlinked LIMIT 1"))
        """True if the previous writer stopped before it resolved all imports."""
        [(files, chunks)] = writer.rows("SELECT (SELECT max(id) FROM files), (SELECT max(id) FROM chunks)")
        self._last_ids = {"files": files or 0, "chunks": chunks or 0}
        self._has_indexes = False
        self._namespaces_changed = False

    def write(self, extracts: Iterable[Extract], unchanged: Iterable[WalkedFile] = ()) -> None:
        """Write extracts, and the new times of files with unchanged content, in one transaction."""
        written_files: dict[str, IndexedFile] = {}
        texts: list[Iterable[Row]] = []
        with self._writer.transaction():
            for extract in extracts:
                old_file = self.files.get(extract.file.path)
                old_namespaces = self._find_namespaces(old_file.id) if old_file else set[str]()
                if find_language(extract.language).imports.names_namespaces or old_namespaces:
                    self._namespaces_changed |= old_namespaces != {
                        row[4] for row in extract.symbols if row[2] == "namespace"
                    }
                if old_file:
                    self._delete_rows(old_file.id)
                file_id = old_file.id if old_file else self._allocate_ids("files", 1)
                written_files[extract.file.path] = IndexedFile(
                    file_id, extract.file.mtime, extract.file.size, extract.digest
                )
                texts.append(self._insert(file_id, extract))
                self._writer.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (file_id,))
            for file in unchanged:
                old_file = self.files[file.path]
                written_files[file.path] = old_file._replace(mtime=file.mtime, size=file.size)
                row = (file.mtime, file.size, old_file.id)
                self._writer.execute("UPDATE files SET mtime = ?, size = ? WHERE id = ?", row)
            # The texts are written last and together: SQLite would flush its full-text buffer at every other statement
            # between them.
            sql = f"INSERT INTO texts(rowid, names, text, words) VALUES ({placeholders(4)})"
            self._writer.execute_many(sql, chain.from_iterable(texts))
        self.files |= written_files
        if len(self.files) >= MIN_FILES_FOR_INDEXES:
            self._create_indexes()

    def remove(self, paths: Iterable[str]) -> None:
        """Remove deleted files."""
        file_ids = {path: self.files[path].id for path in paths}
        with self._writer.transaction():
            for file in file_ids.values():
                # If the process ends before the imports are resolved, this row remains: imports of the deleted file may
                # mean another one.
                self._writer.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (file,))
                self._delete_rows(file)
                self._writer.execute("DELETE FROM files WHERE id = ?", (file,))
                self._writer.execute("DELETE FROM targets WHERE target = ?", (file,))
        for path in file_ids:
            del self.files[path]

    def record_left_out(self, left_out: Iterable[SkippedFile]) -> None:
        """Replace the list of files and folders that are not indexed.

        This is the last write of a scan, so even the index of an empty folder is complete after it.
        """
        self._create_indexes()
        with self._writer.transaction():
            self._writer.execute("DELETE FROM left_out")
            self._writer.execute_many("INSERT OR REPLACE INTO left_out VALUES (?, ?)", left_out)

    def link_imports(self, links: ImportLinks, paths: Collection[str] | None = None) -> None:
        """Resolve the imports of these files, of all files by default."""
        self._create_indexes()
        links.find_namespace_files = cache(self._find_declaring_files)
        if paths is None:
            import_rows = self._writer.rows(SELECT_IMPORTS)
        else:
            files = {self.files[path].id for path in paths}
            if self._namespaces_changed:
                languages = list_namespace_languages()
                # Imports of other files name a namespace, not a file.
                files |= {file for (file,) in self._writer.rows(select_namespace_users(), languages)}
            import_rows = [
                row
                for file in sorted(files)
                for row in self._writer.rows(f"{SELECT_IMPORTS} WHERE imports.file = ?", (file,))
            ]
        target_rows = [
            (file, n, self.files[target].id)
            for path, language, file, n, module, name in import_rows
            for target in links.find_targets(path, language, module, name)
        ]
        with self._writer.transaction():
            if paths is None:
                self._writer.execute("DELETE FROM targets")
            elif self._namespaces_changed:
                self._writer.execute(
                    f"DELETE FROM targets WHERE file IN ({select_namespace_users()})", list_namespace_languages()
                )
            self._writer.execute_many(f"INSERT OR IGNORE INTO targets VALUES ({placeholders(3)})", target_rows)
            self._writer.execute("DELETE FROM unlinked")
        self.was_interrupted = self._namespaces_changed = False

    def _find_declaring_files(self, namespace: str) -> list[str]:
        """Return the files that declare a namespace."""
        where, arguments = make_namespace_condition(namespace)
        sql = f"SELECT DISTINCT path FROM symbols JOIN files ON files.id = symbols.file WHERE {where}"
        rows = self._writer.rows(sql, arguments)
        return [path for (path,) in rows]

    def _find_namespaces(self, file: int) -> set[str]:
        """Return the namespaces that a file declares, in a language whose imports name namespaces."""
        rows = self._writer.rows(
            "SELECT qualified FROM symbols WHERE file = ? AND kind = 'namespace' "
            f"AND file IN ({select_namespace_users()})",
            (file, *list_namespace_languages()),
        )
        return {name for (name,) in rows}

    def _create_indexes(self) -> None:
        if not self._has_indexes:
            self._writer.execute_script(INDEXES)
            self._has_indexes = True

    def _delete_rows(self, file: int) -> None:
        self._writer.execute("DELETE FROM texts WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)", (file,))
        for table in ("chunks", "symbols", "imports", "targets"):
            self._writer.execute(f"DELETE FROM {table} WHERE file = ?", (file,))

    def _allocate_ids(self, table: str, count: int) -> int:
        first_id = self._last_ids[table] + 1
        self._last_ids[table] += count
        return first_id

    def _insert(self, file: int, extract: Extract) -> Iterable[Row]:
        """Write everything but the texts, and return the rows of the texts."""
        (path, mtime, size), writer = extract.file, self._writer
        row = (file, path, mtime, size, extract.digest, extract.language, extract.skipped)
        writer.execute(f"INSERT OR REPLACE INTO files VALUES ({placeholders(7)})", row)
        writer.execute_many(
            f"INSERT INTO symbols VALUES ({placeholders(12)})", ((file, *row) for row in extract.symbols)
        )
        writer.execute_many(
            f"INSERT INTO imports VALUES ({placeholders(6)})", ((file, *row) for row in extract.imports)
        )
        first_id = self._allocate_ids("chunks", len(extract.chunks))
        rows = ((n, file, *row) for n, row in enumerate(extract.chunks, first_id))
        writer.execute_many(f"INSERT INTO chunks VALUES ({placeholders(6)})", rows)
        return [(n, *row) for n, row in enumerate(extract.texts, first_id)]
