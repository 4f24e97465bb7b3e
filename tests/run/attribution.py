# SPDX-License-Identifier: Apache-2.0
"""Whose no it was, in local use: what a fence refuses gives exactly one refusal, of the right rule, or is listed in docs/audit.md as not
told here; ordinary errors give none."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "callers"), str(HERE.parent / "cordond")]

from attribution_cases import FILES, ORDINARY, SYSCALLS, written  # noqa: E402
from check import equal, expect, main  # noqa: E402

# Of an ordinary user's sandbox without groups only the first is a verdict.
LIMITS = {"--time": ("1s", "sleep 30", "wall_time"), "--pids": ("16", "for i in $(seq 99); do sleep 5 & done; wait", "pids"),
          "--memory": ("64M", "head -c 200M /dev/zero | tail", "memory"), "--disk": ("16M", "head -c 64M /dev/zero >/tmp/x", "disk")}


def policy_file(caller, text):
    """Under a name that its rules are told by."""
    file = caller.home / "own.toml"
    file.write_text("version = 1\n" + text)
    file.chmod(0o644)
    return ["--policy", str(file)]


def perl(caller, flags, code):
    return caller.run(flags, ["perl", "-e", code + "; exit 0"])


def told(ended):
    return [(denial["code"], denial["tried"], denial["rule"]) for denial in ended.report["denials"]]


def logged(caller, ended):
    files = sorted((caller.home / ".local/state/cordon/audit").glob("*.log"))
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]
    return sum(record["count"] for record in records if record.get("sandbox") == ended.report["id"] and record["event"] == "act_refused")


def files(caller):
    """Writes, each in a sandbox of its own."""
    home, workspace = str(caller.home), str(caller.workspace)
    (caller.workspace / "kept").write_text("x")
    (caller.workspace / "tool").write_text("#!/bin/sh\n")
    (caller.workspace / "tool").chmod(0o755)
    read_only = '[filesystem]\nmode = "read_only"\n'
    own = f"{caller.home}/own.toml"
    cases = {name: (code, "", wanted) for name, (code, policy, wanted) in FILES.items() if not policy}
    cases |= {
        "open, of what is read only": ("open(F, '>', 'a')", read_only, written("a", None, f"{own}:3")),
        "append, of what is read only": ("open(F, '>>', 'kept')", read_only, written("kept", None, f"{own}:3")),
        "mkdir, of what is read only": ("mkdir('d')", read_only, written("d", None, f"{own}:3")),
        "unlink, of what is read only": ("unlink('kept')", read_only, written("kept", None, f"{own}:3")),
        "chmod, of what is read only": ("chmod(0600, 'kept')", read_only, written("kept", None, f"{own}:3")),
        "link, of what is read only": ("link('kept', 'other')", read_only, written("other", None, f"{own}:3")),
        "protected": ("open(F, '>', 'kept')", '[filesystem]\nprotect = ["kept"]\n', written("kept", None, f"{own}:3")),
        "protected, by an absolute path": (f"open(F, '>', '{workspace}/kept')", '[filesystem]\nprotect = ["kept"]\n',
                                           written(f"{workspace}/kept", None, f"{own}:3")),
        "protected, renamed": ("rename('kept', 'other')", '[filesystem]\nprotect = ["kept"]\n', written("kept", None, f"{own}:3")),
        "protected, removed": ("unlink('kept')", '[filesystem]\nprotect = ["kept"]\n', written("kept", None, f"{own}:3")),
        "through a link": ("symlink('/usr', 'u'); open(F, '>', 'u/y')", "", ("CORDON-FS-WRITE", "write u/y", "default")),
        "by a descriptor": ("opendir(D, '/usr'); chdir(*D); open(F, '>', 'y')", "", written("y")),
        "twice": ("open(F, '>', '/etc/x'); open(F, '>', '/etc/x')", "", written("/etc/x")),
        "home": (f"open(F, '>', '{home}/.profile2')", "", None),       # what is no directory inside is missing, not refused
    }
    wrong = []
    for name, (code, policy, wanted) in cases.items():
        ended = perl(caller, policy_file(caller, policy) if policy else [], code)
        if told(ended) != ([wanted] if wanted else []):
            wrong.append(f"{name}: {told(ended)}, not {wanted}; {ended.err.decode()}")
        elif logged(caller, ended) != sum(denial["count"] for denial in ended.report["denials"]):
            wrong.append(f"{name}: the log has {logged(caller, ended)}")
    expect(not wrong, "\n".join(wrong))
    return f"{len(cases)} cases"


def not_told(caller):
    """A refused call, and a refused read, give nothing here: the list of docs/audit.md."""
    page = (HERE.parent.parent / "docs/audit.md").read_text()
    for name, (code, _, _) in SYSCALLS.items():
        equal(told(perl(caller, [], code)), [], name)
    expect("refused system calls" in page and "refused reads" in page, "docs/audit.md lists them")
    return f"{len(SYSCALLS)} cases"


def ordinary_errors(caller):
    wrong = []
    for name, code in ORDINARY.items():
        ended = perl(caller, [], code)
        if told(ended):
            wrong.append(f"{name}: {told(ended)}")
    expect(not wrong, "\n".join(wrong))
    return f"{len(ORDINARY)} cases"


def limits(caller):
    """A limit that ends a run is the verdict, and no refusal beside it."""
    tried = list(LIMITS.items())[:None if caller.name == "root" else 1]
    for flag, (value, script, ending) in tried:
        ended = caller.run([flag, value], ["sh", "-c", script])
        expect(ending in json.dumps(ended.verdict), flag, ended.verdict)
        equal(told(ended), [], flag)
    return f"{len(tried)} cases"


CHECKS = {act.__name__: act for act in (files, not_told, ordinary_errors, limits)}

if __name__ == "__main__":
    main(CHECKS)
