# SPDX-License-Identifier: Apache-2.0
"""What Cordon's own SDK for Python is for, against a node: `scenario.py [NAME...]`; without names all. scenario.mjs has the same steps in the same
order. run.py says in variables where the node is, and what else there is."""
import hashlib
import json
import os
import pathlib
import secrets
import ssl
import sys
import traceback

import cordon
from cordon.connection import Connection

ENV = os.environ
PYTHON = ENV["CORDON_TEST_PYTHON"]
BARE = {"PYTHONDONTWRITEBYTECODE": "1"}
TLS = ssl.create_default_context(cafile=ENV["CORDON_TEST_AUTHORITY"]) if "CORDON_TEST_AUTHORITY" in ENV else None
TENANT = ENV.get("CORDON_TEST_TENANT")
asked = []      # method and route of each request, in their order


def noting(ask):
    def noted(self, method, route, *more, **named):
        asked.append((method, route))
        return ask(self, method, route, *more, **named)
    return noted


Connection.ask, Connection.lines = noting(Connection.ask), noting(Connection.lines)


def equal(got, wanted, *words):
    if got != wanted:
        raise AssertionError(f"{' '.join(map(str, words))} is {got!r}, not {wanted!r}")


def holds(truth, *words):
    if not truth:
        raise AssertionError(" ".join(map(str, words)))


def refused(kind, act):
    """The error that an act is refused with."""
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"not refused with {kind.__name__}")


def client(**how):
    return cordon.Client(**{"tenant": TENANT, "tls": TLS, **how})


def operator():
    return cordon.Client(token=ENV["CORDON_TEST_OPERATOR"], tls=TLS)


def the_node_tells_what_it_is():
    with operator() as node:
        equal(node.health().status, "serving")
        equal((node.node().name, node.node().default_image), ("node", "small"))
        holds("cordon_sandboxes_created_total" in node.metrics(), "metrics")


RELEASE = '[ceiling.network]\nmode = "none"\n'


def a_node_is_looked_after():
    with operator() as node, client() as tenant:
        equal(node.drain_node().draining, True)
        error = refused(cordon.CordonError, lambda: tenant.run(["true"]))
        equal((error.status, error.code), (503, "CORDON-NODE-DRAINING"))
        equal(node.resume_node().draining, False)
        equal(tenant.run(["true"]).verdict.status, 0)
        refused(cordon.CordonError, lambda: node.put_policy(1, "nonsense"))
        equal(node.put_policy(1, RELEASE).raw["policy"]["release"], 1)
        equal(node.drop_policy().raw["policy"]["release"], 0)


def a_policy_is_enforced():
    writes = ["sh", "-c", "echo word > file && cat file"]
    with client() as node:
        run = node.run(writes, policy={"filesystem": {"mode": "read_only"}})
        denial, = run.denials
        equal((run.verdict.status != 0, denial.code, denial.resolved, denial.retryable), (True, "CORDON-FS-WRITE", "/workspace/file", False))
        holds(denial.rule.startswith("request:") and "read_write" in denial.fix and "read_only" in denial.why, denial)
        # The counter-arm: with the rule it works.
        run = node.run(writes, policy={"filesystem": {"mode": "read_write"}})
        equal((run.verdict.status, run.text, run.denials), (0, "word\n", ()))
        # A name that no rule has is not even looked up.
        code = "import socket; socket.create_connection(('blocked.example.com', 443), 5)"
        run = node.run([PYTHON, "-c", code], environment=BARE, policy={"network": {"egress_allowlist": ["allowed.example.com:443"]}})
        names = [each for each in run.denials if each.code == "CORDON-NET-NAME"]
        holds(names and "blocked.example.com" in names[0].tried and "egress_allowlist" in names[0].fix, run.denials)


def enforcement_is_told():
    with client() as node:
        run = node.run(["true"], policy={"resources": {"open_files": 64}})
        equal([run.enforcement.hold(name) for name in ("seccomp", "open_files", "io", "nothing like it")], ["held", "held", "absent", "absent"])
        equal(next(each.detail for each in run.enforcement if each.name == "seccomp"), "strict")
        with node.create_sandbox() as sandbox:
            equal((sandbox.info.isolation, sandbox.info.enforcement.hold("network")), ("process", "held"))


