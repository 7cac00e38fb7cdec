#!/usr/bin/env bash
# The command line agents of other makers, from npm, for the tests that start them: 1.3 GB in .agents, or in the
# folder named by AGENTS. The versions are those of agents/package.json. What is there already is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${AGENTS:-.agents}
wanted=.ci/agents/package.json

command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer"; exit 1; }
mkdir -p "$folder"
if ! cmp -s "$wanted" "$folder/.installed"; then
  echo "agents of other makers in $folder (1.3 GB)"
  cp "$wanted" "$folder/package.json"
  npm install --prefix "$folder" --no-package-lock --no-audit --no-fund --loglevel=error >"$folder/install.log" 2>&1 ||
    { tail -n 20 "$folder/install.log"; exit 1; }
  cp "$wanted" "$folder/.installed"
fi
for name in claude codex gemini opencode; do
  printf '%-9s %s\n' "$name" "$("$folder/node_modules/.bin/$name" --version 2>/dev/null | tail -n 1)"
done
