# SPDX-License-Identifier: Apache-2.0
"""Two cells of two nodes and an index each, behind one gateway: `cells.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import contextlib
import signal
import sys
import time

from checks import run
from cluster import equal, expect, wait_until
from gateway import gone, homes, made
from index import by_index, ids
from parties import Fleet
from policies import SOAK, Cli, Watched, files_at, release, said, settled
from quota_creates import give, there, until_made

HOME, AWAY = CELLS = (1, 2)
SLOTS = 24
QUOTA = 40      # of which a cell has enough unused to give some back
SHARE = QUOTA // 2     # of the home cells, which need nobody for it; the rest is lent to whoever asks
# What a node of the second cell allows of itself is less: a release that the first can take may be too loose for it.
OWN = {HOME: "[quota]\nsandboxes = 50\n", AWAY: "[quota]\nsandboxes = 20\n"}


def of_cell(fleet, cell):
    return [node for node in fleet.nodes if node.cell == cell]


@contextlib.contextmanager
def drained(fleet, cell):
    """Nothing new goes to this cell meanwhile."""
    def told(verb, is_draining):
        with fleet.gateways[0].client() as operator:     # one that is idle for long is ended
            for node in of_cell(fleet, cell):
                equal(operator.ask("POST", f"/v1/fleet/nodes/{node.id}/{verb}").json["draining"], is_draining)
    told("drain", True)
    try:
        yield
    finally:
        told("resume", False)
    fleet.settle()


def in_both(fleet, client):
    """Sandboxes in both cells: what is made while one is drained is in the other."""
    sandboxes = []
    for cell in CELLS:
        with drained(fleet, cell):
            sandboxes += [made(client, {"labels": {"not": str(cell)}}) for _ in range(3)]
    return sandboxes


def lists(fleet):
    """A list is of both cells, page by page, in the order of ids; where a cell has no index its nodes are asked."""
    gateway = fleet.gateways[0]
    with gateway.client(tenant="a") as client:
        sandboxes = in_both(fleet, client)
        equal([node.cell for node in homes(fleet, sandboxes)], [AWAY] * 3 + [HOME] * 3)
        before = by_index(gateway)
        equal(ids(client), sorted(sandboxes))
        equal(by_index(gateway) - before, len(CELLS), "one question for each cell:")
        page = client.ask("GET", "/v1/sandboxes?limit=4").json
        equal([each["id"] for each in page["sandboxes"]], sorted(sandboxes)[:4])
        equal(ids(client, f"/v1/sandboxes?after={page['next']}"), sorted(sandboxes)[4:])
        equal(ids(client, f"/v1/sandboxes?label.not={HOME}"), sorted(sandboxes[:3]))
        index = fleet.acting(AWAY)
        index.end(signal.SIGKILL)
        try:
            answer = client.ask("GET", "/v1/sandboxes").json
            equal((sorted(each["id"] for each in answer["sandboxes"]), answer.get("unanswered")), (sorted(sandboxes), None), "without an index of the second:")
        finally:
            index.start()
            fleet.settle()
        # A node that is away is named, whichever cell it is of.
        node = fleet.node_of(sandboxes[0])
        lost = [each for each, home in zip(sandboxes, homes(fleet, sandboxes)) if home is node]
        node.daemon.end(node.daemon.node, signal.SIGKILL)
        answer = client.ask("GET", "/v1/sandboxes").json
        equal((sorted(each["id"] for each in answer["sandboxes"]), answer["unanswered"]), (sorted(set(sandboxes) - set(lost)), [node.id]))
        node.daemon.start_node()
        fleet.settle()
        equal(ids(client), sorted(sandboxes))
        gone(client, sandboxes)


def quota_away_from_home(fleet):
    """A tenant whose home takes nothing begins in the other cell, out of the same quota but for its home's share; the cells together never have more."""
    give(fleet, "q", QUOTA)
    sandboxes, most = [], 0

    def make(cell, count, why):
        nonlocal most
        for _ in range(count):
            with fleet.gateways[0].client(tenant="q") as client:
                sandboxes.append(until_made(client, 60, f"{why}, behind {len(sandboxes)}:"))
        equal({node.cell for node in homes(fleet, sandboxes[-count:])}, {cell}, why)
        most = max(most, there(fleet, "q"))

    def refused(*statuses):
        with fleet.gateways[0].client(tenant="q") as client:
            for _ in range(5):
                answer = client.ask("POST", "/v1/sandboxes", {})
                expect(answer.status in statuses, answer)
    make(HOME, 1, "its home comes first")
    with drained(fleet, HOME):
        make(AWAY, QUOTA - SHARE, "in a cell that is not its home")
        refused(429, 503)
    make(HOME, SHARE - 1, "the share of its home is kept for it")
    refused(429)
    equal(there(fleet, "q"), QUOTA)
    # What ends in one cell begins in the other, over the share of its home.
    away = [each for each, home in zip(sandboxes, homes(fleet, sandboxes)) if home.cell == AWAY]
    with fleet.gateways[0].client(tenant="q") as client:
        gone(client, away)
    with drained(fleet, AWAY):
        make(HOME, 2, "back at home")
    equal(most, QUOTA)
    with fleet.gateways[0].client(tenant="q") as client:
        gone(client, [each for each in sandboxes if each not in away])


