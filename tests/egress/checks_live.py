# SPDX-License-Identifier: Apache-2.0
"""A policy that changes while a sandbox runs: what is open, what is asked next, what was looked up and what was spent."""
import os

import content
import names
from checks import check, equal, expect
from live import ALWAYS, CHAT, GET, TUNNEL, Live, ended, network, stands, tunnel_server


@check("live.tunnels", "C159")
def tunnels(stage):
    """Each kind of connection that a narrower policy does not allow, or would open in another way, is reset; others stay."""
    rule = {"redis": '{ host = "redis.example.com", port = 6379, protocol = "tcp" }', "literal": '{ host = "45.33.1.1", port = 8080, protocol = "tcp" }',
            "inward": '{ host = "db.example.com", port = 8080, protocol = "tcp", addresses = "private" }', "tls": '"api.example.com:443"'}
    where = {"redis": ("redis.example.com", 6379), "literal": ("45.33.1.1", 8080), "inward": ("db.example.com", 8080), "tls": ("api.example.com", 443),
             "host": ("host.cordon.internal", 8080)}
    ports = "host_ports = [8080]\n"
    wide = network(*rule.values(), more=ports)
    other = {"inward": '{ host = "db.example.com", port = 8080, protocol = "tcp" }', "tls": '{ host = "api.example.com", methods = ["GET"] }'}
    with Live(stage, wide) as live:
        for lost in where:
            for name, (host, port) in where.items():
                live.connect(name, host, port, tls=name == "tls")
            stage.counter(live.do("hear", name=lost, patience=0.1)["state"] == "open", lost, "is not open as long as it has its rule")
            live.serve(network(*(text for name, text in rule.items() if name != lost), more=ports if lost != "host" else ""))
            ended(live, lost, f"{lost}, which lost its rule,")
            for name in where:
                if name != lost:
                    stands(live, name, f"{name}, when {lost} lost its rule,")
            told = live.do("connect", name="again", host=where[lost][0], port=where[lost][1])
            expect(told["state"] == "failed" or live.do("hear", name="again", patience=1)["state"] == "reset", "opened again:", told)
            live.serve(wide)
        for lost, instead in other.items():
            live.connect(lost, *where[lost], tls=lost == "tls")
            live.serve(network(*(text for name, text in rule.items() if name != lost), instead))
            ended(live, lost, f"{lost}, which would be opened in another way,")
            live.serve(wide)
        live.connect("denied", *where["redis"])
        live.connect("beside", *where["literal"])
        live.serve(network(*rule.values(), more=ports + 'egress_denylist = ["140.82.112.0/24"]\n'))
        ended(live, "denied", "an address that is denied now, by whatever name it was reached,")
        stands(live, "beside", "another address")
        # What has to be judged now was not when the sandbox's authority was made.
        live.serve(network(other["tls"]))
        told = live.do("connect", name="judged", host="api.example.com", port=443, tls=True)
        equal(told["state"], "failed", "terminated without an authority")
        live.until(lambda: "a new sandbox can reach it" in live.words(), "the reason is not told")


