# SPDX-License-Identifier: Apache-2.0
"""Group L about what can be learnt by asking: nothing is signed for a sandbox, and no answer tells a good placeholder from a bad one."""
import hashlib
import hmac
import json
import math
import secrets
import statistics

from acts import Running, named
from checks import check, equal, expect
from checks_credentials import CURL, HOST, Grant, fields

JUDGED = "api.example.com"
RULE = f', {{ host = "{JUDGED}", methods = ["GET", "POST"] }}'
# What a grant's header is, and whether it is taken. There is one slot, and nothing is computed for it.
HEADERS = {
    "Authorization: Bearer {secret}": True, "Authorization: AWS4-HMAC-SHA256 Credential={secret}": True, "X-Api-Key: {secret}": True,
    "Authorization: AWS4-HMAC-SHA256 Credential=AKID/20260101/eu/s3/aws4_request, Signature={signature}": False,
    "Authorization: HMAC {hmac}": False, "X-Signature: {secret:hmac}": False, "X-Signature: {sign(secret)}": False, "X-Signature: {SECRET}": False,
    "X-Signature: { secret }": False, "X-Signature: sha256=": False, "Host: {secret}": False, "Connection: {secret}": False,
    "Proxy-Authorization: {secret}": False, "Content-Length: {secret}": False, "{secret}: x": False, "Authorization {secret}": False,
}
KEYS = ('sign = "sigv4"', 'signature = "hmac-sha256"', 'service = "s3"', 'region = "eu-central-1"', 'algorithm = "AWS4-HMAC-SHA256"', 'kind = "hmac"')


def signatures(secret, texts):
    """What somebody with the secret would sign these texts with: plainly, and in the steps of AWS."""
    def keyed(key, text):
        return hmac.new(key, text, hashlib.sha256).digest()
    steps = b"AWS4" + secret.encode()
    for step in (b"20261115", b"eu-central-1", b"s3", b"aws4_request"):
        steps = keyed(steps, step)
    return [keyed(key, text.encode()).hex() for key in (secret.encode(), steps) for text in texts]


def given(stage, grants):
    """A run with grants of these lines."""
    text = '[network]\negress_allowlist = ["mirror.example.com:443"]\n[credentials]\nmode = "just_in_time"\n' + "".join(
        f'[[credentials.grants]]\nname = "g{number}"\nenv = "TOKEN{number}"\nfrom = "env:REAL_TOKEN"\nhost = "{HOST}"\n{lines}\n'
        for number, lines in enumerate(grants))
    return stage.caller.run(stage.caller.policy(text), ["true"], env={**stage.caller.environment(), "REAL_TOKEN": "x" * 20})


@check("credentials.no_signing", "C185")
def no_signing(stage):
    """No grant signs: the header has one slot, other keys are refused, and of a signature that a client makes with its placeholder the host
    hears nothing, whatever service it is for."""
    for taken in (True, False):
        ended = given(stage, [f'header = "{header}"' for header, good in HEADERS.items() if good == taken])
        equal(ended.code, 0 if taken else 126, ended.err[-300:])
    named = [line for line in ended.err.decode().splitlines() if ".toml:" in line]
    equal([line for line in named if "`header`" not in line], [], "refused for another reason")
    equal(len(named), list(HEADERS.values()).count(False), "headers that are refused", named)
    ended = given(stage, [f'header = "X-A: {{secret}}"\n{key}' for key in KEYS])
    equal((ended.code, [key for key in KEYS if f"`{key.split()[0]}`" not in ended.err.decode()]), (126, []), "keys", ended.err[-600:])
    texts = [f"{service}:{host}:20261115" for service in ("s3", "iam") for host in (HOST, JUDGED)]
    grant = Grant(rules=RULE)
    script = ["out='-o /dev/null -w %{http_code}\\n'"]
    for host in (HOST, JUDGED):
        for service in ("s3", "iam", "sts"):
            signed = f"AWS4-HMAC-SHA256 Credential=$TOKEN/20261115/eu-central-1/{service}/aws4_request, SignedHeaders=host, Signature={'0' * 64}"
            script.append(f'{CURL} $out -H "Authorization: {signed}" https://{host}/hello; {CURL} $out -H "X-Amz-Security-Token: $TOKEN" https://{host}/hello; '
                          f'{CURL} $out "https://{host}/hello?X-Amz-Credential=$TOKEN%2F20261115%2Feu%2F{service}&X-Amz-Signature=00"')
    ended = grant.run(stage, "; ".join(script) + "; true")
    codes = ended.out.decode().split()
    equal(codes[:9], ["200", "403", "403"] * 3, "at the host of the grant", ended.err[-300:])
    equal(codes[9:], ["403"] * 9, "at another", ended.err[-300:])
    heads = grant.heard(stage)
    equal([fields(head, "authorization") for head in heads], [[f"Bearer {grant.secret}"]] * 3, "what the host heard")
    heard = json.dumps(heads) + json.dumps(stage.internet.told("nginx"))
    wrong = [word for word in ("AWS4", "Amz", "aws4_request", *signatures(grant.secret, texts)) if word in heard]
    expect(not wrong, "somebody heard", wrong)
    own = signatures(grant.secret, texts)[-1]
    stage.caller.directly(["curl", "-sS", "-m", "8", "-H", f"Authorization: AWS4-HMAC-SHA256 Signature={own}", f"https://{HOST}/none"])
    stage.counter(own in json.dumps(grant.heard(stage)), "a signature that was made outside is not seen")
    return f"{len(HEADERS)} headers, {len(KEYS)} keys, {len(codes)} requests"


