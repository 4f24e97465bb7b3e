#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a policy's responses take away, in local use: each kind of count, each reaction, each within a second. Arguments: as of learn.py."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import learn  # noqa: E402
from checks import equal, expect  # noqa: E402
from clients import TRUST  # noqa: E402

SOON = 1.0
# Says when it did something, and then goes on saying what time it is for as long as it may.
TICKS = "; i=0; while [ $i -lt 200 ]; do date +%s.%N; sleep 0.05; i=$((i+1)); done"
HOSTS = ("api.example.com", "www.example.com", "git.example.com")


def response(when, more_than, then, within=60):
    return f'[[response]]\nwhen = "{when}"\nmore_than = {more_than}\nwithin_seconds = {within}\nthen = "{then}"\n'


def run(caller, text, script, flags=(), timeout=60):
    file = caller.home / "own.toml"
    file.write_text("version = 1\n" + text)
    file.chmod(0o644)
    trust = [word for pair in TRUST.items() for word in ("--env", "=".join(pair))]
    return caller.run(["--policy", str(file), *trust, *flags], ["sh", "-c", script], timeout=timeout)


def taken(caller, ended, when, then, line):
    """The one response that was taken, as it is told and as it is recorded."""
    told = [denial for denial in ended.report["denials"] if denial["code"] == "CORDON-RESPONSE"]
    equal([denial["rule"] for denial in told], [f"{caller.home}/own.toml:{line}"], ended.report["denials"], ended.err.decode()[-900:])
    files = sorted((caller.home / ".local/state/cordon/audit").glob("*.log"))
    records = [json.loads(text) for file in files for text in file.read_text().splitlines()[1:]]
    mine = [record for record in records if record.get("sandbox") == ended.report["id"] and record["event"] == "response_taken"]
    equal([(record["when"], record["then"]) for record in mine], [(when, then)], mine)
    expect(b"CORDON-RESPONSE" in ended.err, ended.err)


def ticks(ended):
    return [float(line) for line in ended.out.decode().split() if line.replace(".", "", 1).isdigit()]


def denials_kill(caller):
    ended = run(caller, response("denials", 3, "kill"), "for i in 1 2 3; do echo >/etc/x$i; done; date +%s.%N; echo >/etc/x4" + TICKS)
    equal((ended.verdict["ending"], ended.verdict["limit"], ended.verdict["peak"]), ("policy", 3, 4), ended.verdict)
    taken(caller, ended, "denials", "kill", 2)
    times = ticks(ended)
    expect(times[-1] - times[0] < SOON, times[-1] - times[0])
    # And as many as are tolerated are.
    ended = run(caller, response("denials", 4, "kill"), "for i in 1 2 3 4; do echo >/etc/x$i; done; sleep 1; echo done")
    equal((ended.code, ended.out.split()), (0, [b"done"]), ended.verdict)


def protected_kill(caller):
    (caller.workspace / "kept").write_text("x")
    text = response("protected_writes", 0, "kill") + '[filesystem]\nprotect = ["kept"]\n'
    ended = run(caller, text, "echo >/etc/x; sleep 0.5; date +%s.%N; echo >kept" + TICKS)
    equal(ended.verdict["ending"], "policy", ended.verdict)
    taken(caller, ended, "protected_writes", "kill", 2)
    times = ticks(ended)
    expect(times[-1] - times[0] < SOON, times)


def births_freeze(caller):
    script = "rm -f count; while :; do /bin/true; echo 1 >>count; done"     # one that is ended may leave a file empty
    ended = run(caller, response("processes", 100, "freeze"), script, ["--live", "--time", "3s"])
    equal(ended.verdict["ending"], "wall_time", ended.verdict)
    taken(caller, ended, "processes", "freeze", 2)
    reached = (caller.workspace / "count").read_text().count("1")
    free = run(caller, "", script, ["--live", "--time", "3s"])
    equal(free.verdict["ending"], "wall_time", free.verdict)
    many = (caller.workspace / "count").read_text().count("1")
    expect(reached * 2 < many, "it was stopped", reached, many)


def denials_freeze(caller):
    ended = run(caller, response("denials", 0, "freeze"), "date +%s.%N; echo >/etc/x" + TICKS, ["--time", "2s"])
    equal(ended.verdict["ending"], "wall_time", ended.verdict)
    taken(caller, ended, "denials", "freeze", 2)
    times = ticks(ended)
    expect(times[-1] - times[0] < SOON, times)


def network():
    return "[network]\negress_allowlist = [" + ", ".join(f'"{host}:443"' for host in HOSTS) + "]\n"


def hosts_revoke(caller):
    get = "curl -sS -m 5 -o /dev/null https://{}/"
    # The second may be cut while it is opened.
    script = (f"{get.format(HOSTS[0])} && echo first; date +%s.%N; {get.format(HOSTS[1])}; i=0; "
              f"while [ $i -lt 40 ] && {get.format(HOSTS[0])}; do sleep 0.05; i=$((i+1)); done 2>/dev/null; date +%s.%N; echo $i tries")
    ended = run(caller, response("new_hosts", 1, "revoke_network") + network(), script)
    expect(b"first" in ended.out, ended.out, ended.err)
    taken(caller, ended, "new_hosts", "revoke_network", 2)
    times = ticks(ended)
    expect(times[1] - times[0] < SOON, times, ended.out)
    denial = next(denial for denial in ended.report["denials"] if denial["code"].startswith("CORDON-NET"))
    equal(denial["rule"], f"{caller.home}/own.toml:2", denial)
    ended = run(caller, response("new_hosts", 2, "revoke_network") + network(), script)
    expect(b"40 tries" in ended.out, "with one more tolerated nothing is taken", ended.out)


def bytes_kill(caller):
    """Of a connection that is open still."""
    script = "head -c 8M /dev/zero >big; date +%s.%N; curl -sS -m 20 --limit-rate 2M --data-binary @big https://git.example.com/demo.git/git-receive-pack; date +%s.%N"
    ended = run(caller, response("bytes_out", 1_000_000, "kill") + network(), script)
    equal(ended.verdict["ending"], "policy", ended.verdict, ended.out, ended.err)
    taken(caller, ended, "bytes_out", "kill", 2)
    expect(1_000_000 < ended.verdict["peak"] < 5_000_000, ended.verdict)     # 0.5 s until it is too much, then a second at most


CHECKS = {act.__name__: act for act in (denials_kill, protected_kill, births_freeze, denials_freeze, hosts_revoke, bytes_kill)}

if __name__ == "__main__":
    sys.exit(learn.main(CHECKS))