def verdicts():
    with client() as node:
        run = node.run(["sh", "-c", "cat; echo e >&2; exit 3"], input="in")
        equal((run.verdict.ending, run.verdict.status, run.stdout, run.stderr), ("exit", 3, b"in", b"e\n"))
        holds(run.usage.wall_milliseconds >= 0 and run.usage.memory_peak, run.usage)
        run = node.run(["sh", "-c", "kill -9 $$"])
        equal((run.verdict.ending, run.verdict.status), ("signal", 9))
        run = node.run(["sleep", "60"], timeout_seconds=1)
        equal((run.verdict.ending, run.verdict.limit), ("wall_time", 1))
        holds("No such file" in node.run(["/nowhere"]).failure, "what cannot be started")
        equal(node.run(["printf", "\\377\\000"]).stdout, b"\xff\0")


def processes():
    with client() as node, node.create_sandbox() as sandbox:
        run = sandbox.run(["sh", "-c", "cat; pwd; echo $A"], input="in ", environment={"A": "b"}, directory="/tmp")
        equal((run.text, run.process.exit.code), ("in /tmp\nb\n", 0))
        late = sandbox.run(["sleep", "60"], seconds=1)
        equal((late.timed_out, late.process.exit.signal), (True, 9))
        cat = sandbox.start(["cat"], input="one ")
        cat.write(b"two ")
        cat.write(iter([b"thr", b"ee"]), end=True)
        equal(cat.wait().exit.code, 0)
        equal(b"".join(chunk.data for chunk in cat.output()), b"one two three")
        sleeper = sandbox.start(["sleep", "100"])
        equal(sandbox.process(sleeper.number).refresh().state, "running")
        equal(sleeper.wait(0).state, "running")
        sleeper.signal("SIGTERM")
        equal(sleeper.wait().exit.signal, 15)
        equal([each.number for each in sandbox.processes()][-1], sleeper.number)


