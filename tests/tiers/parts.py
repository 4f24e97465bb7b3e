# SPDX-License-Identifier: Apache-2.0
"""The processes of an engine on the host: which there are, and what each could do."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "callers"))

from caller import descendants  # noqa: E402
from check import equal, expect  # noqa: E402


def parts(child, names):
    """By what they are; each name once."""
    named = {}
    for pid in descendants(child.pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if words in names:
            named[words] = pid
    return named


def started(caller, names):
    """A sandbox whose program has begun."""
    child, report = caller.start([], ["sh", "-c", "echo up; sleep 1000"])
    equal(child.stdout.readline(), b"up\n")
    found = parts(child, names)
    equal(sorted(found), sorted(names))
    return child, report, found


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def apart(caller, found):
    """None of them is anybody on the host, can become more than it is, or shares a namespace with us."""
    for name, pid in found.items():
        facts = status(pid)
        expect(facts["Uid"].split()[0] != "0", name, "is root of the host")
        if caller.name == "root":
            expect(int(facts["Uid"].split()[0]) >= 0x70000000, name, facts["Uid"])
        equal(facts["NoNewPrivs"], "1", name)
        for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
            expect(os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}"), name, kind)


def descriptors(pid):
    """What is open, by kind, sorted."""
    return sorted(os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{pid}/fd"))
