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
    assert len(re.findall(r"prompt tokens evaluated", ran.stdout)) >= 3
    assert "geometry.py: ghost text" in ran.stdout
    assert "queue.js: ghost text" in ran.stdout
    assert re.search(r"applied; F821 is gone", ran.stdout)
    assert "a real model" in ran.stdout
