# SPDX-License-Identifier: Apache-2.0
"""Sandboxes of a node that want out, on the host of the test internet: `network.py PROGRAMS [NAME...]`. 77: needs root."""
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "egress"))

import api as checks  # noqa: E402
from daemon import Daemon  # noqa: E402

if os.geteuid() != 0:
    print("skipped: needs root, for the launcher and for namespaces")
    sys.exit(77)

from internet import Internet  # noqa: E402
from api import equal, expect, made, started, joined  # noqa: E402

ALLOWED, OTHER = "api.example.com", "git.example.com"
CURL = ("curl", "-sS", "--max-time", "10", "-o", "/dev/null", "-w", "%{http_code}")


def policy(*rules):
    return {"network": {"mode": "restricted", "egress_allowlist": list(rules)}}


def fetched(client, sandbox, *words):
    """What curl says, and its exit code."""
    process = started(client, sandbox, *CURL, *words)
    exit_code = client.ask("GET", process + "/wait").json["exit"]["code"]
    return joined(client.lines(process + "/output"), "stdout").decode(), exit_code


def hosts_that_are_granted(node, internet):
    with node.client(tenant="a") as client:
        answer = client.ask("POST", "/v1/run", {"command": [*CURL, "-k", f"https://{ALLOWED}/"], "policy": policy(f"{ALLOWED}:443")}).json
        equal((answer["stdout"], answer["verdict"]["status"]), ("200", 0), answer)
        refused = client.ask("POST", "/v1/run", {"command": [*CURL, "-k", f"https://{OTHER}/"], "policy": policy(f"{ALLOWED}:443")}).json
        expect(refused["verdict"]["status"] != 0, refused)
        expect(any(OTHER in denial["tried"] for denial in refused["denials"]), refused["denials"])
        # The counter-arm: with a rule for it, the same is reached.
        reached = client.ask("POST", "/v1/run", {"command": [*CURL, "-k", f"https://{OTHER}/"], "policy": policy(f"{OTHER}:443")}).json
        equal(reached["verdict"]["status"], 0, reached)
        none = client.ask("POST", "/v1/run", {"command": [*CURL, "-k", f"https://{ALLOWED}/"]}).json
        expect(none["verdict"]["status"] != 0, none)


def requests_are_judged(node, internet):
    with node.client(tenant="a") as client:
        rule = {"host": ALLOWED, "methods": ["GET"]}
        sandbox = made(client, {"policy": policy(rule)})
        equal(fetched(client, sandbox, f"https://{ALLOWED}/"), ("200", 0), "trusted by what is inside")
        equal(fetched(client, sandbox, "-X", "POST", f"https://{ALLOWED}/")[0], "403")
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
        equal(os.listdir(node.base / "state/authorities"), [], "bundles that are left")


def sandboxes_of_one_tenant_share_an_egress(node, internet):
    with node.client(tenant="a") as client, node.client(tenant="b") as other:
        first, second = (made(client, {"policy": policy(f"{name}:443")}) for name in (ALLOWED, OTHER))
        third = made(other, {"policy": policy(f"{ALLOWED}:443")})
        equal(len(node.pids_of("cordon-egress")), 2, "egresses of two tenants:")
        for asker, sandbox, reached, not_reached in ((client, first, ALLOWED, OTHER), (client, second, OTHER, ALLOWED), (other, third, ALLOWED, OTHER)):
            expect(fetched(asker, sandbox, "-k", f"https://{reached}/")[1] == 0, sandbox, reached)
            expect(fetched(asker, sandbox, "-k", f"https://{not_reached}/")[1] != 0, sandbox, not_reached)


def lives_through_deaths(node, internet):
    with node.client(tenant="a") as client:
        sandbox = made(client, {"policy": policy(f"{ALLOWED}:443"), "timeout_seconds": 600})
        equal(fetched(client, sandbox, "-k", f"https://{ALLOWED}/")[1], 0)
    node.end(node.node, 9)
    node.start_node()
    with node.client(tenant="a") as client:
        equal(fetched(client, sandbox, "-k", f"https://{ALLOWED}/")[1], 0, "after the node's death")
        expect(fetched(client, sandbox, "-k", f"https://{OTHER}/")[1] != 0, "after the node's death another host is reached")
        os.kill(egress_of(node), 9)
        until = time.monotonic() + 10
        while fetched(client, sandbox, "-k", f"https://{ALLOWED}/")[1] != 0:
            expect(time.monotonic() < until, "no network after the egress's death")
        expect(fetched(client, sandbox, "-k", f"https://{OTHER}/")[1] != 0, "after the egress's death another host is reached")


