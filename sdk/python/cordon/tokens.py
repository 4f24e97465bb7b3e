# SPDX-License-Identifier: Apache-2.0
"""Narrower tokens, made offline of one that is held (docs/tokens.md, "The format")."""
from __future__ import annotations

import base64
import hashlib
import hmac
import json
import struct
import time
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from .errors import CordonError

PREFIX = "cdn1_"
MOST_CAVEATS, LONGEST_TOKEN, TAG = 32, 8192, 32
# Both in the order of their numbers.
OPERATIONS = ("sandbox.create", "sandbox.read", "sandbox.change", "sandbox.destroy", "process.start", "process.read", "process.input",
              "process.signal", "file.read", "file.write", "tunnel.open", "secret.write", "secret.list", "secret.delete", "event.read",
              "metrics.read", "node.read", "node.drain", "token.revoke", "key.create", "key.list", "key.delete", "audit.read",
              "node.configure", "sandbox.move")
BUDGETS = ("sandboxes", "creates_per_minute", "processes", "milli_cpus", "memory_bytes", "disk_bytes", "egress_bytes")


def attenuate(token: str, *, tenant: Optional[str] = None, operations: Optional[Sequence[str]] = None, sandboxes: Optional[Sequence[str]] = None,
              path: Optional[str] = None, budgets: Mapping[str, int] = {}, expires_in_seconds: Optional[int] = None,
              ceiling: Optional[Mapping[str, Any]] = None) -> str:
    """A token that may do no more than `token`, and no more than is said here. Nobody can take a caveat off again.

    What is said is checked for its form alone: a caveat that a node cannot read makes a token that is worth nothing."""
    caveats: List[bytes] = []
    if tenant is not None:
        caveats.append(b"\1" + tenant.encode())
    if operations is not None:
        caveats.append(b"\3" + struct.pack("<Q", sum(1 << number for number in {_number(OPERATIONS, name) for name in operations})))
    if sandboxes is not None:
        ids = sorted({each.encode() for each in sandboxes})
        caveats.append(b"\2" + bytes([len(ids)]) + b"".join(bytes([len(each)]) + each for each in ids))
    if path is not None:
        caveats.append(b"\4" + path.encode())
    for name, most in budgets.items():
        caveats.append(b"\6" + struct.pack("<BQ", _number(BUDGETS, name), most))
    if expires_in_seconds is not None:
        caveats.append(b"\7" + struct.pack("<Q", int(time.time()) + expires_in_seconds))
    if ceiling is not None:
        caveats.append(b"\5" + json.dumps(ceiling, separators=(",", ":"), ensure_ascii=False).encode())
    if not caveats:
        raise CordonError("nothing to narrow: say at least one thing that the token may not")
    return _with(token, caveats)


def revocation_id(token: str) -> str:
    """What it is taken back by; tells nothing of the token."""
    return hashlib.sha256(b"cordon revocation\0" + _parts(token)[3]).digest()[:16].hex()


def _with(token: str, caveats: List[bytes]) -> str:
    header, count, old, tag = _parts(token)
    if count + len(caveats) > MOST_CAVEATS:
        raise CordonError(f"a token has at most {MOST_CAVEATS} caveats")
    added = b""
    for each in caveats:
        added += struct.pack("<H", len(each)) + each
        tag = hmac.new(tag, b"cordon token caveat\0" + each, hashlib.sha256).digest()
    text = PREFIX + base64.urlsafe_b64encode(header + bytes([count + len(caveats)]) + old + added + tag).decode().rstrip("=")
    if len(text) > LONGEST_TOKEN:
        raise CordonError(f"a token has at most {LONGEST_TOKEN} characters")
    return text


def _parts(token: str) -> Tuple[bytes, int, bytes, bytes]:
    """Its header, the number of caveats, their bytes, and its tag."""
    text = token.strip()
    try:
        if not text.startswith(PREFIX):
            raise ValueError
        code = text[len(PREFIX):]
        binary = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        head = 4 + binary[3] + 16       # version, flags, key number, length; audience; random bytes
        if binary[0] != 1 or len(binary) < head + 1 + TAG:
            raise ValueError
        return binary[:head], binary[head], binary[head + 1:-TAG], binary[-TAG:]
    except (ValueError, IndexError):
        raise CordonError("this is no token that can be narrowed") from None        # not repeated: it may be nearly one


def _number(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise CordonError(f"{name!r} is none of {', '.join(names)}")
    return names.index(name)
