# SPDX-License-Identifier: Apache-2.0
"""What a node tells while it happens: changes of files, and events. `events.py PROGRAMS [NAME...]`. 77: needs root."""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "egress"))

import api  # noqa: E402
from api import equal, expect, made, started  # noqa: E402
from daemon import Daemon  # noqa: E402
from trees import TOOLS, shell  # noqa: E402

BROKEN = (http.client.IncompleteRead, ConnectionError)


def revocation_of(node, token):
    shown = subprocess.run([node.programs / "cordon", "token", "inspect", "--json"], input=token, capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["revocation"]


def is_cut(node, lines, token):
    """The stream ends within a second of its token's revocation, and not by itself before."""
    with node.client() as operator:
        equal(operator.ask("POST", f"/v1/tokens/revoke?id={revocation_of(node, token)}").status, 204)
    began = time.monotonic()
    try:
        rest = list(lines)
    except BROKEN:
        rest = []
    expect(time.monotonic() - began < 1, "a stream went on for", time.monotonic() - began)
    return rest


def until(lines, wanted):
    """All up to the first line that is wanted."""
    seen = []
    for line in lines:
        seen.append(line)
        if wanted(line):
            return seen
    raise AssertionError(f"the stream ended before: {seen}")


def watch(node):
    with node.client() as client, node.client() as deep, node.client() as flat:
        sandbox = made(client)
        at = f"/v1/sandboxes/{sandbox}/files/watch?path=/workspace/w"
        equal(client.ask("GET", at).status, 404)
        shell(client, sandbox, "mkdir -p /workspace/w/d")
        below, here = deep.lines(at + "&recursive=true"), flat.lines(at)
        equal((next(below), next(here)), ({"event": "watching"}, {"event": "watching"}))
        shell(client, sandbox, "cd /workspace/w; echo x > d/f; mv d/f g; rm g; mkdir last")
        seen = until(below, lambda line: line.get("name") == "last")
        expect({"event": "made", "name": "d/f", "directory": False} in seen, seen)
        moves = {line["event"]: line.get("move") for line in seen if line["event"].startswith("moved")}
        expect(moves.get("moved_away") and moves["moved_away"] == moves.get("moved_here"), seen)
        expect(any(line["event"] == "removed" and line["name"] == "g" for line in seen), seen)
        names = {line["name"] for line in until(here, lambda line: line.get("name") == "last")}
        expect("d/f" not in names and "g" in names, "not recursive:", names)
        shell(client, sandbox, "rm -r /workspace/w")
        equal(until(below, lambda line: line["event"] == "end")[-1], {"event": "end"})
        equal(list(below), [], "behind the end")


def watch_is_bounded_and_cut(node):
    token = node.mint("--tenant", "a", "--operation", "file.read", "--path", "/workspace/in")
    with node.client(tenant="a") as client:
        sandbox = made(client)
        shell(client, sandbox, "mkdir -p /workspace/in /workspace/out; ln -s ../out /workspace/in/door")
        at = f"/v1/sandboxes/{sandbox}/files/watch"
        for query in ("?path=/workspace/out", "?path=/workspace/in/door", "?path=/"):
            with node.client(token=token) as bound:
                expect(bound.ask("GET", at + query).status in (400, 403, 503), query)
        with node.client(token=node.mint("--tenant", "a", "--operation", "file.write")) as other:
            equal(other.ask("GET", at + "?path=/workspace/in").status, 403)
        with node.client(token=node.mint("--tenant", "b")) as other:
            equal(other.ask("GET", at + "?path=/workspace/in").status, 404)
        with node.client(token=token) as bound:
            lines = bound.lines(at + "?path=/workspace/in")
            equal(next(lines)["event"], "watching")
            shell(client, sandbox, "echo x > /workspace/in/f")
            until(lines, lambda line: line.get("name") == "f")
            is_cut(node, lines, token)
        many = [node.client(tenant="a") for _ in range(17)]
        statuses = []
        for each in many:
            each.connection.request("GET", at + "?path=/workspace", headers=each.fields)
            statuses.append(each.connection.getresponse().status)
        equal((statuses.count(200), statuses.count(429)), (16, 1), statuses)
        for each in many:
            each.connection.close()
        # Whoever leaves gives the place back.
        until_free = time.monotonic() + 10
        while client.ask("GET", at + "?path=/workspace/none").status != 404:
            expect(time.monotonic() < until_free, "no place is given back")
            time.sleep(0.05)


def kinds(lines):
    return [line["event"] for line in lines]


def events(node):
    """Life and processes of a sandbox, in their order, to those who may know; from a cursor on; and again after a death."""
    first, second = node.mint("--tenant", "a"), node.mint("--tenant", "b")
    with node.client(token=first) as client, node.client(token=first) as listener, node.client(token=second) as other, node.client() as operator:
        equal(client.ask("GET", "/v1/events?follow=false").body, b"")
        lines = listener.lines("/v1/events")
        sandbox = made(client)
        seen = until(lines, lambda line: line["event"] == "sandbox.created")
        equal((seen[-1]["sandbox"], seen[-1]["tenant"]), (sandbox, "a"))
        process = started(client, sandbox, "sh", "-c", "exit 3")
        seen += until(lines, lambda line: line["event"] == "process.ended")
        equal(kinds(seen), ["sandbox.created", "process.started", "process.ended"])
        equal((seen[1]["process"], seen[1]["command"], seen[2]["code"]), (int(process.rsplit("/", 1)[1]), "sh", 3))
        started(client, sandbox, "/nowhere")
        seen += until(lines, lambda line: line["event"] == "process.failed")
        expect("No such file" in seen[-1]["failure"], seen[-1])
        theirs = made(other)
        of_one = other.ask("GET", "/v1/events?follow=false")
        equal([json.loads(line)["sandbox"] for line in of_one.body.splitlines()], [theirs], "what another tenant sees")
        equal(other.ask("GET", f"/v1/sandboxes/{sandbox}/events?follow=false").status, 404)
        both = [json.loads(line)["sandbox"] for line in operator.ask("GET", "/v1/events?follow=false").body.splitlines()]
        equal(set(both), {sandbox, theirs}, "what an operator sees")
        cursor = seen[1]["cursor"]
        rest = [json.loads(line) for line in client.ask("GET", f"/v1/events?follow=false&since={cursor}").body.splitlines()]
        equal(rest, seen[2:], "from a cursor on")
        lost = [json.loads(line) for line in client.ask("GET", "/v1/events?follow=false&since=other-7").body.splitlines()]
        equal(kinds(lost), ["lost", *kinds(seen)], "from a cursor that nobody knows")
        with node.client(token=first) as one:
            of_it = one.lines(f"/v1/sandboxes/{sandbox}/events")
            equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
            told = list(of_it)
            equal((told[-1]["event"], told[-1]["verdict"]["ending"]), ("sandbox.ended", "killed"), "the last of a sandbox")
        equal(kinds(map(json.loads, client.ask("GET", f"/v1/sandboxes/{sandbox}/events").body.splitlines()))[-1], "sandbox.ended", "afterwards")
        ran = client.ask("POST", "/v1/run", {"command": ["sleep", "60"], "timeout_seconds": 1}).json
        seen = until(lines, lambda line: line["event"] == "sandbox.ended" and line["sandbox"] == ran["id"])
        equal([line["event"] for line in seen if line["sandbox"] == ran["id"]], ["sandbox.created", "sandbox.limit", "sandbox.ended"])
        equal(seen[-1]["verdict"]["ending"], "wall_time")
        only = node.mint("--tenant", "a", "--operation", "sandbox.read")
        with node.client(token=only) as reader:
            equal(reader.ask("GET", "/v1/events?follow=false").status, 403)
        is_cut(node, lines, first)
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with node.client(token=second) as other:
        after = [json.loads(line) for line in other.ask("GET", f"/v1/events?follow=false&since={cursor}").body.splitlines()]
        equal([(line["event"], line.get("sandbox")) for line in after], [("lost", None), ("sandbox.adopted", theirs)], "after a death")


def loss_is_told(node):
    """A reader from a cursor that has left the ring hears how many it missed."""
    with node.client() as client:
        sandbox = made(client)
        first = json.loads(client.ask("GET", f"/v1/sandboxes/{sandbox}/events?follow=false").body.splitlines()[0])
        def some():
            with node.client() as own:
                for _ in range(130):
                    equal(own.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": ["/nowhere"]}).status, 201)
        workers = [threading.Thread(target=some) for _ in range(8)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        rest = [json.loads(line) for line in client.ask("GET", f"/v1/events?follow=false&since={first['cursor']}").body.splitlines()]
        equal((rest[0]["event"], rest[0]["count"], len(rest)), ("lost", 40, 1001), rest[0])
        equal(kinds(map(json.loads, client.ask("GET", "/v1/events?follow=false").body.splitlines()))[0], "process.failed", "without a cursor nothing is missed")


def denials(node, internet):
    from network import OTHER, fetched, policy
    with node.client(tenant="a") as client, node.client(tenant="a") as listener:
        lines = listener.lines("/v1/events")
        sandbox = made(client, {"policy": policy("api.example.com:443")})
        expect(fetched(client, sandbox, "-k", f"https://{OTHER}/")[1] != 0)
        told = until(lines, lambda line: line["event"] == "denial")[-1]
        expect(told["sandbox"] == sandbox and OTHER in told["denial"]["tried"] and told["denial"]["rule"], told)


CHECKS = {f.__name__: f for f in (watch, watch_is_bounded_and_cut, events, loss_is_told)}


def make_node(programs, settings=""):
    return Daemon(programs, settings=settings, tools=TOOLS)


if __name__ == "__main__":
    if "denials" in sys.argv and os.geteuid() == 0:
        from internet import Internet
        with Internet() as net:
            api.main({"denials": lambda node: denials(node, net)},
                     lambda programs, **how: Daemon(programs, within=net.within(net.host), tools=("/usr/bin/curl",), **how))
    api.main(CHECKS, make_node)
