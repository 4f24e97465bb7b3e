# SPDX-License-Identifier: Apache-2.0
"""What fences refuse, and what is an error of the workload's own, in Perl: for a node's sandboxes and for local ones."""

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
