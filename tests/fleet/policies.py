# SPDX-License-Identifier: Apache-2.0
"""The policy of all nodes, with real ones: `policies.py PROGRAMS [--times N] [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import argparse
import contextlib
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback

from cluster import equal, expect, wait_until
from parties import Fleet, missing

LONG = 60       # seconds that nothing here takes
SOAK = 1
FILES = {"command": ["/bin/sh", "-c", "ulimit -n"]}


def release(files):
    """A release of which a sandbox tells: how many files it may have open."""
    return f"[ceiling.resources]\nopen_files = {files}\n"


class Cli:
    """`cordon fleet policy`, at a gateway; as root, who needs no token there."""

    def __init__(self, fleet):
        self.program, self.place = fleet.programs / "cordon", fleet.base
        self.environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "CORDON_NODE": fleet.gateways[0].socket}

    def words(self, *words):
        return [self.program, "fleet", *map(str, words)]

    def __call__(self, *words):
        return subprocess.run(self.words(*words), capture_output=True, text=True, timeout=LONG, env=self.environment, check=False)

    def file(self, text):
        path = self.place / "release.toml"
        path.write_text(text)
        return path

    def push(self, text, *words):
        return self("policy", "push", self.file(text), "--canary", "1.1", "--soak", f"{SOAK}s", *words)

    def good(self, *words):
        done = self(*words)
        equal(done.returncode, 0, words, done)
        return done.stdout

    def stand(self):
        return json.loads(self.good("policy", "show", "--json"))


def said(node):
    """What a node says of the policy."""
    with node.client() as client:
        return client.ask("GET", "/v1/node").json["policy"]


def files_at(node, tenant="a"):
    """How many files a new sandbox of the node may have open."""
    with node.client(tenant=tenant) as client:
        ran = client.ask("POST", "/v1/run", FILES)
    equal(ran.status, 200, ran)
    return int(ran.json["stdout"])


def settled(fleet, cordon, text):
    """All nodes have this release, which is given."""
    done = cordon.push(text)
    equal(done.returncode, 0, done)
    return cordon.stand()["release"]


def client_status(node, asking):
    with node.client(tenant="b") as client:
        return client.ask("POST", "/v1/run", asking).status


class Watched:
    """When each node began to say which release it runs."""

    def __init__(self, fleet):
        self.fleet, self.first, self.ends = fleet, {node.id: {} for node in fleet.nodes}, False
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.ends:
            for node in self.fleet.nodes:
                with contextlib.suppress(OSError):
                    self.first[node.id].setdefault(said(node)["release"], time.monotonic())
            time.sleep(0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()


def pushed(fleet, _times):
    """A release narrows what every node makes from then on, and not what it made before; canaries have it first."""
    cordon, others = Cli(fleet), fleet.nodes[1:]
    before = [files_at(node) for node in fleet.nodes]
    expect(all(files > 100 for files in before), before, "the counter-arm:")
    with fleet.nodes[0].client(tenant="a") as client:
        old = client.ask("POST", "/v1/sandboxes", {}).json["id"]
        with Watched(fleet) as watched:
            done = cordon.push(release(100))
        equal(done.returncode, 0, done)
        number = cordon.stand()["release"]
        equal([files_at(node) for node in fleet.nodes], [100] * len(fleet.nodes))
        ran = client.ask("POST", f"/v1/sandboxes/{old}/run", FILES)
        equal(int(ran.json["stdout"]), before[0], "of one that was made before:")
        client.ask("DELETE", f"/v1/sandboxes/{old}")
    canary = watched.first["1.1"][number]
    behind = [watched.first[node.id][number] - canary for node in others]
    expect(all(seconds >= SOAK for seconds in behind), "behind the canary:", behind)
    for node in fleet.nodes:
        lines = [json.loads(line) for line in node.daemon.audit_lines()]
        released = [line for line in lines if line["event"] == "policy_released"]
        equal((released[-1]["number"], released[-1]["sha256"]), (number, hashlib.sha256(release(100).encode()).hexdigest()))
    expect(f"release {number} on all nodes" in cordon.good("status"))
    return f"others {min(behind):.1f} to {max(behind):.1f} s behind the canary"


def quotas(fleet, _times):
    """What a release bounds of a tenant holds on each node."""
    cordon, node = Cli(fleet), fleet.nodes[2]

    def made(count):
        with node.client(tenant="few") as client:
            answers = [client.ask("POST", "/v1/sandboxes", {}) for _ in range(count)]
            for answer in answers:
                if answer.status == 201:
                    client.ask("DELETE", f"/v1/sandboxes/{answer.json['id']}")
        return [answer.status for answer in answers]

    equal(made(2), [201, 201], "the counter-arm:")
    settled(fleet, cordon, release(100) + "[tenants.few]\nsandboxes = 1\n")
    equal(made(2), [201, 429])
    settled(fleet, cordon, release(100))
    equal(made(2), [201, 201], "no longer:")


def roles(fleet, _times):
    """Only an operator's right changes it, at a gateway and at a node."""
    node, gateway = fleet.nodes[0], fleet.gateways[0]
    for caveats, status in ((("--tenant", "a"), 403), (("--operator", "--operation", "node.drain"), 403), (("--operator", "--operation", "node.configure"), 400)):
        with gateway.client(token=fleet.mint(*caveats)) as client:
            equal(client.ask("PUT", "/v1/fleet/policy", "nonsense").status, status, caveats)
        with node.client(token=node.daemon.mint_at(node.place.name, *caveats)) as client:
            equal(client.ask("PUT", "/v1/node/policy?release=99", "nonsense").status, status, caveats)
    with gateway.client() as client:
        equal(client.ask("PUT", "/v1/node/policy?release=9", release(9)).status, 400, "one node through a gateway:")


