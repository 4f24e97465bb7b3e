#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs cost inside: compiler, git, Python, npm, file walks, in a sandbox that lives, beside the same bare, in turns."""
import argparse
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "harness"))
sys.dont_write_bytecode = True

from places import callers, find_programs, own_directory, percentile, promises  # noqa: E402
from programs import all_programs, make_tree  # noqa: E402

TURNS = pathlib.Path(__file__).resolve().parent / "harness/turns.py"
LEAST = 8       # turns, however long they take
# Bare twice: how far two of the same are apart is what the machine's noise makes of no difference at all.
SIDES = {"bare": None, "bare again": None, "live": [], "review": ["--review"]}


class Side:
    """One driver that lives: bare or in a sandbox. Each has a tree of its own, because git keeps owners and inodes in its index."""

    def __init__(self, name, flags, programs, base, template, uid):
        self.name, top = name, base / name.replace(" ", "-")
        subprocess.run(["cp", "-a", str(template), str(top)], check=True)
        words = ["/usr/bin/python3", "./turns.py"]
        if flags is not None:
            words = [str(programs / "cordon"), "run", "--quiet", *flags, "--", *words]
        become = {"user": uid, "group": uid, "extra_groups": []} if os.geteuid() == 0 and uid else {}
        # Each in a session of its own, as a sandbox is: the scheduler shares out by sessions.
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=top, text=True, start_new_session=True,
                                      env={"PATH": "/usr/bin:/bin", "HOME": str(base), "LANG": "C.UTF-8"}, **become)

    def ask(self, told):
        try:
            self.child.stdin.write(json.dumps(told) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.child.stdout.readline()
        if not line:
            sys.exit(f"bench running: {self.name} ended with {self.child.wait()}")
        return json.loads(line)

    def run(self, program):
        took = self.ask({"words": program.words, "in": program.directory})
        if took["code"] not in (0, 1) or (took["code"] == 1 and "grep" not in program.name):
            sys.exit(f"bench running: {program.name}, {self.name}: code {took['code']}: {took['said']}")
        return took

    def end(self):
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()


def ratio_of(samples, beside):
    """The median of the ratios turn by turn, and between which bounds it lies with 95 %."""
    ratios = sorted(one / other for one, other in zip(samples, beside))
    half = 0.98 * math.sqrt(len(ratios))
    low, high = max(0, math.floor(len(ratios) / 2 - half)), min(len(ratios) - 1, math.ceil(len(ratios) / 2 + half))
    return {"ratio": percentile(ratios, 0.5), "low": ratios[low], "high": ratios[high]}


def measure(program, sides, seconds):
    """In turns, and each turn begins with another side. The first two are not counted: caches are cold, and git writes its index."""
    took, turn, end = {side.name: [] for side in sides}, 0, time.monotonic() + seconds
    while turn < 2 + LEAST or time.monotonic() < end:
        first = turn % len(sides)
        for side in (*sides[first:], *sides[:first]):
            one = side.run(program)
            if turn >= 2:
                took[side.name].append(one)
        turn += 1
    figures = {}
    for name, samples in took.items():
        row = figures[name] = {"turns": len(samples)}
        for kind in ("wall", "cpu"):
            values = [one[kind] for one in samples]
            # Bare again is held beside bare, all others beside the middle of the two.
            beside = [one[kind] if name.startswith("bare") else (one[kind] + other[kind]) / 2
                      for one, other in zip(took["bare"], took["bare again"])]
            row[kind] = {"min": min(values), "p50": percentile(values, 0.5), "p99": percentile(values, 0.99), **ratio_of(values, beside)}
    return figures


def as_caller(uid, programs, options):
    figures = {}
    with own_directory(uid) as base:
        template = base / "template"
        make_tree(template)
        shutil.copy(TURNS, template / "turns.py")
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{uid}:{uid}", str(template)], check=True)
        sides = [Side(name, flags, programs, base, template, uid) for name, flags in SIDES.items()]
        try:
            # Where no control group shares the processors out, sandboxes are nice: so is what stands beside them.
            nice = max(side.ask({"nice": 0})["nice"] for side in sides)
            for side in sides:
                side.ask({"nice": nice})
            for program in all_programs():
                if options.program and not program.name.startswith(tuple(options.program)):
                    continue
                figures[program.name] = measure(program, sides, options.seconds)
                show("root" if uid == 0 else "user", program.name, figures[program.name])
        finally:
            for side in sides:
                side.end()
    return figures


def show(caller, program, rows):
    for name, row in rows.items():
        wall, cpu = row["wall"], row["cpu"]
        print(f"{caller:<6}{program:<18}{name:<12}{row['turns']:>5}{wall['min']:>9.1f}{wall['p50']:>9.1f}{wall['p99']:>9.1f}"
              f"{wall['ratio']:>8.3f} [{wall['low']:.3f} {wall['high']:.3f}]{cpu['ratio']:>9.3f} [{cpu['low']:.3f} {cpu['high']:.3f}]", flush=True)


def check(figures):
    """Against promises.toml; true when all hold. Up to `noise` counts as held where the spread says that it may be below."""
    promise = promises("running")["live_to_bare"]
    held = bool(figures)
    for key, rows in figures.items():
        for kind, words in (("wall", "time"), ("cpu", "processor time")):
            found = rows["live"][kind]
            kept = found["ratio"] <= promise["most"]
            noise = not kept and found["ratio"] <= promise["noise"] and found["low"] <= promise["most"]
            held = held and (kept or noise)
            print(f"{'held' if kept else 'noise' if noise else 'BROKEN'}: {key}, {words}: {found['ratio']:.3f} x bare, at most {promise['most']}")
    return held


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--seconds", type=float, default=40, help="of each program, as each caller, in all turns")
    parser.add_argument("--program", action="append", help="only programs whose name begins so; several times for several")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # so that sandboxes end and directories go
    programs = find_programs("running", options.programs)
    print(f"programs: {programs}\n{'caller':<6}{'program':<18}{'':<12}{'turns':>5}{'min ms':>9}{'p50 ms':>9}{'p99 ms':>9}{'x bare':>8} {'95 %':<13}"
          f"{'cpu x':>9} 95 %")
    figures = {}
    for uid in callers():
        caller = "root" if uid == 0 else "user"
        figures |= {f"{caller}, {name}": rows for name, rows in as_caller(uid, programs, options).items()}
    if options.json:
        text = json.dumps({"programs": str(programs), "seconds": options.seconds, "figures_ms": figures}, indent=1)
        pathlib.Path(options.json).write_text(text + "\n")
    if options.check and not check(figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