def fds_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def lives_through_launchers(node, internet):
    """A launcher takes its egresses with it: the next one starts them with the sockets, names and authorities that there were."""
    where = ("-w", "%{http_code} %{remote_ip}")

    def again(client, sandbox, said, when):
        until = time.monotonic() + 10
        while fetched(client, sandbox, *where, f"https://{ALLOWED}/") != said:
            expect(time.monotonic() < until, "no network, or another address,", when, node.log("cordond")[-1500:])
        equal(fetched(client, sandbox, "-X", "POST", f"https://{ALLOWED}/"), ("403", 0), when)
        expect(fetched(client, sandbox, "-k", f"https://{OTHER}/")[1] != 0, "another host is reached", when)

    with node.client(tenant="a") as client:
        rule = {"host": ALLOWED, "methods": ["GET"]}
        expect(made(client, {"policy": policy(rule)}), "the egress runs")
        before = fds_of(node.node.pid)
        sandbox = made(client, {"policy": policy(rule), "timeout_seconds": 600})
        expect(fetched(client, sandbox, "-k", f"https://{OTHER}/")[1] != 0, "another host is reached")
        said = fetched(client, sandbox, *where, f"https://{ALLOWED}/")
        expect(said[0].startswith("200 198.18."), said)
        old = egress_of(node)
        node.end(node.launcher, 9)
        node.start_launcher()
        again(client, sandbox, said, "after the launcher's death")
        expect(egress_of(node) != old, "the old egress lives")
    node.end(node.node, 9)
    node.start_node()
    with node.client(tenant="a") as client:
        again(client, sandbox, said, "after both, one after the other")
        node.end(node.launcher, 9)
        node.start_launcher()
        again(client, sandbox, said, "after a second launcher's death")
        os.kill(egress_of(node), 9)
        again(client, sandbox, said, "after the egress's death")
        for each in client.ask("GET", "/v1/sandboxes").json["sandboxes"]:
            equal(client.ask("DELETE", f"/v1/sandboxes/{each['id']}").status, 200)
        equal(os.listdir(node.base / "state/authorities"), [], "bundles that are left")
        until = time.monotonic() + 5
        while fds_of(node.node.pid) > before:
            expect(time.monotonic() < until, "descriptors that are left:", before, fds_of(node.node.pid))


def egress_of(node):
    return node.pids_of("cordon-egress")[0]


# Says that it has a connection, holds it, and ends when it has lost it.
# Nothing but the connection is waited for: curl would wait for its input too.
HOLDS = f"exec 3<>/dev/tcp/{ALLOWED}/443; echo Connected; read -u 3; exit 7"


