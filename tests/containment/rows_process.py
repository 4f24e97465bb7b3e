# SPDX-License-Identifier: Apache-2.0
"""Groups B, E and F from outside: processes and ids."""
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

from pace import slow
from verdicts import FAIL, both, counter, failed, held, judge, of_answer, passed, refused
from world import SCRATCH_UID, end, landlock_abi, text


def processes_with(word):
    """Pids of the host whose command line holds `word`, but not our own."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid() and word in text(f"/proc/{name}/cmdline"):
            found.append(int(name))
    return found


def gone(word, seconds):
    """How long it took until no process bears `word`; None where one still does."""
    begin = time.monotonic()
    while time.monotonic() - begin <= slow(seconds):
        if not processes_with(word):
            return time.monotonic() - begin
        time.sleep(0.05)
    return None


def wait_for(word, seconds=10):
    until = time.monotonic() + slow(seconds)
    while time.monotonic() < until:
        found = processes_with(word)
        if found:
            return found
        time.sleep(0.05)
    return []


@judge("C026")
def signals(arm):
    run = arm.probe("C026", "--everyone")
    return both(refused(run, "C026"), held(arm.victim.poll() is None, "the process of the host lives"))


@counter("C026")
def signals_bare(bare):
    extra = bare.world.process(SCRATCH_UID)
    time.sleep(0.2)
    done, detail = bare.succeeds("user", "C026", "--pid", str(extra.pid))
    return done, detail


@judge("C027")
def memory_of_first(arm):
    """Where it has the workload's id and Landlock knows no signals, they are held by the kernel alone: the report must say so."""
    run = arm.probe("C027")
    if landlock_abi() >= 6:
        return refused(run, "C027")
    lines = {line["name"]: line["detail"] for line in (run.report or {}).get("enforcement", {}).get("mechanisms", [])}
    said = lines.get("landlock", "nothing")
    return both(refused(run, "C027"), held("without" in said and "signals" in said.partition("without")[2], f"of Landlock the report says: {said}"))


@judge("C030")
def daemons(arm):
    tag = f"daemon-{arm.name}-{arm.count}"
    run = arm.probe("C030", "--tag", tag, "--count", "20")
    took = gone(tag, 2)
    return both(refused(run, "C030"), held(took is not None, "daemons live on" if took is None else f"none left after {took:.2f} s"))


@counter("C030")
def daemons_bare(bare):
    bare.run("user", ["C030", "--tag", "daemon-bare", "--count", "5"])
    left = processes_with("daemon-bare")
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return len(left) > 0, f"{len(left)} daemons live on"


@judge("C031")
def stops_all(arm):
    tag = f"stop-{arm.name}-{arm.count}"
    run = arm.probe("C031", "--hold", str(slow(30)), "--tag", tag, flags=["--time", "2s"], timeout=30)
    took = gone(tag, 2)
    why = f"ended after {run.seconds:.1f} s of {slow(2)} s, {run.ending}"
    return held(run.ending == "wall_time" and run.seconds <= slow(2 + 5 + 1) and took is not None, why)


@counter("C031")
def stops_all_bare(bare):
    """Without a supervisor it lasts for as long as it likes."""
    begin = time.monotonic()
    bare.run("user", ["C031", "--hold", "3"])
    return time.monotonic() - begin >= 3, "held for 3 s"


@judge("C032")
def cuts_its_strings(arm):
    tag = f"untied-{arm.name}-{arm.count}"
    child, _ = arm.start(["--time", "30s"], ["./probe", "C032", "--hold", str(slow(20)), "--tag", tag], arm.workspace())
    there = wait_for(tag)
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=slow(30))
    if not there:
        return failed("the payload was never seen")
    # The command lines of `cordon` and its launcher hold the tag too: all of them must go.
    took = gone(tag, 5)
    return held(took is not None and took <= slow(1), "something lives on" if took is None else f"all gone after {took:.2f} s")


