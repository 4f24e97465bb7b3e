# SPDX-License-Identifier: Apache-2.0
"""The node daemon over its Unix socket: `api.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import argparse
import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback

from daemon import FIRST_ID, ISOLATION, Daemon, walled

NOT_FOUND, DENIED, UNAUTHENTICATED = 404, 403, 401


def expect(truth, *words):
    if not truth:
        raise AssertionError(" ".join(str(word) for word in words))


def equal(got, wanted, *words):
    expect(got == wanted, *words, f"is {got!r}, not {wanted!r}")


def made(client, body=None, **how):
    answer = client.ask("POST", "/v1/sandboxes", body or {}, **how)
    equal(answer.status, 201, answer)
    return answer.json["id"]


def started(client, sandbox, *command, **more):
    answer = client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": list(command), **more})
    equal(answer.status, 201, answer)
    return f"/v1/sandboxes/{sandbox}/processes/{answer.json['process']}"


def joined(lines, stream):
    import base64
    out = b""
    for line in lines:
        if line["event"] != stream:
            continue
        equal(line["offset"], len(out), "offset")
        out += line["data"].encode() if "data" in line else base64.b64decode(line["data_base64"])
    return out


def health(node):
    with node.client() as client:
        equal(client.ask("GET", "/v1/health").json["status"], "serving")
    equal(node.end(node.node), 0, "exit of cordond after SIGTERM:")


def run_in_one(node):
    with node.client() as client:
        answer = client.ask("POST", "/v1/run", {"command": ["sh", "-c", "cat; echo e >&2; exit 3"], "input": "in"})
        equal(answer.status, 200, answer)
        got = answer.json
        equal((got["stdout"], got["stderr"]), ("in", "e\n"))
        equal((got["verdict"]["ending"], got["verdict"]["status"]), ("exit", 3))
        equal(client.ask("GET", "/v1/sandboxes").json["sandboxes"], [], "what is left")
        held = {row["name"]: row["hold"] for row in got["enforcement"]}
        equal(held["seccomp"], "held")
        failed = client.ask("POST", "/v1/run", {"command": ["/nowhere"]})
        expect("No such file" in failed.json["failure"], failed)
        raw = client.ask("POST", "/v1/run", {"command": ["printf", "\\377\\000"]}).json
        equal(raw["stdout_base64"], "/wA=")


def limits_of_a_run(node):
    with node.client() as client:
        late = client.ask("POST", "/v1/run", {"command": ["sleep", "60"], "timeout_seconds": 1}).json
        equal((late["verdict"]["ending"], late["verdict"]["limit"]), ("wall_time", 1))
        memory = client.ask("POST", "/v1/run", {"command": ["sh", "-c", "x=$(yes | head -c 200000000); echo ${#x}"],
                                                "policy": {"resources": {"memory_limit": "64Mi", "disk_limit": "1Mi"}}}).json
        equal(memory["verdict"]["ending"], "memory", memory)
        output = client.ask("POST", "/v1/run", {"command": ["yes"], "policy": {"resources": {"output_limit": "1Mi"}}}).json
        equal(output["verdict"]["ending"], "output")
        equal(len(output["stdout"]), 1 << 20)


def ending_of(client, sandbox):
    until = time.monotonic() + 20
    while (shown := client.ask("GET", f"/v1/sandboxes/{sandbox}").json)["state"] == "running":
        expect(time.monotonic() < until, "it lives on:", shown)
        time.sleep(0.05)
    return shown["verdict"]


def limits_of_a_living_sandbox(node):
    """Those of its policy, and those that a change takes from it; each with one beside it that has no such limit."""
    yes, busy = ("sh", "-c", "yes | head -c 3000000"), ("sh", "-c", "while :; do :; done")
    with node.client() as client:
        free = made(client)
        for limits, words, ending in (({"output_limit": "1Mi"}, yes, "output"), ({"cpu_seconds": 1}, busy, "cpu_time")):
            for change in (None, {"policy": {"resources": limits}}):
                sandbox = made(client, {} if change else {"policy": {"resources": limits}})
                if change:
                    changed = client.ask("PATCH", f"/v1/sandboxes/{sandbox}", change)
                    equal(changed.status, 200, changed)
                process = started(client, sandbox, *words)
                with node.client() as reader:
                    list(reader.lines(process + "/output"))
                equal(ending_of(client, sandbox)["ending"], ending, change)
        written = started(client, free, *yes)
        equal(len(joined(client.lines(written + "/output"), "stdout")), 3_000_000, "without a limit:")
        equal(client.ask("PATCH", f"/v1/sandboxes/{free}", {"policy": {"resources": {"output_limit": "4Mi"}}}).status, 200)
        equal(client.ask("GET", f"/v1/sandboxes/{free}").json["state"], "running", "below its new limit:")
        equal(client.ask("PATCH", f"/v1/sandboxes/{free}", {"policy": {"resources": {"output_limit": "2Mi"}}}).status, 200)
        equal(ending_of(client, free)["ending"], "output", "what it wrote before counts:")
        short = made(client, {"timeout_seconds": 600})
        equal(client.ask("PATCH", f"/v1/sandboxes/{short}", {"timeout_seconds": 500, "policy": {"resources": {"timeout_seconds": 1}}}).status, 200)
        equal(ending_of(client, short)["ending"], "wall_time")


def life_of_a_sandbox(node):
    with node.client() as client:
        sandbox = made(client, {"labels": {"team": "a"}, "timeout_seconds": 60})
        other = made(client, {"labels": {"team": "b"}})
        listed = client.ask("GET", "/v1/sandboxes?label.team=a").json["sandboxes"]
        equal([each["id"] for each in listed], [sandbox])
        first = client.ask("GET", "/v1/sandboxes?limit=1").json
        rest = client.ask("GET", f"/v1/sandboxes?limit=1&after={first['next']}").json
        equal({first["sandboxes"][0]["id"], rest["sandboxes"][0]["id"]}, {sandbox, other})
        expect("next" not in rest, rest)
        changed = client.ask("PATCH", f"/v1/sandboxes/{sandbox}", {"labels": {"team": "c"}, "timeout_seconds": 600})
        equal((changed.status, changed.json["labels"]), (200, {"team": "c"}), changed)
        ended = client.ask("DELETE", f"/v1/sandboxes/{sandbox}")
        equal((ended.status, ended.json["verdict"]["ending"]), (200, "killed"), ended)
        equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"], "ended")
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, NOT_FOUND)
        short = made(client, {"timeout_seconds": 1})
        until = time.monotonic() + 10
        while client.ask("GET", f"/v1/sandboxes/{short}").json["state"] == "running":
            expect(time.monotonic() < until, "it outlived its time")
            time.sleep(0.05)
        equal(client.ask("GET", f"/v1/sandboxes/{short}").json["verdict"]["ending"], "wall_time")


def processes(node):
    with node.client() as client, node.client() as second:
        sandbox = made(client)
        cat = started(client, sandbox, "sh", "-c", "echo $HERE; pwd; cat", environment={"HERE": "yes"})
        equal(client.ask("POST", cat + "/input", "one ").status, 204)
        equal(client.ask("POST", cat + "/input?end=true", "two").status, 204)
        equal(client.ask("GET", cat + "/wait").json["exit"]["code"], 0)
        equal(joined(client.lines(cat + "/output"), "stdout"), b"yes\n/workspace\none two")
        sleeper = started(client, sandbox, "sleep", "100")
        equal(client.ask("GET", sleeper + "/wait?seconds=0").json["state"], "running")
        equal(client.ask("POST", sleeper + "/signal", {"signal": "SIGTERM"}).status, 204)
        equal(client.ask("GET", sleeper + "/wait").json["exit"]["signal"], 15)
        # One process leaves a file, the next sees it: they are in one sandbox.
        writer = started(client, sandbox, "sh", "-c", "echo x > /workspace/f")
        equal(client.ask("GET", writer + "/wait").json["exit"]["code"], 0)
        equal(joined(second.lines(started(client, sandbox, "cat", "/workspace/f") + "/output"), "stdout"), b"x\n")
        equal(len(client.ask("GET", f"/v1/sandboxes/{sandbox}/processes").json["processes"]), 4)


def run_in_a_living_sandbox(node):
    """Output, input and exit in one answer; late, too talkative or left alone it is killed; what it starts beside it is not waited for."""
    with node.client(timeout=30) as client:
        sandbox = made(client)
        run = f"/v1/sandboxes/{sandbox}/run"

        def ran(*command, query="", **more):
            answer = client.ask("POST", run + query, {"command": list(command), **more})
            equal(answer.status, 200, answer)
            return answer.json

        def sleeps():
            return "sleep\0001000\0" in ran("sh", "-c", "cat /proc/[0-9]*/cmdline 2>&-; :")["stdout"]

        got = ran("sh", "-c", "cat; echo $A; pwd; echo e >&2; exit 3", input="in ", environment={"A": "b"}, directory="/tmp")
        equal((got["stdout"], got["stderr"], got["process"]["exit"]["code"]), ("in b\n/tmp\n", "e\n", 3), got)
        raw = ran("printf", "\\377\\000")
        equal(raw["stdout_base64"], "/wA=", raw)
        expect("No such file" in ran("/nowhere")["process"]["failure"], "what cannot be run")
        equal(len(ran("sh", "-c", "cat; cat /dev/zero | head -c 3000000", input="x" * 900_000)["stdout"]), 3_900_000)
        late = ran("sh", "-c", "echo early; sleep 1000", query="?seconds=1")
        equal((late["timed_out"], late["stdout"], late["process"]["exit"]["signal"]), (True, "early\n", 9), late)
        much = ran("yes")
        expect(much["truncated"] and 15 << 20 < len(much["stdout"]) <= 16 << 20, len(much["stdout"]))
        equal(client.ask("POST", run, {"command": ["true"], "pty": {"rows": 1, "cols": 1}}).status, 400)
        equal(client.ask("POST", run + "?second=1", {"command": ["true"]}).status, 400)
        with node.client() as leaver:
            leaver.connection.request("POST", run, body=json.dumps({"command": ["sleep", "1000"]}))
            awaited(sleeps)
        awaited(lambda: not sleeps())
        last = ran("sh", "-c", "echo on")
        equal(last["stdout"], "on\n", last)


def awaited(truth, seconds=10):
    until = time.monotonic() + seconds
    while not truth():
        expect(time.monotonic() < until, "it does not come true")
        time.sleep(0.01)


def output_by_offset(node):
    """What a client did not acknowledge comes again; what it did is gone; the process waits meanwhile."""
    size = 3_000_000
    command = f"yes 0123456789abcdef | head -c {size}"
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", command)
        with node.client() as first:
            taken = b""
            for line in first.lines(process + "/output?acknowledge=client"):
                taken += line["data"].encode()
                if len(taken) > 300_000:
                    break
        again = client.ask("GET", process).json
        expect(again["stdout_bytes"] < size, "the process did not wait for its reader")
        have = 100_000
        with node.client() as second:
            for line in second.lines(process + f"/output?stdout={have}&acknowledge=client"):
                if line["event"] != "stdout":
                    break
                equal(line["offset"], have)
                have += len(line["data"])
                equal(client.ask("POST", process + f"/acknowledge?stdout={have}").status, 204)
        equal(have, size)
        gone = client.ask("GET", process + "/output?stdout=0")
        equal((gone.status, gone.json["code"]), (429, "CORDON-API-EXHAUSTED"), gone)


def bytes_arrive_whole(node):
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", "seq 1 400000 >&2; seq 1 400000")
        lines = list(client.lines(process + "/output"))
        wanted = "".join(f"{n}\n" for n in range(1, 400001)).encode()
        for stream in ("stdout", "stderr"):
            equal(hashlib.sha256(joined(lines, stream)).hexdigest(), hashlib.sha256(wanted).hexdigest(), stream)
        equal(lines[-1]["event"], "exit")


def same_key_same_sandbox(node):
    with node.client() as client:
        key = {"Idempotency-Key": "k1"}
        first = client.ask("POST", "/v1/sandboxes", {"labels": {"a": "1"}}, fields=key)
        again = client.ask("POST", "/v1/sandboxes", {"labels": {"a": "1"}}, fields=key)
        equal(again.json["id"], first.json["id"])
        other = client.ask("POST", "/v1/sandboxes", {"labels": {"a": "2"}}, fields=key)
        equal((other.status, other.json["code"]), (409, "CORDON-API-CONFLICT"), other)
        elsewhere = client.ask("POST", "/v1/sandboxes", {"labels": {"a": "1"}}, fields={**key, "Cordon-Tenant": "other"})
        expect(elsewhere.json["id"] != first.json["id"], "a key is of one tenant")


def tenants_do_not_see_each_other(node):
    a, b = node.mint("--tenant", "a"), node.mint("--tenant", "b")
    with node.client(token=a) as ours, node.client(token=b) as theirs, node.client() as operator:
        sandbox = made(ours)
        process = started(ours, sandbox, "sleep", "100")
        equal(ours.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
        for method, path in (("GET", f"/v1/sandboxes/{sandbox}"), ("DELETE", f"/v1/sandboxes/{sandbox}"),
                             ("PATCH", f"/v1/sandboxes/{sandbox}"), ("GET", process), ("GET", process + "/output"),
                             ("POST", process + "/signal"), ("POST", f"/v1/sandboxes/{sandbox}/processes")):
            refused = theirs.ask(method, path, {})
            missing = theirs.ask(method, path.replace(sandbox, sandbox[::-1]), {})
            equal((refused.status, refused.json["detail"]), (NOT_FOUND, missing.json["detail"]), method, path)
        equal(theirs.ask("GET", "/v1/sandboxes").json["sandboxes"], [])
        equal(len(operator.ask("GET", "/v1/sandboxes").json["sandboxes"]), 1)
        equal(operator.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
        equal(ours.ask("GET", "/v1/sandboxes", fields={"Cordon-Tenant": "b"}).status, DENIED)


ROUTES = [("POST", "/v1/tokens/revoke", "token.revoke"), ("GET", "/v1/node", "node.read"), ("GET", "/metrics", "metrics.read"),
          ("POST", "/v1/node/drain", "node.drain"), ("POST", "/v1/node/resume", "node.drain"),
          ("GET", "/v1/node/census?index=0", "node.configure"),   # any other has no end
          # Of no move.
          *((method, f"/v1/node/departures{step}", "sandbox.move")
            for method, step in (("POST", ""), ("POST", "/{id}/check"), ("GET", "/{id}/tree"), ("POST", "/{id}/end"), ("DELETE", "/{id}"))),
          *((method, f"/v1/node/arrivals{step}", "sandbox.move")
            for method, step in (("POST", ""), ("PUT", "/{id}/tree"), ("POST", "/{id}/check"), ("POST", "/{id}/ready"), ("POST", "/{id}/settle"), ("DELETE", "/{id}"))),
          ("PUT", "/v1/node/policy?release=1", "node.configure"), ("DELETE", "/v1/node/policy", "node.configure"), ("POST", "/v1/run", "sandbox.create"),
          ("POST", "/v1/keys", "key.create"), ("GET", "/v1/keys", "key.list"), ("DELETE", "/v1/keys/none", "key.delete"),
          ("PUT", "/v1/secrets/none", "secret.write"), ("GET", "/v1/secrets", "secret.list"), ("DELETE", "/v1/secrets/none", "secret.delete"),
          ("POST", "/v1/sandboxes", "sandbox.create"), ("GET", "/v1/sandboxes", "sandbox.read"),
          ("GET", "/v1/sandboxes/{id}", "sandbox.read"), ("PATCH", "/v1/sandboxes/{id}", "sandbox.change"),
          ("POST", "/v1/sandboxes/{id}/run", "process.start"),
          ("POST", "/v1/sandboxes/{id}/processes", "process.start"), ("GET", "/v1/sandboxes/{id}/processes", "process.read"),
          ("GET", "/v1/sandboxes/{id}/processes/1", "process.read"),
          ("GET", "/v1/sandboxes/{id}/processes/1/wait?seconds=0", "process.read"),
          ("POST", "/v1/sandboxes/{id}/processes/1/acknowledge", "process.read"),
          ("GET", "/v1/sandboxes/{id}/processes/1/output?stdout=999999999", "process.read"),
          ("POST", "/v1/sandboxes/{id}/processes/1/input", "process.input"),
          ("POST", "/v1/sandboxes/{id}/processes/1/signal", "process.signal"),
          ("PUT", "/v1/sandboxes/{id}/files?path=/workspace/f", "file.write"), ("GET", "/v1/sandboxes/{id}/files?path=/workspace/f", "file.read"),
          ("GET", "/v1/sandboxes/{id}/files/list?path=/workspace", "file.read"), ("GET", "/v1/sandboxes/{id}/files/stat?path=/workspace", "file.read"),
          ("POST", "/v1/sandboxes/{id}/files/directory?path=/workspace/d&parents=true", "file.write"),
          ("POST", "/v1/sandboxes/{id}/files/move?path=/workspace/f&to=/workspace/f", "file.write"),
          ("DELETE", "/v1/sandboxes/{id}/files?path=/workspace/d", "file.write"),
          ("GET", "/v1/sandboxes/{id}/files/watch?path=/workspace/none", "file.read"),
          ("GET", "/v1/sandboxes/{id}/tree?path=/workspace", "file.read"), ("PUT", "/v1/sandboxes/{id}/tree?path=/workspace/t", "file.write"),
          ("GET", "/v1/sandboxes/{id}/processes/1/attach", "process.input"), ("GET", "/v1/events?follow=false", "event.read"),
          ("GET", "/v1/audit?follow=false&where=event=policy_accepted", "audit.read"),
          ("GET", "/v1/sandboxes/{id}/events?follow=false", "event.read"),
          *((method, "/v1/sandboxes/{id}/ports/8000/x", "tunnel.open") for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")),
          ("DELETE", "/v1/sandboxes/{id}", "sandbox.destroy")]
OPERATIONS = sorted({row[2] for row in ROUTES})
OF_THE_NODE = {"node.read", "node.drain", "node.configure", "metrics.read", "sandbox.move"}
WITH_A_PORT = {"policy": {"network": {"ingress": [8000]}}}     # at which nobody listens


BEARERS = (("--tenant", "a"), ("--operator",), ("--tenant", "b"))


def body_for(method, path):
    if path.endswith("/revoke"):
        return {"token": "none"}
    if path.endswith("/signal"):
        return {"signal": "CONT"}
    return {"command": ["true"]} if path.endswith("/run") or (method == "POST" and path.endswith("/processes")) else {}


def every_route_needs_its_right(node):
    """All routes times all kinds of tokens: served with the one right, refused with every other, and without any."""
    tokens = {(operation, bearer): node.mint(*bearer, "--operation", operation) for operation in OPERATIONS for bearer in BEARERS}
    with node.client(tenant="a") as operator:
        sandbox = None
        for method, path, right in ROUTES:
            for (operation, bearer), token in tokens.items():
                if not sandbox:
                    sandbox = made(operator, WITH_A_PORT)
                    started(operator, sandbox, "sleep", "100")
                with node.client(token=token) as client:
                    answer = client.ask(method, path.format(id=sandbox), body_for(method, path))
                status = answer.status
                if operation == right and (bearer == ("--operator",) or right not in OF_THE_NODE):
                    if bearer[-1] == "b" and "{id}" in path:
                        equal(status, NOT_FOUND, method, path, operation, bearer)
                    else:
                        expect(status not in (UNAUTHENTICATED, DENIED), method, path, operation, bearer, status)
                        expect(b"no such sandbox" not in answer.body, method, path, operation, bearer, answer)
                        sandbox = None if right == "sandbox.destroy" else sandbox
                else:
                    equal(status, DENIED, method, path, operation, bearer)
    return f"{len(ROUTES) * len(tokens)} pairs"


def no_token_no_answer(node):
    """Whoever is not root and not the node's own user needs one; what is wrong with it is not told."""
    good = node.mint("--tenant", "a")
    forged = good[:-1] + ("A" if good[-1] != "A" else "B")
    expired = node.mint("--tenant", "a", "--expires", "1s")
    time.sleep(1.2)
    said = set()
    for token in (forged, good[:-8], expired, "cdn1_", "x", good + "A"):
        with node.client(token=token) as client:
            answer = client.ask("GET", "/v1/sandboxes")
            equal(answer.status, UNAUTHENTICATED, token, answer)
            said.add(answer.json["detail"])
    equal(len(said), 1, "what is said of bad tokens")
    with node.client() as client:
        equal(client.ask("GET", "/v1/sandboxes", fields={"Authorization": "Basic eDp5"}).status, UNAUTHENTICATED)
        equal(client.ask("GET", "/v1/sandboxes").status, 200, "root at the Unix socket:")
    code = f'''import socket
s = socket.socket(socket.AF_UNIX); s.connect({node.socket!r})
s.sendall(b"GET /v1/sandboxes HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
print(s.recv(100).split()[1].decode())'''
    os.chmod(node.socket, 0o666)
    other = subprocess.run(["setpriv", "--reuid=39999", "--regid=39999", "--clear-groups", sys.executable, "-c", code],
                           capture_output=True, text=True)
    if other.returncode == 0:      # a Python that an ordinary user may start
        equal(other.stdout.strip(), str(UNAUTHENTICATED), "another user:")


