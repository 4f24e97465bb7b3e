#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No shipped program has a switch that takes a fence off: `not_shipped.sh MUTANTS PROGRAM...`
set -euo pipefail
mark=CORDON-MUTANT
mutants=$1
shift
for program in "$mutants"/cordon-launcher-mutant "$mutants"/cordon-init-mutant; do
  grep -q "$mark" "$program" || { echo "$program is no mutant: this test would see nothing"; exit 1; }
done
for program in "$@"; do
  if grep -q "$mark" "$program"; then echo "$program holds $mark"; exit 1; fi
done
