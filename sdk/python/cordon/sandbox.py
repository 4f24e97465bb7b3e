# SPDX-License-Identifier: Apache-2.0
"""A sandbox that lives until it is deleted or its time is over."""
from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from .connection import Body, Connection
from .errors import NotFoundError
from .files import Files
from .process import Process
from .values import Event, ExecResult, PortAnswer, ProcessInfo, SandboxInfo


def stated(**given: Any) -> Dict[str, Any]:
    """A request's body: what is None is left to the node."""
    return {name: value for name, value in given.items() if value is not None}


class Sandbox:
    """`info` is what was last heard of it. As a context it is deleted at the end."""

    def __init__(self, connection: Connection, info: SandboxInfo):
        self._connection = connection
        self._places: Mapping[str, str] = {"id": info.id}
        self.info = info
        self.files = Files(connection, info.id)

    @property
    def id(self) -> str:
        return self.info.id

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.delete()
        except NotFoundError:
            pass        # its end came by itself

    def refresh(self) -> SandboxInfo:
        """For a day also after its end, with its verdict."""
        self.info = SandboxInfo.from_json(self._connection.ask("GET", "/v1/sandboxes/{id}", self._places).json)
        return self.info

    def change(self, *, policy: Optional[Mapping[str, Any]] = None, labels: Optional[Mapping[str, str]] = None,
               timeout_seconds: Optional[int] = None) -> SandboxInfo:
        """`policy` narrows what it may, and never widens; `labels` replace those before; `timeout_seconds` counts from now."""
        body = stated(policy=policy, labels=labels, timeout_seconds=timeout_seconds)
        self.info = SandboxInfo.from_json(self._connection.ask("PATCH", "/v1/sandboxes/{id}", self._places, json_body=body).json)
        return self.info

    def delete(self) -> SandboxInfo:
        """Back when nothing of it is left; its verdict is in what comes back."""
        self.info = SandboxInfo.from_json(self._connection.ask("DELETE", "/v1/sandboxes/{id}", self._places, waits=True).json)
        return self.info

    def run(self, command: Sequence[str], *, environment: Optional[Mapping[str, str]] = None, directory: Optional[str] = None,
            input: Optional[str] = None, seconds: Optional[int] = None) -> ExecResult:
        """One command with all that it writes, killed when `seconds` are over."""
        body = stated(command=list(command), environment=environment, directory=directory, input=input)
        answer = self._connection.ask("POST", "/v1/sandboxes/{id}/run", self._places, query={"seconds": seconds}, json_body=body, waits=True)
        return ExecResult.from_json(answer.json)

    def start(self, command: Sequence[str], *, environment: Optional[Mapping[str, str]] = None, directory: Optional[str] = None,
              input: Optional[str] = None, pty: Optional[Mapping[str, int]] = None) -> Process:
        """Back when it runs. `input` is the beginning of standard input; `pty` (`rows`, `cols`) a terminal in place of three streams."""
        body = stated(command=list(command), environment=environment, directory=directory, input=input, pty=pty)
        return self._process(self._connection.ask("POST", "/v1/sandboxes/{id}/processes", self._places, json_body=body).json)

    def processes(self) -> List[Process]:
        """Also those that have ended, of which the last 64 are remembered."""
        answer = self._connection.ask("GET", "/v1/sandboxes/{id}/processes", self._places).json
        return [self._process(each) for each in answer["processes"]]

    def process(self, number: int) -> Process:
        """One that was started before, by whoever; nothing is asked."""
        return self._process({"process": number})

    def request(self, port: int, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] = {}) -> PortAnswer:
        """To a server inside, at a port that `network.ingress` of the policy lists; `path` with its query. Whatever status comes is an answer:
        a refusal of the node has the type application/problem+json, which a server inside can say too."""
        places = {**self._places, "port": port, "path...": path.lstrip("/")}
        answer = self._connection.ask(method, "/v1/sandboxes/{id}/ports/{port}/{path...}", places, body=body, fields=headers, waits=True,
                                      refuses=False)
        return PortAnswer(answer.status, answer.headers, answer.body)

    def events(self, *, since: Optional[str] = None, follow: bool = True) -> Iterator[Event]:
        """What happens to it, until its end; `follow=False`: what is held, and no more."""
        query = {"since": since, "follow": None if follow else False}
        for line in self._connection.lines("GET", "/v1/sandboxes/{id}/events", self._places, query=query):
            yield Event.from_json(json.loads(line))

    def _process(self, raw: Mapping[str, Any]) -> Process:
        return Process(self._connection, self.id, ProcessInfo.from_json(raw))
