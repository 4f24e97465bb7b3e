# SPDX-License-Identifier: Apache-2.0
"""Two indexes of a cell, behind two gateways, in front of real nodes: `index.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import json
import signal
import sys
import time

from checks import run
from cluster import equal, expect, wait_until
from gateway import gone, homes, made, made_on
from parties import CELL, Fleet

SLOTS = 8


def by_index(gateway):
    """How many parts of lists an index has answered there."""
    with gateway.client() as client:
        return int(client.counts()["cordon_gateway_lists_by_index_total"])


def ids(client, path="/v1/sandboxes"):
    answer = client.ask("GET", path)
    equal(answer.status, 200, answer)
    return [each["id"] for each in answer.json["sandboxes"]]


def one_acts(fleet):
    """One of two acts, the other says so; and nobody but gateways is answered."""
    acting = fleet.acting()
    equal(sorted(index.health()["status"] for index in fleet.indexes), ["active", "standby"])
    key = json.loads(fleet.etcd.control("get", f"/cordon/cells/{CELL}/index", "--print-value-only"))
    equal(key["address"], f"{acting.address}:8444")
    waiting = next(index for index in fleet.indexes if index is not acting)
    for index, status in ((acting, 200), (waiting, 503)):
        with fleet.indexed(index) as client:
            equal(client.ask("GET", "/v1/sandboxes").status, status)
    with fleet.indexed(acting, token=fleet.mint("--tenant", "a")) as client:
        equal(client.ask("GET", "/v1/sandboxes").status, 401, "a client's own token:")


def lists(fleet):
    """A list is one question to the index, in the form of a node's own; what was just made is in it, by whichever gateway."""
    one, other = fleet.gateways
    token = fleet.mint("--tenant", "a")
    asked = by_index(one), by_index(other)
    with one.client(token=token) as client, other.client(token=token) as same, one.client(token=fleet.mint("--tenant", "b")) as stranger:
        sandboxes = []
        for number in range(10):
            sandboxes.append(made((client, same)[number % 2], {"labels": {"job": str(number % 3)}}))
            equal(ids(client), sorted(sandboxes))
            equal(ids(same), sorted(sandboxes), "by the other gateway:")
        equal(len(set(homes(fleet, sandboxes))), len(fleet.nodes), "all nodes have some:")
        rows = client.ask("GET", "/v1/sandboxes").json
        equal(rows.get("unanswered"), None)
        for row in rows["sandboxes"]:
            equal(row, client.ask("GET", f"/v1/sandboxes/{row['id']}").json, "as its node shows it:")
        page = client.ask("GET", "/v1/sandboxes?limit=4").json
        equal([each["id"] for each in page["sandboxes"]], sorted(sandboxes)[:4])
        equal(ids(client, f"/v1/sandboxes?after={page['next']}"), sorted(sandboxes)[4:])
        equal(ids(client, "/v1/sandboxes?label.job=1"), sorted(sandboxes[1::3]))
        equal(ids(stranger), [])
        equal(client.ask("PATCH", f"/v1/sandboxes/{sandboxes[0]}", {"labels": {"job": "new"}}).status, 200)
        equal(ids(client, "/v1/sandboxes?label.job=new"), sandboxes[:1])
        with one.client(token=fleet.mint("--tenant", "a", "--sandbox", sandboxes[0])) as narrow:
            equal(ids(narrow), sandboxes[:1], "a token for one:")
        equal(client.ask("GET", "/v1/sandboxes?limit=0").status, 400)
        # As clients of E2B see them.
        with other.client() as keyed:
            listed = keyed.ask("GET", "/v2/sandboxes", fields={"X-API-Key": fleet.mint("--tenant", "a", "--e2b")})
        equal(sorted(each["sandboxID"] for each in listed.json), sorted(sandboxes), listed)
        gone(client, sandboxes)
        equal(ids(client), [])
        equal(ids(same), [])
    told = by_index(one) - asked[0], by_index(other) - asked[1]
    expect(min(told) >= 10, told, "answers of an index")
    return f"{told} answers of the index"


def left_out(fleet):
    """A node that the index cannot read is asked itself, and is named where it does not answer either."""
    node = fleet.nodes[0]
    acting = fleet.acting()
    with fleet.gateways[0].client(tenant="a") as client:
        sandboxes = made_on(fleet, client, node)
        sandboxes += [made(client) for _ in range(6 - len(sandboxes))]
        there = [each for each, home in zip(sandboxes, homes(fleet, sandboxes)) if home is node]
        fleet.network.block(f"i{acting.number}", node.place.address)
        try:
            wait_until(lambda: not acting.is_complete(), 15, "the index has lost it:")
            equal(ids(client), sorted(sandboxes))
            equal(client.ask("GET", "/v1/sandboxes").json.get("unanswered"), None)
        finally:
            fleet.network.block(f"i{acting.number}", node.place.address, False)
        node.daemon.end(node.daemon.node, signal.SIGKILL)
        answer = client.ask("GET", "/v1/sandboxes").json
        equal(answer["unanswered"], [node.id])
        equal(sorted(each["id"] for each in answer["sandboxes"]), sorted(set(sandboxes) - set(there)))
        node.daemon.start_node()
        fleet.settle()
        equal(ids(client), sorted(sandboxes))
        gone(client, sandboxes)


def index_dies(fleet):
    """An index that dies: lists go on by nodes, and another acts within seconds."""
    acting = fleet.acting()
    with fleet.gateways[0].client(tenant="a") as client:
        sandboxes = [made(client) for _ in range(4)]
        acting.end(signal.SIGKILL)
        begin = time.monotonic()
        equal(ids(client), sorted(sandboxes))
        sandboxes.append(made(client))
        equal(ids(client), sorted(sandboxes), "meanwhile:")
        wait_until(fleet.acting, 20, "another acts:")
        took = time.monotonic() - begin
        before = by_index(fleet.gateways[0])
        wait_until(lambda: ids(client) == sorted(sandboxes) and by_index(fleet.gateways[0]) > before, 5, "lists by the new one:")
        gone(client, sandboxes)
    acting.start()
    return f"another acts after {took:.1f} s"


CHECKS = {check.__name__: check for check in (one_acts, lists, left_out, index_dies)}

if __name__ == "__main__":
    sys.exit(run(CHECKS, lambda programs: Fleet(programs, nodes=3, gateways=2, slots=SLOTS, indexes=2)))