def digest_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@judge("C033")
def overwrites_program(arm):
    programs = [arm.cordon[0], *map(str, pathlib.Path(arm.cordon[0]).parent.glob("cordon*"))]
    programs = [path for path in programs if os.path.isfile(path)]
    before = {path: digest_of(path) for path in programs}
    run = arm.probe("C033")
    here = arm.workspace()
    script = here / "entry"
    script.write_text("#!/proc/self/exe\n")
    script.chmod(0o755)
    arm.run(["--time", "5s"], ["./entry"], workspace=here)
    return both(refused(run, "C033"), held(before == {path: digest_of(path) for path in programs}, f"{len(programs)} programs compared"))


@counter("C033")
def overwrites_program_bare(bare):
    program = bare.directory / "victim"
    shutil.copy("/bin/sleep", program)
    os.chown(program, SCRATCH_UID, SCRATCH_UID)
    victim = subprocess.Popen([*bare.prefix("user"), str(program), "60"], start_new_session=True)
    time.sleep(0.3)
    try:
        return bare.succeeds("user", "C033", "--victim", str(victim.pid))
    finally:
        end(victim)


# Rows that look at all fences of a process, to be asked of one that joined too.
OF_JOINED = ("C001", "C003", "C012", "C028", "C039", "C043", "C063", "C066", "C067", "C079", "C083", "C096", "C222")


def facts_of(answer):
    return {check["name"]: check["errno"] for check in (answer or {}).get("checks", [])}


def differences(first, second):
    return [f"{name}: {first.get(name)} and {second.get(name)}" for name in sorted(first.keys() | second.keys()) if first.get(name) != second.get(name)]


@judge("C034")
def joined_fences(arm):
    """A command that joins a running sandbox: the kernel tells the same of both, and what is refused to one is to the other."""
    here = arm.workspace()
    words = arm.words()
    run = arm.enter(["./probe", "C034", "--first", *words], ["./probe", "C034", *words], workspace=here)
    both_answers = run.all_answers("C034")
    if len(both_answers) != 2:
        return failed(f"{len(both_answers)} answers; {run.said()}")
    second, first = (facts_of(answer) for answer in both_answers)
    wrong = differences(first, second)
    batch = arm.enter(["./probe", "C034", "--first", *words], ["./probe", "--batch", ",".join(OF_JOINED), *words], workspace=here)
    answers = batch.answers()
    lost = [row for row in OF_JOINED if row not in answers or of_answer(answers[row]).word == FAIL]
    return both(held(len(first) >= 25 and not wrong, "; ".join(wrong) or f"{len(first)} facts are the same"),
                held(not lost, f"got through: {lost}; {batch.said()}" if lost else f"{len(first)} facts are the same, {len(OF_JOINED)} rows held"))


@counter("C034")
def joined_fences_bare(bare):
    """Of two processes of which one has fewer fences the comparison sees it."""
    first = facts_of(bare.answer("box", "C034"))
    second = facts_of(bare.answer("user", "C034"))
    wrong = differences(first, second)
    return len(wrong) > 5, f"{len(wrong)} differences between two that differ"


@judge("C035")
def caught_joining(arm):
    here = arm.workspace()
    run = arm.enter(["./probe", "C035", "--seconds", str(slow(50))], ["./probe", "C035", "--joining"], "--times", "1000", workspace=here, timeout=90)
    joined = run.all_answers("C035")
    return both(held(len(joined) == 1001, f"{len(joined) - 1} of 1000 joined; {run.said()}"), refused(run, "C035"))


@counter("C035")
def caught_joining_bare(bare):
    """A process of the same name and user whose owner did not close it to others."""
    program = bare.directory / "cordon-init"
    shutil.copy("/bin/sleep", program)
    victim = subprocess.Popen([*bare.prefix("user"), str(program), "10"], start_new_session=True)
    time.sleep(0.3)
    silent, holder = os.pipe()       # an input that does not end
    try:
        return bare.succeeds("user", "C035", "--seconds", "2", "--comm", "cordon-init", stdin=silent)
    finally:
        os.close(silent)
        os.close(holder)
        end(victim)


