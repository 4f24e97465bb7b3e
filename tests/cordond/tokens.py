# SPDX-License-Identifier: Apache-2.0
"""Who may ask a node for what: `tokens.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import contextlib
import os
import pathlib
import re
import subprocess
import time

import api as checks
from api import DENIED, NOT_FOUND, OF_THE_NODE, OPERATIONS, ROUTES, UNAUTHENTICATED, WITH_A_PORT, body_for, equal, expect, made, started
from daemon import Client

DESCRIBED = pathlib.Path(__file__).resolve().parents[2] / "api/openapi.yaml"
NOBODY = 39_999     # no account has it


def described():
    """Every route of api/openapi.yaml, which a unit test holds against the program's own table."""
    routes, path, method = {}, None, None
    for line in DESCRIBED.read_text().splitlines():
        if line.startswith("components:"):
            break
        if line.startswith("  /"):
            path = line.strip().rstrip(":")
        elif path and re.fullmatch(r"    [a-z]+:", line):
            method = line.strip().rstrip(":").upper()
            routes[method, path] = None
        elif found := re.fullmatch(r"      x-cordon-operation: (\S+)", line):
            routes[method, path] = found[1]
    return routes


def pattern_of(path):
    """The route of a path that is asked for."""
    path = re.sub(r"/processes/1(?=/|$)", "/processes/{process}", path.split("?")[0])
    return path.replace("/ports/8000/x", "/ports/{port}/{path...}").replace("/v1/keys/none", "/v1/keys/{key}").replace("/v1/secrets/none", "/v1/secrets/{name}")


@contextlib.contextmanager
def somebody(node):
    """A client whom the kernel calls neither root nor the node's own user."""
    os.chmod(node.socket, 0o666)
    client = Client(node.socket)
    os.seteuid(NOBODY)
    try:
        client.connection.connect()
    finally:
        os.seteuid(0)
    with client:
        yield client


def cordon(node, *words, **how):
    done = subprocess.run([node.programs / "cordon", *words], capture_output=True, text=True, **how)
    expect(done.returncode == 0, words, done.stderr)
    return done.stdout.strip()


def attenuated(node, token, *caveats):
    return cordon(node, "token", "attenuate", *caveats, input=token)


def everything_is_asked_for(_node):
    """The table that the other checks go by has every route, with the operation that it is described with."""
    asked = {(method, pattern_of(path)): operation for method, path, operation in ROUTES}
    wanted = {route: operation for route, operation in described().items() if operation}
    equal(asked, wanted, "routes that are asked for and routes that are described:")
    equal([route for route, operation in described().items() if not operation], [("GET", "/v1/health")], "open to everybody:")


def wrong_tokens(node, right, of_node, other_node, ended):
    """Each with what it gets: tokens that would be right but for one thing."""
    bearer = ("--operator", "--expires", "1h") if of_node else ("--tenant", "a")
    good = node.mint(*bearer, "--operation", right)
    others = [word for operation in OPERATIONS if operation != right for word in ("--operation", operation)]
    yield "nothing behind its beginning", "cdn1_", UNAUTHENTICATED
    yield "garbage", "x" * 200, UNAUTHENTICATED
    yield "forged", good[:-10] + ("A" if good[-10] != "A" else "B") + good[-9:], UNAUTHENTICATED
    yield "truncated", good[:-8], UNAUTHENTICATED
    yield "lengthened", good + "AAAA", UNAUTHENTICATED
    for why, token in ended.items():
        yield why, token, UNAUTHENTICATED
        yield f"made of one that is {why}", attenuated(node, token, "--operation", right, "--expires", "1h"), UNAUTHENTICATED
    yield "another audience", other_node(*bearer, "--operation", right), UNAUTHENTICATED
    yield "all other operations", node.mint(*bearer, *others), DENIED
    yield "another sandbox", attenuated(node, good, "--sandbox", "aaaa"), DENIED
    yield "another path", attenuated(node, good, "--path", "/elsewhere"), DENIED
    yield "another tenant", node.mint("--tenant", "b", "--operation", right), NOT_FOUND
    if of_node:
        yield "a tenant", node.mint("--tenant", "a", "--operation", right), DENIED
        yield "an operator for a tenant", node.mint("--operator", "--tenant", "a"), DENIED


