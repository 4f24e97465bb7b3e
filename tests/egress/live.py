# SPDX-License-Identifier: Apache-2.0
"""A sandbox whose policy is changed while it runs: a test's node before it, and an agent inside that does one thing at a time."""
import json
import os
import pathlib
import shutil
import subprocess
import time

import names
from arms import HERE
from checks import Skip, expect

TUNNEL = "tunnel.example.com"
ALWAYS = '{ host = "api.example.com", port = 80, protocol = "http" }'
GET = "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n"
CHAT = (f"GET /chat HTTP/1.1\r\nHost: {TUNNEL}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def network(*rules, more=""):
    return f"[network]\negress_allowlist = [{', '.join(rules)}]\n{more}"


def node_of(stage):
    """The node's program, beside the programs that it starts."""
    built = pathlib.Path(stage.options.programs).resolve().parent / "tests/egress/egress_node"
    if not built.exists():
        raise Skip("egress_node is not built")
    own = stage.caller.programs / "egress_node"
    if not own.exists():
        shutil.copy(built, own)
    return own


def tunnel_server(stage):
    """Starts it, once for an internet."""
    internet = stage.internet
    if getattr(internet, "has_tunnel", False):
        return
    internet.start(internet.world, "/usr/bin/python3", HERE / "servers/tunnel.py", internet.log("tunnel"), names.PEERS[TUNNEL],
                   *internet.certificates.good)
    internet._wait(internet.log("tunnel").exists, TUNNEL)
    internet.has_tunnel = True


class Live:
    """A context: the sandbox with its first policy."""

    def __init__(self, stage, policy, command=None, env=None):
        self.stage, self.first, self.env = stage, policy, env or {}
        self.talk = stage.caller.workspace / f"talk{next(stage.caller.numbers)}"
        self.command = command or ["/usr/bin/python3", "agent.py", self.talk.name]
        self.number = 0

    def __enter__(self):
        caller = self.stage.caller
        self.talk.mkdir()
        os.chown(self.talk, caller.uid, caller.uid)
        shutil.copy(HERE / "agent.py", caller.workspace / "agent.py")
        self.said = open(caller.home / f"{self.talk.name}.err", "w+b")
        self.child = subprocess.Popen([*caller.become(), str(node_of(self.stage)), self.file(self.first), *self.command], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=self.said, cwd=caller.workspace, env={**caller.environment(), **self.env},
                                      start_new_session=True, text=True, bufsize=1)
        self.until((self.talk / "ready").exists, "the sandbox does not begin", 20)
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()
        self.said.close()

    def until(self, truth, words, seconds=5):
        end = time.monotonic() + seconds
        while not truth():
            expect(time.monotonic() < end and self.child.poll() is None, words, self.words()[-600:])
            time.sleep(0.002)

    def words(self):
        """What the node has been told of refusals, and the sandbox's own words."""
        return pathlib.Path(self.said.name).read_text(errors="replace")

    def file(self, text):
        return self.stage.caller.policy(text)[1]

    def order(self, *words):
        """The node's answer: milliseconds, or an error."""
        self.child.stdin.write(" ".join(words) + "\n")
        line = self.child.stdout.readline()
        word, _, rest = line.partition(" ")
        expect(word in ("ok", "error"), "the node says", line, self.words()[-600:])
        return float(rest) if word == "ok" else rest.strip()

    def serve(self, text, *marks):
        took = self.order("serve", self.file(text), *marks)
        expect(isinstance(took, float), "not served:", took)
        return took

    def do(self, act, **more):
        """One act of the agent, and what it tells."""
        ask, told = self.talk / f"ask{self.number}", self.talk / f"told{self.number}"
        part = self.talk / "asking"
        part.write_text(json.dumps({"act": act, **more}))
        os.rename(part, ask)
        self.number += 1
        self.until(told.exists, f"no answer to {act} {more}", 20)
        return json.loads(told.read_text())

    def connect(self, name, host, port, **how):
        told = self.do("connect", name=name, host=host, port=port, **how)
        expect(told["state"] == "open", f"{host}:{port}", told, self.words()[-600:])

    def ask(self, name, data, enough=None, patience=3):
        """Sends it and hears what comes."""
        told = self.do("send", name=name, data=data)
        return self.do("hear", name=name, patience=patience, enough=enough) if told["state"] == "open" else told


def ended(live, name, words, within=1.0):
    """It is told so within a second."""
    told = live.do("hear", name=name, patience=within)
    expect(told["state"] in ("reset", "closed"), words, "is still open:", told)


def stands(live, name, words):
    told = live.do("hear", name=name, patience=0.15)
    expect(told["state"] == "open", words, "was ended:", told)
