#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the way out of a sandbox costs, in turns with HAProxy doing the same job for the same client and server, and with no way between
them at all; what steering adds to a network namespace; what idle and hostile sandboxes cost cordon-egress. Needs root.

The client stands in the network namespace of a sandbox of `cordon run`, and in nothing else of it: what is measured is the network."""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.dont_write_bytecode = True

from places import find_programs, percentile, promises   # noqa: E402
from processes import descendants   # noqa: E402
from world import JUDGED, NAMES, PASSED, PLAIN, SERVER, World   # noqa: E402

POLICY = f"""version = 1
[network]
egress_allowlist = [
  "{PASSED}:443",
  {{ host = "{JUDGED}", methods = ["GET"], paths = ["/small", "/v1/**"] }},
  {{ host = "{PLAIN}", port = 80, protocol = "tcp" }},
]
"""
TICK = os.sysconf("SC_CLK_TCK")


def name_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Sandbox:
    """One that sleeps; `space` is a process in its network namespace, `egress` the cordon-egress that serves it."""

    def __init__(self, world, programs):
        workspace, home = world.base / "workspace", world.base / "home"
        workspace.mkdir()
        home.mkdir()
        (home / "policy.toml").write_text(POLICY)
        script = " && ".join(f"getent ahostsv4 {name}" for name in NAMES) + " && echo ready && exec sleep 1000"
        child = world.start(*world.within(world.host), f"--wdns={workspace}", programs / "cordon", "run", "--policy", home / "policy.toml",
                            "--", "sh", "-c", script, stdout=subprocess.PIPE, text=True,
                            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(home), "LANG": "C.UTF-8"})
        addresses = {}
        for line in child.stdout:
            if line.strip() == "ready":
                break
            address, *words = line.split()
            addresses.setdefault(words[-1] if len(words) > 1 else None, address)
        if set(NAMES) - set(addresses):
            raise RuntimeError(f"the sandbox did not find its hosts: {addresses}")
        self.hosts = world.hosts("sandbox", addresses)
        World.wait(lambda: self._named(child.pid, "sleep"), "the sandbox")
        self.space, self.egress = self._named(child.pid, "sleep")[0], self._named(child.pid, "cordon-egress")[0]

    @staticmethod
    def _named(pid, name):
        return [each for each in descendants(pid) if name_of(each) == name]


class Way:
    """How the client gets to the server: the words before it, the ports there, and the process that passes bytes on, if there is one."""

    def __init__(self, name, before, ports, pid):
        self.name, self.before, self.pid = name, before, pid
        self.ports = dict(zip(("tls", "tcp", "judged"), ports))

    def run(self, *words):
        """What the client prints, and how long the processor was held by who is between."""
        begin = processor_seconds(self.pid) if self.pid else 0
        done = subprocess.run([*self.before, *[str(word) for word in words]], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {' '.join(map(str, words))}: {(done.stderr + done.stdout).strip()[-300:]}")
        return done.stdout, (processor_seconds(self.pid) if self.pid else 0) - begin


class Bench:
    def __init__(self, world, programs, ways, turns, span):
        self.world, self.ways, self.turns, self.span = world, ways, turns, int(span * 1000)
        self.client = programs.parent / "bench/bench_egress_client"
        self.figures, self.processor = {}, {}

    def in_turns(self, what, ways, unit, once):
        """`once` of each way in turns; keeps all its figures, and what one of the unit held of the processor."""
        for turn in range(self.turns):
            for way in ways if turn % 2 == 0 else reversed(ways):
                value, work, held = once(way)
                self.figures.setdefault(what, {}).setdefault(way.name, []).append(value)
                self.processor.setdefault(what, {}).setdefault(way.name, []).append(held / work * 1e6 if work else 0)
        for name, values in self.figures[what].items():
            held = percentile(self.processor[what][name], 0.5)
            print(f"{what:<34}{name:<10}{min(values):>12.1f}{percentile(values, 0.5):>12.1f}{max(values):>12.1f}  {unit:<16}{held:>9.1f}", flush=True)

    def measure(self):
        through = self.ways[:2]

        def pull(streams):
            def once(way):
                said, held = way.run(self.client, "pull", PASSED, way.ports["tls"], "/big", streams, self.span)
                told = json.loads(said)
                return told["bytes"] / told["seconds"] / 2**20, told["bytes"] / 2**20, held
            return once

        def connect(kind, name, parallel, key):
            def once(way):
                said, held = way.run(self.client, "connect", kind, name, way.ports[kind], parallel, self.span)
                told = json.loads(said)
                if told["failed"]:
                    raise RuntimeError(f"{way.name}: {told['failed']} connections failed")
                value = told["count"] / told["seconds"] if key == "rate" else told[key]
                return value, told["count"], held
            return once

        def requests(way):
            port = way.ports["judged"]
            said, held = way.run("wrk", "-t1", "-c16", f"-d{max(self.span // 1000, 1)}s", f"https://{JUDGED}:{port}/small")
            if "Non-2xx" in said or "Socket errors" in said:
                raise RuntimeError(f"{way.name}: {said.strip()[-300:]}")
            count = int(re.search(r"(\d+) requests in", said)[1])
            return float(re.search(r"Requests/sec:\s*([\d.]+)", said)[1]), count, held

        self.in_turns("passed TLS, one stream", through, "MiB/s", pull(1))
        self.in_turns("passed TLS, four streams", through, "MiB/s", pull(4))
        self.in_turns("connections, tcp rule", through, "/s", connect("tcp", PLAIN, 8, "rate"))
        self.in_turns("connections, passed TLS", through, "/s", connect("tls", PASSED, 8, "rate"))
        self.in_turns("judged requests, 16 at once", through, "/s", requests)
        self.in_turns("first byte of a new connection", self.ways, "us", connect("tcp", PLAIN, 1, "p50_us"))

    def ratio(self, what):
        """Of the medians."""
        ours, theirs = (percentile(self.figures[what][name], 0.5) for name in ("cordon", "haproxy"))
        return ours / theirs

    def results(self):
        latency = {name: percentile(values, 0.5) for name, values in self.figures["first byte of a new connection"].items()}
        return {"throughput_one_stream": self.ratio("passed TLS, one stream"), "throughput_four_streams": self.ratio("passed TLS, four streams"),
                "connections_tcp": self.ratio("connections, tcp rule"), "connections_tls": self.ratio("connections, passed TLS"),
                "judged_requests": self.ratio("judged requests, 16 at once"), "added_latency_us": latency["cordon"] - latency["direct"]}


def steering(programs, times):
    told = json.loads(subprocess.run([programs.parent / "bench/bench_steering", str(times)], check=True, capture_output=True, text=True, timeout=60).stdout)
    print("a network namespace: bare min {bare_min_us:.0f} p50 {bare_p50_us:.0f} us, steered min {steered_min_us:.0f} p50 {steered_p50_us:.0f} us"
          .format(**told), flush=True)
    return {"steering_us": told["steered_p50_us"] - told["bare_p50_us"]}


def crowds(world, programs, sandboxes):
    program = [*world.within(world.host), programs.parent / "bench/bench_egress_crowd", programs / "cordon-egress"]

    def told(*words):
        done = subprocess.run([*program, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)
    slow = told("slow", 2000, SERVER)
    print("2000 slow connections: cordon-egress {before_kib} to {most_kib} KiB; another sandbox's p50 {quiet_p50_us:.0f} to {beset_p50_us:.0f} us, "
          "p99 {quiet_p99_us:.0f} to {beset_p99_us:.0f} us".format(**slow), flush=True)
    idle = told("idle", sandboxes)
    print("{sandboxes} idle sandboxes: cordon-egress {before_kib} to {after_kib} KiB; {answered} of {asked} asked are answered".format(**idle), flush=True)
    # By what each takes, for as many as are promised.
    each = (idle["after_kib"] - idle["before_kib"]) / sandboxes
    return {"slow_growth_MiB": (slow["most_kib"] - slow["before_kib"]) / 1024, "slow_to_quiet": slow["beset_p50_us"] / slow["quiet_p50_us"],
            "idle_5000_MiB": (idle["before_kib"] + 5000 * each) / 1024, "idle_unanswered": idle["asked"] - idle["answered"]}


def check(results):
    """Against promises.toml; true when all hold."""
    held = True
    for name, promise in promises("egress").items():
        value = results[name]
        kept = value <= promise["most"] if "most" in promise else value >= promise["least"]
        held = held and kept
        bound = f"at most {promise['most']}" if "most" in promise else f"at least {promise['least']}"
        print(f"{'held' if kept else 'BROKEN'}: {name}: {value:.2f}, {bound}")
    return held


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each turn")
    parser.add_argument("--full", action="store_true", help="5,000 idle sandboxes instead of 1,000")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    missing = [name for name in ("haproxy", "nginx", "wrk", "curl", "openssl") if not shutil.which(name)]
    if os.geteuid() != 0 or missing:
        sys.exit("bench egress: needs root" if not missing else f"bench egress: not installed: {' '.join(missing)}")
    programs = find_programs("egress", options.programs)
    print(f"programs: {programs}\n{'':<34}{'':<10}{'min':>12}{'p50':>12}{'max':>12}  {'':<16}{'us of its processor each':>9}")
    with World() as world:
        sandbox = Sandbox(world, programs)
        ways = [Way("cordon", world.with_hosts(sandbox.space, sandbox.hosts), (443, 80, 443), sandbox.egress),
                Way("haproxy", world.with_hosts(world.host, world.hosts("haproxy", "127.0.0.1")), (8443, 8080, 9443), world.haproxy),
                Way("direct", world.with_hosts(world.host, world.hosts("direct", SERVER)), (443, 80, 443), None)]
        bench = Bench(world, programs, ways, options.turns, options.seconds)
        bench.measure()
        results = {**bench.results(), **steering(programs, 300), **crowds(world, programs, 5000 if options.full else 1000)}
    if options.json:
        told = {"turns": options.turns, "figures": bench.figures, "processor_us": bench.processor, "results": results}
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1) + "\n")
    if options.check and not check(results):
        sys.exit(1)


if __name__ == "__main__":
    main()
