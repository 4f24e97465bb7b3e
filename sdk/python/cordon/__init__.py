# SPDX-License-Identifier: Apache-2.0
"""Client of Cordon: sandboxes with a policy, and what became of them. `Client` is where to begin."""
from .client import Client, SandboxPage
from .errors import (ApiError, ArchiveError, ConflictError, ConnectionLost, CordonError, DeadlineError, DeniedError, ExhaustedError, GatewayError,
                     InternalError, InvalidError, NotFoundError, UnauthenticatedError, UnavailableError)
from .files import Files
from .process import Process
from .sandbox import Sandbox
from .tokens import attenuate, revocation_id
from .values import (ApiKey, AuditRecord, Chunk, Denial, Enforcement, Event, ExecResult, Exit, FileChange, FileInfo, Health, Mechanism, NodeInfo,
                     PortAnswer, Problem, ProcessInfo, RunResult, SandboxInfo, TreeWritten, Usage, Verdict)

__version__ = "0.1.0"
__all__ = ["Client", "SandboxPage", "ApiError", "ArchiveError", "ConflictError", "ConnectionLost", "CordonError", "DeadlineError", "DeniedError",
           "ExhaustedError", "GatewayError", "InternalError", "InvalidError", "NotFoundError", "UnauthenticatedError", "UnavailableError", "Files",
           "Process", "Sandbox", "attenuate", "revocation_id", "ApiKey", "AuditRecord", "Chunk", "Denial", "Enforcement", "Event", "ExecResult",
           "Exit", "FileChange", "FileInfo", "Health", "Mechanism", "NodeInfo", "PortAnswer", "Problem", "ProcessInfo", "RunResult", "SandboxInfo",
           "TreeWritten", "Usage", "Verdict"]
