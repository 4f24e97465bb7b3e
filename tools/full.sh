#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is too long for CI. The log, with its date in the name, goes to docs/evidence/.
set -euo pipefail
cd "$(dirname "$0")/.."
log=docs/evidence/$(date -u +%Y-%m-%d)-full.log
mkdir -p docs/evidence build
fuzz_log=build/full-fuzz.log

fuzz_all() {
  for target in $(ls fuzz/corpus); do
    echo "-- $target"
    ./dev fuzz "$target" 600 2>&1 | grep -E 'DONE|stat::|ERROR|SUMMARY|broken promise' || true
  done
}

{
  echo "commit $(git rev-parse HEAD)  $(date -u +%FT%TZ)  Linux $(uname -r | cut -d- -f1)  $(nproc) cores"
  echo "== benchmarks, alone on the machine"
  for bench in bench/*.cc; do ./dev bench "$(basename "$bench" .cc)" --check | grep -v '^\['; done
  ./dev bench running --check | grep -v '^\[' || true
  [ "$(id -u)" -ne 0 ] || ./dev bench tiers --check | grep -v '^\[' || true
  # Exploring takes one core; the rest goes on beside it.
  fuzz_all >"$fuzz_log" &
  echo "== mutants"
  tools/mutants.sh
  if [ "$(id -u)" -eq 0 ]; then
    ! command -v npm >/dev/null || npm ci --prefix tests/sdk/inspector --no-audit --no-fund --ignore-scripts >/dev/null
    tools/newer_runsc.sh || true   # where it cannot be had what would use it is skipped
    echo "== what depends on time"
    ctest --test-dir build/dev -L timed | grep -E 'tests passed|Failed|Total' || true
    echo "== containment"
    ctest --test-dir build/dev -L containment -V | grep -E '^[0-9]+: .*(FAIL|VACUOUS|containment:)' || true
    echo "== tiers"
    for caller in root user; do python3 tests/tiers/gvisor.py build/dev/bin --as "$caller" | grep -v '^pass' || true; done
    for caller in root user; do python3 tests/tiers/conform.py build/dev/bin gvisor --as "$caller" | tail -n 1; done
    echo "== gVisor, a newer one"
    newer=(env CORDON_RUNSC="$PWD/build/runsc-newer/runsc" python3)
    if [ -x build/runsc-newer/runsc ]; then
      for caller in root user; do "${newer[@]}" tests/tiers/gvisor.py build/dev/bin --as "$caller" | grep -v '^pass' || true; done
      for caller in root user; do "${newer[@]}" tests/tiers/conform.py "$PWD/build/dev/bin" gvisor --as "$caller" | tail -n 1; done
      "${newer[@]}" tests/tiers/node.py build/dev/bin | grep -v '^pass' || true
    fi
    echo "== machines"
    python3 tests/tiers/conform.py "$PWD/build/dev/bin" microvm | tail -n 1
    echo "== the behaviour of a node through a gateway"
    python3 tests/fleet/behind.py build/dev/bin | grep -v '^pass' || true
    echo "== mutation: one fence element out at a time"
    build/dev/tests/mutation/judge_filters tests/filter/golden/sweep.txt
    mutation=(python3 tests/mutation/run.py --bin build/dev/bin --mutants build/dev/mutation
      --filters build/dev/tests/mutation/judge_filters --work build/containment)
    "${mutation[@]}" | grep -vE '^killed' || true
    echo "== ablation: one layer off at a time"
    "${mutation[@]}" --layers || true
    echo "== a node: ten thousand come and go, deaths at random under load, and a gibibyte through a hundred disconnects"
    python3 tests/cordond/churn.py build/release/bin --times 10000 --idle 1000
    python3 tests/cordond/kills.py build/dev/bin --kills 500
    python3 tests/cordond/disconnects.py build/dev/bin --mebibytes 1024 --times 100
    echo "== ten thousand mutations of an audit log"
    CORDON_MUTATIONS=10000 build/dev/src/audit/audit_test --gtest_filter=VerifyTest.FindsEveryMutation
    echo "== two hundred deaths of the writer of an audit log"
    CORDON_KILLS=200 python3 tests/cordond/audit.py build/dev/bin complete_after_deaths
    echo "== five workloads from strict to a policy of their own, and what responses take away"
    python3 tests/run/learn.py build/dev/bin
    python3 tests/run/response.py build/dev/bin
    echo "== images that mean harm, as root and as a user, and those that are built from Debian's packages"
    python3 tests/image/hostile.py build/dev/bin
    python3 tests/image/images.py build/dev/bin --built
    echo "== the daemon's tests under ThreadSanitizer"
    cmake --preset tsan -DCORDON_UNITY=ON --log-level=WARNING
    cmake --build --preset tsan --target cordon cordond cordon-launcher cordon-init cordon-egress cordon-broker cordon-notary cordon-relay cordon-files cordon-bpf cordon-mcp cordon-unpack cordon-keeper \
      node_test api_test http_test async_test journal_test >/dev/null
    for module in node api http async journal; do "build/tsan/src/$module/${module}_test" | tail -n 1; done
    for suite in api stream hostile tokens ports trees life rows faults network secrets rows_network events cli tls; do
      echo "-- $suite"
      TSAN_OPTIONS=halt_on_error=1 python3 "tests/cordond/$suite.py" build/tsan/bin | grep -E '^(pass|FAIL)|ThreadSanitizer' || true
    done
    echo "== 100,000 requests through a directory that is a link by turns"
    CORDON_RACES=100000 python3 tests/cordond/rows.py build/release/bin swapped_while_it_is_resolved
    echo "== fifteen minutes of mixed load with faults, and ten thousand slow connections"
    python3 tests/cordond/soak.py build/release/bin --seconds 900
    (ulimit -n 20000 && CORDON_SLOW_CONNECTIONS=10000 python3 tests/cordond/hostile.py build/release/bin slow_and_many)
    echo "== a million mutated plans"
    build/dev/bin/hostile_node build/dev/bin/cordon-launcher 1000000
    echo "== every system call of a launch fails in turn"
    python3 tests/faults/run.py build/dev/bin --tools build/dev/bin || true
    echo "== ten minutes of random system calls, as id 0 and as a user"
    chaos=(python3 tests/chaos/run.py build/dev/bin --tools build/dev/bin --seconds 600)
    "${chaos[@]}" --as root id0 || true
    "${chaos[@]}" --as user user || true
    echo "== 50 deaths each of the egress and of the broker under load, release"
    python3 tests/egress/run.py build/release/bin --as root --as user --slow rows.fifty_deaths || true
    echo "== every row of the way out in all arms"
    python3 tests/egress/run.py build/dev/bin --slow --rows |
      grep -E '^(FAIL|C[0-9]+|egress:|without)|: (FAIL|not run|skip)$|^[0-9]+ checks' || true
    echo "== 200 deaths"
    python3 tests/kill/run.py build/dev/bin --times 20
  fi
  echo "== tidy, all files"
  tools/tidy.sh all && echo "tidy: no warning"
  echo "== fuzz, 10 minutes a target"
  wait
  cat "$fuzz_log"
  if grep -qE 'ERROR|SUMMARY|broken promise' "$fuzz_log"; then echo "fuzz: FAILED"; exit 1; fi
  echo "full: done $(date -u +%FT%TZ)"
} 2>&1 | sed "s#$PWD/##g" | tee "$log"
