# SPDX-License-Identifier: Apache-2.0
"""Whose no it was: each fence of a node's sandboxes gives exactly one refusal, of the right rule; ordinary errors give none. 77: needs root."""
import json
import os
import sys

from api import equal, expect, main
from daemon import Daemon

# Perl's own system calls, by number: the image has no modules.
CALLS = {"unshare": 272, "mount": 165, "umount2": 166, "pivot_root": 155, "setns": 308, "ptrace": 101, "bpf": 321, "keyctl": 250, "perf_event_open": 298,
         "init_module": 175, "kexec_load": 246, "open_by_handle_at": 304, "userfaultfd": 323, "swapon": 167, "reboot": 169, "sethostname": 170, "settimeofday": 164,
         "acct": 163, "fsopen": 430, "process_vm_readv": 310, "quotactl": 179}
WORKSPACE = "/workspace"


def call(name, *arguments):
    return f"syscall({', '.join(str(value) for value in (CALLS[name], *arguments))})"


def written(path, name=None, rule="default"):
    return "CORDON-FS-WRITE", f"write {name or path}", rule


def refused(name):
    return "CORDON-SYSCALL", f"{name} by perl", "syscalls.profile"


READ_ONLY = {"filesystem": {"mode": "read_only"}}
# What is done, and the one refusal that it gives: code, what was tried, rule.
FILES = {
    "open to write": ("open(F, '>', '/etc/x')", {}, written("/etc/x")),
    "open to append": ("open(F, '>>', '/etc/passwd2')", {}, written("/etc/passwd2")),
    "open to read and write": ("open(F, '+<', '/bin/sh')", {}, written("/bin/sh")),
    "open that creates": ("sysopen(F, '/usr/new', 0101)", {}, written("/usr/new")),
    "open that empties": ("sysopen(F, '/bin/sh', 01000)", {}, written("/bin/sh")),
    "mkdir": ("mkdir('/usr/d')", {}, written("/usr/d")),
    "rmdir": ("rmdir('/usr/lib')", {}, written("/usr/lib")),
    "unlink": ("unlink('/bin/sh')", {}, written("/bin/sh")),
    "rename to another mount": ("open(F, '>', 'a'); close(F); rename('a', '/usr/a')", {}, None),     # EXDEV, before anybody asked a fence
    "rename within": ("rename('/bin/sh', '/bin/sh2')", {}, written("/bin/sh")),
    "link": ("link('/bin/sh', '/bin/sh2')", {}, written("/bin/sh2")),
    "symlink": ("symlink('x', '/usr/link')", {}, written("/usr/link")),
    "truncate": ("truncate('/bin/sh', 0)", {}, written("/bin/sh")),
    "chmod": ("chmod(0777, '/bin/sh')", {}, written("/bin/sh")),
    "relative": ("chdir('/usr/bin'); open(F, '>', '../x')", {}, written("/usr/x", "../x")),
    "through a link of its own": ("symlink('/usr', 'u'); open(F, '>', '/usr/y')", {}, written("/usr/y")),
    "deep": ("open(F, '>', '/usr/lib/x86_64-linux-gnu/x')", {}, written("/usr/lib/x86_64-linux-gnu/x")),
    "workspace that is read only": ("open(F, '>', 'a')", READ_ONLY, written("/workspace/a", "a", "request:1")),
    "mkdir in it": ("mkdir('d')", READ_ONLY, written("/workspace/d", "d", "request:1")),
    "rmdir in it": ("rmdir('/workspace')", READ_ONLY, written("/workspace", None, "request:1")),
    "own files that are read only": ("open(F, '>', '/etc/hostname')", {}, written("/etc/hostname")),
    "devices": ("open(F, '>', '/dev/new')", {}, written("/dev/new")),
}
SYSCALLS = {name: (call(name, 0, 0, 0, 0, 0), {}, refused(name)) for name in CALLS if name not in ("unshare", "userfaultfd")}
SYSCALLS |= {
    "unshare": (call("unshare", 0x20000), {}, refused("unshare")),
    "socket of another family": ("socket(S, 40, 1, 0)", {}, refused("socket")),
    "netlink of another kind": ("socket(S, 16, 3, 9)", {}, refused("socket")),
    "chroot": ("chroot('/')", {}, refused("chroot")),
}
# Errors of the workload's own.
ORDINARY = {
    "no such file": "open(F, '<', '/etc/none')",
    "no such directory": "open(F, '>', '/none/x')",
    "there already": "mkdir('/usr')",
    "not empty": "mkdir('d'); mkdir('d/e'); rmdir('d')",
    "a directory": "mkdir('d'); open(F, '>', 'd')",
    "no directory": "open(F, '>', 'f'); open(G, '>', 'f/g')",
    "a mode of its own": "open(F, '>', 'f'); close(F); chmod(0, 'f'); open(G, '<', 'f')",
    "a directory without rights": "mkdir('d'); chmod(0, 'd'); open(G, '>', 'd/x')",
    "no program": "exec('/none')",
    "no right to execute": "open(F, '>', 'f'); close(F); exec('./f')",
    "a link to itself": "symlink('l', 'l'); open(F, '<', 'l')",
    "a name that is too long": "open(F, '>', 'x' x 300)",
    "a path that is too long": "open(F, '>', 'x/' x 3000)",
    "no such process": "kill(9, 99999)",
    "a closed descriptor": "syscall(3, 77)",
    "a bad argument": "syscall(8, 0, 0, 99)",
    "a bad pointer": "syscall(83, 1, 0)",
    "connection refused": "socket(S, 2, 1, 0); connect(S, pack('Snx4x8', 2, 9))",
    "no network": "socket(S, 2, 1, 0); connect(S, pack('SnC4x8', 2, 80, 203, 0, 113, 1))",
    "no such socket": "socket(S, 1, 1, 0); connect(S, pack('Sa108', 1, '/none'))",
    "no terminal": "syscall(16, 0, 0x5401, 0)",
    "a secret file of the system": "open(F, '<', '/etc/shadow')",
    "an unlink of nothing": "unlink('/tmp/none')",
    "a rename of nothing": "rename('none', 'else')",
    "no child": "wait()",
}


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
