// SPDX-License-Identifier: Apache-2.0
// What a node answers, as values. Each keeps the whole of what came in `raw`, also what this version does not know.
import { createHash } from 'node:crypto'

export type Json = Readonly<Record<string, any>>

/** Why it ended: `exit` and `signal` have it in `status`; a limit (`memory`, `wall_time` …) has `limit` and `peak`. */
export interface Verdict {
  readonly ending: string
  readonly status: number
  readonly explanation: string
  readonly limit?: number
  readonly peak?: number
  readonly culprit: string
  readonly raw: Json
}

/** What is absent this node does not count. */
export interface Usage {
  readonly wallMilliseconds: number
  readonly cpuMicroseconds?: number
  readonly memoryPeak?: number
  readonly pidsPeak?: number
  readonly raw: Json
}

/** One fence; `hold` is `held`, `supervised`, `at_launch` or `absent`. */
export interface Mechanism {
  readonly name: string
  readonly hold: string
  readonly detail: string
  readonly raw: Json
}

/** What really held, mechanism by mechanism. */
export class Enforcement implements Iterable<Mechanism> {
  constructor(readonly mechanisms: readonly Mechanism[]) {}

  [Symbol.iterator](): Iterator<Mechanism> {
    return this.mechanisms[Symbol.iterator]()
  }

  /** How a mechanism held; `absent` also where the node does not speak of it. */
  hold(name: string): string {
    return this.mechanisms.find((each) => each.name === name)?.hold ?? 'absent'
  }
}

/** What was refused: `rule` is the place in the policy that says so, `fix` what would allow it. */
export interface Denial {
  readonly code: string
  readonly tried: string
  readonly rule: string
  readonly why: string
  readonly resolved: string
  readonly fix: string
  readonly action: string
  readonly retryable: boolean
  readonly count: number
  readonly raw: Json
}

export interface SandboxInfo {
  readonly id: string
  readonly tenant: string
  readonly state: string
  readonly created: string
  readonly expires: string
  readonly labels: Readonly<Record<string, string>>
  readonly isolation: string
  readonly enforcement: Enforcement
  readonly verdict?: Verdict
  readonly raw: Json
}

/** Either `code` or `signal` is there. */
export interface Exit {
  readonly code?: number
  readonly signal?: number
  readonly cpuMicroseconds: number
  readonly mostMemory: number
  readonly raw: Json
}

/** `state` is `running`, `exited` (with `exit`) or `failed` (with `failure`). */
export interface ProcessInfo {
  readonly number: number
  readonly command: string
  readonly state: string
  readonly pid?: number
  readonly pty: boolean
  readonly failure: string
  readonly exit?: Exit
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly stdoutFrom: number
  readonly stderrFrom: number
  readonly raw: Json
}

/** Of one command in a sandbox of its own. `failure`: it could not be started. `text` is standard output as far as it is UTF-8. */
export interface RunResult {
  readonly id: string
  readonly verdict: Verdict
  readonly failure: string
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly text: string
  readonly usage: Usage
  readonly enforcement: Enforcement
  readonly denials: readonly Denial[]
  readonly raw: Json
}

/** Of one command in a sandbox that lives. `timedOut`, `truncated`: it was killed, for its time or for more than 16 MiB of output. */
export interface ExecResult {
  readonly process: ProcessInfo
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly text: string
  readonly timedOut: boolean
  readonly truncated: boolean
  readonly raw: Json
}

/** A piece of what a process wrote; `offset` counts the bytes of its `stream` before it. */
export interface Chunk {
  readonly stream: 'stdout' | 'stderr'
  readonly offset: number
  readonly data: Buffer
}

/** `event` is its kind (`sandbox.created`, `process.ended`, `denial`, `lost` …); which of the others are there depends on it. */
export interface Event {
  readonly event: string
  readonly cursor: string
  readonly time: string
  readonly tenant: string
  readonly sandbox: string
  readonly process?: number
  readonly pid?: number
  readonly command: string
  readonly code?: number
  readonly signal?: number
  readonly failure: string
  readonly verdict?: Verdict
  readonly denial?: Denial
  readonly count?: number
  readonly raw: Json
}

