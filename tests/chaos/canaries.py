# SPDX-License-Identifier: Apache-2.0
"""What stands outside of the sandboxes and must stay as it is: files, a process, sockets, shared memory, the host's own state."""
import ctypes
import hashlib
import os
import pathlib
import select
import socket
import stat
import subprocess
import time
import uuid

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
LIBC.shmdt.argtypes = (ctypes.c_void_p,)
SYSCTLS = ("kernel/hostname", "kernel/domainname", "kernel/core_pattern", "kernel/modprobe", "kernel/panic", "kernel/sysrq",
           "kernel/pid_max", "kernel/printk", "kernel/threads-max", "kernel/randomize_va_space", "kernel/dmesg_restrict",
           "vm/overcommit_memory", "vm/swappiness", "vm/dirty_ratio", "vm/mmap_min_addr", "fs/file-max", "fs/protected_symlinks",
           "fs/suid_dumpable", "net/ipv4/ip_forward", "user/max_user_namespaces", "user/max_mnt_namespaces")
SYSTEM_FILES = ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/hostname", "/etc/ld.so.cache", "/usr/bin/env", "/bin/sh")
SYSTEM_DIRECTORIES = ("/", "/etc", "/usr", "/usr/bin", "/root", "/home", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/run", "/proc", "/sys")
OF_A_PROCESS = ("State", "TracerPid", "Uid", "Gid", "Groups", "CapEff", "NoNewPrivs", "Seccomp", "Cpus_allowed_list", "SigPnd", "ShdPnd",
                "SigBlk", "SigIgn", "SigCgt")


def text(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError as error:
        return f"({error.strerror})"


def about(path):
    """All of a file that somebody could change, but not that it was read."""
    try:
        found = os.lstat(path)
    except OSError as error:
        return error.strerror
    content = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() if stat.S_ISREG(found.st_mode) else ""
    times = (found.st_mtime_ns, found.st_ctime_ns) if stat.S_ISREG(found.st_mode) else ()
    return (oct(found.st_mode), found.st_uid, found.st_gid, found.st_nlink if content else 0, found.st_size if content else 0, content, *times)


def mounts():
    """The host's mounts, without those of tests beside us: mount point and all that its line says."""
    lines = text("/proc/self/mountinfo").splitlines()
    return {line.split()[0]: line for line in lines if "cordon" not in line and "containment" not in line}


class Canaries:
    """A context: all that it made is gone at its end, also on failure."""

    def __init__(self, caller):
        self.caller, self.mark, self.undo = caller, uuid.uuid4().hex, []

    def __enter__(self):
        try:
            self._plant_files()
            self._plant_process()
            self._plant_sockets()
            self.memory = LIBC.shmget(0, 4096, 0o1666)
            if self.memory < 0:
                raise OSError(ctypes.get_errno(), "shmget")
            self.undo.append(lambda: LIBC.shmctl(self.memory, 0, None))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for act in reversed(self.undo):
            try:
                act()
            except OSError:
                pass

    def _plant_files(self):
        self.outside = self.caller.directory("outside")
        self.outside.chmod(0o777)
        self.files = [self.outside / name for name in ("open", "closed", "caller")]
        for path, mode, owner in zip(self.files, (0o666, 0o600, 0o600), (0, 0, self.caller.uid)):
            path.write_text(self.mark)
            path.chmod(mode)
            os.chown(path, owner, owner)
        shared = pathlib.Path("/dev/shm") / f"cordon-canary-{self.mark[:12]}"
        shared.write_text(self.mark)
        shared.chmod(0o666)
        self.undo.append(shared.unlink)
        self.files.append(shared)

    def _plant_process(self):
        """Of the caller's own id, as the sandbox's processes are where an ordinary user starts it."""
        words = [*self.caller.become(), "/bin/sh", "-c", "while read line; do echo $line; done"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.undo.append(self._end_process)
        if not answers(self.process, "planted"):
            raise AssertionError("the canary's process does not answer")

    def _end_process(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def _plant_sockets(self):
        self.listeners = {}
        for name, family, address in (("path", socket.AF_UNIX, str(self.outside / "socket")), ("abstract", socket.AF_UNIX, f"\0{self.mark}"),
                                      ("tcp", socket.AF_INET, ("127.0.0.1", 0))):
            listener = socket.socket(family)
            self.undo.append(listener.close)
            listener.bind(address)
            listener.listen(8)
            listener.setblocking(False)
            self.listeners[name] = listener
        os.chmod(self.outside / "socket", 0o777)

    def names(self):
        """What a hostile program inside is told to try."""
        return [str(self.outside), *map(str, self.files), str(self.outside / "socket"), str(self.caller.base)]

    def look(self):
        """Everything, as values that can be compared."""
        seen = {f"file {path}": about(path) for path in (*self.files, self.outside / "socket", self.outside)}
        seen["names outside"] = sorted(os.listdir(self.outside))
        seen |= {f"system {path}": about(path) for path in SYSTEM_FILES}
        seen |= {f"system {path}": about(path)[:3] for path in SYSTEM_DIRECTORIES}
        seen |= {f"sysctl {name}": text(f"/proc/sys/{name}") for name in SYSCTLS}
        seen |= {f"listener {name}": self._connections(listener) for name, listener in self.listeners.items()}
        seen |= {f"mount {number}": line for number, line in mounts().items()}
        seen |= self._of_process()
        lines = [line.split() for line in text("/proc/sysvipc/shm").splitlines()]
        seen["shared memory"] = [line for line in lines if line[1:2] == [str(self.memory)]]
        seen["host name"] = os.uname().nodename
        seen["our own groups"] = text("/proc/self/cgroup")
        seen["our own limits"] = text("/proc/self/limits")
        # In steps that no adjustment of a clock reaches in these minutes.
        seen["clock"] = round((time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)) / 20)
        return seen

    @staticmethod
    def _connections(listener):
        try:
            listener.accept()[0].close()
            return "somebody connected"
        except BlockingIOError:
            return "nobody connected"

    def _of_process(self):
        alive = answers(self.process, "still")     # first: while it answers it does not sleep
        time.sleep(0.05)
        pid = self.process.pid
        status = dict(line.split(":", 1) for line in text(f"/proc/{pid}/status").splitlines() if ":" in line)
        seen = {f"process {name}": status.get(name, "").strip() for name in OF_A_PROCESS}
        seen["process answers"] = alive
        for name in ("limits", "cgroup", "oom_score_adj", "mountinfo"):
            seen[f"process {name}"] = [line for line in text(f"/proc/{pid}/{name}").splitlines() if name != "mountinfo" or " / / " in line]
        try:
            seen["process nice"] = os.getpriority(os.PRIO_PROCESS, pid)
        except OSError as error:
            seen["process nice"] = error.strerror
        return seen


def answers(process, word, within=10):
    """Whether a loop of `read` and `echo` says what it was told. A stopped or dead one does not."""
    try:
        process.stdin.write(f"{word}\n".encode())
        process.stdin.flush()
    except OSError:
        return False
    heard, end = b"", time.monotonic() + within
    while not heard.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0, end - time.monotonic()))
        more = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not more:
            return False
        heard += more
    return heard == f"{word}\n".encode()


def changes(before, after, base):
    """What is not as it was. A mount that others made in the meantime counts where it lies over something of ours or the system's."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name, "absent"), after.get(name, "absent")
        if was == now:
            continue
        if name.startswith("mount ") and name not in before:
            point = now.split()[4]
            if point not in SYSTEM_DIRECTORIES and not point.startswith(str(base)):
                continue
        found.append(f"{name}: was {was!r}, is {now!r}")
    return found
