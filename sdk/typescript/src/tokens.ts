// SPDX-License-Identifier: Apache-2.0
// Narrower tokens, made offline of one that is held (docs/tokens.md, "The format").
import { createHash, createHmac } from 'node:crypto'
import { CordonError } from './errors.js'
import type { Json } from './values.js'

const prefix = 'cdn1_'
const mostCaveats = 32
const longestToken = 8192
const tagBytes = 32
// Both in the order of their numbers.
const operationNames = [
  'sandbox.create', 'sandbox.read', 'sandbox.change', 'sandbox.destroy', 'process.start', 'process.read', 'process.input', 'process.signal',
  'file.read', 'file.write', 'tunnel.open', 'secret.write', 'secret.list', 'secret.delete', 'event.read', 'metrics.read', 'node.read',
  'node.drain', 'token.revoke', 'key.create', 'key.list', 'key.delete', 'audit.read', 'node.configure',
  'sandbox.move',
]
const budgetNames = ['sandboxes', 'creates_per_minute', 'processes', 'milli_cpus', 'memory_bytes', 'disk_bytes', 'egress_bytes']

export interface Narrowing {
  readonly tenant?: string
  readonly operations?: readonly string[]
  readonly sandboxes?: readonly string[]
  readonly path?: string
  readonly budgets?: Readonly<Record<string, number | bigint>>
  readonly expiresInSeconds?: number
  /** A policy that sandboxes stay within. */
  readonly ceiling?: Json
}

/** A token that may do no more than `token`, and no more than is said here. Nobody can take a caveat off again.
 *
 *  What is said is checked for its form alone: a caveat that a node cannot read makes a token that is worth nothing. */
export function attenuate(token: string, to: Narrowing): string {
  const caveats: Buffer[] = []
  const add = (kind: number, ...content: (Buffer | string)[]) => {
    caveats.push(Buffer.concat([byte(kind), ...content.map((each) => Buffer.from(each))]))
  }
  if (to.tenant !== undefined) add(1, to.tenant)
  if (to.operations) add(3, u64(to.operations.reduce((bits, name) => bits | (1n << BigInt(numberOf(operationNames, name))), 0n)))
  if (to.sandboxes) {
    const ids = [...new Set(to.sandboxes)].map((each) => Buffer.from(each)).sort(Buffer.compare)
    add(2, byte(ids.length), ...ids.flatMap((each) => [byte(each.length), each]))
  }
  if (to.path !== undefined) add(4, to.path)
  for (const [name, most] of Object.entries(to.budgets ?? {})) add(6, byte(numberOf(budgetNames, name)), u64(BigInt(most)))
  if (to.expiresInSeconds !== undefined) add(7, u64(BigInt(Math.floor(Date.now() / 1000) + to.expiresInSeconds)))
  if (to.ceiling) add(5, JSON.stringify(to.ceiling))
  if (!caveats.length) throw new CordonError('nothing to narrow: say at least one thing that the token may not')
  return withCaveats(token, caveats)
}

/** What it is taken back by; tells nothing of the token. */
export function revocationId(token: string): string {
  return createHash('sha256').update('cordon revocation\0').update(partsOf(token).tag).digest().subarray(0, 16).toString('hex')
}

function withCaveats(token: string, caveats: readonly Buffer[]): string {
  const { header, count, old, tag } = partsOf(token)
  if (count + caveats.length > mostCaveats) throw new CordonError(`a token has at most ${mostCaveats} caveats`)
  let last = tag
  const added = caveats.flatMap((each) => {
    last = createHmac('sha256', last).update('cordon token caveat\0').update(each).digest()
    return [byte(each.length & 255), byte(each.length >> 8), each]
  })
  const text = prefix + Buffer.concat([header, byte(count + caveats.length), old, ...added, last]).toString('base64url')
  if (text.length > longestToken) throw new CordonError(`a token has at most ${longestToken} characters`)
  return text
}

/** Its header, the number of caveats, their bytes, and its tag. */
function partsOf(token: string): { header: Buffer; count: number; old: Buffer; tag: Buffer } {
  const text = token.trim()
  const binary = Buffer.from(text.slice(prefix.length), 'base64url')
  const head = 4 + (binary[3] ?? 0) + 16 // version, flags, key number, length; audience; random bytes
  if (!/^cdn1_[\w-]+$/.test(text) || binary[0] !== 1 || binary.length < head + 1 + tagBytes) {
    throw new CordonError('this is no token that can be narrowed') // not repeated: it may be nearly one
  }
  const end = binary.length - tagBytes
  return { header: binary.subarray(0, head), count: binary[head] ?? 0, old: binary.subarray(head + 1, end), tag: binary.subarray(end) }
}

function numberOf(names: readonly string[], name: string): number {
  const number = names.indexOf(name)
  if (number < 0) throw new CordonError(`'${name}' is none of ${names.join(', ')}`)
  return number
}

const byte = (value: number) => Buffer.from([value])

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
