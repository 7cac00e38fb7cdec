"""A database that can be made again at any time, so that no fault of it is ever the user's business.

One process writes (WAL), any number reads at the same time. Whatever is wrong with the file, an older version of its tables
included, the writer begins anew; readers find the new file when they look again.
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
from lsp_harness.errors import StoreDamaged, StoreError, StoreLate

SUFFIXES = ("", "-wal", "-shm")
CACHE_KIB = 16_384
STEPS = 4_000
"""Of SQLite's machine, a tenth of a millisecond, after which a reader looks whether its time is over."""
REMOVE = "remove it, and the next command makes it anew"

Row = tuple[Any, ...]
T = TypeVar("T")


def marks(count: int) -> str:
    """Placeholders of so many values in a statement."""
    return ", ".join("?" * count)


def remove(path: Path) -> None:
    """Deletes a database with its journal. Raises StoreError."""
    for suffix in SUFFIXES:
        with _told(path), suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


class Writer:
    """The one connection that writes. `version` is what the tables and their contents depend on; a file of another version
    is thrown away. Raises StoreError where the file cannot be made."""

    def __init__(self, path: Path, schema: str, version: str) -> None:
        self.path = path
        with _told(path):
            try:
                self._connection = self._opened(schema, version)
            except sqlite3.DatabaseError as error:
                if _full(error):
                    raise
                remove(path)
                self._connection = self._opened(schema, version)
            self._file = os.stat(path)

    def _opened(self, schema: str, version: str) -> sqlite3.Connection:
        for suffix in SUFFIXES:
            remove_irregular_file(Path(f"{self.path}{suffix}"))
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600))
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            # what is lost in a crash of the machine is indexed again
            connection.executescript(
                f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-{CACHE_KIB};"
                "CREATE TABLE IF NOT EXISTS version(version TEXT NOT NULL)"
            )
            found = connection.execute("SELECT version FROM version").fetchall()
            if found and found != [(version,)]:
                raise sqlite3.DatabaseError("another version")
            if not found:
                quoted = version.replace("'", "''")
                connection.executescript(f"BEGIN; {schema}; INSERT INTO version VALUES ('{quoted}'); COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All of it or nothing. Raises StoreDamaged for a file that is none any more, StoreError for a full disk."""
        with _told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def check(self) -> None:
        """Raises StoreDamaged when the file was deleted or replaced."""
        try:
            same = os.path.samestat(os.stat(self.path), self._file)
        except FileNotFoundError:
            same = False
        if not same:
            raise StoreDamaged(f"{self.path} was deleted")

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        with _told(self.path):
            return self._connection.execute(sql, arguments).fetchall()

    def do(self, sql: str, arguments: Sequence[Any] = ()) -> int:
        """Runs one statement; the rowid that an INSERT made."""
        with _told(self.path):
            return self._connection.execute(sql, arguments).lastrowid or 0

    def script(self, sql: str) -> None:
        """Runs several statements."""
        with _told(self.path):
            self._connection.executescript(sql)

    def each(self, sql: str, arguments: Iterable[Sequence[Any]]) -> None:
        with _told(self.path):
            self._connection.executemany(sql, arguments)

    def close(self) -> None:
        self._connection.close()


class Reader:
    """A connection that only reads, opened when it is first needed, and anew when the file is another one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._file = 0
        self._opened = 0
        self._frozen = False
        """Whether the file is read as one that nobody writes: then it is opened anew for each question."""
        self._over: Callable[[], bool] | None = None

    @contextmanager
    def until(self, over: Callable[[], bool]) -> Generator[None]:
        """What is asked meanwhile ends when this is `over`, in the middle of a statement too. Raises StoreLate."""
        self._over = over
        try:
            with _told(self.path):
                self._open()
            self._look()
            yield
        finally:
            self._over = None
            self._look()

    def timely(self, over: Callable[[], bool], find: Callable[[], Iterable[T]]) -> list[T]:
        """What is found before it is `over`; nothing more is looked for then. Raises StoreError."""
        found: list[T] = []
        if over():
            return found
        with suppress(StoreLate), self.until(over):
            for one in find():
                found.append(one)
                if over():
                    break
        return found

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """What a query finds; nothing where there is no database yet, and for names that are not UTF-8, as none is in it. Raises
        StoreDamaged."""
        with _told(self.path):
            connection = self._open()
            try:
                return connection.execute(sql, arguments).fetchall() if connection else []
            except UnicodeEncodeError:
                return []

    def state(self) -> int:
        """A number that is another one when something was written since."""
        with _told(self.path):
            connection = self._open()
            return hash((self._opened, connection.execute("PRAGMA data_version").fetchone())) if connection else 0

    def _open(self) -> sqlite3.Connection | None:
        try:
            file = os.stat(self.path).st_ino
        except OSError:
            self.close()
            return None
        if self._connection is None or file != self._file or self._frozen:
            self.close()
            for suffix in SUFFIXES:
                # SQLite would wait for ever at a pipe
                if os.path.lexists(part := Path(f"{self.path}{suffix}")) and not is_regular_file(part):
                    raise StoreDamaged(f"{part} is no regular file; {REMOVE}")
            self._connection = self._connect("mode=ro")
            self._frozen = False
            try:
                self._connection.execute("PRAGMA schema_version")
            except sqlite3.OperationalError as error:
                # beside a database that is written to, SQLite makes files for readers, which a full or read-only disk refuses
                if not _full(error) or _size(f"{self.path}-wal"):
                    raise
                self._connection.close()
                self._connection = self._connect("immutable=1")
                self._frozen = True
            self._file = file
            # a file that was deleted may leave its number to the next
            self._opened += 1
            self._look()
        return self._connection

    def _connect(self, how: str) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.as_uri()}?{how}", uri=True, check_same_thread=False)

    def _look(self) -> None:
        if self._connection:
            self._connection.set_progress_handler(self._over, STEPS if self._over else 0)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


@contextmanager
def _told(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if _code(error) == sqlite3.SQLITE_INTERRUPT:
            raise StoreLate(f"{path}: the query took too long") from error
        raise StoreError(f"{path}: {error}{_remedy(error)}") from error
    except sqlite3.DatabaseError as error:
        raise StoreDamaged(f"{path}: {error}; {REMOVE}") from error
    except OSError as error:
        raise StoreError(paths.not_written(paths.CACHE, path, error)) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"{path}: {error.object!a} is not UTF-8, so it is not in the index") from error


def _remedy(error: sqlite3.OperationalError) -> str:
    if str(error).startswith("no such table"):
        # an empty file, or somebody else's database
        return f"; {REMOVE}"
    if _busy(error):
        return "; another process uses it, run this again"
    if _code(error) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"; free some room there, or {paths.CACHE.advice}"
    return f"; {paths.CACHE.advice}" if _full(error) else ""


def _code(error: sqlite3.Error) -> int:
    # what Python says by itself has none
    return getattr(error, "sqlite_errorcode", 0)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _busy(error: sqlite3.Error) -> bool:
    return _code(error) & 0xFF == sqlite3.SQLITE_BUSY


def _full(error: sqlite3.Error) -> bool:
    # the low byte is the kind, the others say more of it
    return isinstance(error, sqlite3.OperationalError) and _code(error) & 0xFF in (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
    )
