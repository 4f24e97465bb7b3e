# SPDX-License-Identifier: Apache-2.0
"""Group L: a secret that is used for a sandbox, and that nobody inside, no log and no wrong host ever sees."""
import base64
import json
import secrets
import subprocess

import names
from checks import WORKS, Skip, check, equal, expect
from content import MARK
from pace import slow

HOST = "mirror.example.com"


class Grant:
    """A fresh secret, its policy, and all the ways in which it could be written down."""

    def __init__(self, host=HOST, more="", rules="", header="Authorization: Bearer {secret}"):
        self.secret = "sentinel" + secrets.token_hex(16)
        self.policy = (f'[network]\negress_allowlist = ["{host}:443"{rules}]\n[credentials]\nmode = "just_in_time"\n[[credentials.grants]]\nname = "test"\nenv = "TOKEN"\n'
                       f'from = "env:REAL_TOKEN"\nhost = "{host}"\nheader = "{header}"\n{more}')

    def run(self, stage, script, timeout=60):
        """A script of sh inside, with the placeholder in TOKEN; the caller alone has the secret."""
        stage.internet.forget()
        environment = {**stage.caller.environment(), "REAL_TOKEN": self.secret}
        ended = stage.caller.run(stage.caller.policy(self.policy), ["sh", "-c", script], timeout, env=environment)
        told = ended.err.decode(errors="replace")
        if ended.code == 126 and "version" in told:
            raise Skip("grants are not held by this version: " + told.splitlines()[1].strip() if "\n" in told else told)
        expect("verdict" in (ended.report or {}), "nothing was started:", told[-300:])
        self.nowhere(ended.out, ended.err, json.dumps(ended.report))
        return ended

    def spellings(self):
        raw = self.secret.encode()
        return [raw, raw[::-1], raw.hex().encode(), "".join(f"%{byte:02x}" for byte in raw).encode(),
                *(base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3))]

    def found(self, text):
        """The spellings in which it stands there."""
        data = text.encode() if isinstance(text, str) else text
        return [spelling for spelling in self.spellings() if spelling in data]

    def nowhere(self, *texts):
        for text in texts:
            data = text.encode() if isinstance(text, str) else text
            found = self.found(data)
            expect(not found, "the secret is in what came out:", data[max(0, data.find(found[0]) - 60):][:200] if found else "")

    def directly(self, stage, script):
        """A script of sh without a sandbox, which has the secret in TOKEN."""
        return stage.caller.directly(["sh", "-c", script], env={"TOKEN": self.secret})

    def heard(self, stage, log="mirror"):
        """The heads that arrived, as lines. A connection on which nothing was said is none."""
        return [line["bytes"].split("\r\n\r\n")[0].split("\r\n") for line in stage.internet.told(log) if line["bytes"]]


def fields(head, name):
    return [line.split(":", 1)[1].strip() for line in head[1:] if line.split(":")[0].strip().lower().replace("_", "-") == name.lower()]


CURL = "curl -sS -m 10"


@check("credentials.used", "C171", "C175")
def used(stage):
    """The host hears the secret in its one header; inside there is a placeholder."""
    grant = Grant()
    ended = grant.run(stage, f'{CURL} -H "Authorization: Bearer $TOKEN" https://{HOST}/none; echo; echo "inside: $TOKEN"')
    heads = grant.heard(stage)
    expect(len(heads) == 1, heads, ended.err[-400:])
    equal(fields(heads[0], "authorization"), [f"Bearer {grant.secret}"], "what the host heard")
    stage.counter(grant.found(json.dumps(heads)), "the search that found nothing inside finds nothing at the host")
    expect(b"inside: " in ended.out and len(ended.out.split(b"inside: ")[1]) > 16, "no placeholder:", ended.out[-200:])


@check("credentials.not_inside", "C171", "C187")
def not_inside(stage):
    """No environment, argument, file or socket inside holds it."""
    grant, planted = Grant(), "planted" + secrets.token_hex(16)
    stage.caller.give("planted", planted)
    script = (f"PLANTED={planted} sleep 30 & env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; "
              "timeout 20 find /etc /run /tmp \"$HOME\" \"$PWD\" -xdev -type f -size -64k -exec cat {} + 2>/dev/null; "
              "for name in SSH_AUTH_SOCK GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS REAL_TOKEN; do printenv $name && echo PRE''SENT; done; kill %1; true")
    ended = grant.run(stage, script)
    expect(b"PRESENT" not in ended.out, "agents inside")
    stage.counter(ended.out.count(planted.encode()) >= 2 and b"TOKEN=" in ended.out, "what was planted is not found")


