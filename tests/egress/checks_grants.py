# SPDX-License-Identifier: Apache-2.0
"""What is granted beyond names, and its limits: public and private addresses, ports of the host, requests, bytes."""

import names
from checks import check, equal, expect, said
from acts import API, probe
from content import MARK


@check("rows.public", "C134", "C135", "C144")
def public(stage):
    """`mode = "public"`: any public address and name but those denied; never a private one, the metadata's or the host's own."""
    stage.internet.forget()
    flags = stage.caller.policy('[network]\nmode = "public"\negress_denylist = ["*.example.org", "front.example.com"]\n')
    script = f"curl -sS -m 8 https://evil.example.net/hello; curl -sS -m 8 http://{names.STRANGER}/hello; true"
    ended = stage.run(flags, ["sh", "-c", script])
    stage.counter(ended.out.decode() == MARK * 2, "public ones:", ended.out, ended.err[-400:])
    stage.nothing_inward()
    stage.internet.forget()
    inward = [*names.METADATA, *names.PRIVATE, names.UPLINK, "127.0.0.53", "10.0.0.1", "192.168.1.1", "0.1.2.3", "240.0.0.1", "[fd00:ec2::254]",
              "[::ffff:10.1.2.3]"]
    hosts = [*inward, "a.wild.example.org", "front.example.com", *(f"{word}.inward.example.com" for word in (*names.INWARD, *names.INWARD6))]
    script = "\n".join(f"curl -gsS -m 6 http://{host}/ &" for host in hosts) + "\nwait"
    ended = stage.run(flags, ["sh", "-c", script], timeout=90)
    expect(b"sink of" not in ended.out and MARK.encode() not in ended.out, ended.out[-300:])
    stage.nothing_inward()
    asked = stage.internet.asked()
    expect(not {"a.wild.example.org", "front.example.com"} & set(asked), "denied names were asked for", asked)
    strange = {where for where in stage.internet.packets("tcp4") if where[0] not in (names.STRANGER, names.RESOLVER)}
    expect(not strange, "packets to", strange)


@check("rows.literal", "C140")
def literal(stage):
    """An address that is listed is reached, on its port and no other."""
    stage.internet.forget()
    flags = stage.network('{ host = "45.33.1.1", port = 8080, protocol = "tcp" }')
    ended = stage.run(flags, ["sh", "-c", "curl -sS -m 5 http://45.33.1.1:8080/; curl -sS -m 5 http://45.33.1.1:9000/; curl -sS -m 5 http://45.33.1.2:8080/; true"])
    stage.counter(ended.out == b"sink of the world\n", ended.out, ended.err[-300:])
    stage.only(["45.33.1.1"])
    equal(set(stage.internet.packets("tcp4")), {("45.33.1.1", 8080)}, "destinations")


@check("rows.block", "C140")
def block(stage):
    """Addresses of a block that is listed, and no others; where the block is refused, also to names that lead there."""
    stage.internet.forget()
    script = "".join(f"curl -sS -m 5 http://{to}:8080/; " for to in ("45.33.0.7", "45.33.255.254", "45.34.0.1", "45.32.255.255")) + "true"
    ended = stage.run(stage.network('{ host = "45.33.0.0/16", port = 8080, protocol = "tcp" }'), ["sh", "-c", script])
    stage.counter(ended.out == b"sink of the world\n" * 2, ended.out, ended.err[-300:])
    equal(set(stage.internet.packets("tcp4")), {("45.33.0.7", 8080), ("45.33.255.254", 8080)}, "destinations")
    script = "curl -sS -m 8 https://evil.example.net/hello; curl -sS -m 8 https://api.example.com/hello; true"
    for denied, got in (('["185.199.108.0/24"]', MARK), ('["185.199.109.0/24"]', MARK * 2)):
        stage.internet.forget()
        ended = stage.run(stage.caller.policy(f'[network]\nmode = "public"\negress_denylist = {denied}\n'), ["sh", "-c", script])
        equal(ended.out.decode(), got, denied, ended.err[-400:])
        expect((b"is in egress_denylist (" in ended.err) == (got == MARK), "the rule is named where it refuses:", ended.err[-400:])
        reached = (names.STRANGER, 443) in stage.internet.packets("tcp4")
        equal(reached, got != MARK, "a packet to the refused block")


