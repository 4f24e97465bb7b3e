# SPDX-License-Identifier: Apache-2.0
"""Tiers on a node: what the floor names is run, what it does not name is refused, and what it asks for at least is held. 77: needs root."""
import glob
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cordond"))

from api import equal, expect, made, main, started  # noqa: E402
from daemon import Daemon  # noqa: E402
from caller import name_of  # noqa: E402   # beside daemon.py's own

QEMU = "/usr/bin/qemu-system-x86_64"
RUNSC = os.environ.get("CORDON_RUNSC", "/usr/bin/runsc")
NAMED = f"runsc = {RUNSC}\n"
GVISOR = {"isolation": "gvisor"}
MACHINE = {"isolation": "microvm"}
MADE = [("program_started", "/usr/bin/sh"), ("file_touched", "/workspace/made")]


def kernel(node, policy):
    with node.client() as client:
        got = client.ask("POST", "/v1/run", {"command": ["cat", "/proc/version"], "policy": policy})
    return got


def chosen(_):
    """A request chooses the wall, and the answer says which one it is."""
    with Daemon(PROGRAMS, floor=NAMED + "sandboxes_ahead = 4\n") as node, node.client() as client:
        plain = kernel(node, {})
        equal(plain.status, 200, plain)
        # Again and again: what a launcher has ready for plans that come again is of their tier.
        for _ in range(5):
            behind = kernel(node, GVISOR)
            equal(behind.status, 200, behind)
            expect(behind.json["stdout"] != plain.json["stdout"], "one kernel for both", behind)
            equal(kernel(node, {}).json["stdout"], plain.json["stdout"])
        made = client.ask("POST", "/v1/sandboxes", {"policy": GVISOR})
        equal((made.status, made.json["isolation"]), (201, "gvisor"), made)
        shown = client.ask("GET", f"/v1/sandboxes/{made.json['id']}").json
        said = {each["name"]: each.get("detail", "") for each in shown["enforcement"]}
        expect("gvisor" in said["isolation"], said)
        node.node.kill()
        node.node.wait()
        node.start_node()
        with node.client() as again:
            after = again.ask("GET", f"/v1/sandboxes/{made.json['id']}").json
            equal((after["isolation"], after["state"]), ("gvisor", shown["state"]))


def not_named(_):
    """Without a runsc in the floor it is refused, and nothing weaker runs."""
    with Daemon(PROGRAMS) as node:
        refused = kernel(node, GVISOR)
        expect(refused.status in (403, 422, 503) and b"the floor names no runsc" in refused.body, refused)
        equal(kernel(node, {}).status, 200, "the counter-arm")


def at_least(_):
    """A floor that asks for gVisor launches nothing with less, whatever a node says."""
    with Daemon(PROGRAMS, floor=NAMED + "isolation = gvisor\n") as node:
        weaker = kernel(node, {})
        expect(weaker.status != 200 and b"stdout" not in weaker.body, weaker)
        equal(kernel(node, GVISOR).status, 200, "what is strong enough")


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def recorded(node, sandbox):
    every = [json.loads(line) for line in node.audit_lines()]
    return [record for record in every if record.get("sandbox") == sandbox]


def acts_of(node, sandbox):
    return [(record["event"], record.get("path", record.get("program"))) for record in recorded(node, sandbox)[2:-1]]


def until(found, seconds=10):
    end = time.monotonic() + seconds
    while not found():
        expect(time.monotonic() < end, "not recorded")
        time.sleep(0.05)


def told(_):
    """What programs do is in the log, also of a sandbox that has outlived its node; without a policy that asks nothing is."""
    asks = {**GVISOR, "monitor": {"record": ["exec", "writes"]}}
    script = "echo 1 > made; i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo > /tmp/file-$i; sleep 0.05; done"
    with Daemon(PROGRAMS, floor=NAMED) as node:
        with node.client() as client:
            ran = client.ask("POST", "/v1/run", {"command": ["sh", "-c", "echo 1 > made"], "policy": asks})
            equal(ran.status, 200, ran)
            equal(acts_of(node, ran.json["id"]), MADE)
            quiet = client.ask("POST", "/v1/run", {"command": ["sh", "-c", "echo 1 > made"], "policy": GVISOR}).json["id"]
            equal([record["event"] for record in recorded(node, quiet)], ["policy_accepted", "sandbox_started", "sandbox_ended"], "the counter-arm")
            made = client.ask("POST", "/v1/sandboxes", {"policy": asks})
            equal(made.status, 201, made)
            living = made.json["id"]
            equal(client.ask("POST", f"/v1/sandboxes/{living}/processes", {"command": ["sh", "-c", script]}).status, 201)
        numbers = lambda: [int(record["path"].rpartition("-")[2]) for record in recorded(node, living)  # noqa: E731
                           if record["event"] == "file_touched" and "file-" in record["path"]]
        until(numbers)
        node.node.kill()
        node.node.wait()
        node.start_node()
        last = max(numbers())
        until(lambda: max(numbers()) > last + 5)
        expect(len(numbers()) == len(set(numbers())), "told twice", numbers())


