# SPDX-License-Identifier: Apache-2.0
"""Each limit ends in its verdict, within a second of being met, and a neighbour hardly notices."""
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "callers")]

import hostile  # noqa: E402
from caller import descendants, survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402
from pace import SLOWNESS, slow  # noqa: E402

MIB = 1 << 20
PYTHON = "/usr/bin/python3"
SOON = slow(1.0)            # seconds from the limit to the end
SLOWER = 3.0                # a neighbour's exec beside the hostile one, against quiet


class Neighbour:
    """A sandbox in which short commands run all the time."""

    def __init__(self, caller):
        self.caller = caller
        self.place = caller.directory("neighbour")

    def __enter__(self):
        self.child, _ = self.caller.start([], [PYTHON, "-c", hostile.NEIGHBOUR], cwd=self.place)
        end = time.time() + slow(20)
        while len(self.samples()) < 20:
            expect(time.time() < end and self.child.poll() is None, "the neighbour does not run")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        for pid in [self.child.pid, *descendants(self.child.pid)]:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        self.child.communicate()

    def samples(self, begin=0.0, end=float("inf")):
        path = self.place / "latency"
        lines = path.read_text().splitlines() if path.exists() else []
        pairs = [tuple(map(float, line.split())) for line in lines if line.count(" ") == 1]
        return [took for moment, took in pairs if begin <= moment <= end]


def met(caller):
    """When it last stamped, and what processor time it had had."""
    return tuple(map(float, (caller.workspace / "stamp").read_text().split()))


def hold(caller, ended, ending, end, limit=None, code=None, words=None):
    """What every verdict must say, and that nothing is left; gives the seconds since the limit was met."""
    verdict = ended.verdict
    equal(verdict.get("ending"), ending, "the ending", verdict, ended.err[-500:])
    if limit is not None:
        equal(verdict["limit"], limit, "the limit", verdict)
    if code is not None:
        equal(ended.code, code, "the exit code", verdict)
    equal(ended.report["exit"], ended.code, "the exit code of the report")
    if words is not None:
        expect(any(line.startswith(f"cordon: stopped: {words}") for line in ended.said), "said only", ended.said)
        equal(len(ended.said), 1, "lines of Cordon", ended.said)
    return end


def culprit(ended, name):
    expect(ended.verdict["culprit"].startswith(name + " pid "), "the culprit is", ended.verdict)


def attack(caller, flags, program, timeout=40):
    """Runs a hostile program; gives its end and the moment of it."""
    child, report = caller.start(flags, [PYTHON, "-c", program])
    ended = caller.finish(child, report, timeout, time.time())
    return ended, time.time()


def soon(since, end):
    took = end - since
    expect(took <= SOON, f"ended {took:.2f} s after the limit was met")
    return f"{took * 1000:.0f} ms after its limit"


def nothing_left(caller):
    equal(survivors(1), [], "processes left")


def fork_bomb(caller):
    """Without groups it takes the processors from whoever is to end it, and so does what else runs here: three tries, each told."""
    tried = []
    for _ in range(3):
        tried.append(one_fork_bomb(caller))
        if tried[-1] is not None and tried[-1] <= SOON:
            break
    words = ", ".join("before any that was refused had its turn" if took is None else f"{took * 1000:.0f} ms after its limit" for took in tried)
    expect(tried[-1] is None or tried[-1] <= SOON, words)
    return words


def one_fork_bomb(caller):
    (caller.workspace / "stamp").unlink(missing_ok=True)
    ended, end = attack(caller, ["--pids", "64"], hostile.FORK_BOMB)
    hold(caller, ended, "pids", end, limit=64, code=137, words="pids: limit 64, peak 6")
    culprit(ended, "python3")
    expect(60 <= ended.verdict["peak"] <= 64, ended.verdict)
    nothing_left(caller)
    if SLOWNESS > 1 and not (caller.workspace / "stamp").read_text():
        return None     # too few turns for 64 processes: none that was refused came to say so before the end
    return end - met(caller)[0]


