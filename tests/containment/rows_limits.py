# SPDX-License-Identifier: Apache-2.0
"""Group I from outside: verdicts, peaks, and what a neighbour feels."""
import json
import os
import statistics
import subprocess
import time

from pace import slow
from rows_descriptors import descendants
from rows_process import processes_with, wait_for
from verdicts import both, counter, failed, held, judge, passed, refused
from world import end, text

MIB = 1 << 20
ROUTES = ("tmp", "shm", "memfd", "segments", "pipes", "sockets", "names", "page-tables")


def policy(**resources):
    return "version = 1\n[resources]\n" + "".join(f"{key} = {value}\n" for key, value in resources.items())


def median_start(arm, here, times=3):
    return statistics.median(arm.run(["--time", "20s"], ["./probe", "C246"], workspace=here).seconds for _ in range(times))


@judge("C114")
def forks(arm):
    here = arm.workspace()
    quiet = median_start(arm, here)
    child, _ = arm.start(["--pids", "64", "--time", "30s"], ["./probe", "C114", "--count", "500"], arm.workspace())
    noisy = median_start(arm, here)
    out, err = child.communicate(timeout=slow(60))
    run = arm.probe("C114", "--count", "200", flags=["--pids", "64"])
    # 50 ms on top: on two cores a quiet start is too short to be compared by its factor alone.
    return both(refused(run, "C114"), held(noisy <= 3 * quiet + slow(0.05), f"a neighbour starts in {noisy:.3f} s, quiet {quiet:.3f} s"),
                refused(run, "C114"))


@counter("C114")
def forks_bare(bare):
    return bare.succeeds("user", "C114", "--count", "200")


def was_held(arm, run, row):
    """Killed for its memory, or told no before: either way it did not get what it wanted."""
    if run.ending == "memory":
        return passed(f"memory, peak {run.verdict.get('peak')}")
    answer = run.answers().get(row)
    if answer is None:
        return failed(f"neither an answer nor a verdict; {run.said()}")
    return held(answer["outcome"] == "refused", f"{answer['detail']}; {run.ending}")


@judge("C115")
def takes_memory(arm):
    run = arm.probe("C115", "--bytes", str(256 * MIB), flags=["--memory", "64M", "--time", "20s"])
    verdict = run.verdict
    told = verdict.get("limit") not in (None, "") and verdict.get("peak") not in (None, "")
    return both(held(run.ending == "memory", run.said()), held(told, f"limit {verdict.get('limit')}, peak {verdict.get('peak')}"))


@counter("C115")
def takes_memory_bare(bare):
    return bare.succeeds("user", "C115", "--bytes", str(256 * MIB))


@judge("C116")
def takes_memory_by_routes(arm):
    outcomes = []
    for route in ROUTES:
        run = arm.probe("C116", "--route", route, "--bytes", str(128 * MIB), flags=["--memory", "48M", "--time", "30s"])
        outcome = was_held(arm, run, "C116")
        outcomes.append(type(outcome)(outcome.word, f"{route}: {outcome.why}"))
    return both(*outcomes)


@counter("C116")
def takes_memory_by_routes_bare(bare):
    """Pipes and sockets are bounded for an ordinary user by other means, so they are not asked for."""
    held_back = []
    for route in ("tmp", "shm", "memfd", "segments", "sockets", "page-tables"):
        done, detail = bare.succeeds("user", "C116", "--route", route, "--bytes", str(64 * MIB))
        if not done:
            held_back.append(detail)
    return not held_back, "; ".join(held_back) or "64 MiB by each route"


