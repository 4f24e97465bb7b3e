#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What code costs over the E2B face, by plain HTTP on loopback: `1+1` in a warm context, and the first result of a new sandbox beside an interpreter
that is started cold with the same imports, in such a sandbox, in turns. Needs root, python3-ipython and python3-matplotlib."""
import argparse
import http.client
import json
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for place in ("bench/harness", "tests/cordond", "tests/sdk/e2b"):
    sys.path.insert(0, str(HERE.parent / place))
sys.dont_write_bytecode = True

from daemon import Daemon   # noqa: E402
from interpreters import TOOLS, add_interpreters, are_there   # noqa: E402
from places import find_programs, holds, percentile   # noqa: E402

IMPORTS = "import IPython.core.interactiveshell, matplotlib.pyplot"
STANDS_AFTER = 5    # seconds: by then one that is started ahead has imported everything


class Client:
    """One connection, kept, as the packages keep theirs."""

    def __init__(self, port, key):
        self.connection, self.key = http.client.HTTPConnection("127.0.0.1", port, timeout=60), key

    def ask(self, method, path, body=None, fields=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json", **(fields or {})})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"bench faces: {method} {path}: {answer.status} {text[:500]!r}")
        return text

    def create(self):
        return json.loads(self.ask("POST", "/v2/sandboxes", {"templateID": "code-interpreter-v1"}, {"X-API-Key": self.key}))

    def kill(self, sandbox):
        self.ask("DELETE", f"/sandboxes/{sandbox['sandboxID']}", fields={"X-API-Key": self.key})

    def execute(self, sandbox, code):
        fields = {"E2b-Sandbox-Id": sandbox["sandboxID"], "E2b-Sandbox-Port": "49999", "E2B-Traffic-Access-Token": sandbox["trafficAccessToken"],
                  "X-Access-Token": sandbox["envdAccessToken"]}
        lines = self.ask("POST", "/execute", {"code": code}, fields).splitlines()
        return [json.loads(line) for line in lines]


def result_of(events):
    return next((event["text"] for event in events if event["type"] == "result"), None)


def timed(act):
    begun = time.perf_counter()
    said = act()
    return (time.perf_counter() - begun) * 1000, said


def warm(client, count):
    sandbox = client.create()
    times = []
    for number in range(count + 20):
        took, events = timed(lambda: client.execute(sandbox, "1+1"))
        assert result_of(events) == "2", events
        if number >= 20:
            times.append(took)
    client.kill(sandbox)
    return times


def first(client, pairs):
    """Pairs of: create and first result, and a cold interpreter in that sandbox."""
    firsts, colds = [], []
    for _ in range(2):
        client.kill(client.create())
    for _ in range(pairs):
        time.sleep(STANDS_AFTER)

        def begin():
            sandbox = client.create()
            assert result_of(client.execute(sandbox, "1+1")) == "2"
            return sandbox
        took, sandbox = timed(begin)
        firsts.append(took)
        cold = f"import subprocess, time\nt = time.perf_counter()\nsubprocess.run(['python3', '-c', '{IMPORTS}; 1+1'], check=True)\n(time.perf_counter() - t) * 1000"
        colds.append(float(result_of(client.execute(sandbox, cold))))
        client.kill(sandbox)
    return firsts, colds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", help="directory of the programs; the newest build where it is left out")
    parser.add_argument("--count", type=int, default=300, help="warm executions")
    parser.add_argument("--pairs", type=int, default=8, help="new sandboxes")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--check", action="store_true", help="fail where promises.toml is not kept")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or not are_there():
        sys.exit("bench faces: needs root, python3-ipython, python3-matplotlib and node")
    with Daemon(find_programs("faces", arguments.programs), tools=TOOLS) as node:
        add_interpreters(node)
        port = node.serve_tcp()
        with node.client(tenant="bench") as asks:
            key = asks.ask("POST", "/v1/keys", {}).json["e2b_key"]
        client = Client(port, key)
        times = warm(client, arguments.count)
        firsts, colds = first(client, arguments.pairs)
    figures = {"warm_ms": statistics.median(times), "warm_p99_ms": percentile(times, 0.99), "first_ms": statistics.median(firsts),
               "cold_ms": statistics.median(colds), "first_ratio": statistics.median(colds) / statistics.median(firsts)}
    print(f"1+1 in a warm context: p50 {figures['warm_ms']:.2f} ms, p99 {figures['warm_p99_ms']:.2f} ms ({len(times)} times)")
    print(f"first result in a new sandbox, create included: p50 {figures['first_ms']:.1f} ms; a cold interpreter with the same imports: {figures['cold_ms']:.0f} ms; "
          f"{figures['first_ratio']:.1f} x ({len(firsts)} pairs)")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(figures, indent=1))
    if arguments.check and not holds("faces", figures):
        sys.exit(1)


main()
