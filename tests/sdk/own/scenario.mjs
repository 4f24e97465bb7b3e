// SPDX-License-Identifier: Apache-2.0
// What Cordon's own SDK for TypeScript is for, against a node: `node scenario.mjs [NAME...]`; without names all. scenario.py has the same steps in
// the same order. run.py says in variables where the node is, and what else there is, and has compiled the package to where it is found.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import {
  ApiError, ArchiveError, attenuate, Client, ConflictError, ConnectionLost, CordonError, DeniedError, InvalidError, NotFoundError, revocationId,
  UnauthenticatedError,
} from 'cordon-sandbox'
import { Connection } from './node_modules/cordon-sandbox/dist/connection.js'

const env = process.env
const python = env.CORDON_TEST_PYTHON
const bare = { PYTHONDONTWRITEBYTECODE: '1' }
const tls = env.CORDON_TEST_AUTHORITY ? { ca: readFileSync(env.CORDON_TEST_AUTHORITY) } : undefined
const asked = [] // method and route of each request, in their order

for (const name of ['ask', 'lines']) {
  const plain = Connection.prototype[name]
  Connection.prototype[name] = function noted(method, route, ...more) {
    asked.push([method, route])
    return plain.call(this, method, route, ...more)
  }
}

const client = (how = {}) => new Client({ tenant: env.CORDON_TEST_TENANT, tls, ...how })
const operator = () => new Client({ token: env.CORDON_TEST_OPERATOR, tls })
const bearer = (token) => new Client({ token, tls })

// The error that an act is refused with.
async function refused(kind, act) {
  try {
    await act()
  } catch (error) {
    if (error instanceof kind) return error
    throw error
  }
  throw new assert.AssertionError({ message: `not refused with ${kind.name}` })
}

// All that an iterator gives.
async function all(iterator) {
  const found = []
  for await (const each of iterator) found.push(each)
  return found
}

// The first that fits; the rest is not asked for.
async function first(iterator, fits = () => true) {
  for await (const each of iterator) if (fits(each)) return each
  throw new assert.AssertionError({ message: 'nothing of this kind came' })
}

// A sandbox of the step's own, gone at its end.
async function inside(node, options, act) {
  const sandbox = await node.createSandbox(options)
  try {
    await act(sandbox)
  } finally {
    await sandbox.delete()
  }
}

const text = (chunks) => Buffer.concat(chunks.map((each) => each.data)).toString()