def requests_are_strict(node):
    with node.client() as client:
        for path, body, word in (("/v1/run", {"comand": ["x"]}, "did you mean `command`"),
                                 ("/v1/run", {"command": []}, "the program first"),
                                 ("/v1/run", '{"command":["x"],"command":["y"]}', "duplicate key"),
                                 ("/v1/sandboxes", {"policy": {"filesystem": {"root": "host"}}}, "things of the host"),
                                 ("/v1/sandboxes", {"policy": {"filesystem": {"root": "image:none"}}}, "no such image"),
                                 ("/v1/sandboxes", {"timeout_seconds": 0}, "timeout_seconds"),
                                 ("/v1/sandboxes", "[" * 100_000, ""),
                                 ("/v1/sandboxes", "not json", "")):
            answer = client.ask("POST", path, body)
            expect(400 <= answer.status < 500 or answer.status == 503, path, body, answer)
            expect(word in json.dumps(answer.json), word, answer)
    with node.client() as client:
        # Announced, and not even looked at.
        equal(client.ask("POST", "/v1/sandboxes", "x", fields={"Content-Length": str(2 << 20)}).status, 413)
    with node.client() as client:
        equal(client.ask("GET", "/v1/nothing").json["code"], "CORDON-API-NO-ROUTE")
        equal(client.ask("PUT", "/v1/run").status, 405)
        equal(client.ask("GET", "/v1/sandboxes?limt=3").status, 400)
        equal(client.ask("GET", "/v1/sandboxes?limit=1&limit=2").status, 400)
        for path in ("/v1/sandboxes/..%2f..", "/v1/sandboxes/%2e%2e/x", "/v1//sandboxes", "/v1/sandboxes/"):
            expect(client.ask("GET", path).status in (400, 404), path)


