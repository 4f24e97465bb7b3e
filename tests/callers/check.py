# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of one file, by name or all, as each caller: `FILE PROGRAMS [--as root|user] [NAME...]`. 77: not to be had here."""
import argparse
import os
import sys
import time
import traceback

from caller import NAMES, Caller


class Skip(Exception):
    """The reason why a check cannot be made here."""


def expect(truth, *words):
    if not truth:
        raise AssertionError(" ".join(str(word) for word in words))


def equal(got, wanted, *words):
    expect(got == wanted, *words, f"is {got!r}, not {wanted!r}")


def one(name, act, caller_name, programs):
    begin = time.monotonic()
    try:
        with Caller(caller_name, programs) as caller:
            said = act(caller)
        word = "pass"
    except Skip as reason:
        word, said = "skip", reason
    except Exception:
        word, said = "FAIL", "\n" + traceback.format_exc(limit=-3)
    print(f"{word}  {name:<28} {caller_name:<5} {time.monotonic() - begin:6.1f} s  {said or ''}", flush=True)
    return word


def main(checks, add_options=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", help="the directory of cordon, cordon-launcher and cordon-init")
    parser.add_argument("--as", dest="caller", choices=NAMES, action="append")
    parser.add_argument("--list", action="store_true", help="only the names of the checks")
    parser.add_argument("names", nargs="*", help="only these checks")
    if add_options:
        add_options(parser)
    options = parser.parse_intermixed_args()
    if options.list:
        print("\n".join(checks))
        sys.exit(0)
    if os.geteuid() != 0:
        print("skipped: needs root, to become other users")
        sys.exit(77)
    unknown = [name for name in options.names if name not in checks]
    expect(not unknown, "no such check:", *unknown)
    words = []
    for name, act in checks.items():
        if options.names and name not in options.names:
            continue
        for caller_name in options.caller or NAMES:
            run = (lambda caller, act=act: act(caller, options)) if add_options else act
            words.append(one(name, run, caller_name, options.programs))
    if "FAIL" in words:
        sys.exit(1)
    sys.exit(77 if words and all(word == "skip" for word in words) else 0)
