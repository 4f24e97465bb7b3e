# SPDX-License-Identifier: Apache-2.0
"""What a policy's responses take away from sandboxes of a node, within a second and over its death. 77: needs root."""
import json
import signal
import sys
import time

from api import equal, expect, main, made, started
from daemon import Daemon

SOON = 1.0


def response(when, more_than, then):
    return {"response": [{"when": when, "more_than": more_than, "within_seconds": 60, "then": then}]}


def taken(node, sandbox):
    records = [record for record in map(json.loads, node.audit_lines()) if record.get("sandbox") == sandbox and record["event"] == "response_taken"]
    return [(record["when"], record["then"], record["rule"]) for record in records]


def lines_of(client, sandbox, path):
    answer = client.ask("GET", f"/v1/sandboxes/{sandbox}/files?path={path}")
    return len(answer.body.split()) if answer.status == 200 else 0


def a_run_is_ended(node):
    script = "for i in 1 2 3; do echo >/etc/x$i; done; date +%s.%N; echo >/etc/x4; i=0; while [ $i -lt 100 ]; do date +%s.%N; sleep 0.05; i=$((i+1)); done"
    with node.client() as client:
        said = client.ask("POST", "/v1/run", {"command": ["sh", "-c", script], "policy": response("denials", 3, "kill")}).json
        equal((said["verdict"]["ending"], said["verdict"]["limit"], said["verdict"]["peak"]), ("policy", 3, 4), said)
        equal([denial["tried"] for denial in said["denials"] if denial["code"] == "CORDON-RESPONSE"], ["denials: 4 in 60 s"], said)
        equal(taken(node, said["id"]), [("denials", "kill", "request:1")])
        times = [float(line) for line in said["stdout"].split()]
        expect(times[-1] - times[0] < SOON, times)
        said = client.ask("POST", "/v1/run", {"command": ["sh", "-c", "for i in 1 2 3; do echo >/etc/x$i; done; sleep 1"], "policy": response("denials", 3, "kill")}).json
        equal(said["verdict"]["ending"], "exit", "as many as are tolerated")


def births_end_a_sandbox(node):
    with node.client() as client:
        sandbox = made(client, {"policy": response("processes", 200, "kill"), "timeout_seconds": 600})
        started(client, sandbox, "sh", "-c", "while :; do /bin/true; done")
        until = time.monotonic() + 10
        while (now := client.ask("GET", f"/v1/sandboxes/{sandbox}")).json.get("verdict") is None:
            expect(time.monotonic() < until, now)
            time.sleep(0.1)
        equal(now.json["verdict"]["ending"], "policy", now.json)
        equal(taken(node, sandbox), [("processes", "kill", "request:1")])


def frozen_over_a_death(node):
    """Nothing in it goes on, nothing is started in it, and it can be ended."""
    with node.client() as client:
        sandbox = made(client, {"policy": response("denials", 0, "freeze"), "timeout_seconds": 600})
        started(client, sandbox, "sh", "-c", "date +%s.%N >begun; echo >/etc/x; while :; do date +%s.%N >>ticks; sleep 0.05; done")
        until = time.monotonic() + 5
        while not taken(node, sandbox):
            expect(time.monotonic() < until, "nothing was taken")
            time.sleep(0.05)
        refused = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["true"]})
        expect(refused.status in (403, 409) and "frozen" in refused.body.decode(), refused)
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with node.client() as client:
        first = lines_of(client, sandbox, "/workspace/ticks")
        time.sleep(1)
        equal(lines_of(client, sandbox, "/workspace/ticks"), first, "it goes on")
        expect(first <= SOON / 0.05, "it went on for longer than a second:", first)
        refused = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["true"]})
        expect(refused.status in (403, 409) and "frozen" in refused.body.decode(), refused)
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
        # The counter-arm: without the response it goes on.
        other = made(client, {"timeout_seconds": 600})
        started(client, other, "sh", "-c", "echo >/etc/x; while :; do date +%s.%N >>ticks; sleep 0.05; done")
        time.sleep(1.5)
        first = lines_of(client, other, "/workspace/ticks")
        time.sleep(0.5)
        expect(lines_of(client, other, "/workspace/ticks") > first, "it does not go on")


CHECKS = {check.__name__: check for check in (a_run_is_ended, births_end_a_sandbox, frozen_over_a_death)}

if __name__ == "__main__":
    sys.exit(main(CHECKS, lambda programs, **how: Daemon(programs, tools=("/usr/bin/date", "/usr/bin/sleep"), **how)))
