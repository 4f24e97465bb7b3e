# SPDX-License-Identifier: Apache-2.0
"""The audit half of a row: what the log holds of the sandboxes that its act was done in (C262)."""
import collections
import json
import pathlib
import tomllib

from verdicts import failed, passed

HERE = pathlib.Path(__file__).resolve().parent


class Expected:
    """By row and mode (node, local): the codes of its refusals, or why there are none."""

    def __init__(self):
        with open(HERE / "audit.toml", "rb") as file:
            told = tomllib.load(file)
        self.rows, self.why = told["rows"], told["why"]

    def of(self, row, mode):
        said = self.rows[row].get(mode)
        return set() if isinstance(said, str) else None if said is None else set(said)

    def wrong(self, rows):
        """What it and the list of rows do not agree on."""
        wrong = [f"{row} has nothing in audit.toml" for row in rows.keys() - self.rows.keys()]
        wrong += [f"{row} of audit.toml is no row" for row in self.rows.keys() - rows.keys()]
        for row, about in self.rows.items():
            wrong += [f"{row}: {mode} = {said!r} is no word of [why]" for mode, said in about.items() if isinstance(said, str) and said not in self.why]
            if row in rows and rows[row]["run"] != "host" and about.keys() != {"node", "local"}:
                wrong.append(f"{row} is not told of in both modes")
        return wrong


def lines_of(directory):
    """The records of a log; not the heads of its segments, nor one that is being written."""
    for segment in sorted(pathlib.Path(directory).glob("*.log")):
        yield from (json.loads(line) for line in segment.read_bytes().splitlines(True)[1:] if line.endswith(b"\n"))


def judged(wanted, sandboxes, log):
    """`wanted`: codes. `sandboxes`: of each, its id and the refusals that its caller was told; `log`: all records."""
    by_sandbox = collections.defaultdict(list)
    for record in log:
        by_sandbox[record.get("sandbox")].append(record)
    seen, events = set(), 0
    for sandbox, denials in sandboxes:
        records = by_sandbox[sandbox]
        accepted = [record for record in records if record["event"] == "policy_accepted"]
        refusals = [record for record in records if record["event"] == "act_refused"]
        if [record["event"] for record in records].count("sandbox_started") > 1 or (accepted and (len(accepted) != 1 or not accepted[0].get("digest"))):
            return failed(f"audit: {sandbox} has no one policy and no one beginning")
        if refusals and not accepted and not all(record["code"].startswith("CORDON-PLAN") for record in refusals):
            return failed(f"audit: {sandbox} was refused something under no policy")
        if any(not record["rule"] or not record["why"] for record in refusals):
            return failed(f"audit: {sandbox} was refused something by no rule")
        told, logged = count_of(denials), count_of(refusals)
        for code in told.keys() | logged.keys():
            if code != ABSENT and told[code] != logged[code]:
                return failed(f"audit: {sandbox} told {told[code]} of {code}, and recorded {logged[code]}")
        seen |= logged.keys()
        events += sum(logged.values())
    if seen != wanted:
        return failed(f"audit: recorded {sorted(seen)}, not {sorted(wanted)}")
    return passed(f"{events} events" if events else "-")


ABSENT = "CORDON-SYSCALL-ABSENT"    # recorded, and nobody is bothered with it


def count_of(refusals):
    counts = collections.Counter()
    for each in refusals:
        counts[each["code"]] += each["count"]
    return counts
