# SPDX-License-Identifier: Apache-2.0
"""Secrets that a node keeps for its tenants, and what they are used for: `secrets.py PROGRAMS [NAME...]`. 77: needs root."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "egress"))

import api as checks  # noqa: E402
from daemon import Daemon  # noqa: E402

if os.geteuid() != 0:
    print("skipped: needs root, for the launcher and for namespaces")
    sys.exit(77)

from api import equal, expect, joined, made, started  # noqa: E402
from internet import Internet  # noqa: E402
from memory import in_memory  # noqa: E402

HOST = "mirror.example.com"     # writes down what it hears


def policy(secret="gh", **more):
    grant = {"name": "test", "env": "TOKEN", "from": f"secret:{secret}", "host": HOST, "header": "Authorization: Bearer {secret}", **more}
    return {"network": {"mode": "restricted", "egress_allowlist": [f"{HOST}:443"]}, "credentials": {"mode": "just_in_time", "grants": [grant]}}


def fresh():
    return "sentinel" + uuid.uuid4().hex


def put(client, secret, name="gh"):
    answer = client.ask("PUT", f"/v1/secrets/{name}", secret)
    equal(answer.status, 204, answer)


FETCH = f'curl -sS --max-time 10 -o /dev/null -w "%{{http_code}}" -H "Authorization: Bearer $TOKEN" https://{HOST}/none'


def fetched(client, sandbox, script=FETCH):
    process = started(client, sandbox, "sh", "-c", script)
    client.ask("GET", process + "/wait")
    return joined(client.lines(process + "/output"), "stdout").decode()


def heard(internet, secret):
    """How often the host heard it, in its one header."""
    return sum(f"Authorization: Bearer {secret}\r\n" in line["bytes"] for line in internet.told("mirror"))


def files_of(node):
    """All that the node and its programs have written, but for what was copied into place."""
    for top in (node.base / "state", node.base / "run", node.base / "own", node.secrets):
        yield from (path for path in top.rglob("*") if path.is_file())
    yield from node.base.glob("*.log")


def spellings(secret):
    raw = secret.encode()
    import base64
    return [raw, raw[::-1], raw.hex().encode(), *(base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3))]


def used_and_nowhere(node, internet):
    """C171, C183: the host hears the secret, the sandbox has a placeholder; no file, log or memory inside holds it, while it is in use."""
    secret = fresh()
    with node.client(tenant="a") as client:
        put(client, secret)
        equal(client.ask("GET", "/v1/secrets").json, {"secrets": [{"name": "gh"}]})
        equal(client.ask("GET", "/v1/secrets/gh").status, 405, "a secret can be read:")
        sandbox = made(client, {"policy": policy()})
        equal(fetched(client, sandbox), "200")
        equal(heard(internet, secret), 1, "what the host heard:")
        inside = fetched(client, sandbox, 'env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"; echo "inside: $TOKEN"')
        expect("inside: cordon-placeholder-" in inside and secret not in inside, inside)
        sleeper = started(client, sandbox, "sh", "-c", FETCH + "; sleep 98765")
        pid = awaited_sleep()
        equal(heard(internet, secret), 2)
        words = spellings(secret)
        for each in (pid, *node.pids_of("cordon-egress")):
            expect(not in_memory(each, words)[0], "in the memory of", each)
        for path in files_of(node):
            data = path.read_bytes()
            expect(not any(word in data for word in words), "in", path)
        # The counter-arms: the same search finds what is there.
        placeholder = inside.split("inside: ")[1].strip()
        expect(in_memory(pid, [placeholder.encode()])[0], "the placeholder is not found in the sandbox's memory")
        expect(b'"grant":"test"' in b"".join(node.audit_lines()), "a use is not in the audit log")
        expect(any(in_memory(each, [secret.encode()])[0] for each in node.pids_of("cordon-broker")), "not even the broker has it")
        client.ask("POST", sleeper + "/signal", {"signal": "KILL", "group": True})
        one = client.ask("POST", "/v1/run", {"command": ["sh", "-c", FETCH], "policy": policy()}).json
        equal((one["stdout"], heard(internet, secret)), ("200", 3), one)
        expect(secret not in str(one), one)


def awaited_sleep():
    """The process that the sandbox's script becomes when it has fetched."""
    until = time.monotonic() + 15
    while time.monotonic() < until:
        for each in filter(str.isdigit, os.listdir("/proc")):
            if commanded(each, b"sleep\0" + b"98765\0"):
                return int(each)
        time.sleep(0.02)
    raise AssertionError("the script does not come to its end")


