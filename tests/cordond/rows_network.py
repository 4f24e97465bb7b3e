# SPDX-License-Identifier: Apache-2.0
"""Rows of the containment matrix for sandboxes of a node that want out: `rows_network.py PROGRAMS [NAME...]`, on the host of the test internet.
77: needs root."""
import json
import os
import pathlib
import subprocess
import sys
import time

import api
from rows import awaited, records       # before the other file of that name can be found

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "egress"))

if os.geteuid() != 0:
    print("skipped: needs root, for the launcher and for namespaces")
    sys.exit(77)

from api import equal, expect, joined, made, started  # noqa: E402
from internet import Internet  # noqa: E402
from network import ALLOWED, fetched as curled, policy as reaching  # noqa: E402
import names  # noqa: E402
import secrets as keeping  # noqa: E402: those of this directory

TIMES = 2500
# Questions for a name, each when the last was answered: the same one, or each time another, all of them twice.
ASKS = """alarm 60; my ($n, $is_same) = @ARGV; socket(S, 2, 2, 17) or die; connect(S, pack("S n C4 x8", 2, 53, 198, 18, 0, 1)) or die; my ($got, $r) = 0;
for my $i (1 .. $n) { my $q = pack("n6", $i, 256, 1, 0, 0, 0) . pack("C/a*", $is_same ? "same" : "n" . $i % ($n / 2)) . pack("C/a*", "example") . "\\0" . pack("n2", 1, 1);
  send(S, $q, 0) or die; recv(S, $r, 512, 0); length($r) and $got++; } print $got;"""
# Connections to addresses that no rule names.
CONNECTS = """alarm 60; my ($n) = @ARGV; my $got = 0; for my $i (1 .. $n) { socket(S, 2, 1, 6) or die;
  connect(S, pack("S n C4 x8", 2, 443, 203, 0, 113, 1 + $i % 250)) and $got++; my $r; sysread(S, $r, 1); close S; } print $got;"""
# A second of the record may have the ends of two of the node's.
MOST_A_SECOND = 2 * (100 + 17)


