# SPDX-License-Identifier: Apache-2.0
"""Random system calls from inside, for a while: supervisors live, a neighbour answers, nothing outside changes, and destroying works.

Sandbox after sandbox until the time is over. They end in turns by themselves, by their time limit and with `cordon`, which is killed.
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from canaries import LIBC, Canaries, answers, changes  # noqa: E402
from caller import descendants, groups_of, name_of, survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402

ECHO = "while read line; do echo $line; done"
ENDS = ("itself", "time", "cordon")
GONE = 10           # seconds in which all of a sandbox must have gone
# So that what is random stays within bounds: the machine's memory, disk and processes are others' too.
FLAGS = ["--pids", "128", "--disk", "64M", "--memory", "1G", "--quiet"]
TOLD = re.compile(rb"random_calls: (?:so far|done) (\d+) calls, (\d+) batches, (\d+) numbers, (\d+) succeeded, (\d+) sigsys, (\d+) signals, (\d+) hung\.")
SEED = re.compile(rb"random_calls: seed (\d+)")


class Drain(threading.Thread):
    """Reads all that comes, whatever it is, and keeps what the generator told last."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.told, self.seed, self.bytes = stream, None, None, 0
        self.tail = b""
        self.start()

    def run(self):
        while more := os.read(self.stream.fileno(), 1 << 16):
            self.bytes += len(more)
            self.tail = (self.tail + more)[-(1 << 17):]
            for found in TOLD.finditer(self.tail):
                self.told = tuple(map(int, found.groups()))
            self.seed = self.seed or SEED.search(self.tail)


class Neighbour:
    """Another sandbox of the same caller, which must not notice anything."""

    def __init__(self, caller):
        self.child, _ = caller.start([], ["sh", "-c", ECHO], stdin=subprocess.PIPE, cwd=caller.directory("neighbour"))
        expect(answers(self.child, "begin", 30), "the neighbour does not answer before anything has happened")
        self.all = {self.child.pid, *descendants(self.child.pid)}

    def end(self):
        self.child.stdin.close()
        equal(self.child.wait(20), 0, "the neighbour's exit code")
        self.child.stdout.close()
        self.child.stderr.close()


def session(caller, canaries, options, turn, neighbour, inside, count):
    """One sandbox from its beginning to its end; adds to the count."""
    workspace = caller.directory(f"workspace{turn}")
    shutil.copy(pathlib.Path(options.tools) / "random_calls", workspace / "random_calls")
    end, seconds, seed = ENDS[turn % len(ENDS)], options.each, options.seed + turn
    flags = [*FLAGS, "--user", "root" if inside == "id0" else "user"]
    if end == "time":
        flags += ["--time", f"{seconds}s"]
    lives = seconds if end == "itself" else seconds + 60
    child, report = caller.start(flags, ["./random_calls", str(lives), str(seed), *canaries.names()], cwd=workspace)
    drains = [Drain(child.stdout), Drain(child.stderr)]
    launcher, until = 0, time.monotonic() + seconds + GONE
    while child.poll() is None:
        launcher = launcher or next((pid for pid in descendants(child.pid) if name_of(pid).startswith("cordon-launcher")), 0)
        expect(answers(neighbour.child, str(time.monotonic_ns())), f"seed {seed}: the neighbour does not answer")
        expect(time.monotonic() < until, f"seed {seed}: no end within {GONE} s, by {end}")
        if end == "cordon" and time.monotonic() > until - GONE:
            os.kill(child.pid, signal.SIGKILL)
        time.sleep(0.5)
    for drain in drains:
        drain.join(GONE)
    expect(drains[0].seed, f"seed {seed}: the generator did not begin: {child.returncode} {drains[1].tail[-300:]!r}")
    ending = judge(child, report, end, seed, drains[1].tail)
    others = {canaries.process.pid, *neighbour.all}
    equal(survivors(GONE, others), [], f"seed {seed}: processes that live on, after the end by {end}")
    wait_until = time.monotonic() + GONE
    while launcher and groups_of(launcher) and time.monotonic() < wait_until:
        time.sleep(0.1)
    equal(groups_of(launcher) if launcher else [], [], f"seed {seed}: control groups that are left")
    count["sandboxes"] += 1
    count[f"ended: {ending}"] += 1
    count["bytes of output"] += sum(drain.bytes for drain in drains)
    for name, number in zip(("calls", "batches", "numbers", "succeeded", "sigsys", "other signals", "hung"), drains[0].told or (0,) * 7):
        count[name] = max(count[name], number) if name in ("numbers", "succeeded") else count[name] + number


