// SPDX-License-Identifier: Apache-2.0
// Client of Cordon: sandboxes with a policy, and what became of them. `Client` is where to begin.
export { Client, type ClientOptions, type ListOptions, type SandboxOptions, type SandboxPage } from './client.js'
export {
  ApiError, ArchiveError, ConflictError, ConnectionLost, CordonError, DeadlineError, DeniedError, ExhaustedError, GatewayError, InternalError,
  InvalidError, NotFoundError, UnauthenticatedError, UnavailableError, type Problem,
} from './errors.js'
export type { Body, Path } from './connection.js'
export { Files } from './files.js'
export { Process, type OutputOptions } from './process.js'
export { Sandbox, type CommandOptions, type EventOptions } from './sandbox.js'
export { attenuate, revocationId, type Narrowing } from './tokens.js'
export {
  Enforcement, type ApiKey, type AuditRecord, type Chunk, type Denial, type Event, type ExecResult, type Exit, type FileChange, type FileInfo,
  type Health, type Json, type Mechanism, type NodeInfo, type PortAnswer, type ProcessInfo, type RunResult, type SandboxInfo, type TreeWritten,
  type Usage, type Verdict,
} from './values.js'