def write(fleet, text, digest=None, with_text=True):
    """Into etcd itself, past every check that a gateway makes. The release's number."""
    stand = json.loads(fleet.etcd.control("get", "--print-value-only", "/cordon/policy/rollout"))
    number = stand["release"] + 1
    next_stand = {**stand, "release": number, "before": stand["release"] if stand["stage"] == "whole" else stand["before"], "stage": "canary", "cells": [], "since": 0, "why": "",
                  "soak": SOAK, "canaries": ["1.1"], "sha256": digest or hashlib.sha256(text.encode()).hexdigest()}
    if with_text:
        done = subprocess.run([*fleet.etcd.within[0], "etcdctl", f"--endpoints=https://{fleet.etcd.addresses[0]}:2379", f"--cacert={fleet.etcd.authority}",
                               f"--cert={fleet.etcd.root[0]}", f"--key={fleet.etcd.root[1]}", "put", f"/cordon/policy/releases/{number}"], input=text, text=True,
                              capture_output=True, env={**os.environ, "ETCDCTL_API": "3"}, check=False)
        expect(done.returncode == 0, done.stderr)
    fleet.etcd.control("put", "/cordon/policy/rollout", json.dumps(next_stand, separators=(",", ":")))
    return number


POISONS = {
    "not to be parsed": (dict(text="[ceiling\nnetwork"), "release"),
    "oversized": (dict(text="[quota]\nsandboxes = 1\n#" + "x" * 300_000), "at most 262144"),
    "an unknown key": (dict(text="[ceiling.netwrok]\nmode = \"none\"\n"), "did you mean"),
    "names a file": (dict(text="ceiling = \"/etc/cordon/not-there.toml\"\n"), "names no files"),
    "looser than the node": (dict(text="[quota]\nsandboxes = 1000\n"), "more than this node's own settings allow, 50"),
    "nothing can be made": (dict(text="[ceiling]\nisolation = \"microvm\"\n"), "could be made here"),
    "an image that is not there": (dict(text="[ceiling.filesystem]\nroot = \"image:none\"\n"), "could be made here"),
    "its text is not there": (dict(text="", with_text=False), "not in etcd"),
    "another text": (dict(text=release(90), digest="00"), "not the one that was pushed"),
    "empty": (dict(text="\n"), "says nothing"),
}


def stopped(fleet, cordon, number, before, words, done):
    """Release `number` came to the canary and no further, and all go on by `before`."""
    equal(done.returncode, 1, done)
    expect("1.1" in done.stdout and words in done.stdout, words, done)
    stand = cordon.stand()
    equal((stand["stage"], stand["release"], stand["before"]), ("stopped", number, before))
    wait_until(lambda: {said(node)["release"] for node in fleet.nodes} == {before}, 20, "all go on by the last good one:")


