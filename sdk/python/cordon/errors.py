# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Each is a CordonError; what a node refuses is an ApiError of the kind that its code says."""
from __future__ import annotations

import json
from typing import Any, Mapping, Tuple

from .values import Denial, Problem


class CordonError(Exception):
    """The base of all errors of this package."""


class ConnectionLost(CordonError):
    """No node is there, or it went away before it had answered: whether the request was done is not known."""


class ApiError(CordonError):
    """A refusal, as the node said it.

    `code` is stable, `detail` says what was tried and which rule says no, `remedy` what to do next. `problems` are all faults of a request,
    `denials` what a policy asked for and cannot have; `entry` and `rule` are of an archive. `request` finds the request in the node's log."""

    def __init__(self, status: int, code: str, detail: str, remedy: str = "", request: str = "", raw: Mapping[str, Any] = {}):
        super().__init__(f"{code}: {detail}" + (f"; {remedy}" if remedy else ""))
        self.status, self.code, self.detail, self.remedy, self.request, self.raw = status, code, detail, remedy, request, dict(raw)
        self.problems: Tuple[Problem, ...] = tuple(Problem.from_json(each) for each in self.raw.get("problems", ()))
        self.denials: Tuple[Denial, ...] = tuple(Denial.from_json(each) for each in self.raw.get("denials", ()))
        self.entry: str = self.raw.get("entry", "")
        self.rule: str = self.raw.get("rule", "")


class InvalidError(ApiError):
    """The request is wrong: mend it."""


class UnauthenticatedError(ApiError):
    """No token, or none that holds."""


class DeniedError(ApiError):
    """The token, the policy or the sandbox's kernel does not allow it."""


class NotFoundError(ApiError):
    """It is not there, or of another tenant."""


class ConflictError(ApiError):
    """The key or the file is there already."""


class ArchiveError(ApiError):
    """An archive is refused, by `rule`, at `entry`."""


class ExhaustedError(ApiError):
    """A quota or a limit is reached."""


class UnavailableError(ApiError):
    """This node cannot do it, now or at all."""


class GatewayError(ApiError):
    """Nobody listens at that port inside, or what answers there is no HTTP."""


class DeadlineError(ApiError):
    """It took too long."""


class InternalError(ApiError):
    """A defect of the node; its log has `request`."""


KINDS = {
    "CORDON-API-INVALID": InvalidError,
    "CORDON-API-UNAUTHENTICATED": UnauthenticatedError,
    "CORDON-API-DENIED": DeniedError,
    "CORDON-API-NOT-FOUND": NotFoundError,
    "CORDON-API-CONFLICT": ConflictError,
    "CORDON-API-ARCHIVE": ArchiveError,
    "CORDON-API-EXHAUSTED": ExhaustedError,
    "CORDON-API-UNAVAILABLE": UnavailableError,
    "CORDON-AUDIT-UNAVAILABLE": UnavailableError,
    "CORDON-API-BAD-GATEWAY": GatewayError,
    "CORDON-API-TIMEOUT": DeadlineError,
    "CORDON-API-INTERNAL": InternalError,
}


def api_error(status: int, body: bytes, request: str = "") -> ApiError:
    """Of an answer that refuses. What is no problem document has the code `HTTP-STATUS`."""
    try:
        raw = json.loads(body)
        code = raw["code"]
        return KINDS.get(code, ApiError)(status, code, raw.get("detail", ""), raw.get("remedy", ""), request, raw)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiError(status, f"HTTP-{status}", body[:500].decode(errors="replace"), "", request)
