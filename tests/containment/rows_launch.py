# SPDX-License-Identifier: Apache-2.0
"""Launches that must fail, reports that must be true, and what is left when all is over."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import uuid

from pace import slow
from verdicts import FAIL, both, counter, failed, held, judge, of_answer, refused, skipped
from world import of_kernel, text

FENCES = "C013,C043,C063,C066,C083,C096,C107,C027"


def tiny_root(arm, name):
    """A root of nothing but the probe, static as it is, and the directories that a root has."""
    root = arm.base / f"image-{name}"
    for directory in ("bin", "etc", "proc", "sys", "dev", "tmp", "usr", "run"):
        (root / directory).mkdir(parents=True)
    shutil.copy(arm.world.probe, root / "bin/probe")
    for path in (root, *root.rglob("*")):
        os.chown(path, arm.uid, arm.uid)
    return root


def swap(path, target):
    if path.is_dir():
        shutil.rmtree(path)
    path.symlink_to(target)


TRICKS = {
    "proc-link": lambda root: swap(root / "proc", "etc"),
    "proc-host": lambda root: swap(root / "proc", "/proc"),
    "dev-link": lambda root: swap(root / "dev", "tmp"),
    "dev-null-link": lambda root: (root / "dev/null").symlink_to("/proc/sys/kernel/core_pattern"),
    "dev-console-link": lambda root: (root / "dev/console").symlink_to("/proc/sysrq-trigger"),
    "dev-pts-link": lambda root: (root / "dev/pts").symlink_to("../../../../dev/pts"),
    "etc-link": lambda root: swap(root / "etc", "/etc"),
    "mtab-loop": lambda root: (root / "etc/mtab").symlink_to("mtab"),
    "tmp-host": lambda root: swap(root / "tmp", "/root"),
    "sys-link": lambda root: swap(root / "sys", "proc"),
}


@judge("C049")
def hostile_images(arm):
    """Refused, or started with every fence: a link may be harmless where its target is replaced."""
    outcomes = []
    word = arm.root_word
    try:
        for name, trick in {"plain": lambda root: None, **TRICKS}.items():
            root = tiny_root(arm, name)
            trick(root)
            arm.root_word = f"dir:{root}"
            run = arm.run(["--time", "20s"], ["/bin/probe", "--batch", "C043,C044,C050,C055", *arm.words()], workspace=arm.workspace())
            shutil.rmtree(root)
            answers = run.answers()
            if name == "plain":
                outcomes.append(held("C043" in answers, f"a plain image starts: {run.said()}"))
            elif not answers:
                outcomes.append(held(run.code in (125, 126), f"{name}: {run.said()}"))
            else:
                wrong = [answer["detail"] for answer in answers.values() if answer["outcome"] == "succeeded" and of_answer(answer).word == FAIL]
                outcomes.append(held(not wrong, f"{name}: {wrong}"))
    finally:
        arm.root_word = word
    return both(*outcomes)


@counter("C049")
def hostile_images_bare(bare):
    """A root entered without looking at it: the link over /dev/null leads to the kernel's setting."""
    root = bare.directory / "image"
    (root / "dev").mkdir(parents=True)
    (root / "proc").mkdir()
    (root / "dev/null").symlink_to("/proc/sys/kernel/core_pattern")
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                           'mount -t proc proc "$0/proc"; chroot "$0" /probe C043 >/dev/null; cat /dev/null; readlink -f "$0/dev/null"', str(root)],
                          capture_output=True, text=True)
    return "core_pattern" in done.stdout, done.stdout.strip() or done.stderr.strip()


def steps_that_fail():
    """System calls of a launch, each failing every time; those that are made often also the first time only."""
    for call in ("mount", "prctl", "setresuid", "close_range", "seccomp", "capset"):
        yield call, "1"
    for call in ("unshare", "mount", "move_mount", "pivot_root", "mount_setattr", "prctl", "seccomp", "landlock_restrict_self", "landlock_add_rule",
                 "setresuid", "setresgid", "setgroups", "capset", "close_range", "execveat",
                 "sethostname", "setns", "umount2", "chroot", "open_tree", "fsopen"):
        yield call, "1+"


@judge("C076")
def failing_steps(arm):
    """A payload either never starts or has every fence."""
    if shutil.which("strace") is None:
        return skipped("no strace to make calls fail with")
    wrong, ran = [], 0
    plain = arm.cordon
    try:
        for call, when in steps_that_fail():
            inject = ["-e", f"trace={call}", "-e", f"inject={call}:error=EPERM:when={when}"]
            arm.cordon = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", *inject, *plain]
            run = arm.run(["--time", "20s"], ["./probe", "--batch", FENCES, *of_kernel()], workspace=arm.workspace(), timeout=60)
            answers = run.answers()
            ran += bool(answers)
            wrong += [f"{call} {when}: {answer['detail']}" for answer in answers.values() if answer["outcome"] == "succeeded"]
            if not answers and run.code not in (125, 126):
                wrong.append(f"{call} {when}: {run.said()}")
    finally:
        arm.cordon = plain
    return held(not wrong, "; ".join(wrong[:3]) or f"{ran} started, with every fence")


