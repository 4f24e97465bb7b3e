# SPDX-License-Identifier: Apache-2.0
"""A gateway in front of real nodes: `gateway.py PROGRAMS [NAME...]`, all checks with one fleet. 77: something that it needs is not here."""
import collections
import concurrent.futures
import contextlib
import http.client
import json
import signal
import sys
import threading
import time

from checks import run
from cluster import equal, expect, wait_until
from parties import CELL, Fleet
from daemon import Client
from websocket import WebSocket

SLOTS = 6
FOREVER = {"command": ["/usr/bin/sleep", "1000"]}


def made(client, body=None, **fields):
    answer = client.ask("POST", "/v1/sandboxes", body or {}, fields=fields)
    equal(answer.status, 201, answer)
    return answer.json["id"]


def homes(fleet, sandboxes):
    return [fleet.node_of(sandbox) for sandbox in sandboxes]


def gone(client, sandboxes):
    for sandbox in sandboxes:
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)


def made_on(fleet, client, node):
    """As many as it takes until one is on this node, which is the last of them: no more than the others have room for."""
    sandboxes = []
    while not sandboxes or fleet.node_of(sandboxes[-1]) is not node:
        expect(len(sandboxes) <= fleet.slots * (len(fleet.nodes) - 1), "none of", len(sandboxes), "is on", node.id)
        sandboxes.append(made(client))
    return sandboxes


