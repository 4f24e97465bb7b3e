# SPDX-License-Identifier: Apache-2.0
"""Each system call of the launcher, of both descents and of pid 1 fails in turn.

Either the command never runs, and Cordon says what failed; or it runs behind the very fences that it has without a fault.
"""
import collections
import errno
import itertools
import pathlib
import platform
import random
import re
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from caller import groups_of, survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402

# They do not return, or cannot fail.
NEVER = {"exit", "exit_group", "rt_sigreturn", "getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid"}
# A fence is made of these: where one of them fails nobody may go on, even if all looks the same from inside.
FENCES = {"seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "capset", "setresuid",
          "setresgid", "setgroups", "pivot_root", "move_mount", "mount_setattr", "mount", "setns", "unshare", "open_tree",
          "fsopen", "fsconfig", "fsmount", "sethostname", "close_range", "setrlimit", "umount2"}
SELDOM = 12     # calls of a name in one start
WITHIN = 15     # seconds that a run with a fault has
LATE = ("no end within", "processes that live on")      # how such a finding begins


def names_of_calls():
    header = pathlib.Path(f"/usr/include/{platform.machine()}-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        raise Skip(f"no {header}: the calls have no names")
    return {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", header.read_text())}


class Stage:
    """A copy of the programs in which the launcher is started through the one that lets calls fail."""

    def __init__(self, caller, tools):
        self.caller, self.base = caller, caller.directory("faults")
        self.base.chmod(0o777)      # the caller writes the log
        real = self.base / "real"
        real.mkdir(mode=0o755)
        shutil.copy(caller.programs / "cordon", self.base / "cordon")
        for name in ("cordon-launcher", "cordon-init"):
            shutil.copy(caller.programs / name, real / name)
        shutil.copy(pathlib.Path(tools) / "fault", self.base / "cordon-launcher")
        shutil.copy(pathlib.Path(tools) / "state", caller.workspace / "state")
        self.whole, caller.programs = caller.programs, self.base

    def run(self, role="-", call=0, error=errno.EPERM):
        """What the run said, and the lines of its log."""
        log = self.base / "fault.log"
        log.unlink(missing_ok=True)
        (self.base / "fault.plan").write_text(f"{role} {call} {error}\n")
        ended = self.caller.run([], ["./state"], timeout=WITHIN)
        return ended, log.read_text().splitlines() if log.exists() else []


def seen(out):
    """What the command saw, without the numbers that differ from run to run."""
    lines = []
    whole = out[:out.rfind(b"\n") + 1]     # an end in the middle cuts the last line
    for line in whole.decode(errors="replace").splitlines():
        if line.startswith("/proc/self/mountinfo "):
            words = line.split()
            words[1:4] = ["#", "#", "#"]        # ids and device
            line = re.sub(r"(shared|master|propagate_from):\d+", r"\1:#", " ".join(words))
        line = re.sub(r"/cordon-\S*", "/cordon-#", line)
        line = re.sub(r"^(/proc/self/[ug]id_map\s+\S+\s+)\S+", r"\1#", line)
        line = re.sub(r"\bparent \d+|\bpid \d+|\bsession \d+", "#", line)
        if line.startswith("/proc/net/dev    lo"):
            line = "/proc/net/dev lo"
        lines.append(line)
    return lines


class Count(collections.Counter):
    def text(self):
        return ", ".join(f"{number} {word}" for word, number in sorted(self.items()))


def left(stage, log):
    """What a run left behind that has no process any more."""
    launcher = next((int(line.split()[1]) for line in log if line.startswith("launcher ")), 0)
    mounts = [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(stage.caller.base) in line]
    return (groups_of(launcher) if launcher else []) + mounts


def judge(stage, baseline, fence, ended, log):
    """One word, or an error. `fence`: what failed was part of one."""
    equal(survivors(5), [], "processes that live on")
    ran = ended.out.startswith(b"ran\n")
    if ran:
        expect(not fence, "the command ran although a call of a fence failed")
        difference = [line for line in seen(ended.out) if line not in baseline]
        missing = [line for line in baseline if line not in seen(ended.out)] if ended.code == 0 else []
        equal(difference + missing, [], "what the command saw")
        word = "held"
    else:
        expect(ended.code in (125, 126), f"exit code {ended.code}: {ended.err!r}")
        # A step and what it said; or that the launcher itself has gone, which then can say nothing.
        said = ended.err.decode(errors="replace").split("cordon: ")[1:]
        named = any(": " in words or "the launcher" in words for words in said)
        expect(named, f"no step is named: {ended.err!r}")
        word = "closed"
    if left(stage, log):
        stage.caller.programs = stage.whole
        equal(stage.caller.run([], ["true"]).code, 0, "the next start")
        stage.caller.programs = stage.base
        equal(left(stage, log), [], "left behind, also by the next start")
        word += " and cleaned by the next start"
    return word


def calls(caller, options):
    names = names_of_calls()
    stage = Stage(caller, options.tools)
    ended, log = stage.run()
    expect(ended.code == 0 and ended.out.startswith(b"ran\n"), "without a fault:", ended.code, ended.err)
    baseline = seen(ended.out)
    equal(seen(stage.run()[0].out), baseline, "two runs without a fault differ:")
    places = [line.split() for line in log if line[0].isdigit()]
    places = [(role, int(call), names.get(int(number), number)) for role, call, number in places]
    places = [place for place in places if place[2] not in NEVER]
    first_process = next(role for role, _, name in places if name == "pivot_root")
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    first = random.Random(seed).randrange(options.every)
    count, wrong = Count(), []
    began = time.monotonic()
    often = collections.Counter(name for _, _, name in places)
    # Calls of a fence that come seldom, a sample would miss; of those that come often it has some.
    chosen = [place for number, place in enumerate(places)
              if number % options.every == first or (place[2] in FENCES and often[place[2]] <= SELDOM)]
    chosen = [place for place in chosen
              if (not options.role or place[0] == options.role) and (not options.call or place[2] == options.call)]
    again = []      # places that were late once: on a busy host that happens; twice, it is a hang
    for role, call, name in itertools.chain(chosen, again):
        ended = None
        try:
            ended, log = stage.run(role, call, options.error)
            hit = [line.split() for line in log if line.startswith("failed ")]
            if not hit:
                count["not reached"] += 1
                continue
            name = names.get(int(hit[0][3]), name)
            # Makers of namespaces, which hold them and do nothing else, have no fences.
            fence = name in FENCES and (role == "0" or role.startswith(first_process))
            count[judge(stage, baseline, fence, ended, log)] += 1
        except AssertionError as error:
            print(f"  {role} {call} {name}: {error}"[:400], flush=True)
            if str(error).startswith(LATE) and (role, call, name) not in again:
                again.append((role, call, name))
                count["late and tried again"] += 1
                continue
            wrong.append(f"{role} {call} {name}: {error}")
    expect(not wrong, f"{len(wrong)} of {len(chosen)} faults, seed {seed}; {count.text()}:\n" + "\n".join(wrong[:50]))
    return f"{len(chosen)} of {len(places)} calls, {time.monotonic() - began:.0f} s: {count.text()}"


# What a kernel may lack, and the flags of a run that needs it.
FEATURES = {"--no-userns": [], "--no-netns": [], "--no-landlock": [], "--no-seccomp": [], "--no-mount-api": [], "--no-pidfd": [],
            "--no-openat2": [], "--no-idmap": [], "--no-overlay": ["--review"], "--no-cgroup-write": ["--memory", "256M"]}


def features(caller, options):
    """The host had it when it was probed, and the launcher does not get it: no plan is carried out in part."""
    if caller.uid:
        raise Skip("what masks would stand between an ordinary user's launcher and whoever writes its id maps")
    stage = Stage(caller, options.tools)
    flags_of_all = sorted({flag for flags in FEATURES.values() for flag in flags})
    equal(caller.run(["--review", "--memory", "256M"], ["./state"]).code, 0, f"without a mask, with {flags_of_all}:")
    wrapper = stage.base / "cordon-launcher"
    wrapper.unlink()
    wrong = []
    for mask, flags in FEATURES.items():
        wrapper.write_text(f"#!/bin/sh\nexec {pathlib.Path(options.tools).resolve()}/mask {mask} -- {stage.base}/real/cordon-launcher\n")
        wrapper.chmod(0o755)
        ended = caller.run(flags, ["./state"], timeout=WITHIN)
        try:
            expect(not ended.out, "the command ran")
            equal(judge(stage, [], True, ended, []), "closed", ended.err)
        except AssertionError as error:
            wrong.append(f"{mask}: {error}")
    expect(not wrong, "\n".join(wrong))
    return f"{len(FEATURES)} features"


CHECKS = {"calls": calls, "features": features}


def add_options(parser):
    parser.add_argument("--tools", required=True, help="the directory of fault and state")
    parser.add_argument("--every", type=int, default=1, help="a sample: every so many-th call, from a random one on")
    parser.add_argument("--seed", type=int, help="repeats the sample of an earlier run")
    parser.add_argument("--error", type=int, default=errno.EPERM)
    parser.add_argument("--role", help="only this process")
    parser.add_argument("--call", help="only calls of this name")


if __name__ == "__main__":
    main(CHECKS, add_options)