def priority(caller):
    """Where no group shares the processors out, a workload waits for others; and no less than its caller does."""
    grouped = caller.uid == 0
    equal(caller.run([], ["nice"]).out, b"0\n" if grouped else b"10\n")
    equal(caller.run([], ["nice"], preexec_fn=lambda: os.nice(15)).out, b"15\n")


def content_at_the_limit(caller):
    """No fork bomb, and so no stop."""
    ended, _ = attack(caller, ["--pids", "64"], hostile.CONTENT)
    equal((ended.code, ended.said), (0, []), ended.verdict)
    count = int(ended.out.split()[1])
    expect(55 <= count <= 63, "threads:", count)


def memory_hog(caller):
    ended, end = attack(caller, ["--memory", "256M"], hostile.MEMORY_HOG)
    hold(caller, ended, "memory", end, limit=256 * MIB, code=137, words="memory: limit 256 MiB, peak ")
    # Supervised, what a sampling interval lets it take comes on top.
    most = 1.05 if caller.uid == 0 else 3
    expect(0.9 * 256 * MIB <= ended.verdict["peak"] <= most * 256 * MIB, ended.verdict)
    culprit(ended, "python3")
    nothing_left(caller)
    return soon(met(caller)[0], end) + f", peak {ended.verdict['peak'] / MIB:.0f} MiB"


def memory_of_a_child(caller):
    """The command outlives its child, and says so itself; supervised there is no such difference: the sandbox ends."""
    ended, end = attack(caller, ["--memory", "256M"], hostile.MEMORY_CHILD)
    if caller.uid == 0:
        equal(ended.out, b"child -9\n")
        equal((ended.verdict["ending"], ended.verdict["status"], ended.code), ("exit", 5, 5), ended.verdict)
        equal(ended.report["usage"]["oom_kills"], 1, "kills")
        equal(ended.said, ["cordon: 1 of its processes was ended by the memory limit"])
    else:
        hold(caller, ended, "memory", end, limit=256 * MIB, code=137, words="memory: limit 256 MiB")
        culprit(ended, "python3")
    nothing_left(caller)
    return ended.verdict["line"]


def disk_filler(caller):
    ended, end = attack(caller, ["--disk", "64M"], hostile.DISK_FILLER)
    hold(caller, ended, "disk", end, limit=64 * MIB, code=1, words="disk: limit 64 MiB, peak 64 MiB, python3 pid ")
    culprit(ended, "python3")
    nothing_left(caller)
    return soon(met(caller)[0], end)


def inode_filler(caller):
    ended, end = attack(caller, ["--disk", "64M", "--inodes", "2000"], hostile.INODE_FILLER)
    hold(caller, ended, "inodes", end, limit=2000, code=1, words="inodes: limit 2000, peak 2000, python3 pid ")
    nothing_left(caller)
    return soon(met(caller)[0], end) + ": " + ended.verdict["line"]


def output_flood(caller):
    child, report = caller.start(["--output", "16M"], [PYTHON, "-c", hostile.OUTPUT_FLOOD])
    got, since = 0, time.time()
    while block := os.read(child.stdout.fileno(), 1 << 16):
        got += len(block)
        if got >= 16 * MIB and since is not None:
            reached, since = time.time(), None
    ended = caller.finish(child, report, 40, time.time())
    end = time.time()
    equal(got, 16 * MIB, "bytes that came out")
    hold(caller, ended, "output", end, limit=16 * MIB, code=137, words="output: limit 16 MiB, peak 16")
    culprit(ended, "python3")
    nothing_left(caller)
    return soon(reached, end)


def many_files(caller):
    """No limit of the sandbox as a whole: the program is told, and its own end is the verdict."""
    ended, end = attack(caller, ["--open-files", "256"], hostile.MANY_FILES)
    equal(ended.out, b"252 24\n", "files it got beside its streams and its stamp, and the errno")
    hold(caller, ended, "exit", end, code=9)
    free, _ = attack(caller, ["--open-files", "10100"], hostile.MANY_FILES)
    equal((free.code, free.out), (0, b"10000\n"), "without the limit")
    return soon(met(caller)[0], end)