def quotas(node):
    """C219: of a tenant, whoever asks: by many tokens and keys there is no more. The counter-arm is a tenant without the quota."""
    with node.client(tenant="small") as client:
        ids = [made(client) for _ in range(2)]
        full = client.ask("POST", "/v1/sandboxes", {})
        equal(full.status, 429, full)
        expect("2 living sandboxes" in full.json["detail"], full)
        for bearer in [node.mint("--tenant", "small") for _ in range(3)] + [client.ask("POST", "/v1/keys", {}).json["key"] for _ in range(3)]:
            with node.client(token=bearer) as other:
                equal(other.ask("POST", "/v1/sandboxes", {}).status, 429, "another token or key:")
                equal(other.ask("POST", "/v1/run", {"command": ["true"]}).status, 429, "another token or key:")
        equal(client.ask("DELETE", f"/v1/sandboxes/{ids[0]}").status, 200)
        made(client)
    with node.client(tenant="large") as client:
        made(client)


def files(node):
    token = node.mint("--tenant", "a")
    with node.client(token=token) as client:
        sandbox = made(client)
        at = f"/v1/sandboxes/{sandbox}/files"
        big = os.urandom(5 << 20)
        equal(client.ask("PUT", at + "?path=/workspace/a/b/big&parents=true&mode=0640", big).status, 204)
        equal(hashlib.sha256(client.ask("GET", at + "?path=/workspace/a/b/big").body).digest(), hashlib.sha256(big).digest())
        equal(client.ask("GET", at + "?path=/workspace/a/b/big&offset=1000&length=10").body, big[1000:1010])
        entry = client.ask("GET", at + "/stat?path=/workspace/a/b/big").json
        equal((entry["type"], entry["size"], entry["mode"]), ("file", len(big), "0640"))
        equal(client.ask("PUT", at + "?path=/workspace/a/b/big&exclusive=true", "x").status, 409)
        equal(client.ask("PUT", at + "?path=/workspace/empty", "").status, 204)
        equal(client.ask("GET", at + "?path=/workspace/empty").body, b"")
        equal(client.ask("POST", at + "/directory?path=/workspace/d").status, 204)
        equal(client.ask("POST", at + "/move?path=/workspace/empty&to=/workspace/d/moved").status, 204)
        names = [each["name"] for each in client.ask("GET", at + "/list?path=/workspace").json["entries"]]
        equal(names, ["a", "d"])
        page = client.ask("GET", at + "/list?path=/workspace&limit=1").json
        equal(([each["name"] for each in page["entries"]], page["more"]), (["a"], True))
        equal([each["name"] for each in client.ask("GET", at + "/list?path=/workspace&after=a").json["entries"]], ["d"])
        equal(client.ask("DELETE", at + "?path=/workspace/a").status, 204)
        for method, path, status in (("GET", "?path=/workspace/a/b/big", 404), ("GET", "?path=/workspace", 400), ("GET", "?path=/etc/shadow", 404),
                                     ("PUT", "?path=/usr/bin/x", 403), ("GET", "?path=relative", 400),
                                     ("GET", "?path=/workspace/../etc/passwd", 400), ("GET", "", 400), ("GET", "?path=/a%00b", 400)):
            answer = client.ask(method, at + path, "x" if method == "PUT" else None)
            equal(answer.status, status, method, path, answer)


