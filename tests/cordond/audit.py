# SPDX-License-Identifier: Apache-2.0
"""The audit log of a node: signed by another program, complete after deaths, and refusing what it cannot hold. 77: needs root."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

from api import equal, expect, main, made, SETTINGS
from daemon import Daemon

OFTEN = "[audit]\nhead_records = 5\nhead_seconds = 1\n"
KILLS = int(os.environ.get("CORDON_KILLS", 12))     # 200 in `./dev full`


def audit(node, verb, *words, log=None, code=0):
    ran = subprocess.run([node.programs / "cordon", "audit", verb, "--log", log or node.base / "state/audit", *words], capture_output=True, text=True)
    equal(ran.returncode, code, ran.stdout + ran.stderr)
    return ran.stdout


def verified(node, log=None, anchor=None, code=0):
    return json.loads(audit(node, "verify", "--json", "--anchor", anchor or node.base / "notary", log=log, code=code))


def records(node):
    return [json.loads(line) for line in node.audit_lines()]


def sealed(node, seconds=15):
    """Once a head holds all that there is now."""
    size = len(records(node))
    until = time.monotonic() + seconds
    while (told := verified(node))["sealed"] < size:
        expect(time.monotonic() < until, "not signed:", told, node.log("cordond"))
        time.sleep(0.1)
    return told


def some_runs(node, count=4):
    with node.client() as client:
        for number in range(count):
            equal(client.ask("POST", "/v1/run", {"command": ["printf", str(number)]}).json["stdout"], str(number))


@contextlib.contextmanager
def copied(node):
    """The log and its anchor, to be changed."""
    copy = node.base / "copy"
    shutil.copytree(node.base / "state/audit", copy / "audit")
    shutil.copytree(node.base / "notary", copy / "notary")
    try:
        yield copy
    finally:
        shutil.rmtree(copy)


def signed_by_another(node):
    """A program with an id of its own, no rights and three files signs what the node writes; what is changed, cut off or put back is found."""
    some_runs(node)
    told = sealed(node)
    expect(told["ok"] and not told["key_from_log"] and len(told["keys"]) == 1, told)
    with node.client() as client:
        counts = client.counts()
    expect(int(counts["cordon_audit_records"]) >= int(counts["cordon_audit_signed"]) >= told["sealed"] > 0, counts, told)
    notary, = node.pids_of("cordon-notary")
    facts = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{notary}/status").read_text().splitlines() if ":\t" in line)
    uids = set(facts["Uid"].split())
    expect(len(uids) == 1 and not uids & {"0", str(node.uid)}, "uid", uids)
    equal((facts["CapEff"], facts["CapPrm"], facts["NoNewPrivs"], facts["Seccomp"]), ("0" * 16, "0" * 16, "1", "2"))
    held = [os.readlink(entry) for entry in pathlib.Path(f"/proc/{notary}/fd").iterdir()]
    files = sorted(pathlib.Path(link).name for link in held if link.startswith(str(node.base)))
    equal(files, ["heads", "signed"], held)
    for name in ("key", "signed", "heads"):
        status = (node.base / "notary" / name).stat()
        equal((status.st_uid, status.st_mode & 0o777), (0, 0o600), name)
    some_runs(node)
    old = (sorted((node.base / "state/audit").glob("*.log"))[0].read_bytes(), (node.base / "state/audit/heads").read_bytes())
    some_runs(node)
    sealed(node)
    with copied(node) as copy:
        segment, own_heads = sorted((copy / "audit").glob("*.log"))[0], copy / "audit/heads"
        whole = segment.read_bytes()
        equal(verified(node, copy / "audit", copy / "notary")["ok"], True)
        lines = whole.splitlines(True)
        for name, bad in (("changed", whole.replace(b"sandbox_started", b"sandbox_stopped", 1)), ("deleted", b"".join(lines[:3] + lines[4:])),
                          ("twice", b"".join(lines[:4] + lines[3:])), ("swapped", b"".join([*lines[:3], lines[4], lines[3], *lines[5:]])),
                          ("cut off", b"".join(lines[:-1]))):
            segment.write_bytes(bad)
            found = verified(node, copy / "audit", copy / "notary", code=1)
            expect(not found["ok"] and found["finding"]["record"] <= len(lines), name, found)
        # An earlier state of all that the node can write: only the anchor tells. Without it nothing does.
        segment.write_bytes(old[0])
        own_heads.write_bytes(old[1])
        expect("the log has" in verified(node, copy / "audit", copy / "notary", code=1)["finding"]["what"], "put back")
        said = json.loads(audit(node, "verify", "--json", log=copy / "audit"))
        expect(said["ok"] and said["key_from_log"], "the counter-arm: without the anchor it is fine", said)
        # Heads that the notary has not signed.
        segment.write_bytes(whole)
        head = json.loads(own_heads.read_bytes().splitlines()[0])
        head["root"] = "0" * 64
        own_heads.write_bytes(json.dumps(head, separators=(",", ":")).encode() + b"\n")
        found = verified(node, copy / "audit", copy / "notary", code=1)
        expect("not signed" in found["finding"]["what"], found)


def proofs_for_others(node):
    """A proof holds without the log, against the key alone; changed in any way it does not."""
    some_runs(node)
    size = sealed(node)["sealed"]
    some_runs(node)
    told = sealed(node)
    key = told["keys"][0]
    place = node.base / "proof.json"
    for words in (["0"], [str(size - 1)], ["3"], ["--since", str(size)]):
        proof = audit(node, "prove", *words, "--anchor", node.base / "notary")
        place.write_text(proof)
        said = json.loads(audit(node, "verify", "--json", "--proof", place, "--key", key))
        equal((said["ok"], said["key_known"]), (True, True), said)
        body = json.loads(proof)
        for field in ("record", "older", "head", "path", "number"):
            if field not in body or body[field] == []:
                continue
            bad = dict(body)
            if field == "path":
                bad["path"] = [body["path"][0][::-1], *body["path"][1:]]
            elif field == "number":
                bad["number"] += 1
            else:
                bad[field] = bad[field].replace('"time_ms":1', '"time_ms":2', 1)
            place.write_text(json.dumps(bad))
            expect(not json.loads(audit(node, "verify", "--json", "--proof", place, "--key", key, code=1))["ok"], words, field)
        place.write_text(proof)
        audit(node, "verify", "--json", "--proof", place, "--key", "0" * 64, code=1)


def a_log_that_is_another(node):
    """Who empties the directory begins another log, which the anchor tells: the earlier one is closed, and its heads have no log here."""
    some_runs(node)
    before = sealed(node)
    node.end(node.node)
    for entry in (node.base / "state/audit").iterdir():
        entry.unlink()
    node.start_node()
    some_runs(node)
    after = sealed(node)
    expect(after["log"] != before["log"] and after["heads_of_other_logs"] >= 1, before, after)


def nothing_without_a_record(node):
    """C258: where the log has no room nothing starts, and the answer says why; with room again all is well, and nothing is missing."""
    node.end(node.node)
    place = node.base / "state/audit"
    for entry in place.iterdir():
        entry.unlink()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=64k,mode=0700,uid={node.uid},gid={node.uid}", "cordon-test", place], check=True)
    try:
        node.start_node()
        with node.client() as client:
            sandbox = made(client, {"timeout_seconds": 600})
            good, refused = 0, None
            for _ in range(400):
                answer = client.ask("POST", "/v1/run", {"command": ["true"]})
                if answer.status != 200:
                    refused = answer
                    break
                good += 1
            expect(refused is not None and good > 5, "it never filled up", good)
            equal((refused.status, refused.json["code"]), (503, "CORDON-AUDIT-UNAVAILABLE"), refused)
            equal(client.ask("POST", "/v1/sandboxes", {}).json["code"], "CORDON-AUDIT-UNAVAILABLE")
            equal([each["id"] for each in client.ask("GET", "/v1/sandboxes").json["sandboxes"]], [sandbox], "one was made all the same:")
            equal(client.ask("GET", f"/v1/sandboxes/{sandbox}").json["state"], "running", "the one that lives:")
            subprocess.run(["mount", "-o", "remount,size=4m", place], check=True)
            equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
        expect(json.loads(audit(node, "verify", "--json"))["ok"], "it does not verify")
    finally:
        with contextlib.suppress(AssertionError):
            node.end(node.node)
        subprocess.run(["umount", "-l", place], check=True)


def complete_after_deaths(node):
    """The writer is killed under load: the log verifies, and of all that was answered nothing is missing."""
    answered, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            with contextlib.suppress(Exception), node.client(timeout=10) as client:
                answer = client.ask("POST", "/v1/run", {"command": ["true"]})
                if answer.status == 200:
                    answered.append(answer.json["id"])

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(KILLS):
            time.sleep(0.15 + 0.05 * (number % 5))
            if pid := node.node_pid():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if number % 3 == 2:
                for pid in node.pids_of("cordon-notary"):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    with node.client(timeout=20) as client:
        equal(client.ask("GET", "/v1/health").json["status"], "serving")
    told = sealed(node, 30)
    expect(told["ok"], told)
    for event in ("sandbox_started", "sandbox_ended"):
        have = {record["sandbox"] for record in records(node) if record["event"] == event}
        missing = [each for each in answered if each not in have]
        expect(not missing, event, "is missing of", missing[:3])
    expect(len(answered) >= KILLS, "hardly anything was answered", len(answered))
    return f"{KILLS} deaths, {len(answered)} runs, {told['records']} records"


def strict(node):
    """What is recorded first is on the disk first: a create takes as long as a disk does, and is right."""
    some_runs(node, 8)
    with node.client() as client:
        made(client)
    expect(json.loads(audit(node, "verify", "--json"))["ok"], "it does not verify")


def queries(node):
    """Records by their fields, the last ones, those that come, and as they are."""
    with node.client(tenant="a") as client:
        sandbox = made(client, {"timeout_seconds": 600})
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
    some_runs(node)
    lines = audit(node, "export").splitlines()
    equal(lines, [line.decode().rstrip("\n") for line in node.audit_lines()])
    mine = [json.loads(line) for line in audit(node, "query", "--json", f"sandbox={sandbox}").splitlines()]
    equal([each["event"] for each in mine], ["policy_accepted", "sandbox_started", "request_begun", "sandbox_ended"])
    equal({each["tenant"] for each in mine}, {"a"})
    equal(audit(node, "query", "--count", "event=sandbox_ended", "tenant!=a").strip(), "4")
    equal(audit(node, "query", "--count", "event=sandbox_ended", "ending=exit", "status=0").strip(), "4")
    equal(audit(node, "tail", "--json", "-n", "2").splitlines(), lines[-2:])
    expect("sandbox_ended" in audit(node, "tail", "-n", "1"), "in words")
    audit(node, "query", "evnt=x", code=2)
    audit(node, "query", "seq>x", code=2)
    with subprocess.Popen([node.programs / "cordon", "audit", "tail", "-f", "-n", "0", "--json", "--log", node.base / "state/audit"],
                          stdout=subprocess.PIPE, text=True) as tail:
        try:
            time.sleep(0.5)
            some_runs(node, 1)
            equal([json.loads(tail.stdout.readline())["event"] for _ in range(4)],
                  ["request_begun", "policy_accepted", "sandbox_started", "sandbox_ended"])
        finally:
            tail.terminate()


def requests(node):
    """What changes something is recorded before it does, with its token; what is refused once, with its code, also for what is another's."""
    token = node.mint("--tenant", "a")
    with node.client(token=token) as client:
        sandbox = made(client, {"timeout_seconds": 600})
        asked = client.ask("POST", f"/v1/sandboxes/{sandbox}/run", {"command": ["true"]})
        client.ask("GET", f"/v1/sandboxes/{sandbox}")
    begun = [each for each in records(node) if each["event"] == "request_begun"]
    equal([each["call"] for each in begun], ["POST /v1/sandboxes", "POST /v1/sandboxes/{id}/run"])
    equal([each.get("sandbox") for each in begun], [None, sandbox])
    expect(all(each["tenant"] == "a" and len(each["token"]) >= 16 for each in begun), begun)
    equal(begun[1]["request"], asked.fields["Cordon-Request"], "the id that the client was told")

    def refusals():
        return [each for each in records(node) if each["event"] == "act_refused"]

    before = len(refusals())
    cases = [(node.mint("--tenant", "b"), "DELETE", f"/v1/sandboxes/{sandbox}", "CORDON-API-NOT-FOUND", "b", sandbox),
             (node.mint("--tenant", "a", "--operation", "sandbox.read"), "DELETE", f"/v1/sandboxes/{sandbox}", "CORDON-API-DENIED", "a", sandbox),
             (token[:-4] + "AAAA", "GET", "/v1/sandboxes", "CORDON-API-UNAUTHENTICATED", None, None)]
    for number, (shown, method, path, code, tenant, of) in enumerate(cases):
        with node.client(token=shown) as client:
            equal(client.ask(method, path).json["code"], code)
        new = refusals()[before:]
        equal(len(new), number + 1, "one for each:", new)
        equal((new[-1]["code"], new[-1].get("tenant"), new[-1].get("sandbox")), (code, tenant, of), new[-1])
    # A flood is counted, and nothing of it is lost.
    with node.client(token=token[:-4] + "AAAA") as client:
        for _ in range(400):
            client.ask("GET", "/v1/sandboxes")
    until = time.monotonic() + 10
    while (told := sum(each["count"] for each in refusals()[before + len(cases):])) < 400:
        expect(time.monotonic() < until, "only", told, "of 400 are told")
        time.sleep(0.1)
    equal(told, 400)
    # The counter-arm: what is good leaves no refusal.
    count = len(refusals())
    with node.client(token=token) as client:
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
    equal(len(refusals()), count)


