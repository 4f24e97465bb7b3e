# SPDX-License-Identifier: Apache-2.0
"""A server inside a sandbox, good and bad by the path that is asked for: `inside_server.py PORT`. Beside it lies websocket.py."""
import hashlib
import socketserver
import sys
import time

from websocket import BINARY, CLOSE, PING, PONG, TEXT, accepted, frame, unmasked


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.head = b""
        while not self.head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return
            self.head += line
        name = self.head.split()[1].decode().split("?")[0].strip("/").replace("/", "_")
        getattr(self, name, self.headers)()

    def field(self, name):
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            if line.lower().startswith(name + ":"):
                return line.split(":", 1)[1].strip()
        return None

    def answer(self, body, fields="", status="200 OK"):
        self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode() + body)

    def headers(self):
        """What came, as it came."""
        self.answer(self.head, "Content-Type: text/plain\r\nCordon-Request: forged\r\nX-Hop: x\r\nConnection: X-Hop\r\nSet-Cookie: a=b\r\n")

    def upload(self):
        """How long the body was, and its digest."""
        digest, size = hashlib.sha256(), 0
        for piece in self.body():
            digest.update(piece)
            size += len(piece)
        self.answer(f"{size} {digest.hexdigest()}".encode())

    def body(self):
        if self.field("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            left = int(self.field("content-length") or 0)
            while left:
                piece = self.rfile.read(min(left, 1 << 16))
                left -= len(piece)
                yield piece

    def early(self):
        """An answer that does not wait for the body."""
        self.answer(b"enough", status="413 Content Too Large")

    def much(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = bytes(range(256)) * 256
        for _ in range(128):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def bit_by_bit(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for word in (b"one ", b"two ", b"three"):
            self.wfile.write(word)
            time.sleep(0.05)     # so that they come apart

    def broken_off(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")

    def interim(self):
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
        self.answer(b"at last")

    def nothing(self):
        self.answer(b"", status="404 Not Found")

    def no_content(self):
        self.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    def hang_up(self):
        pass

    def garbage(self):
        self.wfile.write(b"\x00\xff not http at all\r\n\r\n")

    def long_head(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 40_000 + b"\r\n\r\n")

    def many_fields(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n")

    def two_lengths(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc")

    def unasked(self):
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")

    def second(self):
        self.answer(b"first")
        self.answer(b"second, which nobody asked for")

    def silent(self):
        time.sleep(1000)

    def ws(self):
        key = self.field("sec-websocket-key")
        if not key:
            return self.answer(b"no handshake", status="426 Upgrade Required")
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
                         + accepted(key.encode()) + b"\r\n\r\n")
        if "authorization" in self.head.decode("latin-1").lower():
            self.wfile.write(frame(TEXT, self.head))
        for kind, data in unmasked(self.rfile.read):
            if kind == CLOSE:
                self.wfile.write(frame(CLOSE, data))
                return
            if kind == PING:
                self.wfile.write(frame(PONG, data))
            if kind in (TEXT, BINARY):
                self.wfile.write(frame(kind, data))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()
