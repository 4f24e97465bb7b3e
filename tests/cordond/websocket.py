# SPDX-License-Identifier: Apache-2.0
"""A WebSocket of the test's own, by RFC 6455 and with nothing but the standard library: both ends of one."""
import base64
import hashlib
import json
import os
import socket
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status} {body[:500]!r}")
        self.status, self.body = status, body

    @property
    def json(self):
        return json.loads(self.body)


def accepted(key):
    return base64.b64encode(hashlib.sha1(key + MAGIC).digest())


def frame(kind, data, mask=None, last=True):
    head = bytes([(0x80 if last else 0) | kind])
    bit = 0x80 if mask else 0
    if len(data) < 126:
        head += bytes([bit | len(data)])
    elif len(data) < 1 << 16:
        head += struct.pack(">BH", bit | 126, len(data))
    else:
        head += struct.pack(">BQ", bit | 127, len(data))
    if not mask:
        return head + data
    stream = (mask * (len(data) // 4 + 1))[:len(data)]
    return head + mask + (int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(data), "big")


def unmasked(read):
    """Frames of a client, by a function that reads so many bytes: kind and bytes of each."""
    while len(head := read(2)) == 2:
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(read(2 if size == 126 else 8), "big")
        mask = read(4)
        data = read(size)
        stream = (mask * (size // 4 + 1))[:size]
        yield head[0] & 0x0F, (int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")).to_bytes(size, "big")


class WebSocket:
    """A client. `fields`: of the handshake, beside its own."""

    def __init__(self, connected, path, fields=None):
        self.socket, self.held, self.closed = connected, b"", None
        key = base64.b64encode(os.urandom(16))
        lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                 f"Sec-WebSocket-Key: {key.decode()}", *(f"{name}: {value}" for name, value in (fields or {}).items())]
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        while b"\r\n\r\n" not in self.held:
            self._fill("in the head")
        head, self.held = self.held.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        self.fields = dict(line.decode().lower().split(": ", 1) for line in head.split(b"\r\n")[1:])
        if status != 101:
            length = int(self.fields.get("content-length", 0))
            while len(self.held) < length:
                self._fill("in a refusal")
            self.socket.close()
            raise Refused(status, self.held)
        wanted = accepted(key).decode().lower()
        assert self.fields["sec-websocket-accept"] == wanted, self.fields

    @classmethod
    def at(cls, path_of_socket, path, token=None, timeout=30, **fields):
        connected = socket.socket(socket.AF_UNIX)
        connected.settimeout(timeout)
        connected.connect(path_of_socket)
        more = {name.replace("_", "-"): value for name, value in fields.items()}
        if token:
            more["Authorization"] = f"Bearer {token}"
        try:
            return cls(connected, path, more)
        except BaseException:
            connected.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _fill(self, where):
        got = self.socket.recv(1 << 16)
        if not got:
            raise ConnectionError(f"the connection ended {where}")
        self.held += got

    def send(self, kind, data, last=True):
        self.socket.sendall(frame(kind, data, os.urandom(4), last))

    def say(self, **message):
        self.send(TEXT, json.dumps(message).encode())

    def next_frame(self):
        """One frame: its kind and its bytes."""
        while True:
            if len(self.held) >= 2:
                size, at = self.held[1] & 0x7F, 2
                if size == 126 and len(self.held) >= 4:
                    size, at = struct.unpack(">H", self.held[2:4])[0], 4
                elif size == 127 and len(self.held) >= 10:
                    size, at = struct.unpack(">Q", self.held[2:10])[0], 10
                if (size < 126 or at > 2) and len(self.held) >= at + size:
                    kind, data = self.held[0] & 0x0F, self.held[at:at + size]
                    self.held = self.held[at + size:]
                    return kind, data
            self._fill("between frames")

    def receive(self):
        """The next text or binary; nothing: the other side has closed, and `closed` has its code and reason."""
        while True:
            kind, data = self.next_frame()
            if kind == PING:
                self.send(PONG, data)
            elif kind == CLOSE:
                self.closed = (struct.unpack(">H", data[:2])[0] if data else 1005, data[2:].decode())
                self.send(CLOSE, data[:2])
                return None
            elif kind in (TEXT, BINARY):
                return kind, data

    def events(self):
        """Texts as JSON and binaries as bytes, until it is closed."""
        while (got := self.receive()) is not None:
            yield json.loads(got[1]) if got[0] == TEXT else got[1]

    def close(self, code=1000):
        self.send(CLOSE, struct.pack(">H", code))
        for _ in self.events():
            pass
