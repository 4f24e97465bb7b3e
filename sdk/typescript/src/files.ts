// SPDX-License-Identifier: Apache-2.0
// Files of a sandbox that lives. Paths are absolute, inside, without `.` and `..`.
import type { Body, Connection, Path } from './connection.js'
import { bytesOf, readChange, readFileInfo, type FileChange, type FileInfo, type Json, type TreeWritten } from './values.js'

export class Files {
  private readonly places: { id: string }

  constructor(private readonly connection: Connection, sandbox: string) {
    this.places = { id: sandbox }
  }

  async read(path: Path, options: { offset?: number; length?: number } = {}): Promise<Buffer> {
    const query = { path, offset: options.offset, length: options.length }
    return (await this.connection.ask('GET', '/v1/sandboxes/{id}/files', this.places, { query, waits: true })).body
  }

  /** Replaces what was there, or ConflictError with `exclusive`. `mode`: octal digits; `parents`: missing directories are made. */
  async write(path: Path, data: Body, options: { mode?: string; parents?: boolean; exclusive?: boolean } = {}): Promise<void> {
    const query = { path, mode: options.mode, parents: options.parents || undefined, exclusive: options.exclusive || undefined }
    await this.connection.ask('PUT', '/v1/sandboxes/{id}/files', this.places, { query, body: data, waits: true })
  }

  /** A file, or a directory with all below it. */
  async remove(path: Path): Promise<void> {
    await this.connection.ask('DELETE', '/v1/sandboxes/{id}/files', this.places, { query: { path } })
  }

  /** Entries of a directory behind the name `after`, and whether there are more. */
  async page(path: Path, options: { after?: Path; limit?: number } = {}): Promise<{ entries: FileInfo[]; more: boolean }> {
    const query = { path, after: options.after, limit: options.limit }
    const { entries, more } = (await this.connection.ask('GET', '/v1/sandboxes/{id}/files/list', this.places, { query })).json
    return { entries: (entries as Json[]).map(readFileInfo), more }
  }

  /** All entries of a directory, by name, page by page. */
  async *list(path: Path): AsyncGenerator<FileInfo, void, undefined> {
    let after: Path | undefined
    for (;;) {
      const { entries, more } = await this.page(path, { after })
      yield* entries
      const last = entries.at(-1)
      if (!more || !last) return
      after = bytesOf(last.raw, 'name')
    }
  }

  /** A link itself, unless it is to be followed. */
  async stat(path: Path, options: { follow?: boolean } = {}): Promise<FileInfo> {
    const query = { path, follow: options.follow || undefined }
    return readFileInfo((await this.connection.ask('GET', '/v1/sandboxes/{id}/files/stat', this.places, { query })).json)
  }

  async makeDirectory(path: Path, options: { mode?: string; parents?: boolean } = {}): Promise<void> {
    const query = { path, mode: options.mode, parents: options.parents || undefined }
    await this.connection.ask('POST', '/v1/sandboxes/{id}/files/directory', this.places, { query })
  }

  async move(path: Path, to: Path, options: { parents?: boolean; exclusive?: boolean } = {}): Promise<void> {
    const query = { path, to, parents: options.parents || undefined, exclusive: options.exclusive || undefined }
    await this.connection.ask('POST', '/v1/sandboxes/{id}/files/move', this.places, { query })
  }

  /** A directory with all below it, or one file, as an archive. */
  async readTree(path: Path, options: { format?: 'tar' | 'tar.gz' | 'tar.zst' } = {}): Promise<Buffer> {
    const query = { path, format: options.format }
    return (await this.connection.ask('GET', '/v1/sandboxes/{id}/tree', this.places, { query, waits: true })).body
  }

  /** Unpacks a tar, also under gzip or zstd, below a directory. ArchiveError names the entry that tries more. */
  async writeTree(path: Path, archive: Body): Promise<TreeWritten> {
    const raw = (await this.connection.ask('PUT', '/v1/sandboxes/{id}/tree', this.places, { query: { path }, body: archive, waits: true })).json
    return { entries: raw.entries ?? 0, bytes: raw.bytes ?? 0, raw }
  }

  /** What changes, as it changes. The first is `watching`: what changes from then on is told. */
  async *watch(path: Path, options: { recursive?: boolean } = {}): AsyncGenerator<FileChange, void, undefined> {
    const query = { path, recursive: options.recursive || undefined }
    for await (const line of this.connection.lines('GET', '/v1/sandboxes/{id}/files/watch', this.places, query)) {
      yield readChange(JSON.parse(line.toString()))
    }
  }
}
