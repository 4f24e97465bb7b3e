#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is too long for CI. The log, with its date in the name, goes to docs/evidence/.
set -euo pipefail
cd "$(dirname "$0")/.."
log=docs/evidence/$(date -u +%Y-%m-%d)-full.log
mkdir -p docs/evidence
{
  echo "commit $(git rev-parse HEAD)  $(date -u +%FT%TZ)  $(uname -sr)  $(nproc) cores"
  echo "== tidy, all files"
  tools/tidy.sh all
  echo "== mutants"
  tools/mutants.sh
  echo "== fuzz, 10 minutes a target"
  for target in $(ls fuzz/corpus); do ./dev fuzz "$target" 600 2>&1 | tail -n 12; done
  echo "== benchmarks"
  for bench in bench/*.cc; do ./dev bench "$(basename "$bench" .cc)" --check; done
} 2>&1 | sed "s#$PWD/##g" | tee "$log"
