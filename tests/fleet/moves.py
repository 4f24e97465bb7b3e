# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that go on at another node: `moves.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import base64
import contextlib
import datetime
import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from checks import run
from cluster import equal, expect, wait_until
from gateway import gone, made
from parties import FLOOR, Fleet

LOOP = {"command": ["/usr/bin/sleep", "600"]}
MEBI = 1 << 20


def other_than(fleet, node):
    return next(each for each in fleet.nodes if each is not node)


def move(fleet, sandbox, to=None, gateway=0):
    with fleet.gateways[gateway].client(timeout=120) as operator:
        return operator.ask("POST", "/v1/fleet/moves", {"sandbox": sandbox, **({"to": to.id} if to else {})})


def moved(fleet, sandbox, to=None, gateway=0):
    answer = move(fleet, sandbox, to, gateway)
    equal(answer.status, 200, answer)
    return answer.json


def keys_since(fleet, revision):
    """What was written since, but for what nodes say of themselves."""
    said = json.loads(fleet.etcd.control("get", "/cordon/", "--prefix", "--write-out=json"))
    names = {base64.b64decode(each["key"]).decode(): each for each in said.get("kvs", [])}
    return {name: each for name, each in names.items() if each["mod_revision"] > revision and "/nodes/" not in name and not name.endswith("/index")}


def write(client, sandbox, path, data):
    answer = client.ask("PUT", f"/v1/sandboxes/{sandbox}/files?path={path}&parents=true&mode=0750", data)
    expect(answer.status < 300, answer)


def read(client, sandbox, path):
    answer = client.ask("GET", f"/v1/sandboxes/{sandbox}/files?path={path}")
    equal(answer.status, 200, answer)
    return answer.body


def on(fleet, client, node, body=None):
    """A sandbox that was made on that node."""
    others = []
    while fleet.node_of(sandbox := made(client, body)) is not node:
        others.append(sandbox)
    gone(client, others)
    return sandbox


