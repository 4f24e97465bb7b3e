#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Breaks one line at a time in a copy of the tree and demands that the named tests notice. Each line of
# tests/mutants.txt: FILE | TARGET | TEST FILTER | SED EXPRESSION.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=build/mutant
mkdir -p "$copy"
killed=0 survived=0
while IFS='|' read -r file target filter edit; do
  case $file in '' | '#'*) continue ;; esac
  read -r file target filter <<<"$file $target $filter"
  edit=${edit# }
  rsync -a --delete --exclude build --exclude .git ./ "$copy"/
  sed -i "$edit" "$copy/$file"
  if cmp -s "$file" "$copy/$file"; then echo "NO CHANGE  $file: $edit"; exit 1; fi
  (cd "$copy" && cmake --preset dev --log-level=ERROR >/dev/null && cmake --build --preset dev --target "$target" >build.log) ||
    { echo "NO BUILD   $file: $edit"; tail -n 5 "$copy/build.log"; exit 1; }
  if binary=$(find "$copy/build/dev" -name "$target" -type f -perm -u+x) && "$binary" --gtest_brief=1 --gtest_filter="$filter" >/dev/null 2>&1; then
    echo "SURVIVED   $file: $edit"; survived=$((survived + 1))
  else
    echo "killed     $file: $edit"; killed=$((killed + 1))
  fi
done <tests/mutants.txt
echo "mutants: $killed killed, $survived survived"
[ "$survived" -eq 0 ]
