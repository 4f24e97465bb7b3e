# SPDX-License-Identifier: Apache-2.0
"""Of the corpus: names that are not granted, types that are not answered, and packets that are none."""
import itertools
import struct

import names
from bypass_words import SHAPES, STUB
from wire import edns, hello, labels, question, records, server_name


def strange_names():
    granted = SHAPES.split(".")
    plain = [
        "evil.example.net", f"{SHAPES}.evil.example.net", f"evil{SHAPES}", f"x.{SHAPES}", f"x.y.{SHAPES}", "example.com", "com", "shapes.example",
        "shapes.example.co", "shapes.example.comm", "shapes.example.com.com", "shapes.example.net", "shape.example.com", "shapess.example.com",
        "shapes-example.com", "shapesexample.com", "hapes.example.com", "shapes.exampl.com", "shapes.eexample.com", "sh4pes.example.com",
        "wild.example.org", "evilwild.example.org", "a.wild.example.org.evil.example.net", "wild.example.org.example.net", "a.wild-example.org",
        "a.wild.example.com", "wildexample.org", "a.b.wild.example.net", "inward.example.com", "api.example.com", "front.example.com",
        "localhost", "localhost.localdomain", "ip6-localhost", "metadata", "metadata.google.internal", "instance-data", "host.docker.internal",
        "kubernetes.default.svc", "gateway", "broadcasthost", "wpad", "wpad.corp.example", "isatap", "corp.example", f"{SHAPES}.corp.example",
        "api.corp.example", "1.0.0.127.in-addr.arpa", "254.169.254.169.in-addr.arpa", "_dns.resolver.arpa", "resolver.arpa",
        "use-application-dns.net",
        "version.bind", "id.server", "xn--shapes-example.com", "shapes.xn--exmple-cua.com", "xn--shpes-gra.example.com", "shapes.xn--exaple-xqf.com",
        "127.0.0.1", "169.254.169.254", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "10.1.2.3", "[::1]", "::1", "1.1.1.1.nip.io",
        "127.0.0.1.nip.io", "169-254-169-254.sslip.io", "7f000001.example.net", "shapes.example.com.", "a" * 63 + ".example.net",
        ".".join(["a" * 63] * 3) + ".net", ".".join("a" * 120), "-shapes.example.com", "shapes-.example.com", "_shapes.example.com",
        "*.wild.example.org", "*.example.com", "*.com", "*", "s*.example.com", "shapes.*.com", "?hapes.example.com",
    ]
    found = [[part.encode() for part in name.split(".") if part] for name in plain if name != "shapes.example.com."]
    # Labels that no dotted text can have.
    for inner in ("\0", ".", " ", "\t", "\r", "\n", "@", "%2e", "%00", "\\", "/", "#", "?", ":", ";", ",", "'", '"', "<", "(", "\x7f", "\x80", "\xff",
                  "\xe2\x80\xa4", "\xef\xbc\x8e", "\xe3\x80\x82", "\x1b[2J", "$(id)", "`id`", "{{", "|", "&", "=", "+", "~", "^"):
        data = inner.encode("latin-1")
        found.append([b"shapes" + data, b"example", b"com"])
        found.append([SHAPES.encode() + data, b"evil", b"example", b"net"])
        found.append([b"evil" + data + b"shapes", b"example", b"com"])
    found += [[SHAPES.encode()], [b"shapes", b"example.com"], [b"shapes.example", b"com"], [b"a.wild", b"example", b"org"],
              [b"a", b"wild.example.org"],
              [b"evil.example.net\0", b"shapes", b"example", b"com"], [part.encode() for part in reversed(granted)]]
    return found


def dns_names():
    for number, parts in enumerate(strange_names()):
        name = list(parts)
        for way in (("udp",) if number % 4 else ("udp", "tcp")):
            printable = all(part.isascii() and part.decode("latin-1").isprintable() and b"." not in part for part in parts)
            yield dict(cls="dns names", act="ask", to=STUB if number % 3 else names.RESOLVER, message=question(name).hex(), stream=way == "tcp",
                       want="unanswered", bare="arrives" if printable and number % 3 == 0 else "any", note=b".".join(parts).decode("latin-1"))


def dns_types():
    kinds = [0, 2, 3, 5, 6, 10, 12, 13, 15, 16, 17, 18, 24, 25, 29, 33, 35, 37, 38, 39, 41, 42, 43, 44, 46, 47, 48, 50, 52, 55, 59, 61, 62, 64, 65,
             99,
             108, 249, 250, 251, 252, 253, 254, 255, 256, 257, 32768, 65280, 65535]
    for name, kind in itertools.product((SHAPES, "type.evil.example.net"), kinds):
        yield dict(cls="dns types", act="ask", to=names.RESOLVER, message=question(name, kind).hex(), want="unanswered", bare="any",
                   note=f"{name} {kind}")
    for kind in (1, 28, 65, 16, 255):
        yield dict(cls="dns types", act="ask", to=names.RESOLVER, message=question("type.evil.example.net", kind).hex(), stream=True,
                   want="unanswered",
                   bare="arrives", note=f"tcp {kind}")
    for group in (0, 2, 3, 4, 254, 255, 65535):
        yield dict(cls="dns types", act="ask", to=names.RESOLVER, message=question(SHAPES, 1, group).hex(), want="unanswered", bare="any",
                   note=f"class {group}")


