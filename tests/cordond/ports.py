# SPDX-License-Identifier: Apache-2.0
"""Servers inside a sandbox through the API of a node: `ports.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import contextlib
import functools
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

from api import DENIED, NOT_FOUND, UNAUTHENTICATED, equal, expect, made, main, started
from daemon import HERE, Daemon
from websocket import BINARY, TEXT, Refused, WebSocket

PYTHON = sorted(pathlib.Path("/usr/bin").glob("python3.[0-9][0-9]"))[-1]
PORT, OTHER = 8000, 8001
LISTED = {"policy": {"network": {"ingress": [PORT, OTHER]}, "resources": {"disk_limit": "64Mi"}}}


def add_python(node):
    """The library of Python, in the image."""
    if (node.root / f"usr/lib/{PYTHON.name}/os.py").exists():
        return
    left_out = shutil.ignore_patterns("dist-packages", "test", "idlelib", "tkinter", "ensurepip", "config-*", "__pycache__", "lib2to3", "pydoc_data")
    shutil.copytree(f"/usr/lib/{PYTHON.name}", node.root / f"usr/lib/{PYTHON.name}", ignore=left_out, symlinks=True, dirs_exist_ok=True)


@contextlib.contextmanager
def served(node, *words, body=LISTED, **client):
    """A sandbox with a server in it, which listens: the path of its port, and the sandbox."""
    add_python(node)
    with node.client(**client) as asks:
        sandbox = made(asks, body)
        for name in ("inside_server.py", "websocket.py"):
            equal(asks.ask("PUT", f"/v1/sandboxes/{sandbox}/files?path=/workspace/{name}", (HERE / name).read_bytes()).status, 204)
        words = words or ("/workspace/inside_server.py", str(PORT))
        process = started(asks, sandbox, f"/usr/bin/{PYTHON.name}", "-u", *words, environment={"PYTHONDONTWRITEBYTECODE": "1"})
        lines = node.client().lines(process + "/output?acknowledge=client")
        first = next(lines)
        expect(first.get("data", "").startswith(("ready", "Serving")), "no server:", first)
        yield f"/v1/sandboxes/{sandbox}/ports/{PORT}", sandbox


def a_plain_server(node):
    """Python's own http.server: files, lists, HEAD, what is not there, and one connection for many requests."""
    with served(node, "-m", "http.server", str(PORT), "--bind", "127.0.0.1") as (port, sandbox), node.client() as client:
        data = os.urandom(3_000_000)
        equal(client.ask("PUT", f"/v1/sandboxes/{sandbox}/files?path=/workspace/d/big&parents=true", data).status, 204)
        got = client.ask("GET", port + "/d/big?x&x=1&&%zz")
        equal((got.status, hashlib.sha256(got.body).digest()), (200, hashlib.sha256(data).digest()))
        head = client.ask("HEAD", port + "/d/big")
        equal((head.status, head.fields["Content-Length"], head.body), (200, str(len(data)), b""))
        expect(b"inside_server.py" in client.ask("GET", port + "/").body, "the list")
        equal(client.ask("GET", port + "/none").status, 404)
        equal(client.ask("POST", port + "/", b"x").status, 501)
        answer = client.ask("GET", port + "/d/big")
        expect(answer.fields["Cordon-Request"] and len(answer.fields.get_all("Date")) == 1, answer.fields)


def nothing_of_ours_goes_in(node):
    """The token and what is for us stay outside, in every spelling; what is the client's own goes through."""
    token = node.mint("--tenant", "a")
    with served(node, token=token) as (port, _):
        with node.client(token=token) as client:
            seen = client.ask("POST", port + "/headers/x?a=b&a=c", b"body", fields={
                "X-Own": "kept", "Cookie": "c=d", "authorization_": "kept too", "Proxy-Authorization": "Basic x", "proxy_authorization": "x",
                "Cordon-Tenant": "a", "Connection": "keep-alive, X-Hop", "X-Hop": "x", "TE": "trailers"})
            text = seen.body.decode().lower()
            expect(text.startswith("post /headers/x?a=b&a=c http/1.1\r\nhost: localhost:8000\r\n"), text)
            for word in ("x-own: kept", "cookie: c=d", "authorization_: kept too", "content-length: 4", "connection: close"):
                expect(word in text, word, text)
            for word in (token.lower(), "bearer", "cdn1_", "proxy", "cordon", "x-hop", "te:", "keep-alive"):
                expect(word not in text, word, text)
            equal((seen.fields["Cordon-Request"] == "forged", seen.fields["X-Hop"], seen.fields["Set-Cookie"]), (False, None, "a=b"))


