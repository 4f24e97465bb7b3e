# SPDX-License-Identifier: Apache-2.0
"""Whose no it was: each fence of a node's sandboxes gives exactly one refusal, of the right rule; ordinary errors give none. 77: needs root."""
import json
import os
import sys

from api import equal, expect, main
from attribution_cases import FILES, ORDINARY, SYSCALLS
from daemon import Daemon

def run(client, code, policy):
    answer = client.ask("POST", "/v1/run", {"command": ["perl", "-e", code + "; exit 0"], "policy": policy})
    equal(answer.status, 200, answer)
    return answer.json


def refusals(node):
    """Each case in a sandbox of its own: one refusal in the answer and in the log, and no other."""
    wrong = []
    with node.client() as client:
        for name, (code, policy, wanted) in (FILES | SYSCALLS).items():
            said = run(client, code, policy)
            got = [(denial["code"], denial["tried"], denial["rule"]) for denial in said.get("denials", [])]
            if got != ([wanted] if wanted else []):
                wrong.append(f"{name}: {got}, not {wanted}; {said['stderr']}")
            logged = [record for record in map(json.loads, node.audit_lines()) if record.get("sandbox") == said["id"] and record["event"] == "act_refused"]
            if sum(record["count"] for record in logged) != sum(denial["count"] for denial in said.get("denials", [])):
                wrong.append(f"{name}: the log has {logged}")
    expect(not wrong, "\n".join(wrong))
    return f"{len(FILES) + len(SYSCALLS)} cases"


def ordinary_errors(node):
    """None of them is blamed on a fence."""
    wrong = []
    with node.client() as client:
        for name, code in ORDINARY.items():
            said = run(client, code, {})
            if said.get("denials"):
                wrong.append(f"{name}: {said['denials']}")
    expect(not wrong, "\n".join(wrong))
    return f"{len(ORDINARY)} cases"


def of_a_file_of_the_operators(node):
    """A ceiling is named with its file and its line."""
    ceiling = node.base / "ceiling.toml"
    ceiling.write_text('version = 1\n\n[filesystem]\nroot = "image:small"\nmode = "read_only"\n')
    os.chmod(ceiling, 0o644)
    node.end(node.node)
    node.config.write_text(f'ceiling = "{ceiling}"\n' + node.config.read_text())
    node.start_node()
    with node.client() as client:
        denial, = run(client, "open(F, '>', 'a')", {})["denials"]
        equal((denial["code"], denial["tried"], denial["resolved"], denial["rule"]), ("CORDON-FS-WRITE", "write a", "/workspace/a", f"{ceiling}:5"))
        denial, = run(client, "mkdir('/usr/d')", {})["denials"]
        equal((denial["tried"], denial["rule"]), ("write /usr/d", f"{ceiling}:4"))


CHECKS = {check.__name__: check for check in (refusals, ordinary_errors, of_a_file_of_the_operators)}

if __name__ == "__main__":
    sys.exit(main(CHECKS, lambda programs, **how: Daemon(programs, tools=("/usr/bin/perl",), **how)))
