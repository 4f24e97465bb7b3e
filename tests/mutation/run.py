#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes one fence element out of the sandbox at a time and runs rows of the containment matrix until one fails.

    run.py --bin DIRECTORY --mutants DIRECTORY --filters PROGRAM --work DIRECTORY
           [--kind mount] [--mutant NAME] [--list] [--layers] [--json FILE]

--layers: one whole layer off at a time, and which P0 rows still hold.
Exit: 0 every mutant was killed, or is equal by measurement (or, with --layers, at least 90 % of P0 rows hold with any one layer
off); 1 otherwise; 77 cannot run.
"""
import argparse
import collections
import errno
import json
import mmap
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
CONTAINMENT = HERE.parent / "containment"
sys.path[:0] = [str(CONTAINMENT), str(HERE.parent / "callers")]
sys.dont_write_bytecode = True

import rows_descriptors   # noqa: F401, E402
import rows_files         # noqa: F401, E402
import rows_launch        # noqa: F401, E402
import rows_limits        # noqa: F401, E402
import rows_process       # noqa: F401, E402
import rows_terminal      # noqa: F401, E402
from arms import Arm, show_accounts   # noqa: E402
from equal import KINDS as SANDBOXES, POLICY, Equal, behind, some_workspace   # noqa: E402
from layers import run_layers   # noqa: E402
from mark import place_of, written   # noqa: E402
from verdicts import FAIL, JUDGES, PASS, VACUOUS, failed, of_answer, refused   # noqa: E402
from world import World   # noqa: E402

# Which rows are asked first: those that were written against such an element. Then all that one sandbox can judge.
FIRST = {
    "filter": ["C106"],
    "mount": ["C057", "C230"],
    "mask": ["C046"],
    "landlock": ["C025", "C027", "C051", "C222"],
    "capability": ["C077"], "bounding": ["C077"],
    "namespace-limit": ["C069", "C063"],
    "limit": ["C023", "C121"],
    "step": ["C077", "C027", "C080", "C074", "C107", "C112"],
}
# Host rows that see more than a batch can: asked when a batch has found nothing.
HOST_ROWS = {
    "filter": [], "mount": ["C002", "C008", "C009", "C011", "C021"], "mask": ["C008", "C009", "C011"], "landlock": ["C026", "C002"],
    "limit": ["C114", "C118", "C121"], "step": ["C026", "C033", "C034", "C035", "C107", "C108", "C109", "C112", "C113", "C080"],
}


# So many of each the programs have at least: with fewer the list was not told, and nothing of the rest was tried.
LEAST = {"filter": 340, "mount": 90, "mask": 20, "landlock": 18, "capability": 38, "bounding": 38, "namespace-limit": 8, "limit": 4, "step": 9}


class Mutants:
    """Copies of the programs in one directory; the element that they lack is written into the files."""

    def __init__(self, options, world):
        self.place = world.base / "mutant"
        self.place.mkdir(mode=0o755)
        for path in pathlib.Path(options.bin).iterdir():
            if path.is_file() and os.access(path, os.X_OK) and path.name.startswith(("cordon", "mask")):
                shutil.copy(path, self.place / path.name)
        for name in ("launcher", "init"):
            target = self.place / f"cordon-{name}"
            shutil.copy(pathlib.Path(options.mutants) / f"cordon-{name}-mutant", target)
            subprocess.run(["strip", str(target)], check=True)
        self.cordon = str(self.place / "cordon")
        self.places = {}

    def choose(self, name):
        chosen = written(name)
        for program in ("cordon-launcher", "cordon-init"):
            with writable(self.place / program) as file, mmap.mmap(file.fileno(), 0) as text:
                at = self.places.get(program) or place_of(text)
                self.places[program] = at
                text[at:at + len(chosen)] = chosen


def writable(path):
    """A program that was ended may take a moment to be gone."""
    until = time.monotonic() + 20
    while True:
        try:
            return open(path, "r+b")
        except OSError as error:
            if error.errno != errno.ETXTBSY or time.monotonic() > until:
                raise
            time.sleep(0.1)


def all_rows():
    with open(CONTAINMENT / "rows.toml", "rb") as file:
        return tomllib.load(file)


def discover(arm, mutants, options):
    """The names of all elements: told by the programs themselves while they build sandboxes of several kinds."""
    mutants.choose("list")
    here = some_workspace(arm)
    for flags in SANDBOXES:
        run = arm.run([*flags, "--allow-read", str(arm.world.outside), "--time", "20s"], ["./probe", "C246"], workspace=here, policy=POLICY)
        if run.report:
            arm.verb("discard", run.report.get("id", "-"))
    told = (mutants.place / "told").read_text().splitlines()
    filters = subprocess.run([options.filters, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    # What cordon-init asks has no stream to tell it on.
    inner = [f"landlock:fs:{1 << bit:#x}" for bit in range(16)] + [f"landlock:scope:{1 << bit:#x}" for bit in range(2)]
    inner += [f"limit:{kind}" for kind in options.limits] + ["step:second capset", "step:not_dumpable"]
    names = list(dict.fromkeys([*told, *inner, *(f"filter:{name}" for name in filters)]))
    found = collections.Counter(name.split(":", 1)[0] for name in names)
    fewer = {kind: found[kind] for kind, least in LEAST.items() if found[kind] < least}
    assert not fewer, f"fewer mutants than there are: {fewer}"
    return names


class Judge:
    def __init__(self, arm, rows):
        self.arm, self.rows, self.passing, self.compat_passes = arm, rows, None, False

    def batch_rows(self):
        return [row for row, about in self.rows.items() if about["run"] == "batch" and self.arm.applies(row) is None]

    def outcomes(self, rows):
        """By row: what each gives with the programs as they are now."""
        found = {}
        together = [row for row in rows if self.rows[row]["run"] == "batch"]
        if together:
            answers = self.arm.batch(together)
            for row in together:
                found[row] = of_answer(answers[row]) if row in answers else failed(f"no answer; {self.arm.last.said()}")
        for row in rows:
            if row in together:
                continue
            try:
                found[row] = JUDGES[row](self.arm) if self.rows[row]["run"] == "host" else refused(self.arm.probe(row), row)
            except (OSError, subprocess.SubprocessError, ValueError, AssertionError) as error:
                found[row] = failed(f"{type(error).__name__}: {error}")
            if found[row].word == FAIL and self.passing is not None:
                break
        return found

    def learn(self, wanted):
        """Which rows hold without a mutant: only they can tell of one."""
        self.passing = None
        found = self.outcomes(wanted)
        self.passing = {row for row, outcome in found.items() if outcome.word in (PASS, VACUOUS)}
        return {row: outcome for row, outcome in found.items() if row not in self.passing}

    def killers(self, rows):
        rows = [row for row in dict.fromkeys(rows) if row in self.passing and self.arm.applies(row) is None]
        return [(row, outcome.why) for row, outcome in self.outcomes(rows).items() if outcome.word == FAIL] if rows else []

    def kill(self, mutant):
        kind = mutant.split(":", 1)[0]
        first = FIRST.get(kind, [])
        stages = [[row for row in first if row in self.rows], self.batch_rows(), [row for row in HOST_ROWS.get(kind, []) if row in self.rows]]
        if kind == "filter":
            return self.killers(stages[0]) or (self.kill_compat() if self.compat_passes else []) or self.killers(stages[1])
        for stage in stages[:2]:
            found = self.killers(stage)
            if found:
                return found
        # These look at the host, where others may be at work: it counts what they see twice.
        found = self.killers(stages[2])
        return self.killers([row for row, _ in found]) if found else []

    def kill_compat(self):
        """What only the wider filter has."""
        answers = self.arm.batch(["C106"], flags=["--profile", "compat"], words=["--profile", "compat+nosetid"])
        outcome = of_answer(answers["C106"]) if "C106" in answers else failed(f"no answer; {self.arm.last.said()}")
        return [("C106", f"compat: {outcome.why}")] if outcome.word == FAIL else []

    def learn_compat(self):
        self.compat_passes = not self.kill_compat()


def say(text):
    print(text, flush=True)


def run_mutants(judges, mutants, names, unproved, base):
    counts = collections.defaultdict(collections.Counter)
    results, equal = [], Equal(judges, mutants)
    for name in names:
        kind = name.split(":", 1)[0]
        mutants.choose(f"{base}|{name}" if base else name)
        begin = time.monotonic()
        killers, where = [], ""
        for judge in judges[:1] if kind == "filter" else judges:
            judge.arm.grant()       # the mutant before may have been let in
            killers, where = judge.kill(name), judge.arm.name
            if killers:
                break
        # Rows C101, C102 and C106 have the program itself as their proof: all filters, also those that no row can load.
        proved = kind == "filter" and not killers and name.removeprefix("filter:") not in unproved
        note = ""
        if not killers and not proved:
            killers, where = behind(judges[0], mutants, name), judges[0].arm.name
        if not killers and not proved:
            same, note = equal.measure(name)
            note = f"{same} facts are the same" if same else f"not equal: {note}"
        word = "killed" if killers else "proved" if proved else "equal" if note.endswith("facts are the same") else "SURVIVED"
        counts[kind][word] += 1
        results.append({"mutant": name, "outcome": word, "rows": [row for row, _ in killers], "arm": where})
        by = f"{where} {' '.join(row for row, _ in killers[:6])}: {killers[0][1][:90]}" if killers else note[:200]
        say(f"{word:<8} {time.monotonic() - begin:5.1f} s  {name}  {by}")
    say("")
    for kind, count in counts.items():
        say(f"{kind:<16} {count['killed']} killed, {count['proved']} killed in the BPF machine alone, {count['equal']} equal, {count['SURVIVED']} survived")
    total = sum(counts.values(), collections.Counter())
    survived = total["SURVIVED"]
    say(f"mutation: {len(results)} mutants, {total['killed']} killed by a row, {total['proved']} in the BPF machine alone, {total['equal']} equal by measurement, {survived} survived")
    return results, survived == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the shipped programs, the probe and the mask")
    parser.add_argument("--mutants", required=True)
    parser.add_argument("--filters", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--mutant", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--layer", action="append", default=[], help="with --layers: only this one")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.limits = (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
    if os.geteuid() != 0:
        print("skipped: needs root, as the containment suite does")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    rows = dict(sorted(all_rows().items()))
    with World(pathlib.Path(options.bin) / "probe", options.work) as world:
        show_accounts(world)
        mutants = Mutants(options, world)
        with Arm(world, rows, [mutants.cordon], "root", "host", None) as root, Arm(world, rows, [mutants.cordon], "bare", "host", None) as bare:
            for arm in (root, bare):
                arm.mask = str(mutants.place / "mask")
            if options.layers:
                results, good = run_layers(Judge(root, rows), mutants, say, options.layer)
            else:
                names = discover(root, mutants, options)
                names = [name for name in names if (not options.kind or name.split(":", 1)[0] in options.kind) and (not options.mutant or name in options.mutant)]
                if options.list:
                    print("\n".join(names))
                    return 0
                mutants.choose("")
                judges = [Judge(arm, rows) for arm in (root, bare)]
                kinds = {name.split(":", 1)[0] for name in names}
                wanted = {row for kind in kinds for row in (*FIRST.get(kind, []), *HOST_ROWS.get(kind, [])) if row in rows}
                # Landlock shows where mounts do not hold first: its mutants are compared with a sandbox without read-only mounts.
                parts = [("", [name for name in names if not name.startswith("landlock:")]), ("layer:mounts", [name for name in names if name.startswith("landlock:")])]
                golden = HERE.parent / "filter/golden/sweep.txt"
                machine = subprocess.run([options.filters, str(golden)], capture_output=True, text=True) if any(name.startswith("filter:") for name in names) else None
                unproved = {line.removeprefix("survived: ") for line in machine.stdout.splitlines()} if machine else set()
                results, good = [], True
                for base, part in parts:
                    if not part:
                        continue
                    mutants.choose(base)
                    for judge in judges:
                        judge.arm.grant()
                        asked = [row for row in rows if (row in wanted or rows[row]["run"] == "batch") and judge.arm.applies(row) is None]
                        for row, outcome in judge.learn(asked).items():
                            say(f"as {base or 'built'}, {judge.arm.name}: {row} {outcome.word}: {outcome.why[:120]}")
                    judges[0].learn_compat()
                    more, fine = run_mutants(judges, mutants, part, unproved, base)
                    results, good = results + more, good and fine
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
