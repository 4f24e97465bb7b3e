# SPDX-License-Identifier: Apache-2.0
"""A terminal that a test holds: `cordon` runs on its other side as on a person's."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time


class Screen:
    """A context. All that was shown so far is in `shown`."""

    def __init__(self, caller, words, rows=31, columns=97):
        self.caller, self.words, self.size = caller, words, (rows, columns)
        self.shown = b""
        self.at = 0         # up to here it was waited for

    def __enter__(self):
        self.master, self.slave = pty.openpty()
        self.resize(*self.size)
        self.modes = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if self.pid == 0:
            self._be_child()
        return self

    def _be_child(self):
        try:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for number in range(3):
                os.dup2(self.slave, number)
            os.closerange(3, 256)
            os.chdir(self.caller.workspace)
            os.execvpe(self.words[0], self.words, self.caller.environment())
        finally:
            os._exit(98)

    def __exit__(self, *_):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def write(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.shown += os.read(self.master, 65536)
            except OSError:         # nobody holds the other side
                pass

    def wait_for(self, pattern, seconds=20):
        """What was shown since the last wait, up to and with the pattern."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern.encode(), self.shown[self.at:])
            if found:
                self.at += found.end()
                return found
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} but {self.shown[self.at:][-600:]!r}")
            self.read(0.05)

    def end(self, seconds=20):
        """Waits for cordon's own end; its code as a shell would say it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.01)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                self.read(0.05)
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        raise AssertionError(f"no end; shown {self.shown[-600:]!r}")

    def modes_are_back(self):
        return termios.tcgetattr(self.slave) == self.modes
