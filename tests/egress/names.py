# SPDX-License-Identifier: Apache-2.0
"""Who is where in the test internet: ordinary public addresses that exist in its namespaces only, and what its DNS answers."""

UPLINK = "93.184.216.2"                  # the host's own public address
GATEWAY = "93.184.216.1"
UPLINK6, GATEWAY6 = "2606:2800:220:1::2", "2606:2800:220:1::1"
RESOLVER = "8.8.8.8"
RESOLVERS = (RESOLVER, "1.1.1.1", "9.9.9.9", "2001:4860:4860::8888")
LOCAL_RESOLVER = "127.0.0.53"            # of the host, as many have one
STRANGER = "185.199.108.50"              # where every name leads that has no entry

SITES = {                                # served by nginx on 80 and 443
    "api.example.com": "151.101.1.10",
    "www.example.com": "151.101.1.11",
    "files.example.com": "151.101.1.12",
    "pypi.example.com": "151.101.1.20",
    "registry.example.com": "151.101.1.21",
    "deb.example.com": "151.101.1.22",
    "shapes.example.com": "151.101.1.40",
    "moved.example.com": "151.101.1.41",
    "quiet.example.com": "151.101.1.42",
    "git.example.com": "140.82.112.3",
    "front.example.com": "151.101.1.10",  # shares its address with api.example.com
    "evil.example.net": STRANGER,
    "a.wild.example.org": "185.199.108.60",
    "b.wild.example.org": "185.199.108.60",
    "wild.example.org": "185.199.108.60",
}
PEERS = {                                # served by others
    "echo.example.com": "151.101.1.30",   # port 80: keeps every byte it hears
    "mirror.example.com": "151.101.1.31",  # port 443: gives back what it heard
    "retry.example.com": "151.101.1.35",   # the same, and asks for a second ClientHello
    "tunnel.example.com": "151.101.1.36",  # port 443: answers that do not end by themselves
    "wrong-name.tls.example.com": "151.101.1.32",      # certificates that must not be believed
    "expired.tls.example.com": "151.101.1.33",
    "self-signed.tls.example.com": "151.101.1.34",
    "redis.example.com": "140.82.112.10",
    "ssh.example.com": "140.82.112.11",
}

DEAD, HOLE = "151.101.1.50", "151.101.1.51"        # refuses everything; swallows everything
SIX = "2606:2800:21f::10"

# Addresses of the "host" namespace beside its uplink: whoever listens there must hear nothing from a sandbox.
METADATA = ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192")
PRIVATE = ("10.1.2.3", "172.16.5.5", "192.168.77.1", "100.64.0.9", "198.51.100.7")
AWAY = "10.7.7.7"                        # private, and nobody of the host: beyond the uplink
METADATA6, PRIVATE6 = ("fd00:ec2::254",), ("fc00::77", "fd20:ce::254")

# Answers that lead to the host or into private ranges, by what they stand for.
INWARD = {
    "loopback": "127.0.0.1", "loopback-other": "127.8.9.10", "any": "0.0.0.0", "this-net": "0.1.2.3", "metadata": "169.254.169.254",
    "ecs": "169.254.170.2", "link-local": "169.254.7.7", "alibaba": "100.100.100.200", "azure": "168.63.129.16", "oracle": "192.0.0.192",
    "ten": "10.1.2.3", "ten-end": "10.255.255.254", "seventeen-two": "172.16.5.5", "seventeen-two-end": "172.31.255.254",
    "one-nine-two": "192.168.77.1", "shared": "100.64.0.9", "shared-end": "100.127.255.254", "uplink": UPLINK, "benchmark": "198.18.0.5",
    "benchmark-end": "198.19.255.254", "doc-1": "192.0.2.7", "doc-2": "198.51.100.7", "doc-3": "203.0.113.7", "protocol": "192.0.0.8",
    "multicast": "224.0.0.251", "multicast-end": "239.255.255.250", "reserved": "240.0.0.1", "broadcast": "255.255.255.255",
    "relay": "192.88.99.1",
}
INWARD6 = {
    "six-loopback": "::1", "six-any": "::", "six-mapped": "::ffff:127.0.0.1", "six-mapped-meta": "::ffff:169.254.169.254",
    "six-compat": "::10.1.2.3", "six-local": "fc00::77", "six-ec2": "fd00:ec2::254", "six-gce": "fd20:ce::254", "six-link": "fe80::1",
    "six-nat64": "64:ff9b::7f00:1", "six-nat64-local": "64:ff9b:1::a01:203", "six-6to4": "2002:a01:203::1", "six-teredo": "2001:0:5601:1::f5fe:fdfc",
    "six-doc": "2001:db8::7", "six-site": "fec0::1", "six-multicast": "ff02::1", "six-discard": "100::1", "six-uplink": UPLINK6,
}