def dns_malformed():
    evil = "malformed.evil.example.net"
    right = question(SHAPES)
    odd = {
        "empty": b"", "one byte": b"\0", "eleven bytes": right[:11], "head only": right[:12], "no type": right[:-4], "half a type": right[:-1],
        "cut in a label": right[:20], "no question": question(SHAPES, counts=(0, 0, 0, 0)),
        "two questions": question(evil, counts=(2, 0, 0, 0), after=labels(SHAPES) + b"\0\1\0\1"),
        "two, granted first": question(SHAPES, counts=(2, 0, 0, 0), after=labels(evil) + b"\0\1\0\1"),
        "65535 questions": question(evil, counts=(65535, 0, 0, 0)),
        "an answer": question(evil, flags=0x8180), "an answer with data": question(evil, flags=0x8180, counts=(1, 1, 0, 0),
                                                                                   after=b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\1\2\3\4"),
        "pointer to itself": question("", wire=b"\xc0\x0c"), "pointer forward": question("", wire=b"\xc0\x20"),
        "pointer past the end": question("", wire=b"\xff\xff"),
        "pointer loop": question("", wire=b"\1a\xc0\x0c"), "pointer into the head": question("", wire=b"\xc0\x00"),
        "granted, then a pointer": question("", wire=b"\6shapes\7example\3com\xc0\x0c"), "label type 0x40": question("", wire=b"\x41a\0"),
        "label type 0x80": question("", wire=b"\x81a\0"), "label past the end": question("", wire=b"\x3fabc\0"),
        "name of 300 bytes": question([b"a" * 60] * 5),
        "name without end": question("", wire=b"\1a" * 200), "root": question("", wire=b"\0"), "no recursion": question(evil, flags=0),
        "truncated flag": question(evil, flags=0x0300), "checking disabled": question(evil, flags=0x0110), "all flags": question(evil, flags=0x7FFF),
        "granted, update": question(SHAPES, flags=0x2800), "granted, notify": question(SHAPES, flags=0x2000),
        "granted, status": question(SHAPES, flags=0x1000),
        "granted, dso": question(SHAPES, flags=0x3000), "granted, inverse": question(SHAPES, flags=0x0900),
        "records in answer": question(evil, counts=(1, 1, 0, 0), after=labels("x.evil.example.net") + struct.pack(">HHIH", 1, 1, 0, 4) + b"\1\2\3\4"),
        "counts without records": question(evil, counts=(1, 9, 9, 9)), "trailing bytes": question(evil, after=b"\0" * 500),
        "edns twice": question(evil, counts=(1, 0, 0, 2), after=edns() + edns()),
        "edns of a name": question(evil, counts=(1, 0, 0, 1), after=edns(name=labels("a"))),
        "edns version 9": question(evil, counts=(1, 0, 0, 1), after=edns(version=9)),
        "edns size 0": question(evil, counts=(1, 0, 0, 1), after=edns(size=0)),
        "edns client subnet": question(evil, counts=(1, 0, 0, 1), after=edns(options=struct.pack(">HH", 8, 8) + b"\0\1\x20\0\x7f\0\0\1")),
        "edns cookie": question(evil, counts=(1, 0, 0, 1), after=edns(options=struct.pack(">HH", 10, 8) + b"abcdefgh")),
        "edns option past the end": question(evil, counts=(1, 0, 0, 1), after=edns(options=struct.pack(">HH", 10, 800) + b"abc")),
        "edns chain of 300 options": question(evil, counts=(1, 0, 0, 1), after=edns(options=struct.pack(">HH", 65001, 0) * 300)),
        "tsig": question(evil, counts=(1, 0, 0, 1), after=labels("key") + struct.pack(">HHIH", 250, 255, 0, 16) + b"\0" * 16),
        "http": b"GET / HTTP/1.1\r\n\r\n" * 3,
        "a tunnel's payload": bytes(range(256)) * 2, "all ones": b"\xff" * 64, "all zeros": b"\0" * 64,
    }
    for note, data in odd.items():
        yield dict(cls="dns malformed", act="ask", to=STUB, message=data.hex(), patience=0.6, want="unanswered", bare="any", note=note)
    for note in ("two questions", "pointer loop", "granted, then a pointer", "a tunnel's payload", "trailing bytes"):
        yield dict(cls="dns malformed", act="ask", to=STUB, message=odd[note].hex(), stream=True, patience=0.6, want="unanswered", bare="any",
                   note=f"tcp {note}")
    evil_question = question(evil)
    for note, frame in {"length 0": b"\0\0", "length 1": b"\0\1a", "longer than said": struct.pack(">H", 5) + evil_question,
                        "shorter than said": b"\xff\xff" + evil_question,
                        "tls on 53": records(hello(server_name(evil.encode()))),
                        "two in one": (struct.pack(">H", len(evil_question)) + evil_question) * 2}.items():
        yield dict(cls="dns malformed", act="ask", to=names.RESOLVER, message="", frame=frame.hex(), stream=True, patience=0.6, want="unanswered",
                   bare="arrives" if note == "two in one" else "any", note=f"tcp {note}")
