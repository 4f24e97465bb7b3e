# SPDX-License-Identifier: Apache-2.0
"""Rows of groups J and K about one sandbox: no network, no list, its resolver, and what it does to itself."""
import names
from checks import WORKS, check, equal, expect, said
from acts import API, API_RULE, GET, probe
from content import MARK
from wire import edns, question

ALL_CAPABILITIES = '["chown", "dac_override", "fowner", "fsetid", "setuid", "setgid", "kill", "net_bind_service"]'


@check("rows.no_network", "C134", counter="rows.counter_of_no_network")
def no_network(stage):
    """Without a network every call fails at once, and nothing leaves."""
    stage.internet.forget()
    cases = [{"act": "stream", "to": to, "port": port} for to in ("8.8.8.8", names.STRANGER, "169.254.169.254", "10.1.2.3") for port in (53, 80, 443)]
    cases += [{"act": "odd", "family": "AF_INET", "kind": "SOCK_DGRAM", "address": ["8.8.8.8", port], "data": "41"} for port in (53, 443)]
    cases += [{"act": "odd", "family": "AF_INET6", "kind": "SOCK_STREAM", "connect": True, "address": ["2606:4700:4700::1111", 443, 0, 0],
               "data": "41"}]
    told, _ = probe(stage, cases, [])
    wrong = [line for line in told if line.get("error") != "ENETUNREACH"]
    expect(not wrong, wrong[:3])
    stage.only()


@check("rows.counter_of_no_network", "C134", arms=("bare",))
def counter_of_no_network(stage):
    told, _ = probe(stage, [{"act": "stream", "to": names.STRANGER, "port": 80, "pieces": ["0d0a0d0a"], "patience": 1}], [])
    expect(told[0].get("connected"), told)


@check("rows.denial_of_an_address", "C134", "C135", counter="bypass.direct_tcp")
def denial_of_an_address(stage):
    """A refused address is told, once, with where it went."""
    stage.internet.forget()
    ended = stage.run(stage.network(API_RULE), ["curl", "-sS", "-m", "5", "http://169.254.169.254/latest/meta-data/"])
    expect(ended.code != 0 and ended.seconds < 4, ended.code, ended.seconds)
    told = "\n".join(said(ended))
    expect("169.254.169.254" in told, f"cordon said {told!r}")
    denials = ended.report["denials"]
    expect(len([each for each in denials if "169.254.169.254" in each["tried"]]) == 1, denials)
    stage.only()


@check("rows.empty_allow_list", "C139")
def empty_allow_list(stage):
    """No list, an empty one, or a broken one never means everything."""
    stage.internet.forget()
    texts = ['[network]\nmode = "restricted"\negress_allowlist = []\n', '[network]\nmode = "restricted"\n', "[network]\n", "",
             '[network]\negress_allowlist = []\n',
             '[network]\nmode = "none"\n', '[network]\nhost_ports = [8080]\n', '[network]\negress_denylist = ["x.example.net"]\n']
    for text in texts:
        ended = stage.caller.run(stage.caller.policy(text), [*GET[:-1], "https://api.example.com/hello"])
        expect(ended.code != 0 and not ended.out, text, ended.code, ended.out)
        ended = stage.caller.run(stage.caller.policy(text), ["curl", "-sS", "-m", "4", f"http://{names.STRANGER}/"])
        expect(ended.code != 0 and not ended.out, text, ended.code, ended.out)
    for text in ("[network\n", "[network]\negress_allowlist = null\n", "[network]\negress_allowlist = 5\n", "[network]\negress_allowlist = [\"\"]\n",
                 '[network]\negress_allowlist = ["*"]\n',
                 '[network]\negress_allowlist = ["*.com"]\n', '[network]\negress_allowlist = ["*.co.uk"]\n', '[network]\nmode = "all"\n', "\0",
                 '[network]\negress_allowlist = ["api.example.com", 7]\n'):
        ended = stage.caller.run(stage.caller.policy(text), GET)
        equal((ended.code, ended.out), (126, b""), repr(text), ended.err[-300:])
    empty = stage.caller.home / "empty.json"
    for text in ("", "null", "[]", '{"network": null}', '{"network": {"egress_allowlist": null}}'):
        empty.write_text(text)
        ended = stage.caller.run(["--policy", str(empty)], GET)
        expect(ended.code != 0 and not ended.out, repr(text), ended.code)
    stage.only()
    ended = stage.run(stage.network(API_RULE), GET)
    stage.counter(ended.out.decode() == MARK, "with a list:", ended.out, ended.err[-300:])


