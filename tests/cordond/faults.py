# SPDX-License-Identifier: Apache-2.0
"""Death at every named place: `faults.py PROGRAMS [PLACE...]`. The launcher or cordond dies there as of kill -9, while a client makes a
sandbox, uses, changes and ends it, and asks again where it got no answer. 77: needs root."""
import contextlib
import http.client
import os
import pathlib
import re
import signal
import sqlite3
import sys
import time
import uuid

from api import equal, expect, main
from daemon import Daemon
from life import within

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"


def places():
    found = set()
    for file in SOURCES.rglob("*.cc"):
        if not file.name.endswith("_test.cc"):
            found |= set(re.findall(r'\bfault_point\("([a-z.]+)"\)', file.read_text()))
    # Of a node of a fleet: tests/fleet/moves.py comes by them.
    return sorted(place for place in found if not place.startswith("fleet."))


def bonds(node):
    """How often a node has given its launcher what there is."""
    log = (node.base / "launcher.log").read_text()
    return sum(log.count(f'"message":"{word}"') for word in ("found the next launcher", "serving"))


def ask_until(node, seconds, request, wanted, before=lambda: None):
    """Asks again where there is no answer, or one that is not wanted: that is all a client has to know of a node's deaths."""
    until = time.monotonic() + seconds
    while True:
        before()
        said = None
        with contextlib.suppress(OSError, http.client.HTTPException):
            with node.client(tenant="a", timeout=10) as client:
                said = client.ask(*request)
                if said.status in wanted:
                    return said
        expect(time.monotonic() < until, *request[:2], "has no answer:", said)
        time.sleep(0.02)


class Keeper:
    """Does what an init does: starts the launcher again whenever it has died. And asks until there is an answer."""

    def __init__(self, node):
        self.node, self.restarts = node, 0

    def look(self):
        """Until a node has given the launcher what there is: a second death before that may take the sandboxes along."""
        if self.node.launcher.poll() is None:
            return
        before = bonds(self.node)
        self.restarts += 1
        self.node.start_launcher()
        within(10, "a node for the next launcher", lambda: bonds(self.node) > before or self.node.launcher.poll() is not None)
        self.look()

    def ask(self, method, path, body=None, fields=None, wanted=(200, 201, 204)):
        return ask_until(self.node, 20, (method, path, body, fields), wanted, self.look)


def left_of(sandboxes, mark):
    """Whatever bears the name of one, or the mark of its processes."""
    left = []
    for top, names, _ in os.walk("/sys/fs/cgroup"):
        left += [f"{top}/{name}" for name in names if any(sandbox in name for sandbox in sandboxes)]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                left.append(pid)
    left += [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if any(sandbox in line for sandbox in sandboxes)]
    return left