def a_policy_that_is_narrowed(node, internet):
    """PATCH: what is not allowed any more is closed and stays so, whoever dies; what was not spoken of goes on; it never widens."""
    with node.client(tenant="a") as client:
        both = policy({"host": ALLOWED, "protocol": "tcp"}, f"{OTHER}:443")
        sandbox, neighbour = (made(client, {"policy": both, "timeout_seconds": 600}) for _ in range(2))
        there = f"/v1/sandboxes/{sandbox}"

        def reached(asker, name, of=sandbox):
            return fetched(asker, of, "-k", f"https://{name}/")[1] == 0

        expect(reached(client, ALLOWED) and reached(client, OTHER), "before anything is narrowed")
        holding, unharmed = (started(client, each, "bash", "-c", HOLDS) for each in (sandbox, neighbour))
        for process in (holding, unharmed):
            with node.client(tenant="a") as listener:
                said = ""
                for line in listener.lines(process + "/output?acknowledge=client"):
                    said += line.get("data", "")
                    expect(line["event"] != "exit", said)
                    if "Connected" in said:
                        break

        answer = client.ask("PATCH", there, {"policy": {"network": {"egress_denylist": [ALLOWED]}}})
        equal(answer.status, 200, answer)
        shown = {row["name"]: row.get("detail", "") for row in answer.json["enforcement"]}
        expect(shown["network"].endswith("narrowed while it lived"), shown)
        with node.client(tenant="a") as other:
            equal(other.ask("GET", holding + "/wait?seconds=5").json.get("exit", {}).get("code"), 7, "a connection that was open:")
            equal(other.ask("GET", unharmed).json["state"], "running", "the neighbour's:")
            expect(not reached(other, ALLOWED), "it is reached although the policy was narrowed")
            expect(reached(other, OTHER), "what the narrowing did not speak of")
            expect(reached(other, ALLOWED, neighbour), "the counter-arm: nobody narrowed this one")
            # Neither a wider document nor a second one gives anything back.
            equal(other.ask("PATCH", there, {"policy": policy(f"{ALLOWED}:443", f"{OTHER}:443", "mirror.example.com:443")}).status, 200)
            expect(not reached(other, ALLOWED) and not reached(other, "mirror.example.com"), "it was widened")
            os.kill(egress_of(node), 9)
            until = time.monotonic() + 10
            while not reached(other, OTHER):
                expect(time.monotonic() < until, "no network after the egress's death")
            expect(not reached(other, ALLOWED), "after the egress's death")
    node.end(node.node, 9)
    node.start_node()
    with node.client(tenant="a") as client:
        expect(reached(client, OTHER) and not reached(client, ALLOWED), "after the node's death")
        for document, word in (({"filesystem": {"hide": ["x"]}}, "`filesystem.hide` is set when a sandbox is launched"),
                               ({"network": {"host_ports": [80]}}, "port of the host"), ({"network": {"modus": "none"}}, "modus")):
            refused = client.ask("PATCH", there, {"policy": document})
            equal(refused.status, 400, refused)
            expect(word in str(refused.json), word, refused)
        expect(reached(client, OTHER), "a change that was refused has changed something")
        with node.client(tenant="b") as stranger:
            equal(stranger.ask("PATCH", there, {"policy": {"network": {"mode": "none"}}}).status, 404)
        with node.client(token=node.mint("--tenant", "a", "--operation", "sandbox.read")) as reader:
            equal(reader.ask("PATCH", there, {"policy": {"network": {"mode": "none"}}}).status, 403)
        expect(reached(client, OTHER), "narrowed by somebody who may not")
        equal(client.ask("PATCH", there, {"policy": {"network": {"mode": "none"}}}).status, 200)
        expect(not reached(client, OTHER), "with no network at all")


def a_network_that_a_response_revokes(node, internet):
    """The second host is one too many: from then on nothing is reached, by the next node either; with one more tolerated both are."""
    wanted = policy(f"{ALLOWED}:443", f"{OTHER}:443")
    rule = {"when": "new_hosts", "more_than": 1, "within_seconds": 60, "then": "revoke_network"}
    with node.client(tenant="a") as client:
        sandbox = made(client, {"policy": {**wanted, "response": [rule]}, "timeout_seconds": 600})
        equal(fetched(client, sandbox, "-k", f"https://{ALLOWED}/")[1], 0)
        fetched(client, sandbox, "-k", f"https://{OTHER}/")        # cut while it is opened, or not
        until = time.monotonic() + 1
        while fetched(client, sandbox, "-k", f"https://{ALLOWED}/")[1] == 0:
            expect(time.monotonic() < until, "reached after a second")
        tolerant = made(client, {"policy": {**wanted, "response": [{**rule, "more_than": 2}]}})
        for host in (ALLOWED, OTHER, ALLOWED):
            equal(fetched(client, tolerant, "-k", f"https://{host}/")[1], 0, host)
    node.end(node.node, 9)
    node.start_node()
    with node.client(tenant="a") as client:
        expect(fetched(client, sandbox, "-k", f"https://{ALLOWED}/")[1] != 0, "after the node's death")


CHECKS = (a_network_that_a_response_revokes, a_policy_that_is_narrowed, hosts_that_are_granted, requests_are_judged, sandboxes_of_one_tenant_share_an_egress, lives_through_deaths,
          lives_through_launchers)


def main():
    with Internet() as internet:
        chosen = {check.__name__: (lambda node, check=check: check(node, internet)) for check in CHECKS}
        checks.main(chosen, lambda programs, **how: Daemon(programs, within=internet.within(internet.host), tools=("/usr/bin/curl", "/usr/bin/bash"), **how))


if __name__ == "__main__":
    main()
