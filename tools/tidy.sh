#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy at zero warnings: on files changed since HEAD~20 (a changed header counts as all that include it), or on all.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release --log-level=WARNING
# Headers that the build generates must exist before a file that includes them is read.
cmake --build --preset release --target cordon_generated >/dev/null

if [ "${1:-changed}" = all ]; then
  files=$(git ls-files '*.cc')
else
  # A history shorter than that has all its files changed: the difference to the empty tree.
  base=$(git rev-parse -q --verify HEAD~20 || git hash-object -t tree /dev/null)
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h'; git ls-files -o --exclude-standard '*.cc')
  files=$(for f in $changed; do
    case $f in
      *.h) git grep -l "#include \"${f#src/}\"" -- '*.cc' || true ;;
      *) echo "$f" ;;
    esac
  done | sort -u)
fi
[ -n "$files" ] || { echo "tidy: no file changed"; exit 0; }
echo "tidy: $(echo "$files" | wc -l) files"
echo "$files" | xargs -P 2 -n 4 clang-tidy-19 -p build/release --quiet 2> >(grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' >&2)
