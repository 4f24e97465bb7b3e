// SPDX-License-Identifier: Apache-2.0
// The unmodified `e2b` package against a node: `node checks.mjs NAME...`; without names all. E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY say
// where it is.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { gzipSync } from 'node:zlib'
import {
  AuthenticationError, CommandExitError, FileNotFoundError, InvalidArgumentError, NotEnoughSpaceError, RateLimitError, Sandbox, SandboxNotFoundError, Secret,
  TimeoutError, Volume,
} from 'e2b'
import { gitChecks } from './git_checks.mjs'
import { insideOf, pause, run, within } from './harness.mjs'
import { wireChecks } from './wire_checks.mjs'

// fetch would choose the host itself.
const asked = (headers) => new Promise((done, failed) => {
  const { hostname, port } = new URL(process.env.E2B_SANDBOX_URL)
  get({ hostname, port, path: '/index.html', headers, agent: false }, (answer) => {
    let body = ''
    answer.on('data', (piece) => { body += piece })
    answer.on('end', () => done({ status: answer.statusCode, body }))
  }).on('error', failed)
})

// A server inside, at port 3000; gives a way to ask it.
async function serving(sandbox) {
  await sandbox.files.write('index.html', 'served')
  await sandbox.commands.run(`${process.env.CORDON_TEST_PYTHON} -m http.server 3000 --bind 127.0.0.1`, { background: true, timeoutMs: 0 })
  return (headers, port = 3000) => asked({ 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': `${port}`, ...headers })
}

const inside = insideOf(Sandbox, 'e2b')

const checks = {
  commands: inside(async (sandbox) => {
    assert.equal((await sandbox.commands.run('echo hi')).stdout, 'hi\n')
    assert.equal((await sandbox.commands.run('echo $A; pwd; id -un')).stdout, '1\n/home/user\nuser\n')
    const heard = { out: '', err: '' }
    const said = await sandbox.commands.run('echo o; echo e >&2; pwd; echo $X', {
      onStdout: (text) => { heard.out += text }, onStderr: (text) => { heard.err += text }, cwd: '/tmp', envs: { X: 'y' },
    })
    assert.deepEqual([said.stdout, said.stderr, said.exitCode], ['o\n/tmp\ny\n', 'e\n', 0])
    assert.deepEqual(heard, { out: 'o\n/tmp\ny\n', err: 'e\n' })
  }, { envs: { A: '1' } }),

  root: inside(async (sandbox) => {
    const heard = { out: '', err: '' }
    const said = await sandbox.commands.run('echo o; echo e >&2; id -u; echo $HOME $X; pwd', {
      onStdout: (text) => { heard.out += text }, onStderr: (text) => { heard.err += text }, cwd: '/tmp', envs: { X: 'y' }, user: 'root',
    })
    assert.deepEqual([said.stdout, said.stderr], ['o\n0\n/root y\n/tmp\n', 'e\n'])
    assert.deepEqual(heard, { out: said.stdout, err: said.stderr })
    assert.match((await sandbox.commands.run('cat /proc/self/status', { user: 'root' })).stdout, /^CapEff:\t0+$/m)
    assert.equal((await sandbox.commands.run('id -u')).stdout, '1000\n')
    assert.equal((await sandbox.commands.run('id -u', { user: 'user' })).stdout, '1000\n')
    // Files are the user's.
    await assert.rejects(sandbox.files.read('/etc/passwd', { user: 'root' }), AuthenticationError)
  }),

  failures: inside(async (sandbox) => {
    await assert.rejects(sandbox.commands.run('echo out; exit 3'), (error) => error instanceof CommandExitError && error.exitCode === 3 && error.stdout === 'out\n')
    await assert.rejects(sandbox.commands.run('true', { cwd: '/nonexist' }), InvalidArgumentError)
    const begun = Date.now()
    await assert.rejects(sandbox.commands.run('sleep 5', { timeoutMs: 500 }), TimeoutError)
    assert(Date.now() - begun < 2000, 'it took too long')
    await within(5, async () => (await sandbox.commands.list()).length === 0, 'it runs on')
  }),

  background: inside(async (sandbox) => {
    const first = await sandbox.commands.run('cat', { background: true, stdin: true, timeoutMs: 0 })
    const listed = await sandbox.commands.list()
    assert.deepEqual(listed.map((each) => [each.pid, each.cmd, each.args]), [[first.pid, '/bin/bash', ['-l', '-c', 'cat']]])
    await sandbox.commands.sendStdin(first.pid, 'one\n')
    await within(5, () => first.stdout === 'one\n', 'nothing came back')
    let later = ''
    const second = await sandbox.commands.connect(first.pid, { onStdout: (text) => { later += text } })
    await sandbox.commands.sendStdin(first.pid, 'two\n')
    await within(5, () => later === 'two\n', 'the second reader heard nothing')
    await sandbox.commands.closeStdin(first.pid)
    assert.equal((await first.wait()).stdout, 'one\ntwo\n')
    assert.equal((await second.wait()).stdout, 'two\n')
    const third = await sandbox.commands.run('cat', { background: true, stdin: true, timeoutMs: 0 })
    await third.sendStdin('by its handle\n')
    await third.closeStdin()
    assert.equal((await third.wait()).stdout, 'by its handle\n')
    const sleeper = await sandbox.commands.run('sleep 100', { background: true, timeoutMs: 0 })
    assert.equal(await sandbox.commands.kill(sleeper.pid), true)
    await assert.rejects(sleeper.wait(), CommandExitError)
    assert.equal(await sandbox.commands.kill(sleeper.pid), false)
    assert.equal(await sleeper.kill(), false)
  }),

  output: inside(async (sandbox) => {
    const text = 'é€𝄞x'.repeat(4000)
    await sandbox.files.write('text', text)
    assert.equal((await sandbox.commands.run('cat text')).stdout, text)
    const all = await Promise.all(Array.from({ length: 100 }, (_, number) => sandbox.commands.run(`echo ${number}`)))
    assert.deepEqual(all.map((each) => each.stdout), Array.from({ length: 100 }, (_, number) => `${number}\n`))
  }),

  disconnect: inside(async (sandbox) => {
    const left = await sandbox.commands.run('sleep 0.5; yes | head -c 4000000 > /dev/null; yes | head -c 4000000; echo done > /home/user/done', { background: true, timeoutMs: 0 })
    await left.disconnect()
    await within(10, () => sandbox.files.exists('done'), 'it does not go on where nobody reads')
  }),

  files: inside(async (sandbox) => {
    await sandbox.files.write('/home/user/a.txt', 'héllo')
    assert.equal(await sandbox.files.read('/home/user/a.txt'), 'héllo')
    assert.deepEqual(Buffer.from(await sandbox.files.read('a.txt', { format: 'bytes' })), Buffer.from('héllo'))
    let streamed = ''
    for await (const piece of await sandbox.files.read('~/a.txt', { format: 'stream' })) streamed += Buffer.from(piece).toString()
    assert.equal(streamed, 'héllo')
    assert.equal(await (await sandbox.files.read('a.txt', { format: 'blob' })).text(), 'héllo')
    await sandbox.files.write('empty', '')
    assert.equal(await sandbox.files.read('empty'), '')
    const many = await sandbox.files.write([{ path: 'one/two.txt', data: 'two' }, { path: 'three.txt', data: 'three' }])
    assert.deepEqual(many.map((each) => each.path), ['/home/user/one/two.txt', '/home/user/three.txt'])
    assert.equal(await sandbox.files.read('one/two.txt'), 'two')
    await sandbox.files.writeFiles([{ path: 'four.txt', data: 'four' }])
    assert.equal(await sandbox.files.read('four.txt'), 'four')
    const odd = '/tmp/a b "c" é.txt'
    await sandbox.files.write(odd, 'odd')
    assert.equal(await sandbox.files.read(odd), 'odd')
    await sandbox.files.write('/tmp/over', 'long and longer')
    await sandbox.files.write('/tmp/over', 'short')
    assert.equal(await sandbox.files.read('/tmp/over'), 'short')
  }),

  large_files: inside(async (sandbox) => {
    const size = 50_000_000
    const data = Buffer.alloc(size, 'cordon ')
    await sandbox.files.write('large', new Blob([data]).stream())
    assert.equal((await sandbox.commands.run('wc -c < large')).stdout.trim(), `${size}`)
    const back = Buffer.from(await sandbox.files.read('large', { format: 'bytes' }))
    assert(back.equals(data), 'other bytes came back')
  }),

  packed_files: inside(async (sandbox) => {
    const text = 'packed and unpacked '.repeat(100_000)
    await sandbox.files.write('packed', text, { gzip: true })
    assert.equal(await sandbox.files.read('packed'), text)
    await sandbox.files.write('empty', '', { gzip: true })
    assert.equal(await sandbox.files.read('empty'), '')
    const send = (body) => fetch(`${process.env.E2B_SANDBOX_URL}/files?path=broken`, {
      method: 'POST', body, headers: {
        'content-type': 'application/octet-stream', 'content-encoding': 'gzip', 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983',
        'X-Access-Token': sandbox.envdAccessToken,
      },
    })
    const whole = gzipSync(text)
    assert.equal((await send(whole)).status, 200)
    assert.equal((await send(whole.subarray(0, whole.length - 4))).status, 400)
    assert.equal((await send('not packed at all')).status, 400)
  }),

  names: inside(async (sandbox) => {
    assert.equal(await sandbox.files.makeDir('d/e'), true)
    assert.equal(await sandbox.files.makeDir('d/e'), false)
    await sandbox.files.write('d/e/f', 'f')
    const shallow = await sandbox.files.list('d')
    assert.deepEqual(shallow.map((each) => [each.name, each.type, each.path]), [['e', 'dir', '/home/user/d/e']])
    const deep = await sandbox.files.list('d', { depth: 2 })
    assert.deepEqual(deep.map((each) => each.path).sort(), ['/home/user/d/e', '/home/user/d/e/f'])
    assert.equal(await sandbox.files.exists('d/e/f'), true)
    const told = await sandbox.files.getInfo('d/e/f')
    assert.deepEqual([told.name, told.type, told.size, told.owner, told.permissions], ['f', 'file', 1, 'user', '-rw-r--r--'])
    assert(Math.abs(told.modifiedTime - Date.now()) < 60_000, told.modifiedTime)
    await sandbox.commands.run('ln -s d/e/f link')
    assert.equal((await sandbox.files.getInfo('link')).symlinkTarget, 'd/e/f')
    assert.equal((await sandbox.files.rename('d/e/f', 'moved/g')).path, '/home/user/moved/g')
    assert.equal(await sandbox.files.exists('d/e/f'), false)
    await sandbox.files.remove('d')
    assert.equal(await sandbox.files.exists('d'), false)
    await sandbox.files.remove('d')
    await assert.rejects(sandbox.files.read('none'), FileNotFoundError)
    await assert.rejects(sandbox.files.list('none'), FileNotFoundError)
    await assert.rejects(sandbox.files.read('moved'), InvalidArgumentError)
    await assert.rejects(sandbox.files.list('moved/g'), InvalidArgumentError)
  }),

  full_disk: inside(async (sandbox) => {
    await sandbox.commands.run('head -c 250000000 /dev/zero > /tmp/most')
    await assert.rejects(sandbox.files.write('/tmp/more', Buffer.alloc(40_000_000).buffer), NotEnoughSpaceError)
  }),

  watches: inside(async (sandbox) => {
    await sandbox.files.makeDir('watched')
    const seen = []
    const watch = await sandbox.files.watchDir('watched', (event) => seen.push(`${event.type} ${event.name}`))
    await sandbox.files.write('watched/new', 'x')
    await sandbox.files.remove('watched/new')
    await within(5, () => seen.includes('remove new'), seen)
    assert(seen.includes('create new') && seen.includes('write new'), seen)
    await watch.stop()
    await assert.rejects(sandbox.files.watchDir('none', () => {}), FileNotFoundError)
  }),

  terminals: inside(async (sandbox) => {
    let text = ''
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: (bytes) => { text += Buffer.from(bytes).toString() } })
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('echo $TERM\n'))
    await within(5, () => text.includes('xterm-256color\r\n'), 'nothing came')
    await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 30 })
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('stty size\n'))
    await within(5, () => text.includes('30 100'), text)
    let beside = ''
    const second = await sandbox.pty.connect(terminal.pid, { onData: (bytes) => { beside += Buffer.from(bytes).toString() } })
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('echo $((40 + 2))\n'))
    await within(5, () => beside.includes('42\r\n'), 'the second reader heard nothing')
    await second.disconnect()
    assert.equal(await sandbox.pty.kill(terminal.pid), true)
    await assert.rejects(terminal.wait(), (error) => error instanceof CommandExitError && error.exitCode === -1)
  }),

  signed: inside(async (sandbox) => {
    await sandbox.files.write('/home/user/a b.txt', 'signed')
    const url = await sandbox.downloadUrl('/home/user/a b.txt')
    assert.equal(await (await fetch(url)).text(), 'signed')
    assert.equal((await fetch(url.replace('signature=v1_', 'signature=v1_x'))).status, 401)
    assert.equal((await fetch(url.replace('a+b', 'a+c'))).status, 401)
    const late = await sandbox.downloadUrl('/home/user/a b.txt', { useSignatureExpiration: -10 })
    assert.equal((await fetch(late)).status, 401)
    const form = new FormData()
    form.append('file', new Blob(['uploaded']), 'any')
    const sent = await fetch(await sandbox.uploadUrl('/home/user/up.txt', { useSignatureExpiration: 60 }), { method: 'POST', body: form })
    assert.equal(sent.status, 200)
    assert.equal(await sandbox.files.read('up.txt'), 'uploaded')
    assert.equal((await fetch(url, { method: 'POST', body: form })).status, 401, 'what reads may write')
  }),

  control: inside(async (sandbox) => {
    const again = await Sandbox.connect(sandbox.sandboxId)
    assert.equal((await again.commands.run('echo again')).stdout, 'again\n')
    assert.equal(await (await sandbox.connect()).isRunning(), true)
    await assert.rejects(Sandbox.connect('i00000000000000000000'), SandboxNotFoundError)
    const other = await Sandbox.create({ metadata: { u: 'a b', more: '1&2' } })
    try {
      const pages = Sandbox.list({ limit: 1, query: { metadata: { u: 'a b' } } })
      const ids = []
      while (pages.hasNext) ids.push(...(await pages.nextItems()).map((each) => each.sandboxId))
      assert.deepEqual(new Set(ids), new Set([sandbox.sandboxId, other.sandboxId]))
      const exact = await Sandbox.list({ query: { metadata: { u: 'a b', more: '1&2' } } }).nextItems()
      assert.deepEqual(exact.map((each) => each.sandboxId), [other.sandboxId])
      assert.deepEqual(await Sandbox.list({ query: { metadata: { u: 'other' } } }).nextItems(), [])
    } finally {
      await other.kill()
    }
    const told = await sandbox.getInfo()
    assert.deepEqual([told.sandboxId, told.metadata, told.state], [sandbox.sandboxId, { u: 'a b' }, 'running'])
    await sandbox.setTimeout(600_000)
    const later = await sandbox.getInfo()
    assert(later.endAt - told.endAt > 250_000, `${told.endAt} ${later.endAt}`)
    const [metrics] = await sandbox.getMetrics()
    assert(metrics.diskTotal > 0 && metrics.cpuCount >= 1, metrics)
    assert(metrics.memUsed > 100_000 && metrics.memUsed < metrics.memTotal, `${metrics.memUsed} of ${metrics.memTotal}`)
    assert(metrics.cpuUsedPct < 50, `nothing runs, and ${metrics.cpuUsedPct} % is used`)
    const busy = await sandbox.commands.run('while true; do :; done', { background: true, timeoutMs: 0 })
    await within(10, async () => (await sandbox.getMetrics())[0].cpuUsedPct > 50, 'nobody sees that a processor is busy')
    await busy.kill()
  }, { metadata: { u: 'a b' } }),

  paused: inside(async (sandbox) => {
    await sandbox.files.write('kept', 'kept')
    const counting = await sandbox.commands.run('i=0; while true; do i=$((i+1)); echo $i > count; sleep 0.05; done', { background: true, timeoutMs: 0 })
    await within(5, () => sandbox.files.exists('count'), 'it does not count')
    assert.equal(await sandbox.pause(), true)
    assert.equal(await sandbox.pause(), false)
    assert.equal(await sandbox.isRunning(), false)
    const [listed] = await Sandbox.list({ query: { state: ['paused'] } }).nextItems()
    assert.equal(listed.sandboxId, sandbox.sandboxId)
    await assert.rejects(sandbox.commands.run('true'), SandboxNotFoundError)
    await pause(300)
    const again = await Sandbox.connect(sandbox.sandboxId)
    assert.equal(await again.files.read('kept'), 'kept')
    const before = Number(await again.files.read('count'))
    await within(5, async () => Number(await again.files.read('count')) > before, 'it does not go on')
    // What was made before the pause still opens it.
    assert.equal((await sandbox.commands.run('echo on')).stdout, 'on\n')
    assert.equal(await counting.kill(), true)
  }),

  // What an instance does for itself the class does for a name.
  by_name: async () => {
    const { sandboxId } = await Sandbox.create({ timeoutMs: 61_500, metadata: { u: 'by name' } })
    const told = await Sandbox.getInfo(sandboxId)
    assert.equal(Math.round((told.endAt - told.startedAt) / 1000), 62, 'seconds are rounded up')
    assert.deepEqual((await Sandbox.getFullInfo(sandboxId)).metadata, { u: 'by name' })
    await Sandbox.setTimeout(sandboxId, 600_000)
    assert((await Sandbox.getInfo(sandboxId)).endAt - told.endAt > 500_000)
    assert((await Sandbox.getMetrics(sandboxId))[0].memTotal > 0)
    assert.equal(await Sandbox.pause(sandboxId), true)
    assert.equal(await Sandbox.betaPause(sandboxId), false)
    const sandbox = await Sandbox.connect(sandboxId)
    assert.equal(await sandbox.betaPause(), true)
    await sandbox.connect()
    assert.equal(await Sandbox.betaPause(sandboxId), true)
    await Sandbox.connect(sandboxId)
    assert.equal((await sandbox.commands.run('echo on')).stdout, 'on\n')
    assert.equal(await Sandbox.kill(sandboxId), true)
    assert.equal(await Sandbox.kill(sandboxId), false)
    for (const act of [() => Sandbox.getInfo(sandboxId), () => Sandbox.setTimeout(sandboxId, 1000), () => Sandbox.pause(sandboxId), () => Sandbox.getMetrics(sandboxId),
      () => Sandbox.updateNetwork(sandboxId, { allowInternetAccess: false })]) {
      await assert.rejects(act(), SandboxNotFoundError)
    }
  },

  // Refused in words, and by 501.
  not_there: inside(async (sandbox) => {
    const id = sandbox.sandboxId
    for (const act of [() => sandbox.createSnapshot(), () => Sandbox.createSnapshot(id), () => sandbox.fork(), () => Sandbox.fork(id),
      () => sandbox.listSnapshots().nextItems(), () => Sandbox.listSnapshots().nextItems(), () => Volume.list(), () => Secret.list().nextItems()]) {
      await assert.rejects(act(), /this node does not have this call/)
    }
    await assert.rejects(Sandbox.create({ mcp: {} }), /mcp/)
    await assert.rejects(sandbox.getMcpToken())
    // Where such a server would be asked is a port as any other: whoever listens there is reached.
    const url = new URL(sandbox.getMcpUrl())
    assert(url.hostname.startsWith(`50005-${sandbox.sandboxId}.`) && url.pathname === '/mcp', url)
    await sandbox.files.write('mcp/index.html', 'told')
    await sandbox.commands.run(`${process.env.CORDON_TEST_PYTHON} -m http.server 50005 --bind 127.0.0.1 -d mcp`, { background: true, timeoutMs: 0 })
    await within(10, async () => (await asked({ host: url.hostname })).body === 'told', 'nobody answers')
  }),

  ports: inside(async (sandbox) => {
    const to = await serving(sandbox)
    await within(10, async () => (await to({})).status === 200, 'nobody answers')
    assert.equal((await to({})).body, 'served')
    assert.equal((await to({}, 3001)).status, 502)
    assert.match(sandbox.getHost(3000), new RegExp(`^3000-${sandbox.sandboxId}[.]`))
    const named = await asked({ host: `3000-${sandbox.sandboxId}.localhost` })
    assert.deepEqual([named.status, named.body], [200, 'served'])
    // A client that knows the node by a name gets names below it.
    const named_node = process.env.E2B_API_URL.replace('127.0.0.1', 'localhost')
    const known = await Sandbox.connect(sandbox.sandboxId, { apiUrl: named_node })
    assert.equal(known.getHost(3000), `3000-${sandbox.sandboxId}.${new URL(named_node).host}`)
    assert.equal((await asked({ host: known.getHost(3000) })).body, 'served')
    const other = sandbox.sandboxId.slice(0, -1) + (sandbox.sandboxId.endsWith('a') ? 'b' : 'a')
    assert.equal((await asked({ host: `3000-${other}.localhost` })).status, 502)
  }),

  private_ports: inside(async (sandbox) => {
    const to = await serving(sandbox)
    assert.equal((await to({})).status, 403)
    assert.equal((await to({ 'e2b-traffic-access-token': '00' })).status, 403)
    const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken }
    await within(10, async () => (await to(token)).status === 200, 'nobody answers')
  }, { network: { allowPublicTraffic: false } }),

  refused: inside(async (sandbox) => {
    await assert.rejects(Sandbox.create({ apiKey: 'e2b_00' }), AuthenticationError)
    const forged = new Sandbox({ sandboxId: sandbox.sandboxId, envdVersion: '0.6.13', envdAccessToken: '00' })
    await assert.rejects(forged.commands.run('true'), AuthenticationError)
    await assert.rejects(forged.commands.list(), AuthenticationError)
    await assert.rejects(forged.files.read('a'), AuthenticationError)
    const id = { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983' }
    const list = (headers) => fetch(`${process.env.E2B_SANDBOX_URL}/process.Process/List`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...id, ...headers } })
    assert.equal((await list({})).status, 401)
    assert.equal((await list({ 'X-Access-Token': '00' })).status, 401)
    await assert.rejects(Sandbox.create('no-such-template'), (error) => /no-such-template/.test(error.message))
    await assert.rejects(sandbox.commands.run('true', { user: 'somebody' }), AuthenticationError)
  }),

  // C270: a key opens what is its tenant's.
  others: inside(async (sandbox) => {
    const id = sandbox.sandboxId
    const stranger = { apiKey: process.env.CORDON_TEST_SLOW_KEY }
    for (const act of [() => Sandbox.getInfo(id, stranger), () => Sandbox.connect(id, stranger), () => Sandbox.setTimeout(id, 1000, stranger), () => Sandbox.pause(id, stranger),
      () => Sandbox.updateNetwork(id, { allowInternetAccess: false }, stranger), () => Sandbox.getMetrics(id, stranger)]) {
      await assert.rejects(act(), SandboxNotFoundError)
    }
    assert.equal(await Sandbox.kill(id, stranger), false)
    assert.deepEqual(await Sandbox.list(stranger).nextItems(), [])
    assert.equal((await Sandbox.getInfo(id)).state, 'running')
    assert((await Sandbox.list().nextItems()).some((each) => each.sandboxId === id))
  }),

  asks_again: async () => {
    const slow = { apiKey: process.env.CORDON_TEST_SLOW_KEY }
    const begun = Date.now()
    const made = []
    try {
      for (let i = 0; i < 3; i += 1) made.push(await Sandbox.create(slow))
      assert(Date.now() - begun >= 1000, 'nobody was asked to wait')
      // Who does not ask again hears that it was too often.
      const impatient = { ...slow, retries: 0 }
      const tried = await Promise.allSettled([1, 2, 3].map(async () => made.push(await Sandbox.create(impatient))))
      assert(tried.some((each) => each.reason instanceof RateLimitError), 'nobody was refused')
    } finally {
      for (const each of made) await each.kill()
    }
  },

  narrowed: inside(async (sandbox) => {
    assert.equal((await sandbox.getInfo()).allowInternetAccess, true)
    await sandbox.updateNetwork({ allowOut: ['example.com'] })
    await sandbox.updateNetwork({ allowInternetAccess: false })
    await assert.rejects(sandbox.updateNetwork({ rules: { 'example.com': [] } }), /not supported/)
  }, { network: { allowOut: ['example.com', 'example.org'] } }),

  network: inside(async (sandbox) => {
    const said = await sandbox.commands.run('cat /proc/net/route | wc -l; (exec 3<>/dev/tcp/198.18.0.1/53) 2>&1 || echo refused')
    assert.match(said.stdout, /refused/)
  }),

  ends: async () => {
    const sandbox = await Sandbox.create()
    const running = sandbox.commands.run('sleep 100', { timeoutMs: 0 })
    running.catch(() => {})
    await within(5, async () => (await sandbox.commands.list()).length === 1, 'it does not run')
    assert.equal(await sandbox.isRunning(), true)
    assert.equal(await sandbox.kill(), true)
    await assert.rejects(running, TimeoutError)
    assert.equal(await sandbox.kill(), false)
    assert.equal(await sandbox.isRunning(), false)
    await assert.rejects(sandbox.commands.run('true'), SandboxNotFoundError)
    await assert.rejects(sandbox.files.read('a'), TimeoutError)
  },

  lives_as_long_as_told: async () => {
    const sandbox = await Sandbox.create({ timeoutMs: 1500 })
    assert.equal(await sandbox.isRunning(), true)
    await within(10, async () => !(await sandbox.isRunning()), 'it lives on')
  },

  crowd: async () => {
    const begun = performance.now()
    const took = await Promise.all(Array.from({ length: 100 }, async (_, number) => {
      const start = performance.now()
      const sandbox = await Sandbox.create()
      assert.equal((await sandbox.commands.run(`echo ${number}`)).stdout, `${number}\n`)
      const first = performance.now() - start
      assert.equal(await sandbox.kill(), true)
      return { first, whole: performance.now() - start }
    }))
    const seconds = (what, part) => (took.map((each) => each[what]).sort((one, other) => one - other)[Math.ceil(part * took.length) - 1] / 1000).toFixed(2)
    console.log(`  100 at once: all in ${((performance.now() - begun) / 1000).toFixed(1)} s; created, run and killed p50 ${seconds('whole', 0.5)} s, p99 ${seconds('whole', 0.99)} s`)
    console.log(`  the first command's end: p50 ${seconds('first', 0.5)} s, p99 ${seconds('first', 0.99)} s; E2B publishes 0.44 s and 0.99 s`)
  },

  ...gitChecks(inside),
  ...wireChecks(inside),
}

await run(checks)
