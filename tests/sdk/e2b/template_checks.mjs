// SPDX-License-Identifier: Apache-2.0
// Templates of the unmodified `e2b` package against a node: `node template_checks.mjs NAME...`; without names all.
import assert from 'node:assert/strict'
import { mkdtempSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BuildError, Sandbox, Template } from 'e2b'
import { watchPackage } from './called.mjs'
import { run, within } from './harness.mjs'

watchPackage(Sandbox, 'e2b')

const small = { cpuCount: 1, memoryMB: 256 }
// Files that a template is built with, gone at the end.
const among = (files, act) => async () => {
  const place = mkdtempSync(join(tmpdir(), 'cordon-context-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(place, name, '..'), { recursive: true })
      writeFileSync(join(place, name), text)
    }
    await act((options = {}) => Template({ fileContextPath: place, ...options }), place)
  } finally {
    rmSync(place, { recursive: true })
    await forgetAll()
  }
}
// The package has no call for it; the API has.
const forgetAll = async () => {
  const asked = (method, path) => fetch(`${process.env.E2B_API_URL}${path}`, { method, headers: { 'X-API-Key': process.env.E2B_API_KEY } })
  for (const each of await (await asked('GET', '/templates')).json()) {
    assert.equal((await asked('DELETE', `/templates/${each.templateID}`)).status, 204)
  }
  assert.deepEqual(images(), [])
}
const of = async (template, act, options = {}) => {
  const sandbox = await Sandbox.create(template, { timeoutMs: 120_000, ...options })
  try {
    await act(sandbox)
  } finally {
    await sandbox.kill()
  }
}
const images = () => readdirSync(join(process.env.CORDON_TEST_STORE, 'names')).filter((name) => name.startsWith('node.'))
const failing = async (template, name, pattern) => {
  const before = images().length
  await assert.rejects(Template.build(template, name, small), (error) => {
    assert(error instanceof BuildError, error.stack)
    assert.match(error.message, pattern)
    return true
  })
  assert.equal(images().length, before, 'an image of a build that failed')
  assert.equal(await Template.exists(name), false)
}

