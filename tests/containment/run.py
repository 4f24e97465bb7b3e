#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every row of the containment matrix in every arm, and the counter-arm of each, and prints a table.

    run.py --cordon PROGRAM --probe PROGRAM --mask PROGRAM --work DIRECTORY
           [--row C001] [--group A] [--priority P0] [--arm root-host|node] [--isolation gvisor|microvm] [--list] [--check] [--json FILE] [--counters-only | --no-counters]

Exit: 0 nothing failed and nothing is vacuous; 1 otherwise; 77 where it cannot run at all.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "callers")]
sys.dont_write_bytecode = True     # the sources may lie where nothing is to be left behind

import rows_descriptors   # noqa: F401, E402  (each registers its judges)
import rows_files         # noqa: F401, E402
import rows_launch        # noqa: F401, E402
import rows_limits        # noqa: F401, E402
import rows_process       # noqa: F401, E402
import rows_terminal      # noqa: F401, E402
import verdicts   # noqa: E402
from arms import LAUNCHERS, ROOTS, Arm, answers_of, build_root, show_accounts   # noqa: E402
from counters import Bare   # noqa: E402
from node_arm import NodeArm   # noqa: E402
from records import Expected, judged   # noqa: E402
from verdicts import COUNTERS, FAIL, JUDGES, NOT_APPLICABLE, PASS, SKIP, VACUOUS, Outcome, failed, of_answer, refused   # noqa: E402
from world import World   # noqa: E402

SETTINGS = ("user", "box", "root")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cordon", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--mask", default="mask")
    parser.add_argument("--work", default="build/containment", help="what is kept between runs: the root directory")
    parser.add_argument("--row", action="append", default=[])
    parser.add_argument("--group", action="append", default=[])
    parser.add_argument("--priority", action="append", default=[])
    parser.add_argument("--arm", action="append", default=[])
    parser.add_argument("--isolation", help="behind this wall; what it answers otherwise is in tiers.toml, and a node is not asked")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true", help="only whether rows, acts, judges and counter-arms agree")
    parser.add_argument("--counters-only", action="store_true", help="only the acts without a fence")
    parser.add_argument("--no-counters", action="store_true", help="only the acts behind fences")
    return parser.parse_args()


def chosen(options):
    with open(HERE / "rows.toml", "rb") as file:
        rows = tomllib.load(file)
    unknown = [row for row in options.row if row not in rows]
    if unknown:
        sys.exit(f"containment: no row {' '.join(unknown)}")
    return {row: about for row, about in sorted(rows.items())
            if (not options.row or row in options.row) and (not options.group or about["group"] in options.group)
            and (not options.priority or about["priority"] in options.priority)}


class Table:
    """Prints as it goes, and counts each row once: by its worst arm."""

    def __init__(self, rows):
        self.rows, self.results = rows, []

    def add(self, row, arm, outcome, seconds=0.0, audit="-"):
        self.results.append({"row": row, "priority": self.rows[row]["priority"], "title": self.rows[row]["title"], "arm": arm,
                             "outcome": outcome.word, "audit": audit, "why": outcome.why, "seconds": round(seconds, 3)})
        why = outcome.why.replace("\n", " ")[:150]
        print(f"{row}  {self.rows[row]['priority']}  {arm:<14} {outcome.word:<8} {audit:<10}  {self.rows[row]['title']}: {why}", flush=True)

    def of_row(self, row):
        words = {each["outcome"] for each in self.results if each["row"] == row and each["outcome"] != "counter"}
        for word in (FAIL, VACUOUS, PASS, SKIP, NOT_APPLICABLE):
            if word in words:
                return word
        return None

    def close(self):
        by_arm = collections.defaultdict(collections.Counter)
        for each in self.results:
            by_arm[each["arm"]][each["outcome"]] += 1
        print()
        for arm, counts in by_arm.items():
            print(f"{arm:<14} " + ", ".join(f"{counts[word]} {word}" for word in (PASS, FAIL, SKIP, NOT_APPLICABLE, VACUOUS) if counts[word]))
        judged = [word for word in map(self.of_row, self.rows) if word is not None]
        count = collections.Counter(judged)
        print(f"containment: {len(judged)} rows, {count[PASS]} passed, {count[FAIL]} failed, {count[SKIP]} skipped, "
              f"{count[NOT_APPLICABLE]} n/a, {count[VACUOUS]} vacuous")
        return 0 if count[FAIL] == 0 and count[VACUOUS] == 0 else 1


