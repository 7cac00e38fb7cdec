"""A test that every documented name has a test."""

import importlib

from tests.appendix.names import NAMES, TABLES, list_names

MODULES = ("test_options", "test_events", "test_client", "test_hooks", "test_providers", "test_session_names")
VALUES = {("sdk", "defaults")}
"""Groups whose names have values. `test_options` compares them all."""


def test_every_group_of_names_has_a_table():
    for module in MODULES:
        importlib.import_module(f"tests.appendix.{module}")
    groups = {(source, group) for source, rows in NAMES.items() for group in rows}
    assert groups - VALUES == set(TABLES)
    for source, group in TABLES:
        assert set(list_names(source, group)) == set(TABLES[source, group])