def goes_on(fleet):
    """All that a sandbox is goes on at the other node under its name: files, labels, what it was narrowed by, its age and its end; by one write to etcd."""
    one, other = fleet.gateways
    source, target = fleet.nodes[:2]
    data = os.urandom(3 * MEBI)
    body = {"labels": {"job": "seven"}, "timeout_seconds": 900, "policy": {"network": {"ingress": [8000, 8001]}, "resources": {"cpu_seconds": 300}}}
    with one.client(token=fleet.mint("--tenant", "a")) as client, other.client(token=fleet.mint("--tenant", "a")) as same:
        sandbox = on(fleet, client, source, body)
        write(client, sandbox, "/workspace/deep/down/data", data)
        write(client, sandbox, "/tmp/small", b"small")
        equal(client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", LOOP).status, 201)
        narrowed = client.ask("PATCH", f"/v1/sandboxes/{sandbox}", {"policy": {"network": {"ingress": [8000]}}})
        equal(narrowed.status, 200, narrowed)
        before = client.ask("GET", f"/v1/sandboxes/{sandbox}").json
        revision = fleet.etcd.revision()
        report = moved(fleet, sandbox, target)
        equal((report["sandbox"], report["from"], report["to"]), (sandbox, source.id, target.id))
        expect(report["bytes"] > len(data), report)
        written = keys_since(fleet, revision)
        equal({name: (each["version"], "lease" in each) for name, each in written.items()}, {f"/cordon/moved/{sandbox}": (1, True)}, "what was written to etcd:")
        equal(fleet.node_of(sandbox), target)
        wait_until(lambda: same.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 5, "the other gateway finds it:")
        for each in (client, same):
            after = each.ask("GET", f"/v1/sandboxes/{sandbox}").json
            for name in ("id", "tenant", "created", "expires", "labels", "state"):
                equal(after.get(name), before.get(name), name)
            equal(read(each, sandbox, "/workspace/deep/down/data"), data)
            equal(read(each, sandbox, "/tmp/small"), b"small")
            equal(each.ask("GET", f"/v1/sandboxes/{sandbox}/processes").json, {"processes": []})
            listed = [row["id"] for row in each.ask("GET", "/v1/sandboxes").json["sandboxes"]]
            equal(listed, [sandbox], "lists have it once:")
            # What it was narrowed by holds, and the counter-arm: what it was not is open still.
            equal(each.ask("GET", f"/v1/sandboxes/{sandbox}/ports/8001/").status, 403)
            expect(each.ask("GET", f"/v1/sandboxes/{sandbox}/ports/8000/").status != 403)
        ran = same.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["/usr/bin/stat", "-c", "%a", "/workspace/deep/down/data"]})
        equal((ran.status, ran.json["stdout"].strip()), (200, "750"), ran)
        # At home, asked directly: where it went, and to nobody else that it ever was there.
        with source.client() as direct, source.client(tenant="b") as stranger:
            told = direct.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["true"]})
            equal((told.status, told.fields["Cordon-Moved"], told.json["code"]), (410, target.id, "CORDON-NODE-MOVED"), told)
            equal(stranger.ask("GET", f"/v1/sandboxes/{sandbox}").status, 404)
        gone(same, [sandbox])
        equal(client.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
    return f"{report['bytes'] / MEBI:.1f} MiB in {report['milliseconds']} ms"


def again_and_home(fleet):
    """One that was moved is moved on, and home again, and is found each time; also where etcd has forgotten where it is."""
    with fleet.gateways[0].client(tenant="a") as client, fleet.gateways[1].client(tenant="a") as same:
        sandbox = on(fleet, client, fleet.nodes[0])
        write(client, sandbox, "/workspace/x", b"1")
        for node in (fleet.nodes[1], fleet.nodes[2], fleet.nodes[0], fleet.nodes[1]):
            moved(fleet, sandbox, node, gateway=1)
            equal(fleet.node_of(sandbox), node)
            wait_until(lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 5, "found:")
            equal(read(same, sandbox, "/workspace/x"), b"1")
        fleet.etcd.control("del", f"/cordon/moved/{sandbox}")
        time.sleep(0.5)
        equal(read(client, sandbox, "/workspace/x"), b"1", "by the word of the nodes that had it")
        equal(read(same, sandbox, "/workspace/x"), b"1")
        gone(client, [sandbox])


def by_all_names(fleet):
    """Clients of E2B go on with what they hold: the key, the access token, a URL that was signed, and the host names of ports."""
    key = {"X-API-Key": fleet.mint("--tenant", "a", "--e2b")}
    with fleet.gateways[0].client() as client, fleet.gateways[1].client() as same:
        answer = client.ask("POST", "/sandboxes", {"templateID": "base", "timeout": 600}, fields=key)
        equal(answer.status, 201, answer)
        sandbox, token = answer.json["sandboxID"], answer.json["envdAccessToken"]
        with fleet.gateways[0].client(tenant="a") as operator:
            write(operator, sandbox, "/tmp/x", b"here")
        signed = base64.b64encode(hashlib.sha256(f"/tmp/x:read:user:{token}".encode()).digest()).decode().rstrip("=")
        by_host = {"Host": f"49983-{sandbox}.any.example"}
        by_field = {"E2b-Sandbox-Id": sandbox, "E2b-Sandbox-Port": "49983"}
        from urllib.parse import quote

        def all_ways(gateway, expected):
            ways = [("/files?path=/tmp/x&username=user", {**by_host, "X-Access-Token": token}), ("/files?path=/tmp/x&username=user", {**by_field, "X-Access-Token": token}),
                    (f"/files?path=/tmp/x&username=user&signature=v1_{quote(signed)}", by_host)]
            got = [gateway.ask("GET", path, fields=fields) for path, fields in ways]
            equal([(each.status, each.body) for each in got], [expected] * 3, got)
            # The counter-arm: another token opens nothing.
            expect(gateway.ask("GET", "/files?path=/tmp/x&username=user", fields={**by_host, "X-Access-Token": "0" * 40}).status == 401)
        all_ways(client, (200, b"here"))
        source = fleet.node_of(sandbox)
        moved(fleet, sandbox, other_than(fleet, source))
        for gateway in (client, same):
            wait_until(lambda: gateway.ask("GET", f"/sandboxes/{sandbox}", fields=key).status == 200, 5, "found:")
            all_ways(gateway, (200, b"here"))
            rows = gateway.ask("GET", "/v2/sandboxes", fields=key).json
            equal([row["sandboxID"] for row in rows], [sandbox])
        again = same.ask("POST", f"/sandboxes/{sandbox}/connect", {"timeout": 600}, fields=key)
        equal((again.status, again.json["envdAccessToken"]), (200, token), again)
        equal(same.ask("DELETE", f"/sandboxes/{sandbox}", fields=key).status, 204)


def refused(fleet):
    """Only operators move anything, by a gateway as by a node; a name that nobody made is nobody's."""
    gateway = fleet.gateways[0]
    with gateway.client(tenant="a") as client, gateway.client() as operator:
        sandbox = on(fleet, client, fleet.nodes[0])
        for token in (fleet.mint("--tenant", "a"), fleet.mint("--tenant", "b"), fleet.mint("--operator", "--tenant", "a"), fleet.mint("--operator", "--operation", "node.read"), fleet.mint("--operator", "--operation", "node.configure"),
                      fleet.mint("--operator", "--operation", "node.drain")):
            with gateway.client(token=token) as tenant:
                answer = tenant.ask("POST", "/v1/fleet/moves", {"sandbox": sandbox})
                equal(answer.status, 403, answer)
        with gateway.client(token=fleet.mint("--operator", "--operation", "sandbox.move")) as may:
            equal(may.ask("POST", "/v1/fleet/moves", {"sandbox": sandbox, "to": fleet.nodes[1].id}).status, 200)
        node = fleet.nodes[1]
        with node.client(token=node.daemon.mint_at(node.place.name, "--tenant", "a")) as tenant:
            for method, path in (("POST", "departures?move=" + "0" * 32), ("POST", "arrivals?move=" + "0" * 32), ("GET", f"departures/{sandbox}/tree?move={'0' * 32}&path=/tmp"),
                                 ("DELETE", f"arrivals/{sandbox}?move={'0' * 32}"), ("POST", f"departures/{sandbox}/end?to=1.1&move={'0' * 32}")):
                answer = tenant.ask(method, f"/v1/node/{path}", json.dumps({"sandbox": sandbox}) if method == "POST" else None)
                expect(answer.status in (403, 404), method, path, answer)
        with node.client() as direct:
            equal(direct.ask("POST", f"/v1/node/departures/{sandbox}/end?to=1.1&move={'0' * 32}").status, 404, "of a move that there is not:")
            equal(direct.ask("POST", f"/v1/node/arrivals?move={'0' * 32}&sandbox={sandbox}", "bm90aGluZw==").status, 400, "papers that nobody wrote:")
        forged = sandbox[:-1] + ("a" if sandbox[-1] != "a" else "b")
        for body, status in (({"sandbox": forged}, 404), ({"sandbox": sandbox, "to": "1.77"}, 404), ({"sandbox": sandbox, "to": fleet.nodes[1].id}, 409), ({"sandbox": sandbox, "at": "1.1"}, 400),
                             ({"sandbox": sandbox, "to": "here"}, 400), ({}, 400)):
            answer = operator.ask("POST", "/v1/fleet/moves", body)
            equal(answer.status, status, body, answer)
        # A node may read nothing of it, and write nothing.
        shown = fleet.nodes[0].place.certificate, fleet.nodes[0].place.key
        said = fleet.etcd.control("put", f"/cordon/moved/{sandbox}", f"{fleet.nodes[0].id} {node.id} {'0' * 32}", shows=shown, check=False)
        expect("permission denied" in said, said)
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
        budget = fleet.mint("--tenant", "a", "--budget", "sandboxes=2")
        with gateway.client(token=budget) as counted:
            bound = made(counted)
        answer = operator.ask("POST", "/v1/fleet/moves", {"sandbox": bound})
        expect(answer.status == 409 and "budget" in answer.json["detail"], answer)
        gone(client, [sandbox, bound])


def undone(fleet):
    """A move that fails leaves all as it was: what runs goes on, and nothing is left of the copy."""
    source, target = fleet.nodes[:2]
    with fleet.gateways[0].client(tenant="a") as client, fleet.gateways[0].client() as operator:
        sandbox = on(fleet, client, source)
        write(client, sandbox, "/workspace/x", b"x")
        counts = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["sh", "-c", "while :; do echo >> /workspace/n; sleep 0.05; done"]})
        equal(counts.status, 201, counts)

        def runs():
            before = len(read(client, sandbox, "/workspace/n"))
            wait_until(lambda: len(read(client, sandbox, "/workspace/n")) > before, 5, "what runs in it goes on:")
        runs()
        equal(operator.ask("POST", f"/v1/fleet/nodes/{target.id}/drain").status, 200)
        answer = move(fleet, sandbox, target)
        equal((answer.status, answer.json["code"]), (503, "CORDON-FLEET-NOT-MOVED"), answer)
        operator.ask("POST", f"/v1/fleet/nodes/{target.id}/resume")
        runs()
        # The node that is to take it dies with the copy half made; and when it is whole.
        for fault in ("fleet.arrive.made", "fleet.arrive.ready"):
            target.daemon.end(target.daemon.node)
            place = target.daemon.base / "own/fault"
            place.write_text("")
            fleet.environment = lambda party, of=fault: {**os.environ, "CORDON_FAULT": f"{of} {place}"} if party is target else None
            target.daemon.start_node()
            fleet.environment = lambda party: None
            fleet.settle()
            answer = move(fleet, sandbox, target)
            expect(answer.status in (409, 503), fault, answer)
            runs()
            equal(fleet.node_of(sandbox), source, fault)
            wait_until(lambda: target.daemon.node.poll() is not None, 5, "it died:")
            target.daemon.start_node()
            fleet.settle()
        equal(keys_since(fleet, 0).keys() & {f"/cordon/moved/{sandbox}"}, set())
        # And with all well it moves.
        moved(fleet, sandbox, target)
        equal(read(client, sandbox, "/workspace/x"), b"x")
        gone(client, [sandbox])