ASK = """
import http.client, json, random, ssl, sys, time
host, rounds, kinds = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
scheme = {"context": ssl.create_default_context(), "port": 443} if rounds == 0 else {}
line = (http.client.HTTPSConnection if scheme else http.client.HTTPConnection)(host, timeout=20, **scheme)
def post(body):
    # In one piece: a server that answers the head alone would be heard before the body is looked at.
    if line.sock is None: line.connect()
    line.sock.sendall(f"POST /hello HTTP/1.1\\r\\nHost: {host}\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n{body}".encode())
    answer = http.client.HTTPResponse(line.sock, method="POST")
    answer.begin()
    return answer
def ask(where, word, pause=0):
    name = {"header": "X-Other", "authorization": "Authorization"}.get(where)
    begin = time.perf_counter()
    if where == "body": pass
    elif where == "query": line.request("GET", "/hello?token=" + word)
    else: line.request("GET", "/hello", headers={name: "Bearer " + word})
    answer = post("token=" + word) if where == "body" else line.getresponse()
    body = answer.read().decode()
    if answer.will_close: line.close()
    if pause: time.sleep(pause)
    heads = sorted(head for head in answer.getheaders() if head[0] != "Date")     # a second may end between two of them
    return time.perf_counter() - begin, [answer.status, heads, body]
said = {kind: [ask(where, word)[1] for where in ("header", "body", "query", "authorization")] for kind, word in kinds.items()}
took = [{kind: [] for kind in [*kinds, "delayed"]} for _ in range(2)]
for trial in took:
    for _ in range(rounds):
        order = list(trial)
        random.shuffle(order)
        for kind in order:
            trial[kind].append(ask("header", kinds.get(kind, kinds["invalid"]), 0.002 if kind == "delayed" else 0)[0])
print(json.dumps({"said": said, "took": took}))
"""


FAR = 3.5


def difference(some, others):
    """By how many standard deviations the ranks of two samples differ (Mann and Whitney). FAR is chance once in two thousand times."""
    ranked = sorted([(value, 0) for value in some] + [(value, 1) for value in others])
    ranks = sum(rank for rank, (_, which) in enumerate(ranked, 1) if which == 1)
    count, other = len(others), len(some)
    return (ranks - count * (count + 1) / 2 - count * other / 2) / math.sqrt(count * other * (count + other + 1) / 12)


