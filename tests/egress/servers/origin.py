#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An HTTP origin that believes everything: answers each head that it can find in what it hears, and keeps every byte.

    origin.py LOG ADDRESS PORT [CERTIFICATE KEY]"""
import json
import socket
import ssl
import sys
import threading
import time


def serve(sock, log, lock):
    heard = b""
    try:
        sock.settimeout(15)
        answered = 0
        while data := sock.recv(65536):
            heard += data
            with lock:
                log.write(json.dumps({"time": time.time(), "bytes": data.decode("latin-1")}) + "\n")
            while heard.count(b"\r\n\r\n") + heard.count(b"\n\n") > answered:
                answered += 1
                body = f"origin heard head {answered}\n".encode()
                sock.sendall(b"HTTP/1.1 200 OK\r\nX-Origin: reached\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    except OSError:
        pass
    finally:
        sock.close()


def main():
    path, address, port, *certificate = sys.argv[1:]
    log, lock = open(path, "a", buffering=1), threading.Lock()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, int(port)))
    listener.listen(128)
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)

    def one(sock):
        try:
            serve(context.wrap_socket(sock, server_side=True) if context else sock, log, lock)
        except OSError:
            sock.close()
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=one, args=(sock,), daemon=True).start()


if __name__ == "__main__":
    main()