# Where redirects of /moved/WORD lead.
TARGETS = {
    "metadata": "http://169.254.169.254/latest/meta-data/", "loopback": "http://127.0.0.1:8080/", "private": "http://10.1.2.3/",
    "uplink": f"http://{UPLINK}/", "stranger": "https://evil.example.net/hello", "plain": "http://evil.example.net/hello",
    "front": "https://front.example.com/hello", "port": "https://api.example.com:8443/", "inward": "http://metadata.inward.example.com/",
    "literal": "https://151.101.1.10/", "decimal": "http://2852039166/", "hex": "http://0xa9.0xfe.0xa9.0xfe/", "six": "http://[::1]:8080/",
    "mapped": "http://[::ffff:169.254.169.254]/", "good": "https://api.example.com/hello", "ftp": "ftp://evil.example.net/",
}


def zone():
    """What the resolver answers, by name: see servers/dns.py for the words."""
    found = {name: [("A", address)] for name, address in {**SITES, **PEERS}.items()}
    for word, address in INWARD.items():
        found[f"{word}.inward.example.com"] = [("A", address)]
    for word, address in INWARD6.items():
        found[f"{word}.inward.example.com"] = [("AAAA", address)]
    found |= {
        "flip.example.com": [("flip", [SITES["quiet.example.com"], "127.0.0.1", "169.254.169.254", "10.1.2.3"])],
        "mixed.example.com": [("A", "10.1.2.3"), ("A", "127.0.0.1"), ("A", SITES["quiet.example.com"]), ("AAAA", "::1")],
        "alias.example.com": [("CNAME", "internal.corp.example")],
        "internal.corp.example": [("A", "10.1.2.3")],
        "chain.example.com": [("CNAME", "chain2.example.com")],
        "chain2.example.com": [("CNAME", "chain3.example.com")],
        "chain3.example.com": [("A", "127.0.0.1")],
        "round.example.com": [("CNAME", "round2.example.com")],
        "round2.example.com": [("CNAME", "round.example.com")],
        "good-alias.example.com": [("CNAME", "api.example.com")],
        "db.example.com": [("A", AWAY)],
        "dead.example.com": [("A", DEAD)],
        "hole.example.com": [("A", HOLE)],
        "dead-first.example.com": [("A", DEAD), ("A", SITES["www.example.com"])],
        "hole-first.example.com": [("A", HOLE), ("A", SITES["www.example.com"])],
        "six.example.com": [("AAAA", SIX)],
        "both.example.com": [("AAAA", SIX), ("A", SITES["www.example.com"])],
        "nothing.example.com": [("rcode", 3)],
        "broken.example.com": [("rcode", 2)],
        "refused.example.com": [("rcode", 5)],
        "empty.example.com": [],
        "silent.example.com": [("silent", None)],
        "held.example.com": [("held", None), ("ttl", 0), ("A", PEERS["redis.example.com"])],
        "slow.example.com": [("slow", 1.0), ("A", SITES["www.example.com"])],
        "cut.example.com": [("cut", None), ("A", SITES["www.example.com"])],
        "many.example.com": [("A", f"10.9.{n // 200}.{n % 200 + 1}") for n in range(1000)],
        "wrong-id.example.com": [("wrong-id", None), ("A", "10.1.2.3")],
        "wrong-name.example.com": [("wrong-name", None), ("A", "10.1.2.3")],
        "loop-pointer.example.com": [("bytes", "c00cc00c")],
        "huge-ttl.example.com": [("ttl", 0xFFFFFFFF), ("A", SITES["www.example.com"])],
    }
    return found
