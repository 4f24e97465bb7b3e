#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for a real DNS server (UDP and TCP): answers from a zone with scripted misbehaviour, and logs each query.

    dns.py ZONE.json LOG ADDRESS...

A name has a list of entries: A, AAAA, CNAME with their value; flip: the next address of a list each time, with no life; slow: so many
seconds later; held: not as long as the file LOG.held is there, and then it is logged too; silent: never; cut: truncated over UDP; rcode: nothing but this; wrong-id, wrong-name: the answer of another question;
bytes: these as the answer section; ttl: that life. A name without an entry leads to the default address: whatever is asked is answered,
so that silence in the log means that nobody asked. Only below corp.example, the host's search domain, there is nothing."""
import ipaddress
import json
import os
import socket
import struct
import sys
import threading
import time

KINDS = {"A": 1, "CNAME": 5, "AAAA": 28}


class Server:
    def __init__(self, zone, default, log):
        self.zone, self.default, self.log = zone, default, open(log, "a", buffering=1)
        self.held = log + ".held"
        self.turns, self.lock = {}, threading.Lock()

    def note(self, **about):
        with self.lock:
            self.log.write(json.dumps({"time": time.time(), **about}) + "\n")

    def sent(self, query):
        """Its answer is on the way."""
        name = question_of(query)[0]
        if ["held", None] in self.zone.get(name.lower(), []):
            self.note(answered=name)

    def answer(self, query, stream, at, peer):
        """The bytes of an answer, or None."""
        name, kind, end = question_of(query)
        if name is None:
            self.note(at=at, peer=peer, malformed=query[:64].hex())
            return None
        self.note(at=at, peer=peer, name=name, type=kind, stream=stream)
        nothing = [("rcode", 3)] if name.lower().endswith(".corp.example") else [("A", self.default)]
        entries = self.zone.get(name.lower(), nothing)
        words = {word: value for word, value in entries if word not in KINDS}
        if "silent" in words:
            return None
        time.sleep(words.get("slow", 0))
        while "held" in words and os.path.exists(self.held):
            time.sleep(0.002)
        if words.get("cut", 0) is None and not stream:
            return header(query, 0, 0, more=0x0200) + query[12:end]
        if "rcode" in words:
            return header(query, words["rcode"], 0) + query[12:end]
        if "bytes" in words:
            return header(query, 0, 1) + query[12:end] + bytes.fromhex(words["bytes"])
        records = [(word, value) for word, value in entries if word in KINDS]
        if "flip" in words:
            with self.lock:
                turn = self.turns[name] = self.turns.get(name, -1) + 1
            records = [("A", words["flip"][turn % len(words["flip"])])]
        life = words.get("ttl", 0 if "flip" in words else 60)
        asked, body, count = query[12:end], b"", 0
        owner = b"\xc0\x0c"
        for _ in range(8):          # aliases are followed, as a resolver does
            target = None
            for word, value in records:
                if kind not in (KINDS[word], 255) and word != "CNAME":
                    continue
                body += record(owner, word, value, life)
                count += 1
                target = value if word == "CNAME" else target
            if target is None:
                break
            owner, records = encoded(target), [each for each in self.zone.get(target, []) if each[0] in KINDS]
        if "wrong-name" in words:
            asked = encoded("other.example.com") + query[end - 4:end]
        reply = header(query, 0, count) + asked + body
        if "wrong-id" in words:
            reply = bytes([reply[0] ^ 0x55]) + reply[1:]
        if not stream and len(reply) > 4096:
            return header(query, 0, 0, more=0x0200) + query[12:end]
        return reply


def encoded(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def header(query, rcode, answers, more=0):
    flags = 0x8480 | more | rcode | (struct.unpack(">H", query[2:4])[0] & 0x0100)
    return query[:2] + struct.pack(">HHHHH", flags, 1, answers, 0, 0)


def record(owner, word, value, life):
    data = encoded(value) if word == "CNAME" else ipaddress.ip_address(value).packed
    return owner + struct.pack(">HHIH", KINDS[word], 1, life, len(data)) + data


def question_of(query):
    labels, at = [], 12
    try:
        while (size := query[at]) != 0:
            if size > 63:
                return None, 0, 0
            labels.append(query[at + 1:at + 1 + size].decode("latin-1"))
            at += 1 + size
        return ".".join(labels), struct.unpack(">H", query[at + 1:at + 3])[0], at + 5
    except (IndexError, struct.error):
        return None, 0, 0


def serve_datagrams(server, address):
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, 53))

    def one(query, peer):
        reply = server.answer(query, False, address, peer[0])
        if reply:
            sock.sendto(reply, peer)
            server.sent(query)
    while True:
        query, peer = sock.recvfrom(65535)
        threading.Thread(target=one, args=(query, peer), daemon=True).start()


def serve_streams(server, address):
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, 53))
    listener.listen(64)

    def one(sock, peer):
        with sock:
            sock.settimeout(10)
            try:
                file = sock.makefile("rb")
                while len(size := file.read(2)) == 2:
                    reply = server.answer(file.read(struct.unpack(">H", size)[0]), True, address, peer[0])
                    if reply:
                        sock.sendall(struct.pack(">H", len(reply)) + reply)
            except OSError:
                pass
    while True:
        sock, peer = listener.accept()
        threading.Thread(target=one, args=(sock, peer), daemon=True).start()


def main():
    zone, log, *addresses = sys.argv[1:]
    with open(zone) as file:
        about = json.load(file)
    server = Server(about["zone"], about["default"], log)
    for address in addresses:
        for serve in (serve_datagrams, serve_streams):
            threading.Thread(target=serve, args=(server, address), daemon=True).start()
    while os.getppid() != 1:
        time.sleep(1)


if __name__ == "__main__":
    main()
