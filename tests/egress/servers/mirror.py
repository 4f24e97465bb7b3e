#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A TLS origin that gives back what it heard: the request's head, in the coding that the path names.

    mirror.py LOG ADDRESS CERTIFICATE KEY [CURVE]

/raw /base64 /hex /url /json /reverse /gzip; /chunked splits it into chunks of three bytes, /pieces into packets of one byte; /header and
/cookie put it there, and so does /kept, which keeps the connection; /token is an endpoint that hands out a fresh token."""
import base64
import gzip
import json
import socket
import ssl
import sys
import threading
import time
import urllib.parse

CODINGS = {"/raw": bytes, "/base64": base64.b64encode, "/hex": lambda data: data.hex().encode(),
           "/url": lambda data: "".join(f"%{byte:02x}" for byte in data).encode(),
           "/json": lambda data: json.dumps("".join(data.decode("latin-1"))).encode(),
           "/quoted": lambda data: urllib.parse.quote_from_bytes(data).encode(), "/gzip": gzip.compress}


def reply(path, head):
    fields = ["Content-Type: text/plain", "Connection: " + ("keep-alive" if path == "/kept" else "close")]
    secret = next((line.split(b":", 1)[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"authorization:")), b"none")
    if path in ("/header", "/cookie", "/kept"):
        fields.append(("X-Mirror: " if path == "/header" else "Set-Cookie: session=") + secret.decode("latin-1"))
        body = b"in a header\n"
    elif path == "/token":
        body = b'{"access_token": "' + secret + b'"}\n'
    elif path == "/base64-shifted":
        body = base64.b64encode(b"x" + head) + base64.b64encode(b"xx" + head)
    else:
        body = CODINGS.get(path, bytes)(head)
    if path == "/gzip":
        fields.append("Content-Encoding: gzip")
    if path == "/chunked":
        fields.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%s\r\n" % (len(body[at:at + 3]), body[at:at + 3]) for at in range(0, len(body), 3)) + b"0\r\n\r\n"
    else:
        fields.append(f"Content-Length: {len(body)}")
    return ("HTTP/1.1 200 OK\r\n" + "\r\n".join(fields) + "\r\n\r\n").encode("latin-1"), body


def answer(sock, log, lock):
    """One request; its path."""
    heard = b""
    while b"\r\n\r\n" not in heard and (data := sock.recv(65536)):
        heard += data
    with lock:
        log.write(json.dumps({"time": time.time(), "bytes": heard.decode("latin-1")}) + "\n")
    path = heard.split(b" ")[1].decode("latin-1").partition("?")[0] if heard.count(b" ") > 1 else "/"
    head, body = reply(path, heard)
    sock.sendall(head)
    for at in range(0, len(body), 1) if path == "/pieces" else [0]:
        sock.sendall(body[at:at + 1] if path == "/pieces" else body)
    return path


def serve(raw, context, log, lock):
    try:
        raw.settimeout(10)
        with context.wrap_socket(raw, server_side=True) as sock:
            while answer(sock, log, lock) == "/kept":
                sock.settimeout(60)
    except (OSError, IndexError):
        pass
    finally:
        raw.close()


def main():
    path, address, certificate, key, *curve = sys.argv[1:]
    log, lock = open(path, "a", buffering=1), threading.Lock()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    for name in curve:          # one that no client offers first: it is asked to say hello again
        context.set_ecdh_curve(name)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, 443))
    listener.listen(128)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock, context, log, lock), daemon=True).start()


if __name__ == "__main__":
    main()
