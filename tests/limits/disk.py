# SPDX-License-Identifier: Apache-2.0
"""Disks that are files, disks of the host that a sandbox writes, and how fast it may: beside run.py, which has the limits in memory."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "callers")]

import hostile  # noqa: E402
from caller import descendants, survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402
from pace import slow  # noqa: E402

MIB = 1 << 20
PYTHON = "/usr/bin/python3"
DISKS = pathlib.Path("/var/lib/cordon/disks")
SOON = slow(1.0)    # seconds from the limit to the end
COUNTED = 1.0       # between two counts of a workspace


def own_size(mib):
    """About so many MiB, and no other test's: by its size a device can be told."""
    return mib * MIB + (os.getpid() % 4096) * 4096


def templates(size):
    return list(DISKS.glob(f"ext4-*-{size}-*")) if DISKS.is_dir() else []


def devices(size):
    """Loop devices that carry an image of this size."""
    lengths = {path.stat().st_size for path in templates(size)}
    found = []
    for device in pathlib.Path("/sys/block").glob("loop*"):
        with contextlib.suppress(OSError):
            backing = (device / "loop/backing_file").read_text()
            if backing.startswith(str(DISKS)) and int((device / "size").read_text()) * 512 in lengths:
                found.append(device.name)
    return found


def wait_for(truth, seconds):
    end = time.monotonic() + slow(seconds)
    while not truth():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def none_left(size, seconds=2.0):
    expect(wait_for(lambda: not devices(size), seconds), "devices left:", devices(size))


def with_image(act):
    """As root with a size of its own, whose template goes at the end; an ordinary user is refused before anything starts."""

    def check(caller):
        size = own_size(300)
        if caller.uid != 0:
            ended = caller.run(["--memory", "128M", "--disk", str(size)], ["true"])
            equal(ended.code, 126, ended.err)
            expect(b"CORDON-PLAN-DISK" in ended.err or b"in memory" in ended.err, ended.err)
            return "refused"
        if not os.path.exists("/dev/loop-control"):
            raise Skip("no loop devices here")
        try:
            said = act(caller, size)
            equal(survivors(1), [], "processes left")
            none_left(size)
            return said
        finally:
            for path in templates(size):
                path.unlink(missing_ok=True)

    return check


def met(caller):
    return float((caller.workspace / "stamp").read_text().split()[0])


def filled(caller, size):
    """The limit is met, and not in memory: of that there is less than half."""
    ended = caller.run(["--memory", "128M", "--disk", str(size)], [PYTHON, "-c", hostile.DISK_FILLER])
    end = time.monotonic()
    verdict = ended.verdict
    equal((verdict["ending"], verdict["limit"], ended.code), ("disk", size, 1), verdict)
    expect(size - MIB <= verdict["peak"] <= size, verdict)
    usage = ended.report["usage"]
    expect(usage["memory_peak"] <= 128 * MIB, usage)
    equal(usage["oom_kills"], 0, "kills")
    took = end - met(caller)
    expect(took <= SOON, f"ended {took:.2f} s after the limit was met")
    # Counter-arm: with as little disk in memory the same bytes never fit.
    small = caller.run(["--memory", "128M"], [PYTHON, "-c", hostile.DISK_FILLER])
    expect(small.verdict["ending"] in ("disk", "memory") and small.verdict["limit"] == 128 * MIB, small.verdict)
    return f"{took * 1000:.0f} ms after its limit, memory peak {usage['memory_peak'] / MIB:.0f} MiB"


def no_inodes(caller, size):
    ended = caller.run(["--memory", "128M", "--disk", str(size), "--inodes", "2000"], [PYTHON, "-c", hostile.INODE_FILLER])
    verdict = ended.verdict
    equal(verdict["ending"], "inodes", verdict)
    # Tables of files are made in whole blocks.
    expect(2000 <= verdict["limit"] <= 2100 and verdict["peak"] == verdict["limit"], verdict)
    return verdict["line"]