def a_token_for_a_path(node):
    """It reads below its directory and nothing else, whatever links the sandbox makes; without the caveat the same is read."""
    with node.client(tenant="a") as client:
        sandbox = made(client)
        script = "mkdir /workspace/in; echo yes > /workspace/in/f; echo no > /workspace/out; ln -s ../out /workspace/in/link;" \
                 " ln -s / /workspace/in/root; ln -s /workspace /workspace/in/up"
        client.ask("GET", started(client, sandbox, "sh", "-c", script) + "/wait")
        at = f"/v1/sandboxes/{sandbox}/files"
        whole, narrow = node.mint("--tenant", "a"), node.mint("--tenant", "a", "--path", "/workspace/in")
        with node.client(token=whole) as free, node.client(token=narrow) as bound:
            equal(bound.ask("GET", at + "?path=/workspace/in/f").body, b"yes\n")
            equal(bound.ask("PUT", at + "?path=/workspace/in/new", "x").status, 204)
            for path in ("/workspace/out", "/workspace/in/link", "/workspace/in/root/workspace/out", "/workspace/in/up/out", "/workspace/in2", "/"):
                refused = bound.ask("GET", at + f"?path={path}")
                expect(refused.status in (400, 403, 503), path, refused)
                expect(b"no\n" != refused.body, path, "was read")
            for path in ("/workspace/out", "/workspace/in/link", "/workspace/in/up/out"):
                equal(free.ask("GET", at + f"?path={path}").body, b"no\n", path)
            for method, path in (("PUT", "?path=/workspace/in/link"), ("POST", "/move?path=/workspace/in/f&to=/workspace/f"),
                                 ("POST", "/move?path=/workspace/out&to=/workspace/in/o"), ("DELETE", "?path=/workspace/in/root/workspace/out")):
                expect(bound.ask(method, at + path, "x").status in (400, 403, 503), method, path)
            equal(free.ask("GET", at + "?path=/workspace/out").body, b"no\n", "afterwards")
            equal(bound.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["cat", "/workspace/out"]}).status, DENIED)


