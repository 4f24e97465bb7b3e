# SPDX-License-Identifier: Apache-2.0
"""A node's sandboxes: each row's act in one of its own, over the API, and what the node's log holds of it."""
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "cordond"))

from arms import SWEEP, Run   # noqa: E402
from daemon import Daemon     # noqa: E402


class NodeArm:
    """`without`: programs of the node that are not there."""
    name, launcher, root = "node", "node", "dir"

    def __init__(self, world, rows, cordon, without=()):
        self.world, self.rows = world, rows
        self.runs, self.last = [], None
        self.daemon = Daemon(pathlib.Path(cordon).parent, tools=("/usr/bin/cp",), without=without)
        self.victim = world.process(0)

    def __enter__(self):
        self.daemon.__enter__()
        place = self.daemon.root / "opt"
        place.mkdir()
        for file, name in ((self.world.probe, "probe"), (self.world.inodes, "inodes"), (SWEEP, "sweep"), (self.world.source, "readable")):
            shutil.copy(file, place / name)
        for name in ("granted", "granted/empty"):
            (place / name).mkdir()
        for name in ("file", "second"):
            (place / "granted" / name).write_text("granted\n")
        self.client = self.daemon.client(timeout=90)
        return self

    def __exit__(self, *_):
        self.client.connection.close()
        self.daemon.__exit__()

    def applies(self, row):
        reasons = self.rows[row].get("not_applicable", {})
        return reasons.get("node", reasons.get("all"))

    def probe(self, row):
        words = [*self.world.words(self.victim.pid), "--inodes", "/opt/inodes", "--sweep", "/opt/sweep", "--granted", "/opt/granted",
                 "--profile", "strict", "--source", "/opt/readable"]
        command = ["sh", "-c", 'cp /opt/probe /opt/inodes /opt/sweep . && exec ./probe "$@"', "sh", row, *words]
        answer = self.client.ask("POST", "/v1/run", {"command": command, "timeout_seconds": 60})
        said = answer.json if answer.status == 200 else {"stderr": repr(answer)}
        report = {"id": said.get("id"), "denials": said.get("denials", []), "verdict": said.get("verdict", {})}
        self.last = Run(said.get("verdict", {}).get("status", -1), said.get("stdout", ""), said.get("stderr", ""), 0, report)
        self.runs.append(self.last)
        return self.last

    def batch(self, rows):
        return {row: self.probe(row).answers().get(row) for row in rows}

    def log(self):
        return map(json.loads, self.daemon.audit_lines())
