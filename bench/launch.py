#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox costs: one-shot `cordon run -- true` beside a bare spawn and bubblewrap, in turns, back to back and with idle gaps."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

UID = 47_310        # of the ordinary user; no account has it
GAP = 0.030         # an idle processor is slower to begin


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class Arm:
    """One way to start `true`; spawned without a shell and waited for."""

    def __init__(self, name, words, base):
        self.name, self.words = name, words
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(base), "LANG": "C.UTF-8"}

    def once(self):
        """In milliseconds."""
        begin = time.perf_counter()
        pid = os.posix_spawn(self.words[0], self.words, self.environment)
        _, status = os.waitpid(pid, 0)
        took = (time.perf_counter() - begin) * 1000
        if status != 0:
            print(f"bench launch: {self.name} ended with status {status}: {' '.join(self.words)}", file=sys.stderr)
            raise RuntimeError(self.name)
        return took


def as_user(uid, base, make_arms, times, gap):
    """Measures in a child that has become the user for good, so that no change of user is in the figures."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            if uid:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
            os.chdir(base / "workspace")
            figures = measure(make_arms(base), times, gap)
            with os.fdopen(write, "w") as out:
                json.dump(figures, out)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as came:
        text = came.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        sys.exit("bench launch: a measurement failed")
    return json.loads(text)


def measure(arms, times, gap):
    """In turns, so that what else the machine does meets all alike. The first turn is not counted: caches are cold."""
    took = {arm.name: [] for arm in arms}
    for turn in range(times + 1):
        for arm in arms:
            if gap:
                time.sleep(gap)
            one = arm.once()
            if turn > 0:
                took[arm.name].append(one)
    return took


def arms_for(programs):
    def make(base):
        arms = [Arm("bare", ["/bin/true"], base)]
        if bubblewrap := shutil.which("bwrap"):
            arms.append(Arm("bubblewrap", [bubblewrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
                                           "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
                                           "--tmpfs", "/tmp", "--bind", str(base / "workspace"), "/workspace", "--chdir", "/workspace", "true"], base))
        arms.append(Arm("cordon run", [str(programs / "cordon"), "run", "--", "true"], base))
        return arms
    return make


# Where one phase ends and the next begins: the first such call of such a program after the mark before it, and what lay before.
MARKS = (
    ("cordon", "socketpair", "cordon is loaded, reads arguments and the host's facts, starts the launcher"),
    ("cordon", "eventfd2", "policy, plan, audit.log"),
    ("cordon-launche", "clone", "the launcher gets ready and judges the plan"),
    ("cordon-launche", "setns", "ids, sources, groups; the child is cloned and enters its groups"),
    ("cordon-launche", "pivot_root", "file tree"),
    ("cordon-launche", "seccomp", "the old tree goes, the rest of the first descent"),
    ("memfd:cordon-i", "landlock_restrict_self", "cordon-init starts, its spawner descends"),
    ("true", "exit_group", "filter, start request, the command"),
    ("cordon-launche", "pidfd_send_signal", "its end is told, the sandbox is given up"),
    ("cordon", "exit_group", "the sandbox ends, its groups go, audit.log"),
)
# "     1.090 ( 0.012 ms): cordon/19912 socketpair(family: LOCAL, ..."
LINE = re.compile(r"^\s*(\d+\.\d+) \(.*?\): (\S+)/\d+ (\w+)\(")


def spans_of(text):
    """The lengths of all phases of one traced run, or None where a mark is missing."""
    calls = sorted((float(found[1]), found[2], found[3]) for found in map(LINE.match, text.splitlines()) if found)
    spans, last, wanted = [], 0.0, iter(MARKS)
    mark = next(wanted)
    for when, program, call in calls:
        if mark and call == mark[1] and (program == mark[0] or program.startswith(":")):  # its name was not seen
            spans.append(when - last)
            last, mark = when, next(wanted, None)
    return None if mark else spans


def show_phases(programs, times):
    """Where a start goes. Tracing adds a microsecond or two to each call: the proportions are what counts."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-bench-", dir="/var/tmp"))
    (base / "workspace").mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(base), "LANG": "C.UTF-8"}
    # Times count from the first call that is traced: brk is the first of every program.
    calls, trace, found = ",".join(sorted({"brk", *(call for _, call, _ in MARKS)})), base / "trace", []
    try:
        for turn in range(times + 1):
            subprocess.run(["perf", "trace", "-e", calls, "-o", str(trace), "--", str(programs / "cordon"), "run", "--", "true"],
                           cwd=base / "workspace", env=environment, check=True)
            spans = spans_of(trace.read_text(errors="replace"))
            if spans and turn > 0:
                found.append(spans)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    if not found:
        sys.exit("bench launch: no run had all marks")
    print(f"{len(found)} of {times} runs\n  min ms  p50 ms")
    for number, (_, _, words) in enumerate(MARKS):
        column = [spans[number] for spans in found]
        print(f"{min(column):>8.2f}{percentile(column, 0.5):>8.2f}  {words}")


