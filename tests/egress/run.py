#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `cordon run` on the host of a test internet, with real clients and with whoever wants to get past it.

    run.py PROGRAMS [--as bare|root|user]... [--rows] [--table] [--keep-going] [--slow] [NAME...]

A NAME is a check or the beginning of one. `bare` runs the same acts without a sandbox: they must arrive, or a refusal says nothing.
Exit: 0 nothing failed; 1 otherwise; 77 where it cannot run at all."""
import argparse
import os
import pathlib
import shutil
import signal
import sys
import tomllib

sys.dont_write_bytecode = True     # the sources may lie where nothing is to be left behind
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "egress"))

import checks_broker       # noqa: F401, E402  (each registers its checks)
import checks_bypass       # noqa: F401, E402
import checks_clients      # noqa: E402
import checks_credentials  # noqa: F401, E402
import checks_deaths       # noqa: F401, E402
import checks_grants       # noqa: F401, E402
import checks_live         # noqa: F401, E402
import checks_load         # noqa: F401, E402
import checks_neighbours   # noqa: F401, E402
import checks_oracles      # noqa: F401, E402
import checks_rows         # noqa: F401, E402
import checks_sentinel     # noqa: F401, E402
import checks_survive      # noqa: F401, E402
import checks_toggle       # noqa: F401, E402
import checks_upstream     # noqa: F401, E402
import rows  # noqa: E402
from arms import Traveller  # noqa: E402
from checks import CHECKS, Stage, expect, judged  # noqa: E402
from internet import Internet  # noqa: E402

ARMS = ("bare", "root", "user")
NEEDED = ("nginx", "nft", "ip", "nsenter", "unshare", "openssl", "redis-server", "git", "curl", "dpkg-deb")


def otherwise():
    """What is answered otherwise behind the wall that the test was told, with the reason."""
    wall = os.environ.get("CORDON_TEST_ISOLATION")
    return tomllib.loads((TESTS / "tiers/differences.toml").read_text())[wall].get("egress", {}) if wall else {}


OTHERWISE = otherwise()


def one(each, stage):
    def act():
        told = each.act(stage)
        expect(stage.bare or stage.seen or each.counter is not None, "vacuous: nothing was seen to get through")
        return told
    word = judged(each.name, stage.arm, act)
    reason = OTHERWISE.get(each.name) if not stage.bare else None
    if reason is None or word == "skip":
        return word
    print(f"differs  {each.name}: {reason}" if word == "FAIL" else f"FAIL  {each.name} is named in differences.toml, and passes", flush=True)
    return "differs" if word == "FAIL" else "FAIL"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", help="the directory of cordon and its programs")
    parser.add_argument("--as", dest="arms", choices=ARMS, action="append")
    parser.add_argument("--rows", action="store_true", help="at the end, every row and what its checks said")
    parser.add_argument("--list", action="store_true", help="only the checks and their rows")
    parser.add_argument("--table", action="store_true", help="at the end, what the clients said, for docs/network.md")
    parser.add_argument("--slow", action="store_true", help="also what takes long")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true", help="only whether checks, rows and corpus agree")
    options = parser.parse_intermixed_args()
    if options.check:
        wrong, cases, spoken = rows.inconsistent()
        if not wrong:
            rows.table()
        print("\n".join(wrong) if wrong else f"{cases} cases, {len(CHECKS)} checks for {spoken} of {len(rows.ROWS)} rows")
        return 1 if wrong else 0
    chosen = [each for each in CHECKS.values() if not options.names or any(each.name.startswith(name) for name in options.names)]
    chosen = [each for each in chosen if options.slow or not each.slow]
    if options.list:
        for each in chosen:
            print(f"{each.name:<36} {','.join(each.arms):<16} {' '.join(each.rows)}")
        return 0
    if os.geteuid() != 0:
        print("skipped: network namespaces and other users need root")
        return 77
    missing = [name for name in NEEDED if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")]
    if missing:
        print("skipped: not installed:", *missing)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # so that what was made is taken away
    results = {}
    with Internet() as internet:
        for arm in options.arms or ARMS:
            mine = [each for each in chosen if arm in each.arms]
            if not mine:
                continue
            with Traveller("root" if arm == "root" else "user", options.programs, internet) as caller:
                for each in mine:
                    results[each.name, arm] = one(each, Stage(internet, caller, arm, options))
    whole = not options.names and not options.arms and options.slow
    failed = rows.show(results, whole) if options.rows else any(rows.vacuous(results))
    if options.table:
        checks_clients.table()
    words = list(results.values())
    print(f"{len(words)} checks, {words.count('FAIL')} failed, {words.count('skip')} skipped")
    if "FAIL" in words or failed:
        return 1
    return 77 if words and all(word == "skip" for word in words) else 0


if __name__ == "__main__":
    sys.exit(main())
