# SPDX-License-Identifier: Apache-2.0
"""The corpus of bypass.py in one sandbox (where a machine is slow in several, one after the other), judged from outside; without a sandbox the
same acts must arrive."""
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import threading

import bypass
import names
from acts import egress_of, probe
from caller import Ended
from checks import check, equal, expect
from content import MARK
from pace import SLOWNESS
from wire import edns, hello, question, records, server_name

HERE = pathlib.Path(__file__).resolve().parent
ROWS = {
    "dns names": ("C141", "C142", "C165", "C170"), "dns types": ("C164", "C167"), "dns malformed": ("C164", "C168"),
    "direct tcp": ("C134", "C135", "C136", "C164"),
    "ip spellings": ("C135", "C136", "C140"), "other ports": ("C150",), "tls shapes": ("C145", "C149"), "tls handshakes": ("C145", "C146"),
    "right tls shapes": (),
    "http heads": ("C141", "C146", "C147", "C149", "C152"), "http smuggling": ("C148", "C149"), "right http": (), "rebinding": ("C143", "C144"),
    "https heads": ("C141", "C146", "C147", "C149", "C152"), "https smuggling": ("C148", "C149"), "right https": (), "https fronting": ("C145", "C146"),
    "redirects": ("C154",), "https redirects": ("C154",), "udp": ("C134", "C137", "C151"),
    "ipv6": ("C134", "C151"), "other protocols": ("C134", "C151"),
}
HANGS = {"direct tcp", "ip spellings", "other ports", "tls shapes", "udp", "ipv6"}      # whose refusals must come at once
OUTSIDE = ("X-Sink", "X-Origin", "200 OK", MARK.strip())


def patient(case):
    """What must arrive without a sandbox is waited for longer, since the machine may be busy: that it came says something, when it came does not."""
    return {**case, "patience": 4 * case["patience"]} if case.get("bare") == "arrives" and "patience" in case else case


def parts_of(stage):
    """In how many sandboxes the corpus runs: each has a limit of its time, which at full speed is more than twice what all of it takes."""
    return 1 if stage.bare or SLOWNESS == 1 else 2 * SLOWNESS


def probed(stage, cases):
    """The cases' own program, run to its end."""
    stage.caller.give("cases.json", json.dumps([patient(case) if stage.bare else case for case in cases]))
    flags = [] if stage.bare else [*stage.network(*bypass.RULES), "--time", "150s"]
    return stage.run(flags, ["/usr/bin/python3", "probe.py", "cases.json", "64" if stage.bare else "32"], timeout=180)


def joined(parts):
    """Several runs as one; its code is that of one that failed, where one did."""
    return Ended(max((part.code for part in parts), key=bool), b"".join(part.out for part in parts), b"".join(part.err for part in parts),
                 sum(part.seconds for part in parts), {"denials": [each for part in parts for each in (part.report or {}).get("denials", [])]})


def told_by(stage):
    """What the probe and the outside said of all cases; once for each arm."""
    if not hasattr(stage.caller, "corpus"):
        cases = bypass.cases()
        shutil.copy(HERE / "probe.py", stage.caller.workspace / "probe.py")
        stage.internet.forget()
        parts = parts_of(stage)
        with Watch(stage) as watch:
            ended = joined([probed(stage, cases[part::parts]) for part in range(parts)])
        lines = [json.loads(line) for line in ended.out.decode(errors="replace").splitlines() if line.startswith("{")]
        lines += capable(stage, cases) if stage.bare else []
        stage.caller.corpus = {
            "ended": ended, "told": {line["id"]: line for line in lines}, "cases": cases, "egresses": watch.seen, "left": stage.internet.left(),
            "asked": stage.internet.asked(), "knocks": stage.internet.knocks(),
            "origin": {port: "".join(line["bytes"] for line in stage.internet.told(log)) for port, log in ((80, "origin"), (443, "origin-tls"))}, "nginx": stage.internet.told("nginx"),
            "stranger": stage.internet.told("stranger")}
    return stage.caller.corpus


