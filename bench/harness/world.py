# SPDX-License-Identifier: Apache-2.0
"""A host and a server beyond it, for benchmarks of the network: two namespaces with one link between them, nginx on the far side.

The namespaces live as long as a process that holds them, and that dies with its maker. The server has an ordinary public address, which
exists in there only. The host's side sees names and a test CA through mounts of its own: nothing of the machine's is changed."""
import contextlib
import ctypes
import os
import signal
import subprocess
import time

from places import own_directory

SERVER, HOST = "151.101.1.10", "151.101.1.1"
PASSED, JUDGED, PLAIN = "passed.example.com", "judged.example.com", "plain.example.com"
NAMES = (PASSED, JUDGED, PLAIN)
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
BIG = 1 << 30       # bytes of the file that is downloaded; it takes no room

# One thread, as cordon-egress has; and it writes each connection and request down, as cordon does.
HAPROXY = """
global
  nbthread 1
  maxconn 4000
  log stdout len 1024 format raw daemon
defaults
  log global
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen passed
  mode tcp
  option tcplog
  bind 127.0.0.1:8443
  server one {server}:443
listen plain
  mode tcp
  option tcplog
  bind 127.0.0.1:8080
  server one {server}:80
listen judged
  mode http
  option httplog
  bind 127.0.0.1:9443 ssl crt {both} alpn http/1.1
  http-request deny unless METH_GET {{ path_beg /small }}
  server one {server}:443 ssl verify required ca-file {ca} verifyhost {judged} sni str({judged}) alpn http/1.1
"""

NGINX = """
daemon off; master_process off; pid {base}/nginx.pid; error_log {base}/nginx-error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; keepalive_requests 100000000;
  client_body_temp_path {base}/t1; proxy_temp_path {base}/t2; fastcgi_temp_path {base}/t3; uwsgi_temp_path {base}/t4; scgi_temp_path {base}/t5;
  ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_session_tickets off;
  server {{
    listen {server}:80 backlog=4096; listen {server}:443 ssl backlog=4096;
    location = /small {{ return 200 "hello\\n"; }}
    location = /big {{ root {base}/files; }}
  }}
}}
"""


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)      # PR_SET_PDEATHSIG


def quietly(*words, **how):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **how)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]}: {(done.stderr + done.stdout).strip()[-400:]}")
    return done.stdout


