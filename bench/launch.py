#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox costs, beside a bare spawn and other sandboxes, in turns, back to back and with idle gaps: one-shot by
`cordon run -- true`, and as root through a launcher that runs as a service, with all pools and without."""
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.dont_write_bytecode = True

from peers import bubblewrap, peers   # noqa: E402
from places import callers, find_programs, percentile, promises   # noqa: E402
from plot import spreads   # noqa: E402
from service import Place, Service   # noqa: E402

GAP = 0.030         # an idle processor is slower to begin
GAPS = (0.0, 0.030, 0.100)
AHEAD = 8


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
        if shutil.which("bwrap"):
            arms.append(Arm("bubblewrap", [str(word) for word in bubblewrap(None)], base))
        arms.append(Arm("cordon run", [str(programs / "cordon"), "run", "--", "true"], base))
        return arms
    return make


# Where one phase ends and the next begins: the first such call of such a program after the mark before it, and what lay before.
MARKS = (
    ("cordon", "socketpair", "cordon is loaded, reads arguments and the host's facts, starts the launcher"),
    ("cordon", "eventfd2", "policy, plan, audit log"),
    ("cordon-launche", "clone", "the launcher gets ready and judges the plan"),
    ("cordon-launche", "setns", "ids, sources, groups; the child is cloned and enters its groups"),
    ("cordon-launche", "pivot_root", "file tree"),
    ("cordon-launche", "seccomp", "the old tree goes, the rest of the first descent"),
    ("memfd:cordon-i", "landlock_restrict_self", "cordon-init starts, its spawner descends"),
    ("true", "exit_group", "filter, start request, the command"),
    ("cordon-launche", "pidfd_send_signal", "its end is told, the sandbox is given up"),
    ("cordon", "exit_group", "the sandbox ends, its groups go, audit log"),
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


def spread(values):
    return {"min": min(values), "p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}


def show(caller, gap, name, row, bare):
    print(f"{caller:<8}{gap * 1000:>4.0f} ms  {name:<20}{row['min']:>9.2f}{row['p50']:>9.2f}{row['p99']:>9.2f}{row['p50'] / bare:>9.1f}", flush=True)


def measure_service(programs, times, seconds):
    """As root, through a resident launcher: figures in milliseconds, and creations a second."""
    figures, true = {}, "/usr/bin/true"
    with Place() as place, Service(place, programs, "pooled", AHEAD) as pooled, Service(place, programs, "fresh", 0) as fresh:
        arms = {"bare": lambda: pooled.order("spawn", true)}
        for name, words in peers(place).items():
            arms[name] = lambda words=words: pooled.order("spawn", *words)
        arms["cordon, no pools"] = lambda: fresh.order("cold", true)
        arms["cordon, pools"] = lambda: pooled.order("cold", true)
        arms["cordon, exec"] = lambda: pooled.order("exec", true)
        pooled.order("create", 1)
        for gap in GAPS:
            took = {name: [] for name in arms}
            for turn in range(1 + (times if gap == 0 else max(times // 4, 20))):
                for name, once in arms.items():
                    time.sleep(gap)
                    one = once() / 1000
                    if turn > 0:
                        took[name].append(one)
            for name, values in took.items():
                figures[f"service.{name}.{gap * 1000:.0f}"] = row = spread(values)
                show("service", gap, name, row, percentile(took["bare"], 0.5))
        pooled.order("destroy")
        rates = {width: pooled.order("rate", int(seconds * 1000), width) for width in (1, 2, 4, 8)}
    for width, rate in rates.items():
        print(f"service  {rate:8.0f} sandboxes a second to their ends, {width} at a time, over {seconds:g} s", flush=True)
    return figures, max(rates.values())


def check(figures, rate):
    """Against promises.toml, by the p50s of this run; true when all hold."""
    held, promised = True, promises("launch")

    def hold(what, value, name):
        nonlocal held
        promise = promised[name]
        kept = value <= promise["most"] if "most" in promise else value >= promise["least"]
        held = held and kept
        bound = f"at most {promise['most']}" if "most" in promise else f"at least {promise['least']}"
        print(f"{'held' if kept else 'BROKEN'}: {what}: {value:.2f}, {bound}")

    for key, row in figures.items():
        caller, name, gap = key.split(".")
        beside = {other: figures.get(f"{caller}.{other}.{gap}") for other in ("bare", "bubblewrap")}
        if name == "cordon run" and beside["bubblewrap"]:
            hold(f"{caller}, {gap} ms: one-shot to bubblewrap", row["p50"] / beside["bubblewrap"]["p50"], "one_shot_to_bubblewrap")
        if name == "cordon, pools":
            hold(f"{caller}, {gap} ms: cold with pools to bare", row["p50"] / beside["bare"]["p50"], "cold_to_bare")
            if beside["bubblewrap"]:
                hold(f"{caller}, {gap} ms: bubblewrap to cold with pools", beside["bubblewrap"]["p50"] / row["p50"], "bubblewrap_to_cold")
        if name == "cordon, exec":
            hold(f"{caller}, {gap} ms: exec in a living sandbox to bare", row["p50"] / beside["bare"]["p50"], "exec_to_bare")
    if rate is not None:
        hold("sandboxes a second", rate, "creations_per_second")
    return held


def draw(directory, figures):
    """One picture for each caller and gap."""
    kinds = {}
    for key, row in figures.items():
        caller, name, gap = key.split(".")
        kinds.setdefault((caller, gap), {})[name] = row
    for (caller, gap), rows in kinds.items():
        words = {"root": "one-shot, as root", "user": "one-shot, as a user", "service": "through a resident launcher"}[caller]
        title = f"true in a sandbox, {words}, " + ("back to back" if gap == "0" else f"after {gap} ms of quiet")
        (directory / f"launch-{caller}-{gap}.svg").write_text(spreads(title, rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10, help="of each count of creations a second")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--plots", help="draw the figures into this directory")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    parser.add_argument("--phases", action="store_true", help="show where one start goes instead (needs perf, and root)")
    options = parser.parse_args()
    programs = find_programs("launch", options.programs)
    print(f"programs: {programs}")
    if options.phases:
        return show_phases(programs, options.times)
    if not shutil.which("bwrap"):
        print("bubblewrap is not installed: left out")
    print(f"{'caller':<8}{'gap':>7}  {'':<20}{'min ms':>9}{'p50 ms':>9}{'p99 ms':>9}{'x bare':>9}")
    figures, rate = {}, None
    for uid in callers():
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
                    figures[f"{caller}.{name}.{gap * 1000:.0f}"] = row = spread(values)
                    show(caller, gap, name, row, bare)
        finally:
            shutil.rmtree(base, ignore_errors=True)
    if os.geteuid() == 0:
        service, rate = measure_service(programs, options.times, options.seconds)
        figures.update(service)
    else:
        print("not root: no service")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"times": options.times, "figures_ms": figures, "creations_per_second": rate}, indent=1) + "\n")
    if options.plots:
        draw(pathlib.Path(options.plots), figures)
    if options.check and not check(figures, rate):
        sys.exit(1)


if __name__ == "__main__":
    main()
