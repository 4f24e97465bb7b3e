# SPDX-License-Identifier: Apache-2.0
"""What a node answers, as values. Each keeps the whole of what came in `raw`, also what this version does not know."""
from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field, fields, replace
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Type, TypeVar

Json = Mapping[str, Any]
T = TypeVar("T", bound="Value")


def bytes_of(raw: Json, name: str) -> bytes:
    """Of a field that is text, or `NAME_base64` where it is no UTF-8."""
    encoded = raw.get(f"{name}_base64")
    return base64.b64decode(encoded) if encoded is not None else raw.get(name, "").encode()


def name_of(raw: Json, name: str) -> str:
    """The same for names of files; bytes that are no UTF-8 are kept as Python keeps them in names (surrogateescape)."""
    return bytes_of(raw, name).decode(errors="surrogateescape")


@dataclass(frozen=True)
class Value:
    raw: Json = field(repr=False, compare=False)

    @classmethod
    def from_json(cls: Type[T], raw: Json) -> T:
        return cls(raw=raw, **cls._read(raw))

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {each.name: raw[each.name] for each in fields(cls) if each.name != "raw" and each.name in raw}


@dataclass(frozen=True)
class Problem(Value):
    """One fault of a request: `where` is a line and a column of it."""
    where: str = ""
    message: str = ""


@dataclass(frozen=True)
class Verdict(Value):
    """Why it ended: `exit` and `signal` have it in `status`; a limit (`memory`, `wall_time` …) has `limit` and `peak`."""
    ending: str = ""
    status: int = 0
    explanation: str = ""
    limit: Optional[int] = None
    peak: Optional[int] = None
    culprit: str = ""


@dataclass(frozen=True)
class Usage(Value):
    """None: this node does not count it."""
    wall_milliseconds: int = 0
    cpu_microseconds: Optional[int] = None
    memory_peak: Optional[int] = None
    pids_peak: Optional[int] = None


@dataclass(frozen=True)
class Mechanism(Value):
    """One fence; `hold` is `held`, `supervised`, `at_launch` or `absent`."""
    name: str = ""
    hold: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Enforcement:
    """What really held, mechanism by mechanism."""
    mechanisms: Tuple[Mechanism, ...]

    def __iter__(self) -> Iterator[Mechanism]:
        return iter(self.mechanisms)

    def hold(self, name: str) -> str:
        """How a mechanism held; `absent` also where the node does not speak of it."""
        return next((each.hold for each in self.mechanisms if each.name == name), "absent")

    @classmethod
    def from_json(cls, raw: Any) -> Enforcement:
        return cls(tuple(Mechanism.from_json(each) for each in raw))


@dataclass(frozen=True)
class Denial(Value):
    """What was refused: `rule` is the place in the policy that says so, `fix` what would allow it."""
    code: str = ""
    tried: str = ""
    rule: str = ""
    why: str = ""
    resolved: str = ""
    fix: str = ""
    action: str = ""
    retryable: bool = False
    count: int = 1


@dataclass(frozen=True)
class SandboxInfo(Value):
    id: str = ""
    tenant: str = ""
    state: str = ""
    created: str = ""
    expires: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    isolation: str = ""
    enforcement: Enforcement = Enforcement(())
    verdict: Optional[Verdict] = None

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        parts = super()._read(raw)
        parts["enforcement"] = Enforcement.from_json(raw.get("enforcement", ()))
        parts["verdict"] = Verdict.from_json(raw["verdict"]) if "verdict" in raw else None
        return parts


@dataclass(frozen=True)
class Exit(Value):
    """Either `code` or `signal` is there."""
    code: Optional[int] = None
    signal: Optional[int] = None
    cpu_microseconds: int = 0
    most_memory: int = 0


@dataclass(frozen=True)
class ProcessInfo(Value):
    """`state` is `running`, `exited` (with `exit`) or `failed` (with `failure`)."""
    number: int = 0
    command: str = ""
    state: str = ""
    pid: Optional[int] = None
    pty: bool = False
    failure: str = ""
    exit: Optional[Exit] = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    stdout_from: int = 0
    stderr_from: int = 0

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        parts = super()._read(raw)
        parts["number"] = raw.get("process", 0)
        parts["exit"] = Exit.from_json(raw["exit"]) if "exit" in raw else None
        return parts


@dataclass(frozen=True)
class RunResult(Value):
    """Of one command in a sandbox of its own. `failure`: it could not be started."""
    id: str = ""
    verdict: Optional[Verdict] = None
    failure: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    usage: Optional[Usage] = None
    enforcement: Enforcement = Enforcement(())
    denials: Tuple[Denial, ...] = ()

    @property
    def text(self) -> str:
        """Standard output, as far as it is UTF-8."""
        return self.stdout.decode(errors="replace")

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {**super()._read(raw), "stdout": bytes_of(raw, "stdout"), "stderr": bytes_of(raw, "stderr"),
                "verdict": Verdict.from_json(raw.get("verdict", {})), "usage": Usage.from_json(raw.get("usage", {})),
                "enforcement": Enforcement.from_json(raw.get("enforcement", ())),
                "denials": tuple(Denial.from_json(each) for each in raw.get("denials", ()))}


