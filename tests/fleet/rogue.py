# SPDX-License-Identifier: Apache-2.0
"""Nodes, certificates and messages that are not what they seem, against a gateway and two real nodes: `rogue.py PROGRAMS [NAME...]`, all checks with one
fleet. Each refusal has an arm in which the same is accepted. 77: something that it needs is not here."""
import argparse
import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

from checks import emptied
from cluster import equal, expect, wait_until
from gateway import gone, made, streamed
from impostors import Liar, Middle, Server
from parties import CELL, FLOOR, Certificates, Fleet, missing

MIDDLE, ROGUE = "10.77.4.1", "10.77.5.1"
SAYING = iter(range(10 ** 9, 2 * 10 ** 9))


def key_of(number):
    return f"/cordon/cells/{CELL}/nodes/{number}"


def summary(where, **otherwise):
    return json.dumps({"format": 1, "address": where, "epoch": 1, "seq": 1, "slots": 10, "free": 10, "warm": "0", "draining": False, "saying": next(SAYING),
                       **otherwise})


def shown(fleet, name):
    """What the gateway believes of a node; nothing: it does not know it."""
    return fleet.gateways[0].nodes().get(f"{CELL}.{name}")


def standing(fleet, number):
    return (shown(fleet, number) or {}).get("standing")


def enrol(fleet, number, **how):
    """An identity that an operator has let in: its certificate and key."""
    name = f"node-{CELL}-{number}"
    fleet.etcd.allow(name, ("readwrite", f"={key_of(number)}"), ("read", "/cordon/revocations/"))
    return fleet.certificates.make(name, **how)


def end_of(fleet, number):
    """Gateways ask nothing of it any more."""
    fleet.etcd.control("put", key_of(number), '{"format":1,"expelled":true}')
    wait_until(lambda: standing(fleet, number) == "dead", 5, number, "is expelled:")


@contextlib.contextmanager
def through_the_middle(fleet, node):
    """The gateway reaches the node by way of the middle, and nobody else takes new sandboxes."""
    others = [each for each in fleet.nodes if each is not node]
    middle, text = Middle(fleet, node.place.address), node.config.read_text()

    def register(words):
        node.registrar.kill()
        node.registrar.wait()
        node.config.write_text(words)
        node.start_registrar()
    with Server(fleet, "middle", MIDDLE, middle), fleet.gateways[0].client() as operator:
        try:
            register(text.replace(f'address = "{node.place.address}:8443"', f'address = "{MIDDLE}:8443"'))
            for each in others:
                operator.ask("POST", f"/v1/fleet/nodes/{each.id}/drain")
            wait_until(lambda: (shown(fleet, node.number)["address"], fleet.gateways[0].placeable()) == (f"{MIDDLE}:8443", {node.id}), 15, "by way of the middle:")
            yield middle
        finally:
            for each in middle.open:      # also those that the gateway would use again
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            register(text)
            for each in others:
                operator.ask("POST", f"/v1/fleet/nodes/{each.id}/resume")
            wait_until(lambda: shown(fleet, node.number)["address"] == f"{node.place.address}:8443", 15, "directly again:")
    fleet.settle()


