# SPDX-License-Identifier: Apache-2.0
"""Real clients without proxy settings, as data: what each does at a host, how its success is known, what it is given."""
from dataclasses import dataclass, field

from content import MARK

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Clients with roots of their own are told of the system's, as anywhere with a company's CA. It is no proxy setting.
TRUST = {"NODE_EXTRA_CA_CERTS": BUNDLE, "REQUESTS_CA_BUNDLE": BUNDLE, "PIP_CERT": BUNDLE}
REFUSED = "evil.example.net"

PYTHON_GET = "import urllib.request; print(urllib.request.urlopen('https://{host}/hello', timeout=8).read().decode())"
REQUESTS_GET = "import requests; print(requests.get('https://{host}/hello', timeout=8).text)"
NODE_FETCH = "fetch('https://{host}/hello').then(r => r.text()).then(t => console.log(t)).catch(e => {{ console.error(e.cause ?? e); process.exit(1) }})"
NODE_HTTPS = ("require('https').get('https://{host}/hello', r => {{ r.setEncoding('utf8'); r.on('data', d => console.log(d)) }})"
              ".on('error', e => {{ console.error(e); process.exit(1) }})")
GIT = "git -c user.name=tester -c user.email=tester@example.com -C"
APT = ("-o Dir=$PWD/apt -o Dir::State::status=$PWD/apt/status -o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=- "
       "-o Dir::Etc::parts=- -o Dir::Bin::methods=/usr/lib/apt/methods -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Retries=0 -o APT::Architecture=amd64")


@dataclass(frozen=True)
class Client:
    name: str
    host: str                    # the one that is allowed
    script: str                  # of sh, with {host}; it begins in an empty directory
    rule: str                    # how the allow-list says it
    sign: str = MARK.strip()     # on standard output
    heard: str = ""              # or in this log of the internet, where the client cannot succeed further
    refused: str = REFUSED
    env: dict = field(default_factory=dict)


def tls(host):
    return f'"{host}:443"'


def tcp(host, port):
    return f'{{ host = "{host}", port = {port}, protocol = "tcp" }}'


CLIENTS = (
    Client("curl", "api.example.com", "curl -sS https://{host}/hello", tls("api.example.com")),
    Client("curl over http", "api.example.com", "curl -sS http://{host}/hello", '"api.example.com:80"'),
    Client("curl, http/1.1", "api.example.com", "curl -sS --http1.1 https://{host}/hello", tls("api.example.com")),
    Client("wget", "www.example.com", "wget -qO- https://{host}/hello || {{ wget -O- https://{host}/hello; exit 1; }}", tls("www.example.com")),
    Client("git clone", "git.example.com", "git clone -q https://{host}/demo.git cloned && cat cloned/README", tls("git.example.com")),
    Client("git push", "git.example.com",
           "git clone -q https://{host}/demo.git pushed && echo more > pushed/more && {git} pushed add more && "
           "{git} pushed commit -qm More && {git} pushed push -q origin HEAD:refs/heads/pushed && {git} pushed ls-remote origin pushed"
           .replace("{git}", GIT), tls("git.example.com"), sign="refs/heads/pushed"),
    Client("pip download", "pypi.example.com",
           "/usr/bin/python3 -m pip download --disable-pip-version-check --no-deps --no-cache-dir -q -d wheels "
           "-i https://{host}/simple cordon-demo && ls wheels", tls("pypi.example.com"), sign="cordon_demo-1.0-py3-none-any.whl"),
    Client("npm install", "registry.example.com",
           "echo '{{}}' > package.json && npm install --no-audit --no-fund --fetch-retries=0 --cache $PWD/cache "
           "--registry https://{host}/ cordon-demo >&2 && node -p 'require(\"cordon-demo\")'", tls("registry.example.com")),
    Client("node fetch", "api.example.com", f'node -e "{NODE_FETCH}"', tls("api.example.com")),
    Client("node https", "api.example.com", f'node -e "{NODE_HTTPS}"', tls("api.example.com")),
    Client("python urllib", "api.example.com", f'/usr/bin/python3 -c "{PYTHON_GET}"', tls("api.example.com")),
    Client("python requests", "api.example.com", f'PYTHONPATH=$OLDPWD/lib /usr/bin/python3 -c "{REQUESTS_GET}"', tls("api.example.com")),
    Client("openssl s_client", "api.example.com",
           "printf 'GET /hello HTTP/1.0\\r\\nHost: {host}\\r\\n\\r\\n' | openssl s_client -quiet -verify_return_error -connect {host}:443 "
           "-servername {host}", tls("api.example.com")),
    Client("ssh", "ssh.example.com",
           "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5 git@{host} true",
           tcp("ssh.example.com", 22), sign="", heard="banner"),
    Client("redis-cli", "redis.example.com", "redis-cli -h {host} ping </dev/null | grep PONG", tcp("redis.example.com", 6379), sign="PONG"),
    Client("apt-get", "deb.example.com",
           "mkdir -p apt/var/lib/apt/lists/partial apt/var/cache/apt/archives/partial apt/etc/apt/apt.conf.d && : > apt/status && "
           "echo 'deb [trusted=yes] http://{host}/ debian/' > apt/sources.list && "
           "apt-get {apt} update >&2 && apt-get {apt} download cordon-demo >&2 && ls *.deb"
           .replace("{apt}", APT + " -o APT::Update::Error-Mode=any"), '"deb.example.com:80"', sign="cordon-demo_1.0_all.deb"),
    Client("apt-get over https", "deb.example.com",
           "mkdir -p apt/var/lib/apt/lists/partial apt/var/cache/apt/archives/partial apt/etc/apt/apt.conf.d && : > apt/status && "
           "echo 'deb [trusted=yes] https://{host}/ debian/' > apt/sources.list && "
           "apt-get {apt} update >&2 && apt-get {apt} download cordon-demo >&2 && ls *.deb"
           .replace("{apt}", APT + " -o APT::Update::Error-Mode=any"), tls("deb.example.com"), sign="cordon-demo_1.0_all.deb"),
)

DEV_SERVER = ("/usr/bin/python3 -m http.server 3000 --bind {bind} >/dev/null 2>&1 & server=$!; "
              "n=0; until curl -sS http://{at}:3000/{path} 2>told; do n=$((n+1)); [ $n -gt 100 ] && break; sleep 0.05; done; kill $server; [ $n -le 100 ]")
