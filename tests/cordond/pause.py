# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that are paused over the E2B API: `pause.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import signal
import sys
import time

from api import equal, expect, main, made, started
from daemon import Daemon

# Left by the command that made it, and so a child of pid 1; and what deaths and signals do not reach.
ORPHAN = "(trap '' HUP; while :; do date >>/workspace/{name}; sleep 0.02; done) >/dev/null 2>&1 &"
STILL = 1.0     # seconds in which something that runs would be seen


class E2b:
    """The calls of its clients that this needs."""

    def __init__(self, node, client):
        self.client, self.fields = client, {"X-API-Key": node.mint("--tenant", "a", "--e2b")}

    def pause(self, sandbox):
        return self.client.ask("POST", f"/sandboxes/{sandbox}/pause", {}, self.fields)

    def connect(self, sandbox):
        return self.client.ask("POST", f"/sandboxes/{sandbox}/connect", {"timeout": 300}, self.fields)

    def state(self, sandbox):
        return self.client.ask("GET", f"/sandboxes/{sandbox}", fields=self.fields).json["state"]


def size(client, sandbox, name):
    answer = client.ask("GET", f"/v1/sandboxes/{sandbox}/files/stat?path=/workspace/{name}")
    expect(answer.status in (200, 404), answer)
    return answer.json["size"] if answer.status == 200 else 0


def grows(client, sandbox, name, seconds=10):
    """Waits for it: a slow machine may need a while."""
    first, until = size(client, sandbox, name), time.monotonic() + seconds
    while size(client, sandbox, name) <= first:
        expect(time.monotonic() < until, name, "does not go on")
        time.sleep(0.02)


def stands(client, sandbox, *names):
    first = [size(client, sandbox, name) for name in names]
    time.sleep(STILL)
    equal([size(client, sandbox, name) for name in names], first, *names, "goes on:")


def comes_to_stand(client, sandbox, name, seconds=10):
    """What a stopped one had begun may be written yet, and its signal be on its way."""
    until = time.monotonic() + seconds
    while True:
        first = size(client, sandbox, name)
        time.sleep(STILL)
        if size(client, sandbox, name) == first:
            return
        expect(time.monotonic() < until, name, "goes on")


def left(client, sandbox, name):
    """A process whose command has ended."""
    ran = client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["sh", "-c", ORPHAN.format(name=name)]})
    equal(ran.status, 200, ran)
    grows(client, sandbox, name)


def all_of_it(node):
    """What no living command has started stands too, and goes on afterwards."""
    with node.client(tenant="a") as client:
        e2b, sandbox = E2b(node, client), made(client, {"timeout_seconds": 600})
        left(client, sandbox, "x")
        equal(e2b.pause(sandbox).status, 204)
        stands(client, sandbox, "x")
        equal(e2b.pause(sandbox).status, 409)
        equal(e2b.state(sandbox), "paused")
        equal(e2b.connect(sandbox).status, 201)
        grows(client, sandbox, "x")
        # The same beside one that lives, and again.
        process = started(client, sandbox, "sh", "-c", "while :; do date >>/workspace/y; sleep 0.02; done")
        grows(client, sandbox, "y")
        equal(e2b.pause(sandbox).status, 204)
        stands(client, sandbox, "x", "y")
        equal(client.ask("GET", process).json["state"], "running")
        equal(e2b.connect(sandbox).status, 201)
        grows(client, sandbox, "x")
        grows(client, sandbox, "y")
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)


def nobody_wakes_it(node):
    """Neither a signal of the API's nor the death of another, whose orphans a kernel wakes; what is killed dies at once."""
    with node.client(tenant="a") as client:
        e2b, sandbox = E2b(node, client), made(client, {"timeout_seconds": 600})
        # A job in a group of its own, whose parent is the only reason that the group is no orphan.
        parent = started(client, sandbox, "sh", "-c", "set -m; " + ORPHAN.format(name="job") + " sleep 1000")
        plain = started(client, sandbox, "sh", "-c", "while :; do date >>/workspace/plain; sleep 0.02; done")
        grows(client, sandbox, "job")
        grows(client, sandbox, "plain")
        equal(e2b.pause(sandbox).status, 204)
        stands(client, sandbox, "job", "plain")
        equal(client.ask("POST", plain + "/signal", {"signal": "CONT"}).status, 204)
        equal(client.ask("POST", plain + "/signal", {"signal": "CONT", "group": True}).status, 204)
        equal(client.ask("POST", parent + "/signal", {"signal": "KILL"}).status, 204)
        equal(client.ask("GET", parent + "/wait?seconds=10").json["state"], "exited")
        time.sleep(0.2)
        stands(client, sandbox, "job", "plain")
        equal(e2b.connect(sandbox).status, 201)
        grows(client, sandbox, "job")
        grows(client, sandbox, "plain")


