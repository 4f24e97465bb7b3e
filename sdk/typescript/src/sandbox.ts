// SPDX-License-Identifier: Apache-2.0
// A sandbox that lives until it is deleted or its time is over.
import type { Body, Connection } from './connection.js'
import { Files } from './files.js'
import { Process } from './process.js'
import {
  readEvent, readExec, readProcess, readSandbox, type Event, type ExecResult, type Json, type PortAnswer, type SandboxInfo,
} from './values.js'

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly directory?: string
  /** All of standard input of a run; the beginning of it where a process is started. */
  readonly input?: string
}

export interface EventOptions {
  /** The cursor of the last event that is had. */
  readonly since?: string
  /** False: what is held, and no more. */
  readonly follow?: boolean
}

/** `info` is what was last heard of it. */
export class Sandbox {
  readonly files: Files
  private readonly places: { id: string }

  constructor(private readonly connection: Connection, public info: SandboxInfo) {
    this.places = { id: info.id }
    this.files = new Files(connection, info.id)
  }

  get id(): string {
    return this.places.id
  }

  /** For a day also after its end, with its verdict. */
  async refresh(): Promise<SandboxInfo> {
    return (this.info = readSandbox((await this.connection.ask('GET', '/v1/sandboxes/{id}', this.places)).json))
  }

  /** `policy` narrows what it may, and never widens; `labels` replace those before; `timeoutSeconds` counts from now. */
  async change(change: { policy?: Json; labels?: Record<string, string>; timeoutSeconds?: number }): Promise<SandboxInfo> {
    const json = { policy: change.policy, labels: change.labels, timeout_seconds: change.timeoutSeconds }
    return (this.info = readSandbox((await this.connection.ask('PATCH', '/v1/sandboxes/{id}', this.places, { json })).json))
  }

  /** Back when nothing of it is left; its verdict is in what comes back. */
  async delete(): Promise<SandboxInfo> {
    return (this.info = readSandbox((await this.connection.ask('DELETE', '/v1/sandboxes/{id}', this.places, { waits: true })).json))
  }

  /** One command with all that it writes, killed when `seconds` are over. */
  async run(command: readonly string[], options: CommandOptions & { seconds?: number } = {}): Promise<ExecResult> {
    const { seconds, environment, directory, input } = options
    const json = { command, environment, directory, input }
    return readExec((await this.connection.ask('POST', '/v1/sandboxes/{id}/run', this.places, { query: { seconds }, json, waits: true })).json)
  }

  /** Back when it runs. `pty` is a terminal in place of three streams. */
  async start(command: readonly string[], options: CommandOptions & { pty?: { rows?: number; cols?: number } } = {}): Promise<Process> {
    const { environment, directory, input, pty } = options
    const json = { command, environment, directory, input, pty }
    return this.processOf((await this.connection.ask('POST', '/v1/sandboxes/{id}/processes', this.places, { json })).json)
  }

  /** Also those that have ended, of which the last 64 are remembered. */
  async processes(): Promise<Process[]> {
    const { processes } = (await this.connection.ask('GET', '/v1/sandboxes/{id}/processes', this.places)).json
    return (processes as Json[]).map((each) => this.processOf(each))
  }

  /** One that was started before, by whoever; nothing is asked. */
  process(number: number): Process {
    return this.processOf({ process: number })
  }

  /** To a server inside, at a port that `network.ingress` of the policy lists; `path` with its query. Whatever status comes is an answer: a refusal
   *  of the node has the type application/problem+json, which a server inside can say too. */
  async request(port: number, method: string, path: string, options: { body?: Body; headers?: Record<string, string> } = {}): Promise<PortAnswer> {
    const places = { ...this.places, port, 'path...': path.replace(/^\/+/, '') }
    const asked = { body: options.body, fields: options.headers, waits: true, refuses: false }
    const { status, headers, body } = await this.connection.ask(method, '/v1/sandboxes/{id}/ports/{port}/{path...}', places, asked)
    return { status, headers, body }
  }

  /** What happens to it, until its end. */
  async *events(options: EventOptions = {}): AsyncGenerator<Event, void, undefined> {
    const query = { since: options.since, follow: options.follow === false ? false : undefined }
    for await (const line of this.connection.lines('GET', '/v1/sandboxes/{id}/events', this.places, query)) {
      yield readEvent(JSON.parse(line.toString()))
    }
  }

  private processOf(raw: Json): Process {
    return new Process(this.connection, this.id, readProcess(raw))
  }
}
