# SPDX-License-Identifier: Apache-2.0
"""A node of the test's own: a launcher as a service, cordond before it as a user without rights, and clients of both."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE.parent.parent / "bench/harness"))

from service import FIRST_ID, make_root  # noqa: E402

PROGRAMS = ("/usr/bin/true", "/bin/sh", "/usr/bin/sleep", "/usr/bin/cat", "/usr/bin/head", "/usr/bin/seq", "/usr/bin/yes",
            "/usr/bin/id", "/usr/bin/ls", "/usr/bin/env", "/usr/bin/printf", "/usr/bin/dd", "/usr/bin/sha256sum", "/usr/bin/mkdir", "/usr/bin/ln")


# The wall that every sandbox is asked for with; empty: what requests say.
ISOLATION = os.environ.get("CORDON_TEST_ISOLATION", "")
RUNSC = os.environ.get("CORDON_RUNSC", "/usr/bin/runsc")
ENGINES = {"gvisor": f"runsc = {RUNSC}", "microvm": f"qemu = /usr/bin/qemu-system-x86_64\nmachine = {os.environ.get('CORDON_MACHINE')}"}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


def walled(body):
    """A request for a sandbox or a run, behind the wall that the test was told; none: the node's own."""
    return {**body, "policy": {"isolation": ISOLATION, **body.get("policy", {})}} if ISOLATION else body


class Client:
    """One connection, kept. Without a token: whoever this process is."""

    def __init__(self, path, token=None, tenant=None, timeout=30):
        self.connection = UnixConnection(path, timeout)
        self.fields = {}
        if token:
            self.fields["Authorization"] = f"Bearer {token}"
        if tenant:
            self.fields["Cordon-Tenant"] = tenant

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, method, path, body=None, fields=None):
        if ISOLATION and method == "POST" and path in ("/v1/sandboxes", "/v1/run") and isinstance(body, dict):
            body = walled(body)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        self.connection.request(method, path, body=body, headers={**self.fields, **(fields or {})})
        got = self.connection.getresponse()
        return Answer(got.status, got.headers, got.read())

    def open(self, path):
        """An answer whose body is still to come."""
        self.connection.request("GET", path, headers=self.fields)
        return self.connection.getresponse()

    def lines(self, path):
        """Of a stream, as they come."""
        got = self.open(path)
        if got.status != 200:
            raise AssertionError(f"{path}: {got.status} {got.read()!r}")
        for line in got:
            yield json.loads(line)

    def counts(self):
        """What /metrics says: texts by name."""
        return dict(line.rsplit(" ", 1) for line in self.ask("GET", "/metrics").body.decode().splitlines() if not line.startswith("#"))


