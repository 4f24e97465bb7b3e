# SPDX-License-Identifier: Apache-2.0
"""C132: sandboxes come and go, and many lie idle: `churn.py PROGRAMS [--times N] [--idle N]`. Of all that a node and its launcher hold nothing
grows with their number. 77: needs root."""
import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import sys
import time

from api import equal, expect, made
from daemon import Daemon

CLIENTS = 6
QUOTA = '[quota]\nsandboxes = 10000\ncreates_per_second = 100000\nmemory = "100000Gi"\ncpus = "4096"\n'
NETWORK = {"policy": {"network": {"mode": "restricted", "egress_allowlist": ["example.com"]}}}


def held(node):
    """What both programs hold, by kind: descriptors, threads, children, mounts, groups; and whose the ids in use are."""
    counts = collections.Counter()
    for name, pid in (("launcher", node.launcher.pid), ("cordond", node.node.pid)):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                kind = os.readlink(f"/proc/{pid}/fd/{number}").split(":")[0]
                counts[f"{name}: {kind if not kind.startswith('/') else 'files'}"] += 1
        counts[f"{name}: threads"] = len(os.listdir(f"/proc/{pid}/task"))
        counts[f"{name}: mounts"] = len(pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines())
    counts["processes"] = len(descendants(node.launcher.pid))
    for _, names, _ in os.walk("/sys/fs/cgroup"):
        counts["groups"] += sum(str(node.launcher.pid) in name or "cordon-ae" in name for name in names)
    return counts


def descendants(top):
    parents = collections.defaultdict(list)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            parents[int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])].append(int(pid))
    found, wanted = [], [top]
    while wanted:
        children = parents[wanted.pop()]
        found += children
        wanted += children
    return found


def settled(node):
    """When it has stood still for a second: what is made ahead has been made."""
    before, since, until = held(node), time.monotonic(), time.monotonic() + 30
    while time.monotonic() - since < 1:
        expect(time.monotonic() < until, "what the node holds never stands still:", before)
        time.sleep(0.2)
        now = held(node)
        if now != before:
            before, since = now, time.monotonic()
    return before


def come_and_go(node, times):
    with node.client(tenant="a", timeout=60) as client:
        for number in range(times):
            if number % 3 == 0:
                said = client.ask("POST", "/v1/run", {"command": ["/bin/true"]})
                equal([said.status, said.json["verdict"]["ending"]], [200, "exit"], said)
                continue
            sandbox = made(client, NETWORK if number % 3 == 1 else {})
            said = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["/bin/sleep", "100"]})
            equal(said.status, 201, said)
            equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)


def lie_idle(node, count, before):
    with node.client(tenant="a", timeout=60) as client:
        sandboxes = [made(client) for _ in range(count)]
        # Else nothing that leaks would be seen either.
        now = held(node)
        for kind in ("processes", "groups", "launcher: socket", "cordond: socket"):
            expect(now[kind] - before[kind] > count // 2, count, "that live are not seen among", kind, before[kind], now[kind])
        for sandbox in sandboxes:
            equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)


def at_once(work, node, times):
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        for done in [clients.submit(work, node, times // CLIENTS) for _ in range(CLIENTS)]:
            done.result()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--times", type=int, default=240)
    parser.add_argument("--idle", type=int, default=60)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit(77)
    with Daemon(options.programs, settings=QUOTA, ranges=options.idle + 300) as node:
        at_once(come_and_go, node, 36)      # the first of each kind
        before = settled(node)
        began = time.monotonic()
        at_once(come_and_go, node, options.times)
        took = time.monotonic() - began
        lie_idle(node, options.idle, before)
        at_once(come_and_go, node, 36)
        after = settled(node)
    grown = {kind: (before[kind], count) for kind, count in after.items() if count - before[kind] > options.times // 12}
    equal(grown, {}, "grows with the number of sandboxes")
    changed = {kind: count - before[kind] for kind, count in after.items() if count != before[kind]}
    print(f"{options.times} came and went in {took:.1f} s, {options.idle} lay idle; of {sum(after.values())} things that are held, otherwise: {changed}")


if __name__ == "__main__":
    main()
