# SPDX-License-Identifier: Apache-2.0
"""A gateway in front of real nodes: `gateway.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import argparse
import sys
import time
import traceback

from cluster import equal, expect, wait_until
from parties import Fleet, missing


def made(client, body=None):
    answer = client.ask("POST", "/v1/sandboxes", body or {})
    equal(answer.status, 201, answer)
    return answer.json["id"]


def spread(fleet):
    """New sandboxes go to all nodes, and each call about one finds the node that has it."""
    gateway = fleet.gateways[0]
    with gateway.client(token=fleet.mint("--tenant", "a")) as client:
        sandboxes = [made(client) for _ in range(12)]
        homes = [fleet.node_of(sandbox).id for sandbox in sandboxes]
        equal(set(homes), {node.id for node in fleet.nodes}, "where they are:")
        for sandbox in sandboxes:
            ran = client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["/usr/bin/printf", "here"]})
            equal((ran.status, ran.json["stdout"]), (200, "here"), ran)
        listed = client.ask("GET", "/v1/sandboxes").json["sandboxes"]
        equal(sorted(each["id"] for each in listed), sorted(sandboxes))
        for sandbox in sandboxes:
            equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
        equal(client.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
    return ", ".join(f"{homes.count(node.id)} on {node.id}" for node in fleet.nodes)


CHECKS = {check.__name__: check for check in (spread,)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if absent := missing():
        print(f"skipped: no {', '.join(absent)}")
        sys.exit(77)
    if unknown := set(options.names) - set(CHECKS):
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    failed = False
    begin = time.monotonic()
    with Fleet(options.programs, nodes=4, gateways=2) as fleet:
        print(f"a fleet of four nodes and two gateways: {time.monotonic() - begin:.1f} s", flush=True)
        for name, check in CHECKS.items():
            if options.names and name not in options.names:
                continue
            begin = time.monotonic()
            try:
                word, said = "pass", check(fleet) or ""
            except Exception:
                print(fleet.log())
                word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-3), True
            print(f"{word}  {name:<24} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
