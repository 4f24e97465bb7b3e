# SPDX-License-Identifier: Apache-2.0
"""The verbs of `cordon` that speak to a node: `cli.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import argparse
import hashlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from daemon import Daemon

LONG = 30      # seconds that nothing here takes


def expect(truth, *words):
    if not truth:
        raise AssertionError(" ".join(str(word) for word in words))


def equal(got, wanted, *words):
    expect(got == wanted, *words, f"is {got!r}, not {wanted!r}")


class Cli:
    def __init__(self, node):
        self.node = node
        self.program = node.programs / "cordon"
        self.environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "CORDON_NODE": node.socket}

    def __call__(self, *words, stdin=b"", **environment):
        return subprocess.run([self.program, *words], input=stdin, capture_output=True, timeout=LONG,
                              env={**self.environment, **environment}, check=False)

    def good(self, *words, **how):
        done = self(*words, **how)
        expect(done.returncode == 0, words, done)
        return done.stdout.decode()

    def start(self, *words, **how):
        """Running, with pipes; ended with its context."""
        return Started(subprocess.Popen([self.program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=self.environment, **how))

    def create(self, *words):
        return self.good("create", *words).strip()


class Started:
    def __init__(self, child):
        self.child = child
        self.kept = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout, self.child.stderr):
            pipe.close()

    def until(self, pipe, word, meanwhile=None):
        """What the pipe gave, up to and with this word. Of `meanwhile`, another pipe, what came is kept in `kept`."""
        got = b""
        with selectors.DefaultSelector() as waits:
            for each in filter(None, (pipe, meanwhile)):
                waits.register(each, selectors.EVENT_READ)
            until = time.monotonic() + LONG
            while word not in got:
                ready = waits.select(until - time.monotonic())
                expect(ready, "no", word, "in", got[-200:])
                for key, _ in ready:
                    some = os.read(key.fd, 65536)
                    expect(some, "ended without", word, got[-200:])
                    if key.fileobj is pipe:
                        got += some
                    else:
                        self.kept += some
        return got

    def end(self):
        out, err = self.child.communicate(timeout=LONG)
        return self.child.returncode, out, err


def life(node):
    """create, ps, inspect, top, kill; in words and as JSON."""
    cordon = Cli(node)
    one = cordon.create("--label", "team=a", "--label", "note=x y", "--timeout", "10m")
    other = cordon.create()
    listed = cordon.good("ps").splitlines()
    equal(listed[0].split(), ["SANDBOX", "TENANT", "STATE", "CREATED", "EXPIRES", "LABELS"])
    row = next(line for line in listed if line.startswith(one))
    expect("default" in row and "running" in row and "in 10 min" in row and "note=x y team=a" in row, row)
    equal(cordon.good("ps", "-q", "--label", "note=x y").split(), [one])
    equal(set(cordon.good("ps", "-q").split()), {one, other})
    equal(len(json.loads(cordon.good("ps", "--json"))["sandboxes"]), 2)
    about = json.loads(cordon.good("inspect", one))
    equal((about["id"], about["isolation"], about["labels"]["team"]), (one, "process", "a"))
    equal(cordon.good("exec", "-d", one, "--", "sleep", "100").strip(), "1")
    top = cordon.good("top", one).splitlines()
    equal((top[0].split()[0], top[1].split()[0], top[1].split()[2]), ("PROCESS", "1", "running"))
    equal(json.loads(cordon.good("top", one, "--json"))["processes"][0]["command"], "sleep")
    equal(cordon.good("kill", one).strip(), one)
    equal(json.loads(cordon.good("inspect", one))["verdict"]["ending"], "killed")
    some = cordon("kill", one, other)
    equal((some.returncode, some.stdout.decode().strip()), (4, other), some)
    expect(b"cordon: there is no such sandbox   CORDON-API-NOT-FOUND" in some.stderr, some)
    equal(cordon.good("ps", "-q"), "")
    equal(cordon("ps", "--label", "x").returncode, 2)
    equal(cordon("top", "../../v1/node").returncode, 4)


def policies(node):
    """What is wrong with one is told with its place; what the node refuses, with every reason."""
    cordon = Cli(node)
    with tempfile.TemporaryDirectory() as base:
        good, typo, host = (os.path.join(base, name) for name in ("good.toml", "typo.toml", "host.toml"))
        for name, text in ((good, "[resources]\npids_limit = 5\n"), (typo, "[resources]\npid_limit = 5\n"),
                           (host, '[filesystem]\nroot = "host"\n')):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        sandbox = cordon.create("--policy", good)
        many = ("--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 0.5 & done; wait")
        equal(cordon("exec", cordon.create(), *many).returncode, 0, "without the policy:")
        held = cordon("exec", sandbox, *many)
        expect(held.returncode != 0 and b"fork" in held.stderr, "the policy was not there", held)
        wrong = cordon("create", "--policy", typo)
        equal(wrong.returncode, 1)
        expect(b"typo.toml:2:1: unknown key `pid_limit`" in wrong.stderr, wrong)
        refused = cordon("create", "--policy", host, "--json")
        equal(refused.returncode, 1, refused)
        expect(b"things of the host" in refused.stderr, refused)
        equal(json.loads(refused.stdout)["status"], 400)
        equal(cordon("create", "--policy", base + "/none.toml").returncode, 4)
        equal(cordon("create", "--timeout", "soon").returncode, 2)


def exec_ends_as_the_command(node):
    cordon = Cli(node)
    sandbox = cordon.create()
    done = cordon("exec", sandbox, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    equal((done.returncode, done.stdout, done.stderr), (7, b"out\n", b"err\n"))
    plain = cordon("exec", sandbox, "printf", "%s|", "-x", "--", "--json")
    equal(plain.stdout, b"-x|--|--json|", "without -- all is the command's")
    equal(cordon("exec", sandbox, "--", "sh", "-c", "kill -9 $$").returncode, 137)
    absent = cordon("exec", sandbox, "--", "/nowhere")
    equal((absent.returncode, absent.stdout), (127, b""), absent)
    expect(b"No such file" in absent.stderr, absent)
    equal(cordon("exec", sandbox, "--", "/etc").returncode, 126)
    env = cordon("exec", "-e", "A=1", "-e", "B", "-w", "/", sandbox, "--", "sh", "-c", "echo $A $B; pwd", B="2")
    equal(env.stdout, b"1 2\n/\n", env)
    lines = [json.loads(line) for line in cordon.good("exec", "--json", sandbox, "--", "printf", "x\\n").splitlines()]
    equal((lines[0]["data"], lines[-1]["process"]["exit"]["code"]), ("x\n", 0))
    equal(cordon("exec", "-t", sandbox, "--", "true").returncode, 2)
    equal(cordon("exec", sandbox).returncode, 2)
    gone = cordon("exec", "abcdefgh", "--", "true")
    equal(gone.returncode, 125, gone)
    raw = cordon("exec", sandbox, "--", "printf", "\\377\\000\\033[31m")
    equal(raw.stdout, b"\xff\0\033[31m", "bytes to a pipe")
    equal(cordon("exec", sandbox, "--", "sh", "-c", "echo $$").returncode, 0)


def exec_streams(node):
    """Standard input through a pipe, more output than is held at once, and a reader that leaves."""
    cordon = Cli(node)
    sandbox = cordon.create()
    size = 2_000_000
    data = os.urandom(size)
    there = cordon("exec", "-i", sandbox, "--", "sh", "-c", "cat; echo end >&2", stdin=data)
    equal((there.returncode, there.stderr), (0, b"end\n"))
    equal(hashlib.sha256(there.stdout).hexdigest(), hashlib.sha256(data).hexdigest())
    # Without -i there is nothing to read: it does not wait for a terminal that nobody forwards.
    equal(cordon("exec", sandbox, "--", "cat", stdin=b"not sent").stdout, b"")
    with cordon.start("exec", sandbox, "--", "yes") as endless:
        endless.until(endless.child.stdout, b"y\ny\n")
        endless.child.stdout.close()
        equal(endless.child.wait(LONG), 141)
    until = time.monotonic() + LONG
    while json.loads(cordon.good("top", sandbox, "--json"))["processes"][-1]["state"] != "exited":
        expect(time.monotonic() < until, "yes goes on without a reader")
        time.sleep(0.05)


def signals(node):
    cordon = Cli(node)
    sandbox = cordon.create()
    trap = "trap 'echo got; exit 3' INT TERM; trap 'echo one' USR1; echo up; while :; do sleep 0.05; done"
    for number in (signal.SIGINT, signal.SIGTERM):
        with cordon.start("exec", sandbox, "--", "sh", "-c", trap) as run:
            run.until(run.child.stdout, b"up\n")
            run.child.send_signal(signal.SIGUSR1)
            run.until(run.child.stdout, b"one\n")
            run.child.send_signal(number)
            equal(run.end()[:2], (3, b"got\n"))
    with cordon.start("exec", sandbox, "--", "sh", "-c", "trap 'echo no' INT; echo up; while :; do sleep 0.05; done") as deaf:
        deaf.until(deaf.child.stdout, b"up\n")
        deaf.child.send_signal(signal.SIGINT)
        deaf.until(deaf.child.stdout, b"no\n")
        deaf.child.send_signal(signal.SIGINT)
        equal(deaf.end()[0], 137, "the second Ctrl-C:")
    # Nothing of it goes on.
    equal([each["state"] for each in json.loads(cordon.good("top", sandbox, "--json"))["processes"]], ["exited"] * 3)


def logs(node):
    cordon = Cli(node)
    sandbox = cordon.create()
    number = cordon.good("exec", "-d", sandbox, "--", "sh", "-c", "echo a; echo b >&2; cat /workspace/go; sleep 100").strip()
    # Its end is the shell's error about a file that is not there yet: all of the three lines are written.
    until = time.monotonic() + LONG
    while b"go" not in (done := cordon("logs", sandbox, number)).stderr:
        expect(time.monotonic() < until, "nothing was logged", done)
    equal((done.returncode, done.stdout), (0, b"a\n"), done)
    expect(done.stderr.startswith(b"b\n"), done)
    equal(cordon("logs", sandbox, number).stdout, b"a\n", "looking takes nothing:")
    equal(cordon("logs", "--take", sandbox, number).stdout, b"a\n")
    again = cordon("logs", sandbox, number)
    equal((again.returncode, again.stdout, again.stderr), (0, b"", b""), "what was taken")
    talker = cordon.good("exec", "-d", sandbox, "--", "sh", "-c", "echo first; while ! [ -e /workspace/on ]; do sleep 0.05; done; echo last").strip()
    with cordon.start("logs", "-f", sandbox, talker) as follow:
        follow.until(follow.child.stdout, b"first\n")
        cordon.good("exec", sandbox, "--", "sh", "-c", "> /workspace/on")
        equal(follow.end(), (0, b"last\n", b""))
    lines = [json.loads(line) for line in cordon.good("logs", "--json", "-f", sandbox, talker).splitlines()]
    equal((lines[0]["offset"], lines[-1]["event"]), (0, "exit"))
    equal(cordon("logs", sandbox, "99").returncode, 4)


def two_readers(node):
    """One takes, the other only looks: what the second did not get in time is told to it, and what follows still comes."""
    cordon = Cli(node)
    sandbox = cordon.create()
    number = cordon.good("exec", "-d", sandbox, "--", "sh", "-c",
                         "seq 1 150000; while ! [ -e /workspace/on ]; do sleep 0.05; done; echo last").strip()
    with cordon.start("logs", "-f", sandbox, number) as slow:
        slow.until(slow.child.stdout, b"1\n")     # and then it is not read for a while
        taken, until = b"", time.monotonic() + LONG
        while not taken.endswith(b"\n150000\n"):
            expect(time.monotonic() < until, "taken up to", taken[-20:])
            taken += cordon("logs", "--take", sandbox, number).stdout
        equal(taken.count(b"\n"), 150000)
        cordon.good("exec", sandbox, "--", "sh", "-c", "> /workspace/on")
        code, rest, err = slow.end()
        equal(code, 0)
        expect(rest.endswith(b"last\n"), "the looker was left behind", rest[-100:], err)
        expect(b"bytes are missing: another reader acknowledged them first" in err, err)


def goes_on_over_the_death_of_the_node(node):
    cordon = Cli(node)
    sandbox = cordon.create("--timeout", "1h")
    command = "seq 1 300000; read x; echo $x; exit 9"
    with cordon.start("exec", "-i", sandbox, "--", "sh", "-c", command) as run:
        read = run.until(run.child.stdout, b"\n1000\n")
        node.end(node.node, signal.SIGKILL)
        # Who cannot write its output does not hear of the node's death: what comes is read meanwhile.
        run.until(run.child.stderr, b"cordon: the node has gone", meanwhile=run.child.stdout)
        node.start_node()
        read += run.kept + run.until(run.child.stdout, b"\n300000\n")
        run.child.stdin.write(b"after\n")
        run.child.stdin.flush()
        code, rest, _ = run.end()
        equal((code, rest), (9, b"after\n"))
        equal(hashlib.sha256(read).hexdigest(),
              hashlib.sha256("".join(f"{n}\n" for n in range(1, 300001)).encode()).hexdigest())
    with cordon.start("exec", sandbox, "--", "sh", "-c", "trap 'exit 6' INT; echo up; while :; do sleep 0.05; done") as run:
        run.until(run.child.stdout, b"up\n")
        node.end(node.node, signal.SIGKILL)
        run.until(run.child.stderr, b"cordon: the node has gone")
        node.start_node()
        run.until(run.child.stderr, b"cordon: the node is back")
        run.child.send_signal(signal.SIGINT)
        equal(run.end()[0], 6, "Ctrl-C when the node is back:")
    with cordon.start("exec", sandbox, "--", "sh", "-c", "echo up; sleep 100") as run:
        run.until(run.child.stdout, b"up\n")
        node.end(node.node, signal.SIGKILL)
        run.until(run.child.stderr, b"cordon: the node has gone")
        run.child.send_signal(signal.SIGINT)
        code, _, err = run.end()
        equal(code, 130, "Ctrl-C while the node is away:")
        number = err.decode().split(f"cordon attach {sandbox} ")[1].split()[0]
    away = cordon("ps")
    equal(away.returncode, 5)
    expect(b"no node at" in away.stderr and b"--node" in away.stderr, away)
    node.start_node()
    with cordon.start("exec", "--patience", "1s", sandbox, "--", "sh", "-c", "echo up; sleep 100") as run:
        run.until(run.child.stdout, b"up\n")
        node.end(node.node, signal.SIGKILL)
        code, _, err = run.end()
        equal(code, 125, "a node that stays away:")
        expect(b"away for 1 s" in err, err)
    node.start_node()
    states = [each["state"] for each in json.loads(cordon.good("top", sandbox, "--json"))["processes"]]
    equal(states[-2:], ["running"] * 2, "what was left behind")
    with cordon.start("attach", "--json", sandbox, number) as run:
        run.until(run.child.stdout, b"up")
        run.child.send_signal(signal.SIGTERM)
        equal(run.end()[0], 143, "attached again")


def input_on_its_way(node):
    """Bytes that a dying node may or may not have passed on: they are neither sent twice nor taken for sent."""
    cordon = Cli(node)
    sandbox = cordon.create()
    with cordon.start("exec", "-i", sandbox, "--", "sh", "-c", "echo up; sleep 100") as run:
        run.until(run.child.stdout, b"up\n")
        os.set_blocking(run.child.stdin.fileno(), False)
        with selectors.DefaultSelector() as waits:
            waits.register(run.child.stdin, selectors.EVENT_WRITE)
            while waits.select(0.5):     # until nobody takes any more: a request waits for the sleeper to read
                os.write(run.child.stdin.fileno(), b"x" * 4096)
        node.end(node.node, signal.SIGKILL)
        node.start_node()
        run.until(run.child.stderr, b"bytes arrived is not known")
        equal(run.child.wait(LONG), 125)


def attach(node):
    """Whoever comes later gets what was not taken, may type, and ends as the process does."""
    cordon = Cli(node)
    sandbox = cordon.create()
    number = cordon.good("exec", "-d", sandbox, "--", "sh", "-c", "echo up; exec sleep 100").strip()
    with cordon.start("attach", sandbox, number) as run:
        run.until(run.child.stdout, b"up\n")
        run.child.send_signal(signal.SIGTERM)
        equal(run.end()[0], 143)
    with cordon.start("exec", "-i", sandbox, "--", "sh", "-c", "echo up; read x; echo got $x; exit 5") as run:
        run.until(run.child.stdout, b"up\n")
        with cordon.start("attach", "-i", sandbox, str(int(number) + 1)) as second:
            second.child.stdin.write(b"this\n")
            second.child.stdin.flush()
            equal(second.end()[0], 5)
        code, out, _ = run.end()
        equal((code, out), (5, b"got this\n"))
    gone = cordon("attach", sandbox, "77")
    equal((gone.returncode, b"CORDON-API-NOT-FOUND" in gone.stderr), (125, True), gone)


def end_of_the_sandbox(node):
    """Under a process that runs: why is told, and the code is that of `cordon run`."""
    cordon = Cli(node)
    sandbox = cordon.create()
    with cordon.start("exec", sandbox, "--", "sh", "-c", "echo up; sleep 100") as run:
        run.until(run.child.stdout, b"up\n")
        cordon.good("kill", sandbox)
        code, _, err = run.end()
        equal(code, 137, err)
        expect(b"cordon: the sandbox has ended" in err, err)
    short = cordon.create("--timeout", "2s")
    late = cordon("exec", short, "--", "sleep", "100")
    equal(late.returncode, 124, late)


def tokens(node):
    """What a token may not do is refused in words, and the codes are stable."""
    cordon = Cli(node)
    reader = node.mint("--tenant", "a", "--operation", "sandbox.read")
    maker = node.mint("--tenant", "a")
    forged = maker[:-1] + ("A" if maker[-1] != "A" else "B")
    sandbox = cordon.good("create", CORDON_TOKEN=maker).strip()
    equal(json.loads(cordon.good("inspect", sandbox))["tenant"], "a")
    denied = cordon("create", CORDON_TOKEN=reader)
    equal(denied.returncode, 1)
    expect(b"CORDON-API-DENIED" in denied.stderr and b"  next  " in denied.stderr, denied)
    equal(cordon("exec", sandbox, "--", "true", CORDON_TOKEN=reader).returncode, 126)
    bad = cordon("ps", CORDON_TOKEN=forged)
    equal(bad.returncode, 1)
    expect(b"CORDON-API-UNAUTHENTICATED" in bad.stderr and b"--token-file" in bad.stderr, bad)
    expect(forged.encode() not in bad.stderr + bad.stdout, "a token was repeated")
    with tempfile.NamedTemporaryFile("w") as file:
        print(maker, file=file, flush=True)
        equal(cordon.good("ps", "-q", "--token-file", file.name, CORDON_TOKEN=forged).strip(), sandbox)
    nonsense = cordon("ps", CORDON_TOKEN="two words")
    equal((nonsense.returncode, b"two words" in nonsense.stderr), (1, False), nonsense)
    equal(cordon.good("ps", "-q", "--tenant", "b"), "")
    equal(cordon("ps", "--tenant", "b", CORDON_TOKEN=maker).returncode, 1)
    told = cordon("status", CORDON_TOKEN=maker)
    equal(told.returncode, 0, told)
    expect(b"node       not told" in told.stdout, told)


def status(node):
    cordon = Cli(node)
    text = cordon.good("status")
    for word in ("serving", "node       node", "sandboxes  0", "small (default)", "isolation  process", "not promised"):
        expect(word in text, word, text)
    got = json.loads(cordon.good("status", "--json"))
    equal((got["health"]["status"], got["node"]["name"], got["promises"]["isolation"]), ("serving", "node", "process"))
    elsewhere = cordon("status", "--node", "https://node.example")
    equal(elsewhere.returncode, 1)
    expect(b"TLS is not spoken here" in elsewhere.stderr, elsewhere)


def over_tcp(node):
    """The same at a port of this host, where only a token says who asks."""
    port = node.serve_tcp()
    cordon = Cli(node)
    cordon.environment["CORDON_NODE"] = f"http://localhost:{port}"
    equal(cordon("ps").returncode, 1, "nobody in particular:")
    token = node.mint("--tenant", "a")
    sandbox = cordon.good("create", CORDON_TOKEN=token).strip()
    done = cordon("exec", "-i", sandbox, "--", "sh", "-c", "cat; exit 4", stdin=b"through", CORDON_TOKEN=token)
    equal((done.returncode, done.stdout, done.stderr), (4, b"through", b""))
    nobody = cordon("ps", "--node", "http://127.0.0.1:1")
    equal((nobody.returncode, b"no node at http://127.0.0.1:1" in nobody.stderr), (5, True), nobody)


CHECKS = {f.__name__: f for f in (life, policies, exec_ends_as_the_command, exec_streams, signals, logs, two_readers,
                                  goes_on_over_the_death_of_the_node, input_on_its_way, attach, end_of_the_sandbox, tokens, over_tcp, status)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, for the launcher")
        sys.exit(77)
    failed = False
    for name, check in CHECKS.items():
        if options.names and name not in options.names:
            continue
        begin = time.monotonic()
        try:
            with Daemon(options.programs) as node:
                try:
                    check(node)
                except Exception:
                    print(node.log("cordond"), node.log("launcher"))
                    raise
            word, said = "pass", ""
        except Exception:
            word, said, failed = "FAIL", "\n" + traceback.format_exc(limit=-3), True
        print(f"{word}  {name:<40} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
