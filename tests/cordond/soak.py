# SPDX-License-Identifier: Apache-2.0
"""Mixed load with faults for a while: `soak.py PROGRAMS [--seconds N] [--clients N]`. At the end a node and its launcher have the memory, descriptors and
threads that they had after the first fifth of it. 77: needs root."""
import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import signal
import sys
import threading
import time

from api import expect
from churn import descendants, held, settled
from daemon import Daemon

QUOTA = '[quota]\nsandboxes = 1000\ncreates_per_second = 100000\nmemory = "10000Gi"\ncpus = "4096"\n'
MOST_GROWTH = 1.05
GIVES_BACK = 31
SHORT = {"timeout_seconds": 20}


def resident(pid):
    """Of a process's own: what it shares with its programs' files comes and goes with the machine's memory."""
    with open(f"/proc/{pid}/status") as file:
        return int(file.read().split("RssAnon:")[1].split()[0])


class Clients:
    def __init__(self, node):
        self.node, self.stop, self.wrong = node, threading.Event(), []
        self.counts, self.lock = collections.Counter(), threading.Lock()
        self.acts = (self.run, self.run, self.live, self.live, self.files, self.talk, self.leave_run, self.leave_output, self.nonsense, self.out_of_memory,
                     self.late, self.refused_network, self.death_inside)

    def work(self, seed):
        choose = random.Random(seed)
        while not self.stop.is_set():
            act = choose.choice(self.acts)
            try:
                with self.node.client(tenant=f"t{choose.randrange(4)}", timeout=60) as client:
                    act(client)
                with self.lock:
                    self.counts[act.__name__] += 1
            except Exception as error:      # told by who can fail
                self.wrong.append(f"{act.__name__}: {error!r}")
                self.stop.set()

    @staticmethod
    def good(answer, *wanted):
        expect(answer.status in (wanted or (200, 201, 204)), answer)
        return answer

    def made(self, client, **more):
        return self.good(client.ask("POST", "/v1/sandboxes", {**SHORT, **more})).json["id"]

    def run(self, client):
        expect(self.good(client.ask("POST", "/v1/run", {"command": ["printf", "x"]})).json["stdout"] == "x", "what a run wrote")

    def live(self, client):
        there = f"/v1/sandboxes/{self.made(client, labels={'a': 'b'})}"
        for number in range(5):
            got = self.good(client.ask("POST", there + "/run", {"command": ["sh", "-c", f"echo {number}; exit {number}"]})).json
            expect((got["stdout"], got["process"]["exit"]["code"]) == (f"{number}\n", number), got)
        self.good(client.ask("PATCH", there, {"labels": {"c": "d"}, "policy": {"network": {"mode": "none"}}}))
        self.good(client.ask("DELETE", there))

    def files(self, client):
        there = f"/v1/sandboxes/{self.made(client)}"
        data = os.urandom(random.randrange(1, 300_000))
        self.good(client.ask("PUT", f"{there}/files?path=/workspace/d/f&parents=true", data))
        expect(self.good(client.ask("GET", f"{there}/files?path=/workspace/d/f")).body == data, "what a file had")
        self.good(client.ask("GET", f"{there}/tree?path=/workspace/d"))
        self.good(client.ask("DELETE", there))

    def talk(self, client):
        there = f"/v1/sandboxes/{self.made(client)}"
        process = f"{there}/processes/{self.good(client.ask('POST', there + '/processes', {'command': ['cat']})).json['process']}"
        self.good(client.ask("POST", process + "/input?end=true", b"said\n"))
        said = "".join(line.get("data", "") for line in client.lines(process + "/output"))
        expect(said == "said\n", said)
        self.good(client.ask("DELETE", there))

    def leave_run(self, client):
        client.connection.request("POST", "/v1/run", body=json.dumps({"command": ["sleep", "100"], "timeout_seconds": 30}), headers=client.fields)
        time.sleep(random.random() * 0.2)

    def leave_output(self, client):
        there = f"/v1/sandboxes/{self.made(client)}"
        process = f"{there}/processes/{self.good(client.ask('POST', there + '/processes', {'command': ['yes']})).json['process']}"
        client.open(process + "/output").read(100_000)
        client.connection.close()
        self.good(client.ask("DELETE", there))

    def nonsense(self, client):
        for path, body in (("/v1/run", {"command": []}), ("/v1/sandboxes", {"policy": {"filesystem": {"root": "host"}}}), ("/v1/run", {"command": ["/nowhere"]})):
            expect(client.ask("POST", path, body).status in (200, 400), path)
        expect(client.ask("GET", "/v1/sandboxes/none").status == 404, "nobody's")

    def out_of_memory(self, client):
        script = "x=$(yes | head -c 100000000); echo ${#x}"
        got = client.ask("POST", "/v1/run", {"command": ["sh", "-c", script], "policy": {"resources": {"memory_limit": "32Mi", "disk_limit": "1Mi"}}})
        expect(self.good(got).json["verdict"]["ending"] == "memory", got)

    def late(self, client):
        got = self.good(client.ask("POST", "/v1/run", {"command": ["sleep", "100"], "timeout_seconds": 1})).json
        expect(got["verdict"]["ending"] == "wall_time", got)

    def refused_network(self, client):
        policy = {"network": {"mode": "restricted", "egress_allowlist": ["nowhere.example:443"]}}
        self.good(client.ask("POST", "/v1/run", {"command": ["sh", "-c", "exit 0"], "policy": policy}))

    def death_inside(self, client):
        """Somebody kills a sandbox's first process from outside."""
        sandbox, mark = self.made(client), str(random.randrange(10**8, 10**9))      # others do the same meanwhile
        process = self.good(client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["sleep", mark]})).json
        expect(process["state"] == "running", process)
        for pid in descendants(self.node.launcher.pid):
            with contextlib.suppress(OSError):
                if f"sleep\0{mark}".encode() in open(f"/proc/{pid}/cmdline", "rb").read():
                    os.kill(int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
                    break
        until = time.monotonic() + 20
        while client.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"] == "running":
            expect(time.monotonic() < until, "a sandbox lives on without its first process")
            time.sleep(0.05)


def measured(node):
    """When nothing is under way any more, and the node has had its half minute to give back what is free."""
    until = time.monotonic() + 60
    with node.client() as client:
        while client.ask("GET", "/v1/sandboxes").json["sandboxes"]:
            expect(time.monotonic() < until, "sandboxes live on")
            time.sleep(0.2)
    counts = settled(node)
    time.sleep(GIVES_BACK)
    return counts, {"cordond": resident(node.node.pid), "launcher": resident(node.launcher.pid)}


def spell(node, clients, seconds, seed):
    load = Clients(node)
    threads = [threading.Thread(target=load.work, args=(seed + number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    load.stop.wait(seconds)
    load.stop.set()
    for thread in threads:
        thread.join()
    expect(not load.wrong, *load.wrong[:3])
    return load.counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, for the launcher")
        sys.exit(77)
    print(f"seed {options.seed}", flush=True)
    with Daemon(options.programs, settings=QUOTA, floor="sandboxes_ahead = 8\n") as node:
        spell(node, options.clients, options.seconds / 5, options.seed)
        before, memory = measured(node)
        print(f"after the first fifth: {memory}", flush=True)
        done = spell(node, options.clients, options.seconds * 4 / 5, options.seed + 1000)
        after, now = measured(node)
        print(f"at the end: {now}, after {sum(done.values())} acts: {dict(done)}", flush=True)
        for name in set(before) | set(after):
            if name != "groups":
                expect(abs(after[name] - before[name]) <= 2, name, "had", before[name], "and has", after[name])
        for name in memory:
            expect(now[name] <= memory[name] * MOST_GROWTH, name, "has grown from", memory[name], "KiB to", now[name])
    print("ok")


if __name__ == "__main__":
    main()
