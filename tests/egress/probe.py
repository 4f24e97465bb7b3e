#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs inside: does each act of a file of cases, several at once, and prints one line of JSON for each.

    probe.py CASES.json [THREADS]

It judges nothing. What arrived is seen by whoever stands outside; here is only told what an act looked like from its own side."""
import concurrent.futures
import errno
import json
import socket
import ssl
import struct
import subprocess
import sys
import time

PATIENCE = 4.0


def name_of(error):
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ssl.SSLError):
        return "tls"
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number, type(error).__name__) if isinstance(number, int) and number > 0 else type(error).__name__


def drain(sock, limit=65536):
    """What comes until the end, or until nothing comes any more."""
    heard = b""
    try:
        while len(heard) < limit and (data := sock.recv(65536)):
            heard += data
        return heard, "closed"
    except OSError as error:
        return heard, name_of(error)


def dial(case):
    """A connection to `to`, which may be spelled in any way that the system's resolver takes."""
    found = socket.getaddrinfo(case["to"], case["port"], type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    sock.settimeout(case.get("patience", PATIENCE))
    try:
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock


def stream(case):
    """Connects, sends pieces (hex) with pauses between them, hears."""
    with dial(case) as sock:
        end = "open"
        try:
            for piece in case.get("pieces", []):
                sock.sendall(bytes.fromhex(piece))
                time.sleep(case.get("pause", 0))
            if case.get("shut"):
                sock.shutdown(socket.SHUT_WR)
        except OSError as error:
            end = name_of(error)
        heard, closed = drain(sock)
        return {"connected": True, "heard": heard[:300].decode("latin-1"), "size": len(heard), "end": closed if end == "open" else end}


def tls(case):
    """A whole handshake, then one request or several on the same connection."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if case.get("alpn"):
        context.set_alpn_protocols(case["alpn"])
    with dial(case) as raw:
        raw.settimeout(max(8.0, case.get("patience", PATIENCE)))       # many shake hands at once
        with context.wrap_socket(raw, server_hostname=case.get("sni")) as sock:
            sock.settimeout(case.get("patience", PATIENCE))
            for piece in case.get("pieces", []):
                sock.sendall(bytes.fromhex(piece))
            heard, end = drain(sock)
            return {"connected": True, "shaken": True, "heard": heard[:300].decode("latin-1"), "size": len(heard), "end": end}


def read_answer(data):
    """Code and addresses of a DNS answer, and all types in it."""
    rcode = struct.unpack(">H", data[2:4])[0] & 15
    asked, answers = struct.unpack(">HH", data[4:8])
    at, addresses, kinds = 12, [], []

    def skip(at):
        while data[at] != 0:
            if data[at] >= 0xC0:
                return at + 2
            at += 1 + data[at]
        return at + 1
    for _ in range(asked):
        at = skip(at) + 4
    for _ in range(answers):
        at = skip(at)
        kind, _, _, size = struct.unpack(">HHIH", data[at:at + 10])
        kinds.append(kind)
        if kind == 1 and size == 4:
            addresses.append(socket.inet_ntoa(data[at + 10:at + 14]))
        at += 10 + size
    return {"rcode": rcode, "addresses": addresses, "types": kinds}


def ask(case):
    """A DNS message (hex) to a server by UDP or TCP."""
    data = bytes.fromhex(case["message"])
    if case.get("stream"):
        with dial({"to": case["to"], "port": case.get("port", 53), "patience": case.get("patience", 1.5)}) as sock:
            sock.sendall(bytes.fromhex(case["frame"]) if "frame" in case else struct.pack(">H", len(data)) + data)
            heard, end = drain(sock, 2)
            while len(heard) >= 2 and len(heard) < 2 + struct.unpack(">H", heard[:2])[0] and end == "closed":
                more = sock.recv(65536)
                if not more:
                    break
                heard += more
            return {"connected": True, "end": end, **(read_answer(heard[2:]) if len(heard) > 14 else {})}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(case.get("patience", 1.5))
        sock.sendto(data, (case["to"], case.get("port", 53)))
        heard = sock.recv(65535)
        return {"from": case["to"], "size": len(heard), "same_id": heard[:2] == data[:2], **(read_answer(heard) if len(heard) >= 12 else {})}


def odd(case):
    """A socket of any kind, and one message to an address."""
    family, kind = getattr(socket, case["family"]), getattr(socket, case["kind"])
    with socket.socket(family, kind, case.get("protocol", 0)) as sock:
        sock.settimeout(0.5)
        for level, option, value in case.get("options", []):
            sock.setsockopt(level, option, bytes.fromhex(value) if isinstance(value, str) else value)
        address = tuple(case["address"])
        if case.get("bind"):
            sock.bind(tuple(case["bind"]))
        if case.get("connect"):
            sock.connect(address)
            sock.send(bytes.fromhex(case["data"]))
        else:
            sock.sendto(bytes.fromhex(case["data"]), address)
        sent = {"sent": True}
        try:
            sent["heard"] = sock.recv(4096)[:64].hex()
        except OSError as error:
            sent["end"] = name_of(error)
        return sent


def command(case):
    done = subprocess.run(case["command"], stdin=subprocess.DEVNULL, capture_output=True, timeout=case.get("patience", 20))
    return {"code": done.returncode, "heard": done.stdout.decode("latin-1")[:300], "told": done.stderr.decode("latin-1")[-200:]}


def look_up(case):
    found = socket.getaddrinfo(case["name"], case.get("port", 443), getattr(socket, case.get("family", "AF_UNSPEC")), socket.SOCK_STREAM, 0,
                               case.get("flags", 0))
    return {"addresses": sorted({address[0] for _, _, _, _, address in found})}


ACTS = {"stream": stream, "tls": tls, "ask": ask, "odd": odd, "command": command, "look_up": look_up}


def run(case):
    begin = time.monotonic()
    try:
        told = ACTS[case["act"]](case)
    except (OSError, ValueError, UnicodeError, IndexError, struct.error, subprocess.TimeoutExpired) as error:
        told = {"error": name_of(error), "detail": str(error)[:120]}
    return {"id": case["id"], "seconds": round(time.monotonic() - begin, 3), **told}


def main():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for told in pool.map(run, cases):
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