@check("rows.resolver_is_ours", "C164", counter="bypass.dns_types")
def resolver_is_ours(stage):
    """Whatever resolver is named, the answer is ours, over UDP and TCP; nothing goes to it."""
    stage.internet.forget()
    cases = [{"act": "ask", "to": to, "message": question("api.example.com").hex(), "stream": stream}
             for to in ("8.8.8.8", "1.1.1.1", "10.1.2.3", "198.18.0.1", "45.33.1.1") for stream in (False, True)]
    cases += [{"act": "stream", "to": to, "port": port, "pieces": ["00"], "patience": 2} for to in ("8.8.8.8", "1.1.1.1", "9.9.9.9")
              for port in (853, 443, 80)]
    told, _ = probe(stage, cases, stage.network(API_RULE))
    answers = {tuple(line.get("addresses", [])) for line in told[:10]}
    expect(len(answers) == 1 and next(iter(answers)) and next(iter(answers))[0].startswith(("198.18.", "198.19.")), told[:10])
    expect(all(not line.get("heard") and line.get("end") != "timeout" for line in told[10:]), told[10:])
    stage.only()


@check("rows.answers", "C167")
def answers(stage):
    """A: one synthetic address that stays; AAAA: no data; a refused name: REFUSED with a text; with and without EDNS, UDP and TCP."""
    stage.internet.forget()
    cases = []
    for name, kind in (("api.example.com", 1), ("API.Example.COM", 1), ("api.example.com", 28), ("evil.example.net", 1), ("evil.example.net", 28),
                       ("www.example.com", 1)):
        for stream in (False, True):
            for after in (b"", edns()):
                message = question(name, kind, counts=(1, 0, 0, 1 if after else 0), after=after)
                cases.append({"act": "ask", "to": "198.18.0.1", "message": message.hex(), "stream": stream})
    told, _ = probe(stage, cases, stage.network(API_RULE, '"www.example.com:443"'))
    of = [told[at:at + 4] for at in range(0, len(told), 4)]
    expect(len({tuple(line.get("addresses", ())) for line in of[0] + of[1]}) == 1 and of[0][0]["addresses"], "the address changes:", of[0] + of[1])
    expect(all(line.get("rcode") == 0 and not line["types"] for line in of[2]), "AAAA:", of[2])
    expect(all(line.get("rcode") == 5 and not line["types"] for line in of[3] + of[4]), "refused:", of[3] + of[4])
    stage.counter(of[5][0]["addresses"] and of[5][0]["addresses"] != of[0][0]["addresses"], "two names share an address", of[5])
    stage.only()


@check("rows.wildcard_budget", "C166")
def wildcard_budget(stage):
    """Names under a wildcard: nothing is asked for until somebody dials, and their number has an end."""
    stage.internet.forget()
    cases = [{"act": "ask", "to": "198.18.0.1", "message": question(f"{number:08x}deadbeef.wild.example.org").hex()} for number in range(4400)]
    told, ended = probe(stage, cases, stage.network('"*.wild.example.org:443"'), threads=4, timeout=120)
    given = {line["addresses"][0] for line in told if line.get("addresses")}
    stage.counter(0 < len(given) <= 4096, f"{len(given)} different addresses for 4400 names")
    refused = [line for line in told if not line.get("addresses")]
    expect(len(refused) >= 4400 - 4096 and all(line.get("rcode") == 5 for line in refused[:50]), "past the end:", refused[:3])
    stage.only()


@check("rows.addrconfig", "C324", counter=WORKS)
def addrconfig(stage):
    """getaddrinfo with AI_ADDRCONFIG, of any family."""
    cases = [{"act": "look_up", "name": "api.example.com", "flags": flags, "family": family} for flags in (0, 0x20, 0x28)
             for family in ("AF_UNSPEC", "AF_INET")]
    told, _ = probe(stage, cases, stage.network(API_RULE))
    expect(all(line.get("addresses") for line in told), told)


@check("rows.search_domains", "C170")
def search_domains(stage):
    """Short names, search domains, WPAD and reverse look-ups: nothing is asked outside."""
    stage.internet.forget()
    script = ("for name in api wpad localhost.corp.example isatap short.name x; do getent hosts $name; getent ahosts $name; done; LOCALDOMAIN=example.com getent hosts front; "
              "RES_OPTIONS=ndots:5 getent hosts evil.example.net; getent hosts 8.8.8.8; getent hosts 10.1.2.3; true")
    stage.run(stage.network(API_RULE), ["sh", "-c", script])
    stage.only()
    stage.caller.directly(["sh", "-c", script])
    stage.counter(len(stage.internet.asked()) > 5, "without a sandbox:", stage.internet.asked())