@check("live.requests", "C159")
def requests(stage):
    """Sessions that are judged request by request: the next one, and a pipelined one, by the new policy; what is on its way ends with its rule."""
    tunnel_server(stage)

    def rules(paths, more=""):
        return network(f'{{ host = "{TUNNEL}", methods = ["GET"], paths = [{paths}]{more} }}')
    wide = rules('"/hello", "/other", "/chat", "/drip"', ", websocket = true")
    hello, other = GET.format("/hello", TUNNEL), GET.format("/other", TUNNEL)
    with Live(stage, wide) as live:
        live.connect("kept", TUNNEL, 443, tls=True, trust=True)
        live.connect("drip", TUNNEL, 443, tls=True, trust=True)
        live.connect("chat", TUNNEL, 443, tls=True, trust=True)
        stage.counter(" 200 " in live.ask("kept", other, "hello\n")["data"], "before: /other")
        stage.counter("drip" in live.ask("drip", GET.format("/drip", TUNNEL), "drip\n")["data"], "before: /drip")
        stage.counter(" 101 " in live.ask("chat", CHAT, "\r\n\r\n")["data"], "before: /chat")
        equal(live.ask("chat", "words", "words")["data"], "words", "before: said back")
        stage.internet.forget()
        os.truncate(stage.internet.log("tunnel"), 0)
        live.serve(rules('"/hello", "/chat", "/drip"'))
        ended(live, "chat", "a WebSocket whose rule lost the word for it")
        expect(live.do("hear", name="drip", patience=0.2)["state"] == "open", "an answer that is still allowed was ended")
        told = live.ask("kept", other + hello + other, "hello\n")["data"]
        told += live.do("hear", name="kept", patience=1, enough="allowed: ")["data"]
        equal([line.split(" ")[1] for line in told.splitlines() if line.startswith("HTTP/1.1 ")], ["403", "200", "403"], "of three at once")
        live.serve(rules('"/hello", "/chat"'))
        ended(live, "drip", "a body whose path is refused")
        expect(" 200 " in live.ask("kept", hello, "hello\n")["data"], "the kept connection is not kept")
        paths = [line["path"] for line in stage.internet.told("tunnel") if line["what"] == "request"]
        equal(paths, ["/hello", "/hello"], "what arrived")


@check("live.names", "C159")
def lookups(stage):
    """A name that was looked up under a wider policy is refused afterwards, and its address leads nowhere."""
    wide, narrow = network('"*.example.com:443"', '"evil.example.net:443"'), network('"*.example.com:443"')
    with Live(stage, wide) as live:
        address = live.do("look_up", host="evil.example.net").get("address", "")
        stage.counter(address.startswith("198.18."), "before:", address)
        live.serve(narrow)
        stage.internet.forget()
        told = live.do("look_up", host="evil.example.net")
        expect(told["state"] == "failed", "looked up:", told)
        told = live.do("connect", name="old", host=address, port=443)
        expect(told["state"] == "failed" or live.do("hear", name="old", patience=1)["state"] == "reset", "reached by its old address:", told)
        stage.only([], [])
        expect(live.do("look_up", host="api.example.com").get("address"), "what is allowed is not looked up")


@check("live.dialling", "C159")
def dialling(stage):
    """A connection that is being opened when its rule goes is reset at once, and nobody goes on dialling for it."""
    for protocol in ("tcp", "http"):
        rule = f'{{ host = "{names.HOLE}", port = 80, protocol = "{protocol}" }}'
        with Live(stage, network(rule, ALWAYS)) as live:
            live.connect("hole", names.HOLE, 80)
            live.do("send", name="hole", data=GET.format("/", names.HOLE))
            live.until(lambda: stage.internet.dialling(names.HOLE), "nobody dials")
            live.serve(network(rule))
            stage.counter(stage.internet.dialling(names.HOLE), "it ends by a policy that keeps its rule")
            stage.counter(live.do("hear", name="hole", patience=0.1)["state"] == "open", "what is being dialled is not open before")
            live.serve(network(ALWAYS))
            equal(stage.internet.dialling(names.HOLE), [], "still being dialled")
            ended(live, "hole", "what is being dialled")


