# SPDX-License-Identifier: Apache-2.0
"""What a fleet of four nodes, two gateways and three members of etcd promises while something fails again and again under load:
`faults.py PROGRAMS [--times N] [NAME...]`, each check with clients of its own (load.py). 77: something that it needs is not here.

Another fault is another function of (fleet, times) in CHECKS, and a name in CMakeLists.txt."""
import argparse
import contextlib
import os
import pathlib
import signal
import sys
import time
import traceback

from clock import Clocks
from cluster import equal, expect, wait_until
from load import Load
from parties import Certificates, Fleet, missing
from upgrade import revive_node, rolling_upgrade

TIMES = 10
SLOTS = 24
LEASE = 12      # seconds of a node's
GRACE = 30      # without an answer, and without the lease
QUOTA = '[quota]\nsandboxes = 10000\ncreates_per_second = 100000\nmemory = "100000Gi"\n'


def members(fleet, numbers, how):
    for number in numbers:
        fleet.etcd.members[number].send_signal(how)
        if how == signal.SIGKILL:
            fleet.etcd.members[number].wait()


def healthy(fleet):
    wait_until(lambda: all(fleet.etcd.is_healthy(number) for number in range(3)) and fleet.etcd.leader() is not None, 60, "etcd is whole again:")


@contextlib.contextmanager
def stopped(*processes):
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


@contextlib.contextmanager
def cut(fleet, party, addresses):
    """The party and these addresses do not hear of each other."""
    for address in addresses:
        fleet.network.block(party, address)
    try:
        yield
    finally:
        for address in addresses:
            fleet.network.block(party, address, False)


def leader_killed(fleet, times):
    """kill -9 of the leader: creates, runs, lists and ends go on, no node leaves, and what etcd has acknowledged is there."""
    longest = 0
    with Load(fleet, kept=4) as load:
        for number in range(times):
            fleet.etcd.control("put", "/told", number, number=fleet.etcd.leader())
            leader = fleet.etcd.leader()
            begin = time.monotonic()
            members(fleet, [leader], signal.SIGKILL)
            other = (leader + 1) % 3
            wait_until(lambda: "OK" in fleet.etcd.control("put", "/after", number, "--command-timeout=1s", number=other, check=False), 20, "a leader:")
            longest = max(longest, time.monotonic() - begin)
            equal(fleet.etcd.control("get", "/told", "--print-value-only", number=other).strip(), str(number), "what was acknowledged:")
            load.look()
            expect(load.longest_gap(begin) < 5, "no new sandbox for", load.longest_gap(begin), "s")
            fleet.etcd.start(leader)
            healthy(fleet)
            for gateway in fleet.gateways:
                equal(gateway.placeable(), {node.id for node in fleet.nodes}, "while a leader dies:")
    load.hold(longest=10)
    return f"{times} leaders, at most {longest:.1f} s without writes; {load.said()}"


def without_quorum(fleet, load, seconds):
    """The longest time without a new sandbox."""
    numbers = [0, 1]
    members(fleet, numbers, signal.SIGKILL)
    begin = time.monotonic()
    try:
        # The counter-arm: it is really gone.
        refused = fleet.etcd.control("put", "/during", "x", "--command-timeout=1s", number=2, check=False)
        expect("OK" not in refused, "etcd has no quorum, and writes:", refused)
        while time.monotonic() < begin + seconds:
            load.look()
            time.sleep(0.5)
        for gateway in fleet.gateways:
            expect(gateway.placeable(), "a gateway gives new sandboxes to nobody")
        return load.longest_gap(begin)
    finally:
        for number in numbers:
            fleet.etcd.start(number)
        healthy(fleet)


def quorum_lost(fleet, times):
    """Two of three members die, for seconds: existing sandboxes and creates go on as if nothing were."""
    with Load(fleet, kept=4) as load:
        gap = max(without_quorum(fleet, load, 4) for _ in range(times))
        fleet.settle(60)
    expect(gap < 5, "no new sandbox for", gap, "s")
    load.hold(longest=10)
    return f"{times} times, at most {gap:.1f} s without a new sandbox; {load.said()}"


