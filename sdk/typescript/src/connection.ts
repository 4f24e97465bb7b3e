// SPDX-License-Identifier: Apache-2.0
// Requests to one node, over its Unix socket or over TCP, on connections that are kept.
import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { SecureContextOptions } from 'node:tls'
import { apiError, ConnectionLost, CordonError } from './errors.js'
import type { Json } from './values.js'

export const usualNode = '/run/cordond/cordond.sock'

export type Body = Uint8Array | string | AsyncIterable<Uint8Array> | Readable

/** Either a path, or a host and a port. */
export interface Address {
  readonly path?: string
  readonly host?: string
  readonly port?: number
  readonly isTls?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
  readonly json: Json
}

/** Of a file inside: bytes where it is no UTF-8. */
export type Path = string | Uint8Array

type Query = Readonly<Record<string, Path | number | boolean | undefined>>
type Places = Readonly<Record<string, string | number>>

/** `waits`: the node says when it is over, however long it takes. `refuses`: false takes a refusal as an answer. */
interface Asked {
  readonly query?: Query
  readonly body?: Body
  readonly json?: Json
  readonly fields?: Readonly<Record<string, string>>
  readonly waits?: boolean
  readonly refuses?: boolean
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** A path, `unix:PATH`, `https://HOST[:PORT]`, or `http://` at this machine: elsewhere a token would go for all on the way to read. */
export function parseAddress(text: string): Address {
  if (!/^https?:\/\//.test(text)) {
    const path = text.replace(/^unix:/, '').replace(/^\/+/, '/')
    if (!path || path.includes('://')) {
      throw new CordonError(`the node '${text}': expected the path of a socket, https://HOST or http://127.0.0.1:PORT`)
    }
    return { path }
  }
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new CordonError(`the node '${text}': no URL`)
  }
  if (url.pathname !== '/' || url.search || url.username || url.password) {
    throw new CordonError(`the node '${text}': expected a host and a port, and nothing behind them`)
  }
  const isTls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (!isTls && !isLoopback(host)) {
    throw new CordonError(`the node '${text}': without TLS a token can be read on the way; use https://, or bring its socket here with ssh -L`)
  }
  return { host, port: Number(url.port) || (isTls ? 443 : 80), isTls }
}

const words = (address: Address) => address.path ?? `${address.isTls ? 'https' : 'http'}://${address.host}:${address.port}`

const percented = (value: Path | number | boolean | undefined) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex').replace(/../g, '%$&') : encodeURIComponent(`${value}`)

/** A route of openapi.yaml with its places filled; of the query what is defined. `{path...}` goes as it is, with a query of its own. */
function targetOf(route: string, places: Places, query: Query): string {
  const filled = route.replace(/\{([^}]+)\}/g, (_, name: string) => (name === 'path...' ? `${places[name]}` : encodeURIComponent(`${places[name]}`)))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return filled + (given.length ? '?' + given.map(([name, value]) => `${encodeURIComponent(name)}=${percented(value)}`).join('&') : '')
}

export interface ConnectionOptions {
  readonly token?: string
  readonly tenant?: string
  readonly timeoutMilliseconds: number
  readonly tls?: SecureContextOptions
}

export class Connection {
  private readonly fields: Record<string, string> = {}
  private readonly agent: http.Agent

  constructor(readonly address: Address, private readonly options: ConnectionOptions) {
    if (options.token) {
      if (!/^[!-~]+$/.test(options.token)) throw new CordonError('this is no token and no API key') // not repeated: it may be nearly one
      this.fields['Authorization'] = `Bearer ${options.token}`
    }
    if (options.tenant) this.fields['Cordon-Tenant'] = options.tenant
    this.agent = address.isTls ? new https.Agent({ keepAlive: true, ...options.tls }) : new http.Agent({ keepAlive: true })
  }