@check("rows.private_by_name", "C144")
def private_by_name(stage):
    """`addresses = "private"`: this name on this port leads inward; never to the metadata, loopback or the host, and no other name does."""
    stage.internet.forget()
    inward = ("metadata", "loopback", "uplink", "ten", "link-local", "multicast")
    rules = [f'{{ host = "{host}", port = 8080, protocol = "tcp", addresses = "private" }}'
             for host in ("db.example.com", *(f"{word}.inward.example.com" for word in inward))]
    script = "curl -sS -m 5 http://db.example.com:8080/; " + "".join(f"curl -sS -m 5 http://{word}.inward.example.com:8080/{word}; "
                                                                     for word in inward) + "true"
    ended = stage.run(stage.network(*rules), ["sh", "-c", script])
    stage.counter(ended.out == b"sink of the world\n", "one of them answers:", ended.out, ended.err[-400:])
    equal(set(stage.internet.packets("tcp4")), {(names.AWAY, 8080)}, "destinations")
    stage.nothing_inward()
    stage.internet.forget()
    ended = stage.run(stage.network('{ host = "db.example.com", port = 8080, protocol = "tcp" }'),
                      ["curl", "-sS", "-m", "5", "http://db.example.com:8080/"])
    expect(ended.code != 0 and not ended.out, "without `addresses`:", ended.out)
    equal(stage.internet.packets("tcp4"), {}, "packets")


@check("rows.host_ports", "C136")
def host_ports(stage):
    """A port of the host's loopback that is listed, by its name; no other port, no other way."""
    stage.internet.forget()
    ended = stage.run(stage.caller.policy("[network]\nhost_ports = [8080]\n"),
                      ["sh", "-c", "curl -sS -m 5 http://host.cordon.internal:8080/; curl -sS -m 5 http://host.cordon.internal:9000/; curl -sS -m 5 http://127.0.0.1:8080/; true"])
    stage.counter(ended.out == b"sink of the host\n", ended.out, ended.err[-300:])
    equal([(line["to"], line["port"]) for line in stage.internet.knocks()], [("127.0.0.1", 8080)], "knocks at")


@check("rows.deny_wins", "C138")
def deny_wins(stage):
    stage.internet.forget()
    flags = stage.network('"*.example.com:443"', more='egress_denylist = ["api.example.com"]\n')
    ended = stage.run(flags, ["sh", "-c", "curl -sS -m 5 https://www.example.com/hello; curl -sS -m 5 https://api.example.com/hello; true"])
    stage.counter(ended.out.decode() == MARK, ended.out, ended.err[-300:])
    stage.only([names.SITES["www.example.com"]], ["www.example.com"])


@check("rows.methods_and_paths", "C153", "C155")
def methods_and_paths(stage):
    """Requests are judged one by one where a rule names methods or paths, in the clear and under TLS."""
    for scheme, port, protocol in (("http", 80, "http"), ("https", 443, "tls")):
        stage.internet.forget()
        rule = f'{{ host = "api.example.com", port = {port}, protocol = "{protocol}", methods = ["GET"], paths = ["/hello", "/who"] }}'
        out = "curl -sS -m 8 -o /dev/null -w '%{http_code} '"
        script = (f"{out} {scheme}://api.example.com/hello; {out} {scheme}://api.example.com/large; {out} -d x {scheme}://api.example.com/hello; {out} -X DELETE {scheme}://api.example.com/hello; "
                  f"{out} --path-as-is {scheme}://api.example.com/hello/../large; {out} {scheme}://api.example.com/hello%2f..%2flarge; {out} {scheme}://api.example.com//hello; "
                  f"{out} -H 'Host: front.example.com' {scheme}://api.example.com/hello; {out} {scheme}://api.example.com/who; true")
        ended = stage.run(stage.network(rule), ["sh", "-c", script])
        codes = ended.out.decode().split()
        expect(len(codes) == 9 and codes[0] == codes[8] == "200" and not {"200", "404", "405"} & set(codes[1:8]), scheme, codes, ended.err[-600:])
        requests = [line["request"].rsplit(" ", 1)[0] for line in stage.internet.told("nginx")]
        stage.counter(requests == ["GET /hello", "GET /who"], scheme, "requests that arrived:", requests)
        stage.only([API], ["api.example.com"])
    rule = '{ host = "api.example.com", methods = ["GET"], paths = ["/hello"] }'
    ended = stage.run(stage.network(rule), ["curl", "-sS", "-m", "8", "--http2", "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
                                            "https://api.example.com/hello"])
    equal(ended.out.decode(), "1.1 200", "where requests are judged HTTP/2 is not spoken", ended.err[-300:])


