# SPDX-License-Identifier: Apache-2.0
"""Files of a sandbox that lives. Paths are absolute, inside, without `.` and `..`."""
from __future__ import annotations

import json
from typing import Iterator, List, Mapping, Optional, Tuple

from .connection import Body, Connection
from .values import FileChange, FileInfo, TreeWritten


class Files:
    def __init__(self, connection: Connection, sandbox: str):
        self._connection = connection
        self._places: Mapping[str, str] = {"id": sandbox}

    def read(self, path: str, *, offset: Optional[int] = None, length: Optional[int] = None) -> bytes:
        query = {"path": path, "offset": offset, "length": length}
        return self._connection.ask("GET", "/v1/sandboxes/{id}/files", self._places, query=query, waits=True).body

    def write(self, path: str, data: Body, *, mode: Optional[str] = None, parents: bool = False, exclusive: bool = False) -> None:
        """Replaces what was there, or ConflictError with `exclusive`. `mode`: octal digits; `parents`: missing directories are made."""
        query = {"path": path, "mode": mode, "parents": parents or None, "exclusive": exclusive or None}
        self._connection.ask("PUT", "/v1/sandboxes/{id}/files", self._places, query=query, body=data, waits=True)

    def remove(self, path: str) -> None:
        """A file, or a directory with all below it."""
        self._connection.ask("DELETE", "/v1/sandboxes/{id}/files", self._places, query={"path": path})

    def page(self, path: str, *, after: Optional[str] = None, limit: Optional[int] = None) -> Tuple[List[FileInfo], bool]:
        """Entries of a directory behind the name `after`, and whether there are more."""
        answer = self._connection.ask("GET", "/v1/sandboxes/{id}/files/list", self._places, query={"path": path, "after": after, "limit": limit}).json
        return [FileInfo.from_json(each) for each in answer["entries"]], answer["more"]

    def list(self, path: str) -> Iterator[FileInfo]:
        """All entries of a directory, by name, page by page."""
        after, more = None, True
        while more:
            entries, more = self.page(path, after=after)
            yield from entries
            if not entries:
                return
            after = entries[-1].name

    def stat(self, path: str, *, follow: bool = False) -> FileInfo:
        """A link itself, unless it is to be followed."""
        query = {"path": path, "follow": follow or None}
        return FileInfo.from_json(self._connection.ask("GET", "/v1/sandboxes/{id}/files/stat", self._places, query=query).json)

    def make_directory(self, path: str, *, mode: Optional[str] = None, parents: bool = False) -> None:
        query = {"path": path, "mode": mode, "parents": parents or None}
        self._connection.ask("POST", "/v1/sandboxes/{id}/files/directory", self._places, query=query)

    def move(self, path: str, to: str, *, parents: bool = False, exclusive: bool = False) -> None:
        query = {"path": path, "to": to, "parents": parents or None, "exclusive": exclusive or None}
        self._connection.ask("POST", "/v1/sandboxes/{id}/files/move", self._places, query=query)

    def read_tree(self, path: str, *, format: str = "tar") -> bytes:
        """A directory with all below it, or one file, as `tar`, `tar.gz` or `tar.zst`."""
        return self._connection.ask("GET", "/v1/sandboxes/{id}/tree", self._places, query={"path": path, "format": format}, waits=True).body

    def write_tree(self, path: str, archive: Body) -> TreeWritten:
        """Unpacks a tar, also under gzip or zstd, below a directory. ArchiveError names the entry that tries more."""
        answer = self._connection.ask("PUT", "/v1/sandboxes/{id}/tree", self._places, query={"path": path}, body=archive, waits=True)
        return TreeWritten.from_json(answer.json)

    def watch(self, path: str, *, recursive: bool = False) -> Iterator[FileChange]:
        """What changes, as it changes. The first is `watching`: what changes from then on is told."""
        query = {"path": path, "recursive": recursive or None}
        for line in self._connection.lines("GET", "/v1/sandboxes/{id}/files/watch", self._places, query=query):
            yield FileChange.from_json(json.loads(line))
