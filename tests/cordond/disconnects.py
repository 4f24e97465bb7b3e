# SPDX-License-Identifier: Apache-2.0
"""Much output through many disconnects: `disconnects.py PROGRAMS [--mebibytes N] [--times N]`. A client that leaves at random places and comes back
has every byte once. 77: needs root."""
import argparse
import hashlib
import json
import os
import random
import sys
import time

from api import equal, expect, made, started
from daemon import Daemon

LINE = b"0123456789abcdef\n"


def expected(size):
    digest, block = hashlib.sha256(), LINE * 65536
    for _ in range(size // len(block)):
        digest.update(block)
    digest.update((LINE * (size % len(block) // len(LINE) + 1))[:size % len(block)])
    return digest.hexdigest()


def read(node, size, times):
    places = sorted(random.randrange(size) for _ in range(times))
    with node.client(tenant="a") as client:
        sandbox = made(client, {"timeout_seconds": 3600})
        path = started(client, sandbox, "sh", "-c", f"yes {LINE.decode().strip()} | head -c {size}; exit 3")
    digest, got, connections, exits = hashlib.sha256(), 0, 0, 0
    while not exits:
        connections += 1
        with node.client(tenant="a", timeout=60) as client:
            for line in client.open(f"{path}/output?stdout={got}&acknowledge=client"):
                event = json.loads(line)
                if event["event"] == "exit":
                    equal(event["process"]["exit"]["code"], 3)
                    exits += 1
                if event["event"] == "stdout":
                    equal(event["offset"], got, "offset")
                    piece = event["data"].encode()
                    digest.update(piece)
                    got += len(piece)
                    if places and got > places[0]:      # away, in the middle of what comes
                        places = [place for place in places if place >= got]
                        break
                    if connections and got // (1 << 18) != (got - len(piece)) // (1 << 18):
                        with node.client(tenant="a") as other:
                            equal(other.ask("POST", f"{path}/acknowledge?stdout={got}").status, 204)
    equal(got, size, "bytes")
    equal(digest.hexdigest(), expected(size), "sha256")
    return connections


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--mebibytes", type=int, default=48)
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, for the launcher")
        sys.exit(77)
    with Daemon(options.programs) as node:
        begin = time.monotonic()
        try:
            connections = read(node, options.mebibytes << 20, options.times)
        except BaseException:
            print(node.log("cordond"))
            raise
        expect(connections > options.times // 2, "hardly a disconnect:", connections)
        print(f"{options.mebibytes} MiB over {connections} connections, byte for byte, in {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
