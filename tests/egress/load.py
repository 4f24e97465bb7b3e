#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs inside, until a file says that it is over: requests that bear a credential, tunnels that are held open, and attempts at what is
refused, side by side. Prints what was seen; each request is also a line of LOG at once.

    load.py NAME LOG OVER GRANTED-HOST TUNNEL-HOST REFUSED-ADDRESS..."""
import collections
import hashlib
import http.client
import json
import os
import socket
import ssl
import sys
import threading
import time

name, log, over, granted, tunnelled, *refused = sys.argv[1:]
seen, wrong, lock = collections.Counter(), [], threading.Lock()
out = open(log, "a", buffering=1)
context = ssl.create_default_context()


def word_of(error):
    if isinstance(error, ssl.SSLCertVerificationError):
        with lock:
            wrong.append(f"certificate: {error}")
    return type(error).__name__


def ask():
    """One after the other on a connection, a new connection each time that one has ended."""
    number = 0
    while not os.path.exists(over):
        line = http.client.HTTPSConnection(granted, context=context, timeout=3)
        begin = time.time()
        try:
            number += 1
            line.request("GET", f"/none?{name}-{threading.get_ident()}-{number}")
            word = str(line.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            word = word_of(error)
        finally:
            line.close()
        with lock:
            out.write(f"{begin} {time.time()} {word}\n")
            seen[word] += 1
        time.sleep(0.03)


def hold():
    """A connection that is passed through as it is: whatever is said on it comes from its own host."""
    while not os.path.exists(over):
        try:
            with socket.create_connection((tunnelled, 443), 3) as raw, context.wrap_socket(raw, server_hostname=tunnelled) as sock:
                while not os.path.exists(over):
                    sock.sendall(f"GET /tunnel-{name} HTTP/1.1\r\nHost: {tunnelled}\r\n\r\n".encode())
                    if not sock.recv(4096).startswith(b"HTTP/1.1 200"):
                        break
                    with lock:
                        seen["tunnel"] += 1
                    time.sleep(0.05)
        except OSError as error:
            with lock:
                seen[f"tunnel {word_of(error)}"] += 1
            time.sleep(0.05)


def transgress():
    """Whoever is refused never says a word, and is never found."""
    while not os.path.exists(over):
        for address in refused:
            for port in (80, 443):
                try:
                    with socket.create_connection((address, port), 3) as sock:
                        sock.settimeout(3)
                        sock.sendall(f"GET /stolen-{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                        if sock.recv(16):
                            wrong.append(f"{address}:{port} answered")
                except OSError:
                    pass
                with lock:
                    seen["refused"] += 1
        try:
            wrong.append(f"evil.example.net is {socket.gethostbyname('evil.example.net')}")
        except OSError:
            pass
        time.sleep(0.02)


def authorities():
    with open(os.environ["SSL_CERT_FILE"], "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


before = authorities()
threads = [threading.Thread(target=act) for act in (ask, ask, ask, hold, hold, transgress)]
[each.start() for each in threads]
[each.join() for each in threads]
if authorities() != before:
    wrong.append("the authorities have changed")
print(json.dumps({"seen": seen, "wrong": wrong[:20]}))