def changed_meanwhile(fleet):
    """What is ended while it is copied does not live on in the copy; what would narrow it is refused, and not lost."""
    source, target = fleet.nodes[:2]
    with fleet.gateways[0].client(tenant="a", timeout=120) as client:
        sandbox = on(fleet, client, source, {"policy": {"network": {"ingress": [8000]}, "resources": {"disk_limit": "200Mi"}}})
        for number in range(4):
            write(client, sandbox, f"/workspace/{number}", os.urandom(8 * MEBI))
        answers = []
        worker = threading.Thread(target=lambda: answers.append(move(fleet, sandbox, target)))
        worker.start()
        with fleet.gateways[1].client(tenant="a") as meanwhile:
            held = wait_until(lambda: (answer if (answer := meanwhile.ask("PATCH", f"/v1/sandboxes/{sandbox}", {"labels": {"a": "b"}})).status == 503 else None), 5, "nothing of it changes:")
            expect("moved" in held.json["detail"], held)
            ended = meanwhile.ask("DELETE", f"/v1/sandboxes/{sandbox}")
            equal(ended.status, 200, ended)
        begin = time.monotonic()
        worker.join(120)
        seconds = time.monotonic() - begin
        equal(answers[0].status, 409, answers[0])
        equal(fleet.node_of(sandbox), source, "only the verdict is there:")
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json["verdict"]["ending"], "killed")
        for node in fleet.nodes:
            with node.client() as direct:
                equal(direct.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
    return f"known after {seconds:.1f} s"


def drained(fleet):
    """cordon node drain --move empties a node, and says of each where it went; cordon fleet move moves one."""
    cordon = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "CORDON_NODE": fleet.gateways[0].socket}

    def good(*words):
        done = subprocess.run([fleet.programs / "cordon", *words], capture_output=True, text=True, timeout=120, env=cordon, check=False)
        equal(done.returncode, 0, words, done)
        return done
    with fleet.gateways[0].client(tenant="a") as client:
        sandboxes = [made(client) for _ in range(9)]
        node = fleet.nodes[0]
        there = [each for each in sandboxes if fleet.node_of(each) is node]
        expect(there, "none is there")
        done = good("node", "drain", node.id, "--move", "--wait", "--timeout", "30s")
        equal(sum(line.endswith("its processes have ended") for line in done.stderr.splitlines()), len(there), done)
        for each in sandboxes:
            equal(client.ask("GET", f"/v1/sandboxes/{each}").status, 200)
            expect(fleet.node_of(each) is not node)
        equal(sorted(row["id"] for row in client.ask("GET", "/v1/sandboxes").json["sandboxes"]), sorted(sandboxes))
        good("node", "resume", node.id)
        fleet.settle()
        done = good("fleet", "move", there[0], "--to", node.id)
        expect(done.stdout.startswith(f"{there[0]} is at {node.id} now, and was at 1."), done)
        report = json.loads(good("fleet", "move", there[0], "--json").stdout)
        equal((report["sandbox"], report["from"]), (there[0], node.id))
        gone(client, sandboxes)


