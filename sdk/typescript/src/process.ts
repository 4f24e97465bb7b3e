// SPDX-License-Identifier: Apache-2.0
// A process in a sandbox that lives.
import { setTimeout as pauseFor } from 'node:timers/promises'
import type { Body, Connection } from './connection.js'
import { ConnectionLost, CordonError, UnavailableError } from './errors.js'
import { bytesOf, readProcess, type Chunk, type Json, type ProcessInfo } from './values.js'

const acknowledgedEvery = 1 << 18 // a process that is a mebibyte ahead waits
const longestPause = 2_000

export interface OutputOptions {
  /** The first byte that is wanted; by default the first that was not acknowledged. */
  readonly stdout?: number
  readonly stderr?: number
  /** How long to try where no connection holds; 30,000 by default. */
  readonly patienceMilliseconds?: number
}

/** `info` is what was last heard of it. */
export class Process {
  private readonly places: { id: string; process: number }

  constructor(private readonly connection: Connection, sandbox: string, public info: ProcessInfo) {
    this.places = { id: sandbox, process: info.number }
  }

  get number(): number {
    return this.info.number
  }

  async refresh(): Promise<ProcessInfo> {
    const answer = await this.connection.ask('GET', '/v1/sandboxes/{id}/processes/{process}', this.places)
    return (this.info = readProcess(answer.json))
  }

  /** Until its exit, or for so many seconds (an hour at most): `info.state` says which. A process that writes much waits for a reader. */
  async wait(seconds?: number): Promise<ProcessInfo> {
    const answer = await this.connection.ask('GET', '/v1/sandboxes/{id}/processes/{process}/wait', this.places, { query: { seconds }, waits: true })
    return (this.info = readProcess(answer.json))
  }

  /** Standard input; `end`: nothing follows. Back when the sandbox has taken it. */
  async write(data: Body = '', options: { end?: boolean } = {}): Promise<void> {
    const query = { end: options.end || undefined }
    await this.connection.ask('POST', '/v1/sandboxes/{id}/processes/{process}/input', this.places, { query, body: data, waits: true })
  }

  /** By name (`SIGTERM`) or number; `group`: also to what it has started. */
  async signal(signal: string | number, options: { group?: boolean } = {}): Promise<void> {
    const json = { signal, group: options.group ?? false }
    await this.connection.ask('POST', '/v1/sandboxes/{id}/processes/{process}/signal', this.places, { json })
  }

  /** All bytes before these are safe here and need not be kept. output() does this by itself. */
  async acknowledge(at: { stdout?: number; stderr?: number }): Promise<void> {
    const query = { stdout: at.stdout, stderr: at.stderr }
    await this.connection.ask('POST', '/v1/sandboxes/{id}/processes/{process}/acknowledge', this.places, { query })
  }

  /** What it writes, each byte once, until its exit, which is in `info` then.
   *
   *  A connection that breaks is made again; ConnectionLost only where none holds for so long as patience is. A piece counts as received when the
   *  next one is asked for: whoever stops goes on later from there, and whoever has kept offsets says them in `stdout` and `stderr`. */
  async *output(options: OutputOptions = {}): AsyncGenerator<Chunk, void, undefined> {
    const patience = options.patienceMilliseconds ?? 30_000
    const at: { stdout?: number; stderr?: number } = { stdout: options.stdout, stderr: options.stderr }
    let unacknowledged = 0
    let pause = 0
    let giveUp = performance.now() + patience
    for (;;) {
      try {
        const query = { ...at, acknowledge: 'client' }
        for await (const line of this.connection.lines('GET', '/v1/sandboxes/{id}/processes/{process}/output', this.places, query)) {
          pause = 0
          giveUp = performance.now() + patience
          const told: Json = JSON.parse(line.toString())
          if (told.event === 'stdout' || told.event === 'stderr') {
            const chunk: Chunk = { stream: told.event, offset: told.offset, data: bytesOf(told, 'data') }
            const wanted = at[chunk.stream]
            if (wanted !== undefined && wanted !== chunk.offset) throw new CordonError(`${chunk.stream} goes on at ${chunk.offset}, not at ${wanted}`)
            yield chunk
            giveUp = performance.now() + patience // whatever the reader has taken is not the node's
            at[chunk.stream] = chunk.offset + chunk.data.length
            unacknowledged += chunk.data.length
            if (unacknowledged >= acknowledgedEvery) {
              await this.acknowledge(at)
              unacknowledged = 0
            }
          } else if (told.event === 'exit' || told.event === 'failed') {
            this.info = readProcess(told.process)
            // All was received; at worst the node keeps it a little longer.
            await this.acknowledge(at).catch(() => undefined)
            return
          }
        }
        throw new ConnectionLost('the stream ended before the process')
      } catch (error) {
        const passes = error instanceof ConnectionLost || error instanceof UnavailableError
        if (!passes || performance.now() + pause > giveUp) throw error
        await pauseFor(pause)
        pause = Math.min(longestPause, Math.max(50, pause * 2))
      }
    }
  }
}
