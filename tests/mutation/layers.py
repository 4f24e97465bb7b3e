# SPDX-License-Identifier: Apache-2.0
"""One whole layer off at a time: that it is off, read from outside, and which P0 rows still hold."""
import os
import time

import rows_descriptors
import rows_process
import verdicts
from verdicts import FAIL
from world import end, text

LAYERS = {
    "filter of workloads": "pid 1's own filter, which its children inherit, stays",
    "filter of pid 1": "the filter of workloads stays",
    "seccomp": "no filter at all",
    "landlock": "no ruleset",
    "user-namespace": "the ids of the range, without a namespace of their own",
    "mounts": "no mount is read-only",
    "cgroup": "no control group is entered",
}
WANTED = 90     # per cent


def look(arm):
    """What the kernel tells of a running sandbox."""
    tag = f"look-{arm.name}-{arm.count}"
    child, _ = arm.start(["--time", "30s"], ["./probe", "C117", "--hold", "10", "--tag", tag], arm.workspace())
    try:
        until, inside = time.monotonic() + 15, []
        while not inside and time.monotonic() < until:
            time.sleep(0.2)
            inside = [pid for pid in rows_process.processes_with(tag) if text(f"/proc/{pid}/comm").startswith("probe")]
        first = [pid for pid in rows_descriptors.descendants(child.pid) if status(pid, "NSpid")[1:] == ["1"]]
        if not inside or not first:
            return None
        workload = inside[0]
        mounts = [line.split()[5].split(",") for line in text(f"/proc/{workload}/mountinfo").splitlines()]
        return {"filters": status(workload, "Seccomp_filters")[0], "filters of pid 1": status(first[0], "Seccomp_filters")[0],
                "user namespace": os.readlink(f"/proc/{workload}/ns/user") != os.readlink("/proc/self/ns/user"),
                "read-only mounts": sum("ro" in options for options in mounts),
                "groups": sum("/cordon-" in line for line in text(f"/proc/{workload}/cgroup").splitlines())}
    finally:
        end(child)


def status(pid, key):
    return next((line.split()[1:] for line in text(f"/proc/{pid}/status").splitlines() if line.startswith(key + ":")), [])


AS_BUILT = {"filters": "2", "filters of pid 1": "1", "user namespace": True}
OFF = {
    "filter of workloads": {"filters": "1"},
    "filter of pid 1": {"filters": "1", "filters of pid 1": "0"},
    "seccomp": {"filters": "0", "filters of pid 1": "0"},
    "user-namespace": {"user namespace": False},
    "mounts": {"read-only mounts": 0},
    "cgroup": {"groups": 0},
}


def is_off(layer, judge, mutants):
    """None, or why it is not shown that exactly this layer is off. A ruleset is not to be read: so by a row that it alone holds."""
    if layer == "landlock":
        answers = []
        for names in ("layer:mounts", "layer:mounts|layer:landlock"):
            mutants.choose(names)
            judge.arm.grant()
            answers.append(judge.outcomes(["C025"])["C025"])
        judge.arm.grant()
        return None if answers[0].word != FAIL and answers[1].word == FAIL else f"C025 says {answers[0].word}, then {answers[1].word}: {answers[1].why}"
    mutants.choose(f"layer:{layer}")
    seen = look(judge.arm)
    if seen is None:
        return "no sandbox starts"
    wanted = {**AS_BUILT, **OFF[layer]}
    wrong = {key: seen[key] for key, value in wanted.items() if seen[key] != value}
    return f"{wrong}" if wrong else None


def run_layers(judge, mutants, say, only=()):
    p0 = [row for row, about in judge.rows.items() if about["priority"] == "P0" and judge.arm.applies(row) is None]
    mutants.choose("")
    seen = look(judge.arm)
    wrong = {key: value for key, value in AS_BUILT.items() if not seen or seen[key] != value}
    assert seen and not wrong and seen["read-only mounts"] > 5 and seen["groups"] > 0, f"as built: {seen}"
    say(f"as built: {seen}")
    for row, outcome in judge.learn(p0).items():
        say(f"as built: {row} {outcome.word}: {outcome.why[:120]}")
    rows = [row for row in p0 if row in judge.passing]
    results, good = {}, True
    for layer, what in LAYERS.items():
        if only and layer not in only:
            continue
        not_off = is_off(layer, judge, mutants)
        if not_off is not None:
            say(f"{layer:<20} is not off: {not_off}")
            good = False
            continue
        mutants.choose(f"layer:{layer}")
        judge.arm.grant()
        kept, judge.passing = judge.passing, None      # no early end
        verdicts.layer_is_off = True
        try:
            found = judge.outcomes(rows)
        finally:
            verdicts.layer_is_off = False
            judge.passing = kept
        lost = [row for row in rows if found[row].word == FAIL]
        unasked = [row for row in lost if found[row].why.startswith("no answer")]
        share = 100 * (len(rows) - len(lost)) / len(rows)
        good = good and share >= WANTED
        results[layer] = {"held": len(rows) - len(lost), "of": len(rows), "lost": lost, "without an answer": unasked}
        say(f"{layer:<20} {len(rows) - len(lost)} of {len(rows)} P0 rows hold, {share:.1f} %, {len(unasked)} without an answer   ({what})")
        for row in lost:
            say(f"    {row}  {judge.rows[row]['title']}: {found[row].why[:110]}")
    return results, good