MASKS = {
    "user namespaces": (["--no-userns"], []),
    "Landlock": (["--no-landlock"], ["landlock"]),
    "Landlock's version": (["--landlock-abi", "1"], ["landlock:4"]),
    "seccomp": (["--no-seccomp"], ["seccomp"]),
    "cgroups": (["--no-cgroup-write"], ["cgroup"]),
    "network namespaces": (["--no-netns"], []),
    "the mount calls": (["--no-mount-api"], []),
    "pidfds": (["--no-pidfd"], []),
}


@judge("C286")
def missing_features(arm):
    """Refused before the payload; where nothing was required, it may run with every fence."""
    if arm.launcher == "bare":
        required = {name: value for name, value in MASKS.items() if name != "cgroups"}
    else:
        required = MASKS
    wrong = []
    control = arm.run(["--time", "20s"], ["./probe", "C286"], workspace=(here := arm.workspace()), policy=requiring(["seccomp", "landlock"]))
    if not (here / "ran").exists():
        return failed(f"nothing missing, and yet: {control.said()}")
    for name, (flags, words) in required.items():
        here = arm.workspace()
        run = arm.run(["--time", "20s"], ["./probe", "--batch", f"C286,{FENCES}", *of_kernel()], workspace=here, policy=requiring(words), masks=flags)
        started = (here / "ran").exists()
        open_fences = [answer["detail"] for answer in run.answers().values() if answer["outcome"] == "succeeded"]
        if started and (words or open_fences):
            wrong.append(f"{name}: started; {open_fences}")
        if not started and run.code not in (125, 126):
            wrong.append(f"{name}: {run.said()}")
    return held(not wrong, "; ".join(wrong) or f"{len(required)} features masked")


def requiring(words):
    return "version = 1\n" + (f"require = [{', '.join(chr(34) + word + chr(34) for word in words)}]\n" if words else "")


@counter("C286")
def missing_features_bare(bare):
    done = bare.run("user", ["C286"])
    return (bare.directory / "ran").exists(), f"exit {done.returncode}"


@judge("C291")
def other_tier(arm):
    wrong = []
    for tier in ("gvisor", "microvm"):
        here = arm.workspace()
        run = arm.run(["--time", "20s"], ["./probe", "C291"], workspace=here, policy=f'version = 1\nisolation = "{tier}"\n')
        if (here / "ran").exists() and (run.report or {}).get("isolation") != tier:
            wrong.append(f"{tier}: started as something else")
        elif not (here / "ran").exists() and run.code not in (125, 126):
            wrong.append(f"{tier}: {run.said()}")
    return held(not wrong, "; ".join(wrong) or "refused or as asked for")


@judge("C199")
def forged_report(arm):
    killed = arm.probe("C199", "--signal", "9")
    exited = arm.probe("C199", "--exit", "137")
    plain = arm.probe("C199")
    facts = [(killed.ending, "signal"), (exited.ending, "exit"), (exited.verdict.get("status"), 137), (plain.ending, "exit"),
             (plain.verdict.get("status"), 0)]
    wrong = [f"{seen} instead of {wanted}" for seen, wanted in facts if seen != wanted]
    return held(not wrong and exited.code == 137, "; ".join(wrong) or "three endings told apart")


# How a first process can break the protocol: see hostile_init.cc. Those that only keep silent end by their time.
WRONG_WAYS = ("long", "empty", "type", "trailing", "version", "stranger", "gap", "unasked", "file", "input", "flood")
SILENT_WAYS = ("slow", "silent")


@judge("C227")
def wrong_speech(arm):
    """The first process itself is hostile here: the same programs, with another one in its place."""
    own = pathlib.Path(arm.cordon[0]).parent
    hostile = arm.base / "hostile"
    hostile.mkdir()
    for name in ("cordon", "cordon-launcher"):
        shutil.copy(own / name, hostile / name)
    shutil.copy(own / "cordon-hostile-init", hostile / "cordon-init")
    wrong, here, kept = [], arm.workspace(), arm.cordon
    arm.cordon = [str(hostile / "cordon")]
    try:
        for way in (*WRONG_WAYS, *SILENT_WAYS, "end"):
            run = arm.run(["--time", "2s"], [way], workspace=here, timeout=30)
            told = "agent_protocol_error" in run.err or "agent_protocol_error" in json.dumps(run.report or {})
            fine = run.ending == "infrastructure" and run.code == 125 and (told or way == "end") if way not in SILENT_WAYS else run.code in (124, 125)
            if not fine or run.seconds > slow(2 + 5 + 2):
                wrong.append(f"{way}: {run.said()} after {run.seconds:.1f} s")
    finally:
        arm.cordon = kept
    fit = arm.run(["--time", "20s"], ["./probe", "C246"], workspace=here)
    return held(not wrong and fit.code == 0, "; ".join(wrong) or f"{len(WRONG_WAYS)} ways told, {len(SILENT_WAYS)} ended by their time")


