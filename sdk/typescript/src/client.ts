// SPDX-License-Identifier: Apache-2.0
// A node: one method for each route of api/openapi.yaml.
import type { SecureContextOptions } from 'node:tls'
import { Connection, parseAddress, usualNode } from './connection.js'
import { Sandbox, type CommandOptions, type EventOptions } from './sandbox.js'
import {
  readEvent, readKey, readNode, readRecord, readRun, readSandbox, type ApiKey, type AuditRecord, type Event, type Health, type Json, type NodeInfo,
  type RunResult,
} from './values.js'

export interface ClientOptions {
  /** The path of a socket, `https://HOST:PORT`, or `http://127.0.0.1:PORT`; by default CORDON_NODE, else /run/cordond/cordond.sock. */
  readonly node?: string
  /** A token or an API key; by default CORDON_TOKEN, else none, as root or the node's own user at its socket. */
  readonly token?: string
  /** For whom an operator acts. */
  readonly tenant?: string
  /** Of silence, after which a request is given up, but where a route waits by itself; 60,000 by default, 0 for never. */
  readonly timeoutMilliseconds?: number
  /** Whom to trust (`ca`), and a certificate of one's own (`cert`, `key`). */
  readonly tls?: SecureContextOptions
}

export interface SandboxOptions {
  /** A policy document, as docs/policy.md has it. */
  readonly policy?: Json
  readonly labels?: Readonly<Record<string, string>>
  readonly timeoutSeconds?: number
}

export interface ListOptions {
  readonly labels?: Readonly<Record<string, string>>
  /** Of a page. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string
}

export interface SandboxPage {
  readonly sandboxes: readonly Sandbox[]
  /** There is more; give it as `after`. */
  readonly next?: string
}

export class Client {
  private readonly connection: Connection

  constructor(options: ClientOptions = {}) {
    const { tenant, timeoutMilliseconds = 60_000, tls } = options
    const token = options.token ?? process.env.CORDON_TOKEN?.trim()
    this.connection = new Connection(parseAddress(options.node || process.env.CORDON_NODE || usualNode), { token, tenant, timeoutMilliseconds, tls })
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.connection.close()
  }

  // The node

  /** Needs no token. */
  async health(): Promise<Health> {
    const raw = (await this.connection.ask('GET', '/v1/health', {}, { refuses: false })).json
    return { status: raw.status ?? '', version: raw.version ?? '', raw }
  }

  /** Its name, version, images, how many sandboxes live and whether it takes new ones; for an operator. */
  async node(): Promise<NodeInfo> {
    return readNode((await this.connection.ask('GET', '/v1/node')).json)
  }

  /** It takes no new sandboxes, also after a restart; what lives goes on. For an operator. */
  async drainNode(): Promise<NodeInfo> {
    return readNode((await this.connection.ask('POST', '/v1/node/drain')).json)
  }

  /** It takes new sandboxes again; for an operator. */
  async resumeNode(): Promise<NodeInfo> {
    return readNode((await this.connection.ask('POST', '/v1/node/resume')).json)
  }

  /** New sandboxes are held against this release too (docs/fleet.md), over restarts; for an operator of a node. */
  async putPolicy(release: number, text: Uint8Array | string): Promise<NodeInfo> {
    return readNode((await this.connection.ask('PUT', '/v1/node/policy', {}, { query: { release }, body: text })).json)
  }

  /** New sandboxes are held against the node's own settings alone; for an operator of a node. */
  async dropPolicy(): Promise<NodeInfo> {
    return readNode((await this.connection.ask('DELETE', '/v1/node/policy')).json)
  }

  /** In the text form of Prometheus; for an operator. */
  async metrics(): Promise<string> {
    return (await this.connection.ask('GET', '/metrics')).body.toString()
  }

  // Sandboxes

  /** One command in a sandbox of its own: made, run, collected, gone. */
  async run(command: readonly string[], options: SandboxOptions & CommandOptions = {}): Promise<RunResult> {
    const { policy, labels, timeoutSeconds, environment, directory, input } = options
    const json = { command, policy, labels, timeout_seconds: timeoutSeconds, environment, directory, input }
    return readRun((await this.connection.ask('POST', '/v1/run', {}, { json, waits: true })).json)
  }

