# SPDX-License-Identifier: Apache-2.0
"""`cordon run` and `cordon shell` on a real terminal."""
import os
import pathlib
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "callers")]

from caller import descendants, name_of, survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402
from screen import Screen  # noqa: E402


def run(caller, *command, flags=()):
    return Screen(caller, caller.words("run", *caller.wall(), *flags, "--", *command))


def shell(caller):
    screen = Screen(caller, caller.words("shell", *caller.wall(), "--env", "PS1=ready> "))
    return screen


def leave(screen, code=0):
    equal(screen.end(), code, "the exit code", screen.shown[-300:])
    expect(screen.modes_are_back(), "the terminal's modes are not as before")


def size(caller):
    with run(caller, "stty", "size") as screen:
        screen.wait_for("31 97\r\n")
        leave(screen)


def resize(caller):
    # The program is told by its signal, as outside.
    # By os.write: it may come while the program is at its own first word.
    watch = "import signal, os, time\nsignal.signal(28, lambda *_: os.write(1, b'now %d %d\\n' % os.get_terminal_size()))\n" \
            "os.write(1, b'ready\\n')\nfor _ in range(100): time.sleep(0.1)"
    with run(caller, "python3", "-c", watch) as screen:
        screen.wait_for("ready")
        screen.resize(40, 120)
        screen.wait_for("now 120 40")
        screen.resize(10, 20)
        screen.wait_for("now 20 10")
        screen.write("\x03")
        screen.wait_for("KeyboardInterrupt")
        leave(screen, 130)


def interrupt(caller):
    with run(caller, "sh", "-c", "echo ready; exec sleep 1000") as screen:
        screen.wait_for("ready")
        time.sleep(0.2)
        began = time.monotonic()
        screen.write("\x03")
        leave(screen, 130)
        expect(time.monotonic() - began < 3, "took", time.monotonic() - began)
    equal(survivors(2), [], "processes left")


def exit_codes(caller):
    for command, code in ((["true"], 0), (["sh", "-c", "exit 3"], 3), (["no-such-program"], 127), (["/etc/hostname"], 126),
                          (["sh", "-c", "kill -TERM $$"], 143)):
        with run(caller, *command) as screen:
            leave(screen, code)


def no_terminal_of_the_host(caller):
    """The terminal inside has another device than ours, and ours has no name there."""
    look = "import os\nprint(os.ttyname(0), *os.listdir('/dev/pts'), f'device={os.stat(\"/dev/pts\").st_dev}:')"
    with run(caller, "python3", "-c", look) as screen:
        shown = screen.wait_for(r"(/dev/\S+) (.*)device=(\d+):\r\n")
        expect(shown[1].startswith(b"/dev/pts/") or shown[1] == b"/dev/console", shown[1])
        expect(int(shown[3]) != os.stat("/dev/pts").st_dev, "the host's own /dev/pts is inside")
        names = set(shown[2].split())
        expect(names <= {b"0", b"ptmx"}, "terminals inside:", names)
        leave(screen)


def terminal_by_its_name(caller):
    with run(caller, "sh", "-c", "echo x >/dev/tty; echo end") as screen:
        screen.wait_for(r"x\r\nend")
        leave(screen)


def job_control(caller):
    with shell(caller) as screen:
        screen.write("PS1='ready''> '\n")
        screen.wait_for("ready> ")
        screen.write("echo be''gun; sleep 1000\n")
        screen.wait_for("begun")
        time.sleep(0.4)
        screen.write("\x1a")
        screen.wait_for("Stopped")
        screen.write("bg\n")
        screen.wait_for(r"sleep 1000 &")
        screen.write("jobs\n")
        screen.wait_for("Running")
        screen.write("fg\n")
        screen.wait_for("sleep 1000\r\n")
        time.sleep(0.4)
        screen.write("\x03")
        screen.wait_for("ready> ")
        screen.write("echo code $?\n")
        screen.wait_for("code 130")
        screen.write("stty size; exit 7\n")
        screen.wait_for("31 97")
        leave(screen, 7)
    equal(survivors(2), [], "processes left")


def end_of_input(caller):
    with shell(caller) as screen:
        screen.write("echo $((6 * 7))\n")
        screen.wait_for("42")
        time.sleep(0.1)
        screen.write("\x04")
        leave(screen)


def python_prompt(caller):
    with run(caller, "python3", "-q") as screen:
        screen.wait_for(">>> ")
        screen.write("6 * 7\n")
        screen.wait_for("42\r\n>>> ")      # before it reads at its prompt it takes a signal for none
        time.sleep(0.2)
        screen.write("\x03")
        screen.wait_for("KeyboardInterrupt")
        screen.write("exit(4)\n")
        leave(screen, 4)


def need(program):
    if not shutil.which(program):
        raise Skip(f"no {program}")


def vim(caller):
    need("vim")
    with run(caller, "vim", "-u", "NONE", "-i", "NONE", "-n", "text") as screen:
        screen.wait_for(r"\[New\]|\[New File\]|text")
        time.sleep(0.3)
        screen.write("ihello\x1b")
        time.sleep(0.2)
        screen.write(":wq\r")
        leave(screen)
    made = caller.workspace / "text"
    equal((made.read_text(), made.stat().st_uid), ("hello\n", caller.uid))


def less(caller):
    need("less")
    (caller.workspace / "long").write_text("".join(f"line {number}\n" for number in range(1000)))
    with run(caller, "less", "long") as screen:
        screen.wait_for("line 29")
        screen.write("G")
        screen.wait_for("line 999")
        screen.write("q")
        leave(screen)


def tmux(caller):
    need("tmux")
    with run(caller, "tmux", "-f", "/dev/null", "-L", "t", "new-session", "sh -c 'stty size; read line; echo got $line; sleep 0.3'") as screen:
        screen.wait_for("30 97")
        screen.write("word\r")
        screen.wait_for("got word")
        leave(screen)
    equal(survivors(2), [], "processes left")


def modes_after_force(caller):
    """A program that made the terminal raw and was then ended by force leaves no raw terminal behind."""
    raw = "import os, sys, termios, tty\ntty.setraw(0, termios.TCSANOW)\nsys.stdout.write('\\x1b[?1049h\\x1b[?25lready')\nsys.stdout.flush()\n" \
          "sys.stdin.read(1)\nos.kill(os.getpid(), 9)"
    with run(caller, "python3", "-c", raw) as screen:
        screen.wait_for("ready")
        screen.write("x")
        leave(screen, 137)
        # The other screen is left, and the cursor is back.
        expect(b"\x1b[?1049l" in screen.shown and b"\x1b[?25h" in screen.shown, screen.shown[-200:])


def modes_after_launcher(caller):
    with run(caller, "sh", "-c", "stty raw -echo; echo ready; exec sleep 1000") as screen:
        screen.wait_for("ready")
        launcher = [pid for pid in descendants(screen.pid) if name_of(pid) == "cordon-launcher"]
        os.kill(min(launcher), 9)
        leave(screen, 125)
    equal(survivors(5), [], "processes left")


CHECKS = {act.__name__: act for act in (size, resize, interrupt, exit_codes, no_terminal_of_the_host, terminal_by_its_name, job_control, end_of_input,
                                        python_prompt, vim, less, tmux, modes_after_force, modes_after_launcher)}

if __name__ == "__main__":
    main(CHECKS)
