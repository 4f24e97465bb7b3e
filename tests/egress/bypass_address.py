# SPDX-License-Identifier: Apache-2.0
"""Of the corpus: addresses that no name led to, in every spelling, and other ports."""
import itertools

import names
from bypass_words import ECHO, SHAPES, request, text

LITERALS = (names.UPLINK, names.GATEWAY, "8.8.8.8", "1.1.1.1", "9.9.9.9", "45.33.1.1", names.STRANGER, names.SITES[SHAPES],
            names.SITES["api.example.com"],
            *names.METADATA, *names.PRIVATE, "10.0.0.1", "172.17.0.1", "192.168.0.1", "192.168.1.1", "0.1.2.3", "198.18.0.77", "198.19.255.254",
            "192.0.2.1",
            "203.0.113.1", "240.0.0.1", "100.127.255.254", "169.254.0.1", "172.31.255.254", "192.88.99.1")


def direct():
    """TCP to addresses that no name led to. Port 53 is the sandbox's resolver wherever it points: see `dns`."""
    reached = {*names.METADATA, *names.PRIVATE, names.UPLINK, "45.33.1.1", names.STRANGER, names.SITES[SHAPES], names.SITES["api.example.com"]}
    for address in LITERALS:
        for port in (80, 443, 22, 853, 8080):
            data = text(request("/direct", address)) if port in (80, 8080) else ""
            yield dict(cls="direct tcp", act="stream", to=address, port=port, pieces=[data], patience=2.0, want="refused",
                       bare="arrives" if address in reached and port in (80, 8080) else "any", note=f"{address}:{port}")


def spellings(address):
    """Ways to write an IPv4 address that some resolver somewhere takes."""
    a, b, c, d = (int(part) for part in address.split("."))
    whole = (a << 24) | (b << 16) | (c << 8) | d
    taken = [address, str(whole), hex(whole), f"0{whole:o}", f"{a}.{(b << 16) | (c << 8) | d}", f"{a}.{b}.{(c << 8) | d}",
             f"{a:#x}.{b:#x}.{c:#x}.{d:#x}",
             f"0{a:o}.0{b:o}.0{c:o}.0{d:o}", f"{a:#x}.{b}.0{c:o}.{d}", f"{a}.{b:#x}.{(c << 8) | d:#x}",
             f"{a:#010x}.{b}.{c}.{d}".replace("0x000000", "0x"),
             f"0{a:011o}.{b}.{c}.{d}", f"0X{whole:X}", f"{a:#x}.{(b << 16) | (c << 8) | d}"]
    others = [f"::ffff:{address}", f"::ffff:{a:02x}{b:02x}:{c:02x}{d:02x}", f"::{address}", f"0:0:0:0:0:ffff:{address}", f"64:ff9b::{address}",
              f"[{address}]",
              f"[::ffff:{address}]", f"{address}.", f"{address}%lo", f"::ffff:{address}%lo", f" {address}", f"{address} ", f"{address}\t",
             
              f"{a}.{b}.{c}.{d}.0", f"{a}..{b}.{c}.{d}", f"{whole + (1 << 32)}", f"{a + 256}.{b}.{c}.{d}", f"00{a}.0{b}.{c}.{d}", f"{address}:80",
              f"{address}/32",
              f"%31{address[1:]}", address.replace(".", "%2e"), address.replace(".", "。"), address.replace(".", "．"),
              address.replace("1", "１"), address.replace("1", "①"), f"{address}@{SHAPES}", f"{SHAPES}@{address}", f"{address}#{SHAPES}",
              f"{address}\\.{SHAPES}",
              f"0x{a:02x}.{b:02x}{c:02x}{d:02x}", f"2002:{a:02x}{b:02x}:{c:02x}{d:02x}::", f"{a}.{b}.{c}.{d}.nip.io"]
    return taken, others


def literals():
    for address in ("127.0.0.1", "169.254.169.254"):
        taken, others = spellings(address)
        for spelling in (*taken, *others):
            yield dict(cls="ip spellings", act="stream", to=spelling, port=8080, pieces=[text(request("/spelled", "x"))], patience=2.0,
                       want="refused",
                       bare="arrives" if spelling in taken[:10] else "any", note=spelling)
    for spelling in ("::1", "::", "0.0.0.0", "0", "::ffff:0.0.0.0", names.UPLINK6, *names.METADATA6, *names.PRIVATE6, "fe80::1%lo",
                     "2606:2800:21f::10", "64:ff9b::7f00:1",
                     "2002:7f00:1::", "::ffff:10.1.2.3"):
        yield dict(cls="ip spellings", act="stream", to=spelling, port=8080, pieces=[text(request("/spelled", "x"))], patience=2.0, want="refused",
                   bare="arrives" if spelling in ("::1", "0.0.0.0", "0", names.UPLINK6, *names.METADATA6, *names.PRIVATE6) else "any", note=spelling)


def ports():
    for name, port in itertools.product((SHAPES, ECHO), (1, 21, 22, 25, 80, 110, 143, 443, 445, 853, 993, 1080, 3000, 3128, 5432, 6379, 8000, 8080,
                                                         8443, 9000, 9200, 11211,
                                                         27017, 65535)):
        if (name, port) in ((SHAPES, 443), (ECHO, 80)):
            continue
        yield dict(cls="other ports", act="stream", to=name, port=port, pieces=[text(request("/port", name))], patience=2.0, want="refused",
                   bare="arrives" if port in (80, 8080, 3000, 9000) else "any", note=f"{name}:{port}")
