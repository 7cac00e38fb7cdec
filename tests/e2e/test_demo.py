"""`make demo` with the real model."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_demo_completes_lines_and_repairs_a_diagnostic(home: Path):
    argv = [sys.executable, "-m", "lsp_harness", "demo"]
    result = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})

    assert result.returncode == 0, result.stdout + result.stderr
    assert len(re.findall(r"[1-9]\d* generated", result.stdout)) >= 3
    for name in ("geometry.py", "queue.js"):
        assert f"{name}: completions at the cursor (ghost text)" in result.stdout
    assert "quick fix chosen: Fix with lsp-harness: `facter` → `factor`" in result.stdout
    assert re.search(r"parse +kept +lint +gone", result.stdout)
    assert re.search(r"nearest name +factor( +✓){4}( +–){2} +passes", result.stdout)
    assert result.stdout.count("nearest name passes (parse ✓, kept ✓, lint ✓, gone ✓, ") == 1
    assert "applied; F821 is gone" in result.stdout
    assert "a real model" in result.stdout
