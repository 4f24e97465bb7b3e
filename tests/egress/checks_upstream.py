# SPDX-License-Identifier: Apache-2.0
"""What the world outside does to an egress: resolvers and peers that are slow, silent, wrong or dead."""
import struct
import time

import names
from acts import egress_of, fresh, probe
from checks import WORKS, check, equal, expect, said
from content import MARK
from wire import extension, hello, records, server_name, vector


def rule(name):
    return f'"{name}:443"'


def get(name, seconds=30):
    return ["curl", "-sS", "-m", str(seconds), f"https://{name}/hello"]


def works(name, within, *addresses):
    def run(stage):
        stage.internet.forget()
        ended = stage.run([] if stage.bare else stage.network(rule(name)), get(name))
        equal((ended.code, ended.out.decode()), (0, MARK), f"after {ended.seconds:.1f} s", ended.err[-500:])
        expect(ended.seconds < within, f"it took {ended.seconds:.1f} s")
        return f"{ended.seconds:.1f} s"
    return run


def fails(name, within, word):
    """Soon enough, and with words that tell a trouble outside from a refusal by policy."""
    def run(stage):
        stage.internet.forget()
        ended = stage.run(stage.network(rule(name)), get(name))
        expect(ended.code != 0 and not ended.out, ended.code, ended.out)
        expect(ended.seconds < within, f"it took {ended.seconds:.1f} s to fail:", ended.err[-300:])
        told = "\n".join(said(ended))
        expect(name in told and word in told, f"cordon said {told!r}")
        return f"{ended.seconds:.1f} s: {told[:160]!r}"
    return run


for each, limit in (("slow.example.com", 8), ("cut.example.com", 4), ("good-alias.example.com", 4), ("huge-ttl.example.com", 4),
                    ("dead-first.example.com", 6), ("both.example.com", 4)):
    check(f"upstream.works.{each.split('.')[0]}", "C168", arms=("bare", "root", "user"))(works(each, limit))
check("upstream.works.six", arms=("bare", "root", "user"))(works("six.example.com", 4))
check("upstream.works.hole-first", arms=("root", "user"), counter=WORKS)(works("hole-first.example.com", 20))

for each in ("nothing", "broken", "empty", "round", "loop-pointer", "dead"):
    check(f"upstream.fails.{each}", "C168", counter="upstream.works.slow")(fails(f"{each}.example.com", 6, "outside" if each != "dead" else "refused"))


@check("upstream.silence", "C168", arms=("root",))
def silence(stage):
    """Nobody answers, or with another's answer: side by side, each ends, and each is told."""
    hosts = [f"{word}.example.com" for word in ("silent", "wrong-id", "wrong-name", "hole")]
    stage.internet.forget()
    script = "".join(f"curl -sS -m 40 https://{host}/ & " for host in hosts) + "curl -sS https://www.example.com/hello; wait"
    ended = stage.run(stage.network(*map(rule, [*hosts, "www.example.com"])), ["sh", "-c", script])
    stage.counter(ended.out.decode() == MARK, "beside them another is served", ended.err[-300:])
    expect(ended.seconds < 25, f"it took {ended.seconds:.1f} s")
    told = "\n".join(said(ended))
    expect(all(f"{host}:443" in told for host in hosts), told)
    stage.only([names.HOLE, names.SITES["www.example.com"]], [*hosts, "www.example.com"])
    return f"{ended.seconds:.1f} s"


@check("upstream.many_records", "C168", counter="bypass.rebinding")
def many_records(stage):
    """A thousand private addresses in one answer: none is dialled."""
    stage.internet.forget()
    ended = stage.run(stage.network(rule("many.example.com")), get("many.example.com"))
    expect(ended.code != 0, ended.out)
    stage.only(asked=["many.example.com"])


@check("upstream.half_close", counter=WORKS)
def half_close(stage):
    """A client that has said all hears the answer to its end."""
    request = "GET /hello HTTP/1.1\r\nHost: echo.example.com\r\n\r\n".encode().hex()
    cases = [{"act": "stream", "to": "echo.example.com", "port": 80, "pieces": [request], "shut": True, "patience": 5}]
    told, _ = probe(stage, cases, stage.network('{ host = "echo.example.com", port = 80, protocol = "tcp" }'))
    expect("X-Origin" in told[0].get("heard", "") and told[0]["end"] == "closed", told)


def with_resolvers(stage, text):
    """One request under another resolv.conf."""
    path = stage.caller.home / "resolv.conf"
    path.write_text(text)
    path.chmod(0o644)
    stage.internet.forget()
    stage.caller.resolv = path
    try:
        return stage.run(stage.network(rule("api.example.com")), get("api.example.com"))
    finally:
        stage.caller.resolv = None


@check("upstream.resolvers")
def resolvers(stage):
    """The host's resolver is on its own loopback, has an IPv6 address, or is the second of two; without any nothing is resolved."""
    for text, within in ((f"nameserver {names.LOCAL_RESOLVER}\n", 3), ("nameserver 2001:4860:4860::8888\n", 3),
                         (f"nameserver {names.DEAD}\nnameserver 1.1.1.1\n", 12),
                         (f"# a comment\n\nnameserver 9.9.9.9\noptions edns0 trust-ad rotate\nsearch a.example b.example\n", 3)):
        ended = with_resolvers(stage, text)
        stage.counter(ended.out.decode() == MARK, repr(text), ended.err[-400:])
        expect(ended.seconds < within, repr(text), f"took {ended.seconds:.1f} s")
    ended = with_resolvers(stage, "nameserver 192.0.2.9\n")
    expect(ended.code != 0 and "api.example.com" in "\n".join(said(ended)), ended.code, ended.err[-300:])