def gateway_without_etcd(fleet):
    """A gateway that starts without etcd follows what was moved before."""
    one, other = fleet.gateways
    with other.client(tenant="a") as client:
        sandbox = on(fleet, client, fleet.nodes[0])
    moved(fleet, sandbox, fleet.nodes[1])
    wait_until(lambda: sandbox in ((other.home / "state/moved").read_text() if (other.home / "state/moved").exists() else ""), 20, "kept on the disk:")
    for number in range(3):
        fleet.etcd.members[number].send_signal(signal.SIGSTOP)
    try:
        other.end(signal.SIGKILL)
        other.start()
        # By its map, and not by the word of the node that had it.
        fleet.nodes[0].daemon.node.send_signal(signal.SIGSTOP)
        try:
            with other.client(tenant="a") as client:
                equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
        finally:
            fleet.nodes[0].daemon.node.send_signal(signal.SIGCONT)
    finally:
        for number in range(3):
            fleet.etcd.members[number].send_signal(signal.SIGCONT)
    fleet.settle()
    with one.client(tenant="a") as client:
        gone(client, [sandbox])


def under_ceilings(fleet):
    """What it was given where a ceiling stood above it, it is given again: neither what the ceiling would allow, nor a default in place of what it asked for."""
    network = {"network": {"mode": "none"}}
    ceiling = {"ceiling": {**network, "resources": {"memory_limit": "3Gi", "open_files": 777}}}
    with contextlib.ExitStack() as stack:
        for node in fleet.nodes[:2]:
            direct = stack.enter_context(node.client())
            put = direct.ask("PUT", "/v1/node/policy?release=1", ceiling)
            equal(put.status, 200, put)
            stack.callback(direct.ask, "DELETE", "/v1/node/policy")
        with fleet.gateways[0].client(tenant="a") as client:
            for asked in ({}, {"memory_limit": "300Mi", "cpu_limit": "2", "disk_limit": "100Mi"}):
                sandbox = on(fleet, client, fleet.nodes[0], {"policy": {"resources": asked}})
                said = lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}").json["enforcement"]  # noqa: E731
                before = said()
                moved(fleet, sandbox, fleet.nodes[1])
                equal(said(), before, "of one that asked for", asked)
                gone(client, [sandbox])
            # The counter-arm: what only the other node forbids holds there.
            equal(stack.enter_context(fleet.nodes[1].client()).ask("PUT", "/v1/node/policy?release=2", {"ceiling": {**network, "resources": {"timeout_seconds": 60}}}).status, 200)
            sandbox = on(fleet, client, fleet.nodes[0], {"timeout_seconds": 900})
            moved(fleet, sandbox, fleet.nodes[1])
            shown = client.ask("GET", f"/v1/sandboxes/{sandbox}").json
            lives = datetime.datetime.fromisoformat(shown["expires"]) - datetime.datetime.fromisoformat(shown["created"])
            expect(lives.total_seconds() <= 60, shown)
            gone(client, [sandbox])


