# SPDX-License-Identifier: Apache-2.0
"""A node: one method for each route of api/openapi.yaml."""
from __future__ import annotations

import json
import ssl
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

from .connection import Connection, connect
from .sandbox import Sandbox, stated
from .values import ApiKey, AuditRecord, Event, Health, NodeInfo, RunResult, SandboxInfo


class SandboxPage(NamedTuple):
    """`next`: there is more; give it as `after`."""
    sandboxes: List[Sandbox]
    next: Optional[str]


class Client:
    """`node`: the path of a socket, `https://HOST:PORT`, or `http://127.0.0.1:PORT`; by default CORDON_NODE, else /run/cordond/cordond.sock.
    `token`: a token or an API key; by default CORDON_TOKEN, else none, as root or the node's own user at its socket. `tenant`: for whom an operator
    acts. `timeout`: seconds of silence after which a request is given up, but where a route waits by itself. `tls`: whom to trust, and a
    certificate of one's own. May be used by several threads at once."""

    def __init__(self, node: Optional[str] = None, *, token: Optional[str] = None, tenant: Optional[str] = None, timeout: Optional[float] = 60.0,
                 tls: Optional[ssl.SSLContext] = None):
        self._connection: Connection = connect(node, token, tenant, timeout, tls)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({str(self._connection.address)!r})"

    def close(self) -> None:
        """Ends the connections that are kept."""
        self._connection.close()

    # The node

    def health(self) -> Health:
        """Needs no token."""
        return Health.from_json(self._connection.ask("GET", "/v1/health", refuses=False).json)

    def node(self) -> NodeInfo:
        """Its name, version, images, how many sandboxes live and whether it takes new ones; for an operator."""
        return NodeInfo.from_json(self._connection.ask("GET", "/v1/node").json)

    def drain_node(self) -> NodeInfo:
        """It takes no new sandboxes, also after a restart; what lives goes on. For an operator."""
        return NodeInfo.from_json(self._connection.ask("POST", "/v1/node/drain").json)

    def resume_node(self) -> NodeInfo:
        """It takes new sandboxes again; for an operator."""
        return NodeInfo.from_json(self._connection.ask("POST", "/v1/node/resume").json)

    def put_policy(self, release: int, text: Union[str, bytes]) -> NodeInfo:
        """New sandboxes are held against this release too (docs/fleet.md), over restarts; for an operator of a node."""
        body = text.encode() if isinstance(text, str) else text
        return NodeInfo.from_json(self._connection.ask("PUT", "/v1/node/policy", query={"release": release}, body=body).json)

    def drop_policy(self) -> NodeInfo:
        """New sandboxes are held against the node's own settings alone; for an operator of a node."""
        return NodeInfo.from_json(self._connection.ask("DELETE", "/v1/node/policy").json)

    def metrics(self) -> str:
        """In the text form of Prometheus; for an operator."""
        return self._connection.ask("GET", "/metrics").body.decode()

    # Sandboxes

    def run(self, command: Sequence[str], *, policy: Optional[Mapping[str, Any]] = None, labels: Optional[Mapping[str, str]] = None,
            timeout_seconds: Optional[int] = None, environment: Optional[Mapping[str, str]] = None, directory: Optional[str] = None,
            input: Optional[str] = None) -> RunResult:
        """One command in a sandbox of its own: made, run, collected, gone."""
        body = stated(command=list(command), policy=policy, labels=labels, timeout_seconds=timeout_seconds, environment=environment,
                      directory=directory, input=input)
        return RunResult.from_json(self._connection.ask("POST", "/v1/run", json_body=body, waits=True).json)

    def create_sandbox(self, *, policy: Optional[Mapping[str, Any]] = None, labels: Optional[Mapping[str, str]] = None,
                       timeout_seconds: Optional[int] = None, idempotency_key: Optional[str] = None) -> Sandbox:
        """The same `idempotency_key` with the same words gives the sandbox of the first time; with others ConflictError."""
        body = stated(policy=policy, labels=labels, timeout_seconds=timeout_seconds)
        fields = {"Idempotency-Key": idempotency_key} if idempotency_key is not None else {}
        return self._sandbox(self._connection.ask("POST", "/v1/sandboxes", json_body=body, fields=fields, waits=True).json)

    def list_sandboxes(self, *, labels: Mapping[str, str] = {}, limit: Optional[int] = None, after: Optional[str] = None) -> SandboxPage:
        """A page of those that live and have these labels."""
        query: Dict[str, Any] = {"limit": limit, "after": after, **{f"label.{name}": value for name, value in labels.items()}}
        answer = self._connection.ask("GET", "/v1/sandboxes", query=query).json
        return SandboxPage([self._sandbox(each) for each in answer["sandboxes"]], answer.get("next"))

    def sandboxes(self, *, labels: Mapping[str, str] = {}, limit: Optional[int] = None) -> Iterator[Sandbox]:
        """All of them, page by page; `limit` is that of a page."""
        after: Optional[str] = None
        while True:
            page = self.list_sandboxes(labels=labels, limit=limit, after=after)
            yield from page.sandboxes
            after = page.next
            if after is None:
                return

    def get_sandbox(self, id: str) -> Sandbox:
        """NotFoundError where it is not there, or of another tenant."""
        found = self.sandbox(id)
        found.refresh()
        return found

    def sandbox(self, id: str) -> Sandbox:
        """One that was made before; nothing is asked."""
        return self._sandbox({"id": id})

    # What happened

    def events(self, *, since: Optional[str] = None, follow: bool = True) -> Iterator[Event]:
        """What is held behind the cursor `since`, and on as it happens; `follow=False`: no more than that."""
        for line in self._connection.lines("GET", "/v1/events", query={"since": since, "follow": None if follow else False}):
            yield Event.from_json(json.loads(line))

    def audit(self, *, since: Optional[int] = None, where: Optional[str] = None, follow: bool = True) -> Iterator[AuditRecord]:
        """Records behind number `since`, and on as they are written. `where`: terms as of `cordon audit query`, with spaces between them."""
        query = {"since": since, "where": where, "follow": None if follow else False}
        for line in self._connection.lines("GET", "/v1/audit", query=query):
            yield AuditRecord.from_line(line)

    # Secrets, API keys, tokens

    def put_secret(self, name: str, secret: bytes) -> None:
        """Kept, or replaced; policies name it as `secret:NAME`, and no route shows it."""
        self._connection.ask("PUT", "/v1/secrets/{name}", {"name": name}, body=secret)

    def list_secrets(self) -> List[str]:
        """Their names."""
        return [each["name"] for each in self._connection.ask("GET", "/v1/secrets").json["secrets"]]

    def delete_secret(self, name: str) -> None:
        """No request of a sandbox is given it from here on."""
        self._connection.ask("DELETE", "/v1/secrets/{name}", {"name": name})

    def create_key(self, *, label: Optional[str] = None, operator: Optional[bool] = None, expires_in_seconds: Optional[int] = None,
                   caveats: Optional[Sequence[Mapping[str, Any]]] = None) -> ApiKey:
        """No wider than what it is asked for with. `caveats`: objects with one key, like `{"operation": ["sandbox.read"]}`."""
        body = stated(label=label, operator=operator, expires_in_seconds=expires_in_seconds, caveats=caveats)
        return ApiKey.from_json(self._connection.ask("POST", "/v1/keys", json_body=body).json)

    def list_keys(self) -> List[ApiKey]:
        """Without the keys themselves."""
        return [ApiKey.from_json(each) for each in self._connection.ask("GET", "/v1/keys").json["keys"]]

    def delete_key(self, id: str) -> None:
        """And all that were made with it."""
        self._connection.ask("DELETE", "/v1/keys/{key}", {"key": id})

    def revoke_token(self, token: Optional[str] = None, *, id: Optional[str] = None, seconds: Optional[int] = None) -> None:
        """With all that were derived from it. By itself; by its revocation id, for an operator, with how long such tokens live; or the one that
        asks."""
        body = stated(token=token) or None
        self._connection.ask("POST", "/v1/tokens/revoke", query={"id": id, "seconds": seconds}, json_body=body)

    def _sandbox(self, raw: Mapping[str, Any]) -> Sandbox:
        return Sandbox(self._connection, SandboxInfo.from_json(raw))