@check("credentials.own_headers_stripped", "C175", "C178")
def own_headers_stripped(stage):
    """Whatever the client says of credentials, in whatever spelling, the host hears ours alone."""
    spelled = ("Authorization: mine", "authorization: mine", "AUTHORIZATION: mine", "Proxy-Authorization: mine", "Cookie: mine", "X-Api-Key: mine",
               "X_Api_Key: mine", "x-api-key: mine",
               "Connection: authorization", "Connection: close, Authorization")
    for line in spelled:
        grant = Grant()
        grant.run(stage, f"{CURL} -H '{line}' https://{HOST}/none -o /dev/null")
        for head in grant.heard(stage):
            equal(fields(head, "authorization"), [f"Bearer {grant.secret}"], line)
            mine = [each for each in head[1:] if "mine" in each
                    and each.split(":")[0].strip().lower().replace("_", "-").strip("-") in ("authorization", "proxy-authorization", "cookie", "x-api-key")]
            expect(not mine, line, mine)
    grant = Grant()
    stage.internet.forget()
    grant.directly(stage, "; ".join(f"{CURL} -H '{line}' https://{HOST}/none -o /dev/null" for line in spelled))
    stage.counter(sum(any("mine" in line for line in head) for head in grant.heard(stage)) == 8, "without a sandbox they are not heard")


@check("credentials.reflections", "C176", "C180")
def reflections(stage):
    """A host that echoes gives nothing back that could be read inside."""
    for path in ("raw", "base64", "base64-shifted", "hex", "url", "json", "quoted", "gzip", "chunked", "pieces", "header", "cookie", "token"):
        grant = Grant()
        ended = grant.directly(stage, f'{CURL} -i --compressed -H "Authorization: Bearer $TOKEN" https://{HOST}/{path}')
        stage.counter(grant.found(ended.out), path, "gives nothing back without a sandbox", ended.out[-300:])
        ended = grant.run(stage, f"{CURL} -i https://{HOST}/{path}; {CURL} -i --compressed https://{HOST}/{path}; true")
        expect(grant.heard(stage), path, "the request did not even arrive", ended.err[-300:])
    grant = Grant()
    ended = grant.run(stage, f"{CURL} -o /dev/null -w '%{{http_code}}' -X TRACE https://{HOST}/raw; true")
    expect(ended.out.decode() in ("405", "403", "400") and not grant.heard(stage), "TRACE:", ended.out)


@check("credentials.untrusted_upstream", "C173", "C174")
def untrusted_upstream(stage):
    """A certificate that must not be believed, or no TLS at all: the secret stays."""
    for name in ("wrong-name", "expired", "self-signed"):
        host = f"{name}.tls.example.com"
        grant = Grant(host)
        ended = grant.run(stage, f"{CURL} -k https://{host}/none; true")
        equal(grant.heard(stage), [], host, "requests that arrived", ended.err[-300:])
        grant.directly(stage, f'{CURL} -k -H "Authorization: Bearer $TOKEN" https://{host}/none')
        stage.counter(grant.found(json.dumps(grant.heard(stage))), host, "is not reached without a sandbox")
    grant = Grant(rules=f', "{HOST}:80"')
    grant.run(stage, f"{CURL} http://{HOST}/none; true")
    expect(grant.secret not in json.dumps(stage.internet.told("nginx")), "in the clear")


@check("credentials.elsewhere", "C172", "C177")
def elsewhere(stage):
    """The placeholder sent to another host, or in another place than its header, never becomes the secret."""
    grant = Grant(rules=', "echo.example.com:443", "moved.example.com:443"')
    grant.run(stage, f'{CURL} -k -H "Authorization: Bearer $TOKEN" https://echo.example.com/x; {CURL} "https://{HOST}/none?token=$TOKEN"; {CURL} -d "token=$TOKEN" https://{HOST}/none; '
                     f'{CURL} -H "X-Other: $TOKEN" https://{HOST}/none; {CURL} -L -H "Authorization: Bearer $TOKEN" https://moved.example.com/moved/good; getent hosts $TOKEN.example.com; true')
    expect(grant.secret not in json.dumps(stage.internet.told("origin-tls") + stage.internet.told("nginx")), "at another host")
    for head in grant.heard(stage):
        wrong = [line for line in head if grant.secret in line and not line.lower().startswith("authorization:")]
        expect(not wrong, "in another place:", wrong)
    expect(not any("." in name and len(name) > 40 for name in stage.internet.asked()), "asked for", stage.internet.asked())
    grant.directly(stage, f'{CURL} -k -H "Authorization: Bearer $TOKEN" https://echo.example.com/x; {CURL} -H "Authorization: $TOKEN" https://moved.example.com/x')
    stage.counter(all(grant.found(json.dumps(stage.internet.told(log))) for log in ("origin-tls", "nginx")), "without a sandbox they hear nothing")


