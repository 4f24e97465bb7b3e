# SPDX-License-Identifier: Apache-2.0
"""The rows of the containment matrix that this suite speaks for: groups J, K and L, and C251; whether each has a check, and each check a
counter-arm that was seen to succeed."""
import inspect

import bypass
import checks_bypass
from checks import CHECKS

NUMBERS = {
    "P0": (*range(134, 152), 157, 158, 159, 162, 321, 325, 164, 165, 166, *range(171, 179)),
    "P1": (*range(152, 157), 160, 161, 163, 322, 323, *range(167, 170), *range(179, 188), 251),
    "P2": (324, 170, 188),
}
ROWS = {f"C{number}": priority for priority, numbers in NUMBERS.items() for number in numbers}
# Rows that no check here speaks for, and why.
ELSEWHERE = {
    "C162": "n/a in tiers N and C: it is about a tap, which the microVM tier alone has",
}
# Rows that one of the callers cannot have.
NOT_FOR = {("C184", "user"): "n/a: without root the broker has the caller's uid, who can read the source of the secret anyway; it is not dumpable"}


def pairs(cases):
    """Cases that do exactly the same."""
    seen = {}
    for case in cases:
        key = repr(sorted((name, value) for name, value in case.items() if name != "id")).replace(case["id"].encode().hex(), "")
        if key in seen:
            yield case, seen[key]
        seen[key] = case


def is_reason(counter):
    return counter is not None and " " in counter


def without_counter():
    """Checks for which, as far as it can be told without running them, nobody shows that the like gets through."""
    for each in CHECKS.values():
        if each.counter is None:
            if "stage.counter" not in inspect.getsource(each.act):
                yield f"{each.name} has no counter-arm"
        elif not is_reason(each.counter) and "bare" not in getattr(CHECKS.get(each.counter), "arms", ()):
            yield f"the counter-arm of {each.name}, {each.counter}, does not run without a sandbox"


def inconsistent():
    """What is wrong with checks, rows and corpus, as far as it can be told without running them; how many cases; how many rows."""
    cases = bypass.cases()
    kinds = {case["cls"] for case in cases}
    wrong = [f"{len(cases)} cases are too few"] if len(cases) < 500 else []
    wrong += [f"two cases are the same: {case['note']}" for case, same in pairs(cases) if case["note"] == same["note"] and case["cls"] == same["cls"]]
    wrong += [f"{kind} has no judge" for kind in kinds - set(checks_bypass.ROWS)]
    wrong += [f"no case of {kind} must arrive without a sandbox" for kind in kinds
              if not any(case["cls"] == kind and case["bare"] == "arrives" for case in cases)]
    spoken = {row for each in CHECKS.values() for row in each.rows}
    wrong += [f"no check speaks for {row}" for row in sorted(set(ROWS) - set(ELSEWHERE) - spoken)]
    wrong += [f"{row} is not in the list of rows" for row in sorted(spoken - set(ROWS))]
    wrong += [f"{row} has a check, and a reason to have none" for row in sorted(spoken & set(ELSEWHERE))]
    return wrong + list(without_counter()), len(cases), len(spoken)


def table():
    """Every row with the number of checks that speak for it, or why there are none."""
    for row, priority in sorted(ROWS.items()):
        mine = [each for each in CHECKS.values() if row in each.rows]
        also = "".join(f"; {arm}: {why}" for (of, arm), why in NOT_FOR.items() if of == row)
        print(f"{row}  {priority}  {f'{len(mine)} checks' if mine else ELSEWHERE[row]}{also}")


def vacuous(results, whole=False):
    """Checks of this run that passed while their counter-arm was not seen to succeed. Where not all had to run, one that did not is none.
    Of those that show it themselves run.py sees to it."""
    for (name, arm), word in sorted(results.items()):
        counter = CHECKS[name].counter
        if word != "pass" or arm == "bare" or counter is None or is_reason(counter):
            continue
        seen = results.get((counter, "bare"), "not run" if whole else "pass")
        if seen != "pass":
            yield f"{name} ({arm}): without a sandbox {counter}: {seen}"


def show(results, whole):
    """Every row with the worst word of its checks. Whether something is wrong: `whole` says that all of them had to run."""
    found = {row: {} for row in ROWS}
    for (name, arm), word in results.items():
        for row in CHECKS[name].rows:
            found[row][name, arm] = word
    empty = list(vacuous(results, whole))
    bad = list(empty)
    passed = {"P0": 0, "P1": 0, "P2": 0}
    for row, priority in sorted(ROWS.items()):
        words = set(found[row].values())
        word = "FAIL" if "FAIL" in words else "pass" if "pass" in words else "skip" if words else "-" if row in ELSEWHERE else "not run"
        passed[priority] += word == "pass"
        about = f"{len(found[row])} checks: {', '.join(sorted({name for name, _ in found[row]})[:4])}" if words else ELSEWHERE.get(row, "")
        also = "".join(f"; {arm} {why}" for (of, arm), why in NOT_FOR.items() if of == row)
        print(f"{row}  {priority}  {word:<7}  {about}{also}")
        if word in ("FAIL", "skip") or (whole and word == "not run"):
            bad.append(f"{row}: {word}")
    for each in CHECKS.values():
        if is_reason(each.counter):
            print(f"without a counter-arm: {each.name}: {each.counter}")
    share = " ".join(f"{priority} {count} of {sum(ROWS[row] == priority and row not in ELSEWHERE for row in ROWS)}" for priority, count in passed.items())
    print(f"egress: {len(ROWS)} rows, {len(ELSEWHERE)} elsewhere or not applicable; passed: {share}; vacuous: {len(empty)}")
    print("\n".join(bad))
    return bool(bad)
