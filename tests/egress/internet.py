# SPDX-License-Identifier: Apache-2.0
"""An internet for tests, made of network namespaces: a host with an uplink, and the servers of the world on the other side of it.

Nothing leaves the machine: the namespaces have one link, to each other. They have no names, live as long as a process that holds them,
and that process dies with whoever made it; so nothing is left behind, however a test ends. The host's side has a mount namespace of its
own with a copy of /etc in which the resolver and the test CA stand: the machine's own /etc is only read.
"""
import collections
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

import content
import names

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "cordon-internet-"
PYTHON = "/usr/bin/python3"
SINK_TCP = (21, 22, 25, 53, 80, 110, 143, 443, 445, 853, 1080, 3000, 3128, 5353, 5432, 6379, 8000, 8080, 8443, 9000, 9200, 11211, 27017)
SINK_UDP = (53, 67, 69, 123, 137, 161, 443, 500, 514, 853, 1900, 3478, 4500, 4789, 5353, 5355, 51820)
# What left the host, by where it went; what went to the host's own addresses. Neighbour discovery of the link itself is no traffic.
RULES = """
table inet world {
  set tcp4 { type ipv4_addr . inet_service; flags dynamic; counter; size 65535; }
  set open4 { type ipv4_addr . inet_service; flags dynamic; counter; size 65535; }
  set udp4 { type ipv4_addr . inet_service; flags dynamic; counter; size 65535; }
  set tcp6 { type ipv6_addr . inet_service; flags dynamic; counter; size 65535; }
  set udp6 { type ipv6_addr . inet_service; flags dynamic; counter; size 65535; }
  set other4 { type ipv4_addr . inet_proto; flags dynamic; counter; size 65535; }
  set other6 { type ipv6_addr . inet_proto; flags dynamic; counter; size 65535; }
  set own4 { type ipv4_addr . inet_service; flags dynamic; counter; size 65535; }
  set own6 { type ipv6_addr . inet_service; flags dynamic; counter; size 65535; }
  chain out { type filter hook output priority 0; policy accept;
    oifname "lo" ip daddr != 0.0.0.0 tcp flags & (syn | ack) == syn add @own4 { ip daddr . tcp dport counter } return
    oifname "lo" ip6 daddr != :: tcp flags & (syn | ack) == syn add @own6 { ip6 daddr . tcp dport counter } return
    oifname "lo" return
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, mld2-listener-report, mld-listener-report } return
    tcp flags & (syn | ack) == syn add @open4 { ip daddr . tcp dport counter }
    ip protocol tcp add @tcp4 { ip daddr . tcp dport counter } return
    ip protocol udp add @udp4 { ip daddr . udp dport counter } return
    ip6 nexthdr tcp add @tcp6 { ip6 daddr . tcp dport counter } return
    ip6 nexthdr udp add @udp6 { ip6 daddr . udp dport counter } return
    # By the host's own kernel: an answer came when nobody waited for it any more.
    ip daddr RESOLVER icmp type destination-unreachable icmp code port-unreachable return
    meta nfproto ipv4 add @other4 { ip daddr . meta l4proto counter }
    meta nfproto ipv6 add @other6 { ip6 daddr . meta l4proto counter }
  }
}
""".replace("RESOLVER", names.RESOLVER)
SETS = ("tcp4", "open4", "udp4", "tcp6", "udp6", "other4", "other6", "own4", "own6")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)      # PR_SET_PDEATHSIG