def bodies_stream(node):
    """Both ways, by length and in chunks, far larger than any buffer; a side that is slow slows the other."""
    data = os.urandom(1 << 20) * 16
    with served(node) as (port, _), node.client(timeout=60) as client:
        wanted = f"{len(data)} {hashlib.sha256(data).hexdigest()}"
        equal(client.ask("PUT", port + "/upload", data).body.decode(), wanted)
        pieces = (data[at:at + 70_000] for at in range(0, len(data), 70_000))
        client.connection.request("POST", port + "/upload", body=pieces, headers={"Transfer-Encoding": "chunked"}, encode_chunked=True)
        equal(client.connection.getresponse().read().decode(), wanted)
        got = client.ask("GET", port + "/much")
        equal((len(got.body), got.body == bytes(range(256)) * (256 * 128)), (128 << 16, True))
        equal(client.ask("GET", port + "/bit/by/bit").body, b"one two three")
        equal(client.ask("GET", port + "/interim").body, b"at last")
        equal((client.ask("GET", port + "/nothing").status, client.ask("DELETE", port + "/no/content").status), (404, 204))
        equal(client.ask("GET", port + "/second").body, b"first")
        with node.client() as eager:
            early = eager.ask("POST", port + "/early", b"x" * 1000)
            equal((early.status, early.body), (413, b"enough"))
        # Who does not read holds up the server inside, not the node: its memory stays as it is.
        before = memory_of(node)
        idle = []
        for _ in range(8):
            slow = node.client()
            slow.connection.request("GET", port + "/much")
            idle.append((slow, slow.connection.getresponse()))
        equal(client.ask("GET", port + "/headers").status, 200, "beside them:")
        expect(memory_of(node) - before < 40 << 20, "bytes that nobody reads are kept in the node:", memory_of(node) - before)
        for slow, answer in idle:
            equal(len(answer.read()), 128 << 16)
            slow.connection.close()


