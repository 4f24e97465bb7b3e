#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A TLS origin whose answers do not end by themselves: a WebSocket that says everything back, and a body that drips.

    tunnel.py LOG ADDRESS CERTIFICATE KEY

/chat upgrades, /drip sends a piece every 20 ms, all else is answered at once and the connection kept. Requests, pieces and ends are logged."""
import base64
import hashlib
import json
import socket
import ssl
import sys
import threading
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Talk:
    def __init__(self, sock, log, lock):
        self.sock, self.log, self.lock = sock, log, lock

    def say(self, what, **more):
        with self.lock:
            self.log.write(json.dumps({"time": time.time(), "what": what, **more}) + "\n")

    def run(self):
        heard = b""
        while True:
            while b"\r\n\r\n" not in heard:
                data = self.sock.recv(65536)
                if not data:
                    return
                heard += data
            head, _, heard = heard.partition(b"\r\n\r\n")
            path = head.split(b" ")[1].decode("latin-1")
            fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])}
            self.say("request", path=path, authorization=fields.get(b"authorization", b"").decode("latin-1"))
            if path == "/chat":
                return self.chat(fields)
            if path == "/drip":
                return self.drip()
            self.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")

    def chat(self, fields):
        accept = base64.b64encode(hashlib.sha1(fields[b"sec-websocket-key"] + GUID).digest())
        self.sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n" % accept)
        while data := self.sock.recv(65536):
            self.say("piece", size=len(data))
            self.sock.sendall(data)

    def drip(self):
        self.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            self.sock.sendall(b"5\r\ndrip\n\r\n")
            time.sleep(0.02)


def serve(raw, context, log, lock):
    talk = Talk(raw, log, lock)
    try:
        raw.settimeout(30)
        with context.wrap_socket(raw, server_side=True) as sock:
            talk.sock = sock
            talk.run()
    except (OSError, KeyError, IndexError):
        pass
    finally:
        talk.say("end")
        raw.close()


def main():
    path, address, certificate, key = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, 443))
    listener.listen(128)
    log, lock = open(path, "a", buffering=1), threading.Lock()      # whoever waits for us waits for it
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock, context, log, lock), daemon=True).start()


if __name__ == "__main__":
    main()