def cpu_time(caller):
    most = slow(2)
    ended, end = attack(caller, ["--cpu-time", f"{most}s"], hostile.SPINNER)
    hold(caller, ended, "cpu_time", end, limit=most, code=124, words=f"cpu_time: limit {most} s, peak {most} s, python3 pid ")
    nothing_left(caller)
    moment, had = met(caller)
    expect(slow(1.5) <= had <= most + SOON, f"it had {had:.2f} s of processor time")
    return soon(moment, end) + f", with {had:.2f} s of processor time"


def wall_time(caller):
    most = slow(1)
    ended, end = attack(caller, ["--time", f"{most}s"], "import time\nopen('begin', 'w').write(str(time.time()))" + hostile.SPINNER)
    hold(caller, ended, "wall_time", end, limit=most, code=124, words=f"wall_time: limit {most} s, peak {most} s, python3 pid ")
    nothing_left(caller)
    return soon(float((caller.workspace / "begin").read_text()) + most, end)


def wall_time_is_gentle(caller):
    ended, _ = attack(caller, ["--time", f"{slow(1)}s"], "import signal, sys, time\n"
                      f"signal.signal(signal.SIGTERM, lambda *_: (print('tidied'), sys.exit(0)))\ntime.sleep({slow(30)})")
    equal((ended.out, ended.code, ended.verdict["ending"]), (b"tidied\n", 124, "wall_time"))


def beside_hostile(caller, flags, program, seconds):
    """The median of a neighbour's exec, quiet (before and after) and while hostile sandboxes follow one another."""
    with Neighbour(caller) as beside:
        marks = [time.time()]
        time.sleep(0.7)
        marks.append(time.time())
        while time.time() < marks[1] + seconds:
            child, _ = caller.start(["--time", "2s", *flags], [PYTHON, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            child.wait(timeout=slow(30))
        marks.append(time.time())
        time.sleep(0.7)
        quiet = [*beside.samples(marks[0], marks[1]), *beside.samples(marks[2], time.time())]
        loud = beside.samples(marks[1], marks[2])
    expect(len(loud) >= 10, "only", len(loud), "commands in", marks[2] - marks[1], "s")
    return statistics.median(quiet), statistics.median(loud)


def neighbour(flags, program, seconds=2.5):
    """Others work on this machine too: what a hostile sandbox does to its neighbour shows each time, and their doings do not."""

    def act(caller):
        tried = []
        for _ in range(3):
            quiet, loud = beside_hostile(caller, flags, program, seconds)
            tried.append(f"p50 {quiet:.2f} ms quiet, {loud:.2f} ms beside: {loud / quiet:.1f} x")
            if loud <= SLOWER * quiet:
                return "; ".join(tried)
        raise AssertionError("; ".join(tried))

    return act


CHECKS = {
    "fork_bomb": fork_bomb,
    "priority": priority,
    "content_at_the_limit": content_at_the_limit,
    "memory_hog": memory_hog,
    "memory_of_a_child": memory_of_a_child,
    "disk_filler": disk_filler,
    "inode_filler": inode_filler,
    "output_flood": output_flood,
    "many_files": many_files,
    "cpu_time": cpu_time,
    "wall_time": wall_time,
    "wall_time_is_gentle": wall_time_is_gentle,
    "neighbour_of_fork_bomb": neighbour(["--pids", "64"], hostile.FORK_BOMB),
    "neighbour_of_memory_hog": neighbour(["--memory", "256M"], hostile.MEMORY_HOG),
    "neighbour_of_disk_filler": neighbour(["--disk", "64M"], hostile.DISK_FILLER),
    "neighbour_of_flood": neighbour([], hostile.OUTPUT_FLOOD),
    "neighbour_of_spinner": neighbour([], hostile.SPINNER),
    "neighbour_of_many_files": neighbour(["--open-files", "10100"], hostile.MANY_FILES),
}

if __name__ == "__main__":
    main(CHECKS)