def spread(fleet):
    """New sandboxes go to all nodes, and each call about one finds the node that has it."""
    with fleet.gateways[0].client(token=fleet.mint("--tenant", "a")) as client:
        sandboxes = [made(client) for _ in range(12)]
        # Each goes to the freer of two that are drawn: a few more may be needed until each was.
        while len(set(found := homes(fleet, sandboxes))) < len(fleet.nodes):
            expect(len(sandboxes) < SLOTS * (len(fleet.nodes) - 1), "where they are:", [node.id for node in found])
            sandboxes.append(made(client))
        for sandbox in sandboxes:
            ran = client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["/usr/bin/printf", "here"]})
            equal((ran.status, ran.json["stdout"]), (200, "here"), ran)
        listed = client.ask("GET", "/v1/sandboxes").json
        equal((sorted(each["id"] for each in listed["sandboxes"]), listed.get("unanswered")), (sorted(sandboxes), None))
        page = client.ask("GET", "/v1/sandboxes?limit=5").json
        rest = client.ask("GET", f"/v1/sandboxes?after={page['next']}").json
        equal([each["id"] for each in page["sandboxes"] + rest["sandboxes"]], sorted(sandboxes), "in two pages:")
        gone(client, sandboxes)
        equal(client.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
    return ", ".join(f"{found.count(node)} on {node.id}" for node in fleet.nodes)


def full(fleet):
    """A fleet takes as many as it has slots, whoever asks; one more is refused in words, and a slot that is free again is found."""
    one, other = (gateway.client(tenant="a") for gateway in fleet.gateways)
    with one, other:
        sandboxes = [made((one, other)[number % 2]) for number in range(SLOTS * len(fleet.nodes))]
        counts = collections.Counter(node.id for node in homes(fleet, sandboxes))
        equal(set(counts.values()), {SLOTS}, counts)
        refused = one.ask("POST", "/v1/sandboxes", {})
        equal((refused.status, refused.json["code"]), (503, "CORDON-FLEET-FULL"), refused)
        ran = other.ask("POST", "/v1/run", {"command": ["true"]})
        equal((ran.status, ran.json["code"]), (503, "CORDON-FLEET-FULL"), ran)
        gone(one, sandboxes[:1])
        again = made(other)
        equal(fleet.node_of(again).id, fleet.node_of(again).id)
        gone(one, [*sandboxes[1:], again])
    return f"{SLOTS * len(fleet.nodes)} at once"


def nothing_written(fleet):
    """etcd hears of nodes, not of sandboxes: what is written does not grow with creates."""
    begin, before = time.monotonic(), fleet.etcd.revision()
    with fleet.gateways[0].client(tenant="a") as client:
        count = 0
        while time.monotonic() - begin < 4:
            equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
            gone(client, [made(client)])
            count += 2
    seconds, writes = time.monotonic() - begin, fleet.etcd.revision() - before
    # Each node looks at most every eight seconds whether it has something to say.
    expect(writes <= len(fleet.nodes) * (seconds // 8 + 1), writes, "writes in", seconds, "s")
    keys = fleet.etcd.control("get", "/cordon/", "--prefix", "--keys-only").split()
    equal(sorted(keys), [f"/cordon/cells/{CELL}/nodes/{node.number}" for node in fleet.nodes], "all that etcd holds:")
    return f"{count} sandboxes in {seconds:.1f} s, {writes} writes"


def same_key(fleet):
    """C308: the same key makes one sandbox, by whichever gateways and however many at once."""
    def ask(number):
        with fleet.gateways[number % 2].client(tenant="a") as client:
            return client.ask("POST", "/v1/sandboxes", {}, fields={"Idempotency-Key": "one"})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    expect({answer.status for answer in answers} <= {201, 409}, answers)
    equal(len({answer.json["id"] for answer in answers if answer.status == 201}), 1, answers)
    equal(ask(0).json["id"], ask(1).json["id"])
    with fleet.gateways[0].client(tenant="a") as client:
        listed = client.ask("GET", "/v1/sandboxes").json["sandboxes"]
        equal(len(listed), 1)
        # The counter-arm: without the key each asks for one.
        others = [made(client), made(client)]
        expect(others[0] != others[1])
        gone(client, [listed[0]["id"], *others])


def drained(fleet):
    """A node that is drained by name takes nothing new, keeps what it has, and goes on when it is told."""
    node = fleet.nodes[1]
    one, other = fleet.gateways
    with one.client() as operator, other.client(tenant="a") as client, one.client(token=fleet.mint("--tenant", "a")) as tenant:
        *others, there = made_on(fleet, client, node)
        gone(client, others[8:])
        kept = [*others[:8], there]
        equal(tenant.ask("POST", f"/v1/fleet/nodes/{node.id}/drain").status, 403, "a tenant:")
        equal(operator.ask("POST", f"/v1/fleet/nodes/{CELL}.77/drain").status, 404, "one that is not there:")
        answer = operator.ask("POST", f"/v1/fleet/nodes/{node.id}/drain")
        equal((answer.status, answer.json["draining"]), (200, True), answer)
        wait_until(lambda: node.id not in other.placeable(), 4, "the other gateway hears of it:")
        new = [made(client) for _ in range(8)]
        expect(node not in homes(fleet, new), "given to a node that is drained")
        equal(client.ask("POST", f"/v1/sandboxes/{there}/run", {"command": ["true"]}).status, 200)
        # Whoever asks it all the same is told to ask another.
        with node.client(tenant="a") as direct:
            refused = direct.ask("POST", "/v1/sandboxes", {})
            equal((refused.status, refused.json["code"], refused.fields["Cordon-No-Room"]), (503, "CORDON-NODE-DRAINING", "draining"))
        equal(operator.ask("POST", f"/v1/fleet/nodes/{node.id}/resume").json["draining"], False)
        fleet.settle(5)
        gone(client, kept + new)


def streamed(gateway, path, token):
    """Lines of a stream, as they come, and when it ended."""
    client = gateway.client(token=token)
    heard, ended = [], []

    def read():
        try:
            for line in client.lines(path):
                heard.append(line)
        except (OSError, http.client.HTTPException):
            pass
        ended.append(time.monotonic())
    threading.Thread(target=read, daemon=True).start()
    return heard, ended


def taken_back(fleet):
    """C307: a token that is taken back at one gateway holds nowhere within a second, and what goes on with it ends: also while etcd is away."""
    one, other = fleet.gateways
    told = []
    for is_away in (False, True):
        parent = fleet.mint("--tenant", "a")
        with other.client(token=parent) as client, one.client() as operator:
            sandbox = made(client)
            process = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", FOREVER).json["process"]
            equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
            _, ended = streamed(other, f"/v1/sandboxes/{sandbox}/processes/{process}/output", parent)
            time.sleep(0.3)
            expect(not ended, "the stream ended by itself")
            if is_away:
                for number in range(3):
                    fleet.etcd.members[number].send_signal(signal.SIGSTOP)
            try:
                begin = time.monotonic()
                equal(operator.ask("POST", "/v1/tokens/revoke", {"token": parent}).status, 204)
                wait_until(lambda: ended, 1, "the stream is cut:")
                told.append(ended[0] - begin)
                # By the gateway that heard of it, or by the node, which was told at once.
                refused = client.ask("GET", f"/v1/sandboxes/{sandbox}")
                expect(refused.status in (401, 403), refused)
                with one.client(token=parent) as same:
                    equal(same.ask("GET", "/v1/sandboxes").status, 401)
            finally:
                for number in range(3):
                    fleet.etcd.members[number].send_signal(signal.SIGCONT)
            gone(operator, [sandbox])
    wait_until(lambda: fleet.etcd.control("get", "/cordon/revocations/", "--prefix", "--keys-only", check=False).count("/cordon/") == 2, 20, "etcd hears of both:")
    return ", ".join(f"{seconds * 1000:.0f} ms" for seconds in told)


class Idle:
    """A stream on which nobody says anything, in either direction: `wait` returns when it has ended."""

    def __init__(self, name, wait):
        self.name, self.ended = name, None
        self.thread = threading.Thread(target=self.run, args=(wait,), daemon=True)
        self.thread.start()

    def run(self, wait):
        with contextlib.suppress(OSError, http.client.HTTPException):
            wait()
        self.ended = time.monotonic()


def read_all(client, path):
    with client:
        client.open(path).read()


def enveloped(message):
    body = json.dumps(message).encode()
    return b"\0" + len(body).to_bytes(4, "big") + body


def e2b_process(socket, made_by_e2b):
    """A process of an E2B client's, whose stream it is."""
    with Client(socket) as client:
        client.connection.request("POST", "/process.Process/Start", body=enveloped({"process": {"cmd": "/usr/bin/sleep", "args": ["1000"]}}), headers={
            "Host": f"49983-{made_by_e2b['sandboxID']}.example.com", "Content-Type": "application/connect+json", "Connect-Protocol-Version": "1",
            "X-Access-Token": made_by_e2b["envdAccessToken"]})
        client.connection.getresponse().read()


def idle_streams(socket, client, token):
    """One of each kind, opened with this token."""
    sandbox = made(client)
    here = f"/v1/sandboxes/{sandbox}"

    def process(**more):
        return f"{here}/processes/{client.ask('POST', here + '/processes', {'command': ['/usr/bin/cat'], **more}).json['process']}"
    plain, terminal = process(), process(pty={"rows": 24, "cols": 80})
    paths = {"output": plain + "/output", "wait": plain + "/wait?seconds=600", "events of one": here + "/events", "events": "/v1/events", "files": here + "/files/watch?path=/workspace"}
    streams = [Idle(name, lambda path=path: read_all(Client(socket, token=token), path)) for name, path in paths.items()]
    for name, path in {"attached": plain + "/attach?acknowledge=client", "terminal": terminal + "/attach?acknowledge=client", "output as a WebSocket": plain + "/output"}.items():
        ws = WebSocket.at(socket, path, token=token)
        streams.append(Idle(name, lambda ws=ws: list(ws.events())))
    return sandbox, streams


def unread(client, sandbox):
    """The output of a program that never stops, of which nothing is read."""
    process = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["/usr/bin/yes"]}).json["process"]
    return client.open(f"/v1/sandboxes/{sandbox}/processes/{process}/output")


def expect_its_end(stream):
    """What was on its way is all that comes."""
    begin = time.monotonic()
    with contextlib.suppress(OSError, http.client.HTTPException):
        while stream.read1(1 << 16):
            expect(time.monotonic() - begin < 3, "it goes on")


@contextlib.contextmanager
def etcd_stands(fleet):
    for member in fleet.etcd.members:
        member.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for member in fleet.etcd.members:
            member.send_signal(signal.SIGCONT)


def idle_and_taken_back(fleet):
    """C307: every kind of stream ends within a second of its token, though it is idle, or not read, at a gateway and at a node's own door; what another token has opened goes on."""
    gateway, node = fleet.gateways[1], fleet.nodes[0]
    told = []
    at_gateways = gateway.socket, fleet.mint, fleet.gateways[0].socket
    at_node = node.daemon.socket, lambda *words: node.daemon.mint_at(node.place.name, *words), node.daemon.socket
    # Without etcd the other gateway hears nothing: nodes, who were told at once, say it.
    for (socket, mint, taken_at), is_away in ((at_gateways, False), (at_gateways, True), (at_node, False)):
        token, other = mint("--tenant", "a"), mint("--tenant", "a")
        with Client(socket, token=token) as client, Client(socket, token=other) as same, Client(taken_at) as operator:
            sandbox, streams = idle_streams(socket, client, token)
            kept, going_on = idle_streams(socket, same, other)
            full = unread(client, sandbox)
            time.sleep(1)
            equal([stream.name for stream in streams + going_on if stream.ended], [], "ended by themselves:")
            with etcd_stands(fleet) if is_away else contextlib.nullcontext():
                begin = time.monotonic()
                equal(operator.ask("POST", "/v1/tokens/revoke", {"token": token}).status, 204)
                with contextlib.suppress(AssertionError):
                    wait_until(lambda: all(stream.ended for stream in streams), 3, "all are cut:")
            late = {stream.name: stream.ended and stream.ended - begin for stream in streams if not stream.ended or stream.ended - begin > 1}
            equal(late, {}, "cut late, or never:", socket)
            told.append(max(stream.ended for stream in streams) - begin)
            time.sleep(max(0, begin + 1 - time.monotonic()))
            expect_its_end(full)
            equal([stream.name for stream in going_on if stream.ended], [], "of the other token:")
            gone(operator, [sandbox, kept])
            wait_until(lambda: all(stream.ended for stream in going_on if stream.name != "events"), 5, "they end with their sandbox:")
    # The access token of a sandbox of the E2B API is taken back with its sandbox.
    with gateway.client() as client:
        keyed = {"X-API-Key": fleet.mint("--tenant", "a", "--e2b")}
        sandbox = client.ask("POST", "/sandboxes", {"templateID": "base"}, keyed).json
        stream = Idle("E2B", lambda: e2b_process(gateway.socket, sandbox))
        time.sleep(1)
        expect(not stream.ended, "it ended by itself")
        begin = time.monotonic()
        equal(client.ask("DELETE", f"/sandboxes/{sandbox['sandboxID']}", fields=keyed).status, 204)
        wait_until(lambda: stream.ended, 3, "cut:")
        expect(stream.ended - begin < 1, "cut late:", stream.ended - begin)
    return ", ".join(f"{seconds * 1000:.0f} ms" for seconds in told)


def without_etcd(fleet):
    """With etcd away sandboxes are made and reached, and a gateway that starts then goes by its last map."""
    one = fleet.gateways[0]
    wait_until(lambda: (one.home / "state/map").exists(), 15, "a map is kept:")
    for number in range(3):
        fleet.etcd.members[number].kill()
        fleet.etcd.members[number].wait()
    try:
        with one.client(tenant="a") as client:
            sandbox = made(client)
        one.end(signal.SIGKILL)
        one.start()
        with one.client(tenant="a") as client:
            equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
            fleet.settle(15)
            others = [made(client) for _ in range(8)]
            expect(len(set(homes(fleet, others))) > 1, "one node has all")
            gone(client, [sandbox, *others])
    finally:
        for number in range(3):
            fleet.etcd.start(number)
    wait_until(lambda: fleet.etcd.is_healthy(0), 30, "etcd is back:")
    fleet.settle()


def node_starts_anew(fleet):
    """A node that dies and comes back has its sandboxes; while it is away they are answered for in words."""
    node = fleet.nodes[0]
    with fleet.gateways[1].client(tenant="a") as client:
        sandboxes = made_on(fleet, client, node)
        there = sandboxes[-1]
        node.daemon.end(node.daemon.node, signal.SIGKILL)
        away = client.ask("GET", f"/v1/sandboxes/{there}")
        equal((away.status, away.json["code"]), (503, "CORDON-FLEET-NODE-AWAY"), away)
        listed = client.ask("GET", "/v1/sandboxes").json
        equal(listed["unanswered"], [node.id], "what is missing of a list is said:")
        gone(client, sandboxes[:-1])
        new = [made(client) for _ in range(3)]
        node.daemon.start_node()
        equal(client.ask("POST", f"/v1/sandboxes/{there}/run", {"command": ["true"]}).status, 200)
        fleet.settle(10)
        gone(client, [there, *new])


def gateway_dies(fleet):
    """Clients that ask another gateway with the same key have one sandbox each, and lose none."""
    one, other = fleet.gateways
    made_by_key, stop = {}, threading.Event()

    def work(worker):
        for number in range(6):
            key = f"{worker}-{number}"
            for gateway in [one, other] * 20:
                if key in made_by_key:
                    break
                try:
                    with gateway.client(tenant="a", timeout=10) as client:
                        answer = client.ask("POST", "/v1/sandboxes", {}, fields={"Idempotency-Key": key})
                        if answer.status == 201:
                            made_by_key[key] = answer.json["id"]
                            client.ask("DELETE", f"/v1/sandboxes/{answer.json['id']}")
                except (OSError, http.client.HTTPException):
                    time.sleep(0.02)
    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for each in workers:
        each.start()
    time.sleep(0.3)
    one.end(signal.SIGKILL)
    time.sleep(0.3)
    one.start()
    for each in workers:
        each.join(60)
    stop.set()
    equal(len(made_by_key), 18, "each key has a sandbox:")
    equal(len(set(made_by_key.values())), 18)
    fleet.settle(15)
    with other.client() as operator:
        for sandbox in operator.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
            operator.ask("DELETE", f"/v1/sandboxes/{sandbox['id']}")


def rights(fleet):
    """C306: a token of the fleet is none of a node, and a node's none of the fleet; what a node is shown holds at that node alone."""
    one, other = fleet.nodes[:2]
    gateway = fleet.gateways[0]
    fleet_token = fleet.mint("--tenant", "a")
    with one.client(token=fleet_token) as direct:
        equal(direct.ask("GET", "/v1/sandboxes").status, 401, "a token of the fleet at a node:")
    of_node = one.daemon.mint_at(one.place.name, "--tenant", "a")
    with gateway.client(token=of_node) as client:
        equal(client.ask("GET", "/v1/sandboxes").status, 401, "a node's token at a gateway:")
    with other.client(token=of_node) as client:
        equal(client.ask("GET", "/v1/sandboxes").status, 401, "a node's token at another node:")
    with one.client(token=of_node) as client:
        equal(client.ask("GET", "/v1/sandboxes").status, 200, "and at its own:")
    with gateway.client(token=fleet.mint("--tenant", "a", "--operation", "sandbox.read")) as reader:
        equal(reader.ask("POST", "/v1/sandboxes", {}).status, 403)
        equal(reader.ask("GET", "/v1/sandboxes").status, 200)
    with gateway.client(token=fleet.mint("--tenant", "a")) as ours, gateway.client(token=fleet.mint("--tenant", "b")) as theirs:
        sandbox = made(ours)
        equal(theirs.ask("GET", f"/v1/sandboxes/{sandbox}").status, 404)
        equal(theirs.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
        forged = sandbox[:-1] + ("a" if sandbox[-1] != "a" else "b")
        equal(ours.ask("GET", f"/v1/sandboxes/{forged}").status, 404, "a name that nobody has made:")
        # A chain that somebody makes up takes rights away, and gives none.
        equal(theirs.ask("GET", f"/v1/sandboxes/{sandbox}", fields={"Cordon-Chain": "00" * 16}).status, 404)
        # What `Connection` names is taken off: it must not have led past the gate.
        named = {"E2b-Sandbox-Id": sandbox, "E2b-Sandbox-Port": "49983", "Connection": "E2b-Sandbox-Id"}
        equal(theirs.ask("GET", "/v1/node", fields=named).status, 400, "a field that is gone behind the gate:")
        gone(ours, [sandbox])
    budget = fleet.mint("--tenant", "a", "--budget", "sandboxes=2")
    with gateway.client(token=budget) as client, fleet.gateways[1].client(token=budget) as same:
        two = [made(client), made(same)]
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429, "a third, whichever node has the account:")
        # A chain of one's own would be another account.
        equal(client.ask("POST", "/v1/sandboxes", {}, fields={"Cordon-Chain": "11" * 16}).status, 429, "with a chain that is made up:")
        gone(client, two)


CHECKS = {check.__name__: check for check in (spread, full, nothing_written, same_key, drained, rights, taken_back, idle_and_taken_back, without_etcd, node_starts_anew, gateway_dies)}


if __name__ == "__main__":
    sys.exit(run(CHECKS, lambda programs: Fleet(programs, nodes=4, gateways=2, slots=SLOTS)))
