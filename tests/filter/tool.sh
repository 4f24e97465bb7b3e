#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a tool's script under a filter: `tool.sh FILTER_RUN PROFILE SCRIPT`. 77: the tool is not installed.
set -euo pipefail
needs=$(sed -n 's/^# needs: //p' "$3")
command -v "$needs" >/dev/null || { echo "skipped: no $needs"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/cordon-tool-XXXXXX")
trap 'rm -rf "$dir"' EXIT
cp "$3" "$dir/.script"
cd "$dir"
# The last word shows that the script came to its end.
said=$(timeout 120 "$1" "$2" sh -eu .script 2>&1 </dev/null) && [ "${said##*$'\n'}" = done ] || { echo "$said"; exit 1; }