def revoked_tokens(node):
    """Refused at once, with all that were derived, also after a death of the node; what streams with them is cut in a second."""
    token, other = node.mint("--tenant", "a"), node.mint("--tenant", "a")
    derived = subprocess.run([node.programs / "cordon", "token", "attenuate", "--operation", "process.read", "--operation", "sandbox.read"],
                             input=token, capture_output=True, text=True, check=True).stdout.strip()
    inspected = subprocess.run([node.programs / "cordon", "token", "inspect", "--json"], input=token, capture_output=True, text=True, check=True)
    revocation = json.loads(inspected.stdout)["revocation"]
    with node.client(token=token) as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", "echo begun; sleep 1000")
    with node.client(token=derived) as reader, node.client(token=other) as unconcerned, node.client() as operator:
        lines = reader.lines(process + "/output")
        equal(next(lines)["data"], "begun\n")
        goes_on = unconcerned.lines(process + "/output?stdout=6")
        equal(operator.ask("POST", f"/v1/tokens/revoke?id={revocation}").status, 204)
        began = time.monotonic()
        try:
            rest = list(lines)
        except (http.client.IncompleteRead, ConnectionError):
            rest = []
        expect(time.monotonic() - began < 1, "a stream went on for", time.monotonic() - began)
        equal(rest, [], "what came after the revocation")
        for each in (token, derived):
            with node.client(token=each) as client:
                equal(client.ask("GET", "/v1/sandboxes").status, UNAUTHENTICATED)
        with node.client(token=other) as client:
            equal(client.ask("POST", process + "/signal", {"signal": "KILL", "group": True}).status, 204)
        equal(list(goes_on)[-1]["event"], "exit", "the stream of another token")
        equal(operator.counts()["cordon_http_failed_total"], "0", "a stream that was cut counts as a failure of the node:")
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with node.client(token=token) as client, node.client(token=other) as still:
        equal(client.ask("GET", "/v1/sandboxes").status, UNAUTHENTICATED, "after a death")
        equal(still.ask("GET", "/v1/sandboxes").status, 200)


