# SPDX-License-Identifier: Apache-2.0
"""Of the corpus: ClientHellos that say another name, none, or hide it, and what is no TLS; and right ones."""
import struct

import names
from bypass_words import QUIET, SHAPES, request, text
from wire import extension, hello, records, server_name, vector


def shapes():
    right, wrong = SHAPES.encode(), b"evil.example.net"
    good = hello(server_name(right))
    bad = hello(server_name(wrong))
    odd = {
        "no name": hello(), "no extensions": hello(none=True), "other name": bad,
        "front of the same address": hello(server_name(b"front.example.com")),
        "empty list": hello(extension(0, b"\0\0")), "empty extension": hello(extension(0, b"")), "empty name": hello(server_name(b"")),
        "two names, granted first": hello(server_name(right, wrong)), "two names, granted last": hello(server_name(wrong, right)),
        "two extensions, granted first": hello(server_name(right), server_name(wrong)),
        "two extensions, granted last": hello(server_name(wrong), server_name(right)),
        "the granted name twice": hello(server_name(right), server_name(right)), "name of another kind": hello(server_name(right, kind=1)),
        "kind 255": hello(server_name(wrong, kind=255)),
        "trailing bytes in the list": hello(extension(0, vector(b"\0" + vector(right, 2) + b"xx", 2))),
        "list longer than the extension": hello(extension(0, struct.pack(">H", 999) + b"\0" + vector(right, 2))),
        "list shorter than the extension": hello(extension(0, vector(b"\0" + vector(right, 2), 2) + b"evil")),
        "name longer than the list": hello(extension(0, vector(b"\0" + struct.pack(">H", 500) + right, 2))),
        "ech": hello(server_name(right), extension(0xFE0D, b"\0\0\1\0\1\7" + vector(b"k" * 32, 2) + vector(b"p" * 100, 2))),
        "ech, other outer name": hello(server_name(wrong), extension(0xFE0D, b"\0\0\1\0\1\7" + vector(b"k" * 32, 2) + vector(b"p" * 100, 2))),
        "ech without a name": hello(extension(0xFE0D, b"\0\0\1\0\1\7" + vector(b"k" * 32, 2) + vector(b"p" * 100, 2))),
        "ech inner": hello(server_name(right), extension(0xFE0D, b"\1")),
        "esni": hello(server_name(right), extension(0xFFCE, b"x" * 80)),
        "ech outer extensions": hello(server_name(right), extension(0xFD00, b"\2\0\0")),
        "old ech drafts": hello(server_name(right), extension(0xFE09, b"x" * 40)),
    }
    for note, message in odd.items():
        yield shape(note, [records(message)], arrives=True)
    for note, message in {"other name": bad, "no name": hello(), "two names": hello(server_name(right, wrong))}.items():
        for cut in (1, 4, 5, 38, 60, len(message) - 1):
            yield shape(f"{note}, in records at {cut}", [records(message, cut)], arrives=True)
        whole = records(message)
        for cut in (1, 3, 5, 6, 9, 50, len(whole) - 1):
            yield shape(f"{note}, in packets at {cut}", [whole[:cut], whole[cut:]], arrives=True)
        yield shape(f"{note}, a byte a record", [records(message, *range(1, min(len(message), 120)))], arrives=True)
    spelled = ["SHAPES.EXAMPLE.COM.evil.example.net", "shapes.example.com.", "shapes.example.com\0", "shapes.example.com\0.evil.example.net",
               "evil.example.net\0.shapes.example.com",
               " shapes.example.com", "shapes.example.com ", "shapes.example.com\t", "shapes.example.com\r\n", "shapes.example.com:443",
               "shapes.example.com/", "shapes.example.com#",
               "x@shapes.example.com", "shapes.example.com@evil.example.net", "shapes%2eexample.com", "shapes..example.com", ".shapes.example.com",
               "*.example.com", "shapes",
               "shapes.example.com,evil.example.net", "shapes.example.com;evil.example.net", "shapes\\.example.com", "shapes.example.comx",
               "xshapes.example.com",
               "x.shapes.example.com", "151.101.1.40", "127.0.0.1", "169.254.169.254", "::1", "[::1]", "2543124776", "0x97650128", "localhost",
               "sh\xe4pes.example.com",
               "shapes.example.com\xc2\xad", "\xef\xbc\xb3hapes.example.com", "a" * 64 + ".example.com", "a." * 130 + "com", "shapes.example.com"
               + "a" * 240, "-", ".", "..", "%00", "\x01", "\xff\xff"]
    for name in spelled:
        if name == "shapes.example.com.":
            continue            # one dot at the end is the same name, and may be taken or not
        yield shape(f"spelled {name[:40]!r}", [records(hello(server_name(name.encode('latin-1'))))], arrives=name.isascii() and "\0" not in name
                    and len(name) < 60)
    broken = {
        "http": text(request("/shape", SHAPES)), "http, granted name in it": text("GET / HTTP/1.1\r\nX: " + SHAPES + "\r\n\r\n"),
        "ssh": text("SSH-2.0-OpenSSH_9.2\r\n"),
        "socks5": "050100", "socks4": "0401005097650128" + "00", "smtp": text("EHLO x\r\n"), "redis": text("*1\r\n$4\r\nPING\r\n"),
        "connect": text(f"CONNECT {SHAPES}:443 HTTP/1.1\r\nHost: {SHAPES}\r\n\r\n"),
        "proxy line": text("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n") + records(good).hex(), "http2": text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        "zeros": "00" * 64, "ones": "ff" * 64,
        "sslv2": "802e0100020015000000100100800300800700c0060040020080040080" + "00" * 20, "alert": "15030100020228", "data first": "1703030010"
        + "41" * 16,
        "change cipher first": "140301000101" + records(bad).hex(), "heartbeat": "180302000301ffff", "server hello": records(b"\2" + good[1:]).hex(),
        "finished": records(b"\x14" + good[1:]).hex(),
        "version 0x0200": records(bad, version=0x0200).hex(), "version 0x0399": records(bad, version=0x0399).hex(),
        "record of 0 bytes": "1603010000" * 4 + records(bad).hex(),
        "record of 65535 bytes": "160301ffff" + bad.hex(), "record of 16385 bytes": "1603014001" + bad.hex(),
        "hello of 16 MiB": records(b"\1\xff\xff\xff" + bad[4:]).hex(),
        "cut in the hello": records(good)[:-20].hex(), "cut in the record head": "160301", "nothing": "",
        "fragment of another message": records(good[:30]).hex() + records(b"x" * 30, kind=23).hex(),
        "alert between": (records(bad[:40]) + b"\x15\3\1\0\2\1\0" + records(bad[40:])).hex(), "hello in an alert": records(bad, kind=21).hex(),
        "dtls": "16fefd" + "00" * 8 + vector(bad, 2).hex(),
        "other name, then granted": (records(bad) + records(good)).hex(), "compressed length wrong": records(bad[:39] + b"\xff" + bad[40:]).hex(),
        "early data": records(bad).hex() + "1703030020" + "00" * 32,
    }
    for note, data in broken.items():
        yield shape(f"not tls: {note}", [bytes.fromhex(data)], arrives=note in ("http", "ssh", "connect", "smtp", "alert", "redis",
                                                                                "other name, then granted"))
    for note, host in (("by another name's Host", "front.example.com"), ("by a refused Host", "evil.example.net")):
        yield dict(cls="tls handshakes", act="tls", to=SHAPES, port=443, sni=host, pieces=[text(request("/fronted", host, "Connection: close\r\n"))],
                   want="refused", bare="arrives", note=note)
    yield dict(cls="tls handshakes", act="tls", to=SHAPES, port=443, pieces=[text(request("/fronted", SHAPES, "Connection: close\r\n"))],
               want="refused", bare="arrives", note="no name")
    for to in ("198.18.0.200", names.SITES[SHAPES], names.STRANGER, "10.1.2.3", "127.0.0.1"):
        yield dict(cls="tls handshakes", act="tls", to=to, port=443, sni=SHAPES, patience=2.0,
                   pieces=[text(request("/fronted", SHAPES, "Connection: close\r\n"))], want="refused",
                   bare="arrives" if to in (names.SITES[SHAPES], names.STRANGER) else "any", note=f"granted name at {to}")


def shape(note, pieces, arrives=False):
    return dict(cls="tls shapes", act="stream", to=SHAPES, port=443, pieces=[piece.hex() for piece in pieces], pause=0.02 if len(pieces) > 1 else 0,
                shut=True, patience=2.0,
                want="refused", bare="arrives" if arrives else "any", note=note)


def right_shapes():
    """The granted name, however it is cut, passes."""
    message = hello(server_name(QUIET.encode()))
    whole = records(message)
    ways = {"whole": [whole], "in two records": [records(message, 40)], "in many records": [records(message, *range(10, len(message), 10))],
            "in two packets": [whole[:9], whole[9:]], "a byte a packet": [whole[n:n + 1] for n in range(len(whole))],
            "upper case": [records(hello(server_name(QUIET.upper().encode())))]}
    for note, pieces in ways.items():
        yield dict(cls="right tls shapes", act="stream", to=QUIET, port=443, pieces=[piece.hex() for piece in pieces], pause=0.002 if len(pieces) > 1
                   else 0, patience=2.0,
                   want="served", bare="arrives", note=note)