def commanded(pid, command):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() == command and pathlib.Path(f"/proc/{pid}").stat().st_uid > 1_000_000
    except OSError:
        return False


def deleted_and_replaced(node, internet):
    """C182: what replaces a secret is used from the next request on; of one that is deleted nothing is, also when it comes back."""
    first, second, third = fresh(), fresh(), fresh()
    with node.client(tenant="a") as client:
        put(client, first)
        sandbox = made(client, {"policy": policy()})
        equal(fetched(client, sandbox), "200")
        put(client, second)
        equal(fetched(client, sandbox), "200")
        equal((heard(internet, first), heard(internet, second)), (1, 1), "before and after it was replaced:")
        equal(client.ask("DELETE", "/v1/secrets/gh").status, 204)
        equal(client.ask("DELETE", "/v1/secrets/gh").status, 404)
        equal(client.ask("GET", "/v1/secrets").json["secrets"], [])
        equal(fetched(client, sandbox), "403", "after it was deleted:")
        put(client, third)
        equal(fetched(client, sandbox), "403", "a sandbox whose secret was deleted:")
        equal((heard(internet, second), heard(internet, third)), (1, 0))
        equal(fetched(client, made(client, {"policy": policy()})), "200")
        equal(heard(internet, third), 1, "a new sandbox:")


def deleted_for_good(node, internet):
    """C182: over the death of cordond and of the broker too; what else a sandbox was given goes on."""
    other = {"name": "other", "env": "OTHER", "from": "secret:kept", "host": HOST, "paths": ["/kept"], "header": "Authorization: Bearer {secret}"}
    fetch_kept = FETCH.replace("$TOKEN", "$OTHER").replace("/none", "/kept")
    both = policy(paths=["/none"])
    both["credentials"]["grants"].append(other)
    kept, again = fresh(), fresh()
    with node.client(tenant="a") as client:
        put(client, fresh())
        put(client, kept, "kept")
        sandboxes = [made(client, {"policy": both, "timeout_seconds": 600}) for _ in range(2)]
        equal([fetched(client, sandboxes[0]), fetched(client, sandboxes[0], fetch_kept)], ["200"] * 2)
        equal(client.ask("DELETE", "/v1/secrets/gh").status, 204)
    for name in ("cordond", "cordon-broker"):
        if name == "cordond":
            node.end(node.node, 9)
            node.start_node()
        else:
            os.kill(node.pids_of(name)[0], 9)
        with node.client(tenant="a") as client:
            until = time.monotonic() + 10
            while fetched(client, sandboxes[0], fetch_kept) != "200":
                expect(time.monotonic() < until, "what was kept is gone after the death of", name)
            equal(client.ask("GET", "/v1/secrets").json["secrets"], [{"name": "kept"}], "after the death of", name)
            equal([fetched(client, sandbox) for sandbox in sandboxes], ["403"] * 2, "after the death of", name)
            put(client, again)
            equal([fetched(client, sandbox) for sandbox in sandboxes], ["403"] * 2, "when it is there again, after the death of", name)
            equal(heard(internet, again), 0)
            if name == "cordon-broker":
                break
            # As it is found by the next node, and the one behind that.
            node.end(node.node, 9)
            node.start_node()
        with node.client(tenant="a") as client:
            equal([fetched(client, sandbox) for sandbox in sandboxes], ["403"] * 2, "by the next node")
            equal(client.ask("DELETE", "/v1/secrets/gh").status, 204)
    with node.client(tenant="a") as client:
        equal(fetched(client, made(client, {"policy": both})), "200", "the counter-arm, a new sandbox:")
        equal((heard(internet, again), heard(internet, kept) >= 3), (1, True))


def tenants_have_their_own(node, internet):
    """C270: what one tenant's sandbox may use is its tenant's, whatever another has under the same name."""
    secret = fresh()
    with node.client(tenant="a") as client, node.client(tenant="b") as other:
        put(client, secret)
        equal(other.ask("GET", "/v1/secrets").json["secrets"], [])
        equal(other.ask("DELETE", "/v1/secrets/gh").status, 404)
        refused = other.ask("POST", "/v1/sandboxes", {"policy": policy()})
        equal(refused.status, 400, refused)
        expect("no secret of that name" in refused.json["detail"], refused)
        mine = made(client, {"policy": policy(methods=["GET"], paths=["/none"])})
        # What the grant does not cover is not sent (C179).
        equal(fetched(client, mine, FETCH.replace("/none", "/other")), "403")
        equal(fetched(client, mine, FETCH.replace("curl", "curl -X POST")), "403")
        equal(heard(internet, secret), 0)
        equal(fetched(client, mine), "200")


