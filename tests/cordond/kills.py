# SPDX-License-Identifier: Apache-2.0
"""kill -9 of cordond, of its launcher, of egress and broker at random, under load: `kills.py PROGRAMS [--kills N] [--seed S]`. Nothing of a sandbox is
left behind, no byte of output is lost or doubled, no exit is lost, names keep their addresses, and the living are back in two seconds. 77: needs root."""
import argparse
import contextlib
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import uuid

from api import equal, expect
from daemon import Daemon
from faults import ask_until, bonds, left_of, rows
from life import within

LIVING, WITH_NETWORK = 6, 2
HOST = "keeps.example"
POLICY = {"network": {"mode": "restricted", "egress_allowlist": [f"{HOST}:443"]}, "credentials": {"mode": "just_in_time", "grants": [
    {"name": "test", "env": "TOKEN", "from": "secret:kept", "host": HOST, "header": "Authorization: Bearer {secret}"}]}}
VICTIMS = ("cordond",) * 9 + ("launcher",) * 5 + ("cordon-egress",) * 3 + ("cordon-broker",) * 3
QUOTA = '[quota]\nsandboxes = 1000\ncreates_per_second = 10000\nmemory = "1000Gi"\ncpus = "1000"\n'


class Load:
    """What clients do meanwhile."""

    def __init__(self, node, mark):
        self.node, self.mark = node, mark
        self.stop, self.wrong, self.ids = threading.Event(), [], set()
        self.bytes = self.exits = self.runs = self.created = self.asked = 0
        self.addresses = {}      # of HOST, by sandbox

    def ask(self, method, path, body=None, fields=None, wanted=(200, 201, 204)):
        return ask_until(self.node, 30, (method, path, body, fields), wanted)

    def guarded(self, work):
        try:
            while not self.stop.is_set():
                work()
        except Exception as error:      # told by who can fail
            self.wrong.append(error)

    def follow(self, sandbox):
        """One process to its end: what it writes, byte for byte, whoever dies meanwhile."""
        lines, code = random.randrange(2_000, 40_000), random.randrange(1, 100)
        process = self.start(sandbox, ["sh", "-c", f"seq 1 {lines}; exit {code}", self.mark])
        path = f"/v1/sandboxes/{sandbox}/processes/{process}"
        got, until = b"", time.monotonic() + 60
        while (more := self.read_on(path, len(got))) is not None:
            got += more
            expect(time.monotonic() < until, "no end of", path, "after", len(got), "bytes")
        wanted = "".join(f"{n}\n" for n in range(1, lines + 1)).encode()
        expect(got == wanted, "output is not what was written:", len(got), len(wanted))
        equal(self.ask("GET", f"{path}/wait").json["exit"]["code"], code, "exit")
        self.ask("POST", f"{path}/acknowledge?stdout={len(got)}")
        self.bytes, self.exits = self.bytes + len(got), self.exits + 1

    def read_on(self, path, begin):
        """What comes until the connection breaks; nothing: it was all."""
        got = b""
        try:
            with self.node.client(tenant="a", timeout=10) as client:
                answer = client.open(f"{path}/output?stdout={begin}&acknowledge=client")
                if answer.status == 503:
                    time.sleep(0.02)
                    return got
                equal(answer.status, 200, path, answer.status)
                for line in answer:
                    event = json.loads(line)
                    if event["event"] == "stdout":
                        equal(event["offset"], begin + len(got), "offset")
                        got += event["data"].encode()
                    elif event["event"] == "exit":
                        return got or None
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            time.sleep(0.02)
        return got

    def start(self, sandbox, command):
        """Until one is answered; one that was begun without an answer runs to its end by itself."""
        return self.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": command}).json["process"]

    def run(self):
        """May fail while somebody dies, and leaves nothing."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            with self.node.client(tenant="a", timeout=10) as client:
                said = client.ask("POST", "/v1/run", {"command": ["printf", "x"]})
                if said.status == 200 and said.json["verdict"]["ending"] == "exit":     # else it died with its launcher
                    equal(said.json["stdout"], "x")
                    self.runs += 1

    def address(self, sandbox):
        """Of the host that it may reach, until there is one: the first is the one for ever."""
        until = time.monotonic() + 20
        while True:
            said = self.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["getent", "ahostsv4", HOST]}).json
            if said["process"].get("exit", {}).get("code") == 0:
                break
            expect(time.monotonic() < until, "no network for 20 s:", said)
        address = said["stdout"].split()[0]
        equal(address, self.addresses.setdefault(sandbox, address), "address")
        self.asked += 1

    def come_and_go(self):
        key = uuid.uuid4().hex
        sandbox = self.ask("POST", "/v1/sandboxes", {"timeout_seconds": 300}, {"Idempotency-Key": key}).json["id"]
        self.ids.add(sandbox)
        self.ask("DELETE", f"/v1/sandboxes/{sandbox}", wanted=(200, 404, 410))
        self.created += 1


def kill_one(node, load, living):
    """Gives how long it took until all were there again, and until they had their network."""
    victim = random.choice(VICTIMS)
    time.sleep(random.random() * 0.4)
    before = bonds(node)
    began = time.monotonic()
    if victim == "launcher":
        node.end(node.launcher, signal.SIGKILL)
        node.start_launcher()
    else:
        pid = node.node_pid() if victim == "cordond" else next(iter(node.pids_of(victim)), None)
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    listed = {each["id"] for each in load.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]}
    took = time.monotonic() - began
    expect(living <= listed, "a", victim, "died, and with it", living - listed)
    for sandbox in load.addresses:
        load.address(sandbox)
    if victim in ("cordond", "launcher"):
        within(10, "a node for the launcher", lambda: bonds(node) > before)     # a second death before that may take all along
    return victim, took, time.monotonic() - began


def torment(node, kills):
    """C217, for the node's processes: deaths at random while sandboxes are made, used and ended; 500 in `./dev full`."""
    load = Load(node, f"mark{uuid.uuid4().int % 10**9}")
    load.ask("PUT", "/v1/secrets/kept", "a secret")
    living = {load.ask("POST", "/v1/sandboxes", {"timeout_seconds": 3600}).json["id"] for _ in range(LIVING - WITH_NETWORK)}
    for _ in range(WITH_NETWORK):
        load.address(load.ask("POST", "/v1/sandboxes", {"timeout_seconds": 3600, "policy": POLICY}).json["id"])
    living |= set(load.addresses)
    work = [lambda at=each: load.follow(at) for each in living] + [load.run, load.run, load.come_and_go, load.come_and_go]
    threads = [threading.Thread(target=load.guarded, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    times = {victim: [] for victim in VICTIMS}
    networks = []
    try:
        for number in range(kills):
            victim, took, network = kill_one(node, load, living)
            times[victim].append(took)
            networks.append(network)
            if took > 2:
                print(f"slow: {victim}, {took:.2f} s\n{node.log('launcher')[-2500:]}", flush=True)
            expect(not load.wrong, *load.wrong)
            if number % 50 == 49:
                print(f"{number + 1} kills: {load.exits} processes followed, {load.bytes / 1e6:.0f} MB, {load.created} came and went, {load.runs} runs", flush=True)
    except BaseException as error:
        print("FAIL", error, flush=True)
        raise
    finally:
        load.stop.set()
        for thread in threads:
            thread.join(90)
    expect(not load.wrong, *load.wrong)
    for each in load.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
        load.ask("DELETE", f"/v1/sandboxes/{each['id']}", wanted=(200, 404, 410))
    within(10, "the end of all", lambda: load.ask("GET", "/v1/sandboxes").json["sandboxes"] == [])
    within(15, "nothing is left", lambda: not left_of(living | load.ids, load.mark))
    within(5, "a journal that is right", lambda: all(life == 2 for _, life in rows(node)))
    equal(os.listdir(node.base / "state/authorities"), [], "files")
    every = sorted(took for each in times.values() for took in each)
    slowest = every[-1]
    print(f"back after {every[len(every) // 2]:.2f} s (half of them), {every[len(every) * 99 // 100]:.2f} s (99 of 100), {slowest:.2f} s (all); "
          f"with their networks after {sorted(networks)[len(networks) // 2]:.2f} s, {max(networks):.2f} s (all)")
    expect(slowest <= 2, "adoption took", slowest)
    whom = ", ".join(f"{len(each)} of {victim}" for victim, each in times.items())
    return (f"{kills} kills ({whom}): {load.exits} exits, {load.bytes / 1e6:.1f} MB, {load.created} came and went, {load.runs} runs, "
            f"{load.asked} addresses asked for; all back after {slowest:.2f} s at most")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, for the launcher")
        sys.exit(77)
    random.seed(options.seed)
    print("seed", options.seed, flush=True)
    with tempfile.TemporaryDirectory(prefix="cordon-secrets-", dir="/var/tmp") as secrets, \
         Daemon(options.programs, settings=QUOTA, floor=f"sandboxes_ahead = 4\ngroups_ahead = 8\nsecrets = {secrets}\n", supervised=True,
                tools=("/usr/bin/getent",)) as node:
        try:
            print(torment(node, options.kills))
        except BaseException:
            print(node.log("launcher"))
            raise


if __name__ == "__main__":
    main()
