#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries to look into other processes, in every way that the system has, and prints what became of each as JSON: pry.py PID...

It reads nothing that it would keep: a byte shows that it could."""
import ctypes
import json
import os
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
SEIZE, DETACH, GETFD = 0x4206, 17, 438      # PTRACE_SEIZE, PTRACE_DETACH, pidfd_getfd(2)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def called(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def somewhere(pid):
    """An address that can be read in it. Where its map is hidden any will do: who may look is asked before where."""
    try:
        with open(f"/proc/{pid}/maps") as file:
            return next(int(line.split("-")[0], 16) for line in file if " rw-p " in line)
    except (OSError, StopIteration):
        return 0x10000


def memory(pid):
    with open(f"/proc/{pid}/mem", "rb", 0) as file:
        file.seek(somewhere(pid))
        return file.read(1)


def other_memory(pid):
    byte = ctypes.create_string_buffer(1)
    here, there = Piece(ctypes.addressof(byte), 1), Piece(somewhere(pid), 1)
    return called(LIBC.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))


def trace(pid):
    called(LIBC.ptrace(SEIZE, pid, None, None))
    # Whoever ends is let go; it is not stopped before.
    return True


def descriptor(pid):
    """Any of its first sixteen."""
    last = None
    pidfd = os.pidfd_open(pid)
    for number in range(16):
        try:
            os.close(called(LIBC.syscall(GETFD, pidfd, number, 0)))
            return number
        except OSError as error:
            last = error
            if error.errno != 9:        # EBADF: that one is not open
                break
    raise last


def read(name):
    def act(pid):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(1)
    return act


ACTS = {"mem": memory, "environ": read("environ"), "maps": read("maps"), "auxv": read("auxv"), "syscall": read("syscall"),
        "fd": lambda pid: os.listdir(f"/proc/{pid}/fd"), "root": lambda pid: os.listdir(f"/proc/{pid}/root/"),
        "exe": lambda pid: os.readlink(f"/proc/{pid}/exe"), "process_vm_readv": other_memory, "pidfd_getfd": descriptor, "ptrace": trace}


def attempt(act, pid):
    try:
        act(pid)
        return "done"
    except OSError as error:
        return {1: "EPERM", 3: "ESRCH", 13: "EACCES", 2: "ENOENT"}.get(error.errno, str(error.errno))


def main():
    LIBC.process_vm_readv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    print(json.dumps({pid: {name: attempt(act, int(pid)) for name, act in ACTS.items()} for pid in sys.argv[1:]}))


if __name__ == "__main__":
    main()
