# SPDX-License-Identifier: Apache-2.0
"""Every client works against an allowed host, and fails soon and with a reason against a refused one."""
import hashlib
import importlib.util
import os
import pathlib
import shutil

import names
from checks import WORKS, Skip, check, equal, expect, said
from clients import CLIENTS, DEV_SERVER, TRUST, tcp
from content import MARK

SOON = 10.0
SEEN = []          # (client, outcome, words): for --table


def prepare(stage, client):
    program = client.script.split()[0].split("=")[0]
    if client.name == "python requests":
        lib = stage.caller.workspace / "lib"
        if not lib.exists():
            lib.mkdir()
            for module in ("requests", "urllib3", "idna", "certifi", "charset_normalizer"):
                spec = importlib.util.find_spec(module)
                if spec is None or spec.origin is None:
                    raise Skip("python-requests is not here")
                shutil.copytree(pathlib.Path(spec.origin).parent, lib / module, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
            os.chmod(lib, 0o755)
    elif program in ("node", "npm", "wget", "ssh", "git") and not shutil.which(program, path="/usr/bin:/bin"):
        raise Skip(f"{program} is not here")


FRESH = 'cd "$(mktemp -d -p "$PWD" act.XXXXXX)" || exit 99; '


def act(stage, client, host, flags):
    for ref in ("pushed",):
        path = stage.internet.repository / "refs/heads" / ref
        if path.exists():
            path.unlink()
    return stage.run(flags, ["sh", "-c", FRESH + client.script.format(host=host)], timeout=60, env={**TRUST, **client.env})


def worked(stage, client, ended):
    if client.heard:
        return any("SSH-2.0" in line.get("heard", "") for line in stage.internet.told(client.heard))
    return ended.code == 0 and client.sign in ended.out.decode(errors="replace")


def last_words(ended):
    lines = [line for line in ended.err.decode(errors="replace").splitlines() if line.strip() and not line.startswith(("cordon: ", "  "))]
    telling = [line for line in lines if "resol" in line or "EAI_" in line]
    return (telling or lines or [""])[-1].strip()[:110]


def allowed(client):
    def run(stage):
        prepare(stage, client)
        stage.internet.forget()
        ended = act(stage, client, client.host, [] if stage.bare else stage.network(client.rule))
        expect(worked(stage, client, ended), f"exit {ended.code} after {ended.seconds:.1f} s:", ended.out[-300:], ended.err[-900:])
        SEEN.append((client.name, stage.arm, "allowed", ended.seconds, ""))
        if stage.bare:
            return
        expect("evil" not in str(stage.internet.asked()), stage.internet.asked())
        equal([line for line in said(ended) if "refused" in line], [], "refusals")
        stage.only([{**names.SITES, **names.PEERS}[client.host]], [client.host])
    return run


def refused(client):
    def run(stage):
        prepare(stage, client)
        stage.internet.forget()
        ended = act(stage, client, client.refused, [] if stage.bare else stage.network(client.rule))
        if stage.bare:
            if client.heard:
                expect(any(line["port"] == 22 for line in stage.internet.told("stranger")), "nothing arrived without a sandbox", ended.err[-400:])
            else:
                expect(worked(stage, client, ended), "it does not even work without a sandbox:", ended.code, ended.err[-400:])
            return
        expect(ended.code != 0, "it succeeded:", ended.out[-300:])
        SEEN.append((client.name, stage.arm, "refused", ended.seconds, last_words(ended)))
        stage.only()
        expect(ended.seconds < SOON, f"it took {ended.seconds:.1f} s to fail")
        told = "\n".join(said(ended))
        expect(client.refused in told, f"no reason from cordon: it said {told!r}; the client said {ended.err[-400:]!r}")
        denials = (ended.report or {}).get("denials", [])
        expect(any(client.refused in each["tried"] for each in denials), "the report has no denial of it:", denials)
    return run


for each in CLIENTS:
    word = each.name.replace(" ", "_").replace(",", "").replace("/", "_")
    check(f"clients.{word}.allowed", arms=("bare", "root", "user"))(allowed(each))
    check(f"clients.{word}.refused", "C138", "C165", arms=("bare", "root", "user"))(refused(each))


@check("clients.allow_net_flag", counter=WORKS)
def allow_net_flag(stage):
    stage.internet.forget()
    ended = stage.caller.run(["--allow-net", "api.example.com"], ["curl", "-sS", "https://api.example.com/hello"])
    equal((ended.code, ended.out.decode()), (0, MARK), ended.err)
    stage.only([names.SITES["api.example.com"]], ["api.example.com"])


@check("clients.dev_server", "C136", counter=WORKS)
def dev_server(stage):
    """Loopback inside is the sandbox's own, with and without a network."""
    stage.caller.give("hello", MARK)
    for flags in (stage.network('"api.example.com:443"'), []):
        for bind, at in (("127.0.0.1", "localhost"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")):
            stage.internet.forget()
            ended = stage.caller.run(flags, ["sh", "-c", DEV_SERVER.format(bind=bind, at=at, path="hello")])
            equal((ended.code, ended.out.decode()), (0, MARK), bind, at, ended.err)
            stage.only()


@check("clients.large_transfer", counter=WORKS)
def large_transfer(stage):
    """Eight MiB arrive whole, in and out."""
    wanted = hashlib.sha256((stage.internet.base / "offers/files/large").read_bytes()).hexdigest()
    script = ("curl -sS -o large https://files.example.com/large && sha256sum large && redis-cli -h redis.example.com -x set k < large && "
              "redis-cli -h redis.example.com --raw get k | head -c 8388608 | sha256sum")
    ended = stage.run(stage.network('"files.example.com:443"', tcp("redis.example.com", 6379)), ["sh", "-c", FRESH + script])
    equal(ended.out.decode().count(wanted), 2, "right sums", ended.out, ended.err[-300:])


@check("clients.side_by_side", counter=WORKS)
def side_by_side(stage):
    """Forty connections, twenty at once."""
    script = "seq 40 | xargs -P 20 -I N curl -sS --http1.1 -m 20 https://api.example.com/hello?N"
    ended = stage.run(stage.network('"api.example.com:443"'), ["sh", "-c", script], timeout=120)
    equal((ended.code, ended.out.decode().count(MARK)), (0, 40), ended.err[-400:])
    return f"{ended.seconds:.1f} s"


@check("clients.flag_words")
def flag_words(stage):
    """What `--allow-net` takes, and that it refuses the rest before anything starts."""
    for word, host, works in (("api.example.com:443", "api.example.com", True), ("*.example.com", "www.example.com", True),
                              ("*.example.com", "evil.example.net", False), ("example.com", "api.example.com", False)):
        ended = stage.caller.run(["--allow-net", word], ["curl", "-sS", "-m", "8", f"https://{host}/hello"])
        equal(ended.code == 0, works, word, host, ended.err[-200:])
        if works:
            stage.counter(ended.out.decode() == MARK, word, ended.out)
    for word in ("", "*", "*.com", "API.Example.com", "https://api.example.com", "api.example.com/x", "user@api.example.com", "api.example.com:0",
                 "api.example.com:99999", "api.example.com:x", "a b", "[::1]", "-x"):
        ended = stage.caller.run([f"--allow-net={word}"], ["touch", "ran"])
        expect(ended.code in (2, 126) and not (stage.caller.workspace / "ran").exists(), repr(word), ended.code, ended.err[-200:])
    ended = stage.caller.run(["--allow-net", "api.example.com", "--no-network"], ["curl", "-sS", "-m", "4", "https://api.example.com/hello"])
    expect(ended.code != 0, "--no-network is not the stronger")


def table():
    """What was seen, as the rows of the table in docs/network.md."""
    for client in CLIENTS:
        found = {what: [(seconds, words) for name, arm, outcome, seconds, words in SEEN if name == client.name and outcome == what and arm != "bare"]
                 for what in ("allowed", "refused")}
        works = "works" if found["allowed"] else "-"
        seconds, words = found["refused"][-1] if found["refused"] else (0, "-")
        print(f"| {client.name} | {works} | `{words}` | {seconds:.1f} s |")