def check(figures):
    """Against promises.toml, by the p50s of this run; true when all hold."""
    top = pathlib.Path(__file__).resolve().parent
    most = tomllib.loads((top / "promises.toml").read_text())["launch"]["one_shot_to_bubblewrap"]["most"]
    held = True
    for key, row in figures.items():
        caller, name, gap = key.split(".")
        beside = figures.get(f"{caller}.bubblewrap.{gap}")
        if name != "cordon_run" or beside is None:
            continue
        ratio = row["p50"] / beside["p50"]
        held = held and ratio <= most
        print(f"{'held' if ratio <= most else 'BROKEN'}: {caller}, {gap}: {ratio:.2f} x bubblewrap, at most {most}")
    return held


def find_programs(given):
    top = pathlib.Path(__file__).resolve().parent.parent
    places = [pathlib.Path(given)] if given else [top / "build/release/bin", top / "build/dev/bin"]
    for place in places:
        if all((place / name).exists() for name in ("cordon", "cordon-launcher", "cordon-init")):
            return place.resolve()
    sys.exit("bench launch: no cordon, cordon-launcher and cordon-init in " + " or ".join(map(str, places)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    parser.add_argument("--phases", action="store_true", help="show where one start goes instead (needs perf, and root)")
    options = parser.parse_args()
    programs = find_programs(options.programs)
    print(f"programs: {programs}")
    if options.phases:
        return show_phases(programs, options.times)
    if not shutil.which("bwrap"):
        print("bubblewrap is not installed: left out")
    print(f"{'caller':<7}{'gap':>6}  {'':<12}{'min ms':>9}{'p50 ms':>9}{'p99 ms':>9}{'x bare':>9}")
    figures = {}
    for uid in ((0, UID) if os.geteuid() == 0 else (os.geteuid(),)):
        base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-bench-", dir="/var/tmp"))
        try:
            base.chmod(0o755)
            (base / "workspace").mkdir()
            if os.geteuid() == 0:
                os.chown(base, uid, uid)
                os.chown(base / "workspace", uid, uid)
            for gap in (0.0, GAP):
                took = as_user(uid, base, arms_for(programs), options.times, gap)
                bare = percentile(took["bare"], 0.5)
                for name, values in took.items():
                    caller = "root" if uid == 0 else "user"
                    row = {"min": min(values), "p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}
                    figures[f"{caller}.{name.replace(' ', '_')}.{'gap' if gap else 'busy'}"] = row
                    print(f"{caller:<7}{gap * 1000:>3.0f} ms  {name:<12}{row['min']:>9.2f}{row['p50']:>9.2f}{row['p99']:>9.2f}"
                          f"{row['p50'] / bare:>9.1f}", flush=True)
        finally:
            shutil.rmtree(base, ignore_errors=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"programs": str(programs), "times": options.times, "figures_ms": figures}, indent=1) + "\n")
    if options.check and not check(figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
