# SPDX-License-Identifier: Apache-2.0
"""What a death of cordon-egress or cordon-broker must not bring back: a wider policy, a revoked grant, what was spent; and what it must not lose."""
import os
import time

import names
from acts import egress_of
from caller import name_of
from checks import WORKS, check, equal, expect
from live import ALWAYS, CHAT, GET, TUNNEL, Live, ended, network, stands, tunnel_server

REDIS = names.PEERS["redis.example.com"]


@check("live.death", "C159", "C157")
def death(stage):
    """An egress that dies after the policy was narrowed comes back with the narrow one."""
    redis = '{ host = "redis.example.com", port = 6379, protocol = "tcp" }'
    with Live(stage, network(ALWAYS, redis)) as live:
        live.connect("redis", "redis.example.com", 6379)
        stage.counter("PONG" in live.ask("redis", "PING\r\n", "PONG")["data"], "before it was narrowed")
        live.serve(network(ALWAYS))
        stage.internet.forget()
        for turn in range(3):
            for pid in egress_of(stage):
                os.kill(pid, 9)
            live.connect("web", "api.example.com", 80)
            expect(" 200 " in live.ask("web", GET.format("/hello", "api.example.com"), "\r\n\r\n")["data"], f"not served after {turn + 1} deaths")
            expect(live.do("look_up", host="redis.example.com")["state"] == "failed", "looked up after a death")
        equal({where for where in stage.internet.packets("tcp4") if where[0] == REDIS}, set(), "packets to the refused host")


@check("credentials.revoked", "C182")
def revoked(stage):
    """A grant that is taken back closes what carries it within a second: a WebSocket, a body; without that they stay. No death brings it back."""
    tunnel_server(stage)
    policy = network(f'{{ host = "{TUNNEL}", methods = ["GET"], websocket = true }}', '"api.example.com:443"') + (
        f'[credentials]\nmode = "just_in_time"\n[[credentials.grants]]\nname = "test"\nenv = "TOKEN"\nfrom = "env:REAL_TOKEN"\nhost = "{TUNNEL}"\n'
        'header = "Authorization: Bearer {secret}"\n')
    os.truncate(stage.internet.log("tunnel"), 0)
    with Live(stage, policy, env={"REAL_TOKEN": "sentinel-revoked"}) as live:
        for name in ("chat", "drip"):
            live.connect(name, TUNNEL, 443, tls=True, trust=True)
        live.connect("beside", "api.example.com", 443, tls=True)
        stage.counter(" 101 " in live.ask("chat", CHAT, "\r\n\r\n")["data"], "before: /chat", live.words()[-500:])
        stage.counter("drip" in live.ask("drip", GET.format("/drip", TUNNEL), "drip\n")["data"], "before: /drip")
        bearing = [line["authorization"] for line in stage.internet.told("tunnel") if line["what"] == "request"]
        equal(bearing, ["Bearer sentinel-revoked"] * 2, "what was heard")
        time.sleep(1.2)
        stands(live, "chat", "a WebSocket whose grant holds")
        expect("drip" in live.do("hear", name="drip", patience=0.3)["data"], "a body whose grant holds was ended")
        begin = time.monotonic()
        took = live.order("revoke", "test")
        expect(isinstance(took, float), "not revoked:", took)
        end = time.monotonic() + 1

        def ends():
            return [line for line in stage.internet.told("tunnel") if line["what"] == "end"]
        while len(ends()) < 2:
            expect(time.monotonic() < end, "still open after a second:", ends())
            time.sleep(0.005)
        seconds = time.monotonic() - begin
        ended(live, "chat", "a WebSocket whose grant was revoked")
        ended(live, "drip", "a body whose grant was revoked")
        stands(live, "beside", "a connection without a credential")
        for turn in range(2):
            live.connect("next", TUNNEL, 443, tls=True, trust=True)
            told = live.ask("next", GET.format("/hello", TUNNEL), "\r\n\r\n")["data"]
            expect(told.split(" ")[1] in ("403", "503") and "cred" in told, "after it was revoked:", told)
            kill_broker(stage)
            time.sleep(0.5)
    return f"{seconds * 1000:.0f} ms"


def kill_broker(stage):
    for pid in [pid for pid in stage.caller._ours() if name_of(pid).startswith("cordon-broker")]:
        os.kill(pid, 9)


@check("live.spent", "C156", "C157")
def spent(stage):
    """What was sent and asked before a death of cordon-egress counts after it."""
    raw = '{ host = "echo.example.com", port = 80, protocol = "http" }'
    policy = network(raw, more="requests_per_minute = 6\n") + '[resources]\negress_limit = "64Ki"\n'
    head = "POST /x HTTP/1.1\r\nHost: echo.example.com\r\nContent-Length: 20000\r\n\r\n" + "x" * 20000
    codes = []
    with Live(stage, policy) as live:
        stage.internet.forget()
        for turn in range(5):
            live.connect("web", "echo.example.com", 80)
            told = live.ask("web", head, "\r\n\r\n")["data"]
            codes.append(told.split(" ")[1] if " " in told else "cut")
            for pid in egress_of(stage):
                os.kill(pid, 9)
            time.sleep(0.3)
        heard = sum(len(line["bytes"]) for line in stage.internet.told("origin"))
        stage.counter(codes[:3] == ["200"] * 3, "within the limit", codes)
        expect(not {"200"} & set(codes[3:]), "answers", codes)
        expect(60000 <= heard <= 65536, f"{heard} bytes arrived past a limit of 64 KiB over 5 deaths")
        live.until(lambda: "egress_limit" in live.words() or "bytes sent" in live.words(), "the limit is not named")
    with Live(stage, network(ALWAYS, more="requests_per_minute = 6\n")) as live:
        codes = []
        for turn in range(8):
            live.connect("web", "api.example.com", 80)
            codes.append(live.ask("web", GET.format("/hello", "api.example.com"), "\r\n\r\n")["data"].split(" ")[1])
            for pid in egress_of(stage):
                os.kill(pid, 9)
            time.sleep(0.2)
        equal(codes, ["200"] * 6 + ["429"] * 2, "over 8 deaths")
    return f"{heard} bytes"


@check("live.estate", "C158", counter=WORKS)
def estate(stage):
    """An egress that cannot be started for a while: the one that can be has the names and the authority of the dead one."""
    tunnel_server(stage)
    program, away = stage.caller.programs / "cordon-egress", stage.caller.programs / "away"
    with Live(stage, network(f'{{ host = "{TUNNEL}", methods = ["GET"] }}', '"*.wild.example.org:443"')) as live:
        before = [live.do("look_up", host=name).get("address") for name in (TUNNEL, "a.wild.example.org", "b.wild.example.org")]
        program.rename(away)
        try:
            for pid in egress_of(stage):
                os.kill(pid, 9)
            time.sleep(0.5)
            expect(not egress_of(stage), "it was started all the same")
        finally:
            away.rename(program)
        after = [live.do("look_up", host=name).get("address") for name in ("b.wild.example.org", "a.wild.example.org", TUNNEL)]
        equal(after[::-1], before, "addresses")
        live.connect("judged", TUNNEL, 443, tls=True, trust=True)
        expect(" 200 " in live.ask("judged", GET.format("/hello", TUNNEL), "hello\n")["data"], "the authority is another:", live.words()[-300:])