def who_leaves_leaves_nothing(node):
    """A client that goes away while its run, or the making of its sandbox, is under way: neither is left, here or at the launcher."""
    for body, path in (({"command": ["sleep", "1000"]}, "/v1/run"), ({}, "/v1/sandboxes")):
        for pause in (0.0, 0.002, 0.05, 0.7):
            client = node.client()
            client.connection.request("POST", path, body=json.dumps(walled(body)))
            time.sleep(pause)
            if pause > 0.5 and path == "/v1/run":
                awaited(lambda: sleepers(node))
            client.connection.close()
    # Behind a wall two more run for plans that come again, as soon as nobody asks for anything.
    ahead = 2 if ISOLATION else 0
    time.sleep(ahead)
    with node.client() as client:
        until = time.monotonic() + 15
        while True:
            ids = [each["id"] for each in client.ask("GET", "/v1/sandboxes").json["sandboxes"]]
            sleeping = sleepers(node)
            # One that was answered before the client left is a sandbox like any other.
            if len(sleeping) <= (len(ids) + ahead if ISOLATION else 0) and len(ids) <= 4:
                break
            expect(time.monotonic() < until, "left:", ids, sleeping)
            time.sleep(0.1)
        for sandbox in ids:
            client.ask("DELETE", f"/v1/sandboxes/{sandbox}")