@check("credentials.scope", "C179")
def scope(stage):
    """Other methods and paths than the grant's get no secret."""
    grant = Grant(more='methods = ["GET"]\npaths = ["/allowed/**"]\n')
    grant.run(stage, f"{CURL} https://{HOST}/allowed/x; {CURL} https://{HOST}/other; {CURL} -d x https://{HOST}/allowed/x; {CURL} --path-as-is https://{HOST}/allowed/../other; true")
    with_secret = [head[0].rsplit(" ", 1)[0] for head in grant.heard(stage) if any(grant.secret in line for line in head)]
    stage.counter(with_secret, "none bore it")
    equal(with_secret, ["GET /allowed/x"], "requests that bore it")


@check("credentials.another_sandboxes_placeholder", "C181")
def another_sandboxes_placeholder(stage):
    """A placeholder of another run, and one that was guessed, are worth nothing."""
    first = Grant()
    placeholder = first.run(stage, "printf %s \"$TOKEN\"").out.decode()
    second = Grant()
    second.run(stage, f'{CURL} -H "Authorization: Bearer {placeholder}" https://{HOST}/none; true')
    expect(first.secret not in json.dumps(stage.internet.told("mirror")), "the first one's secret was used")
    stage.counter(second.secret in json.dumps(stage.internet.told("mirror")), "nor was the second one's own")


@check("credentials.expiry", "C182")
def expiry(stage):
    """After its time a grant is not used any more."""
    grant = Grant(more=f"ttl_seconds = {slow(2)}\n")
    grant.run(stage, f"{CURL} https://{HOST}/none?one -o /dev/null; sleep {slow(4)}; {CURL} https://{HOST}/none?two -o /dev/null; true")
    bearing = [head[0] for head in grant.heard(stage) if any(grant.secret in line for line in head)]
    stage.counter(bearing and "one" in bearing[0], "it was never used", bearing)
    equal(len(bearing), 1, "requests that bore it")


@check("credentials.no_trace", "C183")
def no_trace(stage):
    """Neither the caller's state nor its logs hold it afterwards."""
    grant = Grant()
    grant.run(stage, f"{CURL} https://{HOST}/raw; {CURL} https://{HOST}/none; true")
    def files():
        return [subprocess.run(["grep", "-rlaF", spelling.decode("latin-1"), str(stage.caller.home), str(stage.caller.workspace)], capture_output=True,
                               text=True).stdout for spelling in grant.spellings()]
    equal("".join(files()), "", "files with the secret")
    planted = stage.caller.give("planted", b"\0\xff".join(grant.spellings()))
    stage.counter(all(files()), "a file with it is not found")
    planted.unlink()


@check("credentials.authority", "C186")
def authority(stage):
    """The CA inside is this sandbox's own, young, bound to its hosts, and unknown outside."""
    grant = Grant()
    script = (f"openssl s_client -connect {HOST}:443 -servername {HOST} -showcerts </dev/null 2>/dev/null | openssl x509 -noout -issuer -enddate; "
              f"{CURL} -o /dev/null -w '%{{ssl_verify_result}} %{{http_code}}\\n' https://{HOST}/none")
    ended = grant.run(stage, script)
    expect("Cordon test CA" not in ended.out.decode(), "it was not terminated:", ended.out)
    stage.counter(b"0 200" in ended.out, "the certificate is not believed inside:", ended.out, ended.err[-300:])
    bundle = (stage.internet.base / "etc/ssl/certs/ca-certificates.crt").read_text()
    expect(bundle.count("BEGIN") >= 1 and "ordon sandbox" not in bundle, "in the host's bundle")


@check("credentials.sites_that_are_not_judged_stay_untouched", counter=WORKS)
def untouched(stage):
    """Beside a grant, other hosts are passed through with their own certificates."""
    grant = Grant(rules=', "api.example.com:443"')
    ended = grant.run(stage, f"openssl s_client -connect api.example.com:443 -servername api.example.com </dev/null 2>/dev/null | openssl x509 -noout -issuer; {CURL} https://api.example.com/hello")
    expect(b"Cordon test CA" in ended.out and MARK.encode() in ended.out, ended.out, ended.err[-300:])
    expect(names.SITES["api.example.com"] in str(stage.internet.left()), "where did it go?")
