# SPDX-License-Identifier: Apache-2.0
"""Quotas of a fleet at creates: two gateways, two indexes and real nodes: `quota_creates.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import concurrent.futures
import signal
import sys
import threading
import time

from checks import run
from cluster import equal, expect, wait_until
from gateway import gone, made
from parties import Fleet

SLOTS = 16
QUOTA = 10


def give(fleet, tenant, total):
    """A quota, known to both gateways."""
    with fleet.gateways[0].client() as operator:
        answer = operator.ask("PUT", f"/v1/fleet/quotas/{tenant}", {"total": total, "homes": [1]})
        equal((answer.status, answer.json["total"]), (200, total), answer)

    def known(gateway):
        with gateway.client() as client:
            found = client.ask("GET", f"/v1/fleet/quotas/{tenant}")
            return found.status == 200 and found.json["total"] == total
    wait_until(lambda: all(known(gateway) for gateway in fleet.gateways), 5, "both gateways know of it:")


def there(fleet, tenant):
    """How many of a tenant's the nodes have, by their own word."""
    count = 0
    for node in fleet.nodes:
        with node.client(tenant=tenant) as client:
            count += len(client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"])
    return count


def until_made(client, seconds=20, why="made at last:"):
    def tried():
        answer = client.ask("POST", "/v1/sandboxes", {})
        expect(answer.status in (201, 429, 503), answer)
        return answer.json["id"] if answer.status == 201 else None
    return wait_until(tried, seconds, why)


def at_the_limit(fleet):
    """As many as the quota begin under two gateways at once, and not one more, in words; without a quota there is no limit of the fleet."""
    give(fleet, "q", QUOTA)
    with fleet.gateways[0].client(tenant="q") as client:
        # An index that has just read all nodes may take a moment to give units.
        gone(client, [until_made(client)])

    def tried(number):
        with fleet.gateways[number % 2].client(tenant="q") as client:
            return client.ask("POST", "/v1/sandboxes", {})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(tried, range(3 * QUOTA)))
    expect({answer.status for answer in answers} <= {201, 429}, answers)
    expect(there(fleet, "q") <= QUOTA, there(fleet, "q"))
    one, other = (gateway.client(tenant="q") for gateway in fleet.gateways)
    with one, other:
        sandboxes = [answer.json["id"] for answer in answers if answer.status == 201]
        at_once = len(sandboxes)
        while len(sandboxes) < QUOTA:
            sandboxes.append(until_made(one))
        equal(there(fleet, "q"), QUOTA)
        refused = other.ask("POST", "/v1/sandboxes", {})
        equal((refused.status, refused.json["code"]), (429, "CORDON-FLEET-QUOTA"), refused)
        expect(str(QUOTA) in refused.json["detail"] and "cordon fleet quota" in refused.json["remedy"], refused)
        equal(one.ask("POST", "/v1/run", {"command": ["true"]}).json["code"], "CORDON-FLEET-QUOTA")
        # What has ended is free again, by either gateway.
        gone(one, sandboxes[:2])
        again = [until_made(other), until_made(one)]
        equal(one.ask("POST", "/v1/sandboxes", {}).status, 429)
        gone(one, sandboxes[2:] + again)
        wait_until(lambda: one.ask("POST", "/v1/run", {"command": ["true"]}).status == 200, 10, "a run counts while it runs:")
    with fleet.gateways[0].client(tenant="free") as client:
        gone(client, [made(client) for _ in range(QUOTA + 2)])
    return f"{at_once} of {QUOTA} at once"


def units_asked(gateway):
    """How many questions for units it has asked."""
    with gateway.client() as client:
        return int(client.counts()["cordon_gateway_units_asked_total"])


def lowered(fleet):
    """A lower quota holds at once, on what was lent too, and what is free of it again when as many have ended."""
    give(fleet, "low", QUOTA)
    with fleet.gateways[0].client(tenant="low") as client:
        sandboxes = [until_made(client) for _ in range(QUOTA - 2)]      # more than the share of a home
        give(fleet, "low", 2)
        time.sleep(2.5)     # units that gateways have in their hands
        while len(sandboxes) > 2:
            equal(client.ask("POST", "/v1/sandboxes", {}).status, 429, f"{len(sandboxes)} run, of 2")
            gone(client, [sandboxes.pop()])
            time.sleep(0.3)
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429)
        gone(client, [sandboxes.pop()])
        sandboxes.append(until_made(client))
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429)
        gone(client, sandboxes)