def fed(client, words=""):
    answer = client.ask("GET", f"/v1/audit?follow=false{words}")
    equal(answer.status, 200, answer)
    return [json.loads(line) for line in answer.body.splitlines()]


def feed(node):
    """C264: a tenant reads its own records, from any of them on, as they are written and after a death; nobody else's, in no way."""
    first, second = node.mint("--tenant", "a"), node.mint("--tenant", "b")
    with node.client(token=first) as client, node.client(token=first) as listener, node.client(token=second) as other, node.client() as operator:
        for who in (client, other):
            equal(who.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
        own, theirs, everything = fed(client), fed(other), fed(operator)
        expect(own and all(record["tenant"] == "a" for record in own), own)
        expect(theirs and all(record["tenant"] == "b" for record in theirs), theirs)
        equal(everything, records(node), "what an operator sees")
        equal([record for record in everything if record.get("tenant") == "a"], own)
        for words in ("&where=tenant=b", f"&since={theirs[0]['seq'] - 1}&where=sandbox={theirs[-1]['sandbox']}"):
            equal(fed(client, words), [], "by another word")
        equal(client.ask("GET", "/v1/audit?follow=false", fields={"Cordon-Tenant": "b"}).status, 403)
        equal(fed(client, f"&since={own[1]['seq']}"), own[2:], "from a record on")
        equal([record["event"] for record in fed(client, "&where=event=sandbox_*%20event!=sandbox_started")], ["sandbox_ended"])
        for words, status in (("&since=999999", 404), ("&since=-1", 400), ("&since=x", 400), ("&where=nothing=1", 400), ("&where=event", 400), ("&more=1", 400)):
            equal(client.ask("GET", f"/v1/audit?follow=false{words}").status, status, words)
        only = node.mint("--tenant", "a", "--operation", "event.read")
        with node.client(token=only) as reader:
            equal(reader.ask("GET", "/v1/audit?follow=false").status, 403)
        last = fed(client)[-1]["seq"]
        lines = listener.lines(f"/v1/audit?since={last}")
        equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
        got = []
        while not got or got[-1]["event"] != "sandbox_ended":
            got.append(next(lines))
        equal(got, fed(client, f"&since={last}"), "as they are written")
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with node.client(token=first) as client:
        equal(client.ask("POST", "/v1/run", {"command": ["true"]}).status, 200)
        after = fed(client, f"&since={last}")
        equal(after[:len(got)], got, "after a death")
        expect(after[-1]["event"] == "sandbox_ended" and len(after) > len(got), after)


CHECKS = {f.__name__: f for f in (requests, signed_by_another, proofs_for_others, a_log_that_is_another, nothing_without_a_record, strict, queries, feed)}
DEATHS = {"complete_after_deaths": complete_after_deaths}
SETTINGS.update({name: OFTEN for name in (*CHECKS, *DEATHS)})
SETTINGS["complete_after_deaths"] += "# kept\n"      # by its launcher
SETTINGS["strict"] = OFTEN + 'durability = "strict"\n'

if __name__ == "__main__":
    main({**CHECKS, **DEATHS}, lambda programs, settings: Daemon(programs, settings=settings, supervised=settings == OFTEN + "# kept\n"))