# A kernel wakes whom it has stopped for a signal that asks him to go on, whoever sends it: here a timer of his own, each millisecond.
TIMER = """$s=pack("x8 l l x48",18,0); $t=pack("l",0); syscall(222,1,$s,$t)==0 or die "timer"; $SIG{CONT}=sub{};
$i=pack("q4",0,1000000,0,1000000); syscall(223,unpack("l",$t),0,$i,0)==0 or die "timer";
for(;;){open F,">>","/workspace/$ARGV[0]"; print F "x"; close F; select undef,undef,undef,0.01}"""


def nobody_wakes_himself(node):
    """Who would not stand for a timer of his own, or by those that he begets where a death wakes him, is ended; others go on as they were."""
    with node.client(tenant="a") as client:
        # Behind gVisor some two hundred are begotten before all stand; where a workload has reached its own limit, nobody looks at its files.
        e2b, sandbox = E2b(node, client), made(client, {"timeout_seconds": 600, "policy": {"resources": {"pids_limit": 1000}}})
        # A child of pid 1, a grandchild, and one whose orphaned group is woken and begets.
        left(client, sandbox, "goes")
        client.ask("PUT", f"/v1/sandboxes/{sandbox}/files?path=/workspace/timer.pl", TIMER.encode())
        children = [f"child{number}" for number in range(4)]
        wake = {name: started(client, sandbox, "perl", "/workspace/timer.pl", name) for name in children}
        started(client, sandbox, "sh", "-c", "perl /workspace/timer.pl grandchild; true")
        births = "(trap '(while :; do date >>/workspace/born; sleep 0.02; done) &' HUP; date >>/workspace/begets; while :; do sleep 0.02; done) >/dev/null 2>&1 &"
        parent = started(client, sandbox, "sh", "-c", f"set -m; {births} sleep 1000")
        for name in (*children, "grandchild", "begets"):
            wait_for(client, sandbox, name)
        equal(e2b.pause(sandbox).status, 204)
        equal(client.ask("POST", parent + "/signal", {"signal": "KILL"}).status, 204)
        time.sleep(8)    # as long as it may take to find out who resists
        stands(client, sandbox, *children, "grandchild", "born", "goes")
        # A timer whose signal a stop has taken away stays quiet: then its process merely stands, and goes on afterwards as all do.
        equal(e2b.connect(sandbox).status, 201)
        grows(client, sandbox, "goes")
        ended = [name for name in children if client.ask("GET", wake[name]).json["state"] != "running"]
        for name in set(children) - set(ended):
            grows(client, sandbox, name)
    return f"{len(ended)} of {len(children)} would not stand"


def wait_for(client, sandbox, name):
    until = time.monotonic() + 10
    while not size(client, sandbox, name):
        expect(time.monotonic() < until, name, "is not written")
        time.sleep(0.02)


def as_it_was(node):
    """What the workload had stopped itself is stopped afterwards too."""
    with node.client(tenant="a") as client:
        e2b, sandbox = E2b(node, client), made(client, {"timeout_seconds": 600})
        stopped = started(client, sandbox, "sh", "-c", "while :; do date >>/workspace/stopped; sleep 0.02; done")
        grows(client, sandbox, "stopped")
        left(client, sandbox, "goes")
        equal(client.ask("POST", stopped + "/signal", {"signal": "STOP"}).status, 204)
        time.sleep(0.3)
        equal(e2b.pause(sandbox).status, 204)
        equal(e2b.connect(sandbox).status, 201)
        grows(client, sandbox, "goes")
        stands(client, sandbox, "stopped")
        equal(client.ask("POST", stopped + "/signal", {"signal": "CONT"}).status, 204)
        grows(client, sandbox, "stopped")


