#!/usr/bin/env bash
# The virtual environment in .venv with the package, its tools, and a library of llama.cpp.
# Says what it does; pip's progress is shown in one line.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
log=.venv/setup.log

say() { printf '%s\n' "$*"; }
fail() { say "$1"; [ -f "$log" ] && tail -n 20 "$log"; exit 1; }

"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' ||
  { say "Python 3.11, 3.12, 3.13 or 3.14 is needed"; exit 1; }
# the versions are those of one Python version; another one gets the newest that pyproject.toml allows
constraints=()
version=$("$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])')
if grep -q "^# $version:" constraints.txt; then constraints=(-c constraints.txt); fi

say "[1/3] virtual environment in .venv"
"$python" -m venv .venv || fail "python -m venv failed: on Debian, apt-get install python3-venv"
.venv/bin/python -m pip install --quiet --upgrade pip >"$log" 2>&1 || fail "pip could not be upgraded"

say "[2/3] lsp-harness and what it needs"
set +e
.venv/bin/python -m pip install --verbose --progress-bar off -e ".[all]" --group dev "${constraints[@]}" 2>&1 |
  tee "$log" | .venv/bin/python -u .ci/progress.py
status=${PIPESTATUS[0]}
set -e
[ "$status" = 0 ] || fail "installation failed; the end of $log:"

say "[3/3] llama.cpp: a prebuilt library (10 MiB), or compiled if there is none for this machine (some minutes)"
if ! .venv/bin/lsp-harness engine libraries use; then
  .venv/bin/python -m pip install --verbose --progress-bar off llama-cpp-python 2>&1 |
    tee "$log" | .venv/bin/python -u .ci/progress.py || fail "llama.cpp was not compiled; the end of $log:"
fi
touch .venv/.ready