class World(contextlib.ExitStack):
    """`with World() as world`: `world.host` and `world.far` are processes that hold the namespaces."""

    def __enter__(self):
        super().__enter__()
        try:
            self.base = self.enter_context(own_directory(0))
            self._certificates()
            self.hosts("host", SERVER)
            bundle = self.base / "bundle.crt"
            bundle.write_text(self.ca.read_text())
            self.far = self._holder("far", "true")
            self.host = self._holder("host", f"mount --bind {self.base}/hosts-host /etc/hosts && mount --bind {bundle} {BUNDLE}")
            self._link()
            self._serve()
        except BaseException:
            self.close()
            raise
        return self

    def hosts(self, name, address):
        """A file as /etc/hosts has it, in which all names have this address."""
        path = self.base / f"hosts-{name}"
        path.write_text("127.0.0.1 localhost\n" + "".join(f"{address if isinstance(address, str) else address[each]} {each}\n" for each in NAMES))
        return path

    def start(self, *words, **how):
        """A process that is ended with the world."""
        child = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, **how)

        def end():
            child.kill()
            child.wait()
        self.callback(end)
        return child

    def within(self, holder, mounts=True):
        words = ["nsenter", f"--net=/proc/{holder}/ns/net"]
        return [*words, f"--mount=/proc/{holder}/ns/mnt"] if mounts else words

    def with_hosts(self, space, path):
        """Words before a command: in this process's network namespace, with these names."""
        return [*self.within(space, mounts=False), "unshare", "--mount", "sh", "-ec", 'mount --bind "$0" /etc/hosts && exec "$@"', str(path)]

    def _certificates(self):
        self.ca, ca_key = self.base / "ca.crt", self.base / "ca.key"
        self.certificate, self.key, self.both = self.base / "leaf.crt", self.base / "leaf.key", self.base / "leaf.both"
        settings, more, request = self.base / "openssl.cnf", self.base / "leaf.ext", self.base / "leaf.csr"
        settings.write_text("[req]\ndistinguished_name = name\n[name]\n")
        how = {"env": {**os.environ, "OPENSSL_CONF": str(settings)}}
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        quietly("openssl", "req", "-x509", *curve, "-days", 3, "-subj", "/CN=Cordon bench CA", "-keyout", ca_key, "-out", self.ca,
                "-addext", "basicConstraints=critical,CA:TRUE", **how)
        more.write_text("subjectAltName=" + ",".join(f"DNS:{name}" for name in NAMES) + "\nbasicConstraints=CA:FALSE\n")
        quietly("openssl", "req", "-new", *curve, "-subj", f"/CN={PASSED}", "-keyout", self.key, "-out", request, **how)
        quietly("openssl", "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", ca_key, "-CAcreateserial", "-days", 2,
                "-extfile", more, "-out", self.certificate, **how)
        self.both.write_text(self.certificate.read_text() + self.key.read_text())

    def _holder(self, name, command):
        ready = self.base / f"{name}.ready"
        child = self.start("unshare", "--net", "--mount", "sh", "-ec",
                           f"mount --make-rprivate / && {command} && ip link set lo up && touch {ready} && exec sleep infinity")
        self.wait(ready.exists, f"the namespace {name}")
        return child.pid

    @staticmethod
    def wait(ready, what):
        end = time.monotonic() + 20
        while not ready():
            if time.monotonic() > end:
                raise RuntimeError(f"{what} is not ready")
            time.sleep(0.01)

    def _link(self):
        inside, outside = self.within(self.host, mounts=False), self.within(self.far, mounts=False)
        quietly(*inside, "ip", "link", "add", "up0", "type", "veth", "peer", "name", "far0", "netns", str(self.far))
        quietly(*inside, "ip", "address", "add", f"{HOST}/24", "dev", "up0")
        quietly(*inside, "ip", "link", "set", "up0", "up")
        quietly(*outside, "ip", "address", "add", f"{SERVER}/24", "dev", "far0")
        quietly(*outside, "ip", "link", "set", "far0", "up")

    def _serve(self):
        (self.base / "files").mkdir()
        with open(self.base / "files/big", "wb") as file:
            file.truncate(BIG)
        configuration = self.base / "nginx.conf"
        configuration.write_text(NGINX.format(base=self.base, certificate=self.certificate, key=self.key, server=SERVER))
        self.start(*self.within(self.far), "nginx", "-p", f"{self.base}/", "-c", configuration, "-e", self.base / "nginx-error.log")
        configuration = self.base / "haproxy.cfg"
        configuration.write_text(HAPROXY.format(server=SERVER, both=self.both, ca=self.ca, judged=JUDGED))
        # As cordon-egress has: the scheduler shares the processor among sessions first.
        with open(self.base / "haproxy.log", "ab") as log:
            self.haproxy = self.start(*self.within(self.host), "haproxy", "-db", "-f", configuration, stdout=log, start_new_session=True).pid
        for port, url in ((443, f"https://{PASSED}/small"), (8443, f"https://{PASSED}:8443/small"), (8080, f"http://{PLAIN}:8080/small"),
                          (9443, f"https://{JUDGED}:9443/small")):
            address = SERVER if port == 443 else "127.0.0.1"
            words = [*self.within(self.host), "curl", "-sS", "--connect-to", f"::{address}:{port}", url]
            self.wait(lambda: subprocess.run(words, capture_output=True, text=True).stdout == "hello\n", url)
