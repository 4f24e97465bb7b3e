# SPDX-License-Identifier: Apache-2.0
"""Who runs `cordon` on the host of the test internet: root, or an ordinary user; and the same commands there without any sandbox."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from caller import Caller, Ended, descendants, survivors  # noqa: E402


class Traveller(Caller):
    """A caller on that host."""

    def __init__(self, name, programs, internet):
        self.internet = internet
        super().__init__(name, programs)
        self.numbers = iter(range(1_000_000))
        if self.uid != 0:       # an account on that host: some clients ask who they are
            with open(internet.base / "etc/passwd", "a") as file:
                file.write(f"traveller:x:{self.uid}:{self.uid}::{self.home}:/bin/sh\n")

    def _reachable(self, programs):
        """Copies that no build replaces meanwhile."""
        own = self.base / "bin"
        own.mkdir(mode=0o755)
        for path in programs.iterdir():
            if path.name.startswith("cordon") and path.is_file() and os.access(path, os.X_OK):
                shutil.copy(path, own / path.name)
        return own

    def become(self):
        here = getattr(self, "workspace", "/")
        words = [*self.internet.within(self.internet.host), f"--wdns={here}"]
        if getattr(self, "resolv", None):       # another resolv.conf than the host's, in a mount namespace of this run alone
            words += ["unshare", "--mount", "sh", "-ec", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', str(self.resolv)]
        return [*words, *super().become()]

    def _ours(self):
        """Processes below us that are no servers of the internet."""
        servers = {child.pid for child in self.internet.servers}
        theirs = servers.union(*(descendants(pid) for pid in servers))
        return [pid for pid in descendants(os.getpid()) if pid not in theirs]

    def __exit__(self, *_):
        self._end_ours()
        survivors(2, other_than={child.pid for child in self.internet.servers})
        made = str(self.base)
        assert made.startswith("/var/tmp/cordon-test-"), made
        shutil.rmtree(made, ignore_errors=True)

    def _end_ours(self):
        for pid in self._ours():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass

    def finish(self, child, report, timeout, begin, stdin=None):
        try:
            out, err = child.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            self._end_ours()
            out, err = child.communicate()
            return Ended(-1, out, err, time.monotonic() - begin, None)
        return super().finish(Finished(child.returncode, out, err), report, timeout, begin)

    def policy(self, text):
        """The flags that name a policy file with this text."""
        path = self.home / f"policy{next(self.numbers)}.toml"
        path.write_text("version = 1\n" + text)
        path.chmod(0o644)
        return ["--policy", str(path)]

    def give(self, name, data):
        """A file in the workspace."""
        path = self.workspace / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        os.chown(path, self.uid, self.uid)
        return path

    def directly(self, command, timeout=60, **how):
        """The command on that host, without a sandbox."""
        begin = time.monotonic()
        child = subprocess.Popen([*self.become(), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True, env={**self.environment(), **how.pop("env", {})}, **how)
        return self.finish(child, pathlib.Path("/nonexistent"), timeout, begin)


class Finished:
    """A child that has ended, for whoever wants to wait for it."""

    def __init__(self, code, out, err):
        self.returncode, self.out, self.err = code, out, err

    def communicate(self, *_, **__):
        return self.out, self.err
