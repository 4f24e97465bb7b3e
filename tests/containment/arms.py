# SPDX-License-Identifier: Apache-2.0
"""Who starts the sandbox, and on which root: root, an ordinary user with delegation, a bare one; host or dir."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import time
import tomllib

from pace import slow, slow_flags
from records import lines_of
from world import BARE_UID, SCRATCH_UID, SUB_IDS, text

LAUNCHERS = ("root", "delegated", "bare")
ROOTS = ("host", "dir")
HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60       # seconds that a row of a batch has, of a machine at full speed
SWEEP = HERE.parent / "filter/golden/sweep.txt"     # what the filters answer


class Run:
    """One `cordon run` that has ended."""

    def __init__(self, code, out, err, seconds, report):
        self.code, self.out, self.err, self.seconds, self.report = code, out, err, seconds, report

    @property
    def verdict(self):
        return (self.report or {}).get("verdict", {})

    @property
    def ending(self):
        return self.verdict.get("ending", "none")

    def lines(self):
        """The probe's answers, in order."""
        found = []
        for line in self.out.splitlines():
            if line.startswith('{"row":'):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue
        return found

    def answers(self):
        """The last answer of each row."""
        return {answer["row"]: answer for answer in self.lines()}

    def all_answers(self, row):
        return [answer for answer in self.lines() if answer["row"] == row]

    def said(self):
        return f"exit {self.code}, {self.ending}: {(self.err.strip().splitlines() or [''])[-1][:160]}"


def answers_of(isolation):
    """What rows are answered otherwise behind this wall."""
    return tomllib.loads((HERE / "tiers.toml").read_text())[isolation] if isolation else {}


