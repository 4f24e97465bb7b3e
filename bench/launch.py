#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox costs: one-shot `cordon run -- true` beside a bare spawn and bubblewrap, in turns, back to back and with idle gaps."""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

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
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml, which has none for this yet")
    options = parser.parse_args()
    programs = find_programs(options.programs)
    print(f"programs: {programs}")
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


if __name__ == "__main__":
    main()