def hello_13(name, share=b"\0\0", session=bytes(range(32))):
    """A ClientHello of TLS 1.3 without a key: the server asks for another."""
    return hello(server_name(name.encode()), extension(43, b"\2\3\4"), extension(51, share), session=session, suites=(0x1301, 0x1302, 0x1303))


@check("upstream.second_hello", "C145", arms=("bare", "root", "user"))
def second_hello(stage):
    """A server may ask for a second ClientHello; with the same name it passes, with another the connection is cut."""
    key = vector(struct.pack(">H", 24) + vector(bytes([4]) + bytes(96), 2), 2)      # of secp384r1, and no point of the curve
    first, ways = records(hello_13("retry.example.com")), {"alone": [], "same": ["retry.example.com"], "other": ["evil.example.net"]}
    cases = [{"act": "stream", "to": "retry.example.com", "port": 443, "pause": 0.4, "patience": 1.5,
              "pieces": [first.hex(), *(records(hello_13(name, key)).hex() for name in more)]} for more in ways.values()]
    told, _ = probe(stage, cases, [] if stage.bare else stage.network(rule("retry.example.com")))
    alone, same, other = (line.get("size", 0) for line in told)
    expect(alone > 40, "the server asked for nothing:", told[0])
    expect(same > alone, "the second one with the same name was not answered:", told[1])
    expect(other > alone if stage.bare else other == alone, "the second one with another name:", told[2])


@check("upstream.works.retry", arms=("bare", "root", "user"))
def works_retry(stage):
    """A real client that is asked for a second ClientHello."""
    ended = stage.run([] if stage.bare else stage.network(rule("retry.example.com")), ["curl", "-sS", "-m", "8", "https://retry.example.com/raw"])
    expect(ended.code == 0 and b"GET /raw" in ended.out, ended.out, ended.err[-300:])


@check("upstream.one_resolution", "C143")
def one_resolution(stage):
    """A connection is resolved once; what was checked is what is dialled, however the answers change."""
    stage.internet.forget()
    message = records(hello(server_name(b"flip.example.com"))).hex()
    cases = [{"act": "stream", "to": "flip.example.com", "port": 443, "pieces": [message], "patience": 0.5} for _ in range(12)]
    probe(stage, cases, stage.network(rule("flip.example.com")), threads=1)
    stage.only([names.SITES["quiet.example.com"]], ["flip.example.com"])
    stage.counter(stage.internet.packets("tcp4"), "not even the address that is allowed was dialled")
    lines = [line for line in stage.internet.told("dns") if line.get("name") == "flip.example.com" and line["type"] == 1]
    expect(0 < len(lines) <= 12, f"{len(lines)} questions for 12 connections")


SILENT = """
import socket, subprocess, time
held = []
for number in range(2000):
    sock = socket.socket(); sock.settimeout(5)
    try:
        sock.connect(("api.example.com", 443)); sock.send(b"\\x16"); held.append(sock)
    except OSError: pass
open("held", "w").write(str(len(held)))
begin = time.monotonic()
while time.monotonic() - begin < 30:
    if subprocess.run(["curl", "-sS", "-m", "15", "https://www.example.com/hello"], capture_output=True).returncode == 0: break
    time.sleep(0.25)
print(len(held), round(time.monotonic() - begin, 1))
"""


@check("upstream.slowloris", "C323", slow=True, counter=WORKS)
def slowloris(stage):
    """Two thousand connections that say nothing: the memory of the egress has an end, another sandbox is served, and so is this one again."""
    fresh(stage, "held")
    flags = [*stage.network(rule("api.example.com"), rule("www.example.com")), "--open-files", "4096"]
    alone = stage.run(stage.network(rule("www.example.com")), get("www.example.com"))
    begin = time.monotonic()
    child, report = stage.caller.start(flags, ["/usr/bin/python3", "-c", SILENT])
    while not (stage.caller.workspace / "held").exists():
        expect(time.monotonic() - begin < 60 and child.poll() is None, "it did not begin")
        time.sleep(0.05)
    sizes = [int(line.split()[1]) for pid in egress_of(stage) for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")]
    beside = stage.run(stage.network(rule("www.example.com")), get("www.example.com"))
    ended = stage.caller.finish(child, report, 90, begin)
    equal(beside.out.decode(), MARK, beside.err[-300:])
    expect(beside.seconds < 2 * alone.seconds + 0.5, f"{beside.seconds:.2f} s beside them, {alone.seconds:.2f} s alone")
    held, again = ended.out.decode().split()
    expect(float(again) < 20, f"served again after {again} s")
    return f"{held} held, egress {max(sizes) >> 10} MiB, beside {beside.seconds:.2f} s against {alone.seconds:.2f} s, served again after {again} s"
