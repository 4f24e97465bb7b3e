# SPDX-License-Identifier: Apache-2.0
"""Messages built byte by byte, right ones and wrong ones: DNS questions and ClientHellos."""
import struct


def labels(name):
    """The wire form of a dotted text, or of a list of labels as bytes."""
    parts = [part.encode("latin-1") for part in name.split(".") if part] if isinstance(name, str) else list(name)
    return b"".join(bytes([len(part) & 0xFF]) + part for part in parts) + b"\0"


def question(name, kind=1, group=1, ident=0x1234, flags=0x0100, counts=(1, 0, 0, 0), after=b"", wire=None):
    return struct.pack(">HHHHHH", ident, flags, *counts) + (labels(name) if wire is None else wire) + struct.pack(">HH", kind, group) + after


def edns(size=1232, version=0, flags=0, options=b"", name=b"\0"):
    return name + struct.pack(">HHBBHH", 41, size, 0, version, flags, len(options)) + options


def vector(data, width):
    return len(data).to_bytes(width, "big") + data


def extension(kind, data):
    return struct.pack(">H", kind) + vector(data, 2)


def server_name(*entries, kind=0):
    return extension(0, vector(b"".join(bytes([kind]) + vector(entry, 2) for entry in entries), 2))


def hello(*extensions, version=0x0303, session=b"", suites=(0x1301, 0xC02B, 0xC02F, 0x009C), compression=b"\0", none=False, after=b""):
    """A ClientHello message of the handshake; `none` leaves the block of extensions out."""
    base = b"".join((extension(10, vector(struct.pack(">HHH", 29, 23, 24), 2)), extension(11, b"\1\0"),
                     extension(13, vector(struct.pack(">HHHH", 0x0403, 0x0804, 0x0401, 0x0601), 2))))
    body = struct.pack(">H", version) + bytes(range(32)) + vector(session, 1) + vector(struct.pack(f">{len(suites)}H", *suites),
                                                                                       2) + vector(compression, 1)
    if not none:
        body += vector(base + b"".join(extensions), 2)
    return b"\1" + vector(body + after, 3)


def records(message, *cuts, kind=22, version=0x0301):
    """The message in records that are cut at these places."""
    edges = [0, *cuts, len(message)]
    return b"".join(bytes([kind]) + struct.pack(">H", version) + vector(message[begin:end], 2) for begin, end in zip(edges, edges[1:]))
