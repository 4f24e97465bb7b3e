# SPDX-License-Identifier: Apache-2.0
"""The verbs of `cordon` about nodes, at a gateway and at a node: `verbs.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import json
import signal
import subprocess
import sys
import time

from checks import run
from cluster import equal, expect, wait_until
from parties import Fleet

LONG = 30      # seconds that nothing here takes


class Cli:
    """At a socket; as root, who needs no token there."""

    def __init__(self, fleet, socket):
        self.program = fleet.programs / "cordon"
        self.environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "CORDON_NODE": socket}

    def __call__(self, *words, **environment):
        return subprocess.run([self.program, *words], capture_output=True, text=True, timeout=LONG, env={**self.environment, **environment}, check=False)

    def good(self, *words, **environment):
        done = self(*words, **environment)
        expect(done.returncode == 0, words, done)
        return done.stdout

    def refused(self, code, *words, **environment):
        """What it says."""
        done = self(*words, **environment)
        equal(done.returncode, code, words, done)
        expect(done.stderr.startswith("cordon: "), done)
        return done.stderr

    def nodes(self):
        """By their names: the columns of each."""
        lines = [line.split() for line in self.good("node", "ls").splitlines()]
        equal(lines[0], ["NODE", "STANDING", "SLOTS", "FREE", "LEASE", "START", "ADDRESS"])
        return {line[0]: dict(zip(lines[0], line)) for line in lines[1:]}


def at_gateway(fleet):
    return Cli(fleet, fleet.gateways[0].socket)


def made(cordon, token, count):
    return [cordon.good("create", CORDON_TOKEN=token).strip() for _ in range(count)]


def list_of_nodes(fleet):
    cordon = at_gateway(fleet)
    nodes = cordon.nodes()
    equal(set(nodes), {"1.1", "1.2"})
    equal([nodes["1.2"][name] for name in ("STANDING", "SLOTS", "FREE", "LEASE", "ADDRESS")], ["placeable", "20", "20", "yes", "10.77.2.2:8443"])
    got = json.loads(cordon.good("node", "ls", "--json"))
    equal([node["standing"] for node in got["nodes"]], ["placeable"] * 2)
    equal(got["cells"], [{"cell": 1, "frozen": False}])
    expect("CORDON-API-DENIED" in cordon.refused(1, "node", "ls", CORDON_TOKEN=fleet.mint("--tenant", "a")))


def drain(fleet):
    """What is drained takes nothing new, and is waited for until it is empty."""
    cordon, token = at_gateway(fleet), fleet.mint("--tenant", "a")
    before = []
    while not (there := [each for each in before if fleet.node_of(each).id == "1.1"]):
        before += made(cordon, token, 1)
    expect(cordon.good("node", "drain", "1.1").startswith("1.1 draining, "))
    equal(cordon.nodes()["1.1"]["STANDING"], "draining")
    after = made(cordon, token, 5)
    equal({fleet.node_of(each).id for each in after}, {"1.2"}, "new ones:")
    late = cordon.refused(5, "node", "drain", "1.1", "--wait", "--timeout", "1s")
    expect(f"1.1 takes nothing new; {len(there)} sandbox" in late and "after 1 s" in late, late)
    told = cordon.good("fleet", "status")
    expect("1 placeable, 1 draining" in told and told.endswith("all is well\n"), told)
    with subprocess.Popen([cordon.program, "node", "drain", "1.1", "--wait", "--timeout", "60s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=cordon.environment) as waiting:
        try:
            expect("takes nothing new" in waiting.stderr.readline())
            equal(waiting.poll(), None)
            cordon.good("kill", *before, *after, CORDON_TOKEN=token)
            out, _ = waiting.communicate(timeout=LONG)
        finally:
            waiting.kill()
        equal((waiting.returncode, out), (0, "1.1 draining, 0 sandboxes\n"))
    equal(cordon.good("node", "resume", "1.1"), "1.1 placeable, 0 sandboxes\n")
    equal(json.loads(cordon.good("node", "resume", "1.1", "--json"))["draining"], False)
    fleet.settle()


def names(fleet):
    """A node that is not there, and none where one must be named."""
    cordon = at_gateway(fleet)
    none = cordon.refused(4, "node", "drain", "1.9")
    expect("there is no node 1.9" in none and "  nodes 1.1, 1.2\n" in none, none)
    missing_name = cordon.refused(2, "node", "drain")
    expect("  nodes 1.1, 1.2\n  like  cordon node drain 1.1\n" in missing_name, missing_name)
    expect("like 1.42" in cordon.refused(2, "node", "resume", "node-1-1"))


def single(fleet):
    """At a node by itself none is named."""
    node = fleet.nodes[1]
    cordon = Cli(fleet, node.daemon.socket)
    equal({name: (each["STANDING"], each["LEASE"], each["ADDRESS"]) for name, each in cordon.nodes().items()}, {"1.2": ("placeable", "-", node.daemon.socket)})
    equal(cordon.good("node", "drain", "--wait"), "1.2 draining, 0 sandboxes\n")
    equal(cordon.nodes()["1.2"]["STANDING"], "draining")
    wait_until(lambda: at_gateway(fleet).nodes()["1.2"]["STANDING"] == "draining", LONG, "the gateway hears of it:")
    equal(cordon.good("node", "resume", "1.2"), "1.2 placeable, 0 sandboxes\n")
    expect("the node 1.2 alone" in cordon.refused(4, "node", "drain", "1.1"))
    expect("cordon status" in cordon.refused(4, "fleet", "status"))
    fleet.settle()


def status(fleet):
    """What is wrong is said, and ends with 1, for as long as it is."""
    cordon, node = at_gateway(fleet), fleet.nodes[1]
    # What a check before this one has ended is in no gauge yet.
    wait_until(lambda: "slots      40: 40 free (100 %)\n" in cordon("fleet", "status").stdout, LONG, "all slots are free:")
    told = cordon.good("fleet", "status")
    for words in ("serving, cordon ", "nodes      2: 2 placeable\n", "slots      40: 40 free (100 %)\n", "revoked    0 tokens\n", "all is well\n"):
        expect(words in told, words, told)
    equal(json.loads(cordon.good("fleet", "status", "--json"))["well"], True)
    away = cordon("fleet", "status", "/nonexistent")
    equal(away.returncode, 1, away)
    expect("the gateway at /nonexistent does not answer" in away.stdout, away)

    def is_wrong(words):
        done = cordon("fleet", "status")
        return done.returncode == 1 and words in done.stdout

    # Its lease runs out by itself, while other things are looked at.
    begin = time.monotonic()
    node.registrar.send_signal(signal.SIGKILL)
    node.registrar.wait()
    node.daemon.end(node.daemon.node, signal.SIGKILL)
    wait_until(lambda: is_wrong("1 node with a lease and without an answer: 1.2\n"), LONG, "a node that is gone is told:")
    node.daemon.start_node()
    wait_until(lambda: is_wrong("1 node without lease: 1.2\n"), LONG, "a node without its registrar is told:")
    took = time.monotonic() - begin
    node.start_registrar()
    fleet.settle()
    cordon.good("fleet", "status")
    return f"told after {took:.0f} s"


def quota(fleet):
    """A quota is set, shown, changed and removed; by operators alone."""
    cordon = at_gateway(fleet)
    equal(cordon.good("fleet", "quota").split(), ["TENANT", "TOTAL", "HOMES", "FREE"])
    equal(cordon.good("fleet", "quota", "acme", "100", "--homes", "1,2").splitlines()[1].split(), ["acme", "100", "1,2", "50"])
    equal(json.loads(cordon.good("fleet", "quota", "acme", "200", "--homes", "1", "--json"))["held"], {"1": 100})
    wait_until(lambda: cordon.good("fleet", "quota").splitlines()[1:] and "200" in cordon.good("fleet", "quota", "acme"), LONG, "shown:")
    expect("CORDON-API-DENIED" in cordon.refused(1, "fleet", "quota", "acme", "9", "--homes", "1", CORDON_TOKEN=fleet.mint("--tenant", "acme")))
    # Nobody counts for it here: this fleet has no index.
    away = cordon.refused(5, "create", CORDON_TOKEN=fleet.mint("--tenant", "acme"))
    expect("CORDON-FLEET-QUOTA-AWAY" in away and "cordon-index" in away, away)
    expect("no quota" in cordon.good("fleet", "quota", "acme", "--remove"))
    wait_until(lambda: cordon("fleet", "quota", "acme").returncode == 4, LONG, "it is gone:")
    cordon.good("kill", *made(cordon, fleet.mint("--tenant", "acme"), 1), CORDON_TOKEN=fleet.mint("--tenant", "acme"))


CHECKS = {check.__name__: check for check in (list_of_nodes, drain, names, single, quota, status)}


if __name__ == "__main__":
    sys.exit(run(CHECKS, lambda programs: Fleet(programs, nodes=2, gateways=1)))