LIAR = r"""socket(S,2,1,0); setsockopt(S,1,2,pack("l",1)); bind(S,pack("S n C4 x8",2,8000,127,0,0,1)) or die; listen(S,5);
while(accept(C,S)){sysread C,$b,4096; syswrite C,"HTTP/1.1 $ARGV[0]\r\nCordon-Moved: $ARGV[1]\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"; close C}"""


def said_inside(fleet):
    """Where a sandbox is only nodes say: a server inside that claims it was moved is an answer like any other."""
    with fleet.gateways[0].client(tenant="a") as client:
        for status, where in (("200 OK", fleet.nodes[2].id), ("410 Gone", fleet.nodes[2].id), ("503 Busy", "here")):
            sandbox = on(fleet, client, fleet.nodes[0], {"policy": {"network": {"ingress": [8000]}}})
            write(client, sandbox, "/workspace/liar.pl", LIAR.encode())
            equal(client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["perl", "/workspace/liar.pl", status, where]}).status, 201)
            answered = lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}/ports/8000/")  # noqa: E731
            wait_until(lambda: answered().status == int(status[:3]), 10, "it answers:")
            got = answered()
            equal((got.status, got.body, got.fields.get("Cordon-Moved")), (int(status[:3]), b"hi", None), got)
            equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json["id"], sandbox)
            moved(fleet, sandbox, fleet.nodes[1])
            gone(client, [sandbox])


def papers_of_another(fleet):
    """A node that has a sandbox cannot have another one made in its place; a node by itself, or without the right, takes none."""
    number = "1" * 32
    with fleet.gateways[0].client(tenant="a") as client, fleet.nodes[0].client() as source, fleet.nodes[1].client() as target:
        sandbox, other = (on(fleet, client, fleet.nodes[0]) for _ in range(2))
        left = source.ask("POST", f"/v1/node/departures?move={number}", {"sandbox": sandbox})
        equal(left.status, 200, left)
        at = lambda name: f"/v1/node/arrivals?move={number}&sandbox={name}"  # noqa: E731
        refused = target.ask("POST", at(other), left.json["traveller"])
        expect(refused.status == 400 and "another sandbox" in refused.json["detail"], refused)
        equal(target.ask("POST", f"/v1/node/arrivals?move={number}", left.json["traveller"]).status, 400)
        equal(target.ask("POST", at(sandbox), left.json["traveller"]).status, 204, "the counter-arm:")
        equal(target.ask("DELETE", f"/v1/node/arrivals/{sandbox}?move={number}").status, 204)
        equal(source.ask("DELETE", f"/v1/node/departures/{sandbox}?move={number}").status, 204)
        gone(client, [sandbox, other])


