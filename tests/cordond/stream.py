# SPDX-License-Identifier: Apache-2.0
"""Processes of a node over WebSocket: `stream.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import fcntl
import functools
import hashlib
import json
import os
import select
import signal
import struct
import subprocess
import termios
import threading
import time

from api import DENIED, NOT_FOUND, UNAUTHENTICATED, equal, expect, joined, made, main, started
from daemon import Daemon
from websocket import BINARY, PING, PONG, TEXT, Refused, WebSocket, frame

NORMAL, PROTOCOL, RULE, TOO_BIG = 1000, 1002, 1008, 1009


def opened(node, path, **how):
    return WebSocket.at(node.socket, path, **how)


def refused(node, path, **how):
    try:
        with opened(node, path, **how) as ws:
            raise AssertionError(f"{path} {how} was accepted: {ws.fields}")
    except Refused as refusal:
        return refusal


def until(ws, what):
    """Events up to and with the first of which `what` is true."""
    seen = []
    for event in ws.events():
        seen.append(event)
        if what(event):
            return seen
    raise AssertionError(f"closed by {ws.closed} after {seen[-5:]}")


def text_of(events, stream="stdout"):
    return "".join(event["data"] for event in events if event.get("event") == stream)


def output_is_the_same(node):
    """The messages are the lines of the plain stream, from any byte on, and a last message tells the exit."""
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", "seq 1 30000; printf '\\377' >&2; exit 3")
        plain = list(client.lines(process + "/output?acknowledge=client"))
        with opened(node, process + "/output?acknowledge=client") as ws:
            events = list(ws.events())
            equal(ws.closed[0], NORMAL)
        for stream in ("stdout", "stderr"):
            equal(joined(events, stream), joined(plain, stream))
        equal(events[-1]["process"]["exit"]["code"], 3)
        with opened(node, process + "/output?stdout=100&stderr=1") as ws:
            rest = [event for event in ws.events() if event["event"] == "stdout"]
            equal(rest[0]["offset"], 100)
        equal(refused(node, process + "/output?stdout=0").status, 429, "what was acknowledged is gone")
        equal(refused(node, process + "/output?stdout=999999999").status, 400)
        equal(refused(node, process + "/output?frames=words").status, 400)


def output_is_acknowledged(node):
    """By messages: what was not comes again, and the process waits for its reader meanwhile."""
    size = 3_000_000
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", f"yes 0123456789abcdef | head -c {size}")
        with opened(node, process + "/output?acknowledge=client") as ws:
            taken = 0
            while taken < 300_000:
                taken += len(json.loads(ws.receive()[1])["data"])
            ws.say(type="acknowledge", stdout=100_000)
            ws.send(PING, b"heard")     # behind the acknowledgement: when it is answered that was taken
            while ws.next_frame() != (PONG, b"heard"):
                pass
        state = client.ask("GET", process).json
        equal(state["stdout_from"], 100_000)
        expect(state["stdout_bytes"] < size, "the process did not wait for its reader")
        have = 100_000
        with opened(node, process + f"/output?stdout={have}&acknowledge=client") as ws:
            for event in ws.events():
                if event["event"] == "stdout":
                    equal(event["offset"], have)
                    have += len(event["data"])
                    ws.say(type="acknowledge", stdout=have)
        equal(have, size)
        with opened(node, process + f"/output?stdout={have}") as ws:
            ws.say(type="acknowledge", stdout=size + 1)
            list(ws.events())
            expect(ws.closed[0] in (NORMAL, RULE), ws.closed)


def a_conversation(node):
    """Standard input as bytes and as text, its end, signals, and the exit, on one connection."""
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", "while read line; do echo got $line; done; echo end; exit 4")
        with opened(node, process + "/attach") as ws:
            for said, send in (("one", lambda: ws.send(BINARY, b"one\n")), ("two", lambda: ws.say(type="input", data="two\n")),
                               ("three", lambda: ws.say(type="input", data_base64="dGhyZWUK"))):
                send()
                equal(text_of(until(ws, lambda event: "data" in event)), f"got {said}\n")
            ws.say(type="end")
            events = list(ws.events())
            equal((text_of(events), events[-1]["process"]["exit"]["code"], ws.closed[0]), ("end\n", 4, NORMAL))
        trapped = started(client, sandbox, "sh", "-c", "trap 'echo caught; exit 5' INT; echo ready; while read x; do :; done")
        with opened(node, trapped + "/attach") as ws:
            until(ws, lambda event: event.get("data") == "ready\n")
            ws.say(type="resize", rows=10, cols=10)
            error = until(ws, lambda event: event["event"] == "error")[-1]
            equal((error["code"], "no terminal" in error["detail"]), ("CORDON-API-INVALID", True), error)
            ws.say(type="signal", signal="INT")
            ws.send(BINARY, b"\n")      # a shell that reads looks at its traps behind a line
            events = list(ws.events())
            equal((text_of(events), events[-1]["process"]["exit"]["code"]), ("caught\n", 5))
        closed = started(client, sandbox, "sh", "-c", "exec <&-; sleep 1000")
        equal(client.ask("POST", closed + "/input?end=true").status, 204)
        with opened(node, closed + "/attach") as ws:
            ws.send(BINARY, b"nobody reads it")
            error = until(ws, lambda event: event["event"] == "error")[-1]
            expect("input of the process has ended" in error["detail"], error)


def much_both_ways(node):
    """Far more than any buffer through `cat`: by a client that only sends, and by one that keeps to the window and acknowledges."""
    data = os.urandom(1 << 20) * 6
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "cat")
        with opened(node, process + "/attach?frames=binary") as ws:
            def send():
                for at in range(0, len(data), 200_000):
                    ws.send(BINARY, data[at:at + 200_000])
                ws.say(type="end")
            sender = threading.Thread(target=send)
            sender.start()
            got = bytearray()
            for event in ws.events():
                if isinstance(event, bytes):
                    equal((event[0], int.from_bytes(event[1:9], "big")), (0, len(got)))
                    got += event[9:]
            sender.join()
            equal(hashlib.sha256(got).digest(), hashlib.sha256(data).digest())
        process = started(client, sandbox, "cat")
        with opened(node, process + "/attach?frames=binary&acknowledge=client") as ws:
            sent, taken, got = 0, 0, bytearray()
            while len(got) < len(data):
                while sent < len(data) and sent - taken < 1 << 20:
                    piece = data[sent:min(sent + 50_000, taken + (1 << 20))]
                    ws.send(BINARY, piece)
                    sent += len(piece)
                kind, event = ws.receive()
                if kind == BINARY:
                    equal(int.from_bytes(event[1:9], "big"), len(got))
                    got += event[9:]
                    ws.say(type="acknowledge", stdout=len(got))
                else:
                    event = json.loads(event)
                    equal(event["event"], "input")
                    taken = event["offset"]
            equal(hashlib.sha256(got).digest(), hashlib.sha256(data).digest())
            ws.say(type="end")
            equal(list(ws.events())[-1]["process"]["exit"]["code"], 0)


def who_may(node):
    """The token is looked at before the upgrade; to attach needs both rights, a signal a third."""
    def token(*operations, tenant="a"):
        return node.mint("--tenant", tenant, *(word for each in operations for word in ("--operation", each)))
    with node.client(tenant="a") as client:
        sandbox = made(client)
        process = started(client, sandbox, "sleep", "1000")
        for operations, output, attach in ((("process.read",), 101, DENIED), (("process.input",), DENIED, DENIED),
                                           (("process.signal", "process.start"), DENIED, DENIED),
                                           (("process.read", "process.input"), 101, 101)):
            for path, status in (("/output", output), ("/attach", attach)):
                if status == 101:
                    with opened(node, process + path, token=token(*operations)):
                        pass
                else:
                    equal(refused(node, process + path, token=token(*operations)).status, status, operations, path)
        for path in ("/output", "/attach"):
            equal(refused(node, process + path, token="cdn1_x").status, UNAUTHENTICATED)
            equal(refused(node, process + path, token=node.mint("--tenant", "b")).status, NOT_FOUND)
        with opened(node, process + "/attach", token=token("process.read", "process.input")) as ws:
            ws.say(type="signal", signal="KILL")
            equal(until(ws, lambda event: event["event"] == "error")[-1]["code"], "CORDON-API-DENIED")
            equal(client.ask("GET", process).json["state"], "running")
        with opened(node, process + "/attach", token=token("process.read", "process.input", "process.signal")) as ws:
            ws.say(type="signal", signal="KILL")
            equal(list(ws.events())[-1]["process"]["exit"]["signal"], 9)


def pages_of_a_browser(node):
    """Who sends an origin is a browser: refused, until the operator has named it. Programs send none."""
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sleep", "1000")
        for path in ("/output", "/attach"):
            for origin in ("https://desk.example", "https://evil.example", "null", "http://localhost"):
                refusal = refused(node, process + path, Origin=origin)
                equal((refusal.status, "listen.origins" in refusal.json["detail"]), (DENIED, True), refusal)
            with opened(node, process + path):
                pass
    node.end(node.node)
    node.config.write_text(node.config.read_text().replace("[listen]\n", '[listen]\norigins = ["https://desk.example"]\n'))
    node.start_node()
    with opened(node, process + "/attach", Origin="https://desk.example"):
        pass
    equal(refused(node, process + "/attach", Origin="https://evil.example").status, DENIED)


def what_breaks_it(node):
    """Closed with the code that says why, and the process goes on."""
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "cat")
        plain = client.ask("GET", process + "/attach")
        equal((plain.status, plain.json["code"]), (400, "CORDON-API-INVALID"), plain)
        for path, code, send in (
                ("/attach", RULE, lambda ws: ws.send(TEXT, b"not json")), ("/attach", RULE, lambda ws: ws.say(type="unknown")),
                ("/attach", RULE, lambda ws: ws.say(type="end", more=1)), ("/attach", RULE, lambda ws: ws.say(type="acknowledge", stdout=99)),
                ("/output", RULE, lambda ws: ws.send(BINARY, b"input")), ("/output", RULE, lambda ws: ws.say(type="input", data="x")),
                ("/output", RULE, lambda ws: ws.say(type="end")), ("/output", RULE, lambda ws: ws.say(type="signal", signal="KILL")),
                ("/attach", TOO_BIG, lambda ws: ws.send(BINARY, bytes((256 << 10) + 1))),
                ("/attach", PROTOCOL, lambda ws: ws.socket.sendall(frame(BINARY, b"without a mask"))),
                ("/attach", PROTOCOL, lambda ws: ws.send(3, b"no such kind"))):
            with opened(node, process + path) as ws:
                send(ws)
                equal(list(ws.events()), [])
                equal(ws.closed[0], code, path, ws.closed)
        with opened(node, process + "/attach") as ws:
            ws.send(BINARY, bytes(1000), last=False)        # in pieces, with a ping between them
            ws.send(PING, b"p")
            equal(ws.next_frame(), (PONG, b"p"))
            ws.send(0, b"end\n")
            ws.say(type="end")
            events = list(ws.events())
            equal((joined(events, "stdout"), events[-1]["process"]["exit"]["code"]), (bytes(1000) + b"end\n", 0))


def revoked(node):
    """What a token has opened is cut within a second of its end; what another has opened goes on."""
    token, other = node.mint("--tenant", "a"), node.mint("--tenant", "a")
    inspected = subprocess.run([node.programs / "cordon", "token", "inspect", "--json"], input=token, capture_output=True, text=True, check=True)
    with node.client(token=token) as client, node.client() as operator:
        process = started(client, made(client), "cat")
        with opened(node, process + "/attach", token=token) as cut, opened(node, process + "/attach?acknowledge=client", token=other) as goes_on:
            cut.send(BINARY, b"one\n")
            equal(until(cut, lambda event: True)[0]["data"], "one\n")
            equal(operator.ask("POST", f"/v1/tokens/revoke?id={json.loads(inspected.stdout)['revocation']}").status, 204)
            began = time.monotonic()
            try:
                equal(list(cut.events()), [], "what came after the revocation")
            except ConnectionError:
                pass
            expect(time.monotonic() - began < 1, "it went on for", time.monotonic() - began)
            equal(refused(node, process + "/attach", token=token).status, UNAUTHENTICATED)
            goes_on.send(BINARY, b"two\n")
            expect("two\n" in text_of(until(goes_on, lambda event: event.get("data", "").endswith("two\n"))), "the other's")


def expired(node):
    """What a token has opened is cut in the second in which it expires."""
    other = node.mint("--tenant", "a")
    with node.client(token=other) as client:
        process = started(client, made(client), "cat")
        token = node.mint("--tenant", "a", "--expires", "5s")
        began = time.time()
        with opened(node, process + "/attach", token=token) as cut, opened(node, process + "/attach?acknowledge=client", token=other) as goes_on:
            cut.send(BINARY, b"one\n")
            equal(until(cut, lambda event: True)[0]["data"], "one\n")
            try:
                equal(list(cut.events()), [], "what came after its token's time")
            except ConnectionError:
                pass
            lasted = time.time() - began
            expect(3 < lasted < 10, "it lasted for", lasted)
            equal(refused(node, process + "/attach", token=token).status, UNAUTHENTICATED)
            goes_on.send(BINARY, b"two\n")
            expect("two\n" in text_of(until(goes_on, lambda event: event.get("data", "").endswith("two\n"))), "the other's")


def who_vanishes(node):
    """A client that goes without a word, and a node that dies: the process goes on, and nothing that was not acknowledged is lost."""
    with node.client() as client:
        sandbox = made(client)
        process = started(client, sandbox, "sh", "-c", "while read line; do echo got $line; done")
        ws = opened(node, process + "/attach?acknowledge=client")
        ws.send(BINARY, b"one\n")
        until(ws, lambda event: "data" in event)
        ws.socket.close()
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with opened(node, process + "/attach?stdout=0&acknowledge=client") as ws:
        ws.send(BINARY, b"two\n")
        equal(text_of(until(ws, lambda event: event.get("data", "").endswith("two\n"))), "got one\ngot two\n")
        began = time.monotonic()
        equal(node.end(node.node), 0, "exit of cordond after SIGTERM:")
        expect(time.monotonic() - began < 10, "who is connected held up the end of the node for", time.monotonic() - began)
        try:
            equal(list(ws.events()), [])
        except ConnectionError:
            pass
    node.start_node()
    with opened(node, process + "/attach?stdout=8&acknowledge=client") as ws:
        ws.send(BINARY, b"three\n")
        equal(text_of(until(ws, lambda event: event.get("data", "").endswith("three\n"))), "got two\ngot three\n")
        ws.say(type="end")
        equal(list(ws.events())[-1]["process"]["exit"]["code"], 0)


def screen_of(events):
    """What a terminal was sent, as binary messages: whole, each at its place."""
    shown = b""
    for event in events:
        if isinstance(event, bytes):
            equal(event[0], 0, "stream")
            shown = shown[:int.from_bytes(event[1:9], "big")] + event[9:]
    return shown


def has(word):
    seen = bytearray()

    def look(event):
        seen.extend(event[9:] if isinstance(event, bytes) else b"")
        return word in seen
    return look


def terminals(node):
    """A process with a terminal: its size, keys that signal, and a screen that is resumed from any byte, also after a death."""
    with node.client() as client:
        sandbox = made(client)
        equal(joined(client.lines(started(client, sandbox, "sh", "-c", "[ -t 0 ] || echo none") + "/output"), "stdout"), b"none\n")
        shell = started(client, sandbox, "sh", pty={"rows": 31, "cols": 101}, environment={"PS1": "$ ", "TERM": "xterm"})
        equal(client.ask("GET", shell).json["pty"], True)
        at = shell + "/attach?frames=binary&acknowledge=client"
        with opened(node, at) as ws:
            until(ws, has(b"$ "))
            ws.send(BINARY, b"stty size; [ -t 2 ] && echo yes >&2\r")
            until(ws, has(b"\r\n31 101\r\nyes\r\n"))
            ws.say(type="resize", rows=7, cols=77)
            ws.send(BINARY, b"stty size\r")
            until(ws, has(b"\r\n7 77\r\n$ "))
            ws.send(BINARY, b"cat\rechoed\r")
            until(ws, has(b"echoed\r\nechoed\r\n"))
            ws.send(BINARY, b"\x03")
            until(ws, has(b"^C\r\n$ "))      # before its prompt, `cat` may still read what comes next
            ws.send(BINARY, b"echo status $?\r")
            until(ws, has(b"status 130\r\n"))
        with opened(node, at) as ws:
            before = screen_of(until(ws, has(b"status 130\r\n$ ")))
        node.end(node.node, signal.SIGKILL)
        node.start_node()
        half = len(before) // 2
        with opened(node, at + f"&stdout={half}") as ws:
            ws.send(BINARY, b"echo again; exit 6\r")
            events = list(ws.events())
            rest = b"".join(event[9:] for event in events if isinstance(event, bytes))
            equal(rest[:len(before) - half], before[half:], "the screen from its middle on")
            expect(b"\r\nagain\r\n" in rest, rest)
            equal((events[-1]["event"], events[-1]["process"]["exit"]["code"], events[-1]["process"]["pty"]), ("exit", 6, True))


class Screen:
    """`cordon` at a terminal of the test's own; ended with its context."""

    def __init__(self, node, *words, rows=40, cols=120, **environment):
        self.ours, theirs = os.openpty()
        self.before = termios.tcgetattr(theirs)
        self.theirs, self.seen = theirs, b""
        self.resize(rows, cols)
        self.child = subprocess.Popen([node.programs / "cordon", *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                      env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm", "CORDON_NODE": node.socket, **environment},
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def resize(self, rows, cols):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, keys):
        os.write(self.ours, keys)

    def shows(self, word):
        """All that was shown up to and with this word, from where the last call ended."""
        limit = time.monotonic() + 20
        while word not in self.seen:
            if not select.select([self.ours], [], [], max(0, limit - time.monotonic()))[0]:
                raise AssertionError(f"no {word!r} in {self.seen[-500:]!r}")
            self.seen += os.read(self.ours, 1 << 16)
        at = self.seen.index(word) + len(word)
        shown, self.seen = self.seen[:at], self.seen[at:]
        return shown

    def ends(self):
        """Its exit code; its terminal is as it was."""
        code = self.child.wait(20)
        equal(termios.tcgetattr(self.theirs), self.before, "the terminal afterwards")
        return code


def at_our_terminal(node):
    """cordon exec -t and attach: size, keys, what must not reach our terminal, leaving and coming back, and the exit code."""
    with node.client() as client:
        sandbox = made(client)
        with Screen(node, "exec", "-t", "-e", "PS1=$ ", sandbox, "--", "sh") as screen:
            screen.shows(b"$ ")
            expect(not termios.tcgetattr(screen.theirs)[3] & (termios.ECHO | termios.ICANON | termios.ISIG), "our terminal is not raw")
            screen.type(b"stty size; echo $TERM\r")
            screen.shows(b"\r\n40 120\r\nxterm\r\n")
            screen.resize(11, 22)
            screen.child.send_signal(signal.SIGWINCH)
            for _ in range(1000):      # the size is on its way beside the keys
                screen.type(b"stty size; echo asked\r")
                if b"\r\n11 22\r\n" in screen.shows(b"\r\nasked\r\n"):
                    break
            else:
                raise AssertionError("the size of our terminal is not told")
            screen.type(b"sleep 1000\r")
            screen.shows(b"sleep 1000")
            time.sleep(0.5)     # a shell that has not yet executed it takes the signal for its own, and goes on
            screen.type(b"\x03")
            screen.shows(b"$ ")
            screen.type(b"printf 'a\\033]0;title\\007b\\033[1mc\\n'\r")
            screen.shows(b"\r\nab\x1b[1mc")
            screen.type(b"exit 7\r")
            equal(screen.ends(), 7)
        with Screen(node, "exec", "-t", "--raw", "-e", "PS1=$ ", sandbox, "--", "sh") as screen:      # what the filter keeps away
            screen.shows(b"$ ")
            screen.type(b"printf 'a\\033]0;title\\007b\\n'\r")
            screen.shows(b"a\x1b]0;title\x07b")
            screen.type(b"exit\r")
            screen.ends()
        with Screen(node, "exec", "-t", sandbox, "--", "/nowhere") as screen:
            screen.shows(b"No such file")
            equal(screen.ends(), 127)
        piped = subprocess.run([node.programs / "cordon", "exec", "-t", sandbox, "--", "sh"], stdin=subprocess.DEVNULL, capture_output=True,
                               env={"CORDON_NODE": node.socket}, timeout=20)
        equal((piped.returncode, b"are no terminal" in piped.stderr), (2, True), piped)
        started_apart = subprocess.run([node.programs / "cordon", "exec", "-d", "-t", "-e", "PS1=$ ", sandbox, "--", "sh"], stdin=subprocess.DEVNULL,
                                       capture_output=True, env={"CORDON_NODE": node.socket}, timeout=20)
        number = started_apart.stdout.decode().strip()
        with Screen(node, "attach", sandbox, number) as screen:
            screen.shows(b"$ ")
            screen.type(b"x=kept\r")
            screen.shows(b"$ ")
            screen.child.send_signal(signal.SIGHUP)
            screen.shows(f"cordon attach {sandbox} {number}".encode())
            equal(screen.ends(), 128 + signal.SIGHUP)
        with Screen(node, "attach", sandbox, number) as screen:
            screen.shows(b"x=kept\r\n$ ")      # what was never acknowledged comes again
            screen.type(b"echo it is $x\r")
            screen.shows(b"it is kept\r\n")
            node.end(node.node, signal.SIGKILL)
            screen.shows(b"the node has gone")
            node.start_node()
            screen.shows(b"the node is back")
            screen.type(b"echo and is $x\r")
            screen.shows(b"and is kept\r\n")
            node.end(node.node, signal.SIGKILL)
            screen.shows(b"the node has gone")
            screen.type(b"\x03")
            screen.shows(b"the process goes on")
            equal(screen.ends(), 128 + signal.SIGINT)
            node.start_node()


CHECKS = {f.__name__: f for f in (output_is_the_same, output_is_acknowledged, a_conversation, much_both_ways, who_may, pages_of_a_browser,
                                  what_breaks_it, revoked, expired, who_vanishes, terminals, at_our_terminal)}

if __name__ == "__main__":
    main(CHECKS, functools.partial(Daemon, tools=("/usr/bin/stty",)))