def state_of_host():
    """What a sandbox could leave behind, as sets that can be subtracted."""
    groups = set()
    for root, directories, _ in os.walk("/sys/fs/cgroup"):      # of either version: hierarchies, or groups
        groups.update(os.path.join(root, name) for name in directories)
    # A dead process that the host's first one has not reaped is no longer a sandbox's.
    processes = {(name, text(f"/proc/{name}/comm").strip()) for name in os.listdir("/proc")
                 if name.isdigit() and ") Z " not in text(f"/proc/{name}/stat")}
    return {
        "processes": {each for each in processes if each[1].startswith(("cordon", "probe"))},
        "cgroups": groups,
        "mounts": {line.split()[4] for line in text("/proc/self/mountinfo").splitlines()},
        "loops": {name for name in os.listdir("/sys/block") if name.startswith("loop") and text(f"/sys/block/{name}/loop/backing_file")},
        "links": set(os.listdir("/sys/class/net")),
        "run": set(os.listdir("/run")) | {f"cordon/{name}" for name in (os.listdir("/run/cordon") if os.path.isdir("/run/cordon") else [])},
    }


def is_anothers(kind, each, world):
    """True if something that bears our name is held by a living process that has nothing to do with this suite."""
    def living_stranger(pid):
        told = "".join(text(f"/proc/{pid}/{name}") for name in ("cmdline", "environ", "mountinfo"))
        return bool(told) and world.base.name not in told
    if kind == "processes":
        return living_stranger(each[0])
    maker = re.search(r"/cordon-[^/]*-(\d+)\.\d+$", str(each))       # its pid and when it began
    if kind == "cgroups" and maker:
        return living_stranger(maker[1])
    if kind == "run" and str(each).startswith("cordon/"):
        try:
            with open(f"/run/{each}") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True      # locked, or gone meanwhile
    return False


def leftovers(before, ours, world):
    """What is there now and was not before, of what can be ours; waits up to 5 s for it to go."""
    until = time.monotonic() + slow(5)
    while True:
        now = state_of_host()
        more = {kind: sorted(each for each in now[kind] - before[kind] if ours(str(each)) and not is_anothers(kind, each, world)) for kind in now}
        more = {kind: names for kind, names in more.items() if names}
        if not more or time.monotonic() > until:
            return more
        time.sleep(0.2)


@judge("C246")
def leaves_things(arm):
    before = state_of_host()
    layers = set(arm.state.rglob("upper*"))
    here = arm.workspace()
    for _ in range(20):
        run = arm.run(["--time", "20s"], ["./probe", "C246"], workspace=here)
        if run.code != 0:
            return failed(run.said())
    # Others may use the machine: only what bears our name, or lies below our own groups, is ours.
    more = leftovers(before, lambda name: "cordon" in name or "probe" in name or arm.world.base.name in name, arm.world)
    new_layers = [path.name for path in set(arm.state.rglob("upper*")) - layers]
    return both(held(not more, f"left behind: {more}"), held(not new_layers, f"layers left behind: {new_layers[:3]}"))


@counter("C246")
def leaves_things_bare(bare):
    """A group and a mount of ours, left on purpose, are seen."""
    before = state_of_host()
    group = pathlib.Path("/sys/fs/cgroup/unified") / f"cordon-{bare.world.base.name}"
    if not group.parent.is_dir():
        group = pathlib.Path("/sys/fs/cgroup") / group.name
    group.mkdir()
    now = state_of_host()
    seen = str(group) in now["cgroups"] - before["cgroups"]
    group.rmdir()
    return seen, "a group left behind is seen"


@judge("C247")
def next_tenant(arm):
    mirrored = uuid.uuid4().hex
    first = arm.probe("C247", "--leave", "--mirrored", mirrored)
    second = arm.probe("C247", "--mirrored", mirrored)
    return both(refused(first, "C247"), refused(second, "C247"))


@counter("C247")
def next_tenant_bare(bare):
    mirrored = uuid.uuid4().hex
    bare.run("user", ["C247", "--leave", "--mirrored", mirrored])
    done, detail = bare.succeeds("user", "C247", "--mirrored", mirrored)
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        pathlib.Path(place, "left-" + mirrored[::-1]).unlink(missing_ok=True)
    return done, detail