/** A record as it stands in the log: `line` is its very bytes, `raw` all its fields. `seq` is absent in a line that says what was lost.
 *  `leaf` is its hash in the tree of the log; the record that follows it has this as `prev`. */
export interface AuditRecord {
  readonly line: Buffer
  readonly leaf: string
  readonly event: string
  readonly seq?: number
  readonly timeMilliseconds: number
  readonly prev: string
  readonly tenant: string
  readonly sandbox: string
  readonly raw: Json
}

/** `type` is `file`, `directory`, `link` or `other`; `mode` octal digits. The bytes of a name that is no UTF-8 are in
 *  `raw.name_base64`. */
export interface FileInfo {
  readonly name: string
  readonly type: string
  readonly size: number
  readonly mode: string
  readonly modified: Date
  readonly target: string
  readonly raw: Json
}

/** `event`: `watching` first, then `made`, `changed`, `attributes`, `removed`, `moved_away`, `moved_here`, `lost`; `end` last. */
export interface FileChange {
  readonly event: string
  readonly name: string
  readonly directory: boolean
  readonly move?: number
  readonly raw: Json
}

export interface TreeWritten {
  readonly entries: number
  readonly bytes: number
  readonly raw: Json
}

/** `key` and `e2bKey` are the key itself, in the answer that makes it and nowhere else. */
export interface ApiKey {
  readonly id: string
  readonly key: string
  readonly e2bKey: string
  readonly label: string
  readonly tenant: string
  readonly operator: boolean
  readonly created: string
  readonly expires: string
  readonly caveats: readonly Json[]
  readonly raw: Json
}

/** `status` is `serving`, or `draining`: send new work elsewhere. */
export interface Health {
  readonly status: string
  readonly version: string
  readonly raw: Json
}

export interface NodeInfo {
  readonly name: string
  readonly version: string
  readonly sandboxes: number
  readonly images: readonly string[]
  readonly defaultImage: string
  readonly draining: boolean
  readonly raw: Json
}

/** Of a server inside: as trustworthy as its sandbox. */
export interface PortAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Of a field that is text, or `NAME_base64` where it is no UTF-8. */
export function bytesOf(raw: Json, name: string): Buffer {
  const encoded: string | undefined = raw[`${name}_base64`]
  return encoded === undefined ? Buffer.from(raw[name] ?? '') : Buffer.from(encoded, 'base64')
}

export function readVerdict(raw: Json): Verdict {
  return {
    ending: raw.ending ?? '', status: raw.status ?? 0, explanation: raw.explanation ?? '', limit: raw.limit, peak: raw.peak,
    culprit: raw.culprit ?? '', raw,
  }
}

export function readUsage(raw: Json): Usage {
  return {
    wallMilliseconds: raw.wall_milliseconds ?? 0, cpuMicroseconds: raw.cpu_microseconds, memoryPeak: raw.memory_peak, pidsPeak: raw.pids_peak, raw,
  }
}

export function readEnforcement(raw: readonly Json[] = []): Enforcement {
  return new Enforcement(raw.map((each) => ({ name: each.name ?? '', hold: each.hold ?? '', detail: each.detail ?? '', raw: each })))
}

export function readDenial(raw: Json): Denial {
  return {
    code: raw.code ?? '', tried: raw.tried ?? '', rule: raw.rule ?? '', why: raw.why ?? '', resolved: raw.resolved ?? '', fix: raw.fix ?? '',
    action: raw.action ?? '', retryable: raw.retryable ?? false, count: raw.count ?? 1, raw,
  }
}

export function readSandbox(raw: Json): SandboxInfo {
  return {
    id: raw.id ?? '', tenant: raw.tenant ?? '', state: raw.state ?? '', created: raw.created ?? '', expires: raw.expires ?? '',
    labels: raw.labels ?? {}, isolation: raw.isolation ?? '', enforcement: readEnforcement(raw.enforcement),
    verdict: raw.verdict && readVerdict(raw.verdict), raw,
  }
}