def ahead(_):
    """One that was started for a tenant's plan and is taken by another tenant: what it reaches is the other one's affair from its first word on."""
    from network import ALLOWED, OTHER, Internet, fetched, policy
    wanted = {"policy": {**GVISOR, **policy(f"{ALLOWED}:443")}}
    with Internet() as internet, Daemon(PROGRAMS, floor=NAMED + "engines_ahead = 1\n", within=internet.within(internet.host),
                                        tools=("/usr/bin/curl", "/usr/bin/bash")) as node:
        running = lambda: {pid for pid in children(node.launcher.pid) if name_of(pid) == "cordon-relay"}  # noqa: E731
        with node.client(tenant="a") as first, node.client(tenant="b") as second:
            for _ in range(2):
                expect(not running(), "one runs for a plan that came once")
                ran = first.ask("POST", "/v1/run", {"command": ["true"], **wanted})
                equal(ran.status, 200, ran)
            until(running)
            time.sleep(1)
            waiting = running()
            sandbox = made(second, wanted)
            expect(waiting <= running(), "it was not taken, but ended")
            equal(fetched(second, sandbox, "-k", f"https://{ALLOWED}/"), ("200", 0))
            expect(fetched(second, sandbox, "-k", f"https://{OTHER}/")[1] != 0, "another host is reached")
            until(lambda: any(OTHER in json.dumps(record) for record in recorded(node, sandbox)))
            equal(len(waiting), 1)
            equal(second.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
            expect(not waiting & running(), "the one that was waiting is another one")


def pin_of(path):
    """The floor's line for what is in the file now."""
    return f"pin = sha256:{hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()} {path}\n"


def tamper(path):
    """A byte more, which hurts neither a program nor an archive; and it looks as old as before."""
    before = os.stat(path)
    with open(path, "ab") as file:
        file.write(b"\0")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def expect_changed(refused):
    expect(refused.status in (403, 422, 500, 503) and b"it was changed" in refused.body and b"stdout" not in refused.body, refused)


def pinned(_):
    """A runsc whose digest the floor has is not run with anything else in it (C317): neither when it is changed under a launcher, nor before it starts."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        runsc = f"{place}/runsc"
        shutil.copy(RUNSC, runsc)
        named = f"runsc = {runsc}\nengines_ahead = 0\n"
        pin = pin_of(runsc)
        with Daemon(PROGRAMS, floor=named + pin) as node:
            equal(kernel(node, GVISOR).status, 200, "as it was pinned")
            tamper(runsc)
            expect_changed(kernel(node, GVISOR))
        with Daemon(PROGRAMS, floor=named + pin) as node:
            expect_changed(kernel(node, GVISOR))
            equal(kernel(node, {}).status, 200, "what needs no engine")
        with Daemon(PROGRAMS, floor=named) as node:
            equal(kernel(node, GVISOR).status, 200, "the counter-arm: without a pin it is run")


def machine(_):
    """A virtual machine that the floor names, and that a node's death does not end, and in which what programs do is told where it is asked for;
    nothing beside it is let in, nor itself with anything else in it than the floor has pinned (C317)."""
    if not os.path.exists(QEMU) or not glob.glob("/boot/vmlinuz-*"):
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        subprocess.run([pathlib.Path(PROGRAMS) / "cordon", "machine", "build", "--into", place], check=True, capture_output=True)
        pins = "".join(pin_of(each) for each in (QEMU, f"{place}/vmlinux", f"{place}/initramfs"))
        with Daemon(PROGRAMS, floor=f"qemu = {QEMU}\nmachine = {place}\nengines_ahead = 0\n" + pins) as node, node.client() as client:
            inside = kernel(node, MACHINE)
            equal(inside.status, 200, inside)
            expect(inside.json["stdout"] != kernel(node, {}).json["stdout"], "one kernel for both", inside)
            for asks, acts in (({"monitor": {"record": ["exec", "writes"]}}, MADE), ({}, [])):
                ran = client.ask("POST", "/v1/run", {"command": ["sh", "-c", "echo 1 > made"], "policy": {**MACHINE, **asks}})
                equal((ran.status, acts_of(node, ran.json["id"])), (200, acts), ran)
            made = client.ask("POST", "/v1/sandboxes", {"policy": MACHINE})
            equal((made.status, made.json["isolation"]), (201, "microvm"), made)
            node.node.kill()
            node.node.wait()
            node.start_node()
            with node.client() as again:
                after = again.ask("GET", f"/v1/sandboxes/{made.json['id']}").json
                equal(after["isolation"], "microvm")
                started(again, made.json["id"], "uname", "-n")
            for part in ("vmlinux", "initramfs"):
                whole = pathlib.Path(place, part).read_bytes()
                tamper(f"{place}/{part}")
                expect_changed(kernel(node, MACHINE))
                pathlib.Path(place, part).write_bytes(whole)
    with Daemon(PROGRAMS) as node:
        refused = kernel(node, MACHINE)
        expect(refused.status in (403, 422, 503) and b"the floor names no qemu" in refused.body, refused)


CHECKS = {"chosen": chosen, "not_named": not_named, "at_least": at_least, "pinned": pinned, "told": told, "ahead": ahead, "machine": machine}

if __name__ == "__main__":
    if not os.path.exists(RUNSC):
        sys.exit(77)
    PROGRAMS = sys.argv[1]
    main(CHECKS)