@dataclass(frozen=True)
class ExecResult(Value):
    """Of one command in a sandbox that lives. `timed_out`, `truncated`: it was killed, for its time or for more than 16 MiB of output."""
    process: ProcessInfo = ProcessInfo(raw={})
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False
    truncated: bool = False

    @property
    def text(self) -> str:
        """Standard output, as far as it is UTF-8."""
        return self.stdout.decode(errors="replace")

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {**super()._read(raw), "stdout": bytes_of(raw, "stdout"), "stderr": bytes_of(raw, "stderr"),
                "process": ProcessInfo.from_json(raw.get("process", {}))}


@dataclass(frozen=True)
class Chunk:
    """A piece of what a process wrote; `offset` counts the bytes of its `stream` (`stdout`, `stderr`) before it."""
    stream: str
    offset: int
    data: bytes


@dataclass(frozen=True)
class Event(Value):
    """`event` is its kind (`sandbox.created`, `process.ended`, `denial`, `lost` …); which of the others are there depends on it."""
    event: str = ""
    cursor: str = ""
    time: str = ""
    tenant: str = ""
    sandbox: str = ""
    process: Optional[int] = None
    pid: Optional[int] = None
    command: str = ""
    code: Optional[int] = None
    signal: Optional[int] = None
    failure: str = ""
    verdict: Optional[Verdict] = None
    denial: Optional[Denial] = None
    count: Optional[int] = None

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        parts = super()._read(raw)
        parts["verdict"] = Verdict.from_json(raw["verdict"]) if "verdict" in raw else None
        parts["denial"] = Denial.from_json(raw["denial"]) if "denial" in raw else None
        parts["command"] = name_of(raw, "command")
        return parts


@dataclass(frozen=True)
class AuditRecord(Value):
    """A record as it stands in the log: `line` is its very bytes, `raw` all its fields. `seq` is None in a line that says what was lost."""
    line: bytes = field(default=b"", repr=False)
    event: str = ""
    seq: Optional[int] = None
    time_ms: int = 0
    prev: str = ""
    tenant: str = ""
    sandbox: str = ""

    @classmethod
    def from_line(cls, line: bytes) -> AuditRecord:
        return replace(cls.from_json(json.loads(line)), line=line)

    @property
    def leaf(self) -> str:
        """Its hash in the tree of the log; the record that follows it has this as `prev`."""
        return hashlib.sha256(b"\0" + self.line).hexdigest()


@dataclass(frozen=True)
class FileInfo(Value):
    """`type` is `file`, `directory`, `link` or `other`; `mode` octal digits."""
    name: str = ""
    type: str = ""
    size: int = 0
    mode: str = ""
    modified_nanoseconds: int = 0
    target: str = ""

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {**super()._read(raw), "name": name_of(raw, "name"), "target": name_of(raw, "target")}


@dataclass(frozen=True)
class FileChange(Value):
    """`event`: `watching` first, then `made`, `changed`, `attributes`, `removed`, `moved_away`, `moved_here`, `lost`; `end` last."""
    event: str = ""
    name: str = ""
    directory: bool = False
    move: Optional[int] = None

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {**super()._read(raw), "name": name_of(raw, "name")}


@dataclass(frozen=True)
class TreeWritten(Value):
    entries: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class ApiKey(Value):
    """`key` and `e2b_key` are the key itself, in the answer that makes it and nowhere else."""
    id: str = ""
    key: str = field(default="", repr=False)
    e2b_key: str = field(default="", repr=False)
    label: str = ""
    tenant: str = ""
    operator: bool = False
    created: str = ""
    expires: str = ""
    caveats: Tuple[Json, ...] = ()

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {**super()._read(raw), "caveats": tuple(raw.get("caveats", ()))}


@dataclass(frozen=True)
class Health(Value):
    """`status` is `serving`, or `draining`: send new work elsewhere."""
    status: str = ""
    version: str = ""


@dataclass(frozen=True)
class NodeInfo(Value):
    name: str = ""
    version: str = ""
    sandboxes: int = 0
    images: Tuple[str, ...] = ()
    default_image: str = ""
    draining: bool = False

    @classmethod
    def _read(cls, raw: Json) -> Dict[str, Any]:
        return {**super()._read(raw), "images": tuple(raw.get("images", ()))}


@dataclass(frozen=True)
class PortAnswer:
    """Of a server inside: as trustworthy as its sandbox. `headers` has names in small letters; of a name that comes twice the last."""
    status: int
    headers: Mapping[str, str]
    body: bytes