@check("rows.egress_limit", "C156")
def egress_limit(stage):
    """Bytes out have an end."""
    stage.internet.forget()
    flags = stage.caller.policy('[network]\negress_allowlist = ["echo.example.com:443"]\n[resources]\negress_limit = "1Mi"\n')
    script = "head -c 20000000 /dev/zero | openssl s_client -quiet -connect echo.example.com:443 -servername echo.example.com >/dev/null"
    ended = stage.run(flags, ["sh", "-c", script], timeout=40)
    heard = sum(len(line["bytes"]) for line in stage.internet.told("origin-tls"))
    expect(heard <= 1 << 20, f"{heard} bytes arrived past a limit of 1 MiB")
    expect(heard > 1 << 16, f"only {heard} bytes arrived")
    expect("CORDON-NET-BUDGET" in "\n".join(said(ended)), "cordon said", said(ended))
    stage.internet.forget()
    stage.caller.directly(["sh", "-c", script.replace("20000000", "3000000").replace("openssl", "timeout 1.5 openssl")], timeout=40)
    heard = sum(len(line["bytes"]) for line in stage.internet.told("origin-tls"))
    stage.counter(heard > 1 << 20, f"without a limit {heard} bytes arrive")


@check("rows.connections")
def connections(stage):
    """`connections`: those past it are reset, and after some have ended others are served."""
    message = "GET / HTTP/1.1\r\n".encode().hex()
    cases = [{"act": "stream", "to": "echo.example.com", "port": 80, "pieces": [message], "patience": 0.5} for _ in range(12)]
    rule = '{ host = "echo.example.com", port = 80, protocol = "tcp" }'
    told, ended = probe(stage, cases, stage.network(rule, more="connections = 4\n"), threads=12)
    held = [line for line in told if line.get("end") == "timeout"]
    expect(len(held) == 4 and all(line.get("end", line.get("error")) in ("timeout", "ECONNRESET", "EPIPE") for line in told), len(held), "were held:",
           told)
    expect("CORDON-NET-BUDGET" in "\n".join(said(ended)), said(ended))
    told, _ = probe(stage, cases, stage.network(rule, more="connections = 4\n"), threads=2)
    stage.counter(all(line.get("end") == "timeout" for line in told), "two at a time:", told)


@check("rows.bandwidth", "C156")
def bandwidth(stage):
    """`bandwidth`: eight MiB at two a second take their time."""
    ended = stage.run(stage.network('"files.example.com:443"', more='bandwidth = "2Mi"\n'),
                      ["curl", "-sS", "-m", "20", "-o", "/dev/null", "-w", "%{time_total} %{size_download}", "https://files.example.com/large"])
    seconds, size = map(float, ended.out.decode().split())
    expect(size == 8 << 20 and 2.5 <= seconds < 8, f"{size} bytes in {seconds} s", ended.err[-300:])
    ended = stage.run(stage.network('"files.example.com:443"'), ["curl", "-sS", "-o", "/dev/null", "-w", "%{time_total}", "https://files.example.com/large"])
    stage.counter(float(ended.out) < 2.5, "without a limit:", ended.out)
    return f"{seconds:.1f} s"
