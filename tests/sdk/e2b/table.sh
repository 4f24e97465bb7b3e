#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of docs/e2b.md against the packages. 77: they are not installed.
here=$(dirname "$0")
command -v node >/dev/null && [ -d "$here/../node_modules/e2b" ] || { echo "skipped: needs node, and \`npm ci\` in tests/sdk"; exit 77; }
exec node "$here/methods.mjs"