def used_of_lease(fleet, sandbox):
    """Seconds of the time that etcd keeps where it is."""
    (key,) = json.loads(fleet.etcd.control("get", f"/cordon/moved/{sandbox}", "--write-out=json"))["kvs"]
    lease = json.loads(fleet.etcd.control("lease", "timetolive", f"{key['lease']:x}", "--write-out=json"))
    return lease["granted-ttl"] - lease["ttl"]


def lives_on(fleet):
    """What is written of one that lives lasts while it does: gateways see to it when they start, and each day."""
    source, target = fleet.nodes[:2]
    with fleet.gateways[0].client(tenant="a") as client:
        sandbox = on(fleet, client, source)
        moved(fleet, sandbox, target)
        time.sleep(4)
        for gateway in fleet.gateways:
            gateway.end(signal.SIGKILL)
    # The node that had it cannot be asked.
    source.daemon.end(source.daemon.node, signal.SIGKILL)
    try:
        began = time.monotonic()
        before = used_of_lease(fleet, sandbox)
        expect(before >= 4, "seconds of its time that have passed:", before)
        for gateway in fleet.gateways:
            gateway.start()
        wait_until(lambda: used_of_lease(fleet, sandbox) < time.monotonic() - began, 90, "its time has begun anew:")
    finally:
        source.daemon.start_node()
        fleet.settle()
    with fleet.gateways[0].client(tenant="a") as client:
        gone(client, [sandbox])


def left_half_way(fleet):
    """Gateways that all died over a move: what is written of it is finished, or taken back, by the next that starts, with nobody asking."""
    source, target = fleet.nodes[:2]
    for has_left in (True, False):
        number = ("a" if has_left else "b") * 32
        with fleet.gateways[0].client(tenant="a") as client:
            sandbox = on(fleet, client, source)
        for gateway in fleet.gateways:
            gateway.end(signal.SIGKILL)
        with source.client() as home, target.client() as away:
            left = home.ask("POST", f"/v1/node/departures?move={number}", {"sandbox": sandbox})
            equal(left.status, 200, left)
            equal(away.ask("POST", f"/v1/node/arrivals?move={number}&sandbox={sandbox}", left.json["traveller"]).status, 204)
            equal(away.ask("POST", f"/v1/node/arrivals/{sandbox}/ready?move={number}").status, 204)
            fleet.etcd.control("put", f"/cordon/moved/{sandbox}", f"{target.id} {source.id} {number}")
            if has_left:
                equal(home.ask("POST", f"/v1/node/departures/{sandbox}/end?to={target.id}&move={number}").status, 204)
            else:
                equal(home.ask("DELETE", f"/v1/node/departures/{sandbox}?move={number}").status, 204)
        for gateway in fleet.gateways:
            gateway.start()
        fleet.settle()
        here = target if has_left else source
        with here.client() as direct:
            wait_until(lambda: direct.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 90, "it is found:")
        if not has_left:
            wait_until(lambda: not fleet.etcd.control("get", f"/cordon/moved/{sandbox}"), 90, "the key is gone:")
        with fleet.gateways[0].client(tenant="a") as client:
            wait_until(lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 30, "found by a gateway:")
            gone(client, [sandbox])


def budgets(fleet):
    """What is given once is not given twice: output that was written before the move counts behind it; and what a tenant's grants stand for stays the same."""
    source, target = fleet.nodes[:2]
    with fleet.gateways[0].client(tenant="a") as client:
        says = {"command": ["head", "-c", "40000", "/dev/zero"]}
        sandbox = on(fleet, client, source, {"policy": {"resources": {"output_limit": "64Ki"}}})
        equal(client.ask("POST", f"/v1/sandboxes/{sandbox}/run", says).status, 200)
        moved(fleet, sandbox, target)
        client.ask("POST", f"/v1/sandboxes/{sandbox}/run", says)
        ended = wait_until(lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}").json.get("verdict"), 10, "it has written too much:")
        equal(ended["ending"], "output", ended)
        # The counter-arm: one that wrote nothing before may write it.
        sandbox = on(fleet, client, source, {"policy": {"resources": {"output_limit": "64Ki"}}})
        moved(fleet, sandbox, target)
        equal(client.ask("POST", f"/v1/sandboxes/{sandbox}/run", says).status, 200)
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json.get("verdict"), None)
        gone(client, [sandbox])
        equal(client.ask("PUT", "/v1/secrets/key", "hidden").status, 204)
        policy = {"network": {"egress_allowlist": ["api.example:443"]},
                  "credentials": {"mode": "just_in_time", "grants": [{"name": "key", "env": "KEY", "from": "secret:key", "host": "api.example", "header": "Authorization: Bearer {secret}"}]}}
        sandbox = on(fleet, client, source, {"policy": policy})

        def shown():
            ran = client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["env"]})
            equal(ran.status, 200, ran)
            return next((line for line in ran.json["stdout"].splitlines() if line.startswith("KEY=")), None)
        before = shown()
        expect(before and "hidden" not in before, before)
        moved(fleet, sandbox, target)
        equal(shown(), before, "the placeholder:")
        # A secret that was deleted does not come back with one of its name.
        equal(client.ask("DELETE", "/v1/secrets/key").status, 204)
        equal(client.ask("PUT", "/v1/secrets/key", "another").status, 204)
        moved(fleet, sandbox, source)
        equal(shown(), None, "what stands for a secret that is gone:")
        gone(client, [sandbox])
        equal(client.ask("DELETE", "/v1/secrets/key").status, 204)


