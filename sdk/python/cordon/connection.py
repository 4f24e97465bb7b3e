# SPDX-License-Identifier: Apache-2.0
"""Requests to one node, over its Unix socket or over TCP, on connections that are kept."""
from __future__ import annotations

import http.client
import ipaddress
import json
import os
import select
import socket
import ssl
import threading
from typing import IO, Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import ConnectionLost, CordonError, api_error

USUAL_NODE = "/run/cordond/cordond.sock"
BROKEN = (OSError, http.client.HTTPException)
Body = Union[bytes, IO[bytes], Iterable[bytes], None]


class Address(NamedTuple):
    """Either a path, or a host and a port."""
    path: str = ""
    host: str = ""
    port: int = 0
    is_tls: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.path or f"{'https' if self.is_tls else 'http'}://{host}:{self.port}"


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_address(text: str) -> Address:
    """A path, `unix:PATH`, `https://HOST[:PORT]`, or `http://` at this machine: elsewhere a token would go for all on the way to read."""
    if not text.startswith(("http://", "https://")):
        path = text[len("unix:"):] if text.startswith("unix:") else text
        if not path or "://" in path:
            raise CordonError(f"the node {text!r}: expected the path of a socket, https://HOST or http://127.0.0.1:PORT")
        return Address(path="/" + path.lstrip("/") if path.startswith("//") else path)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise CordonError(f"the node {text!r}: {error}") from None
    if not host or parts.path not in ("", "/") or parts.query or parts.username is not None:
        raise CordonError(f"the node {text!r}: expected a host and a port, and nothing behind them")
    is_tls = parts.scheme == "https"
    if not is_tls and not is_loopback(host):
        raise CordonError(f"the node {text!r}: without TLS a token can be read on the way; use https://, or bring its socket here with ssh -L")
    return Address(host=host, port=port or (443 if is_tls else 80), is_tls=is_tls)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: Optional[float]):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def target_of(route: str, places: Mapping[str, Any], query: Mapping[str, Any]) -> str:
    """A route of openapi.yaml with its places filled; of the query what is not None. `{path...}` goes as it is, with a query of its own."""
    for name, value in places.items():
        route = route.replace("{%s}" % name, value if name == "path..." else quote(str(value), safe="", errors="surrogateescape"))
    given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items() if value is not None}
    return route + ("?" + urlencode(given, quote_via=quote, errors="surrogateescape") if given else "")


def is_stale(connection: http.client.HTTPConnection) -> bool:
    """Nothing is asked on it: whatever can be read is its end."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


class Connection:
    """May be used by several threads at once."""

    def __init__(self, address: Address, token: Optional[str], tenant: Optional[str], timeout: Optional[float], tls: Optional[ssl.SSLContext]):
        self.address, self.timeout = address, timeout
        self._tls = tls
        self._fields: Dict[str, str] = {}
        if token:
            if not all("!" <= each <= "~" for each in token):       # not repeated: it may be nearly one
                raise CordonError("this is no token and no API key")
            self._fields["Authorization"] = f"Bearer {token}"
        if tenant:
            self._fields["Cordon-Tenant"] = tenant
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def ask(self, method: str, route: str, places: Mapping[str, Any] = {}, *, query: Mapping[str, Any] = {}, body: Body = None,
            json_body: Any = None, fields: Mapping[str, str] = {}, waits: bool = False, refuses: bool = True) -> Answer:
        """An answer as a whole; ApiError where it refuses, unless `refuses` is false. `waits`: the node says when it is over, however long that
        takes."""
        connection, response = self._send(method, target_of(route, places, query), body, json_body, fields, None if waits else self.timeout)
        try:
            content = response.read()
        except BROKEN as error:
            connection.close()
            raise ConnectionLost(f"{method} {route}: the answer broke off: {error!r}") from error
        self._keep(connection, response)
        headers = {name.lower(): value for name, value in response.getheaders()}
        if refuses and response.status >= 400:
            raise api_error(response.status, content, headers.get("cordon-request", ""))
        return Answer(response.status, headers, content)

    def lines(self, method: str, route: str, places: Mapping[str, Any] = {}, *, query: Mapping[str, Any] = {}) -> Iterator[bytes]:
        """Lines as they come, without their newlines; ConnectionLost where they break off."""
        connection, response = self._send(method, target_of(route, places, query), None, None, {}, None)
        try:
            if response.status >= 400:
                raise api_error(response.status, response.read(), response.getheader("Cordon-Request", ""))
            rest = b""
            while piece := response.read1(1 << 16):     # unlike readline() it tells an end from a break
                *whole, rest = (rest + piece).split(b"\n")
                yield from whole
            if rest:
                raise ConnectionLost(f"{method} {route}: the last line broke off")
        except BROKEN as error:
            raise ConnectionLost(f"{method} {route}: the stream broke off: {error!r}") from error
        finally:
            connection.close()

    def close(self) -> None:
        """Ends what is kept; a request after it opens anew."""
        with self._lock:
            idle, self._idle = self._idle, []
        for each in idle:
            each.close()

    def _send(self, method: str, target: str, body: Body, json_body: Any, fields: Mapping[str, str],
              timeout: Optional[float]) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        headers = {**self._fields, **fields}
        if json_body is not None:
            body, headers["Content-Type"] = json.dumps(json_body).encode(), "application/json"
        connection = self._take()
        try:
            connection.sock.settimeout(timeout)
            try:
                connection.request(method, target, body=body, headers=headers)
            except (BrokenPipeError, ConnectionResetError):
                pass        # who refuses a body may have said why
            return connection, connection.getresponse()
        except http.client.InvalidURL as error:
            connection.close()
            raise CordonError(f"{method}: {error}") from None
        except BROKEN as error:
            connection.close()
            raise ConnectionLost(f"{self.address}: {method} {target.partition('?')[0]}: {error!r}") from error
        except BaseException:
            connection.close()
            raise

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                found = self._idle.pop() if self._idle else None
            if found is None:
                return self._open()
            if not is_stale(found):
                return found
            found.close()

    def _keep(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        if response.will_close:
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)

    def _open(self) -> http.client.HTTPConnection:
        where = self.address
        if where.path:
            made: http.client.HTTPConnection = _UnixConnection(where.path, self.timeout)
        elif where.is_tls:
            made = http.client.HTTPSConnection(where.host, where.port, timeout=self.timeout, context=self._tls or ssl.create_default_context())
        else:
            made = http.client.HTTPConnection(where.host, where.port, timeout=self.timeout)
        try:
            made.connect()
        except OSError as error:
            made.close()
            raise ConnectionLost(f"no node at {where}: {error}; start cordond, or say where it is: node=, or CORDON_NODE") from error
        if not where.path:      # a peer that vanished without a word ends a wait, too
            made.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if hasattr(socket, "TCP_KEEPIDLE"):
                made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
        return made


def connect(node: Optional[str], token: Optional[str], tenant: Optional[str], timeout: Optional[float], tls: Optional[ssl.SSLContext]) -> Connection:
    """What is not said comes from where the command line takes it: CORDON_NODE, CORDON_TOKEN."""
    place = node or os.environ.get("CORDON_NODE") or USUAL_NODE
    bearer = token if token is not None else os.environ.get("CORDON_TOKEN", "").strip()
    return Connection(parse_address(place), bearer or None, tenant, timeout, tls)