def things(operator):
    """What a request that got through would have changed."""
    sandboxes = operator.ask("GET", "/v1/sandboxes").json["sandboxes"]
    return [(each, operator.ask("GET", f"/v1/sandboxes/{each['id']}/processes").json["processes"],
             operator.ask("GET", f"/v1/sandboxes/{each['id']}/files/list?path=/workspace").json) for each in sandboxes]


def every_route_refuses_every_wrong_token(node):
    """C201, C202: all routes times all ways in which a token can be wrong. The same is said of all that are none, and nothing happens."""
    def other_node(*caveats):
        return cordon(node, "token", "mint", "--key", node.key, "--audience", "node-b", *caveats)

    ended = {"expired": node.mint("--operator", "--expires", "1s"), "revoked": node.mint("--operator")}
    until = time.time() + 1.1
    said, tried, wrong = set(), 0, {}
    with node.client(tenant="a") as operator:
        identity = cordon(node, "token", "inspect", "--json", input=ended["revoked"])
        equal(operator.ask("POST", f"/v1/tokens/revoke?id={checks.json.loads(identity)['revocation']}").status, 204)
        sandbox = made(operator, WITH_A_PORT)
        started(operator, sandbox, "sleep", "100")
        before = things(operator)
        time.sleep(max(0, until - time.time()))
        for method, path, right in ROUTES:
            asked, body = path.format(id=sandbox), body_for(method, path)
            with somebody(node) as client:
                bare = client.ask(method, asked, body)
                equal(bare.status, UNAUTHENTICATED, method, path, "without a token")
                said.add(bare.body or method)
            if right not in wrong:
                wrong[right] = list(wrong_tokens(node, right, right in OF_THE_NODE, other_node, ended))
            for name, token, status in wrong[right]:
                # A tenant has its own list and its own sandboxes: nothing of another's is meant there.
                if status == NOT_FOUND:
                    if right in OF_THE_NODE or "{id}" not in path:
                        continue
                with node.client(token=token) as client:
                    answer = client.ask(method, asked, body)
                equal(answer.status, status, method, path, "with a token:", name, answer)
                tried += 1
                if status == UNAUTHENTICATED:
                    said.add(answer.body or method)
                if status == NOT_FOUND:
                    with node.client(token=token) as client:
                        equal(client.ask(method, path.format(id=nobodys(sandbox)), body).body, answer.body, "one of nobody")
            equal(things(operator), before, method, path, "has done something")
    equal(len(said - {"HEAD"}), 1, "what is said of bad tokens")
    return f"{tried} pairs"


def nobodys(sandbox):
    """An id of the same form, of no sandbox."""
    return sandbox[:-1] + ("a" if sandbox[-1] != "a" else "b")