@check("live.resolving", "C159")
def resolving(stage):
    """A connection whose name is being looked up outside when its rule goes is reset, and never opened when the answer comes."""
    internet, host, address = stage.internet, "held.example.com", names.PEERS["redis.example.com"]
    redis = f'{{ host = "{host}", port = 6379, protocol = "tcp" }}'

    def web(path):
        return f'{{ host = "{host}", port = 80, protocol = "http", paths = ["{path}"] }}'

    def held(live, port, data, policy):
        """Opened while nobody answers, and the policy changed meanwhile."""
        internet.forget()
        with internet.held():
            live.connect("held", host, port)
            live.do("send", name="held", data=data)
            live.until(lambda: internet.asked()[host] > 0, "nobody asks for the name")
            live.serve(policy)
            expect(not internet.all_answered(host), "it was answered before")

    ping, get = (6379, "PING\r\n", "PONG"), (80, GET.format("/hello", host), " 200 ")
    wide, kept = network(redis, web("/hello"), ALWAYS), network(redis, web("/hello"))
    lost = [(ping, network(web("/hello")), get), (get, network(redis), ping), (get, network(redis, web("/other")), ping)]
    with Live(stage, wide) as live:
        for port, data, enough in (ping, get):
            held(live, port, data, kept)
            stage.counter(enough in live.do("hear", name="held", patience=10, enough=enough)["data"], port, "by a policy that keeps its rule")
            stage.counter((address, port) in internet.packets("open4"), "packets are not counted")
            live.serve(wide)
        for (port, data, _), policy, (other, request, enough) in lost:
            held(live, port, data, policy)
            ended(live, "held", f"port {port}, which lost its rule while it was looked up,")
            live.until(lambda: internet.all_answered(host), "no answer")
            # Asked later over the same socket: when this has its answer, the other one was heard.
            live.connect("other", host, other)
            expect(enough in live.ask("other", request, enough, 10)["data"], f"port {other}, which kept its rule")
            expect((address, port) not in internet.packets("open4"), "opened after its rule was gone:", internet.packets("open4"))
            live.serve(wide)
        held(live, *ping[:2], network(redis, web("/hello"), more=f'egress_denylist = ["{address}"]\n'))
        ended(live, "held", "what leads to an address that was denied while it was looked up", 10)
        expect((address, 6379) not in internet.packets("open4"), "opened after its address was denied:", internet.packets("open4"))


@check("live.budgets", "C159")
def budgets(stage):
    """A narrower number of connections ends the newest; a narrower number of requests counts those that were made."""
    rules = (ALWAYS, '{ host = "redis.example.com", port = 6379, protocol = "tcp" }')
    with Live(stage, network(*rules, more="connections = 8\n")) as live:
        for number in range(6):
            live.connect(str(number), "redis.example.com", 6379)
            stage.counter("PONG" in live.ask(str(number), "PING\r\n", "PONG")["data"], "before:", number)
        live.serve(network(*rules, more="connections = 2\n"))
        for number in range(2, 6):
            ended(live, str(number), f"number {number} of 2")
        for number in range(2):
            expect("PONG" in live.ask(str(number), "PING\r\n", "PONG")["data"], "the oldest were ended", number)
        if live.do("connect", name="more", host="redis.example.com", port=6379)["state"] == "open":
            ended(live, "more", "a third connection")
        live.do("close", name="0")
        live.connect("web", "api.example.com", 80)
        hello = GET.format("/hello", "api.example.com")
        for _ in range(5):
            stage.counter(" 200 " in live.ask("web", hello, content.MARK)["data"], "before")
        live.serve(network(*rules, more="connections = 2\nrequests_per_minute = 6\n"))
        codes = [live.ask("web", hello, "\r\n\r\n")["data"].split(" ")[1] for _ in range(2)]
        equal(codes, ["200", "429"], "the sixth and the seventh request")


@check("live.unreadable", "C159")
def unreadable(stage):
    """A policy that cannot be read ends everything, and the node is told; the next one is served."""
    wide = network(ALWAYS, '{ host = "redis.example.com", port = 6379, protocol = "tcp" }')
    with Live(stage, wide) as live:
        live.connect("redis", "redis.example.com", 6379)
        stage.counter("PONG" in live.ask("redis", "PING\r\n", "PONG")["data"], "before")
        told = live.order("break")
        expect(isinstance(told, str) and "document" in told, "the node was told", told)
        ended(live, "redis", "a tunnel without a policy")
        expect(live.do("look_up", host="redis.example.com")["state"] == "failed", "looked up without a policy")
        live.serve(wide)
        live.connect("redis", "redis.example.com", 6379)
        expect("PONG" in live.ask("redis", "PING\r\n", "PONG")["data"], "after")
