# SPDX-License-Identifier: Apache-2.0
"""Group N: requests that mean harm to a node: `hostile.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import contextlib
import gzip
import json
import os
import pathlib
import socket
import time

import api as checks
from api import NOT_FOUND, ROUTES, UNAUTHENTICATED, body_for, equal, expect, made, started

GOOD = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"


def raw(node, data, patience=5):
    """All that the node answers until it closes, and whether it closed."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(patience)
        line.connect(node.socket)
        got = b""
        try:
            line.sendall(data if isinstance(data, bytes) else data.encode())
            while piece := line.recv(65536):
                got += piece
        except TimeoutError:
            return got, False
        except ConnectionError:
            pass
        return got, True


def statuses(answer):
    return [int(part.split(b" ")[0]) for part in answer.split(b"HTTP/1.1 ")[1:]]


def resident(node):
    """Bytes of memory that cordond has."""
    status = pathlib.Path(f"/proc/{node.node.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) << 10


def serves(node):
    """How long another client waits for its answer, its place in the queue included."""
    began = time.monotonic()
    while True:
        with node.client() as client:
            try:
                equal(client.ask("GET", "/v1/health").status, 200)
                return time.monotonic() - began
            except BlockingIOError:     # the queue is full: a socket with a time limit is not let wait in front of it
                time.sleep(0.001)


def things_of_another_tenant(node):
    """C202: every route with an id of another tenant's answers as with an id of nobody's."""
    with node.client(tenant="a") as owner, node.client(token=node.mint("--tenant", "b")) as stranger, node.client(token=node.mint("--tenant", "a")) as own:
        sandbox = made(owner)
        started(owner, sandbox, "sleep", "100")
        nobodys = sandbox[:-1] + ("a" if sandbox[-1] != "a" else "b")
        tried = 0
        for method, path, _ in ROUTES:
            if "{id}" not in path or (method, path) == ("DELETE", "/v1/sandboxes/{id}"):
                continue
            body = body_for(method, path)
            answers = [stranger.ask(method, path.format(id=each), body) for each in (sandbox, nobodys)]
            if path.startswith("/v1/node/"):   # operators' alone: not even its owner learns there whether it is
                answers.append(own.ask(method, path.format(id=sandbox), body))
                equal([(answer.status, answer.body) for answer in answers], [(403, answers[0].body)] * 3, method, path)
                continue
            equal([answer.status for answer in answers], [NOT_FOUND] * 2, method, path)
            equal(answers[0].body, answers[1].body, method, path)
            mine = own.ask(method, path.format(id=sandbox), body)
            expect((mine.status, mine.body) != (answers[0].status, answers[0].body), "the owner gets the same:", method, path)
            tried += 1
        equal(stranger.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
        equal(stranger.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, NOT_FOUND)
        # Not by the first connection: on a slow machine it was idle for longer than a node lets it be.
        equal(own.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"], "running")
    return f"{tried} routes"


SPELLINGS = ("..", ".", "%2e%2e", "%2e%2e%2f%2e%2e", "..%2f", "%00", "a%00b", "..;", "%c0%ae%c0%ae", "%252e%252e", "a%0d%0aX:y", "%ff", "*", "~", "a" * 600)


def paths_that_lead_elsewhere(node):
    """C203, C210: in ids, names, numbers and files: refused, and no answer has a line of the client's making."""
    with node.client(tenant="a") as client:
        sandbox = made(client)
        for word in SPELLINGS:
            for method, path in (("GET", f"/v1/sandboxes/{word}"), ("DELETE", f"/v1/sandboxes/{word}"), ("GET", f"/v1/sandboxes/{sandbox}/processes/{word}"),
                                 ("DELETE", f"/v1/keys/{word}"), ("GET", f"/v1/sandboxes/{sandbox}/files?path={word}"),
                                 ("GET", f"/v1/sandboxes/{sandbox}/files?path=/workspace/{word}/../../etc/passwd"), ("GET", f"/v1/sandboxes?after={word}&limit={word}")):
                answer, _ = raw(node, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                expect(statuses(answer) and 400 <= statuses(answer)[0] < 500, method, path, answer[:300])
                expect(b"\r\nX:" not in answer and b"root:" not in answer, method, path, answer[:300])
        # The counter-arm: an ordinary one of each is found.
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}/files/list?path=/workspace").status, 200)


WIDER = ({"filesystem": {"host_mounts": [{"source": "/etc", "target": "/e", "mode": "read_only", "why": "x"}]}}, {"filesystem": {"root": "host"}},
         {"filesystem": {"root": "dir:/"}}, {"network": {"host_ports": [22]}}, {"seccomp": "off"}, {"process": {"capabilities": ["sys_admin"]}},
         {"syscalls": {"profile": "none"}}, {"devices": ["/dev/kvm"]}, {"unsandboxed": True}, {"isolation": "none"},
         {"network": {"mode": "restricted", "egress_allowlist": [{"host": "db", "port": 5432, "protocol": "tcp", "addresses": "private", "why": "x"}]}},
         {"credentials": {"grants": [{"name": "n", "env": "T", "from": "file:/etc/shadow", "host": "a.example.com", "header": "A: {secret}"}]}})
NUMBERS = (-1, 0, 2**63, 2**64, 1.5, "1e309", "NaN", "0x10", "+1", "", None, True, [], "1e309Gi", "-1Mi")


def wider_than_a_request(node):
    """C204, C205, C285: what names things of the host, unknown keys, and numbers that could mean everything."""
    with node.client(tenant="a") as client:
        for policy in WIDER:
            for path, more in (("/v1/sandboxes", {}), ("/v1/run", {"command": ["true"]})):
                answer = client.ask("POST", path, {"policy": policy, **more})
                expect(400 <= answer.status < 500, policy, answer)
        for key in ("memory_limit", "pids_limit", "cpu_limit", "disk_limit", "timeout_seconds", "output_limit"):
            for number in NUMBERS:
                answer = client.ask("POST", "/v1/run", {"command": ["true"], "policy": {"resources": {key: number}}})
                equal(answer.status, 400, key, number, answer)
        for number in (-1, 0, 2**63, 2**64, 1.5, "60", True, None):
            equal(client.ask("POST", "/v1/sandboxes", {"timeout_seconds": number}).status, 400, number)
        equal(client.ask("GET", "/v1/sandboxes").json["sandboxes"], [], "what was made")
        # The counter-arm: what is within bounds is taken.
        modest = {"memory_limit": "64Mi", "pids_limit": 16, "cpu_limit": "1", "disk_limit": "1Mi", "timeout_seconds": 60, "output_limit": "1Mi"}
        equal(client.ask("POST", "/v1/run", {"command": ["true"], "policy": {"resources": modest}}).status, 200)
        made(client, {"timeout_seconds": 60})


SLOW = int(os.environ.get("CORDON_SLOW_CONNECTIONS", "300"))


def slow_and_many(node):
    """C206: heads that never end, bodies that never come, connections that say nothing: closed in time, and others are served meanwhile."""
    lines = []
    alone = sorted(serves(node) for _ in range(50))[25]
    try:
        for number in range(SLOW):
            line = socket.socket(socket.AF_UNIX)
            line.connect(node.socket)
            # Those that were there first make room where there are too many.
            with contextlib.suppress(ConnectionError):
                line.sendall((b"", b"GET /v1/hea", b"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")[number % 3])
            lines.append(line)
        began, worst, beside = time.monotonic(), 0.0, []
        slow = [line for number, line in enumerate(lines) if number % 3 == 1]
        while time.monotonic() - began < 12:
            beside.append(serves(node))
            worst = max(worst, beside[-1])
            for line in slow[:5]:
                try:
                    line.sendall(b"l")
                except OSError:
                    pass
            time.sleep(0.2)
        expect(worst < 2, "others waited for", worst)
        for line in slow:
            line.settimeout(2)
            try:
                while line.recv(4096):
                    pass
            except ConnectionError:
                pass
    finally:
        for line in lines:
            line.close()
    return f"{SLOW} slow ones; another is served in {alone * 1000:.1f} ms alone, {sorted(beside)[len(beside) // 2] * 1000:.1f} beside them, {worst * 1000:.0f} at worst"


AT_ONCE = 3


def one_tenant_takes_all(node):
    """C206: a tenant has as many requests at once as its quota says, streams too; others are served meanwhile, and so is it when one has ended."""
    def streams(stack, tenant, count):
        client = stack.enter_context(node.client(tenant=tenant))
        output = started(client, made(client), "sleep", "1000") + "/output"
        for _ in range(count):
            opened = stack.enter_context(node.client(tenant=tenant))
            equal(opened.open(output).status, 200)
            yield opened

    with contextlib.ExitStack() as stack, node.client(tenant="small") as small, node.client(tenant="large") as large:
        held = list(streams(stack, "small", AT_ONCE))
        refused = small.ask("GET", "/v1/sandboxes")
        equal((refused.status, refused.json["code"]), (429, "CORDON-API-EXHAUSTED"), refused)
        expect(f"quota of {AT_ONCE} requests at once" in refused.json["detail"], refused)
        # The counter-arm: who has no such quota has more, and is served beside the other.
        list(streams(stack, "large", AT_ONCE + 1))
        equal(large.ask("GET", "/v1/sandboxes").status, 200)
        held[0].connection.close()
        until = time.monotonic() + 10
        while small.ask("GET", "/v1/sandboxes").status != 200:
            expect(time.monotonic() < until, "a stream that has ended counts for ever")
            time.sleep(0.1)


LINES = 3_000_000


def a_reader_that_stops(node):
    """C127: who stops reading holds up the process alone that it reads: little of it is kept, others are served, and read on nothing is missing."""
    with node.client() as client, node.client(timeout=60) as reader:
        sandbox = made(client)
        process = started(client, sandbox, "seq", "1", str(LINES))
        answer = reader.open(f"{process}/output")
        first = answer.readline()
        before, worst, began = resident(node), 0.0, time.monotonic()
        while time.monotonic() - began < 4:
            at = time.monotonic()
            equal(client.ask("GET", started(client, sandbox, "true") + "/wait").json["exit"]["code"], 0)
            worst = max(worst, time.monotonic() - at)
            time.sleep(0.1)
        state = [client.ask("GET", process).json for _ in range(2)]
        equal([each["state"] for each in state], ["running"] * 2, "the process that nobody reads:")
        equal(state[0]["stdout_bytes"], state[1]["stdout_bytes"], "bytes of the process that nobody reads:")
        expect(state[0]["stdout_bytes"] < 8 << 20, "written ahead of the reader:", state[0]["stdout_bytes"])
        expect(resident(node) - before < 32 << 20, "memory for a reader that stopped:", resident(node) - before)
        expect(worst < 2, "others waited for", worst)
        got = []
        for line in (first, *answer):
            event = json.loads(line)
            if event["event"] == "stdout":
                got.append(event["data"])
    expect("".join(got) == "".join(f"{n}\n" for n in range(1, LINES + 1)), "read on, something is missing or double")
    return f"{state[0]['stdout_bytes'] >> 10} KiB ahead; others worst {worst * 1000:.0f} ms"


PACKED = gzip.compress(b'{"command":["true"],"input":"' + b"a" * 900_000 + b'"}')      # an ordinary request, once it is unpacked


def more_than_is_read(node):
    """C207: heads, targets and bodies beyond all bounds: refused by their announcement or on the way, in little memory."""
    serves(node)
    before = resident(node)
    long = "a" * 20_000
    for data, status in ((f"GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n", (414, 431)), (f"GET / HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n", (431,)),
                         ("GET / HTTP/1.1\r\nHost: x\r\n" + "X: y\r\n" * 200 + "\r\n", (431,)),
                         ("POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n", (413,)),
                         (b"POST /v1/run HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(PACKED), PACKED), (400, 415))):
        answer, _ = raw(node, data)
        expect(statuses(answer)[:1] and statuses(answer)[0] in status, data[:60], answer[:200])
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(node.socket)
        line.sendall(b"POST /v1/run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent = 0
        try:
            while sent < 200 << 20:
                line.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    expect(sent < 64 << 20, "took", sent, "bytes of an endless body")
    grown = resident(node) - before
    expect(grown < 64 << 20, "cordond has grown by", grown)
    serves(node)
    return f"{sent >> 10} KiB of an endless body, {grown >> 20} MiB more"


def json_that_explodes(node):
    """C208: depth, keys, doubles, numbers, encodings: refused as 400, quickly, and nothing dies."""
    bombs = {"deep": "[" * 100_000, "deep objects": '{"a":' * 50_000, "keys": "{" + ",".join(f'"k{n}":1' for n in range(60_000)) + "}",
             "double": '{"command":["true"],"command":["true"]}', "long": json.dumps({"command": ["x" * 1_000_000]}),
             "number": '{"timeout_seconds":' + "9" * 10_000 + "}", "exponent": '{"timeout_seconds":1e999999}', "bom": "\ufeff{}", "comment": "/*x*/{}",
             "trailing": '{"command":["true"]}}', "latin": b'{"command":["\xff\xfe"]}', "nul": '{"command":["a\\u0000b"]}', "surrogate": '{"command":["\\ud800"]}'}
    worst = 0.0
    with node.client(tenant="a") as client:
        for name, bomb in bombs.items():
            data = bomb if isinstance(bomb, bytes) else bomb.encode()
            began = time.monotonic()
            answer = client.ask("POST", "/v1/run", data)
            worst = max(worst, time.monotonic() - began)
            expect(answer.status in (400, 413), name, answer)
        equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200, "an ordinary one:")
    expect(worst < 2, "a refusal took", worst)
    return f"worst {worst * 1000:.0f} ms"


SMUGGLED = "GET /v1/node HTTP/1.1\r\nHost: x\r\n\r\n"
DESYNC = (f"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{SMUGGLED}",
          f"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n{SMUGGLED}",
          f"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n{SMUGGLED}", f"POST /v1/run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n{SMUGGLED}",
          f"POST /v1/run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n{SMUGGLED}",
          f"POST /v1/run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{SMUGGLED}",
          f"GET /v1/health HTTP/1.1\r\nHost: x\r\n X: folded\r\n\r\n{SMUGGLED}", f"GET /v1/health HTTP/1.1\nHost: x\n\n{SMUGGLED}",
          f"GET /v1/health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n{SMUGGLED}", f"GET /v1/health HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n{SMUGGLED}",
          f"POST /v1/run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{SMUGGLED}",
          f"GET /v1/health HTTP/1.1 \r\nHost: x\r\n\r\n{SMUGGLED}", f"GET  /v1/health HTTP/1.1\r\nHost: x\r\n\r\n{SMUGGLED}")


def two_readings_of_one_request(node):
    """C209: what could end in two places is refused and the connection closed: what follows is read by nobody."""
    for data in DESYNC:
        answer, closed = raw(node, data)
        expect(closed and statuses(answer)[:1] and 400 <= statuses(answer)[0] < 600 and len(statuses(answer)) == 1, repr(data[:90]), answer[:300], closed)
        expect(b"default_image" not in answer, "what was smuggled was served:", repr(data[:90]))
    # The counter-arm: two that are meant as two are both served.
    answer, _ = raw(node, GOOD + SMUGGLED.replace("Host: x", "Host: x\r\nConnection: close"))
    equal(statuses(answer), [200, 200])
    expect(b"default_image" in answer, answer)


def from_a_browser(node):
    """C211, C218, C220: over TCP a page of elsewhere gets nothing: no cookie counts, no token in the address, no leave to read what comes back."""
    port = node.serve_tcp()
    token = node.mint("--operator")

    def ask(method, path, *fields, body=""):
        with socket.create_connection(("127.0.0.1", port), 5) as line:
            line.sendall("\r\n".join([f"{method} {path} HTTP/1.1", "Host: evil.example", "Origin: https://evil.example", "Connection: close",
                                      f"Content-Length: {len(body)}", *fields, "", body]).encode())
            got = b""
            while piece := line.recv(65536):
                got += piece
        return got

    for method, path, *fields in (("POST", "/v1/run", "Content-Type: text/plain"), ("GET", "/v1/node", f"Cookie: token={token}"), ("GET", f"/v1/node?token={token}"),
                                  ("GET", f"/v1/node?access_token={token}"), ("GET", "/metrics"), ("GET", "/v1/node", "Authorization: Basic eDp5")):
        answer = ask(method, path, *fields, body='{"command":["true"]}' if method == "POST" else "")
        equal(statuses(answer), [UNAUTHENTICATED], method, path)
    for answer in (ask("OPTIONS", "/v1/run", "Access-Control-Request-Method: POST"), ask("GET", "/v1/node", f"Authorization: Bearer {token}"), ask("GET", "/v1/health")):
        expect(b"access-control-allow" not in answer.lower() and b"\r\nserver:" not in answer.lower(), answer[:400])
    equal(statuses(ask("GET", "/v1/node", f"Authorization: Bearer {token}")), [200])
    for path in ("/debug/pprof", "/debug", "/.env", "/v1/openapi", "/proc/self/environ"):
        equal(statuses(ask("GET", path, f"Authorization: Bearer {token}")), [NOT_FOUND], path)
    expect(token.encode() not in (node.base / "cordond.log").read_bytes(), "a token is in the log")


def without_rights(node):
    """C221, C212: the process that reads requests has no capability and no way to any, and its socket is its user's and group's alone."""
    status = pathlib.Path(f"/proc/{node.node.pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    equal([int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")], [0] * 4)
    equal(set(fields["Uid"].split()), {str(node.uid)})
    for thread in pathlib.Path(f"/proc/{node.node.pid}/task").iterdir():
        held = dict(line.split(":\t", 1) for line in (thread / "status").read_text().splitlines() if ":\t" in line)
        equal((held["Seccomp"], held["NoNewPrivs"]), ("2", "1"), "a thread of it has no filter:")
    equal(os.stat(node.socket).st_mode & 0o007, 0, "others may use the socket")


checks.SETTINGS.update({"one_tenant_takes_all": f"[tenants.small]\nrequests = {AT_ONCE}\n"})
CHECKS = {f.__name__: f for f in (things_of_another_tenant, paths_that_lead_elsewhere, wider_than_a_request, slow_and_many, one_tenant_takes_all, a_reader_that_stops,
                                  more_than_is_read, json_that_explodes, two_readings_of_one_request, from_a_browser, without_rights)}

if __name__ == "__main__":
    checks.main(CHECKS)