def run_counters(world, rows, table):
    """Every act that has a counter-arm, without its rule: it must succeed, or its refusal says nothing."""
    bare = Bare(world)
    by_setting = collections.defaultdict(list)
    for row, about in rows.items():
        if about.get("counter") in SETTINGS:
            by_setting[about["counter"]].append(row)
    answers = {}
    for setting, wanted in by_setting.items():
        try:
            answers.update(bare.answers(setting, wanted))
        except subprocess.TimeoutExpired:
            print(f"the counter-arms as {setting} did not end in time")
    for row, about in rows.items():
        if "counter" not in about:
            if "proof" in about:
                table.add(row, "counter", Outcome(PASS, f"proof: {about['proof']}"))
            continue
        if about["counter"] == "host":
            try:
                done, detail = COUNTERS[row](bare)
            except (OSError, subprocess.SubprocessError) as error:
                done, detail = False, f"{type(error).__name__}: {error}"
        else:
            answer = answers.get(row, {"outcome": "none", "detail": "no answer", "checks": []})
            done, detail = answer["outcome"] == "succeeded", answer["detail"]
            open_checks = sum(not check["ok"] for check in answer["checks"])
            detail = f"{open_checks} of {len(answer['checks'])} checks differ: {detail}"
        if done is False and "proof" in about:
            done, detail = True, f"proof: {about['proof']}; {detail}"
        word = SKIP if done is None else PASS if done else VACUOUS
        table.add(row, "counter", Outcome(word, detail))


def starts(arm):
    """None, or why nothing at all can be judged in this arm."""
    if arm.name == "node":
        return None if "C246" in arm.probe("C246").answers() else arm.last.said()
    run = arm.run(["--time", "20s"], ["./probe", "C246"], workspace=arm.workspace())
    return None if "C246" in run.answers() else run.said()


def act_in(arm, row, about):
    """The row's act, judged by what it did and by what was recorded of it."""
    if about["run"] == "batch":
        answer = arm.batch([row]).get(row)
        outcome = of_answer(answer) if answer else failed(f"no answer; {arm.last.said()}")
    elif about["run"] == "host" and arm.name != "node":
        return JUDGES[row](arm)
    else:
        outcome = refused(arm.probe(row), row)
    if outcome.word == VACUOUS and "proof" in about:
        outcome = Outcome(PASS, f"proof: {about['proof']}; {outcome.why}")
    return outcome


def audited(arm, row, expected):
    """What the log holds of the runs since the last row, of those that their report tells of."""
    wanted = expected.of(row, "node" if arm.name == "node" else "local")
    if arm.name != "node" and arm.isolation:
        wanted = set(arm.otherwise.get(row, {}).get("audit", {code for code in wanted if not code.startswith(("CORDON-FS-", "CORDON-SYSCALL"))}))
    sandboxes = [(run.report["id"], run.report.get("denials", [])) for run in arm.runs if run.report and run.report.get("id")]
    return judged(wanted, sandboxes, arm.log())


def run_arm(arm, rows, expected, table):
    applicable = []
    broken = starts(arm)
    for row in rows:
        reason = arm.applies(row)
        if reason is not None:
            table.add(row, arm.name, Outcome(NOT_APPLICABLE, reason))
        elif broken is not None:
            table.add(row, arm.name, failed(f"no sandbox starts: {broken}"))
        else:
            applicable.append(row)
    for row in applicable:
        begin = time.monotonic()
        arm.runs.clear()
        audit = "-"
        try:
            outcome = act_in(arm, row, rows[row])
            if outcome.word == PASS:
                record = audited(arm, row, expected)
                outcome, audit = (outcome, record.why) if record.word == PASS else (record, "-")
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            outcome = failed(f"{type(error).__name__}: {error}")
        table.add(row, arm.name, outcome, time.monotonic() - begin, audit)