def quota(fleet):
    """At the limit of its quota a tenant's sandbox moves within its cell, and it has not one more behind it."""
    from quota_creates import give, until_made
    give(fleet, "q", 4)
    with fleet.gateways[0].client(tenant="q") as client:
        sandboxes = [until_made(client) for _ in range(4)]
        wait_until(lambda: client.ask("POST", "/v1/sandboxes", {}).status == 429, 10, "the limit:")
        for sandbox in sandboxes:
            moved(fleet, sandbox)
            answer = client.ask("POST", "/v1/sandboxes", {})
            equal(answer.status, 429, answer)
        equal(sorted(row["id"] for row in client.ask("GET", "/v1/sandboxes").json["sandboxes"]), sorted(sandboxes))
        gone(client, sandboxes)
        gone(client, [until_made(client)])
    with fleet.gateways[0].client() as operator:
        operator.ask("DELETE", "/v1/fleet/quotas/q")


def by_hand(fleet, sandbox, source, target, number):
    """All that a gateway does before it writes to etcd."""
    with source.client(timeout=60) as one, target.client(timeout=60) as other:
        left = one.ask("POST", f"/v1/node/departures?move={number}", {"sandbox": sandbox})
        equal(left.status, 200, left)
        equal(other.ask("POST", f"/v1/node/arrivals?move={number}&sandbox={sandbox}", left.json["traveller"]).status, 204)
        for path in left.json["paths"]:
            tree = one.ask("GET", f"/v1/node/departures/{sandbox}/tree?move={number}&path={path}")
            equal(other.ask("PUT", f"/v1/node/arrivals/{sandbox}/tree?move={number}&path={path}", tree.body).status, 200)
        equal(other.ask("POST", f"/v1/node/arrivals/{sandbox}/ready?move={number}").status, 204)


def finished_by_others(fleet):
    """What a gateway has written that died then, the others end; what is written of a sandbox that stays they take back."""
    source, target = fleet.nodes[:2]
    with fleet.gateways[0].client(tenant="a") as client, target.client(tenant="a") as direct:
        sandbox = on(fleet, client, source)
        write(client, sandbox, "/workspace/x", b"x")
        number = "1" * 32
        by_hand(fleet, sandbox, source, target, number)
        hidden = direct.ask("GET", f"/v1/sandboxes/{sandbox}")
        equal((hidden.status, hidden.json["code"]), (503, "CORDON-NODE-ARRIVING"), "nobody finds it yet:")
        equal(direct.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
        fleet.etcd.control("put", f"/cordon/moved/{sandbox}", f"{target.id} {source.id} {number}")
        wait_until(lambda: direct.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 15, "it is found there:")
        equal(read(client, sandbox, "/workspace/x"), b"x")
        with source.client(tenant="a") as old:
            equal(old.ask("GET", f"/v1/sandboxes/{sandbox}").status, 410)
        gone(client, [sandbox])
        # Of one that does not leave.
        sandbox = on(fleet, client, source)
        key = f"/cordon/moved/{sandbox}"
        fleet.etcd.control("put", key, f"{target.id} {source.id} {'2' * 32}")
        wait_until(lambda: not fleet.etcd.control("get", key).strip(), 15, "it is taken back:")
        wait_until(lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 5, "and is found:")
        # Of one that was let go before it was written.
        number = "3" * 32
        by_hand(fleet, sandbox, source, target, number)
        with source.client() as operator:
            equal(operator.ask("DELETE", f"/v1/node/departures/{sandbox}?move={number}").status, 204)
        fleet.etcd.control("put", key, f"{target.id} {source.id} {number}")
        wait_until(lambda: not fleet.etcd.control("get", key).strip(), 15, "it is taken back:")
        wait_until(lambda: direct.ask("GET", f"/v1/sandboxes/{sandbox}").status == 404, 5, "nor is there anything of it:")
        equal(client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["true"]}).status, 200)
        gone(client, [sandbox])