class Daemon:
    """A context: all that it made is gone at its end, also on failure."""

    def __init__(self, programs, settings="", floor="", ranges=256, within=(), tools=(), without=(), supervised=False, place=None, image=None):
        """`within`: words before both programs, which put them elsewhere. `tools`: further programs of the image. `without`: programs of the node that are not there.
        `supervised`: the launcher starts cordond, which is then known by its pid alone. `place`: in a fleet (tests/fleet/parties.py). `image`: of another one."""
        self.within, self.tools, self.without, self.supervised = list(within), tuple(tools), set(without), supervised
        self.programs = pathlib.Path(programs).resolve()
        self.more, self.floor_more, self.ranges, self.place, self.image = settings, floor, ranges, place, image
        self.number = place.number if place else 0     # of several nodes on one machine
        self.uid = 40_000 + os.getpid() % 10_000 + 10_000 * self.number    # no account has it
        self.launcher = self.node = None
        self.environment = lambda: None     # this process's own

    def __enter__(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-node-", dir="/var/tmp"))
        try:
            self._settle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _settle(self):
        self.base.chmod(0o755)
        self.root = self.image or self.base / "image"
        if not self.image:
            make_root(self.root, PROGRAMS + self.tools)
            for name in ("resolv.conf", "hosts", "nsswitch.conf", "cordon-authorities.pem"):     # to be mounted over
                (self.root / "etc" / name).touch()
        self.bin = self.base / "bin"     # a build tree may lie where an ordinary user cannot look
        self.bin.mkdir()
        programs = {"cordond", "cordon-launcher", "cordon-init", "cordon-egress", "cordon-broker", "cordon-notary", "cordon-relay", "cordon-files", "cordon-unpack", "cordon-keeper",
                    "cordon-bpf"}
        for name in programs - self.without:
            shutil.copy(self.programs / name, self.bin / name)
        for name in ("run", "state", "state/authorities", "own", "notary"):
            (self.base / name).mkdir(mode=0o700)
        for name in ("state", "state/authorities", "own"):
            os.chown(self.base / name, self.uid, self.uid)
        (self.base / "run").chmod(0o755)
        (self.base / "own").chmod(0o755)
        self.floor = self.base / "floor"
        self.floor.write_text(f"node_uid = {self.uid}\nfirst_id = {FIRST_ID + (self.number * self.ranges << 16)}\nranges = {self.ranges}\nsource = {self.root}\n"
                              f"source = {self.base}/state/authorities\nnotary = {self.base}/notary\n"
                              f"{ENGINES.get(ISOLATION, '')}\n{self.floor_more}")
        self.key = self.base / "state/key"
        of_root = ("--from", self.place.root_key, "--audience", self.place.name) if self.place else ()
        subprocess.run([self.programs / "cordon", "token", "key", *of_root, self.key], capture_output=True, check=True)
        os.chown(self.key, self.uid, self.uid)
        self.socket = str(self.base / "own/cordond.sock")
        self.config = self.base / "cordond.toml"
        self.config.write_text(f'''name = "{self.place.name if self.place else "node"}"
state = "{self.base}/state"
launcher = "{self.base}/run/launcher"
token_key = "{self.key}"
default_image = "small"
{self.more}
[listen]
unix = "{self.socket}"
{self.place.listen if self.place else ""}
[images.small]
dir = "{self.root}"
''')
        self.config.chmod(0o644)
        self.start_launcher()
        if self.supervised:
            self._await(self.socket, self.launcher, "launcher")
        else:
            self.start_node()

    def _await(self, path, child, name):
        until = time.monotonic() + 15
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException), Client(path, timeout=15) as probe:
                probe.ask("GET", "/v1/health")      # a connection alone may wait for a node that comes
                return
            if child.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"{name} did not come up: {self.log(name)}")
            time.sleep(0.01)

    def log(self, name):
        file = self.base / f"{name}.log"
        return file.read_text(errors="replace")[-4000:] if file.exists() else ""

    def _spawn(self, name, *words, **how):
        with open(self.base / f"{name}.log", "ab") as log:
            return subprocess.Popen([*self.within, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment(), **how)

    def start_launcher(self):
        path = self.base / "run/launcher"
        path.unlink(missing_ok=True)    # of one that was killed
        more = ("--node", self.config) if self.supervised else ()
        self.launcher = self._spawn("launcher", self.bin / "cordon-launcher", "--socket", path, "--floor", self.floor, *more)
        until = time.monotonic() + 15
        while not path.exists():
            if self.launcher.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"the launcher did not come up: {self.log('launcher')}")
            time.sleep(0.01)

    def serve_tcp(self, more=""):
        """Starts cordond anew, at a port of this machine too, which it gives. `more`: further lines of [listen]."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.end(self.node)
        self.config.write_text(self.config.read_text().replace("[listen]\n", f'[listen]\ntcp = "127.0.0.1:{port}"\n{more}'))
        self.start_node()
        return port

    def start_node(self):
        self.node = self._spawn("cordond", "setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups",
                                self.bin / "cordond", "--config", self.config)
        self._await(self.socket, self.node, "cordond")

    def node_pid(self):
        """Of the cordond that answers, by the children of launchers: of a socket that is handed on, the peer is who made it."""
        words = [str(self.bin / "cordond"), "cordond"]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                line = (pathlib.Path("/proc") / pid / "cmdline").read_bytes().split(b"\0")
                if line[0].decode() in words and str(self.config).encode() in line:
                    return int(pid)
        return None

    def pids_of(self, name):
        """Of programs of ours that the launcher has started, or a launcher before it."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                where = pathlib.Path("/proc") / pid
                if (where / "comm").read_text().strip() == name and os.readlink(where / "exe").startswith(str(self.base)):
                    found.append(int(pid))
        return found

    def end(self, child, how=signal.SIGTERM):
        if child and child.poll() is None:
            child.send_signal(how)
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                raise AssertionError("no end within 30 s") from None
        return child.returncode if child else None

    def audit_lines(self):
        """The records of its log, each with its newline; not the heads of the segments, nor one that is being written."""
        for segment in sorted((self.base / "state/audit").glob("*.log")):
            yield from (line for line in segment.read_bytes().splitlines(True)[1:] if line.endswith(b"\n"))

    def client(self, **how):
        return Client(self.socket, **how)

    def mint(self, *caveats):
        """A token of this node."""
        return self.mint_at("node", *caveats)

    def mint_at(self, audience, *caveats):
        made = subprocess.run([self.programs / "cordon", "token", "mint", "--key", self.key, "--audience", audience, *caveats],
                              capture_output=True, text=True)
        if made.returncode:
            raise AssertionError(made.stderr)
        return made.stdout.strip()

    def __exit__(self, *_):
        with contextlib.suppress(AssertionError):
            self.end(self.node)
        with contextlib.suppress(AssertionError):
            self.end(self.launcher)
        while self.supervised and (left := self.node_pid()):     # of a launcher that was killed
            with contextlib.suppress(OSError):
                os.kill(left, signal.SIGKILL)
            time.sleep(0.01)
        shutil.rmtree(self.base, ignore_errors=True)
