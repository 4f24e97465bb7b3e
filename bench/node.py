#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node through its API, over its Unix socket: one command in one request and in four, exec in a living sandbox, many clients at once, and
thousands of sandboxes; beside bare posix_spawn, and beside docker and podman where they run."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.path.insert(0, str(HERE.parent / "tests/cordond"))
sys.dont_write_bytecode = True

from daemon import Daemon   # noqa: E402
from places import find_programs, holds   # noqa: E402

QUOTA = """
[quota]
sandboxes = 10000
creates_per_second = 100000
memory = "100000Gi"
"""
GAPS = (0, 30)      # milliseconds between two calls
AHEAD = "networks_ahead = 16\ngroups_ahead = 64\nsandboxes_ahead = 64\n"


def resident(pid):
    """KiB that only this process has."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss_Anon:"):
            return int(line.split()[1])
    raise RuntimeError("no Pss_Anon")


class Client:
    def __init__(self, programs, node):
        self.program, self.socket = programs.parent / "bench/bench_api_client", node.socket

    def __call__(self, order, *words):
        said = subprocess.run([self.program, order, self.socket, *map(str, words)], capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(said.stderr)
        return json.loads(said.stdout)


def made(node):
    with node.client() as client:
        return client.ask("POST", "/v1/sandboxes", {"timeout_seconds": 3600}).json["id"]


def show(what, row, bare):
    print(f"{what:<22} p50 {row['p50']:7.0f} us   p99 {row['p99']:7.0f} us   {row['p50'] / bare['p50']:5.2f} x bare", flush=True)


def latency(programs, rounds):
    with Daemon(programs, settings=QUOTA, floor=AHEAD, ranges=512) as node:
        ask, sandbox = Client(programs, node), made(node)
        ask("turns", 50, sandbox, 0)       # the first ones
        found = {"alone": ask("exec", rounds, sandbox)}     # while no sandbox comes or goes
        show("exec alone", found["alone"]["exec"], found["alone"]["bare"])
        for gap in GAPS:
            got = found[gap] = ask("turns", rounds if gap == 0 else rounds // 5, sandbox, gap)
            for name, row in got.items():
                show(f"{gap:2} ms  {name}", row, got["bare"])
    return found


def load(programs, clients, seconds):
    with Daemon(programs, settings=QUOTA, floor=AHEAD, ranges=1024) as node:
        ask = Client(programs, node)
        ask("load", 4, 1)
        got = ask("load", clients, seconds)
    print(f"{clients} clients: {got['per_second']:.0f} create+run+destroy a second, {got['errors']} errors, "
          f"p50 {got['run']['p50'] / 1000:.1f} ms, p99 {got['run']['p99'] / 1000:.1f} ms", flush=True)
    return got


def many(programs, count):
    with Daemon(programs, settings=QUOTA, floor=AHEAD, ranges=count + 300) as node:
        ask, sandbox = Client(programs, node), made(node)
        empty = ask("exec", 300, sandbox)
        ask("fill", 20)
        before = resident(node.node.pid)
        began = time.monotonic()
        created = ask("fill", count - 21)
        took = time.monotonic() - began
        time.sleep(3)
        each = (resident(node.node.pid) - before) / (count - 21)
        listed = ask("list", 200)
        full = ask("exec", 300, sandbox)
        ended = time.monotonic()
    ended = time.monotonic() - ended
    got = {"count": count, "KiB_each": each, "list_ms": listed["list"]["p50"] / 1000, "create_us": created["create"]["p50"],
           "exec_to_empty": (full["exec"]["p50"] / full["bare"]["p50"]) / (empty["exec"]["p50"] / empty["bare"]["p50"]),
           "fill_seconds": took, "end_seconds": ended}
    print(f"{count} living: cordond {each:.1f} KiB each, list p50 {got['list_ms']:.2f} ms, exec {got['exec_to_empty']:.2f} x of an empty node's, "
          f"made in {took:.1f} s", flush=True)
    return got


def peers(image, rounds=15):
    """`docker run` and `podman run` of true, where they run: from the root that our sandboxes have."""
    found = {}
    for name in ("docker", "podman"):
        if not shutil.which(name):
            continue
        packed = subprocess.Popen(["tar", "-C", image, "-c", "."], stdout=subprocess.PIPE)
        imported = subprocess.run([name, "import", "-", "cordon-bench"], stdin=packed.stdout, capture_output=True)
        packed.stdout.close()
        packed.wait()
        words = [name, "run", "--rm", "--network=none", "cordon-bench", "/usr/bin/true"]
        if imported.returncode or subprocess.run(words, capture_output=True).returncode:
            print(f"{name}: does not run here", flush=True)
            continue
        samples = []
        for _ in range(rounds):
            begin = time.perf_counter()
            subprocess.run(words, capture_output=True, check=True)
            samples.append((time.perf_counter() - begin) * 1e6)
        found[name] = statistics.median(samples)
        print(f"{name} run    p50 {found[name]:7.0f} us", flush=True)
        subprocess.run([name, "rmi", "cordon-bench"], capture_output=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench node: a service needs root")
    programs = find_programs("node", options.programs)
    turns = latency(programs, options.rounds)
    busy = load(programs, 64, options.seconds)
    living = many(programs, options.count)
    with Daemon(programs) as node:
        others = peers(node.root)
    bare = turns[0]["bare"]["p50"]
    figures = {"run_to_bare": turns[0]["run"]["p50"] / bare, "four_calls_to_bare": turns[0]["four_calls"]["p50"] / bare,
               "exec_to_bare": turns[0]["exec"]["p50"] / bare, "runs_per_second": busy["per_second"], "errors": busy["errors"],
               "list_ms": living["list_ms"], "KiB_each": living["KiB_each"], "exec_among_many": living["exec_to_empty"]}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"turns": turns, "load": busy, "many": living, "peers": others, "figures": figures}, indent=1) + "\n")
    if options.check:
        sys.exit(0 if holds("node", figures) else 1)


if __name__ == "__main__":
    main()