def release_goes_by_cells(fleet):
    """The canary has it first, then the rest of its cell, then the second: each at least as long after the one before as it is to soak."""
    cordon = Cli(fleet)
    canary, *rest = of_cell(fleet, HOME)
    with Watched(fleet) as watched:
        done = cordon.push(release(90))
    equal(done.returncode, 0, done)
    number = cordon.stand()["release"]
    began = {node.id: watched.first[node.id][number] for node in fleet.nodes}
    later = [began[node.id] - began[canary.id] for node in rest]
    last = [began[node.id] - max(began[node.id] for node in of_cell(fleet, HOME)) for node in of_cell(fleet, AWAY)]
    expect(min(later) >= SOAK, "behind the canary:", later)
    # It is looked at now and then, and what was watched is so late too.
    expect(min(last) >= SOAK - 0.3, "behind the first cell:", last)
    equal([files_at(node) for node in fleet.nodes], [90] * len(fleet.nodes))
    return f"the first cell {min(later):.1f} s behind its canary, the second {min(last):.1f} s behind the first"


def second_cell_cannot(fleet):
    """What the second cell cannot take stops there: the first goes back, and no node of the second ever ran it."""
    cordon = Cli(fleet)
    before = settled(fleet, cordon, release(100))
    text = release(95) + "[quota]\nsandboxes = 40\n"
    with Watched(fleet) as watched:
        done = cordon.push(text)
        wait_until(lambda: {said(node)["release"] for node in fleet.nodes} == {before}, 20, "all go on by the last good one:")
        time.sleep(0.2)
    equal(done.returncode, 1, done)
    stand = cordon.stand()
    equal((stand["stage"], stand["before"]), ("stopped", before))
    for node in fleet.nodes:
        ran = stand["release"] in watched.first[node.id]
        equal(ran, node.cell == HOME, node.id, "ran it:", stand)
    expect(any(node.id in done.stdout for node in of_cell(fleet, AWAY)) and "allow, 20" in done.stdout, done)
    equal([files_at(node) for node in fleet.nodes], [100] * len(fleet.nodes))
    # The counter-arm: what both can take gets to both.
    settled(fleet, cordon, release(95) + "[quota]\nsandboxes = 10\n")
    equal([files_at(node) for node in fleet.nodes], [95] * len(fleet.nodes))


CHECKS = {check.__name__: check for check in (lists, quota_away_from_home, release_goes_by_cells, second_cell_cannot)}

if __name__ == "__main__":
    sys.exit(run(CHECKS, lambda programs: Fleet(programs, nodes=2, gateways=1, slots=SLOTS, indexes=1, cells=CELLS, node_settings=OWN)))