class Arm:
    def __init__(self, world, rows, cordon, launcher, root, root_directory, isolation=None):
        """`isolation`: the wall, by its flag; None: that of the process tier."""
        self.rows, self.isolation, self.otherwise = rows, isolation, answers_of(isolation)
        self.world, self.cordon, self.launcher, self.root = world, cordon, launcher, root
        self.name = f"{launcher}-{root}"
        self.uid = {"root": 0, "delegated": SCRATCH_UID, "bare": BARE_UID}[launcher]
        self.root_word = "host" if root == "host" else f"dir:{root_directory}"
        self.base = world.base / self.name
        self.base.mkdir(mode=0o755)
        self.home = self._own("home")
        self.state = self._own("state")
        self.mask = None        # the program that masks features of the kernel
        self.groups = []        # cgroup directories that the launcher starts in
        self.made = []
        self.count = 0
        self.runs = []          # that were made since somebody emptied it
        self.victim = world.process(self.uid)
        self.own = world.own_tree(f"{world.base.name}-{self.name}")
        self.granted = self.grant()

    def grant(self):
        """A directory of the caller's that runs may read: what is refused there is so by a fence, not by owner or mode. It lies
        below no directory that is writable inside, since Landlock's rules add up along a path."""
        path = self.own / "granted"
        if path.exists():
            shutil.rmtree(path)
        path.mkdir()
        os.chown(path, self.uid, self.uid)
        for name in ("file", "second"):
            (path / name).write_text("granted\n")
        (path / "empty").mkdir()
        for each in path.iterdir():
            os.chown(each, self.uid, self.uid)
        return path

    def _own(self, name):
        path = self.base / name
        path.mkdir(mode=0o755)
        os.chown(path, self.uid, self.uid)
        return path

    def __enter__(self):
        if self.launcher == "delegated":
            self._delegate()
        return self

    def __exit__(self, *_):
        for path in reversed(self.made):
            for _ in range(20):
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.1)

    def _delegate(self):
        """A group of its own in each hierarchy, to start in."""
        memberships = text("/proc/self/cgroup").splitlines()
        if len(memberships) == 1 and memberships[0].startswith("0::"):
            return self._delegate_v2(memberships[0][3:])
        for line in memberships:
            _, controllers, path = line.split(":", 2)
            mount = "/sys/fs/cgroup/" + (controllers if controllers else "unified")
            if controllers.startswith("name=") or not os.path.isdir(mount):
                mount = "/sys/fs/cgroup" if not controllers else mount
            if controllers.startswith("name=") or not os.path.isdir(mount):
                continue
            group = pathlib.Path(mount + path.rstrip("/")) / self.world.base.name
            try:
                group.mkdir()
            except OSError:
                continue
            self.made.append(group)
            if controllers == "cpuset":     # a new group of v1 has neither cores nor nodes
                for name in ("cpuset.cpus", "cpuset.mems"):
                    (group / name).write_text(text(group.parent / name).strip())
            self._give(group)
            self.groups.append(group)

    def _delegate_v2(self, own):
        """On version 2 alone, as systemd has it: beside our own group, since a group with processes hands no controllers on, and with a
        leaf to start in for the same reason."""
        top = pathlib.Path("/sys/fs/cgroup")
        group = (top / own.lstrip("/")).parent / self.world.base.name if own != "/" else top / self.world.base.name
        leaf = group / "session"
        for path in (group, leaf):
            path.mkdir()
            self.made.append(path)
            self._give(path)
        controllers = text(group / "cgroup.controllers").split()
        (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))
        self.groups.append(leaf)

    def _give(self, group):
        for owned in (group, *group.iterdir()):
            if owned == group or owned.name in ("cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control"):
                os.chown(owned, self.uid, self.uid)

    def workspace(self, name=None):
        """A new directory of the launcher's with the probe in it."""
        self.count += 1
        path = self._own(name or f"ws{self.count}")
        shutil.copy(self.world.probe, path / "probe")
        shutil.copy(self.world.inodes, path / "inodes")
        shutil.copy(SWEEP, path / "sweep")
        return path

    def environment(self):
        engine = {name: os.environ[name] for name in ("CORDON_RUNSC",) if name in os.environ}
        return {**engine,
                "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "HOME": str(self.home), "LANG": "C.UTF-8",
                "TERM": "xterm", "XDG_STATE_HOME": str(self.state), "XDG_RUNTIME_DIR": str(self.state),
                "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=1"}

    def _become(self, groups, ids=True):
        for group in self.groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        os.setgroups(groups)
        if ids:
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)

    def start(self, flags, command, workspace, groups=(), keep_fds=(), policy=None, masks=None, **streams):
        """`cordon run`, started. The report's path is the second value. With `masks` the kernel seems to lack something: the
        masking program is started as root, so that set-id helpers keep their rights, and becomes the caller itself."""
        self.count += 1
        report = self.state / f"report{self.count}.json"
        words = [*self.cordon, "run", "--root", self.root_word, "--json", str(report), *self.wall()]
        if masks is not None:
            caller = ["--user", str(self.uid)] if self.uid != 0 else []
            words = [self.mask, *masks, *caller, "--", *words]
        if policy is not None:
            path = self.state / f"policy{self.count}.toml"
            path.write_text(policy)
            path.chmod(0o644)
            words += ["--policy", str(path)]
        if workspace is not None:
            words += ["--workspace", str(workspace)]
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", subprocess.PIPE)
        streams.setdefault("stderr", subprocess.PIPE)
        streams.setdefault("cwd", workspace or self.home)
        child = subprocess.Popen([*words, *slow_flags(flags), "--", *command], env=self.environment(), pass_fds=keep_fds,
                                 start_new_session=True, preexec_fn=lambda: self._become(list(groups), masks is None), **streams)
        return child, report

    def wall(self):
        return ["--isolation", self.isolation] if self.isolation else []

    def run(self, flags, command, workspace=None, timeout=60, **how):
        """`cordon run`, to its end; a run that does not end in time is ended and has the code -1."""
        begin = time.monotonic()
        child, report = self.start(flags, command, workspace, **how)
        code, out, err = to_end(child, timeout)
        try:
            document = json.loads(text(report))
        except ValueError:
            document = None
        self.runs.append(Run(code, out, err, time.monotonic() - begin, document))
        return self.runs[-1]

    def log(self):
        return lines_of(self.state / "cordon/audit")

    def enter(self, first, joining, *flags, workspace, timeout=60):
        """Two commands in one sandbox, the second joining while the first runs; see enter.cc."""
        words = [str(pathlib.Path(self.cordon[0]).parent / "cordon-enter"), "--root", self.root_word, "--workspace", str(workspace),
                 "--allow-read", str(self.world.outside), "--live", *flags, "--", *first, ":::", *joining]
        begin = time.monotonic()
        child = subprocess.Popen(words, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 cwd=workspace, start_new_session=True, preexec_fn=lambda: self._become([]))
        return Run(*to_end(child, timeout), time.monotonic() - begin, None)

    def applies(self, row):
        """None, or the reason why the row cannot hold here."""
        reasons = {**self.rows[row].get("not_applicable", {}), **self.otherwise.get(row, {})}
        for key in (self.name, self.launcher, self.root, "all", "skip"):
            if key in reasons:
                return reasons[key]
        return None

    def batch(self, rows, flags=(), words=()):
        """The answers of several rows from one sandbox; of `words` that are given twice the last counts."""
        here = self.workspace()
        flags = ["--allow-read", str(self.world.outside), "--allow-read", str(self.granted), "--time", "120s", "--pids", "256", "--memory", "512M", "--live", *flags]
        run = self.run(flags, ["./probe", "--batch", ",".join(rows), *self.words(), "--granted", str(self.granted), *words], workspace=here,
                       timeout=180)
        self.last = run
        return run.answers()

    def verb(self, *words):
        """Another verb of `cordon`, as the same caller."""
        done = subprocess.run([*self.cordon, *words], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, cwd=self.home,
                              preexec_fn=lambda: self._become([]), timeout=slow(60))
        return Run(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), 0, None)

    def words(self):
        # A kernel in between has no Landlock; of words that are given twice the last counts.
        own = ["--landlock-abi", "0", "--patience", str(slow(PATIENCE))] if self.isolation else []
        return [*self.world.words(self.victim.pid), *own, "--inodes", "inodes", "--sweep", "sweep", "--profile", "strict+nosetid"]

    def probe(self, row, *words, flags=(), workspace=None, **how):
        """One row's act in a sandbox of its own, with all that is planted as its words."""
        here = workspace or self.workspace()
        flags = ["--allow-read", str(self.world.outside), *flags]
        return self.run(flags, ["./probe", row, *self.words(), *words], workspace=here, **how)