def capable(stage, cases):
    """What is told of sockets that nobody may have without a capability, by root on that host: without it their refusal says nothing."""
    stage.caller.give("capable.json", json.dumps([case for case in cases if case["cls"] == "other protocols"]))
    done = subprocess.run([*stage.internet.within(stage.internet.host), "/usr/bin/python3", str(stage.caller.workspace / "probe.py"),
                           str(stage.caller.workspace / "capable.json")], capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Watch(threading.Thread):
    """Which processes served as egress meanwhile: one that dies is replaced, and must not die unseen."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage, self.seen, self.over = stage, set(), threading.Event()

    def __enter__(self):
        self.start()
        return self

    def run(self):
        while not self.over.wait(0.1):
            self.seen.update(egress_of(self.stage))

    def __exit__(self, *_):
        self.over.set()
        self.join()


def arrived(case, told, seen):
    """Whether the act got through to anybody."""
    if case["act"] == "ask":
        return "rcode" in told
    if case["want"] in ("unheard", "heard"):
        return f"TOKEN-{case['id']}-" in seen["origin"][case["port"]]
    if case["act"] == "stream":
        return bool(told.get("heard"))
    if case["act"] == "tls":
        return bool(told.get("shaken"))
    if case["act"] == "command":
        return told.get("code") == 0 and ("sink of the" in told["heard"] or MARK.strip() in told["heard"])
    return bool(told.get("sent"))


def wrong(case, told, seen):
    """None, or what of the case got through, hung or did not work."""
    want, heard = case["want"], told.get("heard", "")
    if want in ("served", "heard"):
        ok = heard.startswith("\x16") if want == "served" else arrived(case, told, seen) and "X-Origin" in heard
        return None if ok else "a right one does not work"
    if case["cls"] in HANGS and "timeout" in (told.get("end"), told.get("error")) and not (case["act"] == "odd" and told.get("sent")):
        return "it hangs"
    if want == "unanswered":
        return "an answer with records" if told.get("addresses") or told.get("types") else None
    if want == "unheard":
        return "its token reached the origin" if arrived(case, told, seen) else None
    if want == "unsent":
        return "it was sent" if told.get("sent") and case["kind"] != "SOCK_STREAM" else None
    if want == "unsent6":
        return "it was sent" if told.get("sent") and not (case["kind"] == "SOCK_STREAM" and "::ffff:" in case["address"][0]) else None
    if told.get("shaken") or (case["act"] == "stream" and heard.startswith("\x16")):
        return "a handshake with somebody outside"
    if want == "uninward":
        return "an answer of the host" if "sink of the host" in heard else None
    return "an answer from outside" if any(word in heard for word in OUTSIDE) else None


def judge(name):
    def run(stage):
        seen = told_by(stage)
        mine = [case for case in seen["cases"] if case["cls"] == name]
        missing = [case["note"] for case in mine if case["id"] not in seen["told"]]
        expect(not missing, f"{len(missing)} of {len(mine)} cases did not end: exit {seen['ended'].code}", seen["ended"].err[-600:])
        if stage.bare:
            wanted = [case for case in mine if case["bare"] == "arrives"]
            lost = [f"{case['note']}: {seen['told'][case['id']]}" for case in wanted if not arrived(case, seen["told"][case["id"]], seen)]
            expect(not lost, f"{len(lost)} of {len(wanted)} do not arrive even without a sandbox:", *lost[:4])
            expect(wanted, "no case of this class arrives: its refusals would say nothing")
            return f"{len(wanted)} of {len(mine)} must arrive, and do"
        bad = [(case, why) for case in mine if (why := wrong(case, seen["told"][case["id"]], seen))]
        lines = [f"\n    {case['note']}: {why}: {str(seen['told'][case['id']])[:200]}" for case, why in bad[:6]]
        expect(not bad, f"{len(bad)} of {len(mine)} cases:", *lines, f"\n    and {len(bad) - 6} more" if len(bad) > 6 else "")
        if name.startswith("http"):
            right = "right " + name.split()[0]
            dead = [case["note"] for case in seen["cases"] if case["cls"] == right and wrong(case, seen["told"][case["id"]], seen)]
            expect(not dead, f"{len(mine)} cases are refused, but so are {len(dead)} right ones: it says nothing")
        return f"{len(mine)} cases"
    return run


for each, rows in ROWS.items():
    check("bypass." + each.replace(" ", "_"), *rows, arms=("bare", "root", "user"))(judge(each))


@check("bypass.no_packets", "C134", "C135", "C136", "C137", "C143", "C144", "C151", "C154", "C164", arms=("bare", "root", "user"))
def no_packets(stage):
    """After the whole corpus: no packet to anybody whom no rule allows, counted outside."""
    seen = told_by(stage)
    left, knocks = seen["left"], seen["knocks"]
    if stage.bare:
        for which in ("tcp4", "udp4", "tcp6", "udp6", "own4", "own6"):
            expect(left.get(which), f"without a sandbox nothing was counted in {which}")
        expect(len(knocks) > 50, "too little arrived without a sandbox", len(knocks))
        return f"{len(knocks)} knocks, {sum(map(len, left.values()))} destinations without a sandbox"
    expect(not knocks, f"{len(knocks)} connections at the host's own addresses:", knocks[:4])
    for which in ("own4", "own6", "tcp6", "udp6", "other4", "other6"):
        expect(which not in left, f"packets counted in {which}:", left.get(which))
    allowed = {(address, port) for address in bypass.DIALLED for port in (80, 443, 8080)}
    strange = {where: count for where, count in left.get("tcp4", {}).items() if where not in allowed and where != (names.RESOLVER, 53)}
    expect(not strange, "packets to", strange)
    missing = {(address, 443) for address in bypass.DIALLED} - set(left.get("tcp4", {}))
    expect(not missing, "granted hosts were not dialled: this says nothing", missing)
    strange = {where: count for where, count in left.get("udp4", {}).items() if where != (names.RESOLVER, 53)}
    expect(not strange, "datagrams to", strange)
    kinds = collections.Counter(case["cls"] for case in seen["cases"])
    return f"{sum(kinds.values())} cases of {len(kinds)} classes; {len(left.get('tcp4', {}))} destinations, all granted"


@check("bypass.no_queries", "C138", "C165", "C170", arms=("bare", "root", "user"))
def no_queries(stage):
    """After the whole corpus: no resolver was asked for a name that no rule allows."""
    asked = told_by(stage)["asked"]
    if stage.bare:
        expect(len(asked) > 100, "too little arrived without a sandbox", len(asked))
        return f"{len(asked)} names without a sandbox"
    strange = {name: count for name, count in asked.items() if name not in bypass.ASKED}
    expect(not strange, f"{len(strange)} names were asked for:", dict(list(strange.items())[:6]))
    expect(len(asked) > 40, "names that are granted were not asked for: this says nothing", len(asked))
    return f"{len(asked)} names, all granted"


def mutated(chance, data):
    """The bytes with some of them changed, cut or doubled."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) or 1)
        way = chance.randrange(4)
        if way == 0 and data:
            data[at] = chance.randrange(256)
        elif way == 1:
            del data[at:at + chance.randint(1, 12)]
        elif way == 2:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 12)))
        elif data:
            data[at] ^= 1 << chance.randrange(8)
    return bytes(data)


