# SPDX-License-Identifier: Apache-2.0
"""Groups M and Q from outside: a terminal that watches what reaches it."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from pace import slow
from verdicts import both, counter, failed, held, judge, of_answer
from world import SCRATCH_UID

FIONREAD = 0x541B


class Terminal:
    """A pseudo terminal whose other end is ours. Questions are answered as a real one would."""

    ANSWERS = ((b"\x1b[c", b"\x1b[?62;c"), (b"\x1b[>c", b"\x1b[>0;1;0c"), (b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[5n", b"\x1b[0n"),
               (b"\x1b]10;?", b"\x1b]10;rgb:0/0/0\x07"), (b"\x1b]11;?", b"\x1b]11;rgb:0/0/0\x07"), (b"\x1b[21t", b"\x1b]lrm -rf\x1b\\"),
               (b"\x1b]52;c;?", b"\x1b]52;c;aGk=\x07"))

    def __init__(self, uid):
        self.master, self.slave = pty.openpty()
        os.fchown(self.slave, uid, -1)
        self.number = os.ttyname(self.slave).rsplit("/", 1)[1]
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""

    def follow(self, child, seconds=30, answer=False):
        """Reads until the child has ended and the terminal is quiet."""
        until = time.monotonic() + slow(seconds)
        while time.monotonic() < until:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if ready:
                part = os.read(self.master, 65536)
                self.shown += part
                if answer:
                    for question, reply in self.ANSWERS:
                        os.write(self.master, reply * part.count(question))
            elif child.poll() is not None:
                return
        child.kill()

    def typed(self):
        """Bytes that wait as if somebody had typed them."""
        mode = termios.tcgetattr(self.slave)
        mode[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, mode)
        return struct.unpack("i", fcntl.ioctl(self.slave, FIONREAD, b"\0" * 4))[0]

    def close(self):
        os.close(self.master)
        os.close(self.slave)


def in_terminal(arm, row, *words, answer=False):
    """The row's act with all three streams on a terminal. The terminal is the caller's to close."""
    terminal = Terminal(arm.uid)
    facts = ["--pts", terminal.number]
    child, report = arm.start(["--time", "20s"], ["./probe", row, *arm.words(), *facts, *words], arm.workspace(),
                              stdin=terminal.slave, stdout=terminal.slave, stderr=terminal.slave)
    terminal.follow(child, answer=answer)
    return terminal, child.wait()


def bare_in_terminal(bare, row, *words, answer=False):
    terminal = Terminal(SCRATCH_UID)
    command = [*bare.prefix("user"), "./probe", row, *bare.words(), "--pts", terminal.number, *words]

    def take():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 1)

    child = subprocess.Popen(command, stdin=terminal.slave, stdout=terminal.slave, stderr=terminal.slave, cwd=bare.directory, preexec_fn=take)
    terminal.follow(child, answer=answer)
    return terminal, child.wait()


def answer_in(shown, row):
    for line in shown.decode(errors="replace").replace("\r", "").splitlines():
        start = line.find('{"row":"' + row)
        if start >= 0:
            try:
                return json.loads(line[start:])
            except ValueError:
                return None
    return None


def hostile_in(shown):
    """Numbers of the sequences that came through whole, by the marks around each."""
    through = []
    for number, body in re.findall(rb"<(\d+)>(.*?)</\1>", shown, re.S):
        if re.search(rb"\x1b\]52|\x1b\[2[01]t|\x1bP|\x1b[_^X]|\x05|[\x90\x9b\x9d-\x9f]", body):
            through.append(int(number))
    return through


@judge("C189")
def hostile_sequences(arm):
    terminal, _ = in_terminal(arm, "C189", "--emit")
    through = hostile_in(terminal.shown)
    pairs = terminal.shown.count(b"</")
    red = b"\x1b[31mred\x1b[0m" in terminal.shown
    terminal.close()
    return both(held(pairs > 30, f"{pairs} sequences were shown"), held(not through, f"came through: {through}"), held(red, "colours pass"))


@counter("C189")
def hostile_sequences_bare(bare):
    terminal, _ = bare_in_terminal(bare, "C189", "--emit")
    through = hostile_in(terminal.shown)
    terminal.close()
    return len(through) > 30, f"{len(through)} sequences come through"


@judge("C241")
def types(arm):
    terminal, _ = in_terminal(arm, "C241")
    answer, typed = answer_in(terminal.shown, "C241"), terminal.typed()
    terminal.close()
    if answer is None:
        return failed("no answer")
    return both(of_answer(answer), held(typed == 0, f"{typed} bytes typed"))


@counter("C241")
def types_bare(bare):
    terminal, code = bare_in_terminal(bare, "C241")
    typed = terminal.typed()
    terminal.close()
    return code == 1 and typed > 0, f"{typed} bytes typed"


@judge("C242")
def takes_terminal(arm):
    terminal, _ = in_terminal(arm, "C242")
    answer = answer_in(terminal.shown, "C242")
    terminal.close()
    return held(answer is not None and answer["outcome"] == "refused", answer["detail"] if answer else "no answer")


@counter("C242")
def takes_terminal_bare(bare):
    terminal, code = bare_in_terminal(bare, "C242")
    answer = answer_in(terminal.shown, "C242") or {"detail": "no answer"}
    terminal.close()
    return code == 1, answer["detail"]


@judge("C243")
def leaves_answers(arm):
    terminal, _ = in_terminal(arm, "C243", "--emit", answer=True)
    typed = terminal.typed()
    terminal.close()
    return held(typed == 0, f"{typed} bytes wait in the caller's input")


@judge("C244")
def leaves_modes(arm):
    terminal, _ = in_terminal(arm, "C244", "--die")
    after = termios.tcgetattr(terminal.slave)
    shown = terminal.shown
    terminal.close()
    entered = shown.rfind(b"\x1b[?1049h")
    left = {name: shown.rfind(code) > entered for name, code in (("alternate screen", b"\x1b[?1049l"), ("paste", b"\x1b[?2004l"),
                                                                ("cursor", b"\x1b[?25h"))}
    missing = [name for name, done in left.items() if not done and entered >= 0]
    return both(held(after == terminal.before, "the modes of the line are as before"), held(not missing, f"not left: {missing}"))


@judge("C245")
def signals_group(arm):
    here = arm.workspace()
    child, _ = arm.start(["--time", "20s"], ["./probe", "C245"], here)
    beside = subprocess.Popen(["sleep", "20"], preexec_fn=lambda: os.setpgid(0, 0))
    child.communicate(timeout=slow(60))
    lives = beside.poll() is None
    beside.kill()
    beside.wait()
    return held(lives and child.returncode == 0, f"exit {child.returncode}")
