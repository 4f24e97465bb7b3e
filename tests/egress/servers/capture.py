#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps every packet of a link, whole, in a file: capture.py FILE LINK. Says that it is ready; ends with its standard input."""
import selectors
import socket
import sys

BUFFER = 33     # SO_RCVBUFFORCE


def main():
    path, link = sys.argv[1:]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock, open(path, "wb") as file:
        sock.setsockopt(socket.SOL_SOCKET, BUFFER, 64 << 20)
        sock.bind((link, 3))
        print("ready", flush=True)
        chooser = selectors.DefaultSelector()
        chooser.register(sock, selectors.EVENT_READ)
        chooser.register(sys.stdin, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in chooser.select()}
            if sock in ready:
                file.write(sock.recv(1 << 17))
            elif sys.stdin in ready:
                return


if __name__ == "__main__":
    main()