def poison(fleet, times):
    """A release that cannot be taken stops at the canary, whatever is wrong with it; the others never see it, and creates go on everywhere."""
    cordon, others = Cli(fleet), fleet.nodes[1:]
    before = settled(fleet, cordon, release(100))
    took = []
    for count in range(times):
        name = list(POISONS)[count % len(POISONS)]
        how, words = POISONS[name]
        begin = time.monotonic()
        with Watched(fleet) as watched:
            number = write(fleet, **how)
            done = cordon("policy", "resume")
            equal([files_at(node) for node in fleet.nodes], [100] * len(fleet.nodes), name, "creates go on:")
        stopped(fleet, cordon, number, before, words, done)
        took.append(time.monotonic() - begin)
        for node in others:
            equal(set(watched.first[node.id]), {before}, name, "what", node.id, "ever ran:")
            expect("refused" not in said(node) or said(node)["refused"]["release"] != number, name, said(node))
        status = cordon("status")
        equal(status.returncode, 1, status)
        expect(f"release {number} of the policy was stopped" in status.stdout, name, status)
    # The counter-arm: what is well gets everywhere, behind all that was not.
    number = settled(fleet, cordon, release(101))
    equal({said(node)["release"] for node in fleet.nodes}, {number})
    cordon.good("status")
    return f"{times} of {len(POISONS)} kinds, each stopped within {max(took):.1f} s"


def checked_before(fleet, _times):
    """What a gateway or the command finds wrong is pushed nowhere."""
    cordon = Cli(fleet)
    before = cordon.stand()["release"]
    done = cordon.push("[ceiling.netwrok]\n")
    equal(done.returncode, 1, done)
    expect("did you mean" in done.stderr, done)
    with fleet.gateways[0].client() as client:
        answer = client.ask("PUT", "/v1/fleet/policy", "[ceiling.netwrok]\n")
        expect(answer.status == 400 and "did you mean" in answer.json["detail"], answer)
        answer = client.ask("PUT", "/v1/fleet/policy?canary=1.9", release(50))
        expect(answer.status == 404 and "1.9" in answer.json["detail"], answer)
    equal(cordon.stand()["release"], before)
    equal(cordon("policy", "check", cordon.file(release(50))).returncode, 0)


