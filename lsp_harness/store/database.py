"""A SQLite database that can be created again at any time, so a damaged file is never the user's problem.

One process writes in WAL mode, any number of processes read at the same time. If anything is wrong with the file,
including an old version of its tables, the writer starts a new one. Readers open the new file at their next query.
"""

import os
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import is_regular_file
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.disk.opening import NO_WAIT, READING_AND_WRITING
from lsp_harness.errors import StoreDamaged, StoreError, StoreTimeout

FILE_SUFFIXES = ("", "-wal", "-shm")
CACHE_KIB = 16_384
PROGRESS_STEPS = 4_000
"""Virtual machine steps of SQLite (about 0.1 ms) between two checks whether a reader has to stop."""
REMOVE_ADVICE = "remove it; the next command creates a new one"

Row = tuple[Any, ...]
T = TypeVar("T")


def placeholders(count: int) -> str:
    """Return placeholders for `count` values of an SQL statement."""
    return ", ".join("?" * count)


def remove_database(path: Path) -> None:
    """Delete a database with its journal files.

    Raises:
        StoreError: A file cannot be deleted.
    """
    for suffix in FILE_SUFFIXES:
        with _translate_errors(path), suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


class DatabaseWriter:
    """The only connection that writes to a database."""

    def __init__(self, path: Path, schema: str, version: str) -> None:
        """Open or create the database.

        Args:
            path: The database file.
            schema: The SQL statements that create the tables.
            version: What the tables and their contents depend on. A file of another version is replaced.

        Raises:
            StoreError: The file cannot be created.
        """
        self.path = path
        with _translate_errors(path):
            try:
                self._connection = self._open(schema, version)
            except sqlite3.DatabaseError as error:
                if _is_disk_error(error):
                    raise
                remove_database(path)
                self._connection = self._open(schema, version)
            self._file_stat = os.stat(path)

    def _open(self, schema: str, version: str) -> sqlite3.Connection:
        for suffix in FILE_SUFFIXES:
            remove_irregular_file(Path(f"{self.path}{suffix}"))
        os.close(os.open(self.path, READING_AND_WRITING | os.O_CREAT | NO_WAIT, 0o600))
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            # A crash of the machine may lose transactions; they are indexed again.
            connection.executescript(
                f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-{CACHE_KIB};"
                "CREATE TABLE IF NOT EXISTS version(version TEXT NOT NULL)"
            )
            versions = connection.execute("SELECT version FROM version").fetchall()
            if versions and versions != [(version,)]:
                raise sqlite3.DatabaseError("another version")
            if not versions:
                quoted = version.replace("'", "''")
                connection.executescript(f"BEGIN; {schema}; INSERT INTO version VALUES ('{quoted}'); COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Commit all statements of the block, or none of them.

        Raises:
            StoreDamaged: The file is not a database any more.
            StoreError: The disk is full, or the file cannot be written.
        """
        with _translate_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def check_file(self) -> None:
        """Raise StoreDamaged if the file was deleted or replaced."""
        try:
            is_same = os.path.samestat(os.stat(self.path), self._file_stat)
        except FileNotFoundError:
            is_same = False
        if not is_same:
            raise StoreDamaged(f"{self.path} was deleted")

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""
        with _translate_errors(self.path):
            return self._connection.execute(sql, arguments).fetchall()

    def execute(self, sql: str, arguments: Sequence[Any] = ()) -> int:
        """Run one statement and return the rowid that an INSERT created."""
        with _translate_errors(self.path):
            return self._connection.execute(sql, arguments).lastrowid or 0

    def execute_script(self, sql: str) -> None:
        """Run several statements."""
        with _translate_errors(self.path):
            self._connection.executescript(sql)

    def execute_many(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each tuple of arguments."""
        with _translate_errors(self.path):
            self._connection.executemany(sql, arguments)

    def close(self) -> None:
        self._connection.close()


class DatabaseReader:
    """A read-only connection. It opens the file at the first query, and again when the file was replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._open_count = 0
        self._is_immutable = False
        """True if the file is read as one that nobody writes. It is then opened again for each query."""
        self._is_over: Callable[[], bool] | None = None

    @contextmanager
    def interrupt_when(self, is_over: Callable[[], bool]) -> Generator[None]:
        """Interrupt the queries of the block, also in the middle of a statement, as soon as `is_over` returns True.

        Raises:
            StoreTimeout: A query was interrupted.
        """
        self._is_over = is_over
        try:
            with _translate_errors(self.path):
                self._open()
            self._set_progress_handler()
            yield
        finally:
            self._is_over = None
            self._set_progress_handler()

    def collect_until(self, is_over: Callable[[], bool], find: Callable[[], Iterable[T]]) -> list[T]:
        """Return the results of `find` until `is_over` returns True. Later results are not computed.

        Raises:
            StoreError: The database cannot be read.
        """
        results: list[T] = []
        if is_over():
            return results
        with suppress(StoreTimeout), self.interrupt_when(is_over):
            for result in find():
                results.append(result)
                if is_over():
                    break
        return results

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query.

        The result is empty if there is no database yet, or if an argument is not valid UTF-8, as no such text is in a
        database.

        Raises:
            StoreDamaged: The file is not a database.
        """
        with _translate_errors(self.path):
            connection = self._open()
            try:
                return connection.execute(sql, arguments).fetchall() if connection else []
            except UnicodeEncodeError:
                return []

    def change_token(self) -> int:
        """Return a number that changes when the database was written or replaced; 0 if there is no database."""
        with _translate_errors(self.path):
            connection = self._open()
            return hash((self._open_count, connection.execute("PRAGMA data_version").fetchone())) if connection else 0

    def _open(self) -> sqlite3.Connection | None:
        try:
            inode = os.stat(self.path).st_ino
        except OSError:
            self.close()
            return None
        if self._connection is None or inode != self._inode or self._is_immutable:
            self.close()
            for suffix in FILE_SUFFIXES:
                # SQLite would wait forever for a pipe.
                if os.path.lexists(part := Path(f"{self.path}{suffix}")) and not is_regular_file(part):
                    raise StoreDamaged(f"{part} is not a regular file; {REMOVE_ADVICE}")
            self._connection = self._connect("mode=ro")
            self._is_immutable = False
            try:
                self._connection.execute("PRAGMA schema_version")
            except sqlite3.OperationalError as error:
                # SQLite creates files for readers beside a database in WAL mode. A full or read-only disk refuses this.
                if not _is_disk_error(error) or _file_size(f"{self.path}-wal"):
                    raise
                self._connection.close()
                self._connection = self._connect("immutable=1")
                self._is_immutable = True
            self._inode = inode
            # A new file may have the inode number of a deleted one.
            self._open_count += 1
            self._set_progress_handler()
        return self._connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.as_uri()}?{mode}", uri=True, check_same_thread=False)

    def _set_progress_handler(self) -> None:
        if self._connection:
            self._connection.set_progress_handler(self._is_over, PROGRESS_STEPS if self._is_over else 0)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