const checks = {
  built: among({ 'app/main.sh': 'echo main', 'app/lib/part.sh': 'echo part', 'one.txt': 'one' }, async (start) => {
    const lines = []
    const template = start().fromImage('tools').setEnvs({ GREETING: 'hello world', SECOND: '2' }).setWorkdir('/app')
      .copy('app', '.').copy('one.txt', '/data/renamed.txt', { mode: 0o600, user: 'root' }).copy('one.txt', '/home/user/')
      .runCmd('echo "$GREETING" > greeting; pwd > where; id -u >> where')
      .runCmd(['mkdir -p /opt/made', 'touch /opt/made/by-root', 'id -u > /opt/made/id'], { user: 'root' })
      .makeSymlink('/app/main.sh', '/app/link').remove('/app/lib/part.sh').rename('/app/where', '/app/place')
    const made = await Template.build(template, 'built', { ...small, onBuildLogs: (line) => lines.push(`${line.level} ${line.message}`) }).catch((error) => { throw new Error(`${error}\n${lines.join('\n')}`) })
    assert.equal(made.name, 'built')
    assert(lines.some((line) => line.includes('RUN echo "$GREETING"')), lines.join('\n'))
    assert.equal(await Template.exists('built'), true)
    await of('built', async (sandbox) => {
      const said = async (command, options) => (await sandbox.commands.run(command, options)).stdout
      assert.equal(await said('pwd; echo $GREETING $SECOND'), '/app\nhello world 2\n')
      assert.equal(await said('cat greeting place'), 'hello world\n/app\n1000\n')
      assert.equal(await said('bash main.sh; bash link; ls lib'), 'main\nmain\n')
      assert.equal(await said('cat /opt/made/id; stat -c %u:%a /data/renamed.txt /opt/made/by-root'), '0\n0:600\n0:644\n')
      assert.equal(await sandbox.files.read('one.txt'), 'one')
      assert.equal(await said('stat -c %u /home/user/one.txt /app /app/main.sh'), '1000\n1000\n1000\n')
      // As root too the whole of it may be written to.
      assert.equal(await said('touch /usr/bin/mine /etc/mine /new && echo done', { user: 'root' }), 'done\n')
      const info = await sandbox.getInfo()
      assert.deepEqual([info.cpuCount, info.memoryMB, info.templateId], [1, 256, 'built'])
    })
    // What one sandbox wrote is nobody else's.
    await of('built', async (sandbox) => {
      assert.equal((await sandbox.commands.run('ls /new /etc/mine /usr/bin/mine 2>/dev/null; true')).stdout, '')
      assert.equal((await sandbox.commands.run('ls /opt/made')).stdout, 'by-root\nid\n')
    })
  }),

  patterns: among({ 'a.txt': 'a', 'b.txt': 'b', 'c.md': 'c', 'deep/d.txt': 'd' }, async (start, place) => {
    symlinkSync('a.txt', join(place, 'l.txt'))
    await Template.build(start().fromImage('tools').copy('*.txt', '/all').copy(['c.md', 'deep'], '/both/'), 'patterns', small)
    await of('patterns', async (sandbox) => {
      assert.equal((await sandbox.commands.run('cd /all && ls; cat l.txt; ls /both')).stdout, 'a.txt\nb.txt\nl.txt\nac.md\nd.txt\n')
    })
  }),

  dockerfile: among({ 'in.txt': 'in' }, async (start) => {
    await Template.build(start().fromDockerfile('FROM tools\nENV A=1\nWORKDIR /work\nCOPY in.txt out.txt\nRUN echo "$A" > a\n'), 'dockerfile', small)
    await of('dockerfile', async (sandbox) => {
      assert.equal((await sandbox.commands.run('cat /work/out.txt /work/a')).stdout, 'in1\n')
    })
  }),

  on_another: among({}, async (start) => {
    await Template.build(start().fromImage('tools').setWorkdir('/below').setUser('root').runCmd('echo below > file'), 'below', small)
    await Template.build(start().fromTemplate('below').runCmd('cat file > above; pwd >> above; id -u >> above'), 'above', small)
    await of('above', async (sandbox) => assert.equal((await sandbox.commands.run('cat above')).stdout, 'below\n/below\n0\n'))
    // The node's own image.
    await Template.build(start().fromBaseImage().runCmd('echo based > /home/user/file'), 'based', small)
    await of('based', async (sandbox) => assert.equal(await sandbox.files.read('file'), 'based\n'))
  }),

  begins: among({}, async (start) => {
    const template = start().fromImage('tools').setStartCmd('echo begun > begun; sleep 0.3; touch ready; sleep 1000', 'test -e ready')
    await Template.build(template, 'begins', small)
    await of('begins', async (sandbox) => {
      // It was ready when the create was answered, by this sandbox's own program.
      assert.equal((await sandbox.commands.run('ls')).stdout, 'begun\nready\n')
      const listed = await sandbox.commands.list()
      assert(listed.some((each) => each.args.join(' ').includes('sleep 1000')), JSON.stringify(listed))
    })
  }),

  fails: among({ 'x.txt': 'x' }, async (start) => {
    await failing(start().fromImage('tools').runCmd('echo why >&2; exit 7'), 'fails', /ended with 7/)
    await failing(start().fromImage('nonesuch:1'), 'fails', /there is no such image/)
    await failing(start().fromImage('tools').setUser('nobody'), 'fails', /no user 'nobody'/)
    await failing(start().fromImage('tools').copy('x.txt', '/usr/bin/id/x'), 'fails', /ended with/)
    await failing(start().fromTemplate('never-built'), 'fails', /no template/)
    await assert.rejects(Template.build(start().fromImage('tools', { username: 'u', password: 'p' }), 'fails', small), /registries/)
    await assert.rejects(Template.build(start().fromImage('tools'), 'Not A Name', small), /no name of a template/)
    // Without its counter-arm no refusal counts.
    await Template.build(start().fromImage('tools').runCmd('exit 0').copy('x.txt', '/usr/share/x'), 'fails', small)
    assert.equal(await Template.exists('fails'), true)
  }),

  // A build reaches no network where its node says nothing of one, and has no more room than it says.
  bounds: among({}, async (start) => {
    await failing(start().fromImage('tools').runCmd('exec 3<>/dev/tcp/198.51.100.1/80'), 'bounds', /ended with 1/)
    await failing(start().fromImage('tools').runCmd('head -c 400M /dev/zero > /big', { user: 'root' }), 'bounds', /ended with/)
    await Template.build(start().fromImage('tools').runCmd('head -c 100M /dev/zero > /big', { user: 'root' }), 'bounds', small)
  }),

  background: among({}, async (start) => {
    const made = await Template.buildInBackground(start().fromImage('tools').runCmd('sleep 1; echo late'), 'background', small)
    const first = await Template.getBuildStatus(made)
    assert.match(first.status, /building|waiting/)
    let last
    await within(30, async () => (last = await Template.getBuildStatus(made)).status === 'ready', 'it is never ready')
    assert(last.logEntries.some((line) => line.message === 'late'))
    const rest = await Template.getBuildStatus(made, { logsOffset: last.logEntries.length })
    assert.equal(rest.logEntries.length, 0)
  }),

  tags: among({}, async (start) => {
    const build = (text, options) => Template.build(start().fromImage('tools').runCmd(`echo ${text} > /home/user/which`), ...options)
    await build('one', ['tags:v1', small])
    await build('two', ['tags', { ...small, tags: ['v2', 'latest'] }])
    const which = async (name) => {
      let text
      await of(name, async (sandbox) => { text = (await sandbox.files.read('which')).trim() })
      return text
    }
    assert.deepEqual([await which('tags:v1'), await which('tags:latest')], ['one', 'two'])
    assert.equal(await Template.exists('tags:v3'), false)
    const tagged = await Template.assignTags('tags:v1', ['latest', 'stable'])
    assert.deepEqual(tagged.tags.sort(), ['latest', 'stable'])
    assert.equal(await which('tags:latest'), 'one')
    assert.deepEqual((await Template.getTags('tags')).map((each) => each.tag).sort(), ['latest', 'stable', 'v1', 'v2'])
    const before = images().length
    await Template.removeTags('tags', ['v2'])
    assert.equal(images().length, before - 1, 'what has no tag is kept')
    await assert.rejects(Sandbox.create('tags:v2'))
    await Template.removeTags('tags', ['v1', 'stable', 'latest'])
    assert.equal(await Template.exists('tags:v1'), false)
  }),

  // Every way to begin, by the names that the package has for images.
  bases: among({}, async (start) => {
    const begun = [
      start().fromDebianImage(), start().fromUbuntuImage(), start().fromFedoraImage(), start().fromAlpineImage(), start().fromArchImage(), start().fromPythonImage(),
      start().fromNodeImage(), start().fromBunImage(),
    ]
    for (const template of begun) await Template.build(template, 'bases', small)
    assert.equal(await Template.aliasExists('bases'), true)
  }),

  // Every step that is a command of somebody's: the image has stand-ins that write down how they were called.
  commands: among({}, async (start) => {
    const template = start().fromImage('tools').skipCache().aptInstall(['curl', 'jq']).pipInstall('numpy').npmInstall('left-pad', { g: true }).bunInstall('elysia')
      .gitClone('https://example.com/a.git', '/a', { depth: 1 }).makeDir('/home/user/made', { mode: 0o700 }).setReadyCmd('true')
    await Template.build(template, 'commands', small)
    await of('commands', async (sandbox) => {
      assert.deepEqual((await sandbox.files.read('/opt/calls')).trim().split('\n'), [
        'apt-get update', 'apt-get install -y curl jq', 'pip install numpy', 'npm install -g left-pad', 'bun install elysia',
        'git clone https://example.com/a.git --depth 1 /a',
      ])
      assert.equal((await sandbox.commands.run('stat -c %a made')).stdout, '700\n')
    })
    assert.match(Template.toDockerfile(template), /FROM tools\nRUN apt-get update/)
    assert.equal(JSON.parse(await Template.toJSON(template)).fromImage, 'tools')
  }),

  // Templates of E2B's own names are those that somebody has built here.
  gateway: among({ 'f.txt': 'f' }, async (start) => {
    await Template.build(start().fromImage('tools').setUser('root').copyItems([{ src: 'f.txt', dest: '/f.txt' }]), 'mcp-gateway', small)
    await Template.build(start().fromTemplate('mcp-gateway').addMcpServer(['browserbase', 'exa']), 'gateway', small)
    await of('gateway', async (sandbox) => assert.equal(await sandbox.files.read('/opt/calls'), 'mcp-gateway pull browserbase exa\n'))
    await Template.build(start().fromImage('tools').setUser('root'), 'devcontainer', small)
    await Template.build(start().fromTemplate('devcontainer').betaDevContainerPrebuild('/w').betaSetDevContainerStart('/w'), 'container', small)
    await of('container', async (sandbox) => {
      assert.match(await sandbox.files.read('/opt/calls'), /^devcontainer build --workspace-folder \S+\ndevcontainer up /)
      assert.equal(await sandbox.files.exists('/devcontainer.up'), true)
    })
  }),

  // Where the tree may be written to, what the sandbox stands on may not.
  walls: among({}, async (start) => {
    await Template.build(start().fromImage('tools').setUser('root'), 'walls', small)
    await of('walls', async (sandbox) => {
      const ends = async (command) => sandbox.commands.run(command, { user: 'root' }).then(() => 0, (error) => error.exitCode)
      assert.equal(await ends(': > /etc/allowed && mkdir /top && mv /opt /moved'), 0)
      for (const refused of [
        ': > /dev/new', ': > /proc/sys/kernel/core_pattern', ': > /proc/sysrq-trigger', 'echo hostile > /proc/1/comm', ': > /proc/1/mem', 'cat /proc/1/fd/0', 'cat /proc/1/environ', 'mv /dev /elsewhere', 'mv /proc /elsewhere', 'rm -r /proc/self',
        'chmod 4755 /usr/bin/id && test -u /usr/bin/id && test "$(su user -c id)"', 'head -c 1 /proc/kcore', 'chown 1000 /etc/allowed',
      ]) assert.notEqual(await ends(refused), 0, refused)
      // What is written is bounded by the sandbox's own disk, and leaves nothing behind.
      assert.notEqual(await ends('head -c 2G /dev/zero > /filler'), 0)
    })
  }),

  // Nobody else sees, uses or changes what a tenant has built.
  tenants: among({}, async (start) => {
    const made = await Template.build(start().fromImage('tools').runCmd('echo mine > /home/user/secret'), 'mine', small)
    const other = { apiKey: process.env.CORDON_TEST_OTHER_KEY }
    assert.equal(await Template.exists('mine', other), false)
    await assert.rejects(Sandbox.create('mine', other))
    await assert.rejects(Sandbox.create(made.templateId, other))
    await assert.rejects(Sandbox.create(`node.${made.buildId}`, other))
    await assert.rejects(Template.getBuildStatus(made, other))
    await assert.rejects(Template.assignTags('mine', ['theirs'], other))
    await assert.rejects(Template.removeTags('mine', ['default'], other))
    await assert.rejects(Template.build(start().fromTemplate('mine'), 'stolen', { ...small, ...other }), /no template/)
    await assert.rejects(Template.build(start().fromImage(`node.${made.buildId}`), 'stolen', { ...small, ...other }), /there is no such image/)
    // Its owner does all of it.
    await of('mine', async (sandbox) => assert.equal(await sandbox.files.read('secret'), 'mine\n'))
    await of(made.templateId, async (sandbox) => assert.equal(await sandbox.files.read('secret'), 'mine\n'))
  }),

  // Files go where the node says, with a signature for them alone.
  uploads: among({ 'x.txt': 'x' }, async (start) => {
    const asked = async (path, options = {}) => fetch(`${process.env.E2B_API_URL}${path}`, {
      ...options, headers: { 'X-API-Key': process.env.E2B_API_KEY, ...options.headers },
    })
    const made = await (await asked('/v3/templates', { method: 'POST', body: JSON.stringify({ name: 'uploads', cpuCount: 1, memoryMB: 256 }) })).json()
    const digest = 'a'.repeat(64)
    const { url, present } = await (await asked(`/templates/${made.templateID}/files/${digest}`)).json()
    assert.equal(present, false)
    const put = (where) => fetch(where, { method: 'PUT', body: 'not an archive' })
    assert.equal((await put(url.replace(digest, 'b'.repeat(64)))).status, 401)
    assert.equal((await put(url.replace(/expiration=\d/, 'expiration=9'))).status, 401)
    assert.equal((await put(url.replace(/signature=[^&]*/, 'signature='))).status, 401)
    assert.equal((await put(url)).status, 201)
    assert.equal((await (await asked(`/templates/${made.templateID}/files/${digest}`)).json()).present, true)
    for (const odd of ['..%2f..%2fetc', 'A'.repeat(64), 'x']) {
      assert((await asked(`/templates/${made.templateID}/files/${odd}`)).status >= 400, odd)
    }
    // What was sent is no archive: the build says so.
    const begun = await asked(`/v2/templates/${made.templateID}/builds/${made.buildID}`, {
      method: 'POST', body: JSON.stringify({ fromImage: 'tools', steps: [{ type: 'COPY', args: ['x', '/x', '', ''], filesHash: digest }] }),
    })
    assert.equal(begun.status, 202)
    let status
    await within(30, async () => {
      status = await (await asked(`/templates/${made.templateID}/builds/${made.buildID}/status`)).json()
      return status.status === 'error'
    }, 'it was taken')
    assert.match(status.reason.message, /refused/)
    assert.equal(status.reason.step, '1')
  }),

  // As many builds as the node keeps of a tenant, and no more.
  most: among({}, async (start) => {
    for (let number = 0; number < 8; number += 1) await Template.build(start().fromImage('tools'), `most-${number}`, small)
    await assert.rejects(Template.build(start().fromImage('tools'), 'most-more', small), /templates.most/)
    await Template.removeTags('most-3', ['default'])
    await Template.build(start().fromImage('tools'), 'most-more', small)
  }),
}

await run(checks)