def first_of(argument):
    """The pid of the first process of the namespace in which somebody has this argument."""
    spaces, firsts = set(), {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            space = os.readlink(f"/proc/{pid}/ns/pid")
            if argument.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                spaces.add(space)
            inside = re.search(r"^NSpid:.*\t(\d+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
            if inside and inside.group(1) == "1":
                firsts[space] = int(pid)
    return firsts.get(spaces.pop()) if spaces else None


def rows(node):
    with contextlib.closing(sqlite3.connect(f"file:{node.base}/state/journal?mode=ro", uri=True)) as journal:
        return journal.execute("SELECT id, life FROM sandboxes").fetchall()


# Where both die before either could hand the sandboxes on, some or all of them end; nothing else of them is left either.
LOSES = {"node.bond.renewed", "launcher.fetch.asked", "launcher.fetch.told"}


def lost(node, keeper, sandboxes, mark):
    for sandbox in sandboxes:
        expect(keeper.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"] in ("running", "ended"))
        keeper.ask("DELETE", f"/v1/sandboxes/{sandbox}", wanted=(200, 404, 410))
    within(10, "nothing is left", lambda: not left_of(sandboxes, mark))
    within(5, "a journal that is right", lambda: all(life == 2 for _, life in rows(node)))


def answers(keeper, sandbox):
    """Whether it runs something, sooner or later."""
    said = keeper.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["true"]}, wanted=(201, 404, 409, 503))
    return said.status == 201 and keeper.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"] == "running"


def dies_at(place, node):
    """C250, at each place of create and destroy (and more): after it one client gets one sandbox, the living live on, what ends leaves nothing,
    and the journal is right."""
    marker = node.base / "own/fault"
    keeper, mark = Keeper(node), f"1000{uuid.uuid4().int % 10**9}"
    seen = set()
    create = lambda key: keeper.ask("POST", "/v1/sandboxes", {"timeout_seconds": 600}, {"Idempotency-Key": key})    # noqa: E731
    # One that lives before all else, so that there is something to adopt and to deposit.
    first = create("first").json["id"]
    asleep = keeper.ask("POST", f"/v1/sandboxes/{first}/processes", {"command": ["sleep", mark]}).json["process"]
    victim = create("victim").json["id"]
    keeper.ask("POST", f"/v1/sandboxes/{victim}/processes", {"command": ["sleep", mark + "7"]})
    seen.add(victim)
    pid_1 = within(5, "the victim's pid 1", lambda: first_of(mark + "7"))
    marker.touch()
    os.chown(marker, node.uid, node.uid)
    second = create("second").json["id"]
    if place == "launcher.launch.told" and not answers(keeper, second):
        second = create("second again").json["id"]      # its pid 1 was not so far yet that it outlives its launcher
    else:
        equal(create("second").json["id"], second, "the same key")
    keeper.ask("PATCH", f"/v1/sandboxes/{second}", {"labels": {"a": "b"}})
    equal(keeper.ask("GET", f"/v1/sandboxes/{second}").json["labels"], {"a": "b"})
    if place.startswith("launcher.") and not marker.exists() and not keeper.restarts:
        node.launcher.wait(10)      # it dies just now
        keeper.look()
    for turn in range(2):
        before = node.node_pid()
        if before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(before, signal.SIGKILL)
        if place == "node.adopt.ended":
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid_1, signal.SIGKILL)      # ends while there is no node
        within(10, "the next node", lambda at=before: keeper.look() or node.node_pid() not in (None, at))
        keeper.ask("GET", "/v1/health")
        if place in LOSES and not marker.exists():
            return lost(node, keeper, {first, second, victim}, mark)
        equal(keeper.ask("GET", f"/v1/sandboxes/{first}/processes/{asleep}").json["state"], "running")
        node.end(node.launcher, signal.SIGKILL)
        keeper.look()
        if place in LOSES and not marker.exists():
            return lost(node, keeper, {first, second, victim}, mark)
        equal(keeper.ask("GET", f"/v1/sandboxes/{first}/processes/{asleep}").json["state"], "running")
        # Also what needs a launcher.
        seen.add(create(f"third {turn}").json["id"])
    listed = {each["id"] for each in keeper.ask("GET", "/v1/sandboxes").json["sandboxes"]}
    if place == "node.adopt.ended":
        equal(keeper.ask("GET", f"/v1/sandboxes/{victim}").json["state"], "ended")
        seen -= {victim}
    equal(listed, {first, second} | seen, "what lives")
    for sandbox in listed:
        keeper.ask("DELETE", f"/v1/sandboxes/{sandbox}", wanted=(200, 404, 410))
    within(10, "the end of all", lambda: keeper.ask("GET", "/v1/sandboxes").json["sandboxes"] == [])
    expect(not marker.exists(), "nobody came by this place")
    within(10, "nothing is left", lambda: not left_of(listed | {victim}, mark))
    within(5, "a journal that is right", lambda: all(life == 2 for _, life in rows(node)))


def armed(programs, place, **how):
    node = Daemon(programs, supervised=True, **how)
    node.environment = lambda: {**os.environ, "CORDON_FAULT": f"{place} {node.base}/own/fault"}
    return node


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] == "--list":
        print(*places(), sep="\n")
        sys.exit(0)
    wanted = [place for place in places() if not sys.argv[2:] or any(place.startswith(name) for name in sys.argv[2:])]
    expect(wanted, "no such place:", *sys.argv[2:])
    sys.argv[2:] = wanted
    order = iter(wanted)
    main({place: (lambda node, at=place: dies_at(at, node)) for place in wanted}, lambda programs, **how: armed(programs, next(order), **how))