const steps = {
  async the_node_tells_what_it_is() {
    const node = operator()
    assert.equal((await node.health()).status, 'serving')
    const { name, defaultImage } = await node.node()
    assert.deepEqual([name, defaultImage], ['node', 'small'])
    assert.match(await node.metrics(), /cordon_sandboxes_created_total/)
    node.close()
  },

  async a_node_is_looked_after() {
    const node = operator()
    const tenant = client()
    assert.equal((await node.drainNode()).draining, true)
    const error = await refused(CordonError, () => tenant.run(['true']))
    assert.deepEqual([error.status, error.code], [503, 'CORDON-NODE-DRAINING'])
    assert.equal((await node.resumeNode()).draining, false)
    assert.equal((await tenant.run(['true'])).verdict.status, 0)
    await refused(CordonError, () => node.putPolicy(1, 'nonsense'))
    assert.equal((await node.putPolicy(1, '[ceiling.network]\nmode = "none"\n')).raw.policy.release, 1)
    assert.equal((await node.dropPolicy()).raw.policy.release, 0)
    tenant.close()
    node.close()
  },

  async a_policy_is_enforced() {
    const writes = ['sh', '-c', 'echo word > file && cat file']
    const node = client()
    let run = await node.run(writes, { policy: { filesystem: { mode: 'read_only' } } })
    assert.equal(run.denials.length, 1)
    const [denial] = run.denials
    assert.notEqual(run.verdict.status, 0)
    assert.deepEqual([denial.code, denial.resolved, denial.retryable], ['CORDON-FS-WRITE', '/workspace/file', false])
    assert.match(denial.rule, /^request:/)
    assert.match(denial.fix, /read_write/)
    assert.match(denial.why, /read_only/)
    // The counter-arm: with the rule it works.
    run = await node.run(writes, { policy: { filesystem: { mode: 'read_write' } } })
    assert.deepEqual([run.verdict.status, run.text, run.denials], [0, 'word\n', []])
    // A name that no rule has is not even looked up.
    const code = "import socket; socket.create_connection(('blocked.example.com', 443), 5)"
    run = await node.run([python, '-c', code], { environment: bare, policy: { network: { egress_allowlist: ['allowed.example.com:443'] } } })
    const named = run.denials.find((each) => each.code === 'CORDON-NET-NAME')
    assert.match(named.tried, /blocked\.example\.com/)
    assert.match(named.fix, /egress_allowlist/)
    node.close()
  },

  async enforcement_is_told() {
    const node = client()
    const { enforcement } = await node.run(['true'], { policy: { resources: { open_files: 64 } } })
    const holds = ['seccomp', 'open_files', 'io', 'nothing like it'].map((name) => enforcement.hold(name))
    assert.deepEqual(holds, ['held', 'held', 'absent', 'absent'])
    assert.equal([...enforcement].find((each) => each.name === 'seccomp').detail, 'strict')
    await inside(node, {}, async ({ info }) => {
      assert.deepEqual([info.isolation, info.enforcement.hold('network')], ['process', 'held'])
    })
    node.close()
  },

  async verdicts() {
    const node = client()
    let run = await node.run(['sh', '-c', 'cat; echo e >&2; exit 3'], { input: 'in' })
    assert.deepEqual([run.verdict.ending, run.verdict.status, `${run.stdout}`, `${run.stderr}`], ['exit', 3, 'in', 'e\n'])
    assert(run.usage.wallMilliseconds >= 0 && run.usage.memoryPeak)
    run = await node.run(['sh', '-c', 'kill -9 $$'])
    assert.deepEqual([run.verdict.ending, run.verdict.status], ['signal', 9])
    run = await node.run(['sleep', '60'], { timeoutSeconds: 1 })
    assert.deepEqual([run.verdict.ending, run.verdict.limit], ['wall_time', 1])
    assert.match((await node.run(['/nowhere'])).failure, /No such file/)
    assert.deepEqual((await node.run(['printf', '\\377\\000'])).stdout, Buffer.from([255, 0]))
    node.close()
  },

  async processes() {
    const node = client()
    await inside(node, {}, async (sandbox) => {
      const run = await sandbox.run(['sh', '-c', 'cat; pwd; echo $A'], { input: 'in ', environment: { A: 'b' }, directory: '/tmp' })
      assert.deepEqual([run.text, run.process.exit.code], ['in /tmp\nb\n', 0])
      const late = await sandbox.run(['sleep', '60'], { seconds: 1 })
      assert.deepEqual([late.timedOut, late.process.exit.signal], [true, 9])
      const cat = await sandbox.start(['cat'], { input: 'one ' })
      await cat.write('two ')
      await cat.write(Readable.from([Buffer.from('thr'), Buffer.from('ee')]), { end: true })
      assert.equal((await cat.wait()).exit.code, 0)
      assert.equal(text(await all(cat.output())), 'one two three')
      const sleeper = await sandbox.start(['sleep', '100'])
      assert.equal((await sandbox.process(sleeper.number).refresh()).state, 'running')
      assert.equal((await sleeper.wait(0)).state, 'running')
      await sleeper.signal('SIGTERM')
      assert.equal((await sleeper.wait()).exit.signal, 15)
      assert.equal((await sandbox.processes()).at(-1).number, sleeper.number)
    })
    node.close()
  },

  async output_survives_broken_connections() {
    const size = 3_000_000
    const line = '0123456789abcdef\n'
    const node = client()
    const cut = client({ node: env.CORDON_TEST_CUT })
    await inside(node, {}, async (sandbox) => {
      const made = await sandbox.start(['sh', '-c', `yes 0123456789abcdef | head -c ${size}; echo last >&2; exit 3`])
      let process = cut.sandbox(sandbox.id).process(made.number)
      const before = asked.length
      const digest = createHash('sha256')
      let got = 0
      let errors = ''
      for await (const chunk of process.output()) {
        if (chunk.stream === 'stderr') {
          errors += chunk.data
          continue
        }
        assert.equal(chunk.offset, got)
        digest.update(chunk.data)
        got += chunk.data.length
      }
      const wanted = createHash('sha256').update(line.repeat(size / line.length + 1).slice(0, size)).digest('hex')
      assert.deepEqual([got, digest.digest('hex'), errors, process.info.exit.code], [size, wanted, 'last\n', 3])
      const opened = asked.slice(before).filter(([, route]) => route.endsWith('/output')).length
      assert(opened > 3, `opened ${opened} times: no connection broke`)
      // Who stops in the middle goes on where it was.
      process = await sandbox.start(['sh', '-c', 'seq 1 200000'])
      const { data } = await first(process.output())
      const again = text(await all(process.output({ stdout: data.length })))
      assert(data + again === Array.from({ length: 200_000 }, (_, number) => `${number + 1}\n`).join(''), 'read in two parts')
    })
    cut.close()
    node.close()
  },

  async files_go_in_and_come_out() {
    const data = Buffer.alloc(256 * 4000, Buffer.from(Array.from({ length: 256 }, (_, value) => value)))
    const node = client()
    await inside(node, {}, async ({ files }) => {
      await files.write('/workspace/d/a b?.bin', data, { parents: true, mode: '0640' })
      assert(data.equals(await files.read('/workspace/d/a b?.bin')), 'bytes that came back')
      assert.deepEqual(await files.read('/workspace/d/a b?.bin', { offset: 250, length: 10 }), data.subarray(250, 260))
      const entry = await files.stat('/workspace/d/a b?.bin')
      assert.deepEqual([entry.name, entry.type, entry.size, entry.mode], ['a b?.bin', 'file', data.length, '0640'])
      assert(Math.abs(Date.now() - entry.modified) < 3_600_000, `${entry.modified}`)
      await refused(ConflictError, () => files.write('/workspace/d/a b?.bin', '', { exclusive: true }))
      await files.makeDirectory('/workspace/d/sub')
      await files.move('/workspace/d/a b?.bin', '/workspace/d/sub/moved')
      await files.write('/workspace/d/z', Readable.from([Buffer.from('in '), Buffer.from('pieces')]))
      const listed = (await all(files.list('/workspace/d'))).map((each) => [each.name, each.type])
      assert.deepEqual(listed, [['sub', 'directory'], ['z', 'file']])
      const { entries, more } = await files.page('/workspace/d', { limit: 1 })
      assert.deepEqual([entries[0].name, more], ['sub', true])
      for (const format of ['tar', 'tar.gz']) {
        const written = await files.writeTree(`/workspace/copy.${format}`, await files.readTree('/workspace/d', { format }))
        assert.deepEqual([written.bytes, data.equals(await files.read(`/workspace/copy.${format}/sub/moved`))], [data.length + 9, true])
      }
      const error = await refused(ArchiveError, () => files.writeTree('/workspace/e', readFileSync(env.CORDON_TEST_ARCHIVE)))
      assert.deepEqual([error.entry, error.rule], ['../x', 'unsafe_path'])
      const changes = files.watch('/workspace/d', { recursive: true })
      assert.equal((await changes.next()).value.event, 'watching')
      await files.remove('/workspace/d/sub')
      assert.equal((await first(changes, (each) => each.event === 'removed' && each.directory)).name, 'sub')
      await refused(NotFoundError, () => files.stat('/workspace/d/sub'))
    })
    node.close()
  },

  async the_same_key_gives_the_same_sandbox() {
    const key = randomBytes(8).toString('hex')
    const node = client()
    await inside(node, { labels: { a: '1' }, idempotencyKey: key }, async ({ id }) => {
      assert.equal((await node.createSandbox({ labels: { a: '1' }, idempotencyKey: key })).id, id)
      const error = await refused(ConflictError, () => node.createSandbox({ labels: { a: '2' }, idempotencyKey: key }))
      assert.deepEqual([error.status, error.code], [409, 'CORDON-API-CONFLICT'])
      await inside(node, { labels: { a: '1' }, idempotencyKey: `${key} other` }, async (other) => assert.notEqual(other.id, id))
    })
    await refused(ConflictError, () => node.createSandbox({ labels: { a: '1' }, idempotencyKey: key }))
    node.close()
  },

  async labels_and_pages() {
    const node = client()
    const made = []
    const ids = async (options) => (await all(node.sandboxes(options))).map((each) => each.id)
    try {
      for (const turn of ['0', '1', '2']) made.push(await node.createSandbox({ labels: { job: 'pages', turn } }))
      const page = await node.listSandboxes({ labels: { job: 'pages' }, limit: 2 })
      assert.deepEqual([page.sandboxes.length, page.next === undefined], [2, false])
      const rest = await node.listSandboxes({ labels: { job: 'pages' }, limit: 2, after: page.next })
      assert.deepEqual([rest.sandboxes.length, rest.next], [1, undefined])
      assert.deepEqual(new Set(await ids({ labels: { job: 'pages' }, limit: 1 })), new Set(made.map((each) => each.id)))
      assert.deepEqual(await ids({ labels: { job: 'pages', turn: '1' } }), [made[1].id])
      assert.deepEqual((await made[0].change({ labels: { job: 'other' }, timeoutSeconds: 600 })).labels, { job: 'other' })
      assert.equal((await ids({ labels: { job: 'pages' } })).length, 2)
    } finally {
      for (const each of made) assert.equal((await each.delete()).verdict.ending, 'killed')
    }
    assert.equal((await node.getSandbox(made[0].id)).info.state, 'ended')
    node.close()
  },

  async narrowed_while_it_lives() {
    const node = client()
    await inside(node, { policy: { network: { ingress: [8000] } } }, async (sandbox) => {
      await sandbox.files.write('/workspace/index.txt', 'served')
      const server = await sandbox.start([python, '-u', '-m', 'http.server', '8000', '--bind', '127.0.0.1'], { environment: bare })
      assert.match(text([await first(server.output())]), /Serving/)
      let answer = await sandbox.request(8000, 'GET', '/index.txt?its=query')
      assert.deepEqual([answer.status, `${answer.body}`, answer.headers['content-type']], [200, 'served', 'text/plain'])
      answer = await sandbox.request(8000, 'HEAD', '/index.txt', { headers: { 'X-Own': '1' } })
      assert.equal(answer.headers['content-length'], '6')
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        assert.equal((await sandbox.request(8000, method, '/', { body: 'x' })).status, 501, method)
      }
      assert.equal((await sandbox.request(8001, 'GET', '/')).status, 403, 'a port that is not listed')
      await sandbox.change({ policy: { network: { ingress: 'deny_all' } } })
      answer = await sandbox.request(8000, 'GET', '/index.txt')
      assert.deepEqual([answer.status, answer.headers['content-type']], [403, 'application/problem+json'])
      await sandbox.change({ policy: { network: { ingress: [8000] } } })
      assert.equal((await sandbox.request(8000, 'GET', '/index.txt')).status, 403, 'widened')
      const error = await refused(InvalidError, () => sandbox.change({ policy: { filesystem: { hide: ['x'] } } }))
      assert.match(error.message, /when a sandbox is launched/)
    })
    node.close()
  },

  async errors_have_words() {
    const node = client()
    let error = await refused(InvalidError, () => node.run(['true'], { policy: { netwrok: {}, resources: { pids_limit: 'many' } } }))
    assert.deepEqual([error.status, error.code, error.problems.length], [400, 'CORDON-API-INVALID', 2])
    assert.match(error.problems[0].message, /did you mean `network`/)
    assert(error.remedy && error.request && error.message.includes(error.detail) && error.message.includes(error.remedy), error.message)
    error = await refused(NotFoundError, () => node.getSandbox('none'))
    assert.deepEqual([error.code, error.name, error instanceof CordonError], ['CORDON-API-NOT-FOUND', 'NotFoundError', true])
    const stranger = client({ token: 'cdn1_x' })
    assert.equal((await refused(UnauthenticatedError, () => all(stranger.sandboxes()))).status, 401)
    const nobody = client({ node: '/nowhere/cordond.sock' })
    assert.match((await refused(ConnectionLost, () => nobody.health())).message, /CORDON_NODE/)
    await refused(CordonError, async () => client({ node: 'http://192.0.2.1:80' }))
    for (const each of [node, stranger, nobody]) each.close()
  },

  async a_narrower_token_does_less() {
    const token = env.CORDON_TEST_TOKEN
    const ids = ['aeaaaaaaaaaaaaaaagxprdaptykunbva5jwrse43', 'aeaaaaaaaaaaaaaaaesi6jraves5t6d2iu7og422']
    const narrow = attenuate(token, {
      tenant: 'a', operations: ['sandbox.read', 'audit.read'], sandboxes: ids, path: '/workspace', budgets: { sandboxes: 3, egress_bytes: 2 ** 40 },
      ceiling: { network: { mode: 'none' } },
    })
    assert(narrow === env.CORDON_TEST_NARROWED, 'not the same bytes as of the command line')
    await refused(CordonError, async () => attenuate(token, {}))
    await refused(CordonError, async () => attenuate('cdn1_AAAA', { tenant: 'a' }))
    const whole = bearer(token)
    await inside(whole, {}, (sandbox) => inside(whole, {}, async (other) => {
      const reading = attenuate(token, { operations: ['sandbox.read', 'token.revoke'], sandboxes: [sandbox.id] })
      let reader = bearer(reading)
      assert.equal((await reader.getSandbox(sandbox.id)).id, sandbox.id)
      assert.equal((await refused(DeniedError, () => reader.run(['true']))).code, 'CORDON-API-DENIED')
      await refused(DeniedError, () => reader.sandbox(sandbox.id).delete())
      await refused(ApiError, () => reader.getSandbox(other.id))
      // Whatever a policy asks for stays below a ceiling; without one it is given.
      const bounded = bearer(attenuate(token, { ceiling: { filesystem: { mode: 'read_only' } } }))
      const writes = [['sh', '-c', 'echo > file'], { policy: { filesystem: { mode: 'read_write' } } }]
      const run = await bounded.run(...writes)
      assert(run.verdict.status !== 0 && run.denials[0].rule.startsWith('ceiling'), JSON.stringify(run.raw))
      assert.equal((await whole.run(...writes)).verdict.status, 0)
      const late = bearer(attenuate(token, { expiresInSeconds: 0 }))
      await refused(UnauthenticatedError, () => late.getSandbox(sandbox.id))
      // Taken back: it, and not the one that it was made of.
      await whole.revokeToken({ token: reading })
      await refused(UnauthenticatedError, () => reader.getSandbox(sandbox.id))
      const byId = attenuate(token, { operations: ['sandbox.read'] })
      reader.close()
      reader = bearer(byId)
      assert.equal((await reader.getSandbox(sandbox.id)).id, sandbox.id)
      const over = operator()
      await over.revokeToken({ id: revocationId(byId), seconds: 100_000 })
      await refused(UnauthenticatedError, () => reader.getSandbox(sandbox.id))
      assert.equal((await whole.getSandbox(sandbox.id)).info.state, 'running')
      for (const each of [reader, bounded, late, over]) each.close()
    }))
    whole.close()
  },

  async keys_and_secrets() {
    const node = client()
    const key = await node.createKey({ label: 'reads', caveats: [{ operation: ['sandbox.read'] }], expiresInSeconds: 60 })
    assert(key.key.startsWith('cdnk_') && key.expires)
    const reader = bearer(key.key)
    await all(reader.sandboxes())
    await refused(DeniedError, () => reader.run(['true']))
    const listed = (await node.listKeys()).find((each) => each.id === key.id)
    assert.deepEqual([listed.label, listed.key], ['reads', ''])
    await node.deleteKey(key.id)
    await refused(UnauthenticatedError, () => reader.listSandboxes())
    await node.putSecret('of.typescript', 'it is not shown')
    assert((await node.listSecrets()).includes('of.typescript'))
    await node.deleteSecret('of.typescript')
    assert(!(await node.listSecrets()).includes('of.typescript'))
    reader.close()
    node.close()
  },

  async what_happened_is_recorded() {
    const node = client()
    let id = ''
    await inside(node, { policy: { filesystem: { mode: 'read_only' } } }, async (sandbox) => {
      id = sandbox.id
      await sandbox.run(['sh', '-c', 'echo > file'])
      assert.equal((await (await sandbox.start(['true'])).wait()).exit.code, 0)
      const denial = await first(sandbox.events(), (each) => each.event === 'denial')
      assert.deepEqual([denial.sandbox, denial.denial.resolved], [id, '/workspace/file'])
    })
    const told = (await all(node.events({ follow: false }))).filter((each) => each.sandbox === id)
    assert.deepEqual([told[0].event, told.at(-1).event, told.at(-1).verdict.ending], ['sandbox.created', 'sandbox.ended', 'killed'])
    for (const kind of ['process.started', 'process.ended', 'denial']) assert(told.some((each) => each.event === kind), kind)
    const later = (await all(node.events({ since: told[0].cursor, follow: false }))).map((each) => each.cursor)
    assert(!later.includes(told[0].cursor) && later.includes(told.at(-1).cursor), 'behind a cursor')
    const where = `sandbox=${id}`
    const records = await all(node.audit({ where, follow: false }))
    assert.deepEqual([records[0].event, records.at(-1).event], ['policy_accepted', 'sandbox_ended'])
    const act = records.find((each) => each.event === 'act_refused')
    assert.deepEqual([act.raw.code, act.raw.rule.startsWith('request:'), act.tenant], ['CORDON-FS-WRITE', true, 'a'])
    const behind = await all(node.audit({ where, since: records[0].seq, follow: false }))
    assert.deepEqual(behind.map((each) => each.seq), records.slice(1).map((each) => each.seq))
    // Who sees all records can follow the chain: none was changed, taken out or put in.
    const over = operator()
    const every = await all(over.audit({ follow: false }))
    assert(every.length > records.length, 'records of the whole node')
    for (const [number, after] of every.entries()) {
      if (number > 0) assert.deepEqual([after.seq, after.prev], [every[number - 1].seq + 1, every[number - 1].leaf])
    }
    over.close()
    node.close()
  },
}

let failed = 0
for (const [name, step] of Object.entries(steps)) {
  if (process.argv.length > 2 && !process.argv.slice(2).includes(name)) continue
  try {
    await step()
    console.log(`ok ${name}`)
  } catch (error) {
    failed += 1
    console.log(`FAILED ${name}`, error)
  }
}
writeFileSync(env.CORDON_TEST_CALLED, JSON.stringify(asked))
process.exitCode = failed ? 1 : 0