def nothing_begins(node):
    """API v1 starts nothing in it, says so, and its label is nobody's to give or take; files are read and written."""
    with node.client(tenant="a") as client:
        e2b, sandbox = E2b(node, client), made(client, {"timeout_seconds": 600})
        here = f"/v1/sandboxes/{sandbox}"
        equal(client.ask("POST", "/v1/sandboxes", {"labels": {"e2b.paused": "true"}}).status, 400)
        equal(client.ask("PATCH", here, {"labels": {"e2b.paused": "true"}}).status, 200)
        equal(e2b.state(sandbox), "running")
        equal(e2b.pause(sandbox).status, 204)
        for path in ("/processes", "/run"):
            refused = client.ask("POST", here + path, {"command": ["true"]})
            equal((refused.status, refused.json["code"]), (409, "CORDON-SANDBOX-PAUSED"), refused)
        equal(client.ask("PATCH", here, {"labels": {"job": "7"}}).status, 200)
        equal((e2b.state(sandbox), client.ask("GET", here).json["labels"]["job"]), ("paused", "7"))
        equal(client.ask("PUT", here + "/files?path=/workspace/f", b"x").status, 204)
        equal(client.ask("GET", here + "/files?path=/workspace/f").body, b"x")
        # The counter-arm.
        equal(e2b.connect(sandbox).status, 201)
        for path, status in (("/processes", 201), ("/run", 200)):
            equal(client.ask("POST", here + path, {"command": ["true"]}).status, status)


def over_the_death_of_the_node(node):
    with node.client(tenant="a") as client:
        e2b, sandbox = E2b(node, client), made(client, {"timeout_seconds": 600})
        left(client, sandbox, "x")
        equal(e2b.pause(sandbox).status, 204)
        # One that is not paused, in which the workload has stopped something itself.
        other = made(client, {"timeout_seconds": 600})
        stopped = started(client, other, "sh", "-c", "while :; do date >>/workspace/stopped; sleep 0.02; done")
        grows(client, other, "stopped")
        left(client, other, "goes")
        equal(client.ask("POST", stopped + "/signal", {"signal": "STOP"}).status, 204)
        comes_to_stand(client, other, "stopped")
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with node.client(tenant="a") as client:
        e2b = E2b(node, client)
        equal(e2b.state(sandbox), "paused")
        stands(client, sandbox, "x")
        equal(client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["true"]}).status, 409)
        equal(e2b.connect(sandbox).status, 201)
        grows(client, sandbox, "x")
        grows(client, other, "goes")
        stands(client, other, "stopped")


def ends(node):
    """Its time goes on, and it can be ended at any time."""
    with node.client(tenant="a") as client:
        e2b = E2b(node, client)
        one, other = (made(client, {"timeout_seconds": 600}) for _ in range(2))
        for sandbox in (one, other):
            left(client, sandbox, "x")
            equal(e2b.pause(sandbox).status, 204)
        begun = time.monotonic()
        equal(client.ask("DELETE", f"/v1/sandboxes/{one}").json["verdict"]["ending"], "killed")
        equal(client.ask("PATCH", f"/v1/sandboxes/{other}", {"timeout_seconds": 2}).status, 200)
        until = time.monotonic() + 10
        while (now := client.ask("GET", f"/v1/sandboxes/{other}").json).get("verdict") is None:
            expect(time.monotonic() < until, now)
            time.sleep(0.1)
        equal(now["verdict"]["ending"], "wall_time", now)
        expect(time.monotonic() - begun < 10, "it took", time.monotonic() - begun)


CHECKS = {check.__name__: check for check in (all_of_it, nobody_wakes_it, nobody_wakes_himself, as_it_was, nothing_begins, over_the_death_of_the_node, ends)}

if __name__ == "__main__":
    sys.exit(main(CHECKS, lambda programs, **how: Daemon(programs, tools=("/usr/bin/date", "/usr/bin/perl"), **how)))
