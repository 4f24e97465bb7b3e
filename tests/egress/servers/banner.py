#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speaks the first line of an SSH server and hears the first line of its client; stands in for sshd, which is no package of the tests.

    banner.py LOG ADDRESS PORT"""
import json
import socket
import sys
import threading
import time


def main():
    path, address, port = sys.argv[1:]
    log = open(path, "a", buffering=1)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, int(port)))
    listener.listen(64)

    def one(sock):
        with sock:
            try:
                sock.settimeout(5)
                sock.sendall(b"SSH-2.0-banner_1.0\r\n")
                line = sock.makefile("rb").readline(300)
                log.write(json.dumps({"time": time.time(), "heard": line.decode("latin-1").strip()}) + "\n")
            except OSError:
                pass
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=one, args=(sock,), daemon=True).start()


if __name__ == "__main__":
    main()