def judge(child, report, end, seed, said):
    """How it ended, in a word. Whatever a program does to itself is its own affair; what supervises it must not be lost."""
    if child.returncode == -signal.SIGKILL and end == "cordon":
        return "cordon killed"
    expect(report.exists(), f"seed {seed}: no report; code {child.returncode}; {said[-400:]!r}")
    verdict = json.loads(report.read_text()).get("verdict", {})
    ending = verdict.get("ending", "")
    expect(child.returncode not in (125, 126, 127) and child.returncode >= 0 and ending not in ("", "infrastructure"),
           f"seed {seed}: the sandbox was lost: code {child.returncode}, {verdict}")
    return ending


def guard(caller):
    """What removes our directory as root must not walk into a mount: better that it is left."""
    if any(str(caller.base) in line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()):
        print(f"FAIL  a mount lies below {caller.base}: nothing is removed", flush=True)
        os._exit(1)


def storm(caller, options, inside):
    options.seed = random.randrange(1 << 30) if options.seed is None else options.seed
    # Three ends at least, and none that is too short to get going.
    options.each = max(5, min(30, options.seconds // len(ENDS)))
    count, begin = collections.Counter(), time.monotonic()
    with Canaries(caller) as canaries:
        neighbour = Neighbour(caller)
        before, turn = canaries.look(), 0
        try:
            while turn < len(ENDS) or time.monotonic() < begin + options.seconds:
                session(caller, canaries, options, turn, neighbour, inside, count)
                equal(changes(before, canaries.look(), caller.base), [], f"seed {options.seed + turn}: what has changed outside")
                turn += 1
        finally:
            guard(caller)
        neighbour.end()
    expect(count["numbers"] > 590 and count["succeeded"] > 100 and count["calls"] > 1000 * count["sandboxes"],
           "not much was tried:", dict(count))
    return f"seed {options.seed}: " + ", ".join(f"{number} {name}" for name, number in count.items())


def id0(caller, options):
    return storm(caller, options, "id0")


def user(caller, options):
    return storm(caller, options, "user")


def poke_memory(canaries):
    LIBC.shmdt(LIBC.shmat(canaries.memory, None, 0))


def connect(canaries, name):
    listener = canaries.listeners[name]
    with socket.socket(listener.family) as other:
        other.connect(listener.getsockname())


# The counter-arm: done by ourselves, each of these must be seen.
POKES = {
    "file .*open": lambda canaries: canaries.files[0].write_text("changed"),
    "file .*closed": lambda canaries: canaries.files[1].touch(),
    "file .*caller": lambda canaries: canaries.files[2].chmod(0o644),
    "file .*shm": lambda canaries: canaries.files[3].write_text("changed"),
    "names outside": lambda canaries: (canaries.outside / "new").touch(),
    "listener path": lambda canaries: connect(canaries, "path"),
    "listener abstract": lambda canaries: connect(canaries, "abstract"),
    "listener tcp": lambda canaries: connect(canaries, "tcp"),
    "shared memory": poke_memory,
    "process nice": lambda canaries: os.setpriority(os.PRIO_PROCESS, canaries.process.pid, 5),
    "process oom_score_adj": lambda canaries: pathlib.Path(f"/proc/{canaries.process.pid}/oom_score_adj").write_text("7"),
    "process Cpus_allowed_list": lambda canaries: os.sched_setaffinity(canaries.process.pid, {min(os.sched_getaffinity(0))}),
    "process answers": lambda canaries: os.kill(canaries.process.pid, signal.SIGKILL),
}


def notices(caller, options):
    """A canary that is changed is seen, each kind of them, and so is a neighbour that has died."""
    with Canaries(caller) as canaries:
        equal(changes(canaries.look(), canaries.look(), caller.base), [], "nothing happened, and yet")
        for name, poke in POKES.items():
            before = canaries.look()
            poke(canaries)
            found = changes(before, canaries.look(), caller.base)
            if "Cpus" in name and len(os.sched_getaffinity(0)) == 1:
                continue
            expect(any(re.match(name, line) for line in found), f"{name} was not noticed: {found}")
        # What belongs to the host is not changed for a test: here the memory of it is.
        now = canaries.look()
        forged = [name for name in now if not name.startswith(("file ", "process ", "listener ", "names "))]
        for name in forged:
            expect(changes(now | {name: "forged"}, now, caller.base), f"{name} was not noticed")
        over = "99 1 0:1 / {} rw - tmpfs none rw"
        for point, counts in (("/etc", True), (f"{caller.base}/x", True), ("/mnt/of-somebody", False)):
            equal(bool(changes(now, now | {"mount 99": over.format(point)}, caller.base)), counts, f"a mount over {point} was noticed:")
        neighbour = Neighbour(caller)
        os.kill(neighbour.child.pid, signal.SIGKILL)
        expect(not answers(neighbour.child, "there?"), "a dead neighbour answers")
    return f"{len(POKES)} changes, {len(forged)} of the host's values"


def add_options(parser):
    parser.add_argument("--tools", required=True, help="the directory of random_calls")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, help="of the first sandbox; each further one has the next")


if __name__ == "__main__":
    main({"id0": id0, "user": user, "notices": notices}, add_options)
