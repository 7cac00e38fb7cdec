"""Tests of databases that can be rebuilt, and of readers that find the new file."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.errors import StoreDamaged, StoreError, StoreTimeout
from lsp_harness.store.database import FILE_SUFFIXES, DatabaseReader, DatabaseWriter, remove_database

SCHEMA = "CREATE TABLE things(name TEXT)"


def open_writer(path: Path, version: str = "1") -> DatabaseWriter:
    return DatabaseWriter(path, SCHEMA, version)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def test_the_database_is_for_this_user_alone(path: Path):
    open_writer(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_written_row_can_be_read_after_reopening(path: Path):
    one = open_writer(path)
    with one.transaction():
        one.execute("INSERT INTO things VALUES ('a')")
    one.close()
    assert open_writer(path).rows("SELECT * FROM things") == [("a",)]


def test_a_failed_transaction_writes_no_row(path: Path):
    one = open_writer(path)
    with pytest.raises(StoreError), one.transaction():
        one.execute_many("INSERT INTO things VALUES (?)", [("a",), ("too", "many")])
    assert one.rows("SELECT * FROM things") == []


def test_a_new_version_begins_with_an_empty_database(path: Path):
    one = open_writer(path)
    one.execute_many("INSERT INTO things VALUES (?)", [("a",)])
    one.close()
    assert open_writer(path, "2").rows("SELECT * FROM things") == []


@pytest.mark.parametrize("rubbish", [b"no database at all" * 500, b"SQLite format 3\0" + b"\xff" * 5000, b"x"])
def test_an_invalid_file_is_replaced_by_a_database(path: Path, rubbish: bytes):
    path.write_bytes(rubbish)
    one = open_writer(path)
    one.execute("INSERT INTO things VALUES ('a')")
    assert one.rows("SELECT * FROM things") == [("a",)]


def test_damage_that_is_found_later_raises_its_own_error(path: Path):
    one = open_writer(path)
    one.execute_many("INSERT INTO things VALUES (?)", [(f"{n}" * 100,) for n in range(1000)])
    one.close()
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xee" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(StoreDamaged, match="malformed"):
        open_writer(path).rows("SELECT * FROM things")


def test_a_full_disk_is_an_error_and_leaves_no_half_written_row(path: Path):
    one = open_writer(path)
    one.execute("INSERT INTO things VALUES ('a')")
    one.rows("PRAGMA max_page_count = 4")
    with pytest.raises(StoreError, match="full") as told, one.transaction():
        one.execute_many("INSERT INTO things VALUES (?)", [("b" * 1000,)] * 1000)
    assert not isinstance(told.value, StoreDamaged)
    assert one.rows("SELECT * FROM things") == [("a",)]


def test_a_database_that_cannot_be_opened_is_an_error(tmp_path: Path):
    with pytest.raises(StoreError, match="No such file"):
        open_writer(tmp_path / "none" / "a.db")


def test_readers_see_written_rows_and_a_changed_token(path: Path):
    reader = DatabaseReader(path)
    assert reader.rows("SELECT * FROM things") == []
    assert reader.change_token() == 0
    one = open_writer(path)
    before = reader.change_token()
    assert before == reader.change_token() != 0
    one.execute("INSERT INTO things VALUES ('a')")
    assert reader.change_token() != before
    assert reader.rows("SELECT * FROM things") == [("a",)]


def test_readers_find_a_replaced_file(path: Path):
    one = open_writer(path)
    one.execute("INSERT INTO things VALUES ('old')")
    reader = DatabaseReader(path)
    before = reader.change_token()
    one.close()
    remove_database(path)
    assert reader.rows("SELECT * FROM things") == []
    open_writer(path).execute("INSERT INTO things VALUES ('new')")
    assert reader.rows("SELECT * FROM things") == [("new",)]
    assert reader.change_token() != before


def test_readers_cannot_write(path: Path):
    open_writer(path).close()
    with pytest.raises(StoreError, match="readonly"):
        DatabaseReader(path).rows("INSERT INTO things VALUES ('a')")


def test_a_reader_during_a_transaction_sees_the_earlier_rows(path: Path):
    one, reader = open_writer(path), DatabaseReader(path)
    with one.transaction():
        one.execute("INSERT INTO things VALUES ('a')")
        assert reader.rows("SELECT * FROM things") == []
    assert reader.rows("SELECT * FROM things") == [("a",)]


def test_an_invalid_text_is_an_error(path: Path):
    open_writer(path).close()
    reader = DatabaseReader(path)
    # no name in it is so, and whoever asks for one has no error of theirs to read
    assert reader.rows("SELECT * FROM things WHERE name = ?", ("\udcff",)) == []
    # an error of Python, which has no number
    with pytest.raises(StoreError, match="UTF-8"):
        reader.rows("SELECT CAST(x'ff' AS TEXT)")
    reader.close()


def test_journals_go_with_the_database(path: Path):
    one = open_writer(path)
    one.execute("INSERT INTO things VALUES ('a')")
    assert os.path.exists(f"{path}-wal")
    remove_database(path)
    assert list(path.parent.iterdir()) == []
    with pytest.raises(sqlite3.Error):
        sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True).execute("SELECT 1 FROM things")


SLOW = "WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 300000) SELECT max(n) FROM up"


def test_a_statement_is_interrupted_when_its_time_is_over(path: Path):
    open_writer(path).close()
    reader, asked = DatabaseReader(path), []

    def over() -> bool:
        asked.append(1)
        return len(asked) == 3

    with pytest.raises(StoreTimeout), reader.interrupt_when(over):
        reader.rows(SLOW)
    assert len(asked) == 3
    # what is asked then has all the time it needs, of the same connection
    assert reader.rows(SLOW) == [(300_000,)]
    with reader.interrupt_when(lambda: False):
        assert reader.rows(SLOW) == [(300_000,)]
    reader.close()


def test_a_file_that_appears_later_is_read_within_the_time_limit(path: Path):
    reader = DatabaseReader(path)
    with reader.interrupt_when(lambda: True):
        assert reader.rows(SLOW) == []
        open_writer(path).close()
        with pytest.raises(StoreTimeout):
            reader.rows(SLOW)
    reader.close()


@pytest.mark.parametrize("suffix", FILE_SUFFIXES)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_file_that_is_no_database_is_replaced_by_the_writer_and_not_waited_for_by_readers(
    tmp_path: Path, suffix: str, kind: str
) -> None:
    path = tmp_path / "index.db"
    with closing(DatabaseWriter(path, "CREATE TABLE t(n)", "1")) as written:
        written.execute("INSERT INTO t VALUES (7)")
    bad = Path(f"{path}{suffix}")
    bad.unlink(missing_ok=True)
    os.mkfifo(bad) if kind == "pipe" else bad.symlink_to("/dev/zero")
    with closing(DatabaseReader(path)) as reader, pytest.raises(StoreDamaged, match="is not a regular file"):
        reader.rows("SELECT * FROM t")
    with closing(DatabaseWriter(path, "CREATE TABLE t(n)", "1")) as written:
        written.execute("INSERT INTO t VALUES (8)")
    with closing(DatabaseReader(path)) as reader:
        assert (8,) in reader.rows("SELECT * FROM t")
