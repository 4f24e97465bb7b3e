# SPDX-License-Identifier: Apache-2.0
"""What a row's judge answers, and where the judges of rows_*.py are registered."""
import re
from dataclasses import dataclass

PASS, FAIL, SKIP, NOT_APPLICABLE, VACUOUS = "pass", "FAIL", "skip", "n/a", "VACUOUS"


@dataclass(frozen=True)
class Outcome:
    word: str
    why: str


def passed(why=""):
    return Outcome(PASS, why)


def failed(why):
    return Outcome(FAIL, why)


def skipped(why):
    return Outcome(SKIP, why)


def held(ok, why):
    return passed(why) if ok else failed(why)


def refused(run, row):
    """By the probe's own answer."""
    answer = run.answers().get(row)
    if answer is None:
        return failed(f"no answer; {run.said()}")
    return of_answer(answer)


# True while a layer is off on purpose: what the filter would have answered is then told by the kernel, or not at all. A row is
# judged by its whole attempts where it has some, and by all of its checks where it has none.
layer_is_off = False


# By row, what may come through behind another wall, as "name: what was seen".
differing = {}


def of_answer(answer):
    word = answer["outcome"]
    through = [check for check in answer.get("checks", []) if not check["ok"]]
    if word == "succeeded" and through and answer["row"] in differing:
        others = [check for check in through if not re.fullmatch(differing[answer["row"]], f"{check['name']}: {check['errno']}")]
        return failed(f"{others[0]['name']}: {others[0]['errno']}") if others else passed(f"{len(through)} of {len(answer['checks'])} differ as listed")
    attempts = [check for check in answer.get("checks", []) if check.get("whole")]
    if layer_is_off and word == "succeeded" and attempts:
        through = [check for check in attempts if not check["ok"]]
        return failed(f"{through[0]['name']}: {through[0]['errno']}") if through else passed(f"{len(attempts)} whole attempts refused")
    if word == "refused":
        return passed(answer["detail"])
    if word == "skipped":
        return skipped(answer["detail"])
    if word == "vacuous":
        return Outcome(VACUOUS, answer["detail"])
    return failed(answer["detail"])


def both(*outcomes):
    """The first that is not a pass; else the last."""
    for outcome in outcomes:
        if outcome.word != PASS:
            return outcome
    return outcomes[-1]


JUDGES = {}
COUNTERS = {}


def judge(row):
    """Registers how `row` is judged in an arm."""
    def register(function):
        JUDGES[row] = function
        return function
    return register


def counter(row):
    """Registers the counter-arm of `row`: true where the act succeeds without the rule, None where it cannot be judged."""
    def register(function):
        COUNTERS[row] = function
        return function
    return register
