# SPDX-License-Identifier: Apache-2.0
"""Of the corpus: everything that is not TCP."""
import itertools

import names
from bypass_words import SHAPES


def other_sockets():
    quic = "c300000001088394c8f03e5157080000449e" + "00" * 1180
    targets = {"8.8.8.8": 443, "1.1.1.1": 853, names.STRANGER: 443, names.SITES[SHAPES]: 443, "169.254.169.254": 80, names.UPLINK: 443,
               names.GATEWAY: 67, "10.1.2.3": 5353, "224.0.0.251": 5353,
               "239.255.255.250": 1900, "255.255.255.255": 67, "192.168.77.255": 137, "224.0.0.252": 5355, "45.33.1.1": 51820, "198.18.0.9": 3478,
               "93.184.216.255": 123}
    reached = {"8.8.8.8", "1.1.1.1", names.STRANGER, names.SITES[SHAPES], "169.254.169.254", names.UPLINK, "45.33.1.1"}
    for (address, port), connect in itertools.product(targets.items(), (False, True)):
        options = [[1, 6, 1]] if address.endswith("255") else []            # SO_BROADCAST
        yield dict(cls="udp", act="odd", family="AF_INET", kind="SOCK_DGRAM", address=[address, port], data=quic if port == 443 else "00010000"
                   + "2112a442" + "00" * 12, connect=connect, options=options,
                   want="unsent", bare="arrives" if address in reached and not connect else "any",
                   note=f"{address}:{port}{' connected' if connect else ''}")
    for port in (1, 67, 69, 123, 137, 161, 443, 500, 514, 853, 1194, 1900, 3478, 4500, 4789, 5353, 5355, 6081, 51820, 65535):
        yield dict(cls="udp", act="odd", family="AF_INET", kind="SOCK_DGRAM", address=[names.STRANGER, port], data="41" * 32, want="unsent",
                   bare="arrives", note=f"stranger:{port}")
    for address in ("2606:4700:4700::1111", names.GATEWAY6, names.UPLINK6, "fd00:ec2::254", "ff02::1", "fe80::1", "::ffff:8.8.8.8"):
        for kind in ("SOCK_DGRAM", "SOCK_STREAM"):
            yield dict(cls="ipv6", act="odd", family="AF_INET6", kind=kind, address=[address, 443, 0, 0], data="41" * 32,
                       connect=kind == "SOCK_STREAM", want="unsent6",
                       bare="arrives" if address == "2606:4700:4700::1111" else "any", note=f"{address} {kind}")
    for note, family, kind, protocol, address in (
            ("ping", "AF_INET", "SOCK_DGRAM", 1, ["8.8.8.8", 0]), ("raw icmp", "AF_INET", "SOCK_RAW", 1, ["8.8.8.8", 0]),
            ("raw tcp", "AF_INET", "SOCK_RAW", 6, [names.STRANGER, 0]),
            ("raw udp", "AF_INET", "SOCK_RAW", 17, [names.STRANGER, 0]), ("raw ip", "AF_INET", "SOCK_RAW", 255, [names.STRANGER, 0]),
            ("gre", "AF_INET", "SOCK_RAW", 47, [names.STRANGER, 0]),
            ("ipip", "AF_INET", "SOCK_RAW", 4, [names.STRANGER, 0]), ("6in4", "AF_INET", "SOCK_RAW", 41, [names.STRANGER, 0]),
            ("esp", "AF_INET", "SOCK_RAW", 50, [names.STRANGER, 0]),
            ("igmp", "AF_INET", "SOCK_RAW", 2, ["224.0.0.1", 0]), ("ospf", "AF_INET", "SOCK_RAW", 89, ["224.0.0.5", 0]),
            ("sctp", "AF_INET", "SOCK_STREAM", 132, [names.STRANGER, 443]),
            ("sctp packets", "AF_INET", "SOCK_SEQPACKET", 132, [names.STRANGER, 443]),
            ("udplite", "AF_INET", "SOCK_DGRAM", 136, [names.STRANGER, 443]),
            ("dccp", "AF_INET", "SOCK_STREAM", 33, [names.STRANGER, 443]),
            ("mptcp", "AF_INET", "SOCK_STREAM", 262, [names.STRANGER, 443]),
            ("ping6", "AF_INET6", "SOCK_DGRAM", 58, ["2606:4700:4700::1111", 0, 0, 0]),
            ("raw icmp6", "AF_INET6", "SOCK_RAW", 58, ["2606:4700:4700::1111", 0, 0, 0]), ("packet", "AF_PACKET", "SOCK_RAW", 0, ["lo", 0x0800]),
            ("packet, dgram", "AF_PACKET", "SOCK_DGRAM", 0, ["lo", 0x0800])):
        yield dict(cls="other protocols", act="odd", family=family, kind=kind, protocol=protocol, address=address, data="0800f7fe00010001"
                   if "ping" in note or "icmp" in note else "45" * 24,
                   connect=note in ("mptcp", "sctp", "dccp"), want="unsent",
                   bare="arrives" if note in ("raw icmp", "raw tcp", "raw udp", "gre", "ipip", "6in4", "esp", "raw icmp6") else "any", note=note)
    yield dict(cls="other protocols", act="odd", family="AF_INET", kind="SOCK_STREAM", address=[names.STRANGER, 80], data="41", connect=True,
               options=[[0, 4, "830b04" + "08080808" + "08080404" + "00"]],
               want="unsent", bare="any", note="source route")
    yield dict(cls="other protocols", act="odd", family="AF_INET", kind="SOCK_STREAM", address=[names.STRANGER, 80], data="41", connect=True,
               options=[[0, 19, 1]], want="unsent", bare="arrives", note="transparent")
    yield dict(cls="other protocols", act="odd", family="AF_INET", kind="SOCK_STREAM", address=[names.STRANGER, 80], data="41", connect=True,
               options=[[1, 36, 7]], want="unsent", bare="arrives", note="mark")
    yield dict(cls="other protocols", act="odd", family="AF_INET", kind="SOCK_STREAM", address=[names.STRANGER, 80], data="41", connect=True,
               options=[[6, 30, 1]], want="unsent", bare="any", note="fast open")
