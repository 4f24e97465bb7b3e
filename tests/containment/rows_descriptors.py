# SPDX-License-Identifier: Apache-2.0
"""Group H from outside: descriptors that could come along, in either direction."""
import fcntl
import os
import subprocess
import time

from pace import slow
from rows_process import wait_for
from verdicts import both, counter, failed, held, judge, passed, refused
from world import end, text


def leaked():
    """Two descriptors of the caller, a directory and a file of the host, left open across exec."""
    for path, wanted in (("/", 210), ("/etc/passwd", 251)):
        opened = os.open(path, os.O_RDONLY)
        os.dup2(opened, wanted, inheritable=True)
        os.close(opened)
    return 210, 251


@judge("C107")
def inherits(arm):
    fds = leaked()
    try:
        return refused(arm.probe("C107", keep_fds=fds), "C107")
    finally:
        for fd in fds:
            os.close(fd)


@counter("C107")
def inherits_bare(bare):
    fds = leaked()
    try:
        return bare.succeeds("user", "C107", pass_fds=fds)
    finally:
        for fd in fds:
            os.close(fd)


@judge("C108")
def streams_of_host(arm):
    """A directory, a file and a device of the host as the caller's input: not started, or not passed on."""
    outcomes = []
    for path in ("/etc", "/etc/passwd", "/dev/zero"):
        stream = os.open(path, os.O_RDONLY)
        try:
            run = arm.probe("C108", stdin=stream, timeout=15)
        finally:
            os.close(stream)
        if run.code == -1:
            outcomes.append(failed(f"{path} as input: the run does not end"))
            continue
        outcomes.append(passed(f"{path}: refused") if run.code in (125, 126) and not run.answers() else refused(run, "C108"))
    return both(*outcomes)


@counter("C108")
def streams_of_host_bare(bare):
    directory = os.open("/etc", os.O_RDONLY)
    try:
        return bare.succeeds("user", "C108", stdin=directory)
    finally:
        os.close(directory)


def inheritable(pid):
    """Descriptors above 2 of a process that an exec would pass on."""
    found = []
    try:
        for name in os.listdir(f"/proc/{pid}/fdinfo"):
            flags = [line.split()[1] for line in text(f"/proc/{pid}/fdinfo/{name}").splitlines() if line.startswith("flags:")]
            if int(name) > 2 and flags and not int(flags[0], 8) & 0o2000000:
                found.append(f"{name}: {os.readlink(f'/proc/{pid}/fd/{name}')}")
    except OSError:
        pass
    return found


@judge("C109")
def close_on_exec(arm):
    tag = f"cloexec-{arm.name}-{arm.count}"
    child, _ = arm.start(["--time", "30s"], ["./probe", "C109", "--hold", str(slow(5)), "--tag", tag], arm.workspace())
    try:
        wait_for(tag)
        time.sleep(slow(0.7))
        seen, wrong = 0, []
        for pid in descendants(child.pid):
            comm = text(f"/proc/{pid}/comm").strip()
            if "cordon" in comm:
                seen += 1
                wrong += [f"{comm} {each}" for each in inheritable(pid)]
        # The caller, the launcher, its maker of networks, the first process and its spawner.
        return held(seen >= 4 and not wrong, f"{seen} processes; {wrong}")
    finally:
        end(child)


@counter("C109")
def close_on_exec_bare(bare):
    fds = leaked()
    child = subprocess.Popen(["sleep", "5"], pass_fds=fds, start_new_session=True)
    found = inheritable(child.pid)
    end(child)
    for fd in fds:
        os.close(fd)
    return len(found) == 2, f"{len(found)} inheritable descriptors are seen"


def descendants(pid):
    found = [pid]
    for each in found:
        try:
            tasks = os.listdir(f"/proc/{each}/task")
        except OSError:
            continue        # it ended meanwhile
        for task in tasks:
            found += [int(child) for child in text(f"/proc/{each}/task/{task}/children").split()]
    return found


@judge("C110")
def sends_descriptors(arm):
    return refused(arm.probe("C110"), "C110")


@judge("C111")
def changes_streams(arm):
    here = arm.workspace()
    child, _ = arm.start(["--time", "30s"], ["./probe", "C111", "--lines", "5000"], here)
    out, err = child.communicate(timeout=slow(60))
    said = err.decode(errors="replace").count("#" * 99)
    read, write = os.pipe()
    second, _ = arm.start(["--time", "30s"], ["./probe", "C111"], here, stdout=write)
    second.communicate(timeout=slow(60))
    loosened = fcntl.fcntl(write, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(read)
    os.close(write)
    return both(held(b'"C111"' in out, "its answer came"), held(said == 5000, f"{said} of 5000 lines came"),
                held(not loosened, "the caller's stream still blocks"))