def to_end(child, timeout):
    """Its exit code and its two streams as text; one that does not end in time is ended, and has the code -1."""
    try:
        out, err = child.communicate(timeout=slow(timeout))
        code = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        out, err = child.communicate()
        code = -1
    decode = lambda data: (data or b"").decode(errors="replace")
    return code, decode(out), decode(err)


def show_accounts(world):
    """Our scratch users, the sub-ids of one of them and a file with the mode of a program, bound over the files of /etc in a
    mount namespace of our own: the host's are never written."""
    libc = ctypes.CDLL(None, use_errno=True)

    def demand(value, what):
        if value != 0:
            raise OSError(ctypes.get_errno(), what)

    demand(libc.unshare(0x20000), "unshare")                                    # CLONE_NEWNS
    demand(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None), "private")   # MS_REC | MS_PRIVATE
    lines = {
        "passwd": "".join(f"containment{uid}:x:{uid}:{uid}::/nonexistent:/usr/sbin/nologin\n" for uid in (SCRATCH_UID, BARE_UID)),
        "group": "".join(f"containment{uid}:x:{uid}:\n" for uid in (SCRATCH_UID, BARE_UID)),
        "subuid": f"containment{SCRATCH_UID}:{SUB_IDS[0]}:{SUB_IDS[1]}\n",
        "subgid": f"containment{SCRATCH_UID}:{SUB_IDS[0]}:{SUB_IDS[1]}\n",
    }
    # Something in /etc that a sandbox is shown and that could be executed: see C025.
    if os.path.exists("/etc/shells"):
        lines["shells"] = ""
    for name, more in lines.items():
        own = world.base / name
        own.write_text(text(f"/etc/{name}") + more)
        own.chmod(0o755 if name == "shells" else 0o644)
        demand(libc.mount(str(own).encode(), f"/etc/{name}".encode(), None, 0x1000, None), name)    # MS_BIND


def build_root(work):
    """A root directory, made once: by mmdebstrap or debootstrap where the mirror answers, else from files of this host."""
    root = pathlib.Path(work) / "root"
    if (root / ".complete").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    for command in (["mmdebstrap", "--variant=minbase", "bookworm", str(root)], ["debootstrap", "--variant=minbase", "bookworm", str(root)]):
        if shutil.which(command[0]) and subprocess.run(command, capture_output=True, timeout=300).returncode == 0:
            break
    else:
        copy_of_host(root)
    (root / ".complete").touch()
    return root


def copy_of_host(root):
    for name in ("usr/bin", "usr/lib", "usr/lib64", "etc", "proc", "sys", "dev", "tmp", "run", "root", "home", "var/tmp", "opt", "mnt", "srv"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (root / "sbin").symlink_to("usr/bin")
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nuser:x:1000:\n")
    libraries = set()
    for name in ("sh", "env", "ls", "cat", "sleep", "true", "false", "id", "mount", "su", "touch", "head", "yes", "newuidmap"):
        program = shutil.which(name, path="/usr/bin:/bin")
        if program is None:
            continue
        shutil.copy(program, root / "usr/bin" / name)      # copied, never linked: no inode is shared with the host
        listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        libraries.update(word for word in listed.split() if word.startswith("/"))
    for library in libraries:
        target = root / "usr" / str(pathlib.Path(library).resolve()).lstrip("/").removeprefix("usr/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
        short = root / "usr" / library.lstrip("/").removeprefix("usr/")
        if short != target and not short.exists():
            short.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, short)
