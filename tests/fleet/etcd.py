# SPDX-License-Identifier: Apache-2.0
"""The client of etcd against three members: `etcd.py DRIVER [NAME...]`, each check with a cluster of its own. 77: no etcd here."""
import time

from cluster import equal, events_of, expect, main, wait_until


class Writer:
    """Puts PREFIX0, PREFIX1, ... one after the other, and knows which are certain to be there."""

    def __init__(self, client, prefix):
        self.client, self.prefix = client, prefix
        self.certain, self.unsure = [], []

    def put(self, count):
        for _ in range(count):
            key = f"{self.prefix}{len(self.certain) + len(self.unsure):05}"
            said = self.client.ask("put", key, "x")
            if "error" in said:
                expect(said["error"] in ("unavailable", "timeout"), said)
                self.unsure.append(key)
            else:
                self.certain.append(key)

    def put_for(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.put(1)

    def put_until_well(self, seconds=20):
        before = len(self.certain)
        begin = time.monotonic()
        while len(self.certain) == before:
            expect(time.monotonic() < begin + seconds, "no write succeeds for", seconds, "s")
            self.put(1)
        return time.monotonic() - begin


def complete(client, watch, writer):
    """Every certain write was told once, in order; of the others those that were done, once too."""
    there = [kv["key"] for kv in client.do("below", writer.prefix)["found"]]
    expect(set(writer.certain) <= set(there), "acknowledged and gone:", set(writer.certain) - set(there))
    told = []

    def all_told():
        told.extend(event["now"] for event in events_of(client.heard(watch)))
        return len(told) >= len(there)
    wait_until(all_told, 10, "events for", len(there), "keys:")
    time.sleep(0.2)
    all_told()
    equal([now["key"] for now in told], there, "keys that were told:")
    revisions = [now["revision"] for now in told]
    equal(revisions, sorted(set(revisions)), "revisions:")


def calls(cluster):
    """Range, put, remove, transactions; errors by what can be done about them."""
    client = cluster.client()
    equal(client.do("get", "/a")["found"], [])
    revision = client.do("put", "/a", "1")["revision"]
    got = client.do("get", "/a")["found"][0]
    equal((got["value"], got["revision"]), ("1", revision))
    client.do("put", "/ab", "2")
    client.do("put", "/b", "3")
    equal([kv["key"] for kv in client.do("below", "/a")["found"]], ["/a", "/ab"])
    refused = client.do("replace", "/a", revision - 1, "no")
    equal((refused["held"], refused["found"][0]["value"]), (False, "1"))
    equal(client.do("replace", "/a", revision, "yes")["held"], True)
    equal(client.do("replace", "/new", 0, "first")["held"], True, "of a key that is not there:")
    equal(client.do("replace", "/new", 0, "second")["held"], False)
    equal(client.do("get_at", "/a", revision)["found"][0]["value"], "1", "in the past:")
    equal(client.ask("get_at", "/a", revision + 1000)["error"], "not_found", "in the future:")
    equal(client.ask("put", "/a", "x", "12345")["error"], "not_found", "under a lease that is not there:")
    cluster.control("compaction", str(client.do("get", "/a")["revision"]))
    equal(client.ask("get_at", "/a", revision)["error"], "not_found", "where it is compacted:")
    equal(client.do("remove", "/a")["removed"], 2)
    client.do("abandon", "/a")
    begin = time.monotonic()
    equal(client.end(), 0, "exit")
    expect(time.monotonic() - begin < 5, "it ends late: a call that nobody waits for is not let go of")
    nobody = cluster.client(first=1)
    for number in range(3):
        cluster.kill(number)
    equal(nobody.ask("put", "/a", "x")["error"] in ("unavailable", "timeout"), True)
    begin = time.monotonic()
    equal(nobody.ask("get", "/a", 3000)["error"] in ("unavailable", "timeout"), True, "with nobody there:")
    expect(1.5 < time.monotonic() - begin < 6, "it gave up after", time.monotonic() - begin, "s")


def leases(cluster):
    """A key lives while its lease is kept, and goes after; a grant may be repeated."""
    client, keeper = cluster.client(), cluster.client(first=1)
    watch = client.begin("watch", "/node/")
    client.next(watch)
    lease = keeper.do("grant", 3)["lease"]
    equal(keeper.do("grant", 3, lease)["lease"], lease, "granted again:")
    keep = keeper.begin("keep", lease, 3)
    keeper.do("put", "/node/a", "x", lease)
    equal([event["kind"] for event in client.next(watch)["events"]], ["put"])
    time.sleep(5)
    equal(client.heard(watch), [], "while it is kept:")
    expect(len(keeper.heard(keep)) >= 3, "kept too rarely")
    begin = time.monotonic()
    keeper.end()
    equal([event["kind"] for event in client.next(watch)["events"]], ["removed"])
    expect(1 < time.monotonic() - begin < 8, "it went after", time.monotonic() - begin, "s")
    gone = client.begin("keep", lease, 2)
    equal(client.next(gone)["error"], "not_found", "a lease that has expired:")
    lease = client.do("grant", 60)["lease"]
    client.do("put", "/node/b", "x", lease)
    client.do("revoke", lease)
    client.do("revoke", lease)
    equal(client.do("get", "/node/b")["found"], [])


def leader_is_killed(cluster):
    """Writes go on within seconds, and a watch misses nothing and repeats nothing. Its own member dies with it."""
    leader = cluster.leader()
    client, other = cluster.client(first=leader), cluster.client(first=leader + 1)
    watch, elsewhere = client.begin("watch", "/k/"), other.begin("watch", "/k/")
    client.next(watch), other.next(elsewhere)
    writer = Writer(client, "/k/")
    writer.put(50)
    cluster.kill(leader)
    gap = writer.put_until_well()
    expect(gap < 8, "no write for", gap, "s")
    writer.put(50)
    complete(client, watch, writer)
    complete(other, elsewhere, writer)
    cluster.start(leader)
    wait_until(lambda: cluster.is_healthy(leader), 20, "back:")
    writer.put(10)
    return f"{gap:.2f} s without writes, {len(writer.unsure)} unsure"


def leader_is_frozen(cluster):
    """SIGSTOP: connections stay open and nobody answers. What it did not do then, it does not do when it goes on."""
    leader = cluster.leader()
    client = cluster.client(first=leader)
    watch = client.begin("watch", "/k/")
    client.next(watch)
    keep = client.begin("keep", lease := client.do("grant", 10)["lease"], 10)
    client.do("put", "/lease", "x", lease)
    writer = Writer(client, "/k/")
    writer.put(50)
    cluster.freeze(leader)
    gap = writer.put_until_well()
    expect(gap < 10, "no write for", gap, "s")
    writer.put(50)
    complete(client, watch, writer)
    cluster.thaw(leader)
    writer.put_for(1)
    complete_after = [kv["key"] for kv in client.do("below", "/k/")["found"]]
    expect(set(writer.certain) <= set(complete_after), "lost")
    expect(not any("error" in said for said in client.heard(keep)), "the lease is lost")
    equal(len(client.do("get", "/lease")["found"]), 1, "the key under the lease:")
    return f"{gap:.2f} s without writes, {len(writer.unsure)} unsure"


def quorum_is_lost(cluster):
    """Two of three die: no write is acknowledged, no lease runs out, and when they return everything goes on."""
    client = cluster.client(first=2)
    watch = client.begin("watch", "/")
    client.next(watch)
    lease = client.do("grant", 3)["lease"]
    keep = client.begin("keep", lease, 3)
    client.do("put", "/node", "x", lease)
    client.do("put", "/before", "x")
    for number in (0, 1):
        cluster.kill(number)
    # Longer than the lease. A write that is acknowledged by one of three would be lost with it.
    until = time.monotonic() + 4.5
    while time.monotonic() < until:
        said = client.ask("put", "/during", "x")
        expect(said.get("error") in ("unavailable", "timeout"), "without a quorum:", said)
    for number in (0, 1):
        cluster.start(number)
    begin = time.monotonic()
    wait_until(lambda: "error" not in client.ask("put", "/after", "x"), 20, "writes, when they return:")
    took = time.monotonic() - begin
    time.sleep(4)
    equal([kv["key"] for kv in client.do("get", "/node")["found"]], ["/node"], "the node's key:")
    expect(not any("error" in said for said in client.heard(keep)), "the lease is lost")
    keys = [event["now"]["key"] for event in events_of(client.heard(watch))]
    expect({"/node", "/before", "/after"} <= set(keys) and keys.count("/after") >= 1, keys)
    return f"{took:.2f} s until writes"


def rights(cluster):
    """C305: by certificate alone a node writes its own key, reads what it must, and no more; without rights in force it could do all."""
    for node in ("n1", "n2"):
        cluster.control("user", "add", node, "--no-password")
        cluster.control("role", "add", node)
        cluster.control("role", "grant-permission", node, "readwrite", f"/nodes/{node}")
        cluster.control("role", "grant-permission", node, "read", "--prefix=true", "/policy/")
        cluster.control("user", "grant-role", node, node)
    cluster.control("user", "add", "root", "--no-password")
    cluster.control("role", "add", "root")
    cluster.control("user", "grant-role", "root", "root")
    cluster.control("put", "/policy/a", "1")
    cluster.control("put", "/quota/a", "1")
    first, second = cluster.client("n1"), cluster.client("n2", first=1)
    lease_of_second = second.do("grant", 60)["lease"]
    foreign = [("put", "/nodes/n2", "x"), ("put", "/policy/a", "x"), ("put", "/nodes/n1x", "x"), ("get", "/quota/a"), ("below", "/nodes/"),
               ("replace", "/nodes/n2", 0, "x"), ("remove", "/nodes/n1")]
    for attempt in foreign:     # the counter-arm: etcd has users, and does not ask for them yet
        first.do(*attempt)
    second.do("put", "/nodes/n2", "x", lease_of_second)
    cluster.control("auth", "enable")
    for attempt in foreign:
        said = first.ask(*attempt)
        equal(said.get("error"), "denied", attempt)
    equal(first.ask("revoke", lease_of_second).get("error"), "denied", "another node's lease:")
    watch = first.begin("watch", "/nodes/")
    said = first.next(watch)
    equal(said.get("error"), "denied", "a watch of others:")
    lease = first.do("grant", 60)["lease"]
    first.do("own", "/nodes/n1", "v1", lease, "any")
    equal(first.do("get", "/nodes/n1")["found"][0]["value"], "v1")
    policies = first.begin("mirror", "/policy/")
    equal([event["now"]["key"] for event in first.next(policies)["events"]], ["/policy/a"])
    cluster.control("put", "/policy/b", "2")
    equal([event["now"]["key"] for event in first.next(policies)["events"]], ["/policy/b"])
    equal(second.do("get", "/nodes/n2")["found"][0]["value"], "x", "what the other wrote:")
    first.do("put", "/nodes/n1", "v2")
    stranger = cluster.client("n3")
    equal(stranger.ask("put", "/nodes/n3", "x").get("error"), "denied", "a certificate without a user:")
    unknown = cluster.client()
    said = unknown.ask("get", "/policy/a", 2000)
    expect(said.get("error") in ("unavailable", "timeout"), "without a certificate:", said)


def compacted(cluster):
    """A watch hears that its history is gone; a copy is read anew, and only the difference is told."""
    client = cluster.client()
    for key in ("/c/stays", "/c/goes", "/c/changes"):
        client.do("put", key, "1")
    old = client.do("get", "/c/stays")["revision"]
    mirror = client.begin("mirror", "/c/")
    equal(len(client.next(mirror)["events"]), 3)
    watch = client.begin("watch", "/c/")
    client.next(watch)
    # All members away for a moment, so that the copy cannot follow; etcd forgets meanwhile.
    frozen = cluster.client(first=1)
    for number in range(3):
        cluster.kill(number)
    for number in range(3):
        cluster.start(number)
    wait_until(lambda: "error" not in frozen.ask("put", "/c/new", "1"), 20, "writes:")
    frozen.do("put", "/c/changes", "2")
    frozen.do("remove", "/c/goes")
    now = frozen.do("get", "/c/stays")["revision"]
    cluster.control("compaction", str(now))
    said = client.ask("watch", "/c/", old)
    gone = said if "error" in said else client.next(client.last)
    equal(gone.get("error"), "not_found", "from a revision that is gone:")
    wanted = {("/c/new", "put"), ("/c/changes", "put"), ("/c/goes", "removed")}
    told = []

    def all_told():
        told.extend(events_of(client.heard(mirror)))
        return {(event["now"]["key"], event["kind"]) for event in told} >= wanted
    wait_until(all_told, 15, "changes in the copy:")
    equal(sorted((event["now"]["key"], event["kind"]) for event in told), sorted(wanted))
    # The same while nothing of it is lost: compaction behind a watch does not end it.
    follower = client.begin("watch", "/c/")
    client.next(follower)
    for number in range(5):
        revision = client.do("put", "/c/live", number)["revision"]
        cluster.control("compaction", str(revision))
    values = []
    wait_until(lambda: values.extend(event["now"]["value"] for event in events_of(client.heard(follower))) or len(values) == 5, 10, values)


def unsure_writes(cluster):
    """Members freeze in turn under a key that is written again and again: every write is done once, and none comes late."""
    client, reader = cluster.client(), cluster.client(first=1)
    watch = reader.begin("watch", "/own")
    reader.next(watch)
    unsafe = 0
    for turn in range(3):
        leader = cluster.leader()
        number = client.begin("own", "/own", f"v{turn}.0", 0, "none")
        client.next(number)
        # Sent to a leader that takes it up when it goes on: perhaps.
        cluster.freeze(leader)
        late = [client.begin("put", f"/late/{turn}", each) for each in range(3)]
        client.do("own", "/own", f"v{turn}.1", 0, "none")
        client.do("own", "/own", f"v{turn}.2", 0, "none")
        cluster.thaw(leader)
        unsafe += sum("error" in client.next(each) for each in late)
        wait_until(lambda: cluster.leader() is not None, 10, "a leader:")
    time.sleep(1)
    told = [event["now"]["value"] for event in events_of(reader.heard(watch))]
    equal(told, [f"v{turn}.{each}" for turn in range(3) for each in range(3)], "values in order:")
    other = cluster.client(first=2)
    equal(other.ask("own", "/own", "foreign", 0, "none").get("error"), "exists", "of a key that another holds:")
    successor = cluster.client(first=2)
    successor.do("own", "/own", "foreign", 0, "any")
    equal(client.ask("own", "/own", "mine", 0, "none").get("error"), "exists", "after another took it:")
    return f"{unsafe} plain writes unsure"


CHECKS = {check.__name__: check for check in (calls, leases, leader_is_killed, leader_is_frozen, quorum_is_lost, rights, compacted, unsure_writes)}


if __name__ == "__main__":
    main(CHECKS, with_tls=(rights,))
