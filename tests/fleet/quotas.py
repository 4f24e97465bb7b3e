# SPDX-License-Identifier: Apache-2.0
"""One quota among cells, in three members of etcd: `quotas.py DRIVER [NAME...]`, each check with a cluster of its own. 77: no etcd here."""
import json
import signal
import time

from cluster import equal, expect, main, wait_until

QUOTA = 200


def shared(cluster):
    """Cells share a quota: what one does not use another gets, and never is there more; without a write for each that runs."""
    client = cluster.client()
    key = "/cordon/quotas/acme"

    def ledger():
        return json.loads(client.do("get", key)["found"][0]["value"])
    said = json.dumps({"format": 1, "total": QUOTA, "homes": ["1", "2"], "given": {}, "lent": {}, "wanting": []}, separators=(",", ":"))
    client.do("put", key, said)
    began = client.do("get", key)["found"][0]["revision"]
    cells = {number: cluster.client(first=number) for number in (1, 2, 7)}
    for number, cell in cells.items():
        cell.begin("quota", number, "acme")

    def running():
        return {number: cell.do("running", "?")["running"] for number, cell in cells.items()}

    # It has no share of its own, and nobody else has a use for theirs.
    cells[7].do("demand", QUOTA)
    wait_until(lambda: running()[7] > QUOTA * 0.7, 10, "what others do not use:", running())
    # Then all want all of it. In the middle of it one is cut off, and a leader dies.
    cells[1].do("demand", QUOTA)
    cells[2].process.send_signal(signal.SIGSTOP)
    cluster.kill(cluster.leader())
    for _ in range(20):
        there = {number: cells[number].do("running", "?")["running"] for number in (1, 7)}
        expect(sum(there.values()) <= QUOTA, there)
        time.sleep(0.1)
    cells[2].process.send_signal(signal.SIGCONT)
    cells[2].do("demand", QUOTA)
    time.sleep(2)
    now = running()
    expect(QUOTA * 0.9 < sum(now.values()) <= QUOTA, now)
    # The hot one has enough: what it borrowed goes back, to those who want it.
    cells[7].do("demand", 0)
    wait_until(lambda: sum((now := running())[number] for number in (1, 2)) > QUOTA * 0.9, 10, "returned to the others:", running())
    expect(sum(running().values()) <= QUOTA, running())
    equal(ledger()["total"], QUOTA)
    held = client.do("get", key)["found"][0]
    writes = held["revision"] - began
    expect(writes < 60, writes, "writes")
    return f"{writes} writes, {running()}"


CHECKS = {"shared": shared}

if __name__ == "__main__":
    main(CHECKS)
