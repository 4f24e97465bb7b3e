#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a gateway costs: one command in one request, and streams, over TLS to a node and through a gateway to the same node, in turns over connections
that are kept; and what is written to etcd for new sandboxes. Gateway, node, etcd and client stand in network namespaces of their own. Needs root and etcd."""
import argparse
import json
import os
import pathlib
import socket
import ssl
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for place in ("bench/harness", "tests/fleet"):
    sys.path.insert(0, str(HERE.parent / place))
sys.dont_write_bytecode = True

from cluster import wait_until   # noqa: E402
from parties import Fleet, missing   # noqa: E402
from places import find_programs, holds, percentile   # noqa: E402

QUOTA = '[quota]\nsandboxes = 10000\ncreates_per_second = 100000\nmemory = "100000Gi"\n'
FLOOR = "networks_ahead = 0\ngroups_ahead = 32\nsandboxes_ahead = 32\nengines_ahead = 0\n"
GAPS = (0, 30)      # milliseconds between two requests
SLOTS = 200
TRUE = json.dumps({"command": ["/usr/bin/true"]}).encode()
LETTERS = "0123456789abcdef" * 64
CLIENT = "10.77.3.1"


class Wire:
    """One connection under TLS, kept. What a request costs this side is little: nothing is parsed but the length of its answer."""

    def __init__(self, fleet, party, name, token):
        context = ssl.create_default_context(cafile=str(fleet.certificates.authority))
        context.load_cert_chain(*map(str, fleet.bench_certificate))
        with fleet.network.inside("client"):
            plain = socket.create_connection((party, 8443), timeout=60)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain, server_hostname=name)
        self.fields = f"Host: {name}\r\nAuthorization: Bearer {token}\r\n"
        self.room = memoryview(bytearray(1 << 20))

    def send(self, method, path, body=b""):
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{self.fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def head(self):
        """Status, the length of the body or nothing where it comes in chunks, and what came of it."""
        text = b""
        while b"\r\n\r\n" not in text:
            text += self.more()
        head, _, rest = text.partition(b"\r\n\r\n")
        length = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        return int(head.split(b" ", 2)[1]), int(length[0]) if length else None, rest

    def more(self):
        got = self.socket.recv(1 << 16)
        if not got:
            sys.exit("bench fleet: the connection ended")
        return got

    def ask(self, method, path, body=b"", wanted=(200, 201)):
        self.send(method, path, body)
        status, length, rest = self.head()
        while len(rest) < length:
            rest += self.more()
        if status not in wanted:
            sys.exit(f"bench fleet: {method} {path}: {status} {rest[:500]!r}")
        return rest

    def stream(self, path):
        """Reads an answer of any length to its end, and gives how much it was."""
        self.send("GET", path)
        status, length, rest = self.head()
        if status != 200:
            sys.exit(f"bench fleet: GET {path}: {status} {rest[:500]!r}")
        total, tail = len(rest), rest[-8:]
        while total < length if length is not None else not tail.endswith(b"\r\n0\r\n\r\n"):
            count = self.socket.recv_into(self.room)
            if not count:
                sys.exit(f"bench fleet: GET {path} broke off after {total} bytes")
            total += count
            tail = (tail + bytes(self.room[max(0, count - 8):count]))[-8:]
        return total


def timed(act, *words):
    begun = time.perf_counter()
    got = act(*words)
    return time.perf_counter() - begun, got


def in_turns(rounds, direct, through, gap=0.0):
    """Seconds of each, one after the other; who is first changes."""
    took = {"direct": [], "through": []}
    for number in range(rounds):
        pair = [("direct", direct), ("through", through)]
        for name, act in reversed(pair) if number % 2 else pair:
            time.sleep(gap)
            took[name].append(timed(act)[0])
    return took


def runs(direct, through, rounds):
    found = {}
    for gap in GAPS:
        ask = [lambda wire=wire: wire.ask("POST", "/v1/run", TRUE) for wire in (direct, through)]
        took = in_turns(rounds if gap == 0 else rounds // 4, *ask, gap / 1000)
        rows = {name: {"p50_ms": statistics.median(values) * 1000, "p99_ms": percentile(values, 0.99) * 1000} for name, values in took.items()}
        ratio = rows["through"]["p50_ms"] / rows["direct"]["p50_ms"]
        found[gap] = {**rows, "ratio": ratio}
        print(f"{gap:2} ms  POST /v1/run   direct p50 {rows['direct']['p50_ms']:7.2f} ms, p99 {rows['direct']['p99_ms']:7.2f}   "
              f"through p50 {rows['through']['p50_ms']:7.2f} ms, p99 {rows['through']['p99_ms']:7.2f}   {ratio:.2f} x", flush=True)
    return found


def streams(direct, through, turns, mebibytes):
    """A file of the image, and what a process writes, both of a sandbox that both sides know by the same name."""
    sandbox = json.loads(through.ask("POST", "/v1/sandboxes", b"{}"))["id"]
    here = f"/v1/sandboxes/{sandbox}"
    writes = json.dumps({"command": ["/bin/sh", "-c", f"yes {LETTERS} | head -c {mebibytes << 20}"]}).encode()

    def file(wire):
        if wire.stream(f"{here}/files?path=/large") < mebibytes << 20:
            sys.exit("bench fleet: the file was not whole")

    def output(wire):
        process = json.loads(wire.ask("POST", f"{here}/processes", writes))["process"]
        if wire.stream(f"{here}/processes/{process}/output") < mebibytes << 20:
            sys.exit("bench fleet: the output was not whole")

    found = {}
    for name, act in (("file", file), ("output", output)):
        in_turns(1, lambda: act(direct), lambda: act(through))
        took = in_turns(turns, lambda: act(direct), lambda: act(through))
        rates = {side: mebibytes / statistics.median(values) for side, values in took.items()}
        found[name] = {**rates, "ratio": rates["through"] / rates["direct"]}
        print(f"{name:<22} direct {rates['direct']:7.1f} MiB/s   through {rates['through']:7.1f} MiB/s   {found[name]['ratio']:.2f} x", flush=True)
    through.ask("DELETE", here)
    return found


def writes(fleet, through, creates):
    """Writes to etcd while sandboxes come and go; and while a node is drained and goes on, which it must hear of."""
    time.sleep(11)      # a node looks every ten seconds at most whether it has something to say
    before = fleet.etcd.revision()
    for _ in range(creates):
        sandbox = json.loads(through.ask("POST", "/v1/sandboxes", b"{}"))["id"]
        through.ask("DELETE", f"/v1/sandboxes/{sandbox}")
    time.sleep(11)
    of_creates, before = fleet.etcd.revision() - before, fleet.etcd.revision()
    with fleet.nodes[0].client() as operator:
        operator.ask("POST", "/v1/node/drain")
        wait_until(lambda: fleet.etcd.revision() > before, 15, "etcd hears of a drain:")
        operator.ask("POST", "/v1/node/resume")
    print(f"{creates} sandboxes made and ended: {of_creates} writes to etcd; a drain: {fleet.etcd.revision() - before}", flush=True)
    return of_creates / creates


def measure(programs, options):
    with Fleet(programs, nodes=1, gateways=1, slots=SLOTS, node_settings=QUOTA, floor=FLOOR, ranges=SLOTS + 64) as fleet:
        node, gateway = fleet.nodes[0], fleet.gateways[0]
        fleet.network.join("client", CLIENT)
        fleet.bench_certificate = fleet.certificates.make("bench")
        with open(node.daemon.root / "large", "wb") as large:
            large.write(os.urandom(1 << 20) * options.mebibytes)
        direct = Wire(fleet, node.place.address, node.place.name, node.daemon.mint_at(node.place.name, "--tenant", "bench"))
        through = Wire(fleet, gateway.address, f"gateway-{gateway.number}", fleet.mint("--tenant", "bench"))
        in_turns(20, lambda: direct.ask("POST", "/v1/run", TRUE), lambda: through.ask("POST", "/v1/run", TRUE))
        return {"runs": runs(direct, through, options.rounds), "streams": streams(direct, through, options.turns, options.mebibytes),
                "writes_per_create": writes(fleet, through, options.creates)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--rounds", type=int, default=400, help="requests to each side")
    parser.add_argument("--turns", type=int, default=9, help="streams from each side, of each kind")
    parser.add_argument("--mebibytes", type=int, default=64, help="of each stream")
    parser.add_argument("--creates", type=int, default=300)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench fleet: nodes and network namespaces need root")
    if absent := missing():
        sys.exit(f"bench fleet: no {', '.join(absent)}")
    programs = find_programs("fleet", options.programs)
    if not (programs / "cordon-gateway").exists():
        sys.exit(f"bench fleet: no cordon-gateway in {programs}: it is built where gRPC and protobuf are found")
    print(f"programs: {programs}", flush=True)
    found = measure(programs, options)
    figures = {"run_to_direct": found["runs"][0]["ratio"], "run_to_direct_after_30_ms": found["runs"][30]["ratio"],
               "file_to_direct": found["streams"]["file"]["ratio"], "output_to_direct": found["streams"]["output"]["ratio"],
               "etcd_writes_per_create": found["writes_per_create"]}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({**found, "figures": figures}, indent=1) + "\n")
    if options.check and not holds("fleet", figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
