# SPDX-License-Identifier: Apache-2.0
"""Group L: a secret that was used in every way stands nowhere but in the broker, while the sandbox that used it still runs."""
import os
import subprocess
import time

from acts import Running, named
from caller import name_of
from checks import check, equal, expect
from checks_credentials import CURL, HOST, Grant
from memory import in_files, in_memory, in_proc

PATHS = ("raw", "base64", "base64-shifted", "hex", "url", "json", "quoted", "gzip", "chunked", "pieces", "header", "cookie", "token", "none")
OTHER = "retry.example.com"       # gives back what it heard, as HOST does


class Kept:
    """A grant for each host, from a file beside home and workspace, or from the environment; and the policy with both."""

    def __init__(self, stage, sources):
        self.grants, self.env = [], stage.caller.environment()
        top = stage.caller.base / "secrets"
        top = top if top.exists() else stage.caller.directory("secrets")
        text = f'[network]\negress_allowlist = ["{HOST}:443", "{OTHER}:443", "api.example.com:443"]\n[credentials]\nmode = "just_in_time"\n'
        for host, source in zip((HOST, OTHER), sources):
            grant = Grant()
            path = top / f"{source}{next(stage.caller.numbers)}"
            path.write_text(grant.secret + "\n")
            path.chmod(0o600)
            os.chown(path, stage.caller.uid, stage.caller.uid)
            if source == "env":
                self.env["REAL_TOKEN"] = grant.secret
            come = {"file": f"file:{path}", "cmd": f"cmd:cat {path}", "env": "env:REAL_TOKEN"}[source]
            text += (f'[[credentials.grants]]\nname = "{source}"\nenv = "TOKEN_{source.upper()}"\nfrom = "{come}"\nhost = "{host}"\nmethods = ["GET", "POST"]\n'
                     'header = "Authorization: Bearer {secret}"\n')
            self.grants.append(grant)
        self.flags = stage.caller.policy(text)
        # Half of it is enough to find it by.
        self.words = [word for grant in self.grants
                      for word in (grant.secret[:24].encode(), *grant.spellings()[1:], grant.secret.encode("utf-16-le"))]

    def uses(self, stage):
        return [sum(grant.secret in line["bytes"] for line in stage.internet.told("mirror")) for grant in self.grants]


# Holds a connection on which the host has shown the secret in a header that is taken away.
HOLD = """
import http.client, sys, time
line = http.client.HTTPSConnection(sys.argv[1], timeout=20)
for _ in range(2):
    line.request("GET", "/kept")
    answer = line.getresponse()
    answer.read()
print(answer.status, line.sock is not None, flush=True)
time.sleep(120)
"""


def acts(host, name):
    """Requests of all kinds: that are granted, refused, cut in the middle, reflected, and side by side."""
    one = CURL + "".join(f" -o /dev/null https://{host}/{path}" for path in PATHS)
    return (f'{one}; {CURL} -d "$TOKEN_{name}" https://{host}/none; {CURL} -X DELETE https://{host}/none; {CURL} -H "X-Other: $TOKEN_{name}" https://{host}/none; '
            f"{CURL} -d a=b https://{host}/raw; {CURL} --max-time 0.05 https://{host}/pieces; "
            f"for n in 1 2 3 4; do {CURL} -o /dev/null https://{host}/hex & done; wait; {CURL} https://api.example.com/hello")


def search(stage, words, *leave):
    """Where any of the words is: in a process of this run that has none of these names, or in a file of its caller. What was looked at."""
    found, looked, seen = [], {}, set()
    for pid in stage.caller._ours():
        name = name_of(pid)
        if not name or name in leave:
            continue
        try:
            hits, size = in_memory(pid, words)
            found += [(name, word[:12], hex(at), region) for word, at, region in hits] + [(name, word[:12], path) for word, path in in_proc(pid, words, seen)]
        except (FileNotFoundError, ProcessLookupError):
            continue
        looked[name] = looked.get(name, 0) + size
    hits, count = in_files(words, stage.caller.home, stage.caller.workspace)
    return found + [(word[:12], path) for word, path in hits], looked, count


def planted_is_found(stage, words):
    """Whether the same search finds a process that has it."""
    code = "import sys, time; kept = sys.stdin.read(); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen(["/usr/bin/python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as planted:
        try:
            planted.stdin.write(words[0])
            planted.stdin.close()
            planted.stdout.readline()
            return any(hit[0].startswith("python3") for hit in search(stage, words)[0])
        finally:
            planted.kill()


def sentinel(*sources):
    def run(stage):
        kept = Kept(stage, sources)
        stage.caller.give("hold.py", HOLD)
        stage.internet.forget()
        # Whoever exports a secret has it in its own environment, and so has a program that it starts.
        owner = {"cordon"} if "env" in sources else set()
        script = " & ".join(f"({acts(host, source.upper())})" for host, source in zip((HOST, OTHER), sources))
        held = " ".join(f"/usr/bin/python3 hold.py {host} >held-{source} 2>&1 &" for host, source in zip((HOST, OTHER), sources))
        with Running(stage, kept.flags, f"{held} ({script} & wait) 2>/dev/null", env=kept.env) as running:
            uses = kept.uses(stage)
            equal([(stage.caller.workspace / f"held-{source}").read_text() for source in sources], ["200 True\n"] * len(sources), "kept connections")
            expect(min(uses) > len(PATHS), f"the host heard it {uses} times")
            time.sleep(1)
            found, looked, files = search(stage, kept.words, "cordon-broker", *owner)
            broker, = named(stage, "cordon-broker")
            held = {word for word, _, _ in in_memory(broker, kept.words)[0]}
            stage.counter(all(grant.secret[:24].encode() in held for grant in kept.grants), "the same search does not find them in the broker")
            if owner:
                stage.counter(in_proc(named(stage, "cordon")[0], kept.words), "nor in the environment of the caller's own program")
        expect(not found, f"{len(found)} times:", *[f"\n    {hit}" for hit in found[:12]])
        wanted = {"cordon", "cordon-launche", "cordon-egress", "memfd:cordon-i", "sh"} - owner       # the fourth is cordon-init
        equal(wanted - {name[:14] for name in looked}, set(), "processes that were not looked at")
        expect(files > 3, f"{files} files")
        stage.counter(planted_is_found(stage, kept.words), "a process that has it is not found")
        for grant in kept.grants:
            grant.nowhere(running.ended.out, running.ended.err, str(running.ended.report))
        return f"{sum(uses)} uses; {sum(looked.values()) >> 20} MiB of {', '.join(sorted(looked))}; {files} files"
    return run


check("credentials.sentinel.file_and_cmd", "C171", "C183")(sentinel("file", "cmd"))
check("credentials.sentinel.env", "C171", "C183")(sentinel("env"))