def sleepers(node):
    """Processes `sleep 1000` of the node's sandboxes, which have its ids; behind another wall, where the host sees none of them, the kernels that run them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file, open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
                words = file.read()
                is_one = words.startswith(b"runsc-sandbox\0") if ISOLATION else words == b"sleep\x001000\x00"
                if is_one and int(re.search(r"^Uid:\s+(\d+)", status.read(), re.M)[1]) >= FIRST_ID:
                    found.append(pid)
        except (OSError, TypeError):
            continue
    return found


def goes_on_after_death(node):
    """kill -9 of cordond: sandboxes, processes, unread bytes and exits are there again, in two seconds."""
    for how in (signal.SIGKILL, signal.SIGTERM):
        with node.client(tenant="a") as client:
            sandbox = made(client, {"labels": {"a": "b"}, "timeout_seconds": 600})
            before = client.ask("GET", f"/v1/sandboxes/{sandbox}").json
            counter = started(client, sandbox, "sh", "-c", "seq 1 300000; read x; echo $x; exit 7")
            ended = started(client, sandbox, "sh", "-c", "echo gone; exit 5")
            sleeper = started(client, sandbox, "sleep", "1000")
            client.ask("GET", ended + "/wait")
            read = b""
            for line in client.lines(counter + "/output?acknowledge=client"):
                read += line["data"].encode()
                if len(read) > 100_000:
                    break
        node.end(node.node, how)
        began = time.monotonic()
        node.start_node()
        with node.client(tenant="a") as client:
            after = client.ask("GET", f"/v1/sandboxes/{sandbox}").json
            expect(time.monotonic() - began < 2, "adoption took", time.monotonic() - began)
            equal(after, before, "the sandbox afterwards")
            kept = 70_000
            acknowledged = client.ask("POST", counter + f"/acknowledge?stdout={kept}")
            equal(acknowledged.status, 204, acknowledged)
            equal(client.ask("POST", counter + "/input?end=true", "after\n").status, 204)
            lines = list(client.lines(counter + f"/output?stdout={kept}"))
            rest = b"".join(line["data"].encode() for line in lines if line["event"] == "stdout")
            wanted = "".join(f"{n}\n" for n in range(1, 300001)).encode() + b"after\n"
            equal(hashlib.sha256(read[:kept] + rest).hexdigest(), hashlib.sha256(wanted).hexdigest())
            equal(lines[-1]["process"]["exit"]["code"], 7)
            equal(client.ask("GET", ended + "/wait").json["exit"]["code"], 5)
            equal(joined(client.lines(ended + "/output"), "stdout"), b"gone\n")
            equal(client.ask("GET", sleeper).json["state"], "running")
            again = started(client, sandbox, "true")
            expect(again not in (counter, ended, sleeper), "a number was used twice")
            equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").json["verdict"]["ending"], "killed")


CHECKS = {f.__name__: f for f in (health, run_in_one, limits_of_a_run, limits_of_a_living_sandbox, life_of_a_sandbox, processes,
                                  run_in_a_living_sandbox, output_by_offset, bytes_arrive_whole,
                                  same_key_same_sandbox, tenants_do_not_see_each_other, every_route_needs_its_right,
                                  no_token_no_answer, requests_are_strict, quotas, files, a_token_for_a_path, revoked_tokens, who_leaves_leaves_nothing, goes_on_after_death)}
SETTINGS = {"quotas": "[tenants.small]\nsandboxes = 2\n"}


def main(checks, make_node=Daemon):
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--list", action="store_true", help="only the names of the checks")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(checks))
        sys.exit(0)
    if os.geteuid() != 0:
        print("skipped: needs root, for the launcher")
        sys.exit(77)
    unknown = set(options.names) - set(checks)
    if unknown:
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    failed = False
    for name, check in checks.items():
        if options.names and name not in options.names:
            continue
        begin = time.monotonic()
        try:
            with make_node(options.programs, settings=SETTINGS.get(name, "")) as node:
                try:
                    said = check(node) or ""
                except Exception:
                    print(node.log("cordond"), node.log("launcher"))
                    raise
            word = "pass"
        except Exception:
            word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-3), True
        print(f"{word}  {name:<32} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(CHECKS)