def bad_tokens_cost_the_same(node):
    """C220: forged in its first byte, in its last, cut, foreign: no refusal is faster than another by what a client could see."""
    good = node.mint("--tenant", "a")
    flip = {"A": "B"}
    bad = {"first": good[:-43] + flip.get(good[-43], "A") + good[-42:], "last": good[:-2] + flip.get(good[-2], "A") + good[-1:],
           "cut": good[:-8], "garbage": "x" * len(good)}
    took = {name: [] for name in bad}
    with node.client() as client:
        for _ in range(400):
            for name, token in bad.items():
                began = time.perf_counter()
                answer = client.ask("GET", "/v1/node", fields={"Authorization": f"Bearer {token}"})
                took[name].append(time.perf_counter() - began)
                equal(answer.status, UNAUTHENTICATED)
    middles = {name: sorted(times)[len(times) // 2] for name, times in took.items()}
    # Medians over a socket: what is left is noise. A comparison that stopped early is found by the unit tests, which count MACs.
    expect(max(middles.values()) < 1.5 * min(middles.values()), middles)
    return ", ".join(f"{name} {value * 1e6:.0f} us" for name, value in middles.items())


def inspected(node, token):
    return checks.json.loads(cordon(node, "token", "inspect", "--json", input=token))["revocation"]


def holds(node, token):
    with node.client(token=token) as client:
        return client.ask("GET", "/v1/sandboxes").status == 200


def who_may_take_a_token_back(node):
    """Its tenant and operators by showing it, whoever holds it itself, and nobody but an operator by its id."""
    revoke = "/v1/tokens/revoke"
    target, other, stranger = (node.mint("--tenant", name) for name in ("a", "a", "b"))
    powerless = node.mint("--tenant", "a", "--operation", "sandbox.read")
    operator, for_a = node.mint("--operator"), node.mint("--operator", "--tenant", "a")
    for bearer, path, body in ((stranger, revoke, {"token": target}), (stranger, f"{revoke}?id={inspected(node, target)}", None),
                               (other, f"{revoke}?id={inspected(node, target)}", None), (for_a, f"{revoke}?id={inspected(node, target)}", None),
                               (powerless, revoke, {"token": target}), (powerless, revoke, None), (other, revoke, {"token": operator})):
        with node.client(token=bearer) as client:
            equal(client.ask("POST", path, body).status, DENIED, path, body)
    with node.client(token=other) as client:
        forged = target[:-10] + ("A" if target[-10] != "A" else "B") + target[-9:]
        for body in ({"token": forged}, {"token": target[:-4]}, {"token": 3}, {"tokn": "x"}, "[]"):
            equal(client.ask("POST", revoke, body).status, 400, body)
        equal(client.ask("POST", f"{revoke}?id={inspected(node, other)}", {"token": target}).status, 400, "two at once")
    expect(all(holds(node, token) for token in (target, other, stranger, powerless, for_a)), "one of them was taken back")
    # The counter-arms: each with the right that was missing.
    derived = attenuated(node, target, "--operation", "sandbox.read")
    with node.client(token=other) as client:
        equal(client.ask("POST", revoke, {"token": derived}).status, 204)
        equal((holds(node, derived), holds(node, target)), (False, True), "a derived one and what it was made of")
        equal(client.ask("POST", revoke, {"token": target}).status, 204)
        equal(client.ask("POST", revoke, {"token": target}).status, 204, "again")
        equal((holds(node, target), holds(node, other)), (False, True))
        equal(client.ask("POST", revoke).status, 204, "itself")
        equal(holds(node, other), False)
    with node.client() as client:
        equal(client.ask("POST", revoke).status, 400, "without a token, and without saying which")
    with node.client(token=operator) as client:
        equal(client.ask("POST", f"{revoke}?id={inspected(node, stranger)}&seconds=100000").status, 204)
        equal((holds(node, stranger), holds(node, powerless)), (False, True))


def revoked_by_the_command(node):
    mine, yours, found = (node.mint("--tenant", "a") for _ in range(3))
    at = ("--node", node.socket)
    file = node.base / "token"
    file.write_text(yours + "\n")
    environment = {**os.environ, "CORDON_TOKEN": mine}
    cordon(node, "token", "revoke", file, *at, env=environment)
    equal((holds(node, yours), holds(node, mine)), (False, True))
    said = subprocess.run([node.programs / "cordon", "token", "revoke", yours, *at], capture_output=True, text=True, env=environment)
    expect(said.returncode and yours not in said.stderr + said.stdout, "a token was repeated:", said)
    cordon(node, "token", "revoke", "--id", inspected(node, found), "--expires", "24h", *at)
    equal(holds(node, found), False, "by its id, as root:")
    cordon(node, "token", "revoke", *at, env=environment)
    equal(holds(node, mine), False, "the one that asked:")


def api_keys(node):
    """Made, used, listed without themselves, never wider than their maker, gone with it, also after a death of the node; kept as a digest alone."""
    token = node.mint("--tenant", "a", "--operation", "key.create", "--operation", "sandbox.create", "--operation", "sandbox.read",
                      "--operation", "process.start", "--operation", "process.read")
    with node.client(token=token) as client, node.client() as root, node.client(tenant="a") as operator:
        made_key = client.ask("POST", "/v1/keys", {"label": "ci", "caveats": [{"operation": ["sandbox.read", "sandbox.destroy", "key.create"]}]})
        equal(made_key.status, 201, made_key)
        key = made_key.json["key"]
        expect(re.fullmatch("cdnk_[a-z2-7]{52}", key), key)
        listed = operator.ask("GET", "/v1/keys")
        equal([each["label"] for each in listed.json["keys"]], ["ci"])
        expect(key.encode() not in listed.body and "key" not in listed.json["keys"][0], listed)
        sandbox = made(client)
        with node.client(token=key) as user:
            equal(user.ask("GET", f"/v1/sandboxes/{sandbox}").status, 200)
            equal(user.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, DENIED, "what its maker may not do")
            equal(user.ask("POST", "/v1/sandboxes", {}).status, DENIED, "what the key may not do")
            equal(user.ask("GET", "/v1/node").status, DENIED)
            equal(user.ask("POST", "/v1/keys", {"operator": True}).status, DENIED)
            equal(user.ask("POST", "/v1/tokens/revoke").status, DENIED)
            child = user.ask("POST", "/v1/keys", {"caveats": [{"operation": ["sandbox.read"]}], "expires_in_seconds": 1000}).json["key"]
        with somebody(node) as user:
            for fields, status in (({"X-API-Key": key}, 200), ({"X-API-Key": key[:-1] + "b"}, 401), ({"X-API-Key": token}, 401),
                                   ({"X-API-Key": key, "Authorization": f"Bearer {key}"}, 401)):
                equal(user.ask("GET", "/v1/sandboxes", fields=fields).status, status, fields)
        # A key of another tenant's is not there.
        with node.client(tenant="b") as other:
            equal(other.ask("GET", "/v1/keys").json["keys"], [])
            equal(other.ask("DELETE", f"/v1/keys/{made_key.json['id']}").status, NOT_FOUND)
        lasting = root.ask("POST", "/v1/keys", {"label": "all", "operator": True}).json["key"]
        streaming = operator.ask("POST", "/v1/keys", {"label": "stream"}).json
        with node.client(token=lasting) as user:
            equal(user.ask("GET", "/v1/node").status, 200, "an operator's key")
        process = started(client, sandbox, "sh", "-c", "echo begun; sleep 1000")
        with node.client(token=streaming["key"]) as reader:
            lines = reader.lines(process + "/output")
            equal(next(lines)["data"], "begun\n")
            began = time.monotonic()
            equal(operator.ask("DELETE", f"/v1/keys/{streaming['id']}").status, 204)
            with contextlib.suppress(checks.http.client.IncompleteRead, ConnectionError):
                equal(list(lines), [], "what came after the key was deleted")
            expect(time.monotonic() - began < 1, "a stream went on for", time.monotonic() - began)
    state = b"".join(file.read_bytes() for file in (node.base / "state").rglob("*") if file.is_file()) + (node.base / "cordond.log").read_bytes()
    for text in (key, child, lasting, streaming["key"]):
        expect(text.encode() not in state and text[5:].encode() not in state, "a key lies in the state or the log")
    node.end(node.node, 9)
    node.start_node()
    equal([holds(node, each) for each in (key, child, lasting, streaming["key"])], [True, True, True, False], "after a death")
    with node.client(token=lasting) as user:
        equal(user.ask("POST", "/v1/tokens/revoke", {"token": token}).status, 204)
    equal([holds(node, each) for each in (key, child, lasting)], [False, False, True], "with their maker")


def api_keys_by_the_command(node):
    at = ("--node", node.socket)
    key = cordon(node, "apikey", "create", "--tenant", "a", "--label", "one", "--operation", "sandbox.read", "--operation", "sandbox.create",
                 "--budget", "processes=5", "--expires", "1h", *at)
    equal(holds(node, key), True)
    with node.client(token=key) as client:
        equal(client.ask("GET", "/v1/keys").status, DENIED)
    table = cordon(node, "apikey", "ls", "--tenant", "a", *at)
    expect("one" in table and key not in table, table)
    listed = checks.json.loads(cordon(node, "apikey", "ls", "--json", *at))["keys"]
    equal([list(each)[0] for each in listed[0]["caveats"]], ["operation", "budget", "expires", "tenant"])
    identity = listed[0]["id"]
    equal(cordon(node, "apikey", "rm", identity, *at), identity)
    equal(holds(node, key), False)
    gone = subprocess.run([node.programs / "cordon", "apikey", "rm", identity, *at], capture_output=True, text=True)
    equal(gone.returncode, 4, gone)


def budgets(node):
    """C288: of a token and all that were made of it, in one account: held by what lives, also over a death of the node, and given back."""
    token = node.mint("--tenant", "a", "--budget", "sandboxes=2")
    child = attenuated(node, token, "--budget", "sandboxes=1")
    with node.client(token=token) as client, node.client(token=child) as narrow, node.client(token=node.mint("--tenant", "a")) as free:
        first = made(narrow)
        spent = narrow.ask("POST", "/v1/sandboxes", {})
        equal((spent.status, spent.json["code"]), (429, "CORDON-API-EXHAUSTED"), spent)
        expect("sandboxes=1" in spent.json["detail"], spent)
        equal(narrow.ask("POST", "/v1/run", {"command": ["true"]}).status, 429, "a run:")
        made(client)
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429, "what a derived one made counts too:")
        made(free)
    node.end(node.node, 9)
    node.start_node()
    with node.client(token=token) as client, node.client(token=child) as narrow, node.client(token=node.mint("--tenant", "a")) as free:
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429, "after a death of the node:")
        equal(client.ask("DELETE", f"/v1/sandboxes/{first}").status, 200)
        equal(narrow.ask("POST", "/v1/run", {"command": ["true"]}).status, 200, "after it was given back:")
        made(narrow)
        equal(client.ask("POST", "/v1/sandboxes", {}).status, 429)
        memory = node.mint("--tenant", "a", "--budget", f"memory_bytes={100 << 20}", "--budget", "creates_per_minute=3")
        with node.client(token=memory) as bound:
            small = {"policy": {"resources": {"memory_limit": "64Mi", "disk_limit": "1Mi"}}}
            equal(bound.ask("POST", "/v1/sandboxes", {}).status, 429, "more memory than the budget")
            one = made(bound, small)
            equal(bound.ask("POST", "/v1/sandboxes", small).status, 429, "the second")
            for _ in range(2):
                equal(bound.ask("DELETE", f"/v1/sandboxes/{one}").status, 200)
                one = made(bound, small)
            equal(bound.ask("DELETE", f"/v1/sandboxes/{one}").status, 200)
            late = bound.ask("POST", "/v1/sandboxes", small)
            expect(late.status == 429 and "creates_per_minute=3" in late.json["detail"], late)
        with node.client(token=node.mint("--tenant", "a", "--budget", "egress_bytes=1000")) as bound:
            network = {"policy": {"network": {"mode": "restricted", "egress_allowlist": ["api.example.com:443"]}}}
            equal(bound.ask("POST", "/v1/sandboxes", network).status, 503, "what is not counted is not given")
            made(bound)
            made(free)


CHECKS = {f.__name__: f for f in (everything_is_asked_for, every_route_refuses_every_wrong_token, bad_tokens_cost_the_same,
                                  who_may_take_a_token_back, revoked_by_the_command, api_keys, api_keys_by_the_command, budgets)}

if __name__ == "__main__":
    checks.main(CHECKS)