class Internet:
    """A context. `host` is the namespace in which `cordon` is run."""

    def __enter__(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir="/var/tmp"))
        self.base.chmod(0o755)
        self.servers = []
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in reversed(self.servers):
            child.kill()
        for child in self.servers:
            child.wait()
        made = str(self.base)       # made by mkdtemp above, and nothing is mounted below it in this namespace
        assert made.startswith(f"/var/tmp/{PREFIX}"), made
        shutil.rmtree(made, ignore_errors=True)

    def _make(self):
        self.certificates = content.Certificates(self.base / "certificates", [*names.SITES, *names.PEERS, "*.wild.example.org", "*.example.com",
                                                                              "*.inward.example.com"])
        self._furnish()
        self._copy_of_etc()
        self.world = self._holder("world", "true")
        self.host = self._holder("host", f"mount --bind {self.base}/etc /etc")
        self._link()
        self._serve()

    def _furnish(self):
        offers = self.base / "offers"
        offers.mkdir()
        content.files(offers / "files")
        content.python_index(offers / "python")
        content.node_registry(offers / "node", "registry.example.com")
        content.debian_archive(offers)
        self.repository = content.git_repository(offers)

    def _copy_of_etc(self):
        """The machine's, without its secrets, and with what a host of this internet has."""
        etc = self.base / "etc"
        leave = shutil.ignore_patterns("shadow*", "gshadow*", "ssh", "sudoers*", "private", "resolv.conf", "*-")
        shutil.copytree("/etc", etc, symlinks=True, ignore=leave)
        (etc / "resolv.conf").write_text(f"nameserver {names.RESOLVER}\nsearch corp.example\noptions timeout:2 attempts:2\n")
        (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n")
        (etc / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
        certs = etc / "ssl/certs"
        certs.mkdir(parents=True, exist_ok=True)
        bundle = certs / "ca-certificates.crt"
        ca = self.certificates.ca.read_text()
        bundle.write_text((bundle.read_text() if bundle.exists() else "") + ca)
        digest = content.quietly("openssl", "x509", "-noout", "-hash", "-in", self.certificates.ca).strip()
        (certs / f"{digest}.0").write_text(ca)
        self.bundle = "/etc/ssl/certs/ca-certificates.crt"

    def _holder(self, name, command):
        """A process in a new network and mount namespace, after this command."""
        ready = self.base / f"{name}.ready"
        script = f"mount --make-rprivate / && {command} && touch {ready} && exec sleep infinity"
        child = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-ec", script], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.servers.append(child)
        self._wait(ready.exists, f"namespace {name}", child)
        return child.pid

    @staticmethod
    def _wait(ready, what, child=None):
        end = time.monotonic() + 20
        while not ready():
            if child is not None and child.poll() is not None:
                raise RuntimeError(f"{what} ended with {child.returncode}")
            if time.monotonic() > end:
                raise RuntimeError(f"{what} is not ready")
            time.sleep(0.01)

    def within(self, holder, mounts=True):
        words = ["nsenter", f"--net=/proc/{holder}/ns/net"]
        return [*words, f"--mount=/proc/{holder}/ns/mnt"] if mounts else words

    def _link(self):
        def do(holder, text):
            for line in text.strip().splitlines():
                content.quietly(*self.within(holder, mounts=False), *line.split())
        do(self.host, f"""
            ip link set lo up
            ip link add up0 type veth peer name world0 netns {self.world}
            ip address add {names.UPLINK}/24 dev up0
            ip address add {names.UPLINK6}/64 dev up0 nodad
            ip link set up0 up""")
        do(self.world, f"""
            ip link set lo up
            ip address add {names.GATEWAY}/24 dev world0
            ip address add {names.GATEWAY6}/64 dev world0 nodad
            ip address add {names.RESOLVERS[-1]}/128 dev lo nodad
            ip link set world0 up
            ip route add local 0.0.0.0/0 dev lo table main
            nft add table ip dead
            nft add chain ip dead in {{type filter hook input priority 0;}}
            nft add rule ip dead in ip daddr {names.DEAD} meta l4proto tcp reject with tcp reset
            ip route add blackhole {names.HOLE}
            ip -6 route add local ::/0 dev lo table main""")
        do(self.host, f"ip route add default via {names.GATEWAY}\nip -6 route add default via {names.GATEWAY6}\n"
           + "\n".join(f"ip address add {address}/32 dev lo" for address in (*names.METADATA, *names.PRIVATE)) + "\n"
           + "\n".join(f"ip address add {address}/128 dev lo nodad" for address in (*names.METADATA6, *names.PRIVATE6)))
        rules = self.base / "rules.nft"
        rules.write_text(RULES)
        do(self.host, f"nft -f {rules}")

    def start(self, holder, *words, **how):
        """A server in one of the namespaces."""
        log = open(self.base / "servers.log", "ab")
        child = subprocess.Popen([*self.within(holder), *[str(word) for word in words]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 preexec_fn=die_with_parent, cwd=self.base, **how)
        log.close()
        self.servers.append(child)
        return child

    def _serve(self):
        zone = self.base / "zone.json"
        zone.write_text(json.dumps({"zone": names.zone(), "default": names.STRANGER}))
        here = HERE / "servers"
        self.start(self.world, PYTHON, here / "dns.py", zone, self.log("dns"), *names.RESOLVERS)
        self.start(self.host, PYTHON, here / "dns.py", zone, self.log("local-dns"), names.LOCAL_RESOLVER)
        self.start(self.world, PYTHON, here / "origin.py", self.log("origin"), names.PEERS["echo.example.com"], 80)
        self.start(self.world, PYTHON, here / "origin.py", self.log("origin-tls"), names.PEERS["echo.example.com"], 443, *self.certificates.good)
        for name, pair in (("mirror", self.certificates.good), ("retry", (*self.certificates.good, "secp384r1")),
                           ("wrong-name.tls", self.certificates.wrong_name), ("expired.tls", self.certificates.expired),
                           ("self-signed.tls", self.certificates.self_signed)):
            self.start(self.world, PYTHON, here / "mirror.py", self.log("mirror"), names.PEERS[f"{name}.example.com"], *pair)
        self.start(self.world, PYTHON, here / "banner.py", self.log("banner"), names.PEERS["ssh.example.com"], 22)
        self.start(self.world, PYTHON, here / "git_http.py", self.base / "offers/git", 8418)
        taken = {80, 443, 53}
        self.start(self.world, PYTHON, here / "sink.py", "world", self.log("stranger"),
                   ",".join(str(port) for port in SINK_TCP if port not in taken | {6379}),
                   ",".join(str(port) for port in SINK_UDP if port != 53))
        self.start(self.host, PYTHON, here / "sink.py", "host", self.log("sink"), ",".join(map(str, SINK_TCP)), ",".join(map(str, SINK_UDP)))
        self.start(self.world, "redis-server", "--bind", names.PEERS["redis.example.com"], names.STRANGER, "--port", 6379, "--save", "",
                   "--protected-mode", "no",
                   "--dir", self.base, "--daemonize", "no")
        self._nginx()
        for address, port in (("api.example.com", 443), ("api.example.com", 80), ("redis.example.com", 6379), ("ssh.example.com", 22),
                              ("echo.example.com", 80), ("echo.example.com", 443), ("mirror.example.com", 443), ("retry.example.com", 443),
                              ("wrong-name.tls.example.com", 443), ("expired.tls.example.com", 443), ("self-signed.tls.example.com", 443)):
            self._wait(lambda: self.answers({**names.SITES, **names.PEERS}[address], port), f"{address}:{port}")
        for address, port in ((names.RESOLVER, 53), ("45.33.1.1", 8080), ("127.0.0.1", 80), ("10.1.2.3", 27017)):
            self._wait(lambda: self.answers(address, port), f"{address}:{port}")
        self._wait(lambda: content.quietly(*self.within(self.host), "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}",
                                           "https://git.example.com/demo.git/HEAD") == "200", "git.example.com")
        self.forget()

    def _nginx(self):
        """Every site offers everything: what tells them apart is their names."""
        configuration = self.base / "nginx.conf"
        certificate, key = self.certificates.good
        moved = "".join(f'    /moved/{word} "{target}";\n' for word, target in names.TARGETS.items())
        temporary = "".join(f"  {name}_temp_path {self.base}/nginx-{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        configuration.write_text(f"""
daemon off; master_process off; pid {self.base}/nginx.pid; error_log {self.base}/nginx-error.log;
events {{ worker_connections 4096; }}
http {{
  log_format told escape=json '{{"time":"$msec","host":"$host","sni":"$ssl_server_name","to":"$server_addr","port":"$server_port",'
    '"request":"$request","status":"$status","agent":"$http_user_agent","authorization":"$http_authorization","x_api_key":"$http_x_api_key"}}';
  access_log {self.log("nginx")} told;
{temporary}
  ssl_certificate {certificate}; ssl_certificate_key {key}; default_type text/plain; client_max_body_size 64m;
  map $uri $moved_to {{ default "https://api.example.com/hello";
{moved}  }}
  server {{
    listen 0.0.0.0:80 reuseport; listen [::]:80 reuseport; listen 0.0.0.0:443 ssl http2 reuseport; listen [::]:443 ssl http2 reuseport;
    location / {{ root {self.base}/offers/files; }}
    location = /who {{ return 200 "$host $server_addr $ssl_server_name\\n"; }}
    location /moved/ {{ return 302 $moved_to; }}
    location /simple/ {{ root {self.base}/offers/python; index index.html; types {{ text/html html; }} }}
    location /cordon-demo {{ root {self.base}/offers/node; default_type application/json; }}
    location /debian/ {{ alias {self.base}/offers/archive/; }}
    location /demo.git {{ proxy_pass http://127.0.0.1:8418; }}
  }}
}}
""")
        self.start(self.world, "nginx", "-p", f"{self.base}/", "-c", configuration, "-e", self.base / "nginx-error.log")

    def answers(self, address, port):
        """Whether a connection from the host's namespace is taken."""
        words = [*self.within(self.host), PYTHON, "-c", "import socket,sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2).close()"]
        return subprocess.run([*words, address, str(port)], capture_output=True).returncode == 0

    # What was seen.

    def log(self, name):
        return self.base / f"{name}.log"

    def told(self, name):
        """The lines of a log, as they are now."""
        try:
            lines = self.log(name).read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    def forget(self):
        """Empties all logs and counters; whoever writes them appends."""
        time.sleep(0.05)
        for name in ("dns", "origin", "origin-tls", "banner", "stranger", "sink", "nginx", "mirror", "local-dns"):
            with contextlib.suppress(FileNotFoundError):
                os.truncate(self.log(name), 0)
        for each in SETS:
            content.quietly(*self.within(self.host), "nft", "flush", "set", "inet", "world", each)

    def packets(self, which):
        """Packets out of the host by (address, port or protocol)."""
        listed = json.loads(content.quietly(*self.within(self.host), "nft", "-j", "list", "set", "inet", "world", which))
        found = {}
        for each in listed["nftables"]:
            for element in each.get("set", {}).get("elem", []):
                address, port = element["elem"]["val"]["concat"]
                found[address, port] = element["elem"]["counter"]["packets"]
        return found

    def left(self):
        """All that left the host or knocked at its own addresses: {set: {destination: packets}}, without empty ones."""
        found = {which: self.packets(which) for which in SETS}
        return {which: counted for which, counted in found.items() if counted}

    def asked(self):
        """Names that the resolvers were asked for, with how often."""
        return collections.Counter(line.get("name", "malformed").lower() for line in self.told("dns") if "answered" not in line)

    @contextlib.contextmanager
    def held(self):
        """Meanwhile names that the zone calls held get no answer."""
        mark = self.base / f"{self.log('dns').name}.held"
        mark.touch()
        try:
            yield
        finally:
            mark.unlink()

    def all_answered(self, name):
        """Of a name that was held: every question has its answer."""
        return self.asked()[name] == sum(line.get("answered") == name for line in self.told("dns"))

    def dialling(self, address):
        """Connections of the host that are being opened to it."""
        lines = pathlib.Path(f"/proc/{self.host}/net/tcp").read_text().splitlines()[1:]
        wanted = bytes(reversed([int(part) for part in address.split(".")])).hex().upper()
        return [line for line in lines if line.split()[2].startswith(wanted + ":") and line.split()[3] == "02"]      # TCP_SYN_SENT

    def knocks(self):
        """Connections and datagrams at the host's own addresses."""
        return [line for line in self.told("sink") if line["kind"] in ("tcp", "udp")]


def main():
    """A shell, or a command, in the host's namespace of a fresh internet."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Internet() as internet:
        done = subprocess.run([*internet.within(internet.host), *(sys.argv[1:] or ["sh"])])
        print(json.dumps({"left": {which: {f"{a} {p}": n for (a, p), n in counted.items()} for which, counted in internet.left().items()},
                          "asked": internet.asked(), "knocks": len(internet.knocks())}))
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
