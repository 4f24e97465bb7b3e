# SPDX-License-Identifier: Apache-2.0
"""Group L about the one process that holds secrets: nobody looks into it, and nobody else talks to it."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess

from acts import Running, named
from arms import HERE
from checks import check, equal, expect
from checks_credentials import Grant

NOBODY, SOMEBODY = 65534, 49_999      # no account has the second


def owner_of(pid):
    """The uid as which it runs: of its files in /proc only those are its own that everybody may see."""
    fields = pathlib.Path(f"/proc/{pid}/status").read_text().split("Uid:")[1].split()
    return int(fields[0])


@contextlib.contextmanager
def target(uid):
    """A dumpable process of this uid, for whoever may look into its like."""
    code = "import time; print('here', flush=True); time.sleep(60)"
    with subprocess.Popen(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-c", code],
                          stdout=subprocess.PIPE) as child:
        try:
            child.stdout.readline()
            yield child.pid
        finally:
            child.kill()


def pry(script, uid, *pids):
    """What a process of this uid, without a capability, finds out about these; in a row."""
    done = subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all",
                           "/usr/bin/python3", str(script), *map(str, pids)], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 0, "pry.py:", done.stderr[-300:])
    return list(json.loads(done.stdout).values())


def listening(pid):
    """Sockets of this process that somebody could connect to: those with a name, or that listen."""
    mine = {os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
    rows = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]]
    streams = [line.split() for which in ("tcp", "tcp6", "udp", "udp6")
               for line in pathlib.Path(f"/proc/{pid}/net/{which}").read_text().splitlines()[1:]]
    held = {f"socket:[{row[6]}]": row for row in rows} | {f"socket:[{row[9]}]": row for row in streams}
    sockets = [name for name in mine if name.startswith("socket:")]
    return sockets, [held[name] for name in sockets if name in held and (len(held[name]) > 8 or int(held[name][3], 16) & 0x10000)]


@check("credentials.nobody_looks_in", "C184", arms=("root",))
def nobody_looks_in(stage):
    """Other users, the sandbox's own among them, see nothing of the broker; nor does another process of its own uid."""
    grant = Grant()
    script = stage.caller.base / "pry.py"
    shutil.copy(HERE / "pry.py", script)
    script.chmod(0o755)
    env = {**stage.caller.environment(), "REAL_TOKEN": grant.secret}
    with Running(stage, stage.caller.policy(grant.policy), env=env):
        broker, = named(stage, "cordon-broker")
        egress, = named(stage, "cordon-egress")
        inside = owner_of((named(stage, "sh") or named(stage, "cordon-relay"))[-1])     # behind another wall no program of it is seen
        expect(inside >= 65536, f"the sandbox's own range begins at {inside}")
        expect(owner_of(broker) not in (0, inside, owner_of(egress)), f"the broker runs as {owner_of(broker)}, egress as {owner_of(egress)}")
        tried = 0
        for uid in (NOBODY, SOMEBODY, inside, inside + 1, owner_of(egress), owner_of(broker)):
            with target(uid) as like:
                got, counter = pry(script, uid, broker, like)
            wrong = {name: word for name, word in got.items() if word not in ("EPERM", "EACCES")}
            expect(not wrong, f"uid {uid} against the broker:", wrong)
            stage.counter(set(counter.values()) == {"done"}, f"uid {uid} against a process of its own:", counter)
            tried += len(got)
        sockets, open_to_others = listening(broker)
        expect(len(sockets) >= 2 and not open_to_others, sockets, open_to_others)
        stage.counter(listening(stage.internet.servers[-1].pid)[1], "the same look at nginx sees no socket that listens")
    return f"{tried} attempts of 6 users; {len(sockets)} sockets, none with a name"


@check("credentials.not_dumpable", "C184")
def not_dumpable(stage):
    """For any caller: the kernel lets nobody look into it who could into others of the same uid. Without root it has the caller's uid, and
    the caller can read the secret's source anyway; so that the row itself is not applicable there."""
    grant = Grant()
    env = {**stage.caller.environment(), "REAL_TOKEN": grant.secret}
    with Running(stage, stage.caller.policy(grant.policy), env=env):
        broker, = named(stage, "cordon-broker")
        owner, uid = os.stat(f"/proc/{broker}/mem").st_uid, owner_of(broker)
        equal(owner, 0, f"the owner of the memory of a process of uid {uid}")
        expect(uid != 0, "the broker runs as root")
        with target(uid) as like:
            stage.counter(os.stat(f"/proc/{like}/mem").st_uid == uid, "a dumpable process of the same uid")
        limits = pathlib.Path(f"/proc/{broker}/limits").read_text()
        expect("Max core file size        0                    0" in limits, limits)
        equal(os.readlink(f"/proc/{broker}/exe").rpartition("/")[2], "cordon-broker")
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{broker}/status").read_text().splitlines() if ":\t" in line)
        equal((status["CapEff"], status["CapPrm"], status["NoNewPrivs"], status["Seccomp"]), ("0" * 16, "0" * 16, "1", "2"))
    return f"uid {uid}"
