#!/usr/bin/env bash
# xterm.js for the terminals of the inspector, from npm, as .ci/inspector/package-lock.json names it by its hashes. It is
# copied into the package, and not committed. What is there already is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
rig=.ci/inspector
vendor=lsp_harness/api/page/vendor
stamp=$(sha256sum <"$rig/package-lock.json")

[ "$(cat "$vendor/.stamp" 2>/dev/null)" = "$stamp" ] && exit 0
command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$rig/package.json" "$rig/package-lock.json" "$work"
(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
found=$work/node_modules/@xterm
mkdir -p "$vendor"
# without the comments that name source maps, which are not there
for file in xterm/lib/xterm.mjs addon-fit/lib/addon-fit.mjs; do
  sed '/^\/\/# sourceMappingURL=/d' "$found/$file" >"$vendor/$(basename "$file")"
done
cp "$found/xterm/css/xterm.css" "$vendor/xterm.css"
{ cat "$found/xterm/LICENSE"; printf '\naddon-fit:\n\n'; cat "$found/addon-fit/LICENSE"; } >"$vendor/xterm.LICENSE"
printf '%s\n' "$stamp" >"$vendor/.stamp"
echo "xterm.js is in $vendor"