@check("rows.names_redirected_inside", "C169")
def names_redirected_inside(stage):
    """Whatever the sandbox makes its own resolver believe, egress dials what it resolved itself."""
    stage.caller.give("aliases", "evil api.example.com\napi evil.example.net\n")
    stage.internet.forget()
    script = ("echo '1.2.3.4 api.example.com' >> /etc/hosts; echo 'nameserver 1.2.3.4' > /etc/resolv.conf; HOSTALIASES=$PWD/aliases curl -sS -m 5 https://api/hello; "
              f"curl -sSk -m 5 --resolve api.example.com:443:{names.STRANGER} https://api.example.com/hello; curl -sSk -m 5 --connect-to ::{names.STRANGER}:443 https://api.example.com/hello; "
              "curl -sSk -m 5 --resolve evil.example.net:443:$(getent hosts api.example.com | cut -d' ' -f1) https://evil.example.net/hello; true")
    ended = stage.run(stage.network(API_RULE), ["sh", "-c", script])
    expect(MARK.strip() not in ended.out.decode(), ended.out)
    stage.only()
    ended = stage.run(stage.network(API_RULE), GET)
    stage.counter(ended.out.decode() == MARK, ended.out, ended.err[-300:])
    stage.only([API], ["api.example.com"])


@check("rows.capable_inside", "C325", counter="rows.counter_of_capable_inside")
def capable_inside(stage):
    """All capabilities that a policy can give do nothing to the network namespace; nor does one made inside lead anywhere."""
    stage.internet.forget()
    script = ("ip address add 1.2.3.4/32 dev lo && echo GOT address; ip route add default dev lo && echo GOT route; ip link add d0 type dummy && echo GOT link; nft flush ruleset && echo GOT flush; "
              "nft list ruleset | grep -q tproxy && echo GOT rules; ip tuntap add t0 mode tap && echo GOT tap; echo 1 > /proc/sys/net/ipv4/ip_forward && echo GOT sysctl; "
              "unshare -Urn true && echo GOT-NAMESPACE; unshare -Ur sh -c 'ip address add 1.2.3.4/32 dev lo && echo GOT address; nft flush ruleset && echo GOT flush'; true")
    flags = stage.caller.policy(f'[process]\nuser = "root"\ncapabilities = {ALL_CAPABILITIES}\n[syscalls]\nprofile = "compat"\n[network]\negress_allowlist = [{API_RULE}]\n')
    ended = stage.run(flags, ["sh", "-c", script])
    if ended.code == 126 and stage.arm == "user":
        flags = stage.caller.policy(f'[process]\nuser = "root"\n[syscalls]\nprofile = "compat"\n[network]\negress_allowlist = [{API_RULE}]\n')
        ended = stage.run(flags, ["sh", "-c", script])
    equal(ended.code, 0, ended.err[-400:])
    expect("GOT " not in ended.out.decode(), ended.out)
    cases = [{"act": "odd", "family": "AF_INET", "kind": "SOCK_RAW", "protocol": 1, "address": ["8.8.8.8", 0], "data": "08"},
             {"act": "odd", "family": "AF_PACKET", "kind": "SOCK_RAW", "address": ["lo", 0x800], "data": "45"},
             {"act": "odd", "family": "AF_INET", "kind": "SOCK_STREAM", "address": [names.STRANGER, 80], "options": [[0, 19, 1]], "connect": True,
              "data": "41"},
             {"act": "odd", "family": "AF_INET", "kind": "SOCK_STREAM", "address": [names.STRANGER, 80], "options": [[1, 36, 7]], "connect": True,
              "data": "41"}]
    told, _ = probe(stage, cases, flags)
    expect(all(line.get("error") in ("EPERM", "EACCES", "PermissionError", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT") for line in told),
           told)
    stage.only()


@check("rows.counter_of_capable_inside", "C325", arms=("bare",))
def counter_of_capable_inside(stage):
    """In a network namespace that belongs to the own user namespace the same calls succeed."""
    ended = stage.caller.directly(["unshare", "-Urn", "sh", "-c",
                                   "ip address add 1.2.3.4/32 dev lo && echo GOT address; nft add table inet mine && echo GOT rules; "
                                                                "echo 1 > /proc/sys/net/ipv4/ip_forward && echo GOT sysctl"])
    expect(ended.out.count(b"GOT") >= 2, ended.out, ended.err)
