# SPDX-License-Identifier: Apache-2.0
"""A node that its launcher starts and keeps: `life.py PROGRAMS [NAME...]`. Deaths of either, an upgrade, and the end of all. 77: needs root."""
import base64
import http.client
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from api import equal, expect, main, made, sleepers, started
from daemon import Daemon


def within(seconds, what, truth):
    until = time.monotonic() + seconds
    while True:
        got = truth()
        if got:
            return got
        expect(time.monotonic() < until, what, "not within", seconds, "s")
        time.sleep(0.01)


def next_node(node, before, seconds=3):
    return within(seconds, "the next cordond", lambda: (pid := node.node_pid()) and pid != before and pid)


class Callers:
    """Threads that ask all the time, each time over a connection of its own; and what went wrong."""

    def __init__(self, node, count=4):
        self.node, self.stop, self.asked, self.failures = node, threading.Event(), 0, []
        self.threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(count)]

    def _ask(self, number):
        while not self.stop.is_set():
            try:
                with self.node.client() as client:
                    if number % 2:
                        answer = client.ask("POST", "/v1/run", {"command": ["printf", "x"]})
                        right = answer.status == 200 and answer.json.get("stdout") == "x"
                    else:
                        answer = client.ask("GET", "/v1/sandboxes")
                        right = answer.status == 200
                if not right:
                    self.failures.append(answer)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(error)
            self.asked += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def start_of(sandbox):
    """The start of the node that an id names: behind version, cell and node."""
    return int.from_bytes(base64.b32decode(sandbox[:24].upper())[7:11], "big")


def starts_and_starts_again(node):
    """cordond runs as the floor's user without any right; killed, it is back, and nobody who connects meanwhile is refused."""
    pid = node.node_pid()
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    equal(facts["Uid"].split(), [str(node.uid)] * 4)
    equal(facts["Gid"].split(), [str(node.uid)] * 4)
    equal(facts["Groups"].strip(), "")
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        equal(facts[kind], "0" * 16, kind)
    equal(facts["NoNewPrivs"], "1")
    with node.client(tenant="a") as client:
        sandbox = made(client, {"timeout_seconds": 600})
        sleeper = started(client, sandbox, "sleep", "1000")
    for _ in range(3):
        os.kill(pid, signal.SIGKILL)
        with node.client(tenant="a", timeout=10) as client:     # while there is none
            equal(client.ask("GET", sleeper).json["state"], "running")
        pid = next_node(node, pid)
    # Each start has its number, which is in the ids that it gives.
    log = [json.loads(line) for line in (node.base / "launcher.log").read_text().splitlines() if '"message":"serving"' in line]
    equal([line["start"] for line in log], [1, 2, 3, 4])
    with node.client(tenant="a") as client:
        equal([start_of(sandbox), start_of(made(client))], [1, 4])


def an_upgrade_fails_no_request(node):
    """SIGTERM: what has arrived is answered, who connects waits for the next one."""
    with node.client(tenant="a") as client:
        sandbox = made(client, {"timeout_seconds": 600})
    pid = node.node_pid()
    with Callers(node) as callers:
        for _ in range(5):
            before = callers.asked
            os.kill(pid, signal.SIGTERM)
            pid = next_node(node, pid, 10)
            within(10, "requests after the upgrade", lambda asked=before: callers.asked > asked + 20)
    equal(callers.failures, [])
    with node.client(tenant="a") as client:
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json["id"], sandbox)
    return f"{callers.asked} requests over 5 upgrades"


def goes_on_without_its_launcher(node):
    """kill -9 of the launcher: cordond and what runs live on, and the next launcher keeps them for the next cordond."""
    with node.client(tenant="a") as client:
        sandbox = made(client, {"timeout_seconds": 600})
        sleeper = started(client, sandbox, "sleep", "1000")
        reader = started(client, sandbox, "sh", "-c", "read x; echo got $x; exit 4")
    pid = node.node_pid()
    for _ in range(2):
        node.end(node.launcher, signal.SIGKILL)
        with node.client(tenant="a") as client:
            equal(client.ask("GET", sleeper).json["state"], "running")
            said = client.ask("GET", started(client, sandbox, "printf", "alone") + "/wait")     # nobody behind us
            equal(said.json["exit"]["code"], 0)
        node.start_launcher()
        with node.client(tenant="a") as client:
            other = made(client)     # waits for the launcher where it must
            equal(client.ask("DELETE", f"/v1/sandboxes/{other}").status, 200)
    time.sleep(1.5)     # longer than the grace: a second cordond would be there by now
    equal(node.node_pid(), pid, "cordond after two launchers")
    os.kill(pid, signal.SIGKILL)
    next_node(node, pid)
    with node.client(tenant="a", timeout=10) as client:
        equal(client.ask("GET", sleeper).json["state"], "running")
        equal(client.ask("POST", reader + "/input?end=true", "this\n").status, 204)
        equal(client.ask("GET", reader + "/wait").json["exit"]["code"], 4)
        expect(sleepers(node), "what sleeps is not seen")
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").json["verdict"]["ending"], "killed")
    within(5, "the end of what slept", lambda: not sleepers(node))


def there_is_one(node):
    """A second cordond over the same state is refused before it touches anything."""
    with node.client(tenant="a") as client:
        sandbox = made(client)
        second = subprocess.run(["setpriv", f"--reuid={node.uid}", f"--regid={node.uid}", "--clear-groups", node.bin / "cordond", "--config", node.config],
                                capture_output=True, text=True, timeout=20)
        equal(second.returncode, 1, second)
        expect("another cordond has this state directory" in second.stderr, second)
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"], "running")


def all_end_with_the_service(node):
    """SIGTERM of the launcher: cordond first, then the sandboxes; nothing is left."""
    with node.client() as client:
        sandbox = made(client, {"timeout_seconds": 600})
        started(client, sandbox, "sleep", "1000")
    within(5, "what sleeps", lambda: sleepers(node))
    equal(node.end(node.launcher), 0, "exit of the launcher")
    equal(node.node_pid(), None, "cordond")
    equal(sleepers(node), [])


def waits_longer_each_time(node):
    """A cordond that cannot start is tried again, ever more seldom; mended, it comes up without anybody's help."""
    good = node.config.read_text()
    node.config.write_text("nonsense = 1\n")
    os.kill(node.node_pid(), signal.SIGKILL)
    ends = lambda: [json.loads(line) for line in node.log("launcher").splitlines() if "cordond ended" in line]    # noqa: E731
    within(10, "four ends", lambda: len(ends()) >= 4)
    equal([(end["how"], end["next_start_ms"]) for end in ends()[:4]], [("signal", 50), ("exit", 100), ("exit", 200), ("exit", 400)])
    expect("unknown key `nonsense`" in node.log("launcher"), "why is not told")
    node.config.write_text(good)
    with node.client(timeout=20) as client:
        equal(client.ask("GET", "/v1/health").json["status"], "serving")


CHECKS = {f.__name__: f for f in (starts_and_starts_again, an_upgrade_fails_no_request, goes_on_without_its_launcher, there_is_one, all_end_with_the_service,
                                  waits_longer_each_time)}

if __name__ == "__main__":
    main(CHECKS, lambda programs, **how: Daemon(programs, supervised=True, **how))
