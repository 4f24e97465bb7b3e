# SPDX-License-Identifier: Apache-2.0
"""A process in a sandbox that lives."""
from __future__ import annotations

import json
import time
from typing import Any, Dict, Iterator, Optional, Union

from .connection import Body, Connection
from .errors import ConnectionLost, CordonError, UnavailableError
from .values import Chunk, ProcessInfo, bytes_of

ACKNOWLEDGED_EVERY = 1 << 18        # a process that is a mebibyte ahead waits
LONGEST_PAUSE = 2.0


class Process:
    """`info` is what was last heard of it."""

    def __init__(self, connection: Connection, sandbox: str, info: ProcessInfo):
        self._connection = connection
        self._places: Dict[str, Any] = {"id": sandbox, "process": info.number}
        self.info = info

    @property
    def number(self) -> int:
        return self.info.number

    def refresh(self) -> ProcessInfo:
        self.info = ProcessInfo.from_json(self._connection.ask("GET", "/v1/sandboxes/{id}/processes/{process}", self._places).json)
        return self.info

    def wait(self, seconds: Optional[int] = None) -> ProcessInfo:
        """Until its exit, or for so many seconds (an hour at most): `info.state` says which. A process that writes much waits for a reader."""
        answer = self._connection.ask("GET", "/v1/sandboxes/{id}/processes/{process}/wait", self._places, query={"seconds": seconds}, waits=True)
        self.info = ProcessInfo.from_json(answer.json)
        return self.info

    def write(self, data: Body = b"", *, end: bool = False) -> None:
        """Standard input; `end`: nothing follows. Back when the sandbox has taken it."""
        self._connection.ask("POST", "/v1/sandboxes/{id}/processes/{process}/input", self._places, query={"end": end or None}, body=data, waits=True)

    def signal(self, signal: Union[str, int], *, group: bool = False) -> None:
        """By name (`SIGTERM`) or number; `group`: also to what it has started."""
        self._connection.ask("POST", "/v1/sandboxes/{id}/processes/{process}/signal", self._places, json_body={"signal": signal, "group": group})

    def acknowledge(self, *, stdout: Optional[int] = None, stderr: Optional[int] = None) -> None:
        """All bytes before these are safe here and need not be kept. output() does this by itself."""
        self._connection.ask("POST", "/v1/sandboxes/{id}/processes/{process}/acknowledge", self._places, query={"stdout": stdout, "stderr": stderr})

    def output(self, *, stdout: Optional[int] = None, stderr: Optional[int] = None, patience: float = 30.0) -> Iterator[Chunk]:
        """What it writes, each byte once, until its exit, which is in `info` then.

        A connection that breaks is made again; ConnectionLost only where none holds for `patience` seconds. A piece counts as received when the next
        one is asked for: whoever stops goes on later from there, and whoever has kept offsets says them in `stdout` and `stderr`."""
        at: Dict[str, Optional[int]] = {"stdout": stdout, "stderr": stderr}
        unacknowledged, pause, give_up = 0, 0.0, time.monotonic() + patience
        while True:
            try:
                for line in self._connection.lines("GET", "/v1/sandboxes/{id}/processes/{process}/output", self._places,
                                                   query={**at, "acknowledge": "client"}):
                    pause, give_up = 0.0, time.monotonic() + patience
                    told = json.loads(line)
                    if told["event"] in at:
                        chunk = Chunk(told["event"], told["offset"], bytes_of(told, "data"))
                        if at[chunk.stream] not in (None, chunk.offset):
                            raise CordonError(f"{chunk.stream} goes on at {chunk.offset}, not at {at[chunk.stream]}")
                        yield chunk
                        give_up = time.monotonic() + patience       # whatever the reader has taken is not the node's
                        at[chunk.stream] = chunk.offset + len(chunk.data)
                        unacknowledged += len(chunk.data)
                        if unacknowledged >= ACKNOWLEDGED_EVERY:
                            self.acknowledge(**at)
                            unacknowledged = 0
                    elif told["event"] in ("exit", "failed"):
                        self.info = ProcessInfo.from_json(told["process"])
                        self._acknowledge_last(at)
                        return
                raise ConnectionLost("the stream ended before the process")
            except (ConnectionLost, UnavailableError):
                if time.monotonic() + pause > give_up:
                    raise
                time.sleep(pause)
                pause = min(LONGEST_PAUSE, max(0.05, pause * 2))

    def _acknowledge_last(self, at: Dict[str, Optional[int]]) -> None:
        try:
            self.acknowledge(**at)
        except CordonError:
            pass        # all was received; at worst the node keeps it a little longer