  /** An answer as a whole; rejected with an ApiError where it refuses. */
  async ask(method: string, route: string, places: Places = {}, asked: Asked = {}): Promise<Answer> {
    const response = await this.send(method, targetOf(route, places, asked.query ?? {}), asked, this.agent)
    const body = await whole(response, `${method} ${route}`)
    const status = response.statusCode ?? 0
    if (asked.refuses !== false && status >= 400) throw apiError(status, body, requestOf(response))
    return { status, headers: response.headers, body, get json() { return JSON.parse(body.toString()) } }
  }

  /** Lines as they come, without their newlines; rejected with ConnectionLost where they break off. */
  async *lines(method: string, route: string, places: Places = {}, query: Query = {}): AsyncGenerator<Buffer, void, undefined> {
    const response = await this.send(method, targetOf(route, places, query), { waits: true }, false)
    try {
      if ((response.statusCode ?? 0) >= 400) throw apiError(response.statusCode ?? 0, await whole(response, route), requestOf(response))
      let rest: Buffer[] = []
      for await (const piece of pieces(response, `${method} ${route}`)) {
        let from = 0
        for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
          yield Buffer.concat([...rest, piece.subarray(from, end)])
          rest = []
          from = end + 1
        }
        if (from < piece.length) rest.push(piece.subarray(from))
      }
      if (rest.length) throw new ConnectionLost(`${method} ${route}: the last line broke off`)
    } finally {
      response.destroy()
    }
  }

  /** Ends what is kept; a request after it opens anew. */
  close(): void {
    this.agent.destroy()
  }

  private send(method: string, path: string, asked: Asked, agent: http.Agent | false): Promise<http.IncomingMessage> {
    const { path: socketPath, host, port, isTls } = this.address
    const headers: Record<string, string> = { ...this.fields, ...asked.fields }
    let body = asked.body
    if (asked.json !== undefined) {
      body = JSON.stringify(asked.json)
      headers['Content-Type'] = 'application/json'
    }
    const at = socketPath === undefined ? { host, port } : { socketPath, host: 'localhost' }
    const timeout = asked.waits ? 0 : this.options.timeoutMilliseconds
    return new Promise((done, failed) => {
      const options = { ...at, method, path, headers, agent, ...(isTls ? this.options.tls : {}) }
      const request = isTls ? https.request(options) : http.request(options)
      request.on('response', done)
      request.on('error', (cause) => failed(new ConnectionLost(this.lost(method, path, cause), { cause })))
      // A peer that vanished without a word ends a wait, too.
      request.on('socket', (socket) => socket.setKeepAlive(true, 60_000))
      if (timeout) request.setTimeout(timeout, () => request.destroy(new Error(`no word for ${timeout} ms`)))
      if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
        if (body !== undefined) request.setHeader('Content-Length', Buffer.byteLength(body))
        request.end(body)
      } else {
        pipeline(Readable.from(body), request).catch((cause) => failed(new ConnectionLost(this.lost(method, path, cause), { cause })))
      }
    })
  }

  private lost(method: string, path: string, cause: Error & { code?: string; syscall?: string }): string {
    const what = cause.message || cause.code || 'gone' // of several addresses it has no message
    if (cause.syscall === 'connect') return `no node at ${words(this.address)}: ${what}; start cordond, or say where it is: node, or CORDON_NODE`
    return `${words(this.address)}: ${method} ${path.replace(/\?.*/, '')}: ${what}`
  }
}

const requestOf = (response: http.IncomingMessage) => `${response.headers['cordon-request'] ?? ''}`

async function* pieces(response: http.IncomingMessage, doing: string): AsyncGenerator<Buffer, void, undefined> {
  const iterator = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    let next: IteratorResult<Buffer>
    try {
      next = await iterator.next()
    } catch (cause) {
      throw new ConnectionLost(`${doing}: the answer broke off: ${(cause as Error).message}`, { cause })
    }
    if (next.done) return
    yield next.value
  }
}

async function whole(response: http.IncomingMessage, doing: string): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces(response, doing)) all.push(piece)
  return Buffer.concat(all)
}