@check("bypass.noise", "C157", "C168")
def noise(stage):
    """Mutated hellos and DNS messages, the same in every run: the egress lives, and nothing else than the granted host is reached."""
    chance = random.Random(5)
    hellos = [records(hello(server_name(bypass.QUIET.encode()))), records(hello(server_name(bypass.QUIET.encode())), 30), records(hello())]
    asked = [question(bypass.QUIET), question("noise.evil.example.net", counts=(1, 0, 0, 1), after=edns()), question(bypass.QUIET, 28)]
    cases = []
    for number in range(1500):
        if number % 2:
            data = mutated(chance, chance.choice(hellos))
            cases.append({"act": "stream", "to": bypass.QUIET, "port": 443, "pieces": [data.hex()], "shut": True, "patience": 1.0})
        else:
            cases.append({"act": "ask", "to": bypass.STUB, "message": mutated(chance, chance.choice(asked)).hex(), "stream": number % 8 == 0,
                          "patience": 0.3})
    stage.internet.forget()
    with Watch(stage) as watch:
        probe(stage, cases, stage.network(f'"{bypass.QUIET}:443"'), threads=32, timeout=120)
    equal(len(watch.seen), 1, "processes that were the egress")
    stage.only([names.SITES[bypass.QUIET]], [bypass.QUIET])
    stage.counter(any(where[0] == names.SITES[bypass.QUIET] for where in stage.internet.packets("tcp4")), "not even the granted host was reached")


@check("bypass.one_egress", "C157", counter="that a death is seen is what rows.death_of_egress shows")
def one_egress(stage):
    """Nothing in the whole corpus ends the egress."""
    equal(len(told_by(stage)["egresses"]), parts_of(stage), "processes that were the egress")


@check("bypass.words", "C141")
def words(stage):
    """What cordon says of all this can be read: no control bytes, an end to its length, each refusal once."""
    text = told_by(stage)["ended"].err.decode()
    ours = [line for line in text.split("\n") if line.startswith(("cordon: ", "  "))]
    odd = [line for line in ours if any(ord(each) < 32 or 127 <= ord(each) < 160 for each in line)]
    expect(not odd, "control bytes:", odd[:3])
    expect(all(len(line) < 1000 for line in ours), "a line of", max(map(len, ours)), "bytes")
    expect(len(ours) < 5000, len(ours), "lines")
    denials = told_by(stage)["ended"].report["denials"]
    stage.counter(len(denials) > 100, "too few words", len(denials))
    # A person may copy it into a shell: what a program inside chose must be a plain word there.
    typed = [each["fix"].split("--allow-net")[-1].split()[0] for each in denials if "--allow-net" in each["fix"]]
    odd = [word for word in typed if not re.fullmatch(r"[A-Za-z0-9.:_-]+", word)]
    expect(not odd, "words to be typed:", odd[:4])
    odd = [each for each in denials if any(not part.isprintable() for part in (each["tried"], each["why"], each["fix"], each["resolved"]))]
    expect(not odd, "control characters in the report:", odd[:2])
    heads = [line for line in ours if line.startswith("cordon: ")]
    return f"{len(heads)} refusals in {len(ours)} lines, {len(text)} bytes"
