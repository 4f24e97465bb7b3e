# SPDX-License-Identifier: Apache-2.0
"""`cordon run` through pipes: exit codes, streams byte for byte, and the report."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from caller import survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402
from pace import slow  # noqa: E402

MUCH = 8 << 20
MECHANISMS = {"user_namespace", "ids", "mount_namespace", "pid_namespace", "ipc_namespace", "uts_namespace", "cgroup_namespace", "network",
              "seccomp", "no_new_privs", "capabilities", "landlock", "memory", "pids", "cpu", "open_files", "disk", "inodes", "wall_time",
              "cpu_time", "output"}


def exit_codes(caller):
    for command, code, ending in ((["true"], 0, "exit"), (["sh", "-c", "exit 3"], 3, "exit"), (["sh", "-c", "exit 255"], 255, "exit"),
                                  (["sh", "-c", "kill -9 $$"], 137, "signal"), (["sh", "-c", "kill -SEGV $$"], 139, "signal")):
        ended = caller.run([], command)
        equal((ended.code, ended.report["exit"], ended.verdict["ending"]), (code, code, ending), command)
        equal(ended.said, [], command)


def no_such_program(caller):
    ended = caller.run([], ["no-such-program"])
    equal((ended.code, ended.out), (127, b""))
    equal(ended.said, ["cordon: no-such-program: exec: No such file or directory"])


def not_executable(caller):
    (caller.workspace / "plain").write_text("no program\n")
    ended = caller.run([], ["./plain"])
    equal((ended.code, ended.said), (126, ["cordon: ./plain: exec: Permission denied"]))


def time_limit(caller):
    ended = caller.run(["--time", "1s"], ["sleep", "30"])
    equal((ended.code, ended.verdict["ending"]), (124, "wall_time"))
    expect(ended.seconds < 4, ended.seconds)


def far_times(caller):
    """What a command sets the times of its files to is nothing that whoever measures its workspace stumbles over."""
    far = [15032385535, -2147483648]                    # the last and the first of ext4
    words = "; ".join(f"touch -d @{time} far{time}" for time in far)
    ended = caller.run(["--disk", "64M"], ["sh", "-c", f"{words}; sleep 1.5"])      # its disk is measured once a second
    equal((ended.code, ended.said), (0, []))
    equal([int((caller.workspace / f"far{time}").stat().st_mtime) for time in far], far, "times that were set")


def policy_refusals(caller):
    """126, before anything starts, with the words of a refusal; nothing of the command runs."""
    bad = caller.home / "bad.toml"
    bad.write_text("version = 1\nnonsense = true\n")
    open_net = caller.home / "net.toml"
    open_net.write_text("version = 1\n[network]\ningress = [3000]\n")
    for path in (bad, open_net):
        path.chmod(0o644)
        ended = caller.run(["--policy", str(path)], ["touch", "ran"])
        equal((ended.code, ended.out), (126, b""), path.name, ended.err)
        expect(ended.err.startswith(b"cordon: "), ended.err)
        expect("verdict" not in ended.report and ended.report["exit"] == 126 and ended.report["failure"], ended.report)
    denial, = ended.report["denials"]
    equal(denial["code"], "CORDON-PLAN-KEY")
    expect("--no-network" in denial["fix"] and f"  fix   {denial['fix']}\n".encode() in ended.err, denial, ended.err)
    equal(caller.run(["--policy", str(open_net), "--no-network"], ["true"]).code, 0, "the fix")
    ended = caller.run(["--workspace", "/"], ["touch", "ran"])
    equal(ended.code, 126, ended.err)
    ended = caller.run(["--memory", "much"], ["touch", "ran"])
    equal(ended.code, 126, ended.err)
    expect(not (caller.workspace / "ran").exists(), "it ran all the same")


REFUSED = (
    "version = 1\n[network]\ningress = [3000]\n",
    'version = 1\nextends = ["claude"]\n',
    'version = 1\n[filesystem]\nprotect = ["absent/name"]\n',
    'version = 1\n[filesystem]\nroot = "image:debian-12"\n',
    'version = 1\nisolation = "gvisor"\n',
    'version = 1\nrequire = ["landlock:99"]\n',
    'version = 1\n[process]\ncapabilities = ["chown"]\n',
    'version = 1\n[monitor]\nrecord = ["exec"]\n',
)
REFUSED_FLAGS = (["--protect", "absent"], ["--hide", "absent"], ["--root", "image:x"], ["--workspace", "/"],
                 ["--disk", "4G", "--memory", "1G"], ["--preset", "coding-agent"], ["--preset", "node", "--memory", "1G"])


def fixes_of(caller):
    """What every refusal that we know how to provoke offers to type."""
    fixes = set()
    for number, text in enumerate(REFUSED):
        path = caller.home / f"refused{number}.toml"
        path.write_text(text)
        path.chmod(0o644)
        fixes.update(denial["fix"] for denial in caller.run(["--policy", str(path)], ["true"]).report["denials"])
    for flags in REFUSED_FLAGS:
        fixes.update(denial["fix"] for denial in caller.run(flags, ["true"]).report["denials"])
    return sorted(fix for fix in fixes if fix)


def fix_lines(caller):
    """A `fix` names only commands and flags that exist: each is typed, and none is met with a word about its use."""
    fixes = fixes_of(caller)
    expect(len(fixes) >= 5, "too few to tell anything", fixes)
    environment = caller.environment() | {"PATH": f"{caller.programs}:{caller.environment()['PATH']}"}
    for fix in fixes:
        done = subprocess.run([*caller.become(), "sh", "-c", fix], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=caller.workspace, timeout=60)
        expect(done.returncode not in (2, 127), fix, done.returncode, done.stderr)
        expect(b"has no meaning here" not in done.stderr, fix, done.stderr)


def cannot_start(caller):
    """125: the policy is good, and the sandbox did not come up. Here its launcher is not beside it."""
    alone = caller.directory("alone")
    shutil.copy(caller.programs / "cordon", alone / "cordon")
    caller.programs = alone
    ended = caller.run([], ["true"])
    equal((ended.code, ended.report["exit"]), (125, 125), ended.err)
    expect(ended.said, "no word why")


def usage_error(caller):
    done = caller.verb("run", "--no-such-flag", "--", "true")
    equal((done.returncode, done.stdout), (2, b""), done.stderr)
    expect(done.stderr.startswith(b"cordon: "), done.stderr)


def output_untouched(caller):
    """Random bytes: among them every escape sequence and every byte that a terminal would change."""
    data = os.urandom(MUCH)
    (caller.workspace / "data").write_bytes(data)
    ended = caller.run([], ["cat", "data"])
    equal((len(ended.out), hashlib.sha256(ended.out).hexdigest()), (MUCH, hashlib.sha256(data).hexdigest()))
    equal((ended.code, ended.err, ended.report["output_bytes"]), (0, b"", MUCH))
    ended = caller.run([], ["sh", "-c", "cat data >&2"])
    equal((ended.err == data, ended.out), (True, b""), "through standard error")


def input_untouched(caller):
    data = os.urandom(MUCH)
    ended = caller.run([], ["cat"], stdin=data)
    expect(ended.out == data, f"{len(ended.out)} bytes came back")
    equal((ended.code, ended.err), (0, b""))


def reader_that_leaves(caller):
    """`cordon run -- yes | head`: a caller that closes its end does not hang the run."""
    child, report = caller.start([], ["sh", "-c", "yes | head -c 20000000; echo done >&2"])
    os.read(child.stdout.fileno(), 100)
    child.stdout.close()
    child.stdout = None
    ended = caller.finish(child, report, 30, 0)
    expect(b"done" in ended.err, ended.code, ended.err)


def input_not_read(caller):
    """A command that reads nothing does not wait for what nobody wanted."""
    ended = caller.run([], ["true"], stdin=os.urandom(MUCH))
    equal((ended.code, ended.out), (0, b""))


def left_behind(caller):
    """What a command leaves in the background ends with it, and does not hold its streams open."""
    ended = caller.run([], ["sh", "-c", "sleep 1000 & setsid sleep 1000 & echo out"], timeout=15)
    equal((ended.code, ended.out), (0, b"out\n"))
    equal(survivors(2), [], "processes left")


def report(caller):
    ended = caller.run(["--memory", "256M", "--time", "1m", "--pids", "100"], ["sh", "-c", "echo 12345; exit 5"])
    told = ended.report
    equal(set(told), {"id", "command", "level", "exit", "enforcement", "denials", "verdict", "usage", "output_bytes", "wall_ms"})
    equal((told["command"], told["exit"], told["output_bytes"], told["denials"]), (["sh", "-c", "echo 12345; exit 5"], 5, 6, []))
    equal(told["verdict"], {"ending": "exit", "status": 5, "limit": 0, "peak": 0, "culprit": "", "explanation": "", "line": "exited: 5"})
    mechanisms = {one["name"]: one for one in told["enforcement"]["mechanisms"]}
    expect(MECHANISMS <= set(mechanisms), "not told:", MECHANISMS - set(mechanisms))
    hold = "held" if caller.uid == 0 else "supervised"
    equal(mechanisms["memory"]["hold"], hold, mechanisms["memory"])
    expect(0 < told["wall_ms"] < 20_000, told["wall_ms"])
    if caller.uid == 0:
        usage = told["usage"]
        expect(usage["memory_peak"] > 0 and usage["oom_kills"] == 0 and usage["cpu_microseconds"] > 0 and usage["pids_refused"] == 0, usage)


def environment(caller):
    """Nothing of the caller's but what is let in."""
    how = {**caller.environment(), "SECRET": "s3cret", "LC_ALL": "C.UTF-8", "OTHER": "yes"}
    ended = caller.run(["--env", "OTHER", "--env", "SET=a b"], ["env"], env=how)
    lines = ended.out.decode().splitlines()
    expect("OTHER=yes" in lines and "SET=a b" in lines and "LC_ALL=C.UTF-8" in lines, lines)
    expect("s3cret" not in ended.out.decode(), lines)


