#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails unless the program asks for no interpreter and no shared library and holds no sanitizer.
set -euo pipefail
program=$1
readelf=$(command -v readelf || command -v llvm-readelf-19) || { echo "no readelf"; exit 2; }

headers=$("$readelf" --program-headers --wide "$program")
dynamic=$("$readelf" --dynamic --wide "$program" 2>&1 || true)
symbols=$("$readelf" --symbols --wide "$program")
! grep -q INTERP <<<"$headers" || { echo "$program: has an interpreter"; exit 1; }
! grep -q NEEDED <<<"$dynamic" || { echo "$program: needs shared libraries"; exit 1; }
! grep -qE '__(asan|ubsan|tsan|msan)_' <<<"$symbols" || { echo "$program: has a sanitizer"; exit 1; }
grep -q main <<<"$symbols" || { echo "$program: has no symbols to judge by"; exit 1; }
echo "$program: static, without sanitizers"