@judge("C036")
def odd_directories(arm):
    here = arm.workspace()
    plain = arm.probe("C036", workspace=here)
    outcomes = [refused(plain, "C036")]
    gone_directory, link = arm.workspace(), arm.base / f"link{arm.count}"
    holder = os.open(gone_directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name, workspace, cwd in (("a descriptor", f"/proc/self/fd/{holder}", here), ("a link", link, here),
                                     ("a deleted directory", None, f"/proc/{os.getpid()}/fd/{holder}")):
            if name == "a link":
                link.symlink_to("/root")
            if name == "a deleted directory":
                shutil.rmtree(gone_directory)
            run = arm.run(["--time", "5s"], [str(here / "probe") if workspace is None else "./probe", "C036", *arm.words()],
                          workspace=workspace, cwd=cwd, keep_fds=(holder,))
            answer = run.answers().get("C036")
            fine = run.code in (125, 126, 127) if answer is None else answer["outcome"] == "refused"
            outcomes.append(held(fine, f"started in {name}: {run.said()}"))
    finally:
        os.close(holder)
    return both(*outcomes)


@counter("C036")
def odd_directories_bare(bare):
    path = bare.directory / "deleted"
    path.mkdir()
    os.chmod(path, 0o777)
    holder = os.open(path, os.O_RDONLY)
    path.rmdir()
    done = subprocess.run([*bare.prefix("user"), str(bare.directory / "probe"), "C036"], capture_output=True, cwd=f"/proc/{os.getpid()}/fd/{holder}")
    os.close(holder)
    return done.returncode == 1, "a deleted directory is one to start in"


def intervals(path):
    return [(int(outside), int(outside) + int(count)) for _, outside, count in (line.split() for line in text(path).splitlines())]


@judge("C070")
def ids(arm):
    started, tag = [], f"ids-{arm.name}-{arm.count}"
    here = arm.workspace()
    for number in range(10):
        started.append(arm.start(["--time", "30s"], ["./probe", "C070", "--hold", str(slow(20)), "--tag", f"{tag}-{number}-"], here)[0])
    try:
        ranges = []
        for number in range(10):
            pids = [pid for pid in wait_for(f"{tag}-{number}-", 15) if text(f"/proc/{pid}/comm").startswith("probe")]
            deadline = time.monotonic() + slow(10)
            while not pids and time.monotonic() < deadline:
                time.sleep(0.1)
                pids = [pid for pid in processes_with(f"{tag}-{number}-") if text(f"/proc/{pid}/comm").startswith("probe")]
            if not pids:
                return failed(f"sandbox {number} was not seen")
            for kind in ("uid_map", "gid_map"):
                for first, last in intervals(f"/proc/{pids[0]}/{kind}"):
                    if first < 65536:
                        return failed(f"{kind} reaches the host's {first}")
                    ranges.append((kind, first, last, number))
        for kind, first, last, number in ranges:
            for other_kind, other_first, other_last, other in ranges:
                if kind == other_kind and number < other and first < other_last and other_first < last:
                    return failed(f"{kind}: sandboxes {number} and {other} share ids")
        return passed(f"{len(ranges)} ranges are disjoint")
    finally:
        for child in started:
            end(child)


@counter("C070")
def ids_bare(bare):
    child = subprocess.Popen([*bare.prefix("box"), "sleep", "5"], start_new_session=True)
    time.sleep(0.5)
    found = [pid for pid in processes_with("sleep\x005") if intervals(f"/proc/{pid}/uid_map")]
    low = [first for pid in found for first, _ in intervals(f"/proc/{pid}/uid_map") if first < 65536]
    end(child)
    return bool(low), f"a plain namespace maps {low[:1]}"


@judge("C080")
def groups(arm):
    inherited = [] if arm.launcher == "bare" else [os.stat("/dev/kmsg").st_gid or 4, 6, 27]
    return refused(arm.probe("C080", groups=inherited), "C080")


@judge("C082")
def root_inside(arm):
    """All that one sandbox can judge of groups A to H, once more as id 0 inside."""
    rows = [row for row, about in arm.rows.items() if about["run"] == "batch" and about["group"] in "ABCDEFGH" and arm.applies(row) is None]
    answers = arm.batch(rows, flags=["--user", "root"])
    wrong = [f"{row}: {answers[row]['detail']}" if row in answers else f"{row}: no answer" for row in rows
             if row not in answers or of_answer(answers[row]).word == FAIL]
    return held(not wrong, "; ".join(wrong) if wrong else f"{len(rows)} rows as root inside")
