# SPDX-License-Identifier: Apache-2.0
"""Each P0 row of group X of the containment matrix (a fleet) has a check that names it, and that some test runs."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = {
    "C305": ("a rogue node joins", ("tests/fleet/rogue.py", "joins"), ("tests/fleet/nodes.py", "registration"), ("tests/fleet/nodes.py", "by_certificate"),
             ("tests/fleet/etcd.py", "rights")),
    "C306": ("a node asks for work or secrets that are not its own", ("tests/fleet/rogue.py", "others_work"), ("tests/fleet/gateway.py", "rights")),
    "C307": ("a node's certificate, or a token, is stolen and taken back", ("tests/fleet/rogue.py", "expelled"), ("tests/fleet/gateway.py", "taken_back"),
             ("src/fleet/members_test.cc", "Members, WhoWasExpelledIsDeadHoweverItAnswersUntilItsOwnKeyIsBack")),
    "C308": ("what was said is said again", ("tests/fleet/rogue.py", "replayed"), ("tests/fleet/gateway.py", "same_key"),
             ("src/fleet/roster_test.cc", "Roster, AnAnswerKnowsBetterThanAnOlderKey")),
    "C309": ("what is said is changed, or in an older version", ("tests/fleet/rogue.py", "tampered"), ("src/token/verify_test.cc", "Verify, RefusesEveryFlippedBit"),
             ("src/fleet/summary_test.cc", "Summary, RefusesWhatANodeCannotBe")),
    "C310": ("a node lies", ("tests/fleet/rogue.py", "lies"), ("src/fleet/roster_test.cc", "Roster, BelievesAKeyOnlyOfItsCellAndASummaryOnlyThatCanBe"),
             ("src/audit/verify_test.cc", "VerifyTest, FindsTwoHeadsOfOneSize")),
}
# Whose checks run in ctest, by the name of the test.
RUN = {"tests/fleet/rogue.py": "rogue.py", "tests/fleet/gateway.py": "gateway.py", "tests/fleet/nodes.py": "cordon_fleet_test(nodes", "tests/fleet/etcd.py": "cordon_fleet_test(etcd"}


def faults():
    tests = (ROOT / "tests/fleet/CMakeLists.txt").read_text()
    for row, (_, *checks) in ROWS.items():
        for file, name in checks:
            text = (ROOT / file).read_text()
            start = {".py": f"\ndef {name}(", ".cc": f"\nTEST({name})"}[pathlib.Path(file).suffix]
            if start not in text:
                start = start.replace("TEST(", "TEST_F(")
            if start not in text:
                yield f"{row}: {file} has no {name}"
                continue
            # In the sentence of the check, or in the comment before it.
            at = text.index(start)
            around = text[at:at + 400] if file.endswith(".py") else text[text.rindex("\n", 0, at) + 1:at]
            if row not in around:
                yield f"{row}: {file}: {name} does not name it"
            if file in RUN and RUN[file] not in tests:
                yield f"{row}: no test runs {file}"
            if file.endswith(".py") and name not in text[text.index("\nCHECKS = "):]:
                yield f"{row}: {file} never runs {name}"


found = list(faults())
print("\n".join(found) or f"{len(ROWS)} rows, each with a check")
sys.exit(1 if found else 0)
