#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The audit log: how fast it is written, beside plain writes of as many bytes with the same waits for the disk, in turns."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.dont_write_bytecode = True

from places import find_programs, holds   # noqa: E402


def writer(programs, directory, rounds, seconds):
    rows = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="cordon-audit-", dir=directory) as place:
            said = subprocess.run([programs.parent / "bench/bench_audit_writer", place, str(seconds)], capture_output=True, text=True, check=True)
        rows.append(json.loads(said.stdout))
        print("  ".join(f"{name} {value:,}" for name, value in rows[-1].items()), "records a second", flush=True)
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--directory", default="/var/tmp", help="where the logs are written")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    found = writer(find_programs("audit", options.programs), options.directory, options.rounds, options.seconds)
    found["many_to_plain"] = found["log_many"] / found["plain_many"]
    found["one_to_plain"] = found["log_one"] / found["plain_one"]
    print(f"one at a time {found['log_one']:,.0f} a second, {found['one_to_plain']:.2f} x plain; 64 at a time {found['log_many']:,.0f}, "
          f"{found['many_to_plain']:.2f} x plain", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found))
    if options.check:
        sys.exit(0 if holds("audit", found) else 1)


if __name__ == "__main__":
    main()