def turned_away(fleet, _times):
    """A release under which a canary turns away what was made before stops there, unless that was wanted."""
    cordon, node = Cli(fleet), fleet.nodes[0]
    before = settled(fleet, cordon, release(100))
    config = node.daemon.config.read_text()
    node.daemon.config.write_text(config + f'[images.second]\ndir = "{node.daemon.root}"\n')
    node.daemon.end(node.daemon.node)
    node.daemon.start_node()
    fleet.settle()
    text = release(100) + "[ceiling.filesystem]\nroot = \"image:small\"\n"
    asking = {"command": ["true"], "policy": {"filesystem": {"root": "image:second"}}}
    with node.client(tenant="b") as client:
        equal(client.ask("POST", "/v1/run", asking).status, 200, "the counter-arm:")
        for words, code in ((("--may-turn-away",), 0), ((), 1)):
            with subprocess.Popen(cordon.words("policy", "push", cordon.file(text), "--canary", "1.1", "--soak", "3s", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=cordon.environment) as push:
                wait_until(lambda: said(node)["release"] > before, 20, "the canary has it:")
                expect(client.ask("POST", "/v1/run", asking).status != 200, "turned away by it:")
                equal(client.ask("POST", "/v1/run", FILES).status, 200, "who asks for nothing:")
                out, err = push.communicate(timeout=LONG)
            equal(push.returncode, code, words, out, err)
            if code == 0:
                before = settled(fleet, cordon, release(100))
    expect("has turned away" in out, out, err)
    wait_until(lambda: {said(each)["release"] for each in fleet.nodes} == {before}, 20, "all go on by the last good one:")
    equal(client_status(node, asking), 200, "behind it:")
    node.daemon.config.write_text(config)


def writer_dies(fleet, times):
    """Who pushed dies in the middle: the same push goes on, or it is taken back."""
    cordon = Cli(fleet)
    before = settled(fleet, cordon, release(100))
    for count in range(max(1, times // 5)):
        text = release(60 + count)
        with subprocess.Popen(cordon.words("policy", "push", cordon.file(text), "--canary", "1.1", "--soak", "2s"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=cordon.environment) as push:
            wait_until(lambda: said(fleet.nodes[0])["release"] > before, 20, "the canary has it:")
            push.kill()
        number = cordon.stand()["release"]
        time.sleep(3)
        equal([said(node)["release"] for node in fleet.nodes], [number, before, before], "nobody moves it on:")
        other = cordon.push(release(40))
        expect(other.returncode != 0 and "is being rolled out" in other.stderr, other)
        if count % 2 == 0:
            done = cordon.push(text)
            equal(done.returncode, 0, done)
            equal({said(node)["release"] for node in fleet.nodes}, {number})
            before = number
        else:
            cordon.good("policy", "rollback")
            wait_until(lambda: {said(node)["release"] for node in fleet.nodes} == {before}, 20, "all are back:")
    # Also what is whole is taken back.
    number = settled(fleet, cordon, release(70))
    cordon.good("policy", "rollback")
    wait_until(lambda: {said(node)["release"] for node in fleet.nodes} == {before}, 20, "all are back:")
    cordon.good("status")


def gone(fleet):
    for number in range(3):
        fleet.etcd.members[number].kill()
        fleet.etcd.members[number].wait()


def back(fleet):
    for number in range(3):
        fleet.etcd.start(number)
    wait_until(lambda: all(fleet.etcd.is_healthy(number) for number in range(3)), 30, "etcd is back:")
    fleet.settle(60)


def without_etcd(fleet, _times):
    """A node that is started while etcd is away holds the last good one; a file that is not as it kept it is told, and its own settings hold."""
    cordon, node = Cli(fleet), fleet.nodes[1]
    number = settled(fleet, cordon, release(80))
    gone(fleet)
    try:
        node.daemon.end(node.daemon.node, signal.SIGKILL)
        node.daemon.start_node()
        equal((said(node)["release"], files_at(node)), (number, 80))
        node.daemon.end(node.daemon.node)
        with contextlib.closing(sqlite3.connect(node.daemon.base / "state/journal")) as journal:
            journal.execute("UPDATE release SET text = ?", (release(5000),))
            journal.commit()
        for file in (node.daemon.base / "state").glob("journal*"):
            os.chown(file, node.daemon.uid, node.daemon.uid)
        node.daemon.start_node()
        told = said(node)
        equal((told["release"], told["refused"]["release"]), (0, number), told)
        expect("not as this node kept it" in told["refused"]["why"], told)
        expect(files_at(node) > 100, "its own settings:")
    finally:
        back(fleet)
    wait_until(lambda: said(node)["release"] == number, 20, "it has it again from etcd:")
    equal(files_at(node), 80)
    expect("refused" not in said(node), said(node))


def data_is_lost(fleet, _times):
    """A rollout that is gone from etcd, or that nobody can read, loosens nothing."""
    cordon = Cli(fleet)
    number = settled(fleet, cordon, release(80))
    kept = fleet.etcd.control("get", "--print-value-only", "/cordon/policy/rollout").strip()
    for act in (("del", "/cordon/policy/", "--prefix"), ("put", "/cordon/policy/rollout", "nonsense")):
        fleet.etcd.control(*act)
        time.sleep(2)
        equal({said(node)["release"] for node in fleet.nodes}, {number}, act)
        equal(files_at(fleet.nodes[2]), 80)
    fleet.etcd.control("del", "/cordon/policy/rollout")
    later = settled(fleet, cordon, release(81))
    expect(later > number, later, number)
    return f"release {number} held, {later} behind it; {len(kept)} bytes of state"


CHECKS = {check.__name__: check for check in (pushed, quotas, roles, checked_before, poison, turned_away, writer_dies, without_etcd, data_is_lost)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--times", type=int, default=3, help="how often each fault")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, for nodes and networks")
        sys.exit(77)
    if absent := missing():
        print(f"skipped: no {', '.join(absent)}")
        sys.exit(77)
    if unknown := set(options.names) - set(CHECKS):
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    failed = False
    begin = time.monotonic()
    with Fleet(options.programs, nodes=3, gateways=1, node_settings="[quota]\nsandboxes = 50\n") as fleet:
        print(f"a fleet of three nodes and a gateway: {time.monotonic() - begin:.1f} s", flush=True)
        for name, check in CHECKS.items():
            if options.names and name not in options.names:
                continue
            begin = time.monotonic()
            try:
                word, told = "pass", check(fleet, options.times) or ""
            except Exception:
                print(fleet.log())
                word, told, failed = "FAIL", "\n" + traceback.format_exc(limit=-3), True
            print(f"{word}  {name:<24} {time.monotonic() - begin:6.1f} s  {told}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
