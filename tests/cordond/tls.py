# SPDX-License-Identifier: Apache-2.0
"""A node over TCP with TLS: `tls.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess

from api import UNAUTHENTICATED, equal, expect, main


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def authority(place, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", f"/CN={name}",
            "-keyout", place / f"{name}.key", "-out", place / f"{name}.pem")


def certificate(place, name, by, names=""):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout", place / f"{name}.key",
            "-out", place / f"{name}.csr")
    extensions = place / f"{name}.ext"
    extensions.write_text(f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-days", "1", "-in", place / f"{name}.csr", "-CA", place / f"{by}.pem", "-CAkey", place / f"{by}.key",
            "-CAcreateserial", "-extfile", extensions, "-out", place / f"{name}.pem")


class Way:
    """To a node whose TCP speaks TLS; `asks`: for a certificate of the authority of clients."""

    def __init__(self, node, asks):
        self.place = node.base / "tls"
        self.place.mkdir(mode=0o700)
        for name in ("site", "clients", "strangers"):
            authority(self.place, name)
        certificate(self.place, "node", "site", "DNS:localhost,IP:127.0.0.1")
        certificate(self.place, "friend", "clients")
        certificate(self.place, "stranger", "strangers")
        for path in (self.place, *self.place.iterdir()):
            os.chown(path, node.uid, node.uid)
        words = f'certificate = "{self.place}/node.pem"\nkey = "{self.place}/node.key"\n'
        if asks:
            words += f'client_authority = "{self.place}/clients.pem"\n'
        self.port = node.serve_tcp(words)
        self.token = node.mint("--tenant", "a")

    def context(self, shows=None, trusts="site"):
        context = ssl.create_default_context(cafile=self.place / f"{trusts}.pem")
        if shows:
            context.load_cert_chain(self.place / f"{shows}.pem", self.place / f"{shows}.key")
        return context

    def run(self, context, token=None):
        """The status and the body of a run."""
        connection = http.client.HTTPSConnection("localhost", self.port, context=context, timeout=20)
        with contextlib.closing(connection):
            fields = {"Authorization": f"Bearer {token}"} if token else {}
            connection.request("POST", "/v1/run", body=json.dumps({"command": ["sh", "-c", "echo in"]}), headers=fields)
            got = connection.getresponse()
            return got.status, json.loads(got.read())

    def refuses(self, context, words):
        """No request gets an answer: under TLS 1.3 a client hears of it when it reads."""
        try:
            answer = self.run(context, self.token)
        except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected):
            return
        raise AssertionError(f"{words}: {answer}")


def with_a_token(node):
    """TLS proves the node to its client and hides what is said; who asks is told by the token alone. Nothing else is spoken there."""
    way = Way(node, asks=False)
    status, body = way.run(way.context(), way.token)
    equal((status, body["stdout"]), (200, "in\n"), body)
    equal(way.run(way.context())[0], UNAUTHENTICATED)
    equal(way.run(way.context(shows="stranger"), way.token)[0], 200, "a certificate that nobody asked for:")
    way.refuses(way.context(trusts="strangers"), "a node that the client does not trust")
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        old = way.context()
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = version
        old.set_ciphers("ALL:@SECLEVEL=0")
        way.refuses(old, version)
    with socket.create_connection(("127.0.0.1", way.port), 10) as plain:
        plain.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            expect(b"200" not in plain.recv(1000), "plain text is answered")
    curl = subprocess.run(["curl", "-sS", "--cacert", way.place / "site.pem", f"https://localhost:{way.port}/v1/health"], capture_output=True, text=True)
    equal(curl.returncode, 0, curl.stderr)


def with_a_certificate(node):
    """Where clients are asked for one: without it, or with another's, no request is read; with it a token is needed all the same."""
    way = Way(node, asks=True)
    status, body = way.run(way.context(shows="friend"), way.token)
    equal((status, body["stdout"]), (200, "in\n"), body)
    equal(way.run(way.context(shows="friend"))[0], UNAUTHENTICATED, "a certificate is no token:")
    way.refuses(way.context(), "nothing was shown")
    way.refuses(way.context(shows="stranger"), "a certificate of another authority")
    way.refuses(way.context(shows="node"), "a certificate of the authority of nodes")
    with node.client() as local:
        equal(local.ask("GET", "/v1/health").status, 200, "at the Unix socket, meanwhile:")


CHECKS = {check.__name__: check for check in (with_a_token, with_a_certificate)}

if __name__ == "__main__":
    main(CHECKS)