def output_survives_broken_connections():
    size = 3_000_000
    line = b"0123456789abcdef\n"
    with client() as direct, client(node=ENV["CORDON_TEST_CUT"]) as cut, direct.create_sandbox() as sandbox:
        made = sandbox.start(["sh", "-c", f"yes 0123456789abcdef | head -c {size}; echo last >&2; exit 3"])
        process = cut.sandbox(sandbox.id).process(made.number)
        before, digest, got, errors = len(asked), hashlib.sha256(), 0, b""
        for chunk in process.output():
            if chunk.stream == "stderr":
                errors += chunk.data
                continue
            equal(chunk.offset, got, "offset")
            digest.update(chunk.data)
            got += len(chunk.data)
        wanted = (line * (size // len(line) + 1))[:size]
        equal((got, digest.hexdigest(), errors, process.info.exit.code), (size, hashlib.sha256(wanted).hexdigest(), b"last\n", 3))
        opened = sum(route.endswith("/output") for _, route in asked[before:])
        holds(opened > 3, "opened", opened, "times: no connection broke")
        # Who stops in the middle goes on where it was.
        process = sandbox.start(["sh", "-c", "seq 1 200000"])
        first = next(process.output())
        again = b"".join(chunk.data for chunk in process.output(stdout=len(first.data)))
        equal(first.data + again, "".join(f"{number}\n" for number in range(1, 200001)).encode(), "read in two parts")


def files_go_in_and_come_out():
    data = bytes(range(256)) * 4000
    with client() as node, node.create_sandbox() as sandbox:
        files = sandbox.files
        files.write("/workspace/d/a b?.bin", data, parents=True, mode="0640")
        equal(files.read("/workspace/d/a b?.bin") == data, True, "bytes that came back")
        equal(files.read("/workspace/d/a b?.bin", offset=250, length=10), data[250:260])
        entry = files.stat("/workspace/d/a b?.bin")
        equal((entry.name, entry.type, entry.size, entry.mode), ("a b?.bin", "file", len(data), "0640"))
        refused(cordon.ConflictError, lambda: files.write("/workspace/d/a b?.bin", b"", exclusive=True))
        files.make_directory("/workspace/d/sub")
        files.move("/workspace/d/a b?.bin", "/workspace/d/sub/moved")
        files.write("/workspace/d/z", iter([b"in ", b"pieces"]))
        equal([(each.name, each.type) for each in files.list("/workspace/d")], [("sub", "directory"), ("z", "file")])
        entries, more = files.page("/workspace/d", limit=1)
        equal((entries[0].name, more), ("sub", True))
        for form in ("tar", "tar.gz"):
            written = files.write_tree(f"/workspace/copy.{form}", files.read_tree("/workspace/d", format=form))
            equal((written.bytes, files.read(f"/workspace/copy.{form}/sub/moved") == data), (len(data) + 9, True))
        error = refused(cordon.ArchiveError, lambda: files.write_tree("/workspace/e", pathlib.Path(ENV["CORDON_TEST_ARCHIVE"]).read_bytes()))
        equal((error.entry, error.rule), ("../x", "unsafe_path"))
        changes = files.watch("/workspace/d", recursive=True)
        equal(next(changes).event, "watching")
        files.remove("/workspace/d/sub")
        change = next(each for each in changes if each.event == "removed" and each.directory)
        equal(change.name, "sub")
        changes.close()
        refused(cordon.NotFoundError, lambda: files.stat("/workspace/d/sub"))


def the_same_key_gives_the_same_sandbox():
    key = secrets.token_hex(8)
    with client() as node:
        with node.create_sandbox(labels={"a": "1"}, idempotency_key=key) as first:
            equal(node.create_sandbox(labels={"a": "1"}, idempotency_key=key).id, first.id)
            error = refused(cordon.ConflictError, lambda: node.create_sandbox(labels={"a": "2"}, idempotency_key=key))
            equal((error.status, error.code), (409, "CORDON-API-CONFLICT"))
            with node.create_sandbox(labels={"a": "1"}, idempotency_key=key + " other") as other:
                holds(other.id != first.id, "another key, the same sandbox")
        refused(cordon.ConflictError, lambda: node.create_sandbox(labels={"a": "1"}, idempotency_key=key))


def labels_and_pages():
    with client() as node:
        made = [node.create_sandbox(labels={"job": "pages", "turn": str(turn)}) for turn in range(3)]
        try:
            page = node.list_sandboxes(labels={"job": "pages"}, limit=2)
            equal((len(page.sandboxes), page.next is None), (2, False))
            rest = node.list_sandboxes(labels={"job": "pages"}, limit=2, after=page.next)
            equal((len(rest.sandboxes), rest.next), (1, None))
            equal({each.id for each in node.sandboxes(labels={"job": "pages"}, limit=1)}, {each.id for each in made})
            equal([each.id for each in node.sandboxes(labels={"job": "pages", "turn": "1"})], [made[1].id])
            equal(made[0].change(labels={"job": "other"}, timeout_seconds=600).labels, {"job": "other"})
            equal(len(list(node.sandboxes(labels={"job": "pages"}))), 2)
        finally:
            for each in made:
                equal(each.delete().verdict.ending, "killed")
        equal(node.get_sandbox(made[0].id).info.state, "ended")


def narrowed_while_it_lives():
    with client() as node, node.create_sandbox(policy={"network": {"ingress": [8000]}}) as sandbox:
        sandbox.files.write("/workspace/index.txt", b"served")
        server = sandbox.start([PYTHON, "-u", "-m", "http.server", "8000", "--bind", "127.0.0.1"], environment=BARE)
        holds(b"Serving" in next(server.output()).data, "a server")
        answer = sandbox.request(8000, "GET", "/index.txt?its=query")
        equal((answer.status, answer.body, answer.headers["content-type"]), (200, b"served", "text/plain"))
        equal(sandbox.request(8000, "HEAD", "/index.txt", headers={"X-Own": "1"}).headers["content-length"], "6")
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            equal(sandbox.request(8000, method, "/", body=b"x").status, 501, method)
        equal(sandbox.request(8001, "GET", "/").status, 403, "a port that is not listed:")
        sandbox.change(policy={"network": {"ingress": "deny_all"}})
        answer = sandbox.request(8000, "GET", "/index.txt")
        equal((answer.status, answer.headers["content-type"]), (403, "application/problem+json"))
        sandbox.change(policy={"network": {"ingress": [8000]}})
        equal(sandbox.request(8000, "GET", "/index.txt").status, 403, "widened:")
        error = refused(cordon.InvalidError, lambda: sandbox.change(policy={"filesystem": {"hide": ["x"]}}))
        holds("when a sandbox is launched" in str(error), error)


def errors_have_words():
    with client() as node:
        error = refused(cordon.InvalidError, lambda: node.run(["true"], policy={"netwrok": {}, "resources": {"pids_limit": "many"}}))
        equal((error.status, error.code, len(error.problems)), (400, "CORDON-API-INVALID", 2))
        holds("did you mean `network`" in error.problems[0].message and error.remedy and error.request, error.raw)
        holds(error.detail in str(error) and error.remedy in str(error), str(error))
        error = refused(cordon.NotFoundError, lambda: node.get_sandbox("none"))
        equal((error.code, isinstance(error, cordon.CordonError)), ("CORDON-API-NOT-FOUND", True))
    with client(token="cdn1_x") as stranger:
        equal(refused(cordon.UnauthenticatedError, lambda: list(stranger.sandboxes())).status, 401)
    with client(node="/nowhere/cordond.sock") as nobody:
        holds("CORDON_NODE" in str(refused(cordon.ConnectionLost, nobody.health)), "where a node could be")
    refused(cordon.CordonError, lambda: client(node="http://192.0.2.1:80"))


def a_narrower_token_does_less():
    token = ENV["CORDON_TEST_TOKEN"]
    by_command = ENV["CORDON_TEST_NARROWED"]
    ids = ["aeaaaaaaaaaaaaaaagxprdaptykunbva5jwrse43", "aeaaaaaaaaaaaaaaaesi6jraves5t6d2iu7og422"]
    narrow = cordon.attenuate(token, tenant="a", operations=["sandbox.read", "audit.read"], sandboxes=ids, path="/workspace",
                              budgets={"sandboxes": 3, "egress_bytes": 1 << 40}, ceiling={"network": {"mode": "none"}})
    equal(narrow == by_command, True, "the same bytes as of the command line")
    refused(cordon.CordonError, lambda: cordon.attenuate(token))
    refused(cordon.CordonError, lambda: cordon.attenuate("cdn1_AAAA", tenant="a"))
    with cordon.Client(token=token) as whole, whole.create_sandbox() as sandbox, whole.create_sandbox() as other:
        reading = cordon.attenuate(token, operations=["sandbox.read", "token.revoke"], sandboxes=[sandbox.id])
        with cordon.Client(token=reading) as reader:
            equal(reader.get_sandbox(sandbox.id).id, sandbox.id)
            error = refused(cordon.DeniedError, lambda: reader.run(["true"]))
            equal(error.code, "CORDON-API-DENIED")
            refused(cordon.DeniedError, lambda: reader.sandbox(sandbox.id).delete())
            refused(cordon.ApiError, lambda: reader.get_sandbox(other.id))
        # Whatever a policy asks for stays below a ceiling; without one it is given.
        with cordon.Client(token=cordon.attenuate(token, ceiling={"filesystem": {"mode": "read_only"}})) as bounded:
            writes = {"command": ["sh", "-c", "echo > file"], "policy": {"filesystem": {"mode": "read_write"}}}
            run = bounded.run(**writes)
            holds(run.verdict.status != 0 and run.denials[0].rule.startswith("ceiling"), run)
            equal(whole.run(**writes).verdict.status, 0)
        with cordon.Client(token=cordon.attenuate(token, expires_in_seconds=0)) as late:
            refused(cordon.UnauthenticatedError, lambda: late.get_sandbox(sandbox.id))
        # Taken back: it, and not the one that it was made of.
        whole.revoke_token(reading)
        with cordon.Client(token=reading) as reader:
            refused(cordon.UnauthenticatedError, lambda: reader.get_sandbox(sandbox.id))
        by_id = cordon.attenuate(token, operations=["sandbox.read"])
        with operator() as over, cordon.Client(token=by_id) as reader:
            equal(reader.get_sandbox(sandbox.id).id, sandbox.id)
            over.revoke_token(id=cordon.revocation_id(by_id), seconds=100_000)
            refused(cordon.UnauthenticatedError, lambda: reader.get_sandbox(sandbox.id))
        equal(whole.get_sandbox(sandbox.id).info.state, "running")


def keys_and_secrets():
    with client() as node:
        key = node.create_key(label="reads", caveats=[{"operation": ["sandbox.read"]}], expires_in_seconds=60)
        holds(key.key.startswith("cdnk_") and key.key not in repr(key) and key.expires, "a key")
        with cordon.Client(token=key.key) as reader:
            list(reader.sandboxes())
            refused(cordon.DeniedError, lambda: reader.run(["true"]))
        listed = {each.id: each for each in node.list_keys()}
        equal((listed[key.id].label, listed[key.id].key), ("reads", ""))
        node.delete_key(key.id)
        with cordon.Client(token=key.key) as reader:
            refused(cordon.UnauthenticatedError, reader.list_sandboxes)
        node.put_secret("of.python", b"it is not shown")
        holds("of.python" in node.list_secrets(), "its name")
        node.delete_secret("of.python")
        holds("of.python" not in node.list_secrets(), "gone")


def what_happened_is_recorded():
    with client() as node, operator() as over:
        with node.create_sandbox(policy={"filesystem": {"mode": "read_only"}}) as sandbox:
            sandbox.run(["sh", "-c", "echo > file"])
            equal(sandbox.start(["true"]).wait().exit.code, 0)
            told = next(each for each in sandbox.events() if each.event == "denial")
            equal((told.sandbox, told.denial.resolved), (sandbox.id, "/workspace/file"))
        told = [each for each in node.events(follow=False) if each.sandbox == sandbox.id]
        equal((told[0].event, told[-1].event, told[-1].verdict.ending), ("sandbox.created", "sandbox.ended", "killed"))
        holds({"process.started", "process.ended", "denial"} <= {each.event for each in told}, told)
        later = list(node.events(since=told[0].cursor, follow=False))
        holds(told[0].cursor not in [each.cursor for each in later] and told[-1].cursor in [each.cursor for each in later], "behind a cursor")
        records = list(node.audit(where=f"sandbox={sandbox.id}", follow=False))
        kinds = [each.event for each in records]
        equal((kinds[0], kinds[-1]), ("policy_accepted", "sandbox_ended"))
        act = next(each for each in records if each.event == "act_refused")
        holds(act.raw["code"] == "CORDON-FS-WRITE" and act.raw["rule"].startswith("request:") and act.tenant == "a", act.raw)
        behind = node.audit(where=f"sandbox={sandbox.id}", since=records[0].seq, follow=False)
        equal([each.seq for each in behind], [each.seq for each in records[1:]])
        # Who sees all records can follow the chain: none was changed, taken out or put in.
        every = list(over.audit(follow=False))
        holds(len(every) > len(records), "records of the whole node")
        for before, after in zip(every, every[1:]):
            equal((after.seq, after.prev), (before.seq + 1, before.leaf))


STEPS = (the_node_tells_what_it_is, a_node_is_looked_after, a_policy_is_enforced, enforcement_is_told, verdicts, processes, output_survives_broken_connections,
         files_go_in_and_come_out, the_same_key_gives_the_same_sandbox, labels_and_pages, narrowed_while_it_lives, errors_have_words,
         a_narrower_token_does_less, keys_and_secrets, what_happened_is_recorded)


def main():
    failed = 0
    for step in STEPS:
        if sys.argv[1:] and step.__name__ not in sys.argv[1:]:
            continue
        try:
            step()
            print(f"ok {step.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {step.__name__}\n{traceback.format_exc()}", flush=True)
    pathlib.Path(ENV["CORDON_TEST_CALLED"]).write_text(json.dumps(sorted(set(asked))))
    sys.exit(1 if failed else 0)


main()