def a_flood_of_refusals(node, _internet):
    """C130: thousands of refused names and connections, alike and all different: the record is bounded, its counts have all of them, and what
    happens to a neighbour, or of another kind, is recorded and told as ever."""
    with node.client(tenant="a", timeout=60) as client, node.client(tenant="a", timeout=60) as listener:
        flooder, neighbour = made(client, {"policy": reaching(f"{ALLOWED}:443")}), made(client, {"policy": reaching(f"{ALLOWED}:443")})
        events = listener.lines("/v1/events")
        floods = [started(client, flooder, "perl", "-e", ASKS, str(TIMES), is_same) for is_same in ("1", "0")]
        floods.append(started(client, flooder, "perl", "-e", CONNECTS, "500"))
        worst, reached = 0.0, 0
        while client.ask("GET", floods[1]).json["state"] == "running":
            began = time.monotonic()
            equal(client.ask("GET", started(client, neighbour, "true") + "/wait").json["exit"]["code"], 0, "of the neighbour:")
            worst = max(worst, time.monotonic() - began)
            if reached < 2:
                equal(curled(client, neighbour, "-k", f"https://{ALLOWED}/"), ("200", 0), "of the neighbour:")
                reached += 1
        expect(reached, "the flood was over before the neighbour had begun")
        expect(worst < 3, "the neighbour waited for", worst)
        equal(curled(client, flooder, "-k", f"https://{ALLOWED}/"), ("200", 0), "what is allowed, amid the flood:")
        tried = 0
        for each in floods:
            equal(client.ask("GET", each + "/wait").json["exit"]["code"], 0)
            tried += int(joined(client.lines(each + "/output"), "stdout"))
        expect(tried >= 2 * TIMES, "the flood was refused otherwise:", tried)
        refused = lambda: records(node, flooder, "act_refused")     # noqa: E731
        awaited(lambda: sum(line["count"] for line in refused()) >= tried)
        # What its egress has counted and not told yet is told with the end of the sandbox.
        last = started(client, flooder, "perl", "-e", ASKS, "200", "1")
        equal(client.ask("GET", last + "/wait").json["exit"]["code"], 0)
        equal(client.ask("DELETE", f"/v1/sandboxes/{flooder}").status, 200)
        tried += 200
        awaited(lambda: records(node, flooder, "sandbox_ended"))        # nothing of it is written behind that
        lines = refused()
        equal(sum(line["count"] for line in lines), tried, "refusals that the record has")
        seconds = {}
        for line in lines:
            seconds[line["time_ms"] // 1000] = seconds.get(line["time_ms"] // 1000, 0) + 1
        expect(max(seconds.values()) <= MOST_A_SECOND, "lines in a second:", seconds)
        expect(len(lines) < tried // 4, "lines:", len(lines), "of", tried)
        expect(any("counted" in line["why"] for line in lines), "the counter-arm: there were never so many that some are counted")
        expect({"CORDON-NET-NAME", "CORDON-NET-HOST"} <= {line["code"] for line in lines}, {line["code"] for line in lines})
        # Other kinds, and the neighbour's.
        equal(len(records(node, flooder, "sandbox_ended")), 1)
        expect(records(node, flooder, "connection_opened") and len(records(node, neighbour, "connection_opened")) >= reached, "no record of connections")
        ended = []
        for line in events:
            ended.append((line["event"], line.get("sandbox")))
            if ended[-1] == ("sandbox.ended", flooder):
                break
        expect(("process.ended", neighbour) in ended and ("denial", flooder) in ended, "events:", set(ended))
        expect(ended.count(("denial", flooder)) <= 600, "events of denials:", ended.count(("denial", flooder)))
    return f"{tried} refused, {len(lines)} lines, at most {max(seconds.values())} in a second; the neighbour waited {worst * 1000:.0f} ms at most"


def placeholders_are_of_one_sandbox(node, internet):
    """C289: the placeholder of a sandbox is worth nothing in another, of the same tenant or not: where it stands for a credential, the sandbox's own
    is sent or none; anywhere else it stops the request. The counter-arm is the sandbox that it was made for."""
    ours, theirs = keeping.fresh(), keeping.fresh()
    with node.client(tenant="a") as client, node.client(tenant="b") as stranger:
        keeping.put(client, ours)
        keeping.put(stranger, theirs)
        first, second = (made(client, {"policy": keeping.policy()}) for _ in range(2))
        without = made(client, {"policy": reaching({"host": keeping.HOST, "methods": ["GET"]})})
        other = made(stranger, {"policy": keeping.policy()})
        placeholder = keeping.fetched(client, first, 'printf %s "$TOKEN"')
        expect(placeholder.startswith("cordon-placeholder-"), placeholder)
        as_credential = keeping.FETCH.replace("$TOKEN", placeholder)
        elsewhere = keeping.FETCH.replace("Authorization: Bearer $TOKEN", f"X-Note: {placeholder}")
        heard = lambda word: sum(word in line["bytes"] for line in internet.told("mirror"))     # noqa: E731
        for who, sandbox in ((client, second), (stranger, other)):
            equal(keeping.fetched(who, sandbox, elsewhere), "403", "in another field:")
        equal([heard(word) for word in ("X-Note", placeholder, ours, theirs)], [0] * 4)
        keeping.fetched(client, without, as_credential)
        equal([heard(word) for word in (ours, theirs)], [0] * 2, "a sandbox without a grant:")
        internet.forget()
        keeping.fetched(stranger, other, as_credential)
        equal([heard(word) for word in (placeholder, ours, theirs)], [0, 0, 1], "a sandbox of another tenant, with a grant of its own:")
        equal(keeping.fetched(client, first), "200")
        equal([heard(word) for word in (placeholder, ours, theirs)], [0, 1, 1], "the sandbox itself:")


def the_api_is_not_inside(node, _internet):
    """C289: at a node that also listens on TCP: a sandbox with a network reaches it neither at its own addresses nor at the host's."""
    port = node.serve_tcp()
    asks = [*node.within, "curl", "-sS", "--max-time", "5", f"http://127.0.0.1:{port}/v1/health"]
    equal(json.loads(subprocess.run(asks, capture_output=True, check=True).stdout)["status"], "serving", "the counter-arm, from the host:")
    with node.client(tenant="a") as client:
        for document in (reaching(f"{ALLOWED}:443"), reaching({"host": "*.example.com", "port": port, "protocol": "http"}), {"network": {"mode": "none"}}):
            sandbox = made(client, {"policy": document})
            for address in ("127.0.0.1", "[::1]", "localhost", "0.0.0.0", "198.18.0.1", "198.18.0.2", names.UPLINK, f"[{names.UPLINK6}]", names.GATEWAY):
                said, code = curled(client, sandbox, f"http://{address}:{port}/v1/health")
                expect(code != 0 or said == "403", address, "is reached from inside:", said)
        wide = client.ask("POST", "/v1/sandboxes", {"policy": {"network": {"mode": "restricted", "host_ports": [port]}}})
        equal(wide.status, 400, "a port of the host:")


CHECKS = (a_flood_of_refusals, placeholders_are_of_one_sandbox, the_api_is_not_inside)


def main():
    with Internet() as internet:
        chosen = {check.__name__: (lambda node, check=check: check(node, internet)) for check in CHECKS}
        api.main(chosen, lambda programs, **how: keeping.node_of(internet, programs, **how))


if __name__ == "__main__":
    main()
