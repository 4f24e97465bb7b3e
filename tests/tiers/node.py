# SPDX-License-Identifier: Apache-2.0
"""Tiers on a node: what the floor names is run, what it does not name is refused, and what it asks for at least is held. 77: needs root."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cordond"))

from api import equal, expect, main  # noqa: E402
from daemon import Daemon  # noqa: E402

NAMED = "runsc = /usr/bin/runsc\n"
GVISOR = {"isolation": "gvisor"}


def kernel(node, policy):
    with node.client() as client:
        got = client.ask("POST", "/v1/run", {"command": ["cat", "/proc/version"], "policy": policy})
    return got


def chosen(_):
    """A request chooses the wall, and the answer says which one it is."""
    with Daemon(PROGRAMS, floor=NAMED + "sandboxes_ahead = 4\n") as node, node.client() as client:
        plain = kernel(node, {})
        equal(plain.status, 200, plain)
        # Again and again: what a launcher has ready for plans that come again is of the process tier.
        for _ in range(5):
            behind = kernel(node, GVISOR)
            equal(behind.status, 200, behind)
            expect(behind.json["stdout"] != plain.json["stdout"], "one kernel for both", behind)
            equal(kernel(node, {}).json["stdout"], plain.json["stdout"])
        made = client.ask("POST", "/v1/sandboxes", {"policy": GVISOR})
        equal((made.status, made.json["isolation"]), (201, "gvisor"), made)
        shown = client.ask("GET", f"/v1/sandboxes/{made.json['id']}").json
        said = {each["name"]: each.get("detail", "") for each in shown["enforcement"]}
        expect("gvisor" in said["isolation"], said)
        node.node.kill()
        node.node.wait()
        node.start_node()
        with node.client() as again:
            after = again.ask("GET", f"/v1/sandboxes/{made.json['id']}").json
            equal((after["isolation"], after["state"]), ("gvisor", shown["state"]))


def not_named(_):
    """Without a runsc in the floor it is refused, and nothing weaker runs."""
    with Daemon(PROGRAMS) as node:
        refused = kernel(node, GVISOR)
        expect(refused.status in (403, 422, 503) and b"the floor names no runsc" in refused.body, refused)
        equal(kernel(node, {}).status, 200, "the counter-arm")


def at_least(_):
    """A floor that asks for gVisor launches nothing with less, whatever a node says."""
    with Daemon(PROGRAMS, floor=NAMED + "isolation = gvisor\n") as node:
        weaker = kernel(node, {})
        expect(weaker.status != 200 and b"stdout" not in weaker.body, weaker)
        equal(kernel(node, GVISOR).status, 200, "what is strong enough")


CHECKS = {"chosen": chosen, "not_named": not_named, "at_least": at_least}

if __name__ == "__main__":
    if not os.path.exists("/usr/bin/runsc"):
        sys.exit(77)
    PROGRAMS = sys.argv[1]
    main(CHECKS)