def memory_group(pid):
    """The directory of the group that holds the memory of a process, of either version."""
    for line in text(f"/proc/{pid}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            return f"/sys/fs/cgroup/memory{path}"
    for line in text(f"/proc/{pid}/cgroup").splitlines():
        if line.startswith("0::"):
            return f"/sys/fs/cgroup{line[3:]}"
    return ""


def swap_is_off(group):
    most, with_swap = text(f"{group}/memory.limit_in_bytes").strip(), text(f"{group}/memory.memsw.limit_in_bytes").strip()
    if most:
        limited = int(most) < 1 << 60
        return limited and with_swap in ("", most), f"memory {most}, with swap {with_swap or 'not counted'}"
    swap = text(f"{group}/memory.swap.max").strip()
    return swap == "0", f"memory.swap.max {swap}"


@judge("C117")
def swaps(arm):
    tag = f"swap-{arm.name}-{arm.count}"
    child, _ = arm.start(["--memory", "64M", "--time", "30s"], ["./probe", "C117", "--hold", str(slow(10)), "--tag", tag], arm.workspace())
    try:
        wait_for(tag)
        time.sleep(slow(0.7))
        inside = [pid for pid in processes_with(tag) if text(f"/proc/{pid}/comm").startswith("probe")]
        if not inside:
            return failed("the payload was not seen")
        return held(*swap_is_off(memory_group(inside[0])))
    finally:
        end(child)


@counter("C117")
def swaps_bare(bare):
    off, detail = swap_is_off(memory_group(os.getpid()))
    return not off, detail


def free_bytes(path):
    about = os.statvfs(path)
    return about.f_bfree * about.f_frsize


@judge("C118")
def fills_disk(arm):
    before = free_bytes(arm.base)
    run = arm.probe("C118", "--places", "/tmp,/dev/shm", "--bytes", str(128 * MIB), flags=["--disk", "32M", "--memory", "256M", "--time", "60s"])
    reviewed = arm.probe("C118", "--places", ".", "--bytes", str(128 * MIB), flags=["--disk", "32M", "--memory", "256M", "--review", "--time", "60s"])
    dip = before - free_bytes(arm.base)
    if reviewed.report and "id" in reviewed.report:
        arm.verb("discard", reviewed.report["id"])
    overlay = passed("disk") if reviewed.ending == "disk" else refused(reviewed, "C118")
    return both(refused(run, "C118") if run.ending != "disk" else passed("disk"), overlay,
                held(dip <= 48 * MIB, f"the host's disk lost {dip // MIB} MiB"))


@counter("C118")
def fills_disk_bare(bare):
    return bare.succeeds("user", "C118", "--places", ".", "--bytes", str(64 * MIB))


@judge("C119")
def fills_inodes(arm):
    return refused(arm.probe("C119", "--count", "20000", flags=["--time", "30s"], policy=policy(inodes_limit=5000)), "C119")


@judge("C120")
def holes(arm):
    return refused(arm.probe("C120", flags=["--disk", "32M"]), "C120")


@judge("C121")
def descriptors(arm):
    return refused(arm.probe("C121", "--most", "1024", policy=policy(open_files=1024)), "C121")


@judge("C129")
def sockets(arm):
    return refused(arm.probe("C129", "--most", "1024", policy=policy(open_files=1024)), "C129")


@judge("C122")
def zombies(arm):
    return refused(arm.probe("C122", "--count", "300", flags=["--pids", "128"]), "C122")


@judge("C123")
def spins(arm):
    run = arm.probe("C123", "--seconds", "2", "--percent", "105", flags=["--cpus", "1"])
    return refused(run, "C123")


def slowest_sync(path, seconds):
    """The 99th percentile of fsync on the host, in seconds."""
    times, until = [], time.monotonic() + seconds
    with open(path, "wb") as out:
        while time.monotonic() < until:
            begin = time.monotonic()
            out.write(b"x" * 4096)
            out.flush()
            os.fsync(out.fileno())
            times.append(time.monotonic() - begin)
    return sorted(times)[int(len(times) * 0.99)]


@judge("C124")
def storms_disk(arm):
    place = arm.base / "sync"
    quiet = slowest_sync(place, 0.7)
    child, _ = arm.start(["--time", "20s"], ["./probe", "C124", "--seconds", "2"], arm.workspace())
    time.sleep(0.5)
    noisy = slowest_sync(place, 1)
    child.communicate(timeout=slow(60))
    # Below 20 ms a neighbour does not feel it, whatever the factor.
    return held(noisy <= max(3 * quiet, 0.02), f"a neighbour's fsync takes {noisy * 1000:.1f} ms, quiet {quiet * 1000:.1f} ms")


@judge("C125")
def ignores_its_end(arm):
    run = arm.probe("C125", "--hold", str(slow(20)), flags=["--time", "1s"], timeout=30)
    return held(run.ending == "wall_time" and run.seconds <= slow(1 + 5 + 1), f"{run.ending} after {run.seconds:.1f} s")


def largest(pid):
    """Peak memory of a process and of what it started that is ours, in KiB."""
    peaks = [0]
    for each in descendants(pid):
        if text(f"/proc/{each}/comm").startswith("cordon"):
            peaks += [int(line.split()[1]) for line in text(f"/proc/{each}/status").splitlines() if line.startswith("VmHWM:")]
    return max(peaks)


def flooded(arm, size, words):
    """Ends a flood by its limit: the report, the bytes that came, and the peak of the largest of our processes, in KiB."""
    read, write = os.pipe()
    child, report = arm.start(["--output", "1M", "--time", "60s"], ["./probe", "C126", "--bytes", str(size), *words], arm.workspace(),
                              stdout=subprocess.DEVNULL, stderr=write)
    os.close(write)
    os.set_blocking(read, False)
    total, peak, until = 0, 0, time.monotonic() + slow(15)
    while child.poll() is None and time.monotonic() < until:
        try:
            total += len(os.read(read, 1 << 20))
        except BlockingIOError:
            time.sleep(0.005)
        peak = max(peak, largest(child.pid))
    end(child)
    os.close(read)
    return text(report), total, peak


@judge("C126")
def floods(arm):
    outcomes = []
    for words in ((), ("--lines",)):
        _, _, quiet = flooded(arm, 1 << 16, words)
        report, total, peak = flooded(arm, 10 << 30, words)
        grown = peak - quiet
        ending = json.loads(report).get("verdict", {}).get("ending") if report else "none"
        bounded = total <= 4 * MIB and grown <= 16 * 1024
        outcomes.append(held(ending == "output" and bounded, f"{ending}, {total // 1024} KiB came, grown by {grown} KiB"))
    return both(*outcomes)


@counter("C126")
def floods_bare(bare):
    return bare.succeeds("user", "C126", "--bytes", str(64 * MIB))


def kernel_log():
    done = subprocess.run(["dmesg"], capture_output=True)
    return len(done.stdout), (done.stdout[-200:] if done.returncode == 0 else None)


@judge("C133")
def floods_kernel_log(arm):
    before, _ = kernel_log()
    run = arm.probe("C133", "--count", "500", flags=["--time", "30s"])
    after, readable = kernel_log()
    if readable is None:
        return failed("the kernel's log cannot be read")
    return both(refused(run, "C133"), held(after - before <= 1 << 20, f"the kernel's log grew by {max(0, after - before)} bytes"))