export function readProcess(raw: Json): ProcessInfo {
  const exit: Json | undefined = raw.exit
  return {
    number: raw.process ?? 0, command: raw.command ?? '', state: raw.state ?? '', pid: raw.pid, pty: raw.pty ?? false, failure: raw.failure ?? '',
    exit: exit && { code: exit.code, signal: exit.signal, cpuMicroseconds: exit.cpu_microseconds ?? 0, mostMemory: exit.most_memory ?? 0, raw: exit },
    stdoutBytes: raw.stdout_bytes ?? 0, stderrBytes: raw.stderr_bytes ?? 0, stdoutFrom: raw.stdout_from ?? 0, stderrFrom: raw.stderr_from ?? 0, raw,
  }
}

export function readRun(raw: Json): RunResult {
  const stdout = bytesOf(raw, 'stdout')
  return {
    id: raw.id ?? '', verdict: readVerdict(raw.verdict ?? {}), failure: raw.failure ?? '', stdout, stderr: bytesOf(raw, 'stderr'),
    text: stdout.toString(), usage: readUsage(raw.usage ?? {}), enforcement: readEnforcement(raw.enforcement),
    denials: (raw.denials ?? []).map(readDenial), raw,
  }
}

export function readExec(raw: Json): ExecResult {
  const stdout = bytesOf(raw, 'stdout')
  return {
    process: readProcess(raw.process ?? {}), stdout, stderr: bytesOf(raw, 'stderr'), text: stdout.toString(), timedOut: raw.timed_out ?? false,
    truncated: raw.truncated ?? false, raw,
  }
}

export function readEvent(raw: Json): Event {
  return {
    event: raw.event ?? '', cursor: raw.cursor ?? '', time: raw.time ?? '', tenant: raw.tenant ?? '', sandbox: raw.sandbox ?? '',
    process: raw.process, pid: raw.pid, command: bytesOf(raw, 'command').toString(), code: raw.code, signal: raw.signal, failure: raw.failure ?? '',
    verdict: raw.verdict && readVerdict(raw.verdict), denial: raw.denial && readDenial(raw.denial), count: raw.count, raw,
  }
}

export function readRecord(line: Buffer): AuditRecord {
  const raw: Json = JSON.parse(line.toString())
  return {
    line, leaf: createHash('sha256').update('\0').update(line).digest('hex'), event: raw.event ?? '', seq: raw.seq,
    timeMilliseconds: raw.time_ms ?? 0, prev: raw.prev ?? '', tenant: raw.tenant ?? '', sandbox: raw.sandbox ?? '', raw,
  }
}

export function readFileInfo(raw: Json): FileInfo {
  return {
    name: bytesOf(raw, 'name').toString(), type: raw.type ?? '', size: raw.size ?? 0, mode: raw.mode ?? '',
    modified: new Date((raw.modified_nanoseconds ?? 0) / 1e6), target: bytesOf(raw, 'target').toString(), raw,
  }
}

export function readChange(raw: Json): FileChange {
  return { event: raw.event ?? '', name: bytesOf(raw, 'name').toString(), directory: raw.directory ?? false, move: raw.move, raw }
}

export function readNode(raw: Json): NodeInfo {
  return {
    name: raw.name ?? '', version: raw.version ?? '', sandboxes: raw.sandboxes ?? 0, images: raw.images ?? [],
    defaultImage: raw.default_image ?? '', draining: raw.draining ?? false, raw,
  }
}

export function readKey(raw: Json): ApiKey {
  return {
    id: raw.id ?? '', key: raw.key ?? '', e2bKey: raw.e2b_key ?? '', label: raw.label ?? '', tenant: raw.tenant ?? '',
    operator: raw.operator ?? false, created: raw.created ?? '', expires: raw.expires ?? '', caveats: raw.caveats ?? [], raw,
  }
}
