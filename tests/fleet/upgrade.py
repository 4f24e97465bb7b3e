# SPDX-License-Identifier: Apache-2.0
"""The programs of a fleet are replaced under load, as docs/fleet.md says (a check of faults.py)."""
import shutil
import signal
import time

from cluster import equal, expect, wait_until
from load import Load


def revive_node(node):
    node.daemon.start_launcher()
    node.daemon.start_node()
    node.start_registrar()


def living(node):
    with node.client() as client:
        return [each for each in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"] if each.get("state") != "ended"]


def rolling_upgrade(fleet, _):
    """Every program of four nodes and two gateways is replaced, one machine after the other, as docs/fleet.md says: nobody has to do more than to ask again,
    and where cordond alone is replaced, sandboxes live on."""
    def one_gateway(gateway):
        code = gateway.process
        gateway.end(signal.SIGTERM)
        equal(code.returncode, 0, "exit of a gateway:", gateway.log())
        gateway.start()
        fleet.settle(30)

    def cordond(node):
        """New programs in the place of the old ones, and SIGTERM: the launcher keeps the sandboxes."""
        for name in ("cordond", "cordon-registrar"):
            replace(node, name)
        pid = node.daemon.node.pid
        equal(node.daemon.end(node.daemon.node), 0, "exit of cordond:")
        node.daemon.start_node()
        node.registrar.send_signal(signal.SIGTERM)
        node.registrar.wait(20)
        node.start_registrar()
        expect(node.daemon.node.pid != pid, "it is the old one")
        fleet.settle(30)
        load.look([node])

    def whole(node):
        """Launcher and all: nothing may live there. Who has sandboxes there ends them; here the check does."""
        with fleet.gateways[0].client() as operator:
            equal(operator.ask("POST", f"/v1/fleet/nodes/{node.id}/drain").status, 200)
        for sandbox in [sandbox for sandbox, home in load.kept.items() if home is node]:
            load.asker.about(sandbox, "delete", "DELETE", "", wanted=(200, 404))
            load.account.gone(sandbox)
            load.forget([sandbox])
        wait_until(lambda: not living(node), 60, "it is empty:", [each["id"] for each in living(node)])
        node.registrar.send_signal(signal.SIGTERM)
        node.registrar.wait(20)
        node.daemon.end(node.daemon.node)
        node.daemon.end(node.daemon.launcher)
        for name in ("cordond", "cordon-registrar", "cordon-launcher", "cordon-init"):
            replace(node, name)
        revive_node(node)
        with node.client() as client:
            wait_until(lambda: client.ask("POST", "/v1/node/resume").status == 200, 10, "it goes on:")
        fleet.settle(30)

    def replace(node, name):
        new = node.daemon.bin / f"{name}.new"
        shutil.copy(fleet.programs / name, new)
        new.rename(node.daemon.bin / name)
    with Load(fleet, workers=4, kept=8) as load:
        begin = time.monotonic()
        for number, node in enumerate(fleet.nodes):
            (whole if number % 2 else cordond)(node)
        for gateway in fleet.gateways:
            one_gateway(gateway)
            load.look()
        took = time.monotonic() - begin
        expect(load.longest_gap(begin) < 5, "no new sandbox for", load.longest_gap(begin), "s")
    load.hold(longest=30)
    return f"{took:.0f} s for four nodes and two gateways, no failed request; {load.said()}"