def memory_of(node):
    with open(f"/proc/{node.node.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def a_websocket_inside(node):
    """Passed through as it is, both ways and large; the token stays outside; it ends with its token and with its sandbox."""
    token, other = node.mint("--tenant", "a"), node.mint("--tenant", "a")
    inspected = subprocess.run([node.programs / "cordon", "token", "inspect", "--json"], input=token, capture_output=True, text=True, check=True)
    with served(node, token=token) as (port, sandbox):
        with WebSocket.at(node.socket, port + "/ws", token=token) as ws:
            for kind, data in ((TEXT, "grüße".encode()), (BINARY, b""), (BINARY, os.urandom(3_000_000))):
                sender = threading.Thread(target=ws.send, args=(kind, data))
                sender.start()
                equal(ws.receive() == (kind, data), True, "what came back")
                sender.join()
            ws.close()
            equal(ws.closed[0], 1000)
            equal(ws.socket.recv(1), b"", "behind the farewell")
        try:
            WebSocket.at(node.socket, port + "/headers", token=token)
            raise AssertionError("what is no WebSocket inside became one")
        except Refused as refusal:
            equal(refusal.status, 200)
            expect(b"upgrade: websocket" in refusal.body.lower() and token.encode() not in refusal.body, refusal.body)
        for name in ("/ws", "/headers"):
            try:
                WebSocket.at(node.socket, port + name, token=token, Origin="https://evil.example")
                raise AssertionError("a page got through")
            except Refused as refusal:
                equal(refusal.status, DENIED)
        with WebSocket.at(node.socket, port + "/ws", token=token) as cut, WebSocket.at(node.socket, port + "/ws", token=other) as goes_on, \
                node.client() as operator:
            for ws in (cut, goes_on):
                ws.send(TEXT, b"x")
                equal(ws.receive(), (TEXT, b"x"))
            equal(operator.ask("POST", f"/v1/tokens/revoke?id={json.loads(inspected.stdout)['revocation']}").status, 204)
            began = time.monotonic()
            ended(cut)
            expect(time.monotonic() - began < 1, "it went on for", time.monotonic() - began)
            goes_on.send(TEXT, b"still")
            equal(goes_on.receive(), (TEXT, b"still"))
            equal(operator.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
            ended(goes_on)


def ended(ws):
    with contextlib.suppress(ConnectionError):
        equal(ws.socket.recv(1), b"", "what comes of one that has ended")


def only_listed_ports(node):
    """The rule is told; a server behind it is there all the same, and a policy that lists it opens it. A token alone does not."""
    with node.client(tenant="a") as client:
        for policy, said in (({}, 'network.ingress = "deny_all"'), ({"network": {"ingress": "deny_all"}}, 'network.ingress = "deny_all"'),
                             ({"network": {"ingress": [OTHER]}}, f"network.ingress = [{OTHER}]")):
            with served(node, body={"policy": {**policy, "resources": {"disk_limit": "64Mi"}}}, tenant="a") as (port, _):
                answer = client.ask("GET", port + "/headers")
                equal((answer.status, answer.json["code"]), (DENIED, "CORDON-API-DENIED"), answer)
                expect(said in answer.json["detail"] and str(PORT) in answer.json["remedy"], answer)
        with served(node, tenant="a") as (port, sandbox):
            equal(client.ask("GET", port + "/headers").status, 200)
            shown = {row["name"]: row for row in client.ask("GET", f"/v1/sandboxes/{sandbox}").json["enforcement"]}
            equal(shown["ingress"]["detail"], f"tunnels to {PORT}, {OTHER} alone")
            for number in ("0", "65536", "-1", "8000x", "+8000", "08000x"):
                equal(client.ask("GET", f"/v1/sandboxes/{sandbox}/ports/{number}/").status, 400, number)
            nobody = client.ask("GET", f"/v1/sandboxes/{sandbox}/ports/{OTHER}/")
            equal((nobody.status, nobody.json["code"]), (502, "CORDON-API-BAD-GATEWAY"), nobody)
            expect("Connection refused" in nobody.json["detail"], nobody)
            for method in ("TRACE", "CONNECT", "BREW"):
                expect(client.ask(method, port + "/headers").status in (400, 404, 405, 501), method)
            with node.client(token=node.mint("--tenant", "a", "--operation", "tunnel.open")) as narrow:
                equal(narrow.ask("GET", port + "/headers").status, 200)
            for caveats, status in ((("--tenant", "b"), NOT_FOUND), (("--tenant", "a", "--operation", "process.read"), DENIED),
                                    (("--tenant", "a", "--sandbox", "other"), DENIED)):
                with node.client(token=node.mint(*caveats)) as other:
                    equal(other.ask("GET", port + "/headers").status, status, caveats)
            with node.client(token="cdn1_x") as nobody:
                equal(nobody.ask("GET", port + "/headers").status, UNAUTHENTICATED)
            node.end(node.node, signal.SIGKILL)
            node.start_node()
            with node.client(tenant="a") as after:
                equal(after.ask("GET", port + "/headers").status, 200, "after a death")
                equal(after.ask("GET", port.replace(str(PORT), "8002") + "/headers").status, DENIED, "after a death")


def a_port_that_is_shut(node):
    """PATCH: what is open to it ends, the others go on; a later change opens nothing."""
    with served(node) as (port, sandbox), node.client() as client, WebSocket.at(node.socket, port + "/ws") as open_one:
        open_one.send(TEXT, b"x")
        equal(open_one.receive(), (TEXT, b"x"))
        there = f"/v1/sandboxes/{sandbox}"
        equal(client.ask("PATCH", there, {"policy": {"network": {"ingress": [PORT]}}}).status, 200)
        open_one.send(TEXT, b"still")
        equal(open_one.receive(), (TEXT, b"still"), "its port was not taken:")
        equal(client.ask("PATCH", there, {"policy": {"network": {"ingress": [OTHER]}}}).status, 200)
        ended(open_one)
        for change in (None, {"network": {"ingress": [PORT, OTHER]}}):
            if change:
                equal(client.ask("PATCH", there, {"policy": change}).status, 200)
            equal(client.ask("GET", port + "/headers").status, DENIED, change)


def a_bad_server(node):
    """What is no HTTP, too long, or more than was asked for reaches no client as an answer; and the node serves on."""
    with served(node) as (port, sandbox):
        for name in ("garbage", "long_head", "many_fields", "two_lengths", "unasked", "hang_up"):
            with node.client() as client:
                answer = client.ask("GET", f"{port}/{name}")
                equal((answer.status, answer.json["code"]), (502, "CORDON-API-BAD-GATEWAY"), name, answer)
                equal(client.ask("GET", port + "/headers").status, 200, "behind", name)
        with node.client() as client:
            try:
                answer = client.ask("GET", port + "/broken/off")
                raise AssertionError(f"half an answer looks whole: {answer}")
            except http.client.IncompleteRead as cut:
                equal(cut.partial, b"only this")
        with node.client() as client:
            equal(client.counts()["cordon_http_failed_total"], "0", "what a sandbox does counts as a failure of the node:")
        # One that is silent goes with its client, and with its sandbox.
        with node.client() as client:
            client.connection.request("GET", port + "/silent")
            equal(node.client().ask("GET", port + "/headers").status, 200)
        with node.client() as client, node.client() as operator:
            client.connection.request("GET", port + "/silent")
            equal(node.client().ask("GET", port + "/headers").status, 200)
            equal(operator.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
            equal(client.connection.getresponse().status, 502)


CHECKS = {f.__name__: f for f in (a_plain_server, nothing_of_ours_goes_in, bodies_stream, a_websocket_inside, only_listed_ports, a_port_that_is_shut,
                                  a_bad_server)}

if __name__ == "__main__":
    main(CHECKS, functools.partial(Daemon, tools=(str(PYTHON),)))
