# SPDX-License-Identifier: Apache-2.0
"""Group J and L: deaths of the egress and of the broker at random moments, while several sandboxes use both."""
import contextlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import time

import names
from arms import HERE
from caller import descendants, name_of
from checks import check, equal, expect
from checks_credentials import HOST, Grant
from pace import slow

TUNNELLED = "echo.example.com"
REFUSED = (names.STRANGER, "169.254.169.254", "10.1.2.3")
BACK = slow(1.0)     # seconds


class Loaded:
    """A sandbox under load, and what its requests became of so far."""

    def __init__(self, stage, number):
        self.stage, self.name, self.grant = stage, f"box{number}", Grant(rules=f', "{TUNNELLED}:443"')
        self.log, self.over = (stage.caller.workspace / f"{self.name}{next(stage.caller.numbers)}.{word}" for word in ("log", "over"))
        stage.caller.give(self.log.name, "")
        self.begin = time.monotonic()
        command = ["/usr/bin/python3", "load.py", self.name, self.log.name, self.over.name, HOST, TUNNELLED, *REFUSED]
        env = {**stage.caller.environment(), "REAL_TOKEN": self.grant.secret}
        self.child, self.report = stage.caller.start(stage.caller.policy(self.grant.policy), command, env=env)

    def served_since(self, moment):
        """When the first request ended well that was begun after that moment; nothing: none did yet."""
        lines = [line.split() for line in self.log.read_text().splitlines() if line.count(" ") == 2]
        return min((float(end) for begin, end, word in lines if word == "200" and float(begin) >= moment), default=None)

    def wait(self, moment, most=10):
        until = time.monotonic() + most
        while (end := self.served_since(moment)) is None:
            expect(time.monotonic() < until and self.child.poll() is None, f"{self.name} was not served for {most} s", self.child.poll())
            time.sleep(0.02)
        return end - moment

    def kill(self, victim):
        """The moment in which the process of that name below us got its signal."""
        pid = next(pid for pid in descendants(self.child.pid) if name_of(pid) == victim)
        moment = time.time()
        os.kill(pid, signal.SIGKILL)
        return moment

    def finish(self):
        self.over.touch()
        return self.stage.caller.finish(self.child, self.report, 60, self.begin)


@contextlib.contextmanager
def captured(stage):
    """Everything that leaves the host meanwhile, in a file."""
    path = stage.internet.base / f"capture{next(stage.caller.numbers)}"
    with subprocess.Popen([*stage.internet.within(stage.internet.host), "/usr/bin/python3", HERE / "servers/capture.py", path, "up0"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        equal(child.stdout.readline(), b"ready\n")
        yield path
        # The context closes its standard input, and waits.


def deaths(stage, each, boxes, counter):
    """So many deaths of each of the two, one sandbox's at a time."""
    shutil.copy(HERE / "load.py", stage.caller.workspace / "load.py")
    chance = random.Random()
    stage.internet.forget()
    took = {"cordon-egress": [], "cordon-broker": []}
    with captured(stage) as capture:
        loaded = [Loaded(stage, number) for number in range(boxes)]
        try:
            for box in loaded:
                box.wait(0, most=30)
            for victim in chance.sample([name for name in took for _ in range(each)], 2 * each):
                time.sleep(chance.uniform(0, 0.6))
                box = chance.choice(loaded)
                took[victim].append(box.wait(box.kill(victim)))
        finally:
            ended = [box.finish() for box in loaded]
        left = stage.internet.left()
        stage.caller.directly(["curl", "-sS", "-m", "8", "-H", "Authorization: in-the-clear", "http://api.example.com/counter-of-plaintext"])
    judge_inside(loaded, ended)
    heard = judge_origin(stage, loaded)
    clear, _, late = capture.read_bytes().rpartition(b"GET /counter-of-plaintext")
    counter(clear and b"in-the-clear" in late, "what is sent in the clear is not seen on the wire")
    judge_wire(stage, loaded, clear, left)
    told = " ".join(f"{victim} {len(times)}: back after {statistics.median(times):.2f} s, at most {max(times):.2f} s;" for victim, times in took.items())
    late = [seconds for times in took.values() for seconds in times if seconds > BACK]
    expect(not late, f"{len(late)} times it took longer than {BACK} s:", told)
    return f"{told} {boxes} sandboxes, {heard} requests bore their credential"


def judge_inside(loaded, ended):
    for box, each in zip(loaded, ended):
        expect(each.code == 0, each.code, each.err[-600:])
        told = json.loads(each.out)
        equal(told["wrong"], [], box.name)
        expect(told["seen"].get("200", 0) > 5 and told["seen"].get("tunnel", 0) > 5 and told["seen"].get("refused", 0) > 5, "too little:", told["seen"])
        box.grant.nowhere(each.out, each.err, json.dumps(each.report))


def judge_origin(stage, loaded):
    """Every request has the secret of its own sandbox, and one header of it."""
    secrets = {box.name: box.grant.secret for box in loaded}
    heads = loaded[0].grant.heard(stage)
    for head in heads:
        who = head[0].partition("?")[2].partition("-")[0]
        mine = [line for line in head[1:] if line.lower().startswith("authorization:")]
        equal(mine, [f"Authorization: Bearer {secrets[who]}"], head[0])
    for log in ("nginx", "origin", "origin-tls", "sink", "stranger"):
        text = stage.internet.log(log).read_text(errors="replace")
        expect("stolen" not in text and not any(secret in text for secret in secrets.values()), "heard at", log)
    return len(heads)


def judge_wire(stage, loaded, clear, left):
    """What left the host: to those two hosts and the resolver, and nothing that could be read."""
    allowed = {(names.PEERS[host], 443) for host in (HOST, TUNNELLED)}
    strange = {where for where in left.get("tcp4", {}) if where not in allowed and where != (names.RESOLVER, 53)}
    strange |= {where for where in left.get("udp4", {}) if where != (names.RESOLVER, 53)}
    strange |= {where for which in ("own4", "own6", "tcp6", "udp6", "other6") for where in left.get(which, {})}
    expect(not strange, "packets to", strange)
    asked = set(stage.internet.asked()) - {HOST, TUNNELLED, "api.example.com"}
    expect(not asked, "asked for", asked)
    words = [b"GET /", b"HTTP/1.1", b"stolen-", b"cordon-placeholder", b"tunnel-box", *(box.grant.secret.encode() for box in loaded)]
    expect(len(clear) > 100_000, f"{len(clear)} bytes on the wire")
    found = [word for word in words if word in clear]
    expect(not found, "in the clear on the wire:", found)


@check("rows.deaths_under_load", "C157", "C158", "C183")
def deaths_under_load(stage):
    """Three deaths of each, in two sandboxes."""
    return deaths(stage, 3, 2, stage.counter)


@check("rows.fifty_deaths", "C157", "C158", "C183", slow=True)
def fifty_deaths(stage):
    """Fifty of each, in three sandboxes."""
    return deaths(stage, 50, 3, stage.counter)


@check("rows.fifty_deaths_of_one", "C157", "C158", "C183", slow=True)
def fifty_deaths_of_one(stage):
    """Fifty of each, all in one sandbox."""
    return deaths(stage, 50, 1, stage.counter)
