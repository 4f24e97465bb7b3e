# SPDX-License-Identifier: Apache-2.0
"""Nodes that register, against three members of etcd: `nodes.py DRIVER [NAME...]`, each check with a cluster of its own. 77: no etcd here."""
import json
import signal
import time

from cluster import equal, events_of, expect, main, wait_until

KEY = "/cordon/cells/1/nodes/7"
TTL = 3     # of seconds that a busy machine may take away


def standing(client, key=KEY):
    found = client.do("get", key)["found"]
    return json.loads(found[0]["value"]) if found else None


def registered(cluster, epoch, number=7, first=0, ttl=TTL):
    """A node and the command that goes on as long as it is registered."""
    node = cluster.client(first=first)
    return node, node.begin("register", 1, number, epoch, ttl, 300)


def registration(cluster):
    """C305: a node is there while it lives, writes when it has something to say, and yields to its later start."""
    client = cluster.client()
    watch = client.begin("watch", "/cordon/cells/1/nodes/")
    client.next(watch)
    node, command = registered(cluster, 1)
    said = wait_until(lambda: standing(client), 5, "registered:")
    equal((said["epoch"], said["free"], said["draining"]), (1, 100, False))

    # Nothing to say, nothing written: leases are kept without a write.
    revision = client.do("get", KEY)["revision"]
    time.sleep(TTL + 1)
    equal(client.do("get", KEY)["revision"], revision, "writes of a node at rest:")
    node.do("free", 99)
    time.sleep(0.7)
    equal(client.do("get", KEY)["revision"], revision, "after a change of one in a hundred:")
    node.do("free", 50)
    wait_until(lambda: standing(client)["free"] == 50, 1, "a change worth a write:")
    node.do("drain")
    wait_until(lambda: standing(client)["draining"], 1, "draining:")

    # Frozen past its lease: it is gone, and comes back by itself.
    node.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: standing(client) is None, TTL + 5, "the key of a frozen node goes:")
    node.process.send_signal(signal.SIGCONT)
    back = wait_until(lambda: standing(client), 10, "it comes back:")
    expect(back["seq"] > said["seq"], back, said)

    # Another start of it, while the first still believes to be the node.
    later, _ = registered(cluster, 2, first=1)
    equal(wait_until(lambda: (now := standing(client)) and now["epoch"] == 2 and now, 5, "the later start:")["draining"], False)
    node.do("free", 10)
    equal(node.next(command).get("error"), "exists", "the earlier one ends:")
    equal(standing(client)["epoch"], 2, "and does not write over it:")
    earlier, its_end = registered(cluster, 1, first=2)
    equal(earlier.next(its_end).get("error"), "exists", "an earlier start that comes late:")

    later.process.kill()
    later.process.wait()
    wait_until(lambda: standing(client) is None, TTL + 5, "the key of a killed node goes:")
    kinds = [(event["kind"], event["now"]["key"]) for event in events_of(client.heard(watch))]
    equal(kinds.count(("removed", KEY)), 2, "how often it went:", kinds)
    cluster.drivers.remove(later)


def outage(cluster):
    """All members die for longer than the lease: the node stays what it was, and nobody took it for gone."""
    client = cluster.client()
    watch = client.begin("watch", "/cordon/")
    client.next(watch)
    ttl = 4     # to be in touch again takes seconds of it
    node, command = registered(cluster, 1, ttl=ttl)
    wait_until(lambda: standing(client), 5, "registered:")
    for number in range(3):
        cluster.kill(number)
    time.sleep(ttl + 1)
    node.do("free", 20)
    for number in range(3):
        cluster.start(number)
    wait_until(lambda: (now := standing(client)) and now["free"] == 20, 20, "what it had to say meanwhile:")
    time.sleep(ttl + 1)
    equal(standing(client)["free"], 20)
    equal(node.heard(command), [], "of its registration:")
    kinds = [event["kind"] for event in events_of(client.heard(watch))]
    expect("removed" not in kinds, kinds)


def seen_by_a_gateway(cluster):
    """One lease that goes takes a node out of placement; all at once do not, as long as the nodes answer."""
    gateway = cluster.client()
    gateway.begin("follow", "1")
    nodes = {number: registered(cluster, 1, number, first=number)[0] for number in range(1, 7)}

    def shown():
        gateway.do("answers", *nodes)
        said = gateway.do("roster", "1")
        return said["placeable"], said["frozen"]
    wait_until(lambda: shown() == ([1, 2, 3, 4, 5, 6], False), 10, "all are placeable:")
    nodes[1].process.send_signal(signal.SIGSTOP)
    wait_until(lambda: shown() == ([2, 3, 4, 5, 6], False), TTL + 6, "but the one without a lease:")
    nodes[1].process.send_signal(signal.SIGCONT)
    wait_until(lambda: shown() == ([1, 2, 3, 4, 5, 6], False), 10, "it is back:")

    # Their leases all go within seconds: it is etcd that is doubted, and their answers are believed.
    for node in nodes.values():
        node.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: not gateway.do("below", "/cordon/cells/1/nodes/")["found"], TTL + 6, "all keys are gone:")
    wait_until(lambda: shown()[1], 3, "frozen:")
    equal(shown()[0], [1, 2, 3, 4, 5, 6], "who answers:")
    gateway.do("silent", 3)
    equal(gateway.do("roster", "1")["placeable"], [1, 2, 4, 5, 6], "and who does not:")
    for node in nodes.values():
        node.process.send_signal(signal.SIGCONT)
    wait_until(lambda: shown() == ([1, 2, 3, 4, 5, 6], False), 10, "as before:")


def by_certificate(cluster):
    """C305: a node registers as what its certificate says, and as nobody else; a gateway reads all of them and writes none."""
    for user, kind, where in (("node-7", "readwrite", [KEY]), ("gateway", "read", ["--prefix=true", "/cordon/cells/"])):
        cluster.control("user", "add", user, "--no-password")
        cluster.control("role", "add", user)
        cluster.control("role", "grant-permission", user, kind, *where)
        cluster.control("user", "grant-role", user, user)
    cluster.control("user", "add", "root", "--no-password")
    cluster.control("role", "add", "root")
    cluster.control("user", "grant-role", "root", "root")
    other = KEY.replace("/7", "/8")
    # The counter-arm: where etcd does not ask for rights yet, it may be anybody.
    impostor = cluster.client("node-7")
    impostor.begin("register", 1, 8, 1, TTL, 300)
    wait_until(lambda: cluster.control("get", other, "--print-value-only").strip(), 5, "as another:")
    impostor.end()
    cluster.control("auth", "enable")
    node = cluster.client("node-7", first=1)
    node.begin("register", 1, 7, 1, TTL, 300)
    gateway = cluster.client("gateway", first=2)
    gateway.begin("follow", "1")
    wait_until(lambda: 7 in gateway.do("roster", "1")["placeable"], 5, "seen by the gateway:")
    equal(gateway.ask("put", KEY, "x").get("error"), "denied", "the gateway writes:")
    again = cluster.client("node-7")
    equal(again.ask("register", 1, 8, 2, TTL, 300).get("error"), "denied", "as another, where etcd asks:")


CHECKS = {check.__name__: check for check in (registration, outage, seen_by_a_gateway, by_certificate)}

if __name__ == "__main__":
    main(CHECKS, with_tls=(by_certificate,))