def quorum_lost_long(fleet, _):
    """For a minute, five times a lease: no node is taken for gone, meanwhile or when etcd returns."""
    with Load(fleet, kept=4) as load:
        gap = without_quorum(fleet, load, 60)
        until = time.monotonic() + LEASE + 3
        while time.monotonic() < until:
            for gateway in fleet.gateways:
                equal(gateway.placeable(), {node.id for node in fleet.nodes}, "when etcd is back:")
            time.sleep(0.3)
    expect(gap < 5, "no new sandbox for", gap, "s")
    load.hold(longest=10)
    return f"60 s, at most {gap:.1f} s without a new sandbox; {load.said()}"


def kill_node(node):
    """As its machine: all that it has goes at once."""
    for process in (node.registrar, node.daemon.launcher, node.daemon.node):
        process.send_signal(signal.SIGKILL)
    for process in (node.registrar, node.daemon.launcher, node.daemon.node):
        process.wait()
    wait_until(lambda: not node.daemon.pids_of("cordon-init"), 20, "its sandboxes have ended:")


def node_killed(fleet, times):
    """A node dies with all it has: what it had answers 503, and after the grace 410 with the reason; all else goes on, and it comes back empty."""
    known_after, dead = [], 0
    with Load(fleet, workers=8, kept=8) as load:
        for number in range(times):
            victim = fleet.nodes[number % 4]
            theirs = [sandbox for sandbox, node in load.kept.items() if node is victim]
            begin = time.monotonic()
            kill_node(victim)
            load.look([node for node in fleet.nodes if node is not victim])
            for sandbox in theirs:
                answer = load.asker.once("GET", f"/v1/sandboxes/{sandbox}")
                expect(answer and (answer.status, answer.json["code"]) == (503, "CORDON-FLEET-NODE-AWAY"), "before the grace:", answer)
            for gateway in fleet.gateways:
                wait_until(lambda: gateway.nodes()[victim.id]["standing"] == "dead", 90, "it is dead:")
            known_after.append(time.monotonic() - begin)
            expect(known_after[-1] >= GRACE, "declared dead after", known_after[-1], "s")
            for gateway in fleet.gateways:
                with gateway.client(token=load.token) as client:
                    for sandbox in theirs:
                        answer = client.ask("GET", f"/v1/sandboxes/{sandbox}")
                        equal((answer.status, answer.json["code"]), (410, "CORDON-FLEET-NODE-DEAD"), answer)
                        expect(victim.id in answer.json["detail"], answer)
            expect(load.longest_gap(begin) < 25, "no new sandbox for", load.longest_gap(begin), "s")
            dead += len(theirs)
            load.forget(theirs)
            load.look()
            begin_again = time.monotonic()
            revive_node(victim)
            fleet.settle(30)
            # What is gone stays gone, in its own words now.
            for sandbox in theirs:
                answer = load.asker.ask("gone", "GET", f"/v1/sandboxes/{sandbox}")
                expect(answer.status in (404, 410) or answer.json["state"] == "ended", answer)
            # One that came back is for five minutes the last to get creates with keys, by gateways that saw its death. Others do not know of it.
            for gateway in fleet.gateways:
                gateway.end()
                gateway.start()
            fleet.settle(30)
            load.keep()
            print(f"  {victim.id}: dead after {known_after[-1]:.1f} s, back after {time.monotonic() - begin_again:.1f} s", flush=True)
    load.hold(lost=fleet.nodes)
    expect(dead, "no sandbox died with its node")
    return f"{times} nodes, dead after {min(known_after):.0f} to {max(known_after):.0f} s, {dead} kept sandboxes lost in words; {load.said()}"


def gateway_killed(fleet, times):
    """kill -9 of a gateway: clients go to the other one, nothing is lost and no key makes two. Without keys there are sandboxes that nobody knows."""
    def rounds(load, count, is_over=lambda: False):
        for number in range(count):
            gateway = fleet.gateways[number % 2]
            gateway.end(signal.SIGKILL)
            time.sleep(0.3)
            gateway.start()
            load.look()
            time.sleep(0.3)
            if is_over():
                return number + 1
        return count
    with Load(fleet, workers=4, kept=4, pause=0) as load:
        rounds(load, times)
        fleet.settle(30)
    load.hold(longest=20)
    # The counter-arm.
    with Load(fleet, workers=6, has_keys=False, pause=0) as careless:
        tries = rounds(careless, 8 * times, lambda: bool(careless.account.counts["again: RemoteDisconnected"]) and bool(careless.orphans()[len(careless.workers):]))
    doubled = len(careless.orphans())
    careless.clean()
    fleet.settle(30)
    expect(doubled, "without keys nothing is doubled either: this check shows nothing")
    return f"{times} deaths; without keys {doubled} sandboxes of nobody after {tries}; {load.said()}"


