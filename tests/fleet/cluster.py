# SPDX-License-Identifier: Apache-2.0
"""Three members of etcd on loopback, a test's own, and clients of ours driven over pipes."""
import argparse
import contextlib
import json
import os
import pathlib
import queue
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TOOLS = ("etcd", "etcdctl", "openssl")


def missing():
    return [tool for tool in TOOLS if not shutil.which(tool)]


def expect(truth, *words):
    if not truth:
        raise AssertionError(" ".join(str(word) for word in words))


def equal(got, wanted, *words):
    expect(got == wanted, *words, f"is {got!r}, not {wanted!r}")


def wait_until(what, seconds, *words):
    until = time.monotonic() + seconds
    while not (got := what()):
        expect(time.monotonic() < until, *words, f"not within {seconds} s")
        time.sleep(0.05)
    return got


def free_ports(count):
    """Below those that the kernel gives to who connects: a member's port is still free when it returns from the dead."""
    first_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    held = []
    while len(held) < count:
        with contextlib.suppress(OSError):
            held.append(socket.create_server(("127.0.0.1", random.randrange(min(10_000, first_given - 5_000), first_given))))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def openssl(*words, environment=None):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, env=environment)


class Certificates:
    def __init__(self, place):
        self.place = place
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=authority",
                "-keyout", place / "authority.key", "-out", place / "authority.pem")

    def make(self, name):
        """The paths of the authority's certificate, and of NAME's and its key."""
        request, extensions = self.place / f"{name}.csr", self.place / f"{name}.ext"
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", self.place / f"{name}.key", "-out", request)
        extensions.write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("x509", "-req", "-days", "1", "-in", request, "-CA", self.place / "authority.pem", "-CAkey", self.place / "authority.key",
                "-CAcreateserial", "-extfile", extensions, "-out", self.place / f"{name}.pem")
        return self.place / "authority.pem", self.place / f"{name}.pem", self.place / f"{name}.key"