def count(node):
    with node.client() as client:
        return len([each for each in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"] if each["state"] == "running"])


def joins(fleet):
    """C305: whoever has no certificate, an expired one, another authority's, nobody's or another node's is no node; whoever answers in a node's place is none
    either. One that an operator has let in is one."""
    place = fleet.base / "strangers"
    place.mkdir()
    strangers = Certificates(place)
    one = fleet.nodes[0].place
    invited = enrol(fleet, 77)
    refused = {"no certificate": (), "an expired one": fleet.certificates.make("node-1-78", days=-1), "of another authority": strangers.make("node-1-77"),
               "of nobody that etcd knows": fleet.certificates.make("node-1-79"), "another node's": (one.certificate, one.key)}
    fleet.etcd.allow("node-1-78", ("readwrite", f"={key_of(78)}"))
    for why, shows in refused.items():
        number = 78 if "expired" in why else 77
        said = fleet.etcd.control("put", key_of(number), summary(f"{ROGUE}:8443"), "--command-timeout=2s", check=False, shows=shows)
        expect("OK" not in said, why, said)
    time.sleep(0.5)
    equal((shown(fleet, 77), shown(fleet, 78)), (None, None), "known to the gateway:")
    # Answers in node 77's place with the wrong certificates: nobody says anything to it.
    bad = Liar(strangers.make("node-1-77"), lambda *_: (200, {}, {}))
    with Server(fleet, "rogue", ROGUE, bad):
        fleet.etcd.control("put", key_of(77), summary(f"{ROGUE}:8443"), shows=invited)
        wait_until(lambda: standing(fleet, 77) == "kept", 6, "it does not prove to be itself:")
    good = Liar(invited, lambda *_: (200, {}, {"cell": CELL, "node": 77}))
    with Server(fleet, "rogue", ROGUE, good):
        wait_until(lambda: standing(fleet, 77) == "placeable", 8, "the one who was let in:")
        fleet.etcd.control("put", key_of(77), summary(f"{ROGUE}:8443", draining=True, seq=2), shows=invited)
    equal(bad.asked, [], "what was said to who is not the node:")
    expect(good.asked, "nothing was said to the node either")
    end_of(fleet, 77)


def others_work(fleet):
    """C306: with all that node 2 has, its key and its certificate, nothing of node 1 is had, nor of the fleet: no sandbox, no secret, no key of etcd but its
    own. Node 1's own token is good there."""
    one, two = fleet.nodes
    with fleet.gateways[0].client(tenant="a") as client:
        sandboxes = [made(client) for _ in range(6)]
        theirs = next(sandbox for sandbox in sandboxes if fleet.node_of(sandbox) is one)
        put = client.ask("PUT", "/v1/secrets/mine", "s3cret")
        expect(put.status < 300, put)
        ways = [("GET", "/v1/sandboxes"), ("GET", f"/v1/sandboxes/{theirs}"), ("POST", f"/v1/sandboxes/{theirs}/run"), ("GET", "/v1/secrets"), ("GET", "/v1/audit")]
        context = ssl.create_default_context(cafile=str(fleet.certificates.authority))
        context.load_cert_chain(str(two.place.certificate), str(two.place.key))
        for tenant in (("--tenant", "a"), ("--operator",)):
            stolen = two.daemon.mint_at(two.place.name, *tenant)
            for target, name in ((one.place.address, one.place.name), (fleet.gateways[0].address, "gateway-1")):
                for method, path in ways:
                    status = over_tls(fleet, two, context, target, name, stolen, method, path)
                    equal(status, 401, f"{name}: {method} {path} with node 2's token:")
            own = one.daemon.mint_at(one.place.name, *tenant)
            equal(over_tls(fleet, two, context, one.place.address, one.place.name, own, "GET", f"/v1/sandboxes/{theirs}"), 200, "with node 1's own:")
        for words in (("get", key_of(1)), ("put", key_of(1), "x"), ("del", key_of(1)), ("get", "/cordon/quotas/", "--prefix"), ("put", "/cordon/revocations/x", "1")):
            said = fleet.etcd.control(*words, check=False, shows=(two.place.certificate, two.place.key))
            expect("permission denied" in said, words, said)
        expect(two.place.address in fleet.etcd.control("get", key_of(2), shows=(two.place.certificate, two.place.key)), "its own key:")
        expect(client.ask("DELETE", "/v1/secrets/mine").status < 300)
        gone(client, sandboxes)


def over_tls(fleet, party, context, address, name, token, method, path):
    """The status of a request from the party's place."""
    connection = http.client.HTTPConnection(name, timeout=10)
    with fleet.network.inside(f"n{party.number}"):
        plain = socket.create_connection((address, 8443), timeout=10)
    connection.sock = context.wrap_socket(plain, server_hostname=name)
    with contextlib.closing(connection):
        connection.request(method, path, body='{"command": ["true"]}' if method == "POST" else None, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        return answer.status


def expelled(fleet):
    """C307: a node whose certificate was stolen is expelled under traffic: within 5 s the gateway asks it for nothing and cuts what went on, and neither it nor
    the thief, wherever he is, comes back. What it had answers 410. Before that it was a node like others; let in anew it is one again."""
    gateway, two = fleet.gateways[0], fleet.nodes[1]
    token = fleet.mint("--tenant", "a")
    name, shows = two.place.name, (two.place.certificate, two.place.key)
    with gateway.client(token=token) as client, gateway.client() as operator:
        sandboxes = [made(client) for _ in range(8)]
        theirs = [sandbox for sandbox in sandboxes if fleet.node_of(sandbox) is two]
        process = client.ask("POST", f"/v1/sandboxes/{theirs[0]}/processes", {"command": ["/usr/bin/sleep", "1000"]}).json["process"]
        _, ended = streamed(gateway, f"/v1/sandboxes/{theirs[0]}/processes/{process}/output", token)
        stop, answers = threading.Event(), []

        def traffic():
            with gateway.client(token=token) as asks:
                while not stop.is_set():
                    answer = asks.ask("GET", f"/v1/sandboxes/{theirs[0]}")
                    answers.append((time.monotonic(), answer.status))
                    time.sleep(0.02)
        thread = threading.Thread(target=traffic, daemon=True)
        thread.start()
        time.sleep(0.5)
        expect(not ended and {status for _, status in answers} == {200}, "before:", answers)
        expect(connections(two), "the gateway has no connection to it")
        begin = time.monotonic()
        # As docs/fleet.md says.
        fleet.etcd.control("user", "revoke-role", name, name)
        fleet.etcd.control("put", key_of(2), '{"format":1,"expelled":true}')
        wait_until(lambda: standing(fleet, 2) == "dead", 5, "expelled:")
        wait_until(lambda: ended, 5, "what went on is cut:")
        time.sleep(1)
        stop.set()
        thread.join(10)
        last_good = max(at for at, status in answers if status == 200) - begin
        expect(last_good < 5 and answers[-1][1] == 410, "it was asked for", last_good, "s, then", answers[-1])
        for _ in range(4):
            gone(client, [made(client)])
        equal(client.ask("GET", f"/v1/sandboxes/{theirs[0]}").json["code"], "CORDON-FLEET-NODE-DEAD")
        equal(connections(two), 0, "connections of the gateway to it:")
        said = fleet.etcd.control("put", key_of(2), summary(f"{ROGUE}:8443"), check=False, shows=shows)
        expect("permission denied" in said, "the thief registers elsewhere:", said)
        time.sleep(3)
        equal(standing(fleet, 2), "dead", "it came back by itself:")
        # Let in anew.
        fleet.etcd.control("user", "grant-role", name, name)
        fleet.etcd.control("del", key_of(2))
        if two.registrar.poll() is not None:
            two.start_registrar()
        fleet.settle(30)
        # For a key it is the last to be asked for a while, and it is asked.
        operator.ask("POST", f"/v1/fleet/nodes/{fleet.nodes[0].id}/drain")
        keyed = made(client, None, **{"Idempotency-Key": "anew"})
        expect(fleet.node_of(keyed) is two, "made elsewhere than where there is room")
        operator.ask("POST", f"/v1/fleet/nodes/{fleet.nodes[0].id}/resume")
        gone(client, [keyed])
        for sandbox in sandboxes:
            equal(operator.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
    return f"asked for {last_good:.2f} s longer"


def connections(node):
    """Of gateways to a node."""
    done = subprocess.run([*node.within, "ss", "-Htn", "state", "established", "sport", "=", ":8443"], capture_output=True, text=True, check=True)
    return len(done.stdout.splitlines())


def replayed(fleet):
    """C308: what was said under TLS says nothing a second time; what a node wrote before is not believed after what it wrote later; a create or an end that is
    sent twice is done once. In the clear the same bytes do make a second one."""
    one, two = fleet.nodes
    with through_the_middle(fleet, two) as middle, fleet.gateways[0].client(tenant="a") as client:
        sandboxes = [made(client, None, **{"Idempotency-Key": "once"}), made(client)]
        ran = client.ask("POST", f"/v1/sandboxes/{sandboxes[1]}/run", {"command": ["/usr/bin/printf", "here"]})
        equal((ran.status, ran.json["stdout"]), (200, "here"), ran)
        again = made(client, None, **{"Idempotency-Key": "once"})
        equal(again, sandboxes[0], "a create that is sent again:")
        recorded = [bytes(record) for record in middle.recorded if len(record) > 1000]
        expect(recorded, "nothing was recorded")
        before = count(two)
        for record in recorded:
            with fleet.network.inside("middle"):
                replay = socket.create_connection((two.place.address, 8443), timeout=5)
            with replay, contextlib.suppress(OSError):
                replay.sendall(record)
                while replay.recv(1 << 16):
                    pass
        equal(count(two), before, "sandboxes after a replay under TLS:")
        # Done is done, and said to be.
        gone(client, [sandboxes[1]])
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandboxes[1]}").status in (200, 404), True)
        equal(count(two), before - 1)
        plain = b"POST /v1/sandboxes HTTP/1.1\r\nHost: n\r\nCordon-Tenant: a\r\nContent-Length: 2\r\n\r\n{}"
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as local:
                local.connect(two.daemon.socket)
                local.sendall(plain)
                expect(b" 201 " in local.recv(1 << 16), "in the clear")
        equal(count(two), before + 1, "the counter-arm, in the clear:")
        emptied(fleet)
    # What a node wrote, as somebody could write it again who has kept it.
    old = fleet.etcd.control("get", key_of(2), "--print-value-only").strip()
    with two.client() as client:
        client.ask("POST", "/v1/node/drain")
        wait_until(lambda: standing(fleet, 2) == "kept", 10, "it drains:")
        wait_until(lambda: '"draining":true' in fleet.etcd.control("get", key_of(2), "--print-value-only"), 10, "and says so:")
        newer = json.loads(fleet.etcd.control("get", key_of(2), "--print-value-only"))
        two.registrar.send_signal(19)
        try:
            fleet.etcd.control("put", key_of(2), old)
            time.sleep(0.7)
            equal(standing(fleet, 2), "kept", "by what it said before:")
        finally:
            two.registrar.send_signal(18)
        expect(newer["seq"] > json.loads(old)["seq"], old, newer)
        client.ask("POST", "/v1/node/resume")
    fleet.settle()


def hello(fleet, address, name, tokens, lowest=None, highest=None, protocols=None, shows=None):
    """The version of TLS and the status of a request under it; an error's name where there was none."""
    context = ssl.create_default_context(cafile=str(fleet.certificates.authority))
    context.set_ciphers("ALL:@SECLEVEL=0")
    if shows:
        context.load_cert_chain(*map(str, shows))
    if lowest:
        context.minimum_version = lowest
    if highest:
        context.maximum_version = highest
    if protocols:
        context.set_alpn_protocols(protocols)
    with fleet.network.inside("rogue"):
        plain = socket.create_connection((address, 8443), timeout=10)
    try:
        with context.wrap_socket(plain, server_hostname=name) as secure:
            secure.sendall(f"GET /v1/sandboxes HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {tokens}\r\n\r\n".encode())
            return secure.version(), secure.recv(1 << 12).split(b" ")[1:2]
    except (ssl.SSLError, ConnectionError) as error:
        return type(error).__name__, []


def tampered(fleet):
    """C309: a bit that is turned on the way ends the connection, either way, and nothing is done by it; TLS before 1.2, another protocol, no TLS at all and a
    policy, a summary or a token of another version are refused."""
    one, two = fleet.nodes
    with through_the_middle(fleet, two) as middle, fleet.gateways[0].client(tenant="a", timeout=20) as client:
        gone(client, [made(client)])      # the counter-arm: by the same way, untouched
        middle.turns = "up"
        # One that comes together with the end of the handshake is left as it is, and answered.
        statuses = [client.ask("POST", "/v1/sandboxes", {}).status for _ in range(6)]
        expect(set(statuses) <= {201, 502, 503} and set(statuses) != {201}, "requests that were changed on the way:", statuses)
        equal(count(two), statuses.count(201), "made by requests that were changed:")
        middle.turns = "down"
        answers = [client.ask("GET", "/v1/sandboxes") for _ in range(4)]
        broken = [answer for answer in answers if answer.status in (502, 503) or answer.json.get("unanswered")]
        expect(broken and all(len(answer.json["sandboxes"]) == statuses.count(201) for answer in answers if answer not in broken), "answers that were changed on the way:", answers)
        middle.turns = None
        wait_until(lambda: two.id in fleet.gateways[0].placeable(), 15, "untouched again:")
        gone(client, [made(client)])
        emptied(fleet)
    TLS = ssl.TLSVersion
    warnings.simplefilter("ignore", DeprecationWarning)     # of versions that are to be refused
    certificate = fleet.certificates.make("client")
    old = (TLS.TLSv1, TLS.TLSv1_1)
    lenient = Liar(fleet.certificates.make("lenient"), lambda *_: (200, {}, {}))
    lenient.context.minimum_version = TLS.TLSv1
    lenient.context.set_ciphers("ALL:@SECLEVEL=0")
    with Server(fleet, "rogue", ROGUE, lenient):
        for version in old:
            equal(hello(fleet, ROGUE, "lenient", "none", version, version)[1], [b"200"], "a server that takes it:")
    for address, name, token in ((one.place.address, one.place.name, one.daemon.mint_at(one.place.name, "--tenant", "a")),
                                 (fleet.gateways[0].address, "gateway-1", fleet.mint("--tenant", "a"))):
        for version, word in ((TLS.TLSv1_2, "TLSv1.2"), (TLS.TLSv1_3, "TLSv1.3")):
            equal(hello(fleet, address, name, token, version, version, shows=certificate), (word, [b"200"]), name)
        for version in old:
            got = hello(fleet, address, name, token, version, version, shows=certificate)
            equal(got[1], [], name, version, got)
        equal(hello(fleet, address, name, token, protocols=["http/1.1"], shows=certificate)[1], [b"200"], name)
        equal(hello(fleet, address, name, token, protocols=["h2"], shows=certificate)[1], [], f"{name}: another protocol:")
        with fleet.network.inside("rogue"):
            plain = socket.create_connection((address, 8443), timeout=10)
        with plain, contextlib.suppress(ConnectionError):
            plain.sendall(b"GET /v1/health HTTP/1.1\r\nHost: n\r\n\r\n")
            expect(b"HTTP/1.1 200" not in plain.recv(1 << 12), name, "answers without TLS")
    with fleet.gateways[0].client(tenant="a") as client:
        for version, status in ((1, 200), (0, 400), (2, 400)):
            answer = client.ask("POST", "/v1/run", {"command": ["true"], "policy": {"version": version}})
            equal(answer.status, status, f"a policy of version {version}:", answer)
    invited = enrol(fleet, 76)
    for otherwise, is_believed in (({"format": 0}, False), ({"format": 2}, False), ({}, True)):
        fleet.etcd.control("put", key_of(76), summary(f"{ROGUE}:8443", draining=True, **otherwise), shows=invited)
        time.sleep(0.3)
        equal(shown(fleet, 76) is not None, is_believed, "a summary with", otherwise)
    end_of(fleet, 76)


def lies(fleet):
    """C310: a node that says it has all the room there is costs a create one try more; one that says what cannot be, or that it is where another is, is not
    believed; one that names others' sandboxes as its own gets nobody to them."""
    one = fleet.nodes[0]
    invited = enrol(fleet, 75)
    full = {"Cordon-No-Room": "full", "Cordon-Gauge": "1 5 1000000 1000000"}
    gauges = {"word": full}
    state = {"cell": CELL, "node": 75, "start": 1, "seq": 5, "slots": 1_000_000, "free": 1_000_000, "draining": False}

    def answer(method, path):
        if path == "/v1/node":
            return 200, {"Cordon-Gauge": gauges["word"]["Cordon-Gauge"]}, state
        return 503, gauges["word"], {"status": 503, "code": "CORDON-NODE-FULL", "detail": "full", "remedy": "none"}
    liar = Liar(invited, answer)
    with Server(fleet, "rogue", ROGUE, liar), fleet.gateways[0].client(tenant="a") as client:
        fleet.etcd.control("put", key_of(75), summary(f"{ROGUE}:8443", slots=1_000_000, free=1_000_000), shows=invited)
        wait_until(lambda: standing(fleet, 75) == "placeable", 8, "it is believed until asked:")
        sandboxes = [made(client) for _ in range(12)]
        tries = liar.asked.count(("POST", "/v1/sandboxes"))
        expect(tries, "it was never tried: this shows nothing")
        equal({fleet.node_of(sandbox) is not None for sandbox in sandboxes}, {True})
        # Another tenant's sandbox as its own.
        with fleet.gateways[0].client(tenant="b") as other:
            victim = made(other)
            liar.answer = lambda method, path: (200, {}, state) if path == "/v1/node" else (201, {}, {"id": victim})
            got = [client.ask("POST", "/v1/sandboxes", {}).json["id"] for _ in range(12)]
            expect(victim in got, "it was never tried: this shows nothing")
            equal(client.ask("GET", f"/v1/sandboxes/{victim}").status, 404, "to whom it was named:")
            equal(other.ask("GET", f"/v1/sandboxes/{victim}").status, 200)
            gone(other, [victim])
            sandboxes += [each for each in got if each != victim]
        # What cannot be; what it said before stands.
        fleet.etcd.control("put", key_of(75), summary(f"{ROGUE}:8443", seq=10, slots=7, free=3), shows=invited)
        liar.answer = lambda method, path: (200, {"Cordon-Gauge": "1 99 2000000 2000000"}, {**state, "seq": 98, "slots": 5, "free": 6})
        wait_until(lambda: shown(fleet, 75)["slots"] == 7, 5, "what can be:")
        for otherwise in ({"free": 8}, {"slots": 1_000_001}, {"free": -1}, {"epoch": 1 << 32}, {"address": "localhost:8443"}, {"address": "224.0.0.1:8443"},
                          {"address": "10.77.2.1"}, {"address": "0.0.0.0:8443"}):
            fleet.etcd.control("put", key_of(75), summary(f"{ROGUE}:8443", **{"seq": 20, "slots": 7, "free": 3, "epoch": 2, **otherwise}), shows=invited)
        time.sleep(3)     # asked meanwhile
        now = shown(fleet, 75)
        equal((now["slots"], now["start"], now["address"]), (7, 1, f"{ROGUE}:8443"), now)
        gone(client, sandboxes)
    # Where node 1 is: node 1 does not prove to be it.
    with one.client() as client:
        fleet.etcd.control("put", key_of(75), summary(f"{one.place.address}:8443", seq=30), shows=invited)
        wait_until(lambda: standing(fleet, 75) == "kept", 8, "another's address:")
        equal(fleet.gateways[0].placeable(), {node.id for node in fleet.nodes}, "and node 1 is as before:")
        # An earlier start of itself changes nothing, a later one is its own affair.
        fleet.etcd.control("put", key_of(75), summary(f"{ROGUE}:8443", epoch=0, seq=99), shows=invited)
        time.sleep(0.5)
        equal(shown(fleet, 75)["address"], f"{one.place.address}:8443", "an earlier start:")
    end_of(fleet, 75)
    return f"{tries} tries of 12 creates at the liar"


CHECKS = {check.__name__: check for check in (joins, others_work, replayed, tampered, lies, expelled)}


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
    with contextlib.ExitStack() as held:
        stores = held.enter_context(tempfile.TemporaryDirectory(prefix="cordon-secrets-", dir="/var/tmp"))
        for number in (1, 2):
            os.mkdir(f"{stores}/{number}", 0o700)
        fleet = held.enter_context(Fleet(options.programs, nodes=2, gateways=1, floor=FLOOR + f"secrets = {stores}/{{number}}\n"))
        for party, address in (("middle", MIDDLE), ("rogue", ROGUE)):
            fleet.network.join(party, address)
        print(f"a fleet of two nodes and a gateway: {time.monotonic() - begin:.1f} s", flush=True)
        for name, check in CHECKS.items():
            if options.names and name not in options.names:
                continue
            begin = time.monotonic()
            try:
                word, said = "pass", check(fleet) or ""
            except Exception:
                print(fleet.log())
                word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-4), True
                emptied(fleet)
            print(f"{word}  {name:<24} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
