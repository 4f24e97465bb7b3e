# SPDX-License-Identifier: Apache-2.0
"""What the generators of the corpus share: hosts that the policy names, and requests as bytes."""
SHAPES, QUIET, ECHO, MOVED = "shapes.example.com", "quiet.example.com", "echo.example.com", "moved.example.com"
JUDGED = "www.example.com"       # whose requests are judged inside of TLS, as ECHO's are
STUB = "198.18.0.1"            # where resolv.conf inside points; any other address is answered too

PATH = "/TOKEN-nXXXX-"          # as long as what it becomes, so that lengths stay right


def text(words):
    return words.encode("latin-1").hex()


def request(path, host, head="", method="GET", version="HTTP/1.1", body=""):
    lines = f"{method} {path} {version}\r\n" + (f"Host: {host}\r\n" if host is not None else "")
    return lines + head + "\r\n" + body