class Cluster:
    """A context: its processes and its files are gone at its end, also on failure."""

    def __init__(self, driver, tls=False):
        self.driver, self.tls = pathlib.Path(driver), tls
        self.members, self.drivers = [None] * 3, []

    def __enter__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="cordon-etcd-"))
        try:
            self.certificates = Certificates(self.place) if self.tls else None
            self.shown = {name: self.certificates.make(name) for name in ("member", "root")} if self.tls else {}
            ports = free_ports(6)
            self.ports, self.peers = ports[:3], ports[3:]
            for number in range(3):
                self.start(number)
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for driver in self.drivers:
            driver.end()
        for process in self.members:
            if process and process.poll() is None:
                process.kill()      # also of one that is stopped
                process.wait()
        shutil.rmtree(self.place)

    def start(self, number):
        scheme = "https" if self.tls else "http"
        words = ["etcd", f"--name=m{number}", f"--data-dir={self.place}/m{number}",
                 f"--listen-client-urls={scheme}://127.0.0.1:{self.ports[number]}", f"--advertise-client-urls={scheme}://127.0.0.1:{self.ports[number]}",
                 f"--listen-peer-urls=http://127.0.0.1:{self.peers[number]}", f"--initial-advertise-peer-urls=http://127.0.0.1:{self.peers[number]}",
                 "--initial-cluster=" + ",".join(f"m{each}=http://127.0.0.1:{port}" for each, port in enumerate(self.peers)),
                 f"--initial-cluster-token={self.place.name}", "--logger=zap", "--log-level=error"]
        if self.tls:
            authority, certificate, key = self.shown["member"]
            words += [f"--trusted-ca-file={authority}", f"--cert-file={certificate}", f"--key-file={key}", "--client-cert-auth"]
        log = open(self.place / f"m{number}.log", "ab")
        with log:
            self.members[number] = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def log(self):
        return "".join((self.place / f"m{number}.log").read_text()[-2000:] for number in range(3))

    def address(self, number):
        return f"127.0.0.1:{self.ports[number]}"

    def control(self, *words, members=range(3), check=True):
        """etcdctl, as root."""
        scheme = "https" if self.tls else "http"
        more = []
        if self.tls:
            authority, certificate, key = self.shown["root"]
            more = [f"--cacert={authority}", f"--cert={certificate}", f"--key={key}"]
        done = subprocess.run(["etcdctl", "--endpoints=" + ",".join(f"{scheme}://{self.address(number)}" for number in members), *more, *words],
                              capture_output=True, text=True, env={**os.environ, "ETCDCTL_API": "3"})
        expect(not check or done.returncode == 0, words, done.stdout, done.stderr)
        return done.stdout or done.stderr   # where its answer is, differs

    def wait(self):
        wait_until(lambda: self.is_healthy(0), 20, "a cluster that answers:")
        wait_until(lambda: self.leader() is not None, 20, "a leader:")

    def is_healthy(self, number):
        return "is healthy" in self.control("endpoint", "health", members=[number], check=False)

    def leader(self):
        """The number of the member that leads, of those that answer."""
        for number in range(3):
            if self.members[number].poll() is None:
                said = self.control("endpoint", "status", "--write-out=json", "--command-timeout=1s", members=[number], check=False)
                if said.startswith("["):
                    status = json.loads(said)[0]["Status"]
                    if status.get("leader") == status["header"]["member_id"]:
                        return number
        return None

    def kill(self, number):
        self.members[number].kill()
        self.members[number].wait()

    def freeze(self, number):
        self.members[number].send_signal(signal.SIGSTOP)

    def thaw(self, number):
        self.members[number].send_signal(signal.SIGCONT)

    def client(self, name=None, first=0):
        """A client of ours, which asks member `first` first; with the certificate of `name`."""
        order = [self.address((first + number) % 3) for number in range(3)]
        if name and name not in self.shown:
            self.shown[name] = self.certificates.make(name)
        driver = Driver([self.driver, ",".join(order), *(self.shown[name] if name else ())])
        self.drivers.append(driver)
        return driver


class Driver:
    def __init__(self, words):
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.said, self.last = {}, 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            said = json.loads(line)
            self.said[said["number"]].put(said)

    def begin(self, *words):
        """The number of a command that goes on."""
        self.last += 1
        self.said[self.last] = queue.Queue()
        self.process.stdin.write(" ".join([str(self.last), *map(str, words)]) + "\n")
        return self.last

    def next(self, number, seconds=30):
        try:
            return self.said[number].get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"command {number}: silence for {seconds} s") from None

    def heard(self, number):
        """All that was said until now."""
        said = []
        while not self.said[number].empty():
            said.append(self.said[number].get())
        return said

    def ask(self, *words, seconds=30):
        return self.next(self.begin(*words), seconds)

    def do(self, *words, seconds=30):
        said = self.ask(*words, seconds=seconds)
        expect("error" not in said, words, said)
        return said

    def end(self):
        """Its exit code: of a client whose commands are all cancelled."""
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(5)
        self.process.stdout.close()
        return self.process.returncode


def events_of(said):
    return [event for one in said for event in one.get("events", [])]


def main(checks, with_tls=()):
    """`SUITE.py DRIVER [NAME...]`, each check with a cluster of its own. 77: no etcd here."""
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if absent := missing():
        print(f"skipped: no {', '.join(absent)}")
        sys.exit(77)
    if unknown := set(options.names) - set(checks):
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    failed = False
    for name, check in checks.items():
        if options.names and name not in options.names:
            continue
        begin = time.monotonic()
        try:
            with Cluster(options.driver, tls=check in with_tls) as cluster:
                try:
                    said = check(cluster) or ""
                except Exception:
                    print(cluster.log())
                    raise
                for driver in cluster.drivers:
                    equal(driver.end(), 0, "exit of a client:")
            word = "pass"
        except Exception:
            word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-3), True
        print(f"{word}  {name:<20} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    sys.exit(failed)
