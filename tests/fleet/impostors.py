# SPDX-License-Identifier: Apache-2.0
"""Whoever stands in a node's place, or on the way to it: servers in network namespaces of the test's, in threads."""
import contextlib
import json
import socket
import ssl
import threading


class Server:
    """A server in the rogue's namespace, in threads: `serve(connection)` of each connection that comes."""

    def __init__(self, fleet, party, address, serve, port=8443):
        with fleet.network.inside(party):
            self.listener = socket.create_server((address, port))
        self.serve, self.open = serve, []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        self.open.append(connection)
        with connection, contextlib.suppress(OSError):
            self.serve(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in (self.listener, *self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Liar:
    """A node that speaks HTTP under its certificate, and says what it likes: `answer(method, path)` gives status, fields and body."""

    def __init__(self, certificate, answer):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*map(str, certificate))
        self.answer, self.asked = answer, []

    def __call__(self, connection):
        with self.context.wrap_socket(connection, server_side=True) as secure:
            reader = secure.makefile("rb")
            while line := reader.readline():
                method, path, _ = line.decode().split(" ", 2)
                length = 0
                while (field := reader.readline().strip()):
                    name, _, value = field.decode().partition(":")
                    length = int(value) if name.lower() == "content-length" else length
                reader.read(length)
                self.asked.append((method, path))
                status, fields, body = self.answer(method, path)
                text = json.dumps(body).encode()
                lines = "".join(f"{name}: {value}\r\n" for name, value in {"Content-Length": len(text), "Content-Type": "application/json", **fields}.items())
                secure.sendall(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + text)


class Middle:
    """Between the gateway and a node: passes on what comes, keeps what goes to the node, and turns bits where it is told to."""

    def __init__(self, fleet, to):
        self.fleet, self.to = fleet, to
        self.recorded, self.turns = [], None      # of each connection all bytes; "up", "down" or nothing
        self.open = []

    def __call__(self, connection):
        with self.fleet.network.inside("middle"):
            onward = socket.create_connection((self.to, 8443), timeout=20)
        record = bytearray()
        self.recorded.append(record)
        self.open += [connection, onward]

        def pump(source, target, way):
            count = 0
            with contextlib.suppress(OSError):
                while got := source.recv(1 << 16):
                    count += 1
                    if way == "up":
                        record.extend(got)
                    # Behind the handshake, in the middle of what is said under it.
                    if self.turns == way and count > 2 and len(got) > 40:
                        got = bytearray(got)
                        got[len(got) // 2] ^= 1
                    target.sendall(got)
            for each in (source, target):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        with onward:
            down = threading.Thread(target=pump, args=(onward, connection, "down"), daemon=True)
            down.start()
            pump(connection, onward, "up")
            down.join(10)