def shown(caller, size):
    """What a program sees of it: the size, its own directories, and none of the bits that would give rights."""
    ended = caller.run(["--memory", "128M", "--disk", str(size), "--review"], ["sh", "-c", (
        "df -k --output=used,avail,fstype /tmp | tail -1; touch ~/a /tmp/b /var/tmp/c made; stat -c %U ~ /tmp;"
        " grep ' /tmp ' /proc/self/mountinfo; cp /bin/true /tmp/run && /tmp/run && echo runs")])
    equal(ended.code, 0, ended.err)
    lines = ended.out.decode().splitlines()
    used, free, kind = lines[0].split()
    equal((int(used) + int(free), kind), (size // 1024, "ext4"), "used and free", lines[0])
    equal(lines[1:3], ["user", "user"], "owners")
    expect("nosuid,nodev" in lines[3] and "noexec" not in lines[3], lines[3])
    equal(lines[4], "runs")


def killed(caller, size):
    """Launcher and cordon are ended at any moment: the kernel frees device and file."""
    equal(caller.run([], ["true"]).code, 0)     # the host is probed and known from here on
    for delay in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, None):
        child, _ = caller.start(["--memory", "128M", "--disk", str(size)], [PYTHON, "-c", hostile.DISK_FILLER])
        if delay is not None:
            time.sleep(delay)
        else:
            expect(wait_for(lambda: devices(size), 20), "no device is in use")
        for pid in [child.pid, *[pid for pid in descendants(child.pid) if "launcher" in name(pid)]]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        child.communicate()
        equal(survivors(5), [], f"killed after {delay} s: processes left")
        none_left(size, 5)
    names = [path.name for path in DISKS.iterdir() if not path.name.startswith("ext4-")]
    equal(names, [], "files left")
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    expect(str(DISKS) not in mounts, "mounts left", mounts)


def name(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text()
    return ""


def seconds_of(ended):
    equal(ended.code, 0, ended.err)
    return float(ended.out)


def io(flags, where):
    """20 MiB past every cache at 10 MiB a second; the same without the limit is several times faster."""

    def check(caller):
        command = [PYTHON, "-c", hostile.DIRECT_WRITER, where, "20"]
        slow = caller.run(["--io", "10M", *flags], command)
        if caller.uid != 0:
            equal(slow.code, 126, slow.err)
            expect(b"no control group of this caller can hold it" in slow.err, slow.err)
            return "refused"
        if b"lies on no disk" in slow.err:
            raise Skip("the workspace lies on no disk here")
        took = seconds_of(slow)
        free = min(seconds_of(caller.run(flags, command)) for _ in range(3))
        expect(1.5 <= took <= 6, f"20 MiB took {took:.2f} s")
        expect(free * 3 <= took, f"without the limit {free:.2f} s, with it {took:.2f} s")
        line = next(one for one in slow.report["enforcement"]["mechanisms"] if one["name"] == "io")
        expect("a second" in line["detail"], line)
        return f"{took:.2f} s, without the limit {free:.2f} s"

    return check


def io_of_buffered_writes(caller):
    """Held where the report says so: on version 2 groups, which know whose pages they write back."""
    if caller.uid != 0:
        raise Skip("is refused for want of groups")
    command = [PYTHON, "-c", hostile.BUFFERED_WRITER, "buffered", "40"]
    limited = caller.run(["--io", "10M"], command)
    took = seconds_of(limited)
    line = next(one for one in limited.report["enforcement"]["mechanisms"] if one["name"] == "io")
    if line["hold"] != "held":
        expect("not buffered writes" in line["detail"], line)
        return f"{took:.2f} s; as reported: {line['detail']}"
    expect(took >= 3, f"40 MiB took {took:.2f} s", line)
    free = min(seconds_of(caller.run([], command)) for _ in range(3))
    expect(free * 2 <= took, f"without the limit {free:.2f} s, with it {took:.2f} s")
    return f"{took:.2f} s, without the limit {free:.2f} s"


def io_without_a_disk(caller):
    """Memory has no device: who states a limit there is refused."""
    if caller.uid != 0:
        raise Skip("is refused for want of groups")
    place = caller.directory("memory")
    subprocess.run(["mount", "-t", "tmpfs", "none", str(place)], check=True)
    try:
        ended = caller.run(["--io", "10M"], ["true"], cwd=place)
    finally:
        subprocess.run(["umount", str(place)], check=True)
    equal(ended.code, 126, ended.err)
    expect(b"lies on no disk of its own" in ended.err, ended.err)


def growth(*flags):
    """The workspace grows past --disk, file by file: no limit of a file stops that, and a count does."""

    def check(caller):
        command = [PYTHON, "-c", hostile.WORKSPACE_FILLER, str(32 * MIB), str(300 * MIB)]
        ended = caller.run(["--disk", "32M", *flags], command)
        end = time.monotonic()
        verdict = ended.verdict
        equal((verdict["ending"], verdict["limit"], ended.code), ("disk", 32 * MIB, 137), verdict)
        line = next(one for one in ended.report["enforcement"]["mechanisms"] if one["name"] == "workspace_disk")
        equal(line["hold"], "supervised", line)
        took = "" if flags else f"{end - met(caller):.2f} s after its limit, "
        if not flags:
            expect(end - met(caller) <= COUNTED + SOON, took)
        equal(survivors(1), [], "processes left")
        for path in caller.workspace.glob("file*"):
            path.unlink()
        free = caller.run([*flags], [PYTHON, "-c", hostile.WORKSPACE_FILLER, str(32 * MIB), str(96 * MIB)])
        equal(free.code, 0, "without the limit:", free.err)
        return took + verdict["line"]

    return check


def turnover(caller):
    """What is removed again, and a second name of a file, is no growth."""
    (caller.workspace / "before").write_bytes(os.urandom(48 * MIB))
    ended = caller.run(["--disk", "32M"], [PYTHON, "-c", hostile.WORKSPACE_TURNOVER])
    equal((ended.code, ended.said), (0, []), ended.verdict)


CHECKS = {
    "image_filled": with_image(filled),
    "image_without_inodes": with_image(no_inodes),
    "image_shown": with_image(shown),
    "image_killed": with_image(killed),
    "io_of_workspace": io([], "direct"),
    "io_of_image": io(["--memory", "128M", "--disk", "256M"], "/tmp/direct"),
    "io_of_buffered_writes": io_of_buffered_writes,
    "io_without_a_disk": io_without_a_disk,
    "workspace_growth": growth(),
    "layer_growth": growth("--review"),
    "workspace_turnover": turnover,
}

if __name__ == "__main__":
    main(CHECKS)
