# SPDX-License-Identifier: Apache-2.0
"""Who starts a sandbox in a test: root, or an ordinary user without delegation, each with a home and a workspace of its own."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from pace import slow

NAMES = ("root", "user")
PROGRAMS = ("cordon", "cordon-launcher", "cordon-init", "cordon-relay", "cordon-files", "cordon-mcp", "cordon-notary")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
SUBREAPER = 36      # PR_SET_CHILD_SUBREAPER


class Ended:
    """One `cordon run` that has ended."""

    def __init__(self, code, out, err, seconds, report):
        self.code, self.out, self.err, self.seconds, self.report = code, out, err, seconds, report

    @property
    def verdict(self):
        return (self.report or {}).get("verdict", {})

    @property
    def said(self):
        """Its own lines on standard error."""
        return [line for line in self.err.decode(errors="replace").splitlines() if line.startswith("cordon: ")]


class Caller:
    """A context: all that it made is gone at its end, also on failure, and so are processes that came from it."""

    def __init__(self, name, programs):
        self.name = name
        self.isolation = os.environ.get("CORDON_TEST_ISOLATION", "")
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-test-", dir="/var/tmp"))
        try:
            self._settle(name, programs)
        except BaseException:
            shutil.rmtree(self.base, ignore_errors=True)
            raise

    def _settle(self, name, programs):
        self.base.chmod(0o755)
        # No account has it, and tests side by side have different ones.
        self.uid = 0 if name == "root" else 50_000 + os.getpid() % 10_000
        self.home = self.directory("home")
        self.workspace = self.directory("workspace")
        self.programs = self._reachable(pathlib.Path(programs).resolve())
        self.count = 0

    def __enter__(self):
        # Whoever loses its parent becomes ours: nothing of a sandbox gets out of sight.
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
        return self

    def __exit__(self, *_):
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        survivors(2)
        shutil.rmtree(self.base, ignore_errors=True)

    def directory(self, name):
        path = self.base / name
        path.mkdir(mode=0o755)
        os.chown(path, self.uid, self.uid)
        return path

    def _reachable(self, programs):
        """Where the caller can start them: a build tree may lie where an ordinary user cannot look."""
        test = subprocess.run([*self.become(), "test", "-x", str(programs / "cordon")], capture_output=True)
        if test.returncode == 0:
            return programs
        own = self.base / "bin"
        own.mkdir(mode=0o755)
        for name in PROGRAMS:
            shutil.copy(programs / name, own / name)
        return own

    def become(self):
        if self.uid == 0:
            return []
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]

    def environment(self):
        # A machine that was built for all tests, since each caller has a home of its own, and another engine.
        built = {name: os.environ[name] for name in ("CORDON_MACHINE", "CORDON_RUNSC") if name in os.environ}
        return {"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm", **built}

    def words(self, *words):
        """The command line of `cordon` with these words, as this caller."""
        return [*self.become(), str(self.programs / "cordon"), *words]

    def wall(self):
        """Flags of `cordon run` for the wall that the test was told; none: its own."""
        return ["--isolation", self.isolation] if self.isolation else []

    def start(self, flags, command, **how):
        """`cordon run`, started, and the file of its report."""
        self.count += 1
        report = self.home / f"report{self.count}.json"
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        how.setdefault("cwd", self.workspace)
        how.setdefault("env", self.environment())
        child = subprocess.Popen(self.words("run", "--json", str(report), *self.wall(), *flags, "--", *command), start_new_session=True, **how)
        return child, report

    def finish(self, child, report, timeout, begin, stdin=None):
        try:
            out, err = child.communicate(stdin, timeout=slow(timeout))
        except subprocess.TimeoutExpired:
            child.kill()
            for pid in descendants(os.getpid()):    # whoever lives on may hold its streams open
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
            child.communicate()
            raise AssertionError(f"no end within {slow(timeout)} s") from None
        seconds = time.monotonic() - begin
        document = json.loads(report.read_text()) if report.exists() else None
        return Ended(child.returncode, out, err, seconds, document)

    def run(self, flags, command, timeout=60, stdin=None, **how):
        """`cordon run`, to its end."""
        if stdin is not None:
            how["stdin"] = subprocess.PIPE
        begin = time.monotonic()
        child, report = self.start(flags, command, **how)
        return self.finish(child, report, timeout, begin, stdin)

    def verb(self, *words, cwd=None):
        """Another verb of `cordon`."""
        return subprocess.run(self.words(*words), env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=cwd or self.workspace, timeout=slow(60))


def parents():
    """Every process of the host and its parent; zombies are no processes any more."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", name, "stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state not in "ZX":
            found[int(name)] = int(parent)
    return found


def descendants(root):
    """The processes below `root`."""
    tree = parents()
    children = {}
    for pid, parent in tree.items():
        children.setdefault(parent, []).append(pid)
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""


def survivors(seconds, other_than=()):
    """Our descendants that are still there when so much time has passed, without those named; orphans that ended are reaped."""
    end = time.monotonic() + slow(seconds)
    while True:
        left = [pid for pid in descendants(os.getpid()) if pid not in other_than]
        if not left or time.monotonic() > end:
            return [f"{pid} {name_of(pid)}" for pid in left]
        reap(other_than)
        time.sleep(0.01)


def reap(other_than=()):
    """Zombies that were given to us. A child that somebody waits for is named and left alone."""
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in other_than:
            continue
        try:
            stat = pathlib.Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
            if stat[0] == "Z" and int(stat[1]) == os.getpid():
                os.waitpid(int(name), os.WNOHANG)
        except (OSError, ValueError):
            continue


def groups_of(launcher):
    """The control groups that a launcher made, wherever they are."""
    found = []
    for mount in pathlib.Path("/sys/fs/cgroup").iterdir():
        if not mount.is_dir():
            continue
        for top, names, _ in os.walk(mount):
            mine = [name for name in names if name.startswith("cordon-") and f"-{launcher}." in name]
            found += [os.path.join(top, name) for name in mine]
            names[:] = [name for name in names if not name.startswith("cordon-")]
    return found