def source_dies(fleet):
    """A node that dies before it has decided keeps the sandbox, and it goes on; one that has decided never has it again."""
    source, target = fleet.nodes[:2]
    with fleet.gateways[0].client(tenant="a", timeout=60) as client:
        for fault, stays in (("fleet.leave.held", True), ("fleet.leave.written", False)):
            source.daemon.end(source.daemon.node)
            place = source.daemon.base / "own/fault"
            fleet.environment = lambda party, of=fault, file=place: {**os.environ, "CORDON_FAULT": f"{of} {file}"} if party is source else None
            source.daemon.start_node()
            fleet.environment = lambda party: None
            fleet.settle()
            sandbox = on(fleet, client, source)
            write(client, sandbox, "/workspace/x", b"x")
            counts = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["sh", "-c", "while :; do echo >> /workspace/n; sleep 0.05; done"]})
            equal(counts.status, 201, counts)
            place.write_text("")
            answers = []
            worker = threading.Thread(target=lambda of=sandbox, to=answers: to.append(move(fleet, of, target)))
            worker.start()
            wait_until(lambda: source.daemon.node.poll() is not None, 20, "it died:")
            source.daemon.start_node()
            worker.join(60)
            fleet.settle()
            if stays:
                expect(answers[0].status in (409, 503), answers)
                before = len(read(client, sandbox, "/workspace/n"))
                wait_until(lambda: len(read(client, sandbox, "/workspace/n")) > before, 10, "what runs in it goes on:")
            else:
                expect(answers[0].status in (200, 502), answers)
                wait_until(lambda: client.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200, 20, "found:")
                equal(read(client, sandbox, "/workspace/x"), b"x")
                equal(fleet.node_of(sandbox), target)
            gone(client, [sandbox])


def gateway_dies(fleet):
    """A gateway that dies while it copies: within a bounded time the sandbox goes on where it was, and the copy is gone."""
    one, other = fleet.gateways
    source, target = fleet.nodes[:2]
    with other.client(tenant="a", timeout=120) as client:
        sandbox = on(fleet, client, source, {"policy": {"resources": {"disk_limit": "200Mi"}}})
        for number in range(4):
            write(client, sandbox, f"/workspace/{number}", os.urandom(8 * MEBI))
        worker = threading.Thread(target=tried, args=(fleet, sandbox, target))
        worker.start()
        with target.client() as direct:
            wait_until(lambda: direct.ask("GET", f"/v1/sandboxes/{sandbox}").status == 503, 20, "the copy begins:")
            one.end(signal.SIGKILL)
            held = client.ask("PATCH", f"/v1/sandboxes/{sandbox}", {"labels": {"a": "b"}})
            equal(held.status, 503, "held:", held)
            begin = time.monotonic()
            wait_until(lambda: client.ask("PATCH", f"/v1/sandboxes/{sandbox}", {"labels": {"a": "b"}}).status == 200, 90, "it goes on:")
            seconds = time.monotonic() - begin
        # Idle connections are closed meanwhile.
        with target.client() as direct:
            wait_until(lambda: direct.ask("GET", f"/v1/sandboxes/{sandbox}").status == 404, 40, "the copy is gone:")
        worker.join(30)
        one.start()
        fleet.settle()
        moved(fleet, sandbox, target)
        gone(client, [sandbox])
    return f"after {seconds:.0f} s"


def tried(fleet, sandbox, to):
    with contextlib.suppress(OSError, http.client.HTTPException):
        move(fleet, sandbox, to)


CHECKS = {check.__name__: check for check in (goes_on, again_and_home, by_all_names, refused, under_ceilings, said_inside, papers_of_another, left_half_way, lives_on, budgets, quota, undone, changed_meanwhile, finished_by_others, source_dies, drained,
                                              gateway_without_etcd, gateway_dies)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="cordon-secrets-", dir="/var/tmp") as stores:
        for number in (1, 2, 3):
            os.mkdir(f"{stores}/{number}", 0o700)
        sys.exit(run(CHECKS, lambda programs: Fleet(programs, nodes=3, gateways=2, slots=20, indexes=1, tools=("/usr/bin/sleep", "/usr/bin/stat", "/usr/bin/perl"),
                                                    floor=FLOOR + f"secrets = {stores}/{{number}}\n")))