def audit_words(caller, verb, *words, code=0):
    done = subprocess.run(caller.words("audit", verb, *words), env=caller.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    equal(done.returncode, code, verb, words, done.stdout, done.stderr)
    return done.stdout


def audit(caller):
    """A run is recorded before it starts, where it cannot look; the record is signed beside it, and what was changed is found."""
    log = caller.home / ".local/state/cordon/audit"
    for number in (3, 4):
        equal(caller.run([], ["sh", "-c", f"exit {number}"]).code, number)
    lines = [json.loads(line) for line in audit_words(caller, "tail", "--json").splitlines()]
    equal([line["event"] for line in lines], ["policy_accepted", "sandbox_started", "sandbox_ended"] * 2)
    equal([line.get("status") for line in lines if line["event"] == "sandbox_ended"], [3, 4])
    # C257: neither log nor key is inside; the counter-arm is that they are outside.
    until = time.monotonic() + slow(10)
    while not (told := json.loads(audit_words(caller, "verify", "--json")))["sealed"]:
        expect(time.monotonic() < until, "nobody signs it:", told)
        time.sleep(0.05)
    notary = caller.home / ".local/share/cordon/notary"
    for place in (log / "heads", log / "tail", notary / "key"):
        expect(place.stat().st_mode & 0o077 == 0, place)
        ended = caller.run([], ["cat", str(place)])
        expect(ended.code != 0 and b"No such file" in ended.err, place, ended.err)
    # All of it, with a copy of the head elsewhere.
    elsewhere = caller.directory("elsewhere")
    said = json.loads(audit_words(caller, "seal", "--json", "--anchor", str(elsewhere)))
    size = len(audit_words(caller, "export").splitlines())
    equal(said["size"], size)
    equal(json.loads(audit_words(caller, "verify", "--json"))["sealed"], size)
    proof = caller.home / "proof"
    proof.write_text(audit_words(caller, "prove", "0"))
    proof.chmod(0o644)
    expect("holds: record 0" in audit_words(caller, "verify", "--proof", str(proof), "--key", said["key"]), "the proof")
    audit_words(caller, "drop", "--older-than", "1d")
    # Log, heads and notary as they were before the last head: only the copy tells.
    segment = next(log.glob("*.log"))
    good = segment.read_bytes()
    segment.write_bytes(good.replace(b'"status":3', b'"status":0', 1))
    found = json.loads(audit_words(caller, "verify", "--json", code=1))
    expect(found["finding"]["record"] == 2, found)
    segment.write_bytes(b"".join(good.splitlines(True)[:4]))
    (log / "heads").unlink()
    (notary / "heads").unlink()
    expect(json.loads(audit_words(caller, "verify", "--json"))["ok"], "the counter-arm: the rest is a log too")
    found = json.loads(audit_words(caller, "verify", "--json", "--anchor", str(elsewhere), code=1))
    expect("tells of" in found["finding"]["what"], found)
    # Nothing is run that cannot be recorded.
    ended = caller.run([], ["touch", "ran"])
    expect(ended.code == 125 and b"audit log" in ended.err and not (caller.workspace / "ran").exists(), ended.code, ended.err)


def why(caller):
    """`cordon why` says again what the last run was refused, and which limit ended it; of another run, by its id."""
    def asked(*words, code=0):
        done = subprocess.run(caller.words("why", *words), env=caller.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        equal(done.returncode, code, words, done.stdout, done.stderr)
        return done.stdout

    asked(code=4)
    open_net = caller.home / "net.toml"
    open_net.write_text("version = 1\n[network]\ningress = [3000]\n")
    open_net.chmod(0o644)
    refused = caller.run(["--policy", str(open_net)], ["true"])
    equal(refused.code, 126)
    said = asked()
    expect(said.encode() in refused.err and "CORDON-PLAN-KEY" in said and "--no-network" in said, said, refused.err)
    denial, = json.loads(asked("--json"))["denials"]
    equal((denial["code"], denial["rule"], denial["count"]), ("CORDON-PLAN-KEY", f"{open_net}:3", 1))
    equal(caller.run(["--time", "1s"], ["sleep", "30"]).verdict["ending"], "wall_time")
    expect("nothing was refused" in asked() and "wall" in asked(), asked())
    equal(json.loads(asked("--json"))["denials"], [])
    expect("CORDON-PLAN-KEY" in asked(refused.report["id"]), "by its id")
    asked("none", code=4)


CHECKS = {act.__name__: act for act in (audit, why, exit_codes, no_such_program, not_executable, time_limit, far_times, policy_refusals, fix_lines,
                                        cannot_start, usage_error, output_untouched, input_untouched, reader_that_leaves, input_not_read,
                                        left_behind, report, environment)}

if __name__ == "__main__":
    main(CHECKS)
