# SPDX-License-Identifier: Apache-2.0
"""What becomes of a mutant that no row kills: the fence before it is taken off too, or the two sandboxes are shown to be equal."""
import re

import verdicts
from verdicts import FAIL, JUDGES, failed, of_answer

POLICY = 'version = 1\n[filesystem]\nhide = ["**/*.pem"]\nprotect = [".git/hooks"]\n'
KINDS = (["--live"], ["--review"])
OPEN = "layer:mounts|layer:seccomp"     # without what is asked before Landlock is

# Elements that stand behind another fence, by name: what is taken off, or let in by mistake, so that they show; the row that sees
# them then; and whether it is told of a tree that no rule names.
BEHIND = (
    (re.compile(r"landlock:fs:0x(4|8|8000)$"), f"{OPEN}|leak:tree", "C025", True),
    (re.compile(r"landlock:fs:0x(40|800)$"), OPEN, "C014", False),
    (re.compile(r"landlock:scope:0x1$"), "layer:mounts|step:network", "C222", False),
    (re.compile(r"step:close descriptors$"), "leak:descriptor", "C109", False),
)
# What the facts can tell of. Of any other element they say nothing, and it counts as survived.
TOLD = re.compile(r"mount:(ro|nosuid|nodev|noexec|nosymfollow):")


def some_workspace(arm):
    """With a name to hide and one to protect."""
    here = arm.workspace()
    (here / "hidden.pem").write_text("x")
    (here / ".git/hooks").mkdir(parents=True)
    return here


def asked(judge, row, stray):
    """The row's outcome, and where the probe alone judges what each of its checks said."""
    verdicts.layer_is_off = True
    try:
        judge.arm.grant()
        if judge.rows[row]["run"] != "batch":
            return JUDGES[row](judge.arm), {}
        answer = judge.arm.batch([row], words=["--stray", str(judge.arm.world.outside)] if stray else ()).get(row)
        if answer is None:
            return failed(f"no answer; {judge.arm.last.said()}"), {}
        return of_answer(answer), {check["name"]: check["errno"] for check in answer["checks"]}
    finally:
        verdicts.layer_is_off = False


def behind(judge, mutants, name):
    """The row that sees the element missing once the fence before it is off, and how; empty where none does."""
    for pattern, base, row, stray in BEHIND:
        if not pattern.match(name):
            continue
        mutants.choose(base)
        before, said = asked(judge, row, stray)
        mutants.choose(f"{base}|{name}")
        after, says = asked(judge, row, stray)
        if before.word == FAIL:
            return []       # the row tells nothing here
        if after.word == FAIL:
            return [(row, f"{after.why}, beside {base}")]
        other = [f"{check}: {seen} instead of {said[check]}" for check, seen in says.items() if said.get(check, seen) != seen]
        if other:
            return [(row, f"{other[0]}, beside {base}")]
    return []


def facts(arm, here):
    """All that can be told of the fences from inside, in a sandbox of each kind."""
    told = []
    for flags in KINDS:
        run = arm.run([*flags, "--allow-read", str(arm.world.outside), "--allow-read", str(arm.granted), "--time", "60s"], ["./probe", "--facts"],
                      workspace=here, policy=POLICY, timeout=90)
        lines = [line for line in run.out.splitlines() if line.startswith("fact ")]
        if run.report:
            arm.verb("discard", run.report.get("id", "-"))
        if len(lines) < 20:
            return None, run.said()
        told += [f"{flags[0]} {line}" for line in lines]
    return told, ""


class Equal:
    """Measures whether a sandbox is the same without an element: its mounts, flag by flag, and what opening every file answers."""

    def __init__(self, judges, mutants):
        self.judges, self.mutants, self.known = judges, mutants, {}

    def as_it_is(self, judge):
        """Twice, so that what differs by itself is no fact."""
        key = judge.arm.name
        if key not in self.known:
            self.mutants.choose("")
            here = some_workspace(judge.arm)
            first, why = facts(judge.arm, here)
            again, _ = facts(judge.arm, here)
            assert first is not None and first == again, why or sorted(set(first) ^ set(again or []))[:4]
            self.known[key] = here, first
        return self.known[key]

    def measure(self, name):
        """How many facts are the same in every arm; None where one is not, or where they do not tell."""
        if not TOLD.match(name):
            return None, "no fact tells of it"
        same = 0
        for judge in self.judges:
            here, first = self.as_it_is(judge)
            self.mutants.choose(name)
            now, why = facts(judge.arm, here)
            if now != first:
                return None, why or "; ".join(sorted(set(now) ^ set(first))[:4])
            same += len(now)
        return same, ""