def node_cut_from_etcd(fleet, times):
    """A node that etcd does not hear keeps what it has, which is asked for there all along; past its lease it gets nothing new, and comes back by itself."""
    returns = []
    with Load(fleet, kept=8) as load:
        for number in range(times):
            node = fleet.nodes[number % 4]
            is_long = number % 2 == 1
            with cut(fleet, f"n{node.number}", fleet.etcd.addresses):
                begin = time.monotonic()
                if is_long:
                    for gateway in fleet.gateways:
                        wait_until(lambda: gateway.nodes()[node.id]["standing"] == "kept", LEASE + 8, "it gets nothing new:")
                    equal(gateway.nodes()[node.id]["has_lease"], False)
                    load.look([node])
                    # A create with a key goes by the key alone, so that all gateways ask the same node.
                    with gateway.client(token=load.token) as client:
                        for _ in range(6):
                            made = client.ask("POST", "/v1/sandboxes", {})
                            expect(made.status == 201 and fleet.node_of(made.json["id"]) is not node, "without a lease:", made)
                            client.ask("DELETE", f"/v1/sandboxes/{made.json['id']}")
                else:
                    while time.monotonic() < begin + 4:
                        load.look([node])
                        time.sleep(0.3)
                    for gateway in fleet.gateways:
                        expect(node.id in gateway.placeable(), "within its lease it is as before")
            begin = time.monotonic()
            fleet.settle(30)
            if is_long:
                returns.append(time.monotonic() - begin)
    load.hold(longest=10)
    return f"{times} times, every second one past the lease, back after at most {max(returns, default=0):.1f} s; {load.said()}"


def node_cut_from_gateways(fleet, times):
    """A node that gateways do not reach, and etcd does: its sandboxes are away in words and never dead, new ones go elsewhere, and all are there again."""
    longest_away = 0
    with Load(fleet, kept=8) as load:
        for number in range(times):
            node = fleet.nodes[number % 4]
            theirs = [sandbox for sandbox, home in load.kept.items() if home is node]
            seconds = GRACE + 8 if number == times - 1 else 6
            with cut(fleet, f"n{node.number}", [gateway.address for gateway in fleet.gateways]):
                begin = time.monotonic()
                for gateway in fleet.gateways:
                    wait_until(lambda: gateway.nodes()[node.id]["standing"] == "kept", 12, "it gets nothing new:")
                for sandbox in theirs[:1]:
                    asked = time.monotonic()
                    answer = load.asker.once("GET", f"/v1/sandboxes/{sandbox}")
                    longest_away = max(longest_away, time.monotonic() - asked)
                    expect(answer and answer.json["code"] == "CORDON-FLEET-NODE-AWAY", "while it is cut off:", answer)
                load.look([each for each in fleet.nodes if each is not node])
                time.sleep(max(0, begin + seconds - time.monotonic()))
                for gateway in fleet.gateways:
                    equal(gateway.nodes()[node.id]["standing"], "kept", "it has its lease:")
            fleet.settle(20)
            load.look([node])
            expect(load.longest_gap(begin) < 25, "no new sandbox for", load.longest_gap(begin), "s")
    load.hold(longest=70)
    return f"{times} times, once past the grace; said to be away within {longest_away:.1f} s; {load.said()}"


def frozen(fleet, times):
    """SIGSTOP of cordond, registrar, gateway and etcd's leader in turn: whoever waits for them is answered by others or by themselves when they go on."""
    def victims(number):
        node, gateway = fleet.nodes[number % 4], fleet.gateways[number % 2]
        return (("cordond", [node.daemon.node.pid], 6), ("registrar", [node.registrar.pid], 4 if number % 3 else LEASE + 6),
                ("gateway", [gateway.process.pid], 7), ("etcd", [fleet.etcd.members[fleet.etcd.leader()].pid], 4))
    counts = 0
    with Load(fleet, kept=8) as load:
        for number in range(times):
            for what, pids, seconds in victims(number):
                begin = time.monotonic()
                with stopped(*pids):
                    time.sleep(seconds)
                    expect(load.longest_gap(begin) < seconds + 12, what, "is frozen: no new sandbox for", load.longest_gap(begin), "s")
                if what == "etcd":
                    healthy(fleet)
                fleet.settle(40)
                load.look()
                counts += 1
    load.hold(longest=60)
    return f"{counts} times in all, {times} of each; {load.said()}"


