"""Tests of the thread settings in the environment of a process that runs llama.cpp."""

import pytest

from lsp_harness.process import openmp


def test_the_spin_count_of_the_user_is_kept_and_the_policy_is_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    ours = openmp.openmp_environment()
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    theirs = openmp.openmp_environment()

    assert [(it["OMP_WAIT_POLICY"], it["GOMP_SPINCOUNT"]) for it in (ours, theirs)] == [
        ("passive", str(openmp.SPIN_COUNT)),
        ("passive", "7"),
    ]