  /** The same `idempotencyKey` with the same words gives the sandbox of the first time; with others ConflictError. */
  async createSandbox(options: SandboxOptions & { idempotencyKey?: string } = {}): Promise<Sandbox> {
    const json = { policy: options.policy, labels: options.labels, timeout_seconds: options.timeoutSeconds }
    const fields: Record<string, string> = options.idempotencyKey === undefined ? {} : { 'Idempotency-Key': options.idempotencyKey }
    return this.sandboxOf((await this.connection.ask('POST', '/v1/sandboxes', {}, { json, fields, waits: true })).json)
  }

  /** A page of those that live and have these labels. */
  async listSandboxes(options: ListOptions = {}): Promise<SandboxPage> {
    const labels = Object.fromEntries(Object.entries(options.labels ?? {}).map(([name, value]) => [`label.${name}`, value]))
    const query = { limit: options.limit, after: options.after, ...labels }
    const { sandboxes, next } = (await this.connection.ask('GET', '/v1/sandboxes', {}, { query })).json
    return { sandboxes: (sandboxes as Json[]).map((each) => this.sandboxOf(each)), next }
  }

  /** All of them, page by page. */
  async *sandboxes(options: ListOptions = {}): AsyncGenerator<Sandbox, void, undefined> {
    let after = options.after
    do {
      const page = await this.listSandboxes({ ...options, after })
      yield* page.sandboxes
      after = page.next
    } while (after !== undefined)
  }

  /** NotFoundError where it is not there, or of another tenant. */
  async getSandbox(id: string): Promise<Sandbox> {
    const found = this.sandbox(id)
    await found.refresh()
    return found
  }

  /** One that was made before; nothing is asked. */
  sandbox(id: string): Sandbox {
    return this.sandboxOf({ id })
  }

  // What happened

  /** What is held behind a cursor, and on as it happens. */
  async *events(options: EventOptions = {}): AsyncGenerator<Event, void, undefined> {
    const query = { since: options.since, follow: options.follow === false ? false : undefined }
    for await (const line of this.connection.lines('GET', '/v1/events', {}, query)) yield readEvent(JSON.parse(line.toString()))
  }

  /** Records behind number `since`, and on as they are written, unless `follow` is false. `where`: terms as of `cordon audit query`, with spaces
   *  between them. */
  async *audit(options: { since?: number; where?: string; follow?: boolean } = {}): AsyncGenerator<AuditRecord, void, undefined> {
    const query = { since: options.since, where: options.where, follow: options.follow === false ? false : undefined }
    for await (const line of this.connection.lines('GET', '/v1/audit', {}, query)) yield readRecord(line)
  }

  // Secrets, API keys, tokens

  /** Kept, or replaced; policies name it as `secret:NAME`, and no route shows it. */
  async putSecret(name: string, secret: Uint8Array | string): Promise<void> {
    await this.connection.ask('PUT', '/v1/secrets/{name}', { name }, { body: secret })
  }

  /** Their names. */
  async listSecrets(): Promise<string[]> {
    const { secrets } = (await this.connection.ask('GET', '/v1/secrets')).json
    return (secrets as Json[]).map((each) => each.name)
  }

  /** No request of a sandbox is given it from here on. */
  async deleteSecret(name: string): Promise<void> {
    await this.connection.ask('DELETE', '/v1/secrets/{name}', { name })
  }

  /** No wider than what it is asked for with. `caveats`: objects with one key, like `{ operation: ['sandbox.read'] }`. */
  async createKey(options: { label?: string; operator?: boolean; expiresInSeconds?: number; caveats?: readonly Json[] } = {}): Promise<ApiKey> {
    const json = { label: options.label, operator: options.operator, expires_in_seconds: options.expiresInSeconds, caveats: options.caveats }
    return readKey((await this.connection.ask('POST', '/v1/keys', {}, { json })).json)
  }

  /** Without the keys themselves. */
  async listKeys(): Promise<ApiKey[]> {
    const { keys } = (await this.connection.ask('GET', '/v1/keys')).json
    return (keys as Json[]).map(readKey)
  }

  /** And all that were made with it. */
  async deleteKey(id: string): Promise<void> {
    await this.connection.ask('DELETE', '/v1/keys/{key}', { key: id })
  }

  /** With all that were derived from it. By itself; by its revocation id, for an operator, with how long such tokens live; or the one that asks. */
  async revokeToken(named: { token?: string; id?: string; seconds?: number } = {}): Promise<void> {
    const { token, id, seconds } = named
    const json = token === undefined ? undefined : { token }
    await this.connection.ask('POST', '/v1/tokens/revoke', {}, { query: { id, seconds }, json })
  }

  private sandboxOf(raw: Json): Sandbox {
    return new Sandbox(this.connection, readSandbox(raw))
  }
}