def clock_jumps(fleet, times):
    """The clock of a node or a gateway jumps by five minutes or an hour, back and forth: leases, lives and rights are as before, and a right that is taken
    back is taken back."""
    offsets = (300, -300, 3600, -3600)
    clocks = fleet.clocks
    with Load(fleet, kept=8) as load:
        for number in range(times):
            party = (fleet.nodes[number // 2 % 4], fleet.gateways[number // 2 % 2])[number % 2]
            offset = offsets[number % 4]
            clocks.jump(party, offset)
            try:
                wait_until(lambda: clocks.seen(party) and abs(clocks.seen(party) - offset) < 5, 5, "it goes by the other clock:", offset, clocks.seen(party))
                begin = time.monotonic()
                while time.monotonic() < begin + 4:
                    load.look()
                    for gateway in fleet.gateways:
                        equal(gateway.placeable(), {node.id for node in fleet.nodes}, "while a clock is wrong:")
                    time.sleep(0.3)
                token = fleet.mint("--tenant", "other")
                one, other = fleet.gateways
                with one.client() as operator, other.client(token=token) as client:
                    equal(client.ask("GET", "/v1/sandboxes").status, 200)
                    equal(operator.ask("POST", "/v1/tokens/revoke", {"token": token}).status, 204)
                    wait_until(lambda: client.ask("GET", "/v1/sandboxes").status == 401, 2, "taken back:")
            finally:
                clocks.jump(party, 0)
    load.hold(longest=10)
    return f"{times} jumps; {load.said()}"


CHECKS = {check.__name__: check for check in (leader_killed, quorum_lost, quorum_lost_long, node_killed, gateway_killed, node_cut_from_etcd, node_cut_from_gateways,
                                              frozen, clock_jumps, rolling_upgrade)}


def recover(fleet):
    """After a check that failed: the next begins with a fleet that is whole."""
    for number, member in enumerate(fleet.etcd.members):
        if member.poll() is not None:
            fleet.etcd.start(number)
        member.send_signal(signal.SIGCONT)
    for gateway in fleet.gateways:
        if gateway.process.poll() is not None:
            gateway.start()
    for node in fleet.nodes:
        if node.daemon.launcher.poll() is not None:
            node.daemon.start_launcher()
        if node.daemon.node.poll() is not None:
            node.daemon.start_node()
        if node.registrar.poll() is not None:
            node.start_registrar()
        with node.client() as client:
            client.ask("POST", "/v1/node/resume")
            for sandbox in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
                client.ask("DELETE", f"/v1/sandboxes/{sandbox['id']}")
    fleet.settle(60)


def old_enough(clocks):
    """Certificates are older than any clock here is late: no party whose clock is takes them for some of the future."""
    def environment(party):
        if isinstance(party, Certificates):
            clocks.file_of(party)
            clocks.jump(party, -2 * 3600)
        return clocks.environment(party)
    return environment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--times", type=int, default=TIMES, help="how often each fault comes")
    options = parser.parse_intermixed_args()
    if absent := missing():
        print(f"skipped: no {', '.join(absent)}")
        sys.exit(77)
    if unknown := set(options.names) - set(CHECKS):
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    names = options.names or list(CHECKS)
    built = pathlib.Path(options.programs).resolve().parent / "tests/fleet/libfleet_shifted_clock.so"
    clocks = Clocks(built) if "clock_jumps" in names else None
    failed = False
    begin = time.monotonic()
    with contextlib.ExitStack() as held:
        if clocks:
            held.enter_context(clocks)
        fleet = held.enter_context(Fleet(options.programs, nodes=4, gateways=2, slots=SLOTS, node_settings=QUOTA,
                                         environment=old_enough(clocks) if clocks else None))
        fleet.clocks = clocks
        print(f"a fleet of four nodes and two gateways: {time.monotonic() - begin:.1f} s", flush=True)
        for name in names:
            begin = time.monotonic()
            try:
                word, said = "pass", CHECKS[name](fleet, options.times)
            except Exception:
                print(fleet.log())
                word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-4), True
                recover(fleet)
            print(f"{word}  {name:<24} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
