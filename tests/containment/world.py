# SPDX-License-Identifier: Apache-2.0
"""What stands on the host while the rows run: canaries that no sandbox may reach, and the places of one arm."""
import ctypes
import functools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid

SCRATCH_UID = 47110          # of the ordinary user with delegation; no account has it
BARE_UID = 47111             # of the one without
SUB_IDS = (1_200_000_000, 65536)


def text(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


class World:
    """Canaries for the whole suite. Everything is removed at the end, also on failure."""

    def __init__(self, probe, work):
        self.mark = uuid.uuid4().hex         # of canaries: names and contents of files
        self.process_mark = uuid.uuid4().hex  # of processes: in no command line of ours
        self.work = pathlib.Path(work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="containment-", dir="/var/tmp"))
        self.base.chmod(0o755)
        self.probe = self.base / "probe"
        shutil.copy(probe, self.probe)
        self.undo = []

    def __enter__(self):
        try:
            self._plant_files()
            self._plant_sockets()
            self._plant_ipc()
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
        shutil.rmtree(self.base, ignore_errors=True)

    def own_tree(self, name):
        """A new directory of the suite's, removed at the end. The path is bound here and nowhere else: what removes a tree must
        not look at a variable that somebody may set anew."""
        path = pathlib.Path("/home") / name
        assert name.startswith("containment-") and "/" not in name, name
        path.mkdir(mode=0o755)
        self.undo.append(functools.partial(shutil.rmtree, str(path), ignore_errors=True))
        return path

    def _plant_files(self):
        self.canaries = []
        for place in ("/root", "/srv", "/tmp", "/var/tmp", "/home"):
            path = pathlib.Path(place) / f".canary-{self.mark}"
            path.write_text(f"{self.mark}\n")
            path.chmod(0o644)
            self.undo.append(path.unlink)
            self.canaries.append(path)
        # Below no directory that is writable inside: Landlock's rules add up along a path.
        outside = self.own_tree(self.base.name) / "outside"
        outside.mkdir(mode=0o755)
        self.source = outside / "readable"
        self.source.write_bytes(b"r" * 8192)
        # Reached only by our own scratch users: nobody else may start a set-id program, however harmless.
        guarded = outside / "guarded"
        guarded.mkdir(mode=0o750)
        os.chown(guarded, 0, SCRATCH_UID)
        self.set_id = guarded / "set-id"
        shutil.copy(self.probe, self.set_id)
        self.set_id.chmod(0o4755)
        self.outside = outside
        self.inodes = self.work / "host-inodes"
        with self.inodes.open("w") as out:
            for top in ("/usr/bin", "/usr/sbin", "/usr/lib/x86_64-linux-gnu", "/etc"):
                for root, _, names in os.walk(top):
                    for name in names:
                        try:
                            about = os.lstat(os.path.join(root, name))
                        except OSError:
                            continue
                        out.write(f"{about.st_dev} {about.st_ino}\n")

    def _plant_sockets(self):
        self.abstract = f"canary-{self.mark}"
        self.listeners = []
        for kind, suffix in ((socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "dgram"), (socket.SOCK_SEQPACKET, "seqpacket")):
            sock = socket.socket(socket.AF_UNIX, kind)
            sock.bind(f"\0{self.abstract}-{suffix}")
            if kind != socket.SOCK_DGRAM:
                sock.listen(64)
            self.listeners.append(sock)
        self.sockets = []
        for place in ("/run", "/tmp", str(self.base)):
            path = f"{place}/s-{self.mark[:8]}"
            sock = socket.socket(socket.AF_UNIX)
            sock.bind(path)
            os.chmod(path, 0o777)
            sock.listen(64)
            self.listeners.append(sock)
            self.sockets.append(path)
            self.undo.append(lambda path=path: os.unlink(path))
        tcp = socket.socket()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(64)
        self.port = tcp.getsockname()[1]
        self.listeners.append(tcp)
        self.undo.append(lambda: [sock.close() for sock in self.listeners])

    def _plant_ipc(self):
        self.name = f"canary-{self.mark[:12]}"
        path = pathlib.Path("/dev/shm") / self.name
        path.write_text(self.mark)
        self.undo.append(path.unlink)
        libc = ctypes.CDLL(None, use_errno=True)
        self.key = int(self.mark[:7], 16)
        segment = libc.shmget(self.key, 4096, 0o1666)
        self.undo.append(lambda: libc.shmctl(segment, 0, None))

    def process(self, uid):
        """A process of the host that bears the mark in its command line."""
        become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        child = subprocess.Popen([*become, "/bin/sh", "-c", "read line", self.process_mark], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.undo.append(lambda: end(child))
        return child

    def words(self, victim):
        """What every probe is told. What it looks for is given backwards, so that it does not find its own command line."""
        namespaces = [os.readlink(f"/proc/self/ns/{name}") for name in ("ipc", "uts", "net", "pid", "mnt", "user", "cgroup")]
        return ["--canary", ",".join(str(path) for path in self.canaries), "--mirrored", self.mark[::-1], "--process", self.process_mark[::-1],
                "--pid", str(victim), "--port", str(self.port), "--abstract", self.abstract, "--sockets", ",".join(self.sockets),
                "--key", str(self.key), "--name", self.name, "--namespaces", ",".join(namespaces),
                "--pts-device", str(os.stat("/dev/pts").st_dev), "--source", str(self.source), "--set-id", str(self.set_id),
                "--bytes", str(512 << 20), "--words", "/var/lib/cordon,/run/cordon,.local/state/cordon,cordon-state", "--uuid", self.mark[:8],
                "--host-name", socket.gethostname()[::-1], *of_kernel()]


def landlock_abi():
    """The version that this kernel has; 0 for none."""
    return max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))


def of_kernel():
    """What a probe is told of the kernel: where an older one has less, a row asks for what holds instead."""
    return ["--landlock-abi", str(landlock_abi())]


def end(child):
    """Ends a process that we started, and its session."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
