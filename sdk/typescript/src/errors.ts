// SPDX-License-Identifier: Apache-2.0
// What can go wrong. Each is a CordonError; what a node refuses is an ApiError of the kind that its code says.
import { readDenial, type Denial, type Json } from './values.js'

/** The base of all errors of this package. */
export class CordonError extends Error {
  override get name(): string {
    return this.constructor.name
  }
}

/** No node is there, or it went away before it had answered: whether the request was done is not known. */
export class ConnectionLost extends CordonError {}

/** One fault of a request: `where` is a line and a column of it. */
export interface Problem {
  readonly where: string
  readonly message: string
}

/** A refusal, as the node said it.
 *
 *  `code` is stable, `detail` says what was tried and which rule says no, `remedy` what to do next. `problems` are all faults of a request,
 *  `denials` what a policy asked for and cannot have; `entry` and `rule` are of an archive. `request` finds the request in the node's log. */
export class ApiError extends CordonError {
  readonly detail: string
  readonly remedy: string
  readonly problems: readonly Problem[]
  readonly denials: readonly Denial[]
  readonly entry: string
  readonly rule: string

  constructor(readonly status: number, readonly code: string, readonly raw: Json, readonly request = '') {
    super(`${code}: ${raw.detail ?? ''}` + (raw.remedy ? `; ${raw.remedy}` : ''))
    this.detail = raw.detail ?? ''
    this.remedy = raw.remedy ?? ''
    this.problems = raw.problems ?? []
    this.denials = (raw.denials ?? []).map(readDenial)
    this.entry = raw.entry ?? ''
    this.rule = raw.rule ?? ''
  }
}

/** The request is wrong: mend it. */
export class InvalidError extends ApiError {}
/** No token, or none that holds. */
export class UnauthenticatedError extends ApiError {}
/** The token, the policy or the sandbox's kernel does not allow it. */
export class DeniedError extends ApiError {}
/** It is not there, or of another tenant. */
export class NotFoundError extends ApiError {}
/** The key or the file is there already. */
export class ConflictError extends ApiError {}
/** An archive is refused, by `rule`, at `entry`. */
export class ArchiveError extends ApiError {}
/** A quota or a limit is reached. */
export class ExhaustedError extends ApiError {}
/** This node cannot do it, now or at all. */
export class UnavailableError extends ApiError {}
/** Nobody listens at that port inside, or what answers there is no HTTP. */
export class GatewayError extends ApiError {}
/** It took too long. */
export class DeadlineError extends ApiError {}
/** A defect of the node; its log has `request`. */
export class InternalError extends ApiError {}

const kinds: Readonly<Record<string, typeof ApiError>> = {
  'CORDON-API-INVALID': InvalidError,
  'CORDON-API-UNAUTHENTICATED': UnauthenticatedError,
  'CORDON-API-DENIED': DeniedError,
  'CORDON-API-NOT-FOUND': NotFoundError,
  'CORDON-API-CONFLICT': ConflictError,
  'CORDON-API-ARCHIVE': ArchiveError,
  'CORDON-API-EXHAUSTED': ExhaustedError,
  'CORDON-API-UNAVAILABLE': UnavailableError,
  'CORDON-AUDIT-UNAVAILABLE': UnavailableError,
  'CORDON-API-BAD-GATEWAY': GatewayError,
  'CORDON-API-TIMEOUT': DeadlineError,
  'CORDON-API-INTERNAL': InternalError,
}

/** Of an answer that refuses. What is no problem document has the code `HTTP-STATUS`. */
export function apiError(status: number, body: Buffer, request: string): ApiError {
  let raw: Json | undefined
  try {
    raw = JSON.parse(body.toString())
  } catch {
    // Said below.
  }
  if (typeof raw?.code !== 'string') return new ApiError(status, `HTTP-${status}`, { detail: body.toString().slice(0, 500) }, request)
  return new (kinds[raw.code] ?? ApiError)(status, raw.code, raw, request)
}
