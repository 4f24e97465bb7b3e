# SPDX-License-Identifier: Apache-2.0
"""Rows of group J about others: another sandbox, the host, and a proxy inside."""
import shutil
import subprocess
import time

import names
from arms import HERE
from checks import check, equal, expect
from acts import API, API_RULE, WAIT, fresh, two
from content import MARK


@check("rows.neighbour", "C137", "C163")
def neighbour(stage):
    """A port that one sandbox opens is reached by itself alone: not by another sandbox, nor from the host."""
    fresh(stage, "open")
    stage.internet.forget()
    server = ("/usr/bin/python3 -m http.server 3999 --bind 0.0.0.0 >served 2>&1 & "
              "curl -sS --retry 60 --retry-delay 0 --retry-max-time 9 --retry-connrefused -o /dev/null http://127.0.0.1:3999/own && :; touch open; "
              + WAIT)
    scan = "for to in 10.0.0.2 127.0.0.1 192.0.2.1 10.0.0.1 10.0.0.3 198.18.0.1 93.184.216.2; do curl -sS -m 3 http://$to:3999/stolen; done; true"
    reached = []
    real = stage.caller.run

    def second_and_scan(flags, command, **how):
        for to in ("127.0.0.1", names.UPLINK, "10.0.0.2", "192.0.2.1", "[::1]"):
            done = stage.caller.directly(["curl", "-sS", "-m", "2", f"http://{to}:3999/stolen"])
            if done.code == 0:
                reached.append(to)
        return real(flags, command, **how)
    stage.caller.run = second_and_scan
    try:
        first, later = two(stage, stage.network(API_RULE), ["sh", "-c", server], stage.network(API_RULE), ["sh", "-c", scan], "open")
    finally:
        stage.caller.run = real
    served = (stage.caller.workspace / "served").read_text()
    stage.counter("/own" in served, "the server was not even reached from inside:", served, first.err[-300:])
    expect("/stolen" not in served and not reached and b"Directory listing" not in later.out, served, reached, later.out[-200:])
    stage.internet.left()


@check("rows.other_sandboxes_address", "C160")
def other_sandboxes_address(stage):
    """What one sandbox may reach by a synthetic address, another with another policy may not."""
    fresh(stage, "address")
    stage.internet.forget()
    first = "/usr/bin/python3 -c \"import socket; open('address.new','w').write(socket.gethostbyname('api.example.com'))\" && mv address.new address && " + WAIT
    second = ("a=$(cat address); curl -sSk -m 5 --resolve api.example.com:443:$a https://api.example.com/hello; curl -sSk -m 5 https://api.example.com/hello; "
              "curl -sSk -m 5 https://$a/hello; true")
    _, later = two(stage, stage.network(API_RULE), ["sh", "-c", first], stage.network('"www.example.com:443"'), ["sh", "-c", second], "address")
    address = (stage.caller.workspace / "address").read_text()
    expect(address.startswith(("198.18.", "198.19.")), address)
    expect(MARK.strip() not in later.out.decode(), later.out)
    equal(stage.internet.packets("tcp4"), {}, "packets")
    equal(stage.internet.asked(), {}, "names asked for")
    own = stage.run(stage.network(API_RULE), ["sh", "-c", first.partition(" && mv")[0] + "; mv address.new address; " + second])
    stage.counter(own.out.decode().startswith(MARK * 2), "whose it is does not reach it either:", own.out, own.err[-300:])


@check("rows.no_listener_outside", "C161")
def no_listener_outside(stage):
    """While a sandbox runs nobody listens on the host's network who did not before."""
    def listeners():
        return content_lines(stage, ["cat", "/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"])
    fresh(stage, "ready")
    before = listeners()
    stage.counter(any(where.endswith(":1F90") for where, _ in before), "not even those are seen that listen there on 8080")
    begin = time.monotonic()
    child, report = stage.caller.start(stage.network(API_RULE), ["sh", "-c", "touch ready; " + WAIT])
    while not (stage.caller.workspace / "ready").exists():
        expect(time.monotonic() - begin < 20 and child.poll() is None, "it did not begin")
        time.sleep(0.02)
    during = listeners()
    (stage.caller.workspace / "over").touch()
    stage.caller.finish(child, report, 30, begin)
    equal(during - before, set(), "new listeners on the host")


def content_lines(stage, command):
    done = subprocess.run([*stage.internet.within(stage.internet.host), *command], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(row[1], row[3]) for row in rows if len(row) > 3 and row[3] in ("0A", "07")}       # listening, or bound for datagrams


@check("rows.relay", "C149")
def relay(stage):
    """A proxy started inside is judged as if it were not there."""
    shutil.copy(HERE / "relay.py", stage.caller.workspace / "relay.py")
    stage.internet.forget()
    through = "curl -sS -m 6 --retry 40 --retry-delay 0 --retry-max-time 6 --retry-connrefused -x http://127.0.0.1:3128 "
    script = (f"/usr/bin/python3 relay.py 3128 & {through} https://api.example.com/hello; {through} https://evil.example.net/hello; "
              f"{through} -k https://{names.STRANGER}/hello; {through} -p http://169.254.169.254/; {through} https://front.example.com/hello; kill %1; true")
    ended = stage.run(stage.network(API_RULE), ["sh", "-c", script])
    stage.counter(ended.out.decode() == MARK, "the granted one answers, and it alone:", ended.out, ended.err[-300:])
    stage.only([API], ["api.example.com"])