@contextmanager
def _translate_errors(path: Path) -> Generator[None]:
    """Raise the errors of SQLite and of the file system as StoreError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if _error_code(error) == sqlite3.SQLITE_INTERRUPT:
            raise StoreTimeout(f"{path}: the query took too long") from error
        raise StoreError(f"{path}: {error}{_suggest_remedy(error)}") from error
    except sqlite3.DatabaseError as error:
        raise StoreDamaged(f"{path}: {error}; {REMOVE_ADVICE}") from error
    except OSError as error:
        raise StoreError(paths.describe_write_failure(paths.CACHE, path, error)) from error
    except UnicodeEncodeError as error:
        raise StoreError(
            f"{path}: {error.object!a} cannot be stored, because it is not UTF-8; if it is a file name, rename the file"
        ) from error


def _suggest_remedy(error: sqlite3.OperationalError) -> str:
    if str(error).startswith("no such table"):
        # The file is empty, or it is the database of another program.
        return f"; {REMOVE_ADVICE}"
    if _is_busy(error):
        return "; another process uses it, run this again"
    if _error_code(error) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"; free some room there, or {paths.CACHE.advice}"
    return f"; {paths.CACHE.advice}" if _is_disk_error(error) else ""


def _error_code(error: sqlite3.Error) -> int:
    # Errors that Python's module raises itself have no code.
    return getattr(error, "sqlite_errorcode", 0)


def _file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _is_busy(error: sqlite3.Error) -> bool:
    return _error_code(error) & 0xFF == sqlite3.SQLITE_BUSY


def _is_disk_error(error: sqlite3.Error) -> bool:
    """Return whether the error comes from the disk or a lock, so that a new file would not help."""
    # The low byte of the code is the kind of error.
    return isinstance(error, sqlite3.OperationalError) and _error_code(error) & 0xFF in (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
    )
