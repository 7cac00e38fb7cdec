#!/usr/bin/env bash
# Everything the tests in real editors need: programs from apt, a VS Code (code-server) and its driver from npm, the
# packed extension, and the terminal of the inspector. What is there already is left as it is; then it takes a few seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
rig=tests/editors/vscode
extension=editors/vscode
log=$rig/setup.log

say() { printf '%s\n' "$*"; }
fail() { say "$1"; [ -f "$log" ] && tail -n 20 "$log"; exit 1; }
# the lock file's text, kept beside what was installed from it: npm itself needs seconds to see that nothing is to be done
stamp() { cat "$1/package.json" "$1/package-lock.json" | sha256sum; }
fresh() { [ "$(cat "$1/node_modules/.stamp" 2>/dev/null)" = "$(stamp "$1")" ]; }
quiet_npm() { npm --no-audit --no-fund --loglevel=error "$@"; }

say "[1/4] programs: chromium, tmux, Emacs with eglot"
missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v tmux >/dev/null || missing+=(tmux)
command -v emacs >/dev/null || missing+=(emacs-nox)
dpkg -s elpa-eglot >/dev/null 2>&1 || emacs -Q --batch --eval '(require (quote eglot))' >/dev/null 2>&1 || missing+=(elpa-eglot)
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || fail "missing: ${missing[*]}; there is no apt-get here, install them your own way"
  [ "$(id -u)" = 0 ] || fail "missing: ${missing[*]}; run: sudo apt-get install ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -o DPkg::Lock::Timeout=300 -qq update >"$log" 2>&1 || fail "apt-get update failed"
  apt-get -o DPkg::Lock::Timeout=300 -qq install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
    fail "apt-get install ${missing[*]} failed"
fi
command -v npm >/dev/null || fail "npm is missing: install Node.js 20 or newer"

say "[2/4] VS Code for the tests (code-server and its own Node, about 800 MB the first time)"
if ! fresh "$rig"; then
  # no scripts: they compile native modules, none of which these tests need
  (cd "$rig" && quiet_npm ci --ignore-scripts) >"$log" 2>&1 || fail "npm ci in $rig failed"
  # code-server's own two parts; its lock file does not fit its package.json, so that `npm ci` would refuse
  for part in vscode vscode/extensions; do
    (cd "$rig/node_modules/code-server/lib/$part" && quiet_npm install --omit=dev --ignore-scripts) >"$log" 2>&1 ||
      fail "npm install in code-server's $part failed"
  done
  stamp "$rig" >"$rig/node_modules/.stamp"
fi

say "[3/4] the extension, packed"
if ! fresh "$extension"; then
  (cd "$extension" && quiet_npm ci) >"$log" 2>&1 || fail "npm ci in $extension failed"
  stamp "$extension" >"$extension/node_modules/.stamp"
fi
packed=$extension/lsp-harness.vsix
if [ ! -e "$packed" ] || [ -n "$(find "$extension" -path "*/node_modules" -prune -o -path "*/out" -prune -o -type f -newer "$packed" -print -quit)" ]; then
  (cd "$extension" && npm run --silent package) >"$log" 2>&1 || fail "the extension was not packed"
fi

say "[4/4] the terminal of the inspector, from npm"
.ci/xterm.sh >"$log" 2>&1 || fail "xterm.js was not copied"
