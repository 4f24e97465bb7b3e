# SPDX-License-Identifier: Apache-2.0
"""What several checks do: cases for the probe, two sandboxes at once, and who serves as egress."""
import itertools
import json
import shutil
import time

import names
from arms import HERE
from caller import name_of
from checks import expect

API, API_RULE = names.SITES["api.example.com"], '"api.example.com:443"'
GET = ["curl", "-sS", "-m", "8", "https://api.example.com/hello"]
WAIT = "while [ ! -e over ]; do sleep 0.05; done"


def probe(stage, cases, flags, threads=8, timeout=60):
    """What the probe tells of these cases, by number."""
    for number, case in enumerate(cases):
        case["id"] = str(number)
    name = f"cases{next(stage.caller.numbers)}.json"
    stage.caller.give(name, json.dumps(cases))
    shutil.copy(HERE / "probe.py", stage.caller.workspace / "probe.py")
    ended = stage.run(flags, ["/usr/bin/python3", "probe.py", name, str(threads)], timeout)
    lines = [json.loads(line) for line in ended.out.decode(errors="replace").splitlines() if line.startswith("{")]
    expect(len(lines) == len(cases), f"{len(lines)} of {len(cases)} cases ended:", ended.err[-500:])
    return sorted(lines, key=lambda line: int(line["id"])), ended


def two(stage, first_flags, first, second_flags, second, ready):
    """Two sandboxes at once: the second starts when `ready` exists in the workspace; both results."""
    begin = time.monotonic()
    child, report = stage.caller.start(first_flags, first)
    mark = stage.caller.workspace / ready
    try:
        while not mark.exists():
            expect(time.monotonic() - begin < 20 and child.poll() is None, "the first did not begin", child.poll())
            time.sleep(0.02)
        later = stage.caller.run(second_flags, second)
    finally:
        (stage.caller.workspace / "over").touch()
    return stage.caller.finish(child, report, 30, begin), later


def fresh(stage, *words):
    for word in (*words, "over"):
        path = stage.caller.workspace / word
        if path.exists():
            path.unlink()


def named(stage, name):
    """Processes of this run by the name of their program, as far as the kernel keeps it."""
    return [pid for pid in stage.caller._ours() if name_of(pid) == name[:15]]


def egress_of(stage):
    return named(stage, "cordon-egress")


class Running:
    """A context: a sandbox that does `script` and then stays until the end of the context; `ended` has what it said."""
    numbers = itertools.count()

    def __init__(self, stage, flags, script="true", **how):
        self.stage, self.flags, self.script, self.how, self.ended = stage, flags, script, how, None
        number = next(self.numbers)
        self.ready, self.over = (stage.caller.workspace / f"{word}{number}" for word in ("ready", "over"))

    def __enter__(self):
        self.begin = time.monotonic()
        script = f"{self.script}; touch {self.ready.name}; while [ ! -e {self.over.name} ]; do sleep 0.05; done"
        self.child, self.report = self.stage.caller.start(self.flags, ["sh", "-c", script], **self.how)
        while not self.ready.exists():
            if time.monotonic() - self.begin > 30 or self.child.poll() is not None:
                self.__exit__()
                raise AssertionError(f"it did not begin: {self.ended.err[-400:]}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.over.touch()
        self.ended = self.stage.caller.finish(self.child, self.report, 30, self.begin)
