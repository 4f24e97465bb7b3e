# SPDX-License-Identifier: Apache-2.0
"""Checks that share one fleet: `FILE.py PROGRAMS [NAME...]`."""
import argparse
import contextlib
import os
import sys
import time
import traceback

from parties import missing


def emptied(fleet):
    """After a check that failed: the next begins with an empty fleet."""
    for node in fleet.nodes:
        with contextlib.suppress(OSError), node.client() as client:
            for sandbox in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
                client.ask("DELETE", f"/v1/sandboxes/{sandbox['id']}")


def run(checks, fleet_of):
    """The exit code. 77: something that they need is not here."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, for nodes and networks")
        return 77
    if absent := missing():
        print(f"skipped: no {', '.join(absent)}")
        return 77
    if unknown := set(options.names) - set(checks):
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    failed = False
    begin = time.monotonic()
    with fleet_of(options.programs) as fleet:
        print(f"a fleet: {time.monotonic() - begin:.1f} s", flush=True)
        for name, check in checks.items():
            if options.names and name not in options.names:
                continue
            begin = time.monotonic()
            try:
                word, said = "pass", check(fleet) or ""
            except Exception:
                print(fleet.log())
                word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-3), True
                emptied(fleet)
            print(f"{word}  {name:<24} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    return failed