def live_through_deaths(node, internet):
    """Of cordond, of the broker, of the egress, of the launcher: the same sandbox uses its grant again, and a deleted secret stays deleted."""
    secret = fresh()
    with node.client(tenant="a") as client:
        put(client, secret)
        sandbox = made(client, {"policy": policy(), "timeout_seconds": 600})
        equal(fetched(client, sandbox), "200")
    for name in ("cordond", "cordon-broker", "cordon-egress", "cordon-launcher"):
        if name == "cordond":
            node.end(node.node, 9)
            node.start_node()
        elif name == "cordon-launcher":
            node.end(node.launcher, 9)
            node.start_launcher()
        else:
            os.kill(node.pids_of(name)[0], 9)
        with node.client(tenant="a") as client:
            before, until = heard(internet, secret), time.monotonic() + 10
            while fetched(client, sandbox) != "200":
                expect(time.monotonic() < until, "no credential after the death of", name)
            expect(heard(internet, secret) > before, "after the death of", name)
            equal(client.ask("GET", "/v1/secrets").json["secrets"], [{"name": "gh"}], "after the death of", name)
    with node.client(tenant="a") as client:
        equal(client.ask("DELETE", "/v1/secrets/gh").status, 204)
        equal(fetched(client, sandbox), "403")
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)


def requests_are_strict(node, internet):
    with node.client(tenant="a") as client:
        for body in ("", "a\nb", "a\0b", "x" * 65_537):
            equal(client.ask("PUT", "/v1/secrets/gh", body).status, 400, len(body))
        for name in ("a%2fb", "..", "a b".replace(" ", "+"), "x" * 65):
            expect(client.ask("PUT", f"/v1/secrets/{name}", "x").status in (400, 404), name)
        equal(client.ask("GET", "/v1/secrets").json["secrets"], [])
        put(client, "x" * 60_000, "A.b-c_9")
        host = client.ask("POST", "/v1/sandboxes", {"policy": policy() | {"credentials": {"grants": [
            {"name": "n", "env": "T", "from": "env:HOME", "host": HOST, "header": "A: {secret}"}]}}})
        equal(host.status, 400, host)
    began = time.monotonic()
    equal(node.end(node.node), 0, "exit of cordond after SIGTERM, with a broker:")
    expect(time.monotonic() - began < 5, "it took", time.monotonic() - began)


def by_the_command(node, internet):
    secret = fresh()
    at = ("--node", node.socket, "--tenant", "a")

    def cordon(*words, **how):
        return subprocess.run([node.programs / "cordon", "secret", *words, *at], capture_output=True, text=True, **how)

    equal(cordon("put", "gh", input=secret + "\n").returncode, 0)
    equal(cordon("ls").stdout, "gh\n")
    with node.client(tenant="a") as client:
        equal(fetched(client, made(client, {"policy": policy()})), "200")
    equal(heard(internet, secret), 1, "without the newline:")
    equal((cordon("rm", "gh").returncode, cordon("rm", "gh").returncode), (0, 4))


CHECKS = (used_and_nowhere, deleted_and_replaced, deleted_for_good, tenants_have_their_own, live_through_deaths, requests_are_strict, by_the_command)


@contextlib.contextmanager
def node_of(internet, programs_of, **how):
    kept = pathlib.Path(tempfile.mkdtemp(prefix="cordon-secrets-", dir="/var/tmp"))
    try:
        internet.forget()
        with Daemon(programs_of, within=internet.within(internet.host), tools=("/usr/bin/curl", "/usr/bin/tr", "/usr/bin/perl"), floor=f"secrets = {kept}\n", **how) as node:
            node.secrets = kept
            yield node
    finally:
        shutil.rmtree(kept, ignore_errors=True)


def main():
    with Internet() as internet:
        chosen = {check.__name__: (lambda node, check=check: check(node, internet)) for check in CHECKS}
        checks.main(chosen, lambda programs_of, **how: node_of(internet, programs_of, **how))


if __name__ == "__main__":
    main()
