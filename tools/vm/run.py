#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs our suites on Debian's own kernel, in a machine that QEMU emulates: control groups of version 2 alone, Landlock as that kernel has it.

    run.py                      all suites; what they came to goes to docs/evidence/ too
    run.py SUITE [WORD...]      doctor, containment, limits or service, with words for the suite
    run.py -- COMMAND...        any command inside, as root; programs are in /cordon/bin

Every line goes to build/vm/last.log. Exit: 0 all that ran passed, 1 otherwise.
"""
import datetime
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from boot import Guest   # noqa: E402
from image import PLACE, PROGRAMS, SOURCE, build_root, fetch_kernel, pack_programs, tell_missing   # noqa: E402

SUITES = ("doctor", "containment", "limits", "service")
SLOWNESS = 10       # emulation against the processor itself: bounds of time are so many times wider
DRIFT = 0.05        # by how much the guest's clock may differ from ours, or its bounds of time mean nothing
# What the sums at the end of a suite say anyway.
PASSED = re.compile(r"C\d{3}  P\d  \S+ +(pass|n/a) |\[ RUN |\[-----|\[=====|Running main|$")


def build_programs():
    """The release programs and those of the tests, in the tree that benchmarks use too."""
    for words in (["--preset", "release", "--log-level=WARNING", "-DCORDON_TESTS=ON"], ["--build", "--preset", "release", "--target", *PROGRAMS]):
        subprocess.run(["cmake", *words], check=True, cwd=SOURCE, stdout=sys.stderr)
    return SOURCE / "build/release"


def job_of(words):
    if words[:1] == ["--"]:
        return shlex.join(words[1:])
    if words and words[0] not in SUITES:
        sys.exit(f"./dev vm: no suite {words[0]}; there are: {' '.join(SUITES)}")
    told = f"export CORDON_TEST_SLOWNESS={SLOWNESS} CORDON_BUILT_AT={shlex.quote(str(SOURCE / 'build/release/bin'))}"
    return f"{told}\nexec python3 -B /cordon/guest.py {shlex.join(words)}"


def head(words):
    """What was run with what, and when."""
    described = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=10"], capture_output=True, text=True, cwd=SOURCE)
    qemu = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    now = datetime.datetime.now(datetime.timezone.utc)
    return [f"{' '.join(['./dev vm', *words])}: {now:%FT%TZ}, commit {described.stdout.strip() or 'unknown'}, release build",
            f"{qemu}, microvm, software emulation (TCG), 2 processors on {os.cpu_count()} shared ones; bounds of time x {SLOWNESS}"]


class Clocks:
    """The guest's beside ours, by the moments that it tells."""

    def __init__(self):
        self.told = []

    def tell(self, guest):
        self.told.append((time.monotonic(), float(guest)))

    def ratio(self):
        (ours, theirs), (our_end, their_end) = self.told[0], self.told[-1]
        return (their_end - theirs) / (our_end - ours) if our_end - ours > 60 else 1.0


def watch(guest, said):
    """The job's lines, shown and kept; gives its exit code and the clocks."""
    code, clocks = 1, Clocks()
    for line in guest.lines():
        if line.startswith("vm: exit "):
            code = int(line.split()[2])
        elif line.startswith("vm: clock "):
            clocks.tell(line.split()[2])
        else:
            said(line)
    return code, clocks


def main():
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    job = job_of(words) + "\n"
    tell_missing()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # so that the machine ends too
    PLACE.mkdir(parents=True, exist_ok=True)
    binaries = build_programs()
    kernel = fetch_kernel()
    root, first = build_root(kernel)
    programs = pack_programs(binaries, job)
    begin, lines = time.monotonic(), []
    with (PLACE / "last.log").open("w") as log:

        def said(line):
            lines.append(line)
            print(line, flush=True)
            print(line, file=log, flush=True)

        for line in head(words):
            said(line)
        with Guest(kernel, first, [(root, True), (programs, False)]) as guest:
            code, clocks = watch(guest, said)
        if clocks.told:
            ratio = clocks.ratio()
            if abs(ratio - 1) > DRIFT:
                said(f"FAIL  the guest's clock ran at {ratio:.2f} of ours: its bounds of time say nothing")
                code = 1
            said(f"the guest's clock ran at {ratio:.3f} of ours")
        said(f"{'FAILED' if code else 'passed'}, {(time.monotonic() - begin) / 60:.1f} minutes from power on")
    if not words:
        evidence = SOURCE / f"docs/evidence/{datetime.datetime.now(datetime.timezone.utc).date()}-stock-kernel.log"
        evidence.write_text("".join(line + "\n" for line in lines if not PASSED.match(line)))
        print(f"./dev vm: {os.path.relpath(evidence, SOURCE)}")
    return code


if __name__ == "__main__":
    sys.exit(main())