def run_node(world, rows, cordon, expected, table):
    """Rows whose act a node can be shown; and that a record which is missing is missed: by a node that loads no program into the kernel."""
    told = {row: about for row, about in rows.items() if expected.of(row, "node") is not None}
    with NodeArm(world, told, cordon) as arm:
        run_arm(arm, told, expected, table)
    row = next((row for row in told if "CORDON-SYSCALL" in expected.of(row, "node")), None)
    if row is None:
        return
    with NodeArm(world, told, cordon, without=["cordon-bpf"]) as arm:
        act_in(arm, row, told[row])
        missed = audited(arm, row, expected).word == FAIL
        table.add(row, "unrecorded", Outcome(PASS if missed else VACUOUS, "a missing record is missed" if missed else "nobody misses a record"))


def inconsistent(rows, probe):
    """What the list of rows, the probe and the judges do not agree on."""
    acts = set(subprocess.run([probe, "--list"], capture_output=True, text=True, check=True).stdout.split())
    wrong = [f"{row} has no act" for row, about in rows.items() if row not in acts and (about["run"] != "host" or about.get("counter") in SETTINGS)]
    wrong += [f"{row} is an act of no row" for row in acts - rows.keys()]
    for row, about in rows.items():
        if about["run"] == "host" and row not in JUDGES:
            wrong.append(f"{row} has no judge")
        if about.get("counter") == "host" and row not in COUNTERS:
            wrong.append(f"{row} has no counter-arm")
        if about["priority"] == "P0" and not about.keys() & {"counter", "proof"}:
            wrong.append(f"{row} is P0 without a counter-arm or a proof")
    for tier, about in tomllib.loads((HERE / "tiers.toml").read_text()).items():
        wrong += [f"{row} of {tier} in tiers.toml is no row" for row in about.keys() - rows.keys()]
    return wrong + Expected().wrong(rows)


def own_copy(program, world):
    """A copy of the program and its siblings, which ordinary users can reach and which no build replaces meanwhile."""
    copies = world.base / "bin"
    copies.mkdir(mode=0o755, exist_ok=True)
    for path in pathlib.Path(program).parent.iterdir():
        if path.is_file() and os.access(path, os.X_OK) and path.name.startswith(("cordon", "mask")):
            shutil.copy(path, copies / path.name)
    return str(copies / pathlib.Path(program).name)


def has_run(cordon):
    done = subprocess.run([cordon, "--help"], capture_output=True, text=True)
    return any(line.split()[:1] == ["run"] for line in done.stdout.splitlines())


def main():
    options = arguments()
    rows = chosen(options)
    if options.list:
        for row, about in rows.items():
            proof = f"{about.get('counter', '-'):<4}  {about.get('proof', '-'):<3}"
            print(f"{row}  {about['priority']}  {about['group']}  {about['run']:<5}  {proof}  {about['title']}")
        return 0
    if options.check:
        wrong = inconsistent(rows, options.probe)
        print("\n".join(wrong) if wrong else f"{len(rows)} rows, each with its act, judge and counter-arm")
        return 1 if wrong else 0
    if os.geteuid() != 0:
        print("skipped: the suite plants canaries and becomes other users, which needs root")
        return 77
    engine = {"gvisor": os.environ.get("CORDON_RUNSC", "/usr/bin/runsc"), "microvm": "/usr/bin/qemu-system-x86_64"}.get(options.isolation)
    if engine and not os.path.exists(engine):
        print(f"skipped: no {engine}")
        return 77
    if not options.counters_only and not has_run(options.cordon):
        print("skipped: this cordon has no `run` yet")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # so that what was planted is taken away
    table, expected = Table(rows), Expected()
    verdicts.differing.update({row: about["differs"] for row, about in answers_of(options.isolation).items() if "differs" in about})
    with World(options.probe, options.work) as world:
        show_accounts(world)
        if not options.no_counters:
            run_counters(world, rows, table)
        cordon, mask = (own_copy(os.path.abspath(program), world) for program in (options.cordon, options.mask))
        names = [] if options.counters_only else [(launcher, root) for launcher in LAUNCHERS for root in ROOTS]
        for launcher, root in names:
            if options.arm and f"{launcher}-{root}" not in options.arm:
                continue
            directory = build_root(world.work) if root == "dir" else None
            with Arm(world, rows, [cordon], launcher, root, directory, options.isolation) as arm:
                arm.mask = mask
                run_arm(arm, rows, expected, table)
        if not options.counters_only and not options.isolation and (not options.arm or "node" in options.arm):
            run_node(world, rows, cordon, expected, table)
    code = table.close()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table.results, indent=1) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
