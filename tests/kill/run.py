# SPDX-License-Identifier: Apache-2.0
"""Any program of a run is ended with SIGKILL at any point: no process of the sandbox lives on, and a survivor removes the rest."""
import os
import pathlib
import random
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from caller import groups_of, name_of, parents, reap, survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402

GONE = 5.0      # seconds that a survivor has
# A session of its own, an orphan, and a process that is deaf to every signal it can be deaf to.
BUSY = "setsid sleep 1000 & (sleep 1000 &) ; trap '' TERM INT HUP; echo up; while :; do sleep 0.01; done"


class Cast:
    """The processes of one run, as the host sees them; each is 0 until it is there."""

    def __init__(self, cordon):
        self.cordon, self.launcher, self.init, self.spawner = cordon, 0, 0, 0
        self.look()

    def look(self):
        tree = parents()
        below = lambda pid: sorted(child for child, parent in tree.items() if parent == pid) if pid else []
        # Before its exec a child bears its parent's name; pid 1 comes from a file in memory, and its first child is the
        # spawner that becomes the command.
        named = lambda pid, name: next((child for child in below(pid) if name_of(child).startswith(name)), 0)
        self.launcher = self.launcher or named(self.cordon, "cordon-launcher")
        self.init = self.init or named(self.launcher, "memfd:")
        self.spawner = self.spawner or next(iter(below(self.init)), 0)

    def wait_for(self, name, child):
        """The pid of a member of the cast; 0 when the run ended before it was there."""
        end = time.monotonic() + 20
        while not getattr(self, name):
            self.look()
            if child.poll() is not None:
                return 0
            expect(time.monotonic() < end, f"no {name} within 20 s")
        return getattr(self, name)


def start(caller):
    child, _ = caller.start([], ["bash", "-c", BUSY])
    return child, Cast(child.pid)


def end_by_force(pid):
    if pid:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def groups_left(launcher, seconds):
    end = time.monotonic() + seconds
    while launcher and groups_of(launcher):
        if time.monotonic() > end:
            return groups_of(launcher)
        time.sleep(0.02)
    return []


def state_of(caller):
    """What a run left in the caller's state; the audit log is meant to stay."""
    found = []
    for root, _, files in os.walk(caller.home / ".local" / "state"):
        found += [os.path.join(root, name) for name in files]
    return [path for path in found if "/cordon/audit/" not in path]


def watch_launcher(cast, child, delay):
    """Lets the run live for the delay, and learns its cast as it appears."""
    end = time.monotonic() + delay
    while time.monotonic() < end and child.poll() is None:
        cast.look()
        time.sleep(0.002)


def trial(caller, victims, delay):
    """Ends the victims after the delay; gives the seconds until all was gone."""
    child, cast = start(caller)
    watch_launcher(cast, child, delay)
    pids = [cast.wait_for(name, child) for name in victims]
    began = time.monotonic()
    for pid in pids:
        end_by_force(pid)
    if victims == ["spawner"]:
        # The sandbox may go on without it. Then it must still obey.
        time.sleep(0.02)
        for _ in range(2):
            if child.poll() is None:
                child.terminate()
                time.sleep(0.02)
        if child.poll() is None:
            time.sleep(0.6)
    where = f"{'+'.join(victims)} after {delay * 1000:.0f} ms"
    left = survivors(GONE, other_than=(child.pid,))
    equal(left, [], f"{where}: processes that live on")
    if "cordon" not in victims:
        expect(wait_for_end(child, GONE), f"{where}: cordon itself does not end")
        if victims != ["spawner"]:
            equal(child.returncode, 125, f"{where}: the exit code")
    child.communicate()
    if "cordon" in victims and "launcher" in victims:
        equal(caller.run([], ["true"]).code, 0, f"{where}: the next start")
    equal(groups_left(cast.launcher, max(0.1, GONE - (time.monotonic() - began))), [], f"{where}: control groups that are left")
    equal(state_of(caller), [], f"{where}: files that are left")
    equal(mounts(caller), [], f"{where}: mounts that are left")
    reap()
    return time.monotonic() - began


def wait_for_end(child, seconds):
    end = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    return child.returncode is not None


def mounts(caller):
    return [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(caller.base) in line]


def usual_start(caller):
    """Seconds from the start of `cordon` to the first word of its command."""
    begin = time.monotonic()
    child, cast = start(caller)
    expect(child.stdout.readline() == b"up\n", "the command does not start")
    took = time.monotonic() - begin
    cast.look()
    expect(all((cast.launcher, cast.init, cast.spawner)), "the cast is not whole:", vars(cast))
    end_by_force(child.pid)
    child.communicate()
    equal(survivors(GONE), [])
    return took


def killing(*victims):
    def act(caller, options):
        seed = options.seed if options.seed is not None else random.randrange(1 << 30)
        chance = random.Random(seed)
        span = usual_start(caller) * 1.5
        took = []
        for number in range(options.times):
            try:
                took.append(trial(caller, list(victims), chance.uniform(0, span)))
            except AssertionError as error:
                raise AssertionError(f"time {number + 1} of {options.times}, seed {seed}: {error}") from None
        return f"{options.times} times, all gone after {max(took):.2f} s at most"

    return act


def stopped_by(number, code):
    """A caller's signal is the program's first, and a second ends the run: two reach one that is deaf."""

    def act(caller, options):
        child, cast = start(caller)
        expect(child.stdout.readline() == b"up\n", "the command does not start")
        cast.look()
        for _ in range(2):
            child.send_signal(number)
            time.sleep(0.1)
        began = time.monotonic()
        expect(wait_for_end(child, GONE), "cordon does not end")
        equal(child.returncode, code, "the exit code")
        equal(survivors(GONE), [], "processes that live on")
        equal(groups_left(cast.launcher, 1), [], "control groups that are left")
        child.communicate()
        return f"{time.monotonic() - began:.2f} s"

    return act


def heeded(number):
    """A program that heeds the first signal ends by it, and the run says so."""

    def act(caller, options):
        child, report = caller.start([], ["bash", "-c", "echo up; exec sleep 1000"])
        expect(child.stdout.readline() == b"up\n", "the command does not start")
        time.sleep(0.2)
        child.send_signal(number)
        ended = caller.finish(child, report, GONE, time.monotonic())
        equal((ended.code, ended.verdict["ending"]), (128 + number, "signal"), ended.verdict)
        equal(survivors(1), [], "processes that live on")

    return act


CHECKS = {
    "cordon": killing("cordon"),
    "launcher": killing("launcher"),
    "init": killing("init"),
    "spawner": killing("spawner"),
    "launcher_and_cordon": killing("launcher", "cordon"),
    "deaf_to_term": stopped_by(signal.SIGTERM, 137),
    "deaf_to_int": stopped_by(signal.SIGINT, 137),
    "deaf_to_hup": stopped_by(signal.SIGHUP, 137),
    "heeds_term": heeded(signal.SIGTERM),
    "heeds_int": heeded(signal.SIGINT),
    "heeds_hup": heeded(signal.SIGHUP),
}


def add_options(parser):
    parser.add_argument("--times", type=int, default=4, help="how often each is ended; 20 make 200 of all five, as both callers")
    parser.add_argument("--seed", type=int, help="repeats the moments of an earlier run")


if __name__ == "__main__":
    main(CHECKS, add_options)
