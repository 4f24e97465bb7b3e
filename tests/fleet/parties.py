# SPDX-License-Identifier: Apache-2.0
"""A fleet of the test's own: three members of etcd, gateways and nodes, each with an address of its own in a network namespace of its own."""
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cordond"))

from cluster import expect, openssl, wait_until  # noqa: E402
from daemon import Client, Daemon  # noqa: E402

CELL = 1
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
FLOOR = "networks_ahead = 0\ngroups_ahead = 2\nsandboxes_ahead = 2\nengines_ahead = 0\n"
TOOLS = ("etcd", "etcdctl", "openssl", "ip", "nsenter")


def missing():
    return [tool for tool in TOOLS if not shutil.which(tool)]


def ip(*words):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)
    expect(done.returncode == 0, "ip", words, done.stderr)
    return done.stdout


class Network:
    """One bridge in a namespace of its own; whoever joins has a namespace, a cable to it and an address."""

    def __init__(self):
        self.tag = f"cf{os.getpid() % 100_000}"
        self.hub = f"{self.tag}h"
        self.joined = {}
        ip("netns", "add", self.hub)
        ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.hub, "link", "set", "bridge", "up")

    def join(self, name, address):
        """The words that run a program there."""
        space, cable = f"{self.tag}{name}", f"{self.tag}{name}"
        ip("netns", "add", space)
        self.joined[name] = space
        ip("-n", self.hub, "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("-n", self.hub, "link", "set", cable, "master", "bridge", "up")
        ip("-n", space, "addr", "add", f"{address}/16", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", space, "link", "set", device, "up")
        return ["nsenter", f"--net=/run/netns/{space}"]

    @contextlib.contextmanager
    def inside(self, name):
        """This thread is there meanwhile: sockets that it makes stay there."""
        def enter(path):
            with open(path, "rb") as space:
                expect(LIBC.setns(space.fileno(), CLONE_NEWNET) == 0, "setns", path, os.strerror(ctypes.get_errno()))
        with open("/proc/thread-self/ns/net", "rb") as home:
            enter(f"/run/netns/{self.joined[name]}")
            try:
                yield
            finally:
                enter(f"/proc/thread-self/fd/{home.fileno()}")

    def cut(self, name, is_cut=True):
        """Pulls its cable, or puts it back."""
        ip("-n", self.hub, "link", "set", self.joined[name], "down" if is_cut else "up")

    def block(self, one, address, is_blocked=True):
        """What `one` sends to `address`, and hears from there, is lost."""
        verb = "add" if is_blocked else "del"
        ip("-n", self.joined[one], "route", verb, "blackhole", address)

    def end(self):
        for space in (*self.joined.values(), self.hub):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


class Certificates:
    """One authority, and whoever it certifies. `environment`: as a fleet's."""

    number = 0

    def __init__(self, place, environment=lambda party: None):
        self.place, self.environment = place, environment
        self.authority = place / "authority.pem"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=authority",
                "-keyout", place / "authority.key", "-out", self.authority)

    def _openssl(self, *words):
        openssl(*words, environment=self.environment(self))

    def make(self, name, *also, days=1):
        """`also`: "IP:10.0.0.1", "DNS:node-1-2"."""
        files = self.place / f"{name}.pem", self.place / f"{name}.key"
        request, extensions = self.place / f"{name}.csr", self.place / f"{name}.ext"
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout", files[1], "-out", request)
        extensions.write_text(f"subjectAltName={','.join((f'DNS:{name}', *also))}\n")
        self._openssl("x509", "-req", "-days", days, "-in", request, "-CA", self.authority, "-CAkey", self.place / "authority.key", "-CAcreateserial",
                "-extfile", extensions, "-out", files[0])
        for file in files:
            file.chmod(0o644)     # programs of several users read them
        return files


class Etcd:
    """Three members that hold clients to the rights of their certificates."""

    def __init__(self, place, network, certificates):
        self.place = place
        self.addresses = [f"10.77.0.{number + 1}" for number in range(3)]
        self.within = [network.join(f"e{number}", address) for number, address in enumerate(self.addresses)]
        self.authority = certificates.authority
        self.certificate, self.key = certificates.make("member", *(f"IP:{address}" for address in self.addresses))
        self.root = certificates.make("root")
        self.members = [None] * 3
        for number in range(3):
            self.start(number)
        wait_until(lambda: all(self.is_healthy(number) for number in range(3)), 30, "a cluster that answers:")

    def start(self, number):
        address = self.addresses[number]
        words = ["etcd", f"--name=m{number}", f"--data-dir={self.place}/m{number}", f"--listen-client-urls=https://{address}:2379",
                 f"--advertise-client-urls=https://{address}:2379", f"--listen-peer-urls=http://{address}:2380", f"--initial-advertise-peer-urls=http://{address}:2380",
                 "--initial-cluster=" + ",".join(f"m{each}=http://{where}:2380" for each, where in enumerate(self.addresses)),
                 f"--initial-cluster-token={self.place.name}", f"--trusted-ca-file={self.authority}", f"--cert-file={self.certificate}", f"--key-file={self.key}",
                 "--client-cert-auth", "--logger=zap", "--log-level=error"]
        with open(self.place / f"m{number}.log", "ab") as log:
            self.members[number] = subprocess.Popen([*self.within[number], *words], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def control(self, *words, number=0, check=True, shows=None):
        """etcdctl, as root, or with another certificate and its key; with none where `shows` is empty."""
        shown = self.root if shows is None else shows
        done = subprocess.run([*self.within[number], "etcdctl", f"--endpoints=https://{self.addresses[number]}:2379", f"--cacert={self.authority}",
                               *(f"--{word}={file}" for word, file in zip(("cert", "key"), shown)), *map(str, words)],
                              capture_output=True, text=True, env={**os.environ, "ETCDCTL_API": "3"})
        expect(not check or done.returncode == 0, words, done.stdout, done.stderr)
        return done.stdout or done.stderr

    def is_healthy(self, number):
        return "is healthy" in self.control("endpoint", "health", number=number, check=False)

    def leader(self):
        for number in range(3):
            if self.members[number].poll() is None:
                said = self.control("endpoint", "status", "--write-out=json", "--command-timeout=1s", number=number, check=False)
                if said.startswith("["):
                    status = json.loads(said)[0]["Status"]
                    if status.get("leader") == status["header"]["member_id"]:
                        return number
        return None

    def revision(self):
        """How often something was written."""
        return json.loads(self.control("get", "none", "--write-out=json"))["header"]["revision"]

    def allow(self, user, *rights):
        """`rights`: of a kind and a prefix each; the prefix "=KEY" is one key."""
        self.control("user", "add", user, "--no-password")
        self.control("role", "add", user)
        for kind, prefix in rights:
            self.control("role", "grant-permission", user, kind, *((prefix[1:],) if prefix.startswith("=") else ("--prefix=true", prefix)))
        self.control("user", "grant-role", user, user)

    def demand_rights(self):
        self.control("user", "add", "root", "--no-password")
        self.control("user", "grant-role", "root", "root")
        self.control("auth", "enable")

    def settings(self, certificate, key):
        return f'authority = "{self.authority}"\ncertificate = "{certificate}"\nkey = "{key}"\n'

    def end(self):
        for process in self.members:
            if process and process.poll() is None:
                process.kill()
                process.wait()


class Place:
    """Where a node of the fleet is, as tests/cordond/daemon.py takes it."""

    def __init__(self, fleet, number, slots, cell):
        self.number, self.address, self.root_key = number, f"10.77.2.{number}", fleet.root_key
        self.name = f"node-{cell}-{number}"
        self.certificate, self.key = fleet.certificates.make(self.name)
        self.listen = (f'tcp = "{self.address}:8443"\ncertificate = "{self.certificate}"\nkey = "{self.key}"\n'
                       f'client_authority = "{fleet.certificates.authority}"\n[fleet]\ncell = {cell}\nnode = {number}\nslots = {slots}\n')


class Node:
    def __init__(self, fleet, number, slots, cell):
        self.fleet, self.number, self.cell, self.place = fleet, number, cell, Place(fleet, number, slots, cell)
        self.within = fleet.network.join(f"n{number}", self.place.address)
        self.id = f"{cell}.{number}"
        self.registrar = None
        fleet.etcd.allow(self.place.name, ("readwrite", f"=/cordon/cells/{cell}/nodes/{number}"), ("read", "/cordon/revocations/"),
                         ("read", "/cordon/policy/"))
        self.daemon = Daemon(fleet.programs, settings=fleet.node_settings.get(cell, ""), floor=fleet.floor.format(number=number), ranges=fleet.ranges, tools=fleet.tools, within=self.within, place=self.place)
        self.daemon.environment = lambda: fleet.environment(self)

    def start(self):
        first = self.fleet.nodes[0]
        if self is not first:
            self.daemon.image = first.daemon.root       # what a check puts in there all have
        self.daemon.__enter__()
        config = self.daemon.base / "registrar.toml"
        members = json.dumps([f"{address}:2379" for address in self.fleet.etcd.addresses])
        config.write_text(f'node = "{self.daemon.socket}"\naddress = "{self.place.address}:8443"\n[cell]\nmembers = {members}\n[etcd]\nmembers = {members}\n'
                          + self.fleet.etcd.settings(self.place.certificate, self.place.key))
        config.chmod(0o644)
        self.config = config
        self.start_registrar()

    def start_registrar(self):
        shutil.copy(self.fleet.programs / "cordon-registrar", self.daemon.bin)
        uid = self.daemon.uid
        self.registrar = self.daemon._spawn("registrar", "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", self.daemon.bin / "cordon-registrar",
                                            "--config", self.config)

    def client(self, **how):
        return self.daemon.client(**how)

    def log(self):
        return "".join(f"== {name} of {self.id}\n{self.daemon.log(name)}" for name in ("cordond", "launcher", "registrar"))

    def end(self):
        if self.registrar and self.registrar.poll() is None:
            self.registrar.kill()
            self.registrar.wait()
        if hasattr(self.daemon, "base"):
            self.daemon.__exit__()


class Gateway:
    def __init__(self, fleet, number):
        self.fleet, self.number, self.address = fleet, number, f"10.77.1.{number}"
        self.within = fleet.network.join(f"g{number}", self.address)
        self.home = fleet.base / f"gateway{number}"
        self.home.mkdir()
        (self.home / "state").mkdir(mode=0o700)
        self.socket = str(self.home / "gateway.sock")
        name = f"gateway-{number}"
        certificate, key = fleet.certificates.make(name, f"IP:{self.address}")
        fleet.etcd.allow(name, ("read", "/cordon/cells/"), *(("readwrite", f"/cordon/{what}/") for what in ("revocations", "policy", "quotas", "moved")))
        members = json.dumps([f"{address}:2379" for address in fleet.etcd.addresses])
        identity = fleet.etcd.settings(certificate, key)
        cells = "".join(f"[cells.{cell}]\nmembers = {members}\n" for cell in fleet.cells)
        self.config = self.home / "gateway.toml"
        self.config.write_text(f'state = "{self.home}/state"\nroot_key = "{fleet.root_key}"\n[listen]\nunix = "{self.socket}"\n'
                               f'tcp = "{self.address}:8443"\ncertificate = "{certificate}"\nkey = "{key}"\n'
                               f"[etcd]\nmembers = {members}\n{identity}{cells}[nodes]\n{identity}")
        self.process = None

    def start(self):
        with open(self.home / "log", "ab") as log:
            self.process = subprocess.Popen([*self.within, str(self.fleet.programs / "cordon-gateway"), "--config", str(self.config)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env=self.fleet.environment(self))

        def answers():
            expect(self.process.poll() is None, "the gateway ended:", self.log())
            with contextlib.suppress(OSError), self.client(timeout=5) as probe:
                return probe.ask("GET", "/v1/health").status == 200
        wait_until(answers, 20, "a gateway that answers:")

    def client(self, **how):
        return Client(self.socket, **how)

    def nodes(self):
        """By their ids: what it knows of each."""
        with self.client() as client:
            return {f"{node['cell']}.{node['node']}": node for node in client.ask("GET", "/v1/fleet/nodes").json["nodes"]}

    def placeable(self):
        return {name for name, node in self.nodes().items() if node["standing"] == "placeable"}

    def log(self):
        file = self.home / "log"
        return file.read_text(errors="replace")[-6000:] if file.exists() else ""

    def end(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Index:
    """One of a cell's; which of them acts their election says."""

    def __init__(self, fleet, number, cell):
        self.fleet, self.number, self.cell, self.address = fleet, number, cell, f"10.77.3.{number}"
        self.within = fleet.network.join(f"i{number}", self.address)
        self.home = fleet.base / f"index{number}"
        self.home.mkdir()
        (self.home / "state").mkdir(mode=0o700)
        self.socket = str(self.home / "index.sock")
        name = f"index-{cell}-{number}"
        # All of a cell prove to be its index; in etcd each is itself.
        certificate, key = fleet.certificates.make(name, f"DNS:index-{cell}")
        fleet.etcd.allow(name, ("read", f"/cordon/cells/{cell}/"), ("readwrite", f"=/cordon/cells/{cell}/index"), ("readwrite", "/cordon/quotas/"), ("read", "/cordon/moved/"))
        members = json.dumps([f"{address}:2379" for address in fleet.etcd.addresses])
        identity = fleet.etcd.settings(certificate, key)
        self.config = self.home / "index.toml"
        self.config.write_text(f'address = "{self.address}:8444"\nstate = "{self.home}/state"\nroot_key = "{fleet.root_key}"\n[listen]\nunix = "{self.socket}"\n'
                               f'tcp = "{self.address}:8444"\ncertificate = "{certificate}"\nkey = "{key}"\nclient_authority = "{fleet.certificates.authority}"\n'
                               f"[cell]\nnumber = {cell}\nmembers = {members}\n[etcd]\nmembers = {members}\n{identity}[nodes]\n{identity}")
        self.process = None

    def start(self):
        with open(self.home / "log", "ab") as log:
            self.process = subprocess.Popen([*self.within, str(self.fleet.programs / "cordon-index"), "--config", str(self.config)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        wait_until(lambda: self.health() is not None, 20, "an index that answers:")

    def health(self):
        """Nothing: it does not answer."""
        expect(self.process.poll() is None, "the index ended:", self.log())
        with contextlib.suppress(OSError), Client(self.socket, timeout=5) as client:
            return client.ask("GET", "/v1/health").json
        return None

    def is_complete(self):
        """It acts, and has read all nodes."""
        return self.process.poll() is None and (self.health() or {}).get("complete") is True

    def log(self):
        file = self.home / "log"
        return file.read_text(errors="replace")[-6000:] if file.exists() else ""

    def end(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Fleet:
    """A context: its processes, its files and its namespaces are gone at its end, also on failure."""

    def __init__(self, programs, nodes=2, gateways=1, slots=20, node_settings="", tools=(), indexes=0, floor=FLOOR, ranges=96, environment=None, cells=(CELL,)):
        """`nodes`, `indexes`: of each of `cells`; numbers are unique over all. `node_settings`: of all nodes, or by their cell. `floor`: in it {number} is a node's.
        `environment`: of a party's programs, by the party; none: this process's own."""
        self.programs = pathlib.Path(programs).resolve()
        self.floor, self.ranges = floor, ranges
        self.environment = environment or (lambda party: None)
        self.counts, self.slots, self.tools, self.cells = (nodes, gateways, indexes), slots, tools, cells
        self.node_settings = node_settings if isinstance(node_settings, dict) else dict.fromkeys(cells, node_settings)
        self.network = self.etcd = None
        self.nodes, self.gateways, self.indexes = [], [], []

    def __enter__(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-fleet-", dir="/var/tmp"))
        try:
            self._settle()
        except BaseException:
            print(self.log())
            self.__exit__()
            raise
        return self

    def _settle(self):
        self.base.chmod(0o755)
        self.network = Network()
        (self.base / "certificates").mkdir()
        self.certificates = Certificates(self.base / "certificates", self.environment)
        self.root_key = self.base / "root.key"
        subprocess.run([self.programs / "cordon", "token", "key", self.root_key], capture_output=True, check=True)
        (self.base / "etcd").mkdir()
        self.etcd = Etcd(self.base / "etcd", self.network, self.certificates)
        nodes, gateways, indexes = self.counts
        for cell in self.cells:
            for _ in range(nodes):
                self.nodes.append(Node(self, len(self.nodes) + 1, self.slots, cell))
            for _ in range(indexes):
                self.indexes.append(Index(self, len(self.indexes) + 1, cell))
        for number in range(1, gateways + 1):
            self.gateways.append(Gateway(self, number))
        self.etcd.demand_rights()
        for party in (*self.nodes, *self.gateways, *self.indexes):
            party.start()
        self.settle()

    def settle(self, seconds=30):
        """Until each gateway places on each node."""
        wanted = {node.id for node in self.nodes}
        for gateway in self.gateways:
            wait_until(lambda: gateway.placeable() == wanted, seconds, "all nodes take new sandboxes:")
        for cell in self.cells if self.indexes else ():
            wait_until(lambda: self.acting(cell), seconds, "an index acts and has read all nodes:")

    def acting(self, cell=CELL):
        """The index of the cell that acts and is complete; nothing: none is."""
        return next((index for index in self.indexes if index.cell == cell and index.is_complete()), None)

    def indexed(self, index, token=None):
        """A client of an index at its own socket, where root needs no token."""
        return Client(index.socket, token=token)

    def mint(self, *caveats):
        """A token of this fleet."""
        done = subprocess.run([self.programs / "cordon", "token", "mint", "--key", self.root_key, "--audience", "fleet", *caveats], capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        return done.stdout.strip()

    def node_of(self, sandbox):
        """The node that has it, by asking each."""
        for node in self.nodes:
            with node.client() as client:
                if client.ask("GET", f"/v1/sandboxes/{sandbox}").status == 200:
                    return node
        return None

    def log(self):
        return "".join([*(party.log() for party in (*self.gateways, *self.indexes)), *(node.log() for node in self.nodes if hasattr(node.daemon, "base"))])

    def __exit__(self, *_):
        for party in (*self.gateways, *self.indexes, *self.nodes):
            with contextlib.suppress(Exception):
                party.end()
        if self.etcd:
            self.etcd.end()
        if self.network:
            self.network.end()
        shutil.rmtree(self.base, ignore_errors=True)
