# SPDX-License-Identifier: Apache-2.0
"""What is recorded of programs behind a wall, held against what is recorded behind the weakest."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "callers"))

from check import equal, expect  # noqa: E402

ACTS = r"""
import os, socket, subprocess
open("made", "w").close()
os.close(os.open("beside", os.O_CREAT | os.O_WRONLY, dir_fd=os.open("/tmp", os.O_RDONLY)))
open("/etc/passwd").close()
try:
    open("/usr/made", "w")
except OSError:
    pass
try:
    socket.create_connection(("127.0.0.1", 9))
except OSError:
    pass
subprocess.run(["true", "argument"])
"""


def records(caller, run):
    """What was recorded of what happened in a run, without what differs from run to run."""
    told = [json.loads(line) for line in caller.verb("audit", "query", "--json").stdout.decode().splitlines()]
    kept = ("event", "command", "act", "path", "program", "arguments", "directory", "address", "port", "code", "tried", "rule", "source", "count")
    acts = ("program_started", "file_touched", "connect_tried", "act_refused", "records_lost")
    return [{key: record[key] for key in kept if key in record} for record in told if record.get("sandbox") == run and record["event"] in acts]


def told_alike(caller, wall):
    """In the same words as behind the weaker wall, where a policy asks for it, and nowhere else."""
    agent = caller.home / "agent.toml"
    agent.write_text('extends = ["coding-agent"]\n')
    seen = {}
    for each in ("process", wall):
        caller.isolation = each
        ended = caller.run(["--no-network", "--policy", str(agent)], ["python3", "-c", ACTS], timeout=120)
        equal(ended.code, 0, ended.err)
        equal(ended.report["enforcement"]["reported"], ["connects", "exec", "refused", "writes"])
        seen[each] = records(caller, ended.report["id"])
        equal([denial["tried"] for denial in ended.report["denials"]], ["write /usr/made"], each)
    equal({record["event"] for record in seen[wall]}, {"program_started", "file_touched", "connect_tried", "act_refused"})
    place = lambda record: json.dumps(record, sort_keys=True)  # noqa: E731
    equal(sorted(map(place, seen[wall])), sorted(map(place, seen["process"])))
    ended = caller.run(["--no-network"], ["python3", "-c", ACTS], timeout=120)
    equal((ended.code, records(caller, ended.report["id"])), (0, []), "the counter-arm")
    ended = caller.run(["--no-network", "--no-monitor", "--policy", str(agent)], ["true"])
    expect(ended.code == 126 and f"behind {wall} nobody sees what happens inside".encode() in ended.err, ended.code, ended.err)