def hammered(fleet):
    """Whoever goes on asking at the limit is answered from memory: not each create is a question to the index."""
    give(fleet, "h", 1)
    gateway = fleet.gateways[0]
    with gateway.client(tenant="h") as client:
        sandbox = until_made(client)
        before, begin, count = units_asked(gateway), time.monotonic(), 0

        def hammer(_):
            with gateway.client(tenant="h") as one:
                return [one.ask("POST", "/v1/sandboxes", {}).status for _ in range(25)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for statuses in pool.map(hammer, range(8)):
                equal(set(statuses), {429})
                count += len(statuses)
        took = time.monotonic() - begin
        asked = units_asked(gateway) - before
        expect(asked <= took / 0.2 + 2, asked, "questions in", took)
        expect(asked < count / 4, asked, "questions for", count)
        gone(client, [sandbox])
        gone(client, [until_made(client, 5, "what has ended is free:")])
    return f"{asked} questions for {count} creates in {took:.1f} s"


def lapses(fleet):
    """An index that cannot renew its lease for a moment, since etcd has no quorum, goes on where it was: by the same number, with all that it counted."""
    give(fleet, "l", QUOTA)
    with fleet.gateways[0].client(tenant="l") as client:
        sandboxes = [until_made(client) for _ in range(QUOTA)]
        acting = fleet.acting()
        number = acting.health()["number"]
        away = [each for each in range(3) if each != fleet.etcd.leader()]
        for each in away:
            fleet.etcd.members[each].kill()
            fleet.etcd.members[each].wait()
        try:
            wait_until(lambda: acting.health()["status"] == "standby", 15, "it does not know whether it acts:")
            equal(client.ask("POST", "/v1/sandboxes", {}).json["code"], "CORDON-FLEET-QUOTA-AWAY")
        finally:
            for each in away:
                fleet.etcd.start(each)
        wait_until(lambda: acting.health()["status"] == "active", 30, "it acts again:")
        expect(acting.is_complete(), acting.health(), "nothing had to be read anew")
        equal(acting.health()["number"], number)
        for gateway in fleet.gateways:
            with gateway.client(tenant="l") as each:
                equal(each.ask("POST", "/v1/sandboxes", {}).status, 429)
        gone(client, sandboxes[:1])
        sandboxes[:1] = [until_made(client)]
        equal(there(fleet, "l"), QUOTA)
        gone(client, sandboxes)
    fleet.settle()


def same_key(fleet):
    """Whoever comes back with an idempotency key has what was made, also at the limit."""
    give(fleet, "k", 2)
    with fleet.gateways[0].client(tenant="k") as client, fleet.gateways[1].client(tenant="k") as same:
        key = {"Idempotency-Key": "one"}
        first = wait_until(lambda: (got := client.ask("POST", "/v1/sandboxes", {}, fields=key)).status == 201 and got, 10, "made:")
        second = until_made(client)
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429)
        for each in (client, same):
            again = each.ask("POST", "/v1/sandboxes", {}, fields=key)
            equal((again.status, again.json["id"]), (201, first.json["id"]), again)
        refused = same.ask("POST", "/v1/sandboxes", {}, fields={"Idempotency-Key": "two"})
        equal((refused.status, refused.json["code"]), (429, "CORDON-FLEET-QUOTA"), refused)
        gone(client, [first.json["id"], second])


def nothing_written(fleet):
    """Creates of a tenant with a quota write nothing to etcd."""
    give(fleet, "w", 40)
    with fleet.gateways[0].client(tenant="w") as client:
        gone(client, [until_made(client)])
        begin, before, count = time.monotonic(), fleet.etcd.revision(), 0
        while time.monotonic() - begin < 4:
            equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
            gone(client, [made(client)])
            count += 2
        writes = fleet.etcd.revision() - before
    expect(writes <= len(fleet.nodes) * 2, writes)
    return f"{count} sandboxes, {writes} writes"


