#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Listens on every address of its namespace, v4 and v6, TCP and UDP, and logs whatever arrives and at which address.

    sink.py NAME LOG TCP-PORT,... UDP-PORT,...

A TCP peer is greeted with an HTTP answer that says whose the sink is, so that a client that got through can tell."""
import json
import selectors
import socket
import sys
import threading
import time

PKTINFO = 8      # IP_PKTINFO


def stream(family, port):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind(("", port))
    sock.listen(512)
    sock.setblocking(False)
    return sock


def datagram(port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_IP, PKTINFO, 1)
    sock.bind(("", port))
    sock.setblocking(False)
    return sock


def main():
    body = f"sink of the {sys.argv[1]}\n"
    greeting = f"HTTP/1.1 200 OK\r\nX-Sink: reached\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
    log = open(sys.argv[2], "a", buffering=1)
    tcp, udp = ([int(port) for port in word.split(",") if port] for word in sys.argv[3:5])

    def note(**about):
        log.write(json.dumps({"time": time.time(), **about}) + "\n")

    def accept(listener, port):
        sock, peer = listener.accept()
        note(kind="tcp", to=sock.getsockname()[0], port=port, peer=peer[0])
        threading.Thread(target=greet, args=(sock, port), daemon=True).start()

    def greet(sock, port):
        with sock:
            try:
                sock.settimeout(2)
                sock.sendall(greeting)
                heard = sock.recv(4096)
                note(kind="bytes", port=port, text=heard.decode("latin-1")[:400])
            except OSError:
                pass

    def receive(sock, port):
        data, extra, _, peer = sock.recvmsg(65535, 256)
        to = next((socket.inet_ntoa(value[8:12]) for level, kind, value in extra if kind == PKTINFO), "?")
        note(kind="udp", to=to, port=port, peer=peer[0], text=data[:64].hex())

    chooser = selectors.DefaultSelector()
    for port in tcp:
        for family in (socket.AF_INET, socket.AF_INET6):
            chooser.register(stream(family, port), selectors.EVENT_READ, (accept, port))
    for port in udp:
        chooser.register(datagram(port), selectors.EVENT_READ, (receive, port))
    while True:
        for key, _ in chooser.select():
            act, port = key.data
            try:
                act(key.fileobj, port)
            except BlockingIOError:
                pass


if __name__ == "__main__":
    main()
