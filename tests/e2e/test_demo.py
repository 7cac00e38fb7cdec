"""The main job, with the real model: what `make demo` shows."""

import os
import re
import subprocess
import sys

import pytest


@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_demo_completes_lines_and_repairs_a_diagnostic():
    argv = [sys.executable, "-m", "lsp_harness", "demo"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(re.findall(r"[1-9]\d* generated", ran.stdout)) >= 3
    for name in ("geometry.py", "queue.js"):
        assert f"{name}: completions at the cursor (ghost text)" in ran.stdout
    assert "quick fix chosen: Fix with lsp-harness: `facter` → `factor`" in ran.stdout
    assert re.search(r"syntax +kept +lint +gone", ran.stdout)
    assert re.search(r"nearest name +factor( +✓){4} +passes", ran.stdout)
    assert ran.stdout.count("nearest name passes (syntax ✓, kept ✓, lint ✓, gone ✓)") == 1
    assert "applied; F821 is gone" in ran.stdout
    assert "a real model" in ran.stdout
