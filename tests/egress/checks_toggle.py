# SPDX-License-Identifier: Apache-2.0
"""A policy that is narrowed and widened again and again under load."""
import json
import statistics
import subprocess
import time

import names
from checks import check, expect
from live import ALWAYS, Live, network

ROUNDS = 50
ECHO, REDIS, WWW = names.PEERS["echo.example.com"], names.PEERS["redis.example.com"], names.SITES["www.example.com"]
MARK_ON, MARK_OFF = "203.0.113.1", "203.0.113.2"      # datagrams to them go nowhere, and tell the rules when a policy holds
JUDGED = '{ host = "www.example.com", methods = ["GET"], paths = ["/hello"] }'
REFUSED = ('{ host = "echo.example.com", port = 80, protocol = "http" }, { host = "redis.example.com", port = 6379, protocol = "tcp" }, '
           '"echo.example.com:443", ' + JUDGED)

# Everything that goes to a refused host and opens a connection or carries a byte is counted: after a narrower policy was confirmed, and before.
EACH = (ECHO, REDIS, WWW)
RULES = f"""
table inet live {{
  set narrow {{ type ipv4_addr; flags dynamic; size 64; }}
  counter after {{}}
  counter before {{}}
  counter always {{}}
  chain out {{ type filter hook output priority 0; policy accept;
    ip daddr {MARK_ON} {" ".join(f"add @narrow {{ {address} }}" for address in EACH)} drop
    ip daddr {MARK_OFF} {" ".join(f"delete @narrow {{ {address} }}" for address in EACH)} drop
    ip daddr {names.SITES["api.example.com"]} tcp flags & (syn | psh) != 0 counter name "always"
    ip daddr != {{ {", ".join(EACH)} }} return
    tcp flags & (syn | psh) == 0 meta length < 120 return
    ip daddr @narrow counter name "after" return
    counter name "before"
  }}
}}
"""


class Counters:
    """Of one host's namespace, as long as the context holds."""

    def __init__(self, stage):
        self.internet = stage.internet

    def nft(self, *words, text=None):
        done = subprocess.run([*self.internet.within(self.internet.host), "nft", *words], input=text, capture_output=True, text=True)
        expect(done.returncode == 0, "nft", words, done.stderr)
        return done.stdout

    def __enter__(self):
        self.nft("-f", "-", text=RULES)
        return self

    def __exit__(self, *_):
        self.nft("delete", "table", "inet", "live")

    def read(self):
        listed = json.loads(self.nft("-j", "list", "counters", "table", "inet", "live"))
        return {each["counter"]["name"]: each["counter"]["packets"] for each in listed["nftables"] if "counter" in each}


# New connections, and connections that are used again and again until they end: in the clear, under TLS, through a tunnel, judged.
LOAD = r"""
import pathlib, socket, ssl, sys, threading, time
loose = ssl._create_unverified_context()
def open_to(host, port):
    sock = socket.create_connection((host, port), 3)
    sock.settimeout(3)
    return loose.wrap_socket(sock, server_hostname=host) if port == 443 else sock
def again(host, port, words, once, pause):
    sock = None
    while True:
        try:
            sock = sock or open_to(host, port)
            sock.sendall(words)
            if not sock.recv(65536): raise OSError("closed")
            if once: sock.close(); sock = None
        except OSError:
            if sock: sock.close()
            sock = None
            time.sleep(0.005)
        time.sleep(pause)
get = lambda host: f"GET /hello HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
for host, port, words, once, count in (
        ("api.example.com", 80, get("api.example.com"), True, 1), ("echo.example.com", 80, get("echo.example.com"), True, 3),
        ("echo.example.com", 80, get("echo.example.com"), False, 3), ("echo.example.com", 443, get("echo.example.com"), False, 2),
        ("echo.example.com", 443, get("echo.example.com"), True, 1),
        ("redis.example.com", 6379, b"PING\r\n", False, 3), ("redis.example.com", 6379, b"PING\r\n", True, 2),
        ("www.example.com", 443, get("www.example.com"), False, 2), ("www.example.com", 443, get("www.example.com"), True, 1)):
    for _ in range(count): threading.Thread(target=again, args=(host, port, words, once, 0.002), daemon=True).start()
pathlib.Path(sys.argv[1], "ready").touch()
time.sleep(600)
"""


@check("live.policy_change", "C159")
def policy_change(stage):
    """Wide, narrow, wide, ... under load: once a narrower policy is confirmed no packet that opens or carries anything goes to a refused host."""
    wide, narrow = network(ALWAYS, REFUSED), network(ALWAYS)
    stage.caller.give("load.py", LOAD)
    took, arrived = [], []
    with Counters(stage) as counters:
        live = Live(stage, wide)
        live.command = ["/usr/bin/python3", "load.py", live.talk.name]
        with live:
            for turn in range(ROUNDS):
                begin = counters.read()
                live.until(lambda: counters.read()["before"] > begin["before"] + 20, f"round {turn}: without narrowing nothing arrives", 10)
                arrived.append(counters.read()["before"] - begin["before"])
                stage.counter(arrived[-1] > 20, f"round {turn}: without narrowing nothing arrives")
                took.append(live.serve(narrow, MARK_ON))
                time.sleep(0.06)
                if turn % 10 == 0:
                    begin = counters.read()
                    live.until(lambda: counters.read()["always"] > begin["always"], f"round {turn}: what is allowed does not arrive any more", 10)
                expect(counters.read()["after"] == 0, f"round {turn}: packets to refused hosts after the narrower policy held:", counters.read())
                live.order("mark", MARK_OFF)
                live.serve(wide)
        last = counters.read()
    stage.counter(min(arrived) > 20, "under the wide one too little arrives", arrived)
    expect(last["after"] == 0 and max(took) < 1000, last, max(took))
    return f"{ROUNDS} times, {last['before']} packets before, 0 after; confirmed in {statistics.median(took):.1f} ms, at most {max(took):.1f}"