@check("credentials.no_oracle", "C188")
def no_oracle(stage):
    """Placeholders that nobody gave out, another sandbox's, an expired one and a good one: the same bytes come back, after the same time."""
    other, own = Grant(), Grant(more='ttl_seconds = 1\n[[credentials.grants]]\nname = "late"\nenv = "GOOD"\nfrom = "env:REAL_TOKEN"\n'
                                     'host = "retry.example.com"\nheader = "X-Late: {secret}"\n', rules=RULE + f', "retry.example.com:443", "{JUDGED}:80"')
    env = {**stage.caller.environment(), "REAL_TOKEN": other.secret}
    with Running(stage, stage.caller.policy(other.policy), 'printf %s "$TOKEN" > placeholder', env=env):
        theirs = (stage.caller.workspace / "placeholder").read_text()
        invalid = theirs[:-32] + secrets.token_hex(16)
        expect(theirs != invalid and len(theirs) == len(invalid), theirs)
        stage.caller.give("ask.py", ASK)
        kinds = f'{{\\"invalid\\": \\"{invalid}\\", \\"other\\": \\"{theirs}\\", \\"expired\\": \\"$TOKEN\\", \\"good\\": \\"$GOOD\\"}}'
        ended = own.run(stage, f'sleep 1.5; /usr/bin/python3 ask.py {JUDGED} 80 "{kinds}"; '
                              f'for host in {JUDGED} {HOST}; do /usr/bin/python3 ask.py $host 0 "{kinds}"; done', timeout=120)
    expect(ended.out.count(b"\n") == 3, ended.err[-600:])
    judged, *bound = map(json.loads, ended.out.splitlines())
    for told in (judged, *bound):
        for kind, answers in told["said"].items():
            equal(answers, told["said"]["invalid"], f"{kind} beside a made-up one")
    equal([answer[0] for answer in judged["said"]["good"]], [403] * 4, "a placeholder in a request")
    equal(own.heard(stage) + [line for line in stage.internet.told("nginx") if line["status"] == "200"], [], "what any host heard")
    trials = [{kind: difference(took["invalid"], times) for kind, times in took.items() if kind != "invalid"} for took in judged["took"]]
    told = [{kind: f"{value:+.1f}" for kind, value in trial.items()} for trial in trials]
    both = {kind: judged["took"][0][kind] + judged["took"][1][kind] for kind in ("invalid", "delayed")}
    stage.counter(difference(both["invalid"], both["delayed"]) > FAR, "two milliseconds more are not seen:", told)
    # A difference that is there is there again.
    apart = [kind for kind in ("other", "expired", "good") if all(trial[kind] > FAR for trial in trials) or all(trial[kind] < -FAR for trial in trials)]
    expect(not apart, "times differ, in standard deviations:", apart, told)
    medians = {kind: f"{1000 * statistics.median(times):.2f}" for kind, times in judged["took"][0].items()}
    return f"ms {medians}, deviations {told}"


@check("credentials.after_the_end", "C251", "C182")
def after_the_end(stage):
    """With the sandbox its placeholder ends: whoever held the secret is gone, and the next sandbox of the same caller cannot use it."""
    first, second = Grant(), Grant(rules=RULE)
    ended = first.run(stage, f'{CURL} -o /dev/null -H "Authorization: Bearer $TOKEN" https://{HOST}/none; printf %s "$TOKEN"')
    placeholder = ended.out.decode()
    heard = [fields(head, "authorization") for head in first.heard(stage)]
    stage.counter(heard == [[f"Bearer {first.secret}"]] and "placeholder" in placeholder, "while it lived it was used:", heard, placeholder)
    equal(named(stage, "cordon-broker"), [], "brokers after the end")
    ways = " ".join(f"{CURL} -o /dev/null -w '%{{http_code}}\\n' {way.replace('TOKEN', placeholder)};" for way in (
        f"-H 'Authorization: Bearer TOKEN' https://{HOST}/none", f"-H 'X-Other: TOKEN' https://{HOST}/none", f"'https://{HOST}/none?TOKEN'",
        f"-d TOKEN https://{HOST}/none", f"-H 'Authorization: Bearer TOKEN' https://{JUDGED}/hello", f"-d TOKEN https://{JUDGED}/hello"))
    ended = second.run(stage, ways + " true")
    equal(ended.out.decode().split(), ["200", "403", "403", "403", "403", "403"], ended.err[-300:])
    # Of the one whose body had it the head was on its way before.
    equal([fields(head, "authorization") for head in second.heard(stage)], [[f"Bearer {second.secret}"]] * 2, "what the host heard")
    expect(placeholder not in json.dumps(stage.internet.told("mirror") + stage.internet.told("nginx")), "a host heard the placeholder")
    first.nowhere(json.dumps(stage.internet.told("mirror")), json.dumps(stage.internet.told("nginx")))
