#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy at zero warnings: on files changed since HEAD~5, or on all. A changed header is read with the file of its own
# name, or where there is none with the first two that include it; `all` reads it with every one.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-changed}" = all ]; then
  files=$(git ls-files '*.cc')
else
  # A history shorter than that has all its files changed: the difference to the empty tree.
  base=$(git rev-parse -q --verify HEAD~5 || git hash-object -t tree /dev/null)
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h'; git ls-files -o --exclude-standard '*.cc')
  files=$(for f in $changed; do
    case $f in
      *.h) if [ -f "${f%.h}.cc" ]; then echo "${f%.h}.cc"; else
             git grep -l "#include \"${f#src/}\"" -- '*.cc' | head -n 2 || true
           fi ;;
      *) echo "$f" ;;
    esac
  done | sort -u)
fi
[ -n "$files" ] || { echo "tidy: no file changed"; exit 0; }
echo "tidy: $(echo "$files" | wc -l) files"
# A directory of its own: in build/dev a file may be compiled together with others (CORDON_UNITY), and has no command.
cmake --preset dev -B build/tidy --log-level=WARNING >/dev/null
# What the build generates, and precompiled headers, must exist before a file that includes them is read.
cmake --build build/tidy -j 2 --target cordon_generated cordon_pch cordon_asio_pch cordon_test_pch cordon_asio_test_pch \
  cordon_plain_pch cordon_cli_pch >/dev/null
# A file that is compiled twice, with sanitizers and for static programs, is read once.
mkdir -p build/tidy/once
python3 - <<'PYTHON'
import json
commands = {}
for command in json.load(open("build/tidy/compile_commands.json")):
    commands.setdefault(command["file"], command)
json.dump(list(commands.values()), open("build/tidy/once/compile_commands.json", "w"))
PYTHON

run() {
  xargs -r -P 2 -n 2 clang-tidy-19 -p build/tidy/once --quiet "$@" \
    2> >(grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' >&2)
}
is_test='_test\.cc$\|^tests/'
# Tests may have constants that allocate. In `changed` they are read without the static analyzer: it takes half a minute
# a file over gtest's macros, and what it could find there the sanitizers see at run time; and without the one check that
# takes half of the rest of the time, for what costs a copy. `all` has both everywhere.
in_tests=-cert-err58-cpp
costly=-clang-analyzer-*,-performance-unnecessary-value-param
[ "${1:-changed}" = all ] || in_tests+=,$costly
# A coroutine's frame is nothing that the analyzer understands: it finds undefined pointers inside Asio. In `changed` the
# files of which only a header has changed are left without both, too: most of the time would go there.
coroutine='co_await\|co_return\|block_on'
sources=$(echo "$files" | { grep -v "$is_test" || true; })
includers=
if [ "${1:-changed}" != all ]; then
  own=$(echo "$changed" | { grep '\.cc$' || true; })
  includers=$(echo "$sources" | { grep -vxF "${own:-none}" || true; })
fi
sources=$(echo "$sources" | { grep -vxF "${includers:-none}" || true; })
quick=$(echo "$sources" | xargs -r grep -l "$coroutine" || true)
failed=0
echo "$sources" | { grep -vxF "${quick:-none}" || true; } | run || failed=1
echo "$quick" | run "--checks=-clang-analyzer-*" || failed=1
echo "$includers" | run "--checks=$costly" || failed=1
tests=$(echo "$files" | { grep "$is_test" || true; })
in_coroutines=$(echo "$tests" | xargs -r grep -l "$coroutine" || true)
echo "$tests" | { grep -vxF "${in_coroutines:-none}" || true; } | run "--checks=$in_tests" || failed=1
echo "$in_coroutines" | run "--checks=$in_tests,-clang-analyzer-*" || failed=1
exit $failed
