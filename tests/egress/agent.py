#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside a sandbox, at the hands of a test: opens connections, sends and hears on them, one word at a time.

    agent.py DIRECTORY

Reads DIRECTORY/ask0, ask1, ... (JSON) as they appear, and writes told0, told1, ... . `hear` tells what came until nothing more does, and how the
connection stands: open, closed or reset."""
import json
import os
import pathlib
import socket
import ssl
import sys
import time

held = {}


def connect(host, port, tls=False, trust=False):
    sock = socket.create_connection((host, port), 8)
    if not tls:
        return sock
    context = ssl.create_default_context() if trust else ssl._create_unverified_context()
    return context.wrap_socket(sock, server_hostname=host)


def look_up(host):
    return socket.gethostbyname(host)


def hear(sock, patience, enough=None):
    data, state = b"", "open"
    end = time.monotonic() + patience
    while state == "open" and (enough is None or enough.encode() not in data):
        left = end - time.monotonic()
        if left <= 0:
            break
        sock.settimeout(left)
        try:
            piece = sock.recv(65536)
            data += piece
            state = state if piece else "closed"
        except (TimeoutError, ssl.SSLWantReadError):
            break
        except ssl.SSLError as error:
            state = "timeout" if "timed out" in str(error) else "reset"
        except OSError:
            state = "reset"
    return {"data": data.decode("latin-1"), "state": state}


def obey(ask):
    act = ask.pop("act")
    try:
        if act == "look_up":
            return {"address": look_up(**ask)}
        name = ask.pop("name", "")
        if act == "connect":
            held[name] = connect(**ask)
            return {"state": "open"}
        if act == "send":
            held[name].settimeout(5)
            held[name].sendall(ask["data"].encode("latin-1"))
            return {"state": "open"}
        if act == "hear":
            return hear(held[name], **ask)
        held.pop(name).close()
        return {}
    except OSError as error:
        return {"state": "failed", "error": f"{type(error).__name__}: {error}"}


def main():
    directory = pathlib.Path(sys.argv[1])
    (directory / "ready").touch()
    number = 0
    while True:
        path = directory / f"ask{number}"
        if not path.exists():
            time.sleep(0.002)
            continue
        told = directory / f"told{number}"
        (directory / "part").write_text(json.dumps(obey(json.loads(path.read_text()))))
        os.rename(directory / "part", told)
        number += 1


if __name__ == "__main__":
    main()
