#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program as an unprivileged user; exits 77 (skipped), with the reason, where that cannot be.
set -euo pipefail
program=$1
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

skip() { echo "skipped: $1"; exit 77; }

[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
command -v setpriv >/dev/null || skip "no setpriv"
cd /
"${as_nobody[@]}" test -x "$program" || skip "uid 65534 cannot reach $program"
exec env TMPDIR=/tmp "${as_nobody[@]}" "$program" "${@:2}"