def index_dies(fleet):
    """While an index dies under load there is never more than the quota; once another one acts, a create is made or is too many, and none is refused for want of an index."""
    give(fleet, "d", QUOTA)
    most, stop, made_by, refused_by = [0], threading.Event(), [0, 0], [0, 0]
    term = [0]

    def load(number):
        with fleet.gateways[number % 2].client(tenant="d") as client:
            while not stop.is_set():
                begun_in = term[0]
                answer = client.ask("POST", "/v1/sandboxes", {})
                expect(answer.status in (201, 429, 503), answer)
                if answer.status == 201:
                    made_by[begun_in] += 1
                    if number % 3 == 0:
                        client.ask("DELETE", f"/v1/sandboxes/{answer.json['id']}")
                else:
                    expect(answer.status == 429 or begun_in == 0, answer, "once the other acts")
                    refused_by[begun_in] += answer.status == 503
                    time.sleep(0.02)

    def watch():
        while not stop.is_set():
            most[0] = max(most[0], there(fleet, "d"))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        tasks = [pool.submit(load, number) for number in range(6)] + [pool.submit(watch)]
        try:
            time.sleep(2)
            acting = fleet.acting()
            acting.end(signal.SIGKILL)
            time.sleep(1)
            with fleet.gateways[0].client(tenant="d") as client:
                refused = client.ask("POST", "/v1/sandboxes", {})
                equal((refused.status, refused.json["code"]), (503, "CORDON-FLEET-QUOTA-AWAY"), refused)
            wait_until(fleet.acting, 20, "another acts:")
            term[0] = 1
            with fleet.gateways[0].client(tenant="d") as client:
                for row in client.ask("GET", "/v1/sandboxes").json["sandboxes"][:3]:
                    client.ask("DELETE", f"/v1/sandboxes/{row['id']}")     # perhaps its maker has
            wait_until(lambda: made_by[1] > 0, 10, "creates go on by the new one:")
            time.sleep(1)
        finally:
            stop.set()
        for task in tasks:
            task.result()
    expect(made_by[0] > 0 and made_by[1] > 0, made_by)
    expect(refused_by[0] > 0, refused_by)
    expect(QUOTA - 2 <= most[0] <= QUOTA, most)
    acting.start()
    with fleet.gateways[0].client(tenant="d") as client:
        gone(client, [row["id"] for row in client.ask("GET", "/v1/sandboxes").json["sandboxes"]])
    return f"at most {most[0]}; {made_by[0]} made before, {made_by[1]} after; {refused_by[0]} refused between"


def index_leaves(fleet):
    """An index that is stopped hands over while clients create: what its units allowed is asked for again, and nobody is refused once the other acts."""
    give(fleet, "v", 3 * SLOTS)
    with fleet.gateways[0].client(tenant="v") as client:
        gone(client, [until_made(client)])
        acting = fleet.acting()
        acting.end()
        refused, begin = 0, time.monotonic()
        while fleet.acting() is None:
            refused += client.ask("POST", "/v1/run", {"command": ["true"]}).status == 503
            expect(time.monotonic() - begin < 20, "another acts")
        took = time.monotonic() - begin
        for _ in range(20):
            equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
    acting.start()
    return f"another acts after {took:.1f} s; {refused} refused until then"


def unread_node(fleet):
    """A node that the index cannot read is named, gets nothing under quotas, and does not keep others from it for ever: nor under an index that never could read it."""
    give(fleet, "u", 2 * SLOTS)
    node, acting = fleet.nodes[0], fleet.acting()
    with fleet.gateways[0].client(tenant="u") as client:
        kept = [until_made(client) for _ in range(3)]
        for index in fleet.indexes:
            fleet.network.block(f"i{index.number}", node.place.address)
        try:
            wait_until(lambda: acting.health()["unread"] == [node.id], 20, "it is named:")
            equal(acting.health()["complete"], False)
            time.sleep(4)
            kept.append(until_made(client))
            time.sleep(0.5)
            others = [until_made(client) for _ in range(6)]
            expect(all(fleet.node_of(each) is not node for each in others), "nothing begins there")
            acting.end(signal.SIGKILL)
            begin = time.monotonic()
            acting.start()
            others.append(until_made(client, 90, "units of the other nodes:"))
            took = time.monotonic() - begin
            expect(fleet.node_of(others[-1]) is not node)
            equal(sorted(row["id"] for row in client.ask("GET", "/v1/sandboxes").json["sandboxes"]), sorted(kept + others))
        finally:
            for index in fleet.indexes:
                fleet.network.block(f"i{index.number}", node.place.address, False)
        fleet.settle(60)
        gone(client, kept + others)
    return f"units after {took:.0f} s under an index that has not read it"


def node_dies(fleet):
    """What a dead node had is given back; before it is known dead, it is not."""
    give(fleet, "n", QUOTA)
    with fleet.gateways[0].client(tenant="n") as client:
        sandboxes = []
        while len(sandboxes) < QUOTA:
            sandboxes.append(until_made(client))
        node = fleet.nodes[0]
        lost = [each for each in sandboxes if fleet.node_of(each) is node]
        expect(lost, "none is there")
        node.registrar.kill()
        node.registrar.wait()
        node.daemon.end(node.daemon.node, signal.SIGKILL)
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429, "nobody knows yet:")
        begin = time.monotonic()
        sandboxes += [until_made(client, 90, "units of a dead node come back:") for _ in lost]
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429)
        took = time.monotonic() - begin
        gone(client, [each for each in sandboxes if each not in lost])
    return f"{len(lost)} came back after {took:.0f} s"


CHECKS = {check.__name__: check for check in (at_the_limit, same_key, lowered, hammered, nothing_written, lapses, index_dies, index_leaves, unread_node, node_dies)}

if __name__ == "__main__":
    sys.exit(run(CHECKS, lambda programs: Fleet(programs, nodes=3, gateways=2, slots=SLOTS, indexes=2)))
