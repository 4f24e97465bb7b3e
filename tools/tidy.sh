#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy at zero warnings: on files changed since HEAD~20 (a changed header counts as all that include it), or on all.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset dev --log-level=WARNING >/dev/null
# What the build generates, and the precompiled header, must exist before a file that includes them is read.
cmake --build --preset dev --target cordon_generated cordon_pch >/dev/null

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
run() {
  xargs -r -P 2 -n 2 clang-tidy-19 -p build/dev --quiet "$@" \
    2> >(grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' >&2)
}
is_test='_test\.cc$\|^tests/'
# Tests may have constants that allocate. In `changed` they are read without the static analyzer: it takes half a minute
# a file over gtest's macros, and what it could find there the sanitizers see at run time. `all` has it everywhere.
in_tests=-cert-err58-cpp
[ "${1:-changed}" = all ] || in_tests+=,-clang-analyzer-*
# A coroutine's frame is nothing that the analyzer understands: it finds undefined pointers inside Asio. In `changed` it
# also leaves out the files of which only a header has changed: most of the time would go there.
coroutine='co_await\|co_return\|block_on'
quick=$(echo "$files" | { grep -v "$is_test" || true; } | xargs -r grep -l "$coroutine" || true)
if [ "${1:-changed}" != all ]; then
  own=$(echo "$changed" | { grep '\.cc$' || true; })
  quick=$(printf '%s\n' "$quick" "$(echo "$files" | { grep -v "$is_test" || true; } | { grep -vxF "${own:-none}" || true; })" | sort -u)
fi
failed=0
echo "$files" | { grep -v "$is_test" || true; } | { grep -vxF "${quick:-none}" || true; } | run || failed=1
echo "$quick" | run "--checks=-clang-analyzer-*" || failed=1
tests=$(echo "$files" | { grep "$is_test" || true; })
in_coroutines=$(echo "$tests" | xargs -r grep -l "$coroutine" || true)
echo "$tests" | { grep -vxF "${in_coroutines:-none}" || true; } | run "--checks=$in_tests" || failed=1
echo "$in_coroutines" | run "--checks=$in_tests,-clang-analyzer-*" || failed=1
exit $failed
