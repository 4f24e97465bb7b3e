// SPDX-License-Identifier: Apache-2.0
// The unmodified `@e2b/code-interpreter` package against a node: `node code_checks.mjs NAME...`; without names all.
import assert from 'node:assert/strict'
import { NotFoundError, Sandbox } from '@e2b/code-interpreter'
import { insideOf, pause, run, within } from './harness.mjs'
import { CODE } from './methods.mjs'

const inside = insideOf(Sandbox, CODE)

const code = (sandbox, path, options = {}) => fetch(`${process.env.E2B_SANDBOX_URL}${path}`, {
  ...options, headers: { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49999', 'content-type': 'application/json', ...options.headers },
})

const checks = {
  keeps_state: inside(async (sandbox) => {
    assert.equal((await sandbox.runCode('x = 1')).text, undefined)
    const told = await sandbox.runCode('x + 1')
    assert.equal(told.text, '2')
    assert.equal(told.error, undefined)
    assert.equal((await sandbox.runCode('import os; os.getcwd()')).text, '/home/user')
    // The first was 1.
    assert((await sandbox.runCode('1')).executionCount >= 3)
  }),

  streams: inside(async (sandbox) => {
    const heard = { out: [], err: [], results: 0 }
    const told = await sandbox.runCode('import sys, time\nprint("one"); print("é€", file=sys.stderr)\ntime.sleep(0.3)\nprint("two")\n7', {
      onStdout: (piece) => heard.out.push([piece.line, Date.now()]), onStderr: (piece) => heard.err.push(piece.line), onResult: () => { heard.results += 1 },
    })
    assert.equal(told.logs.stdout.join(''), 'one\ntwo\n')
    assert.equal(told.logs.stderr.join(''), 'é€\n')
    assert.deepEqual([told.text, heard.results], ['7', 1])
    assert(heard.out.length >= 2 && heard.out.at(-1)[1] - heard.out[0][1] >= 200, `it does not come as it is written: ${JSON.stringify(heard.out)}`)
    assert.equal((await sandbox.runCode('import subprocess; subprocess.run(["/bin/bash", "-c", "echo from below"]); None')).logs.stdout.join(''), 'from below\n')
  }),

  errors: inside(async (sandbox) => {
    const told = await sandbox.runCode('def f():\n  return y\nf()')
    assert.deepEqual([told.error.name, told.error.value], ['NameError', "name 'y' is not defined"])
    assert.match(told.error.traceback, /line 2.*in .*f/)
    assert.equal((await sandbox.runCode('1 +')).error.name, 'SyntaxError')
    assert.equal((await sandbox.runCode('"on"')).text, 'on')
    const died = await sandbox.runCode('import os; os._exit(3)')
    assert.equal(died.error.name, 'KernelDied')
    assert.equal((await sandbox.runCode('1 + 1')).text, '2')
  }),

  pictures: inside(async (sandbox) => {
    const told = await sandbox.runCode('import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [2, 4, 8], label="grows")\nplt.title("a line")\nplt.show()')
    const [picture] = told.results
    assert.equal(Buffer.from(picture.png, 'base64').subarray(1, 4).toString(), 'PNG')
    assert.deepEqual([picture.chart.type, picture.chart.title], ['line', 'a line'])
    assert.deepEqual(picture.chart.elements[0].points, [[1, 2], [2, 4], [3, 8]])
    const rich = await sandbox.runCode('from IPython.display import HTML, JSON, SVG, display\ndisplay(HTML("<b>b</b>"))\nJSON({"a": 1})')
    assert.equal(rich.results[0].html, '<b>b</b>')
    assert.deepEqual(rich.results[1].json, { a: 1 })
    assert.deepEqual(rich.results.map((each) => each.isMainResult), [false, true])
    // Longer than what the sandbox keeps of an answer.
    const large = await sandbox.runCode('from IPython.display import Image\nImage(data=b"\\x89PNG" + b"x" * 3_000_000, format="png")')
    assert.equal(Buffer.from(large.results[0].png, 'base64').length, 3_000_004)
  }),

  contexts: inside(async (sandbox) => {
    await sandbox.files.makeDir('elsewhere')
    const context = await sandbox.createCodeContext({ cwd: '/home/user/elsewhere' })
    assert.equal(context.language, 'python')
    await sandbox.runCode('z = 5', { context })
    assert.equal((await sandbox.runCode('z', { context })).text, '5')
    assert.equal((await sandbox.runCode('import os; os.getcwd()', { context })).text, '/home/user/elsewhere')
    assert.equal((await sandbox.runCode('z')).error.name, 'NameError')
    assert((await sandbox.listCodeContexts()).some((each) => each.id === context.id))
    await sandbox.restartCodeContext(context)
    assert.equal((await sandbox.runCode('z', { context })).error.name, 'NameError')
    await sandbox.removeCodeContext(context)
    assert(!(await sandbox.listCodeContexts()).some((each) => each.id === context.id))
    await assert.rejects(sandbox.runCode('1', { context }), NotFoundError)
    await assert.rejects(sandbox.createCodeContext({ cwd: '/nowhere' }))
  }),

  variables: inside(async (sandbox) => {
    const ask = 'import os; [os.environ.get("A"), os.environ.get("B")]'
    assert.equal((await sandbox.runCode(ask, { envs: { B: 'of this run' } })).text, "['of the sandbox', 'of this run']")
    assert.equal((await sandbox.runCode(ask)).text, "['of the sandbox', None]")
  }, { envs: { A: 'of the sandbox' } }),

  languages: inside(async (sandbox) => {
    await sandbox.runCode('const a = 20', { language: 'js' })
    assert.equal((await sandbox.runCode('a + 1', { language: 'javascript' })).text, '21')
    assert.equal((await sandbox.runCode('console.log("said"); await Promise.resolve(4)', { language: 'javascript' })).logs.stdout.join(''), 'said\n')
    assert.equal((await sandbox.runCode('throw new TypeError("no")', { language: 'javascript' })).error.name, 'TypeError')
    await sandbox.runCode('v=kept; cd /tmp', { language: 'bash' })
    assert.equal((await sandbox.runCode('echo $v; pwd', { language: 'bash' })).logs.stdout.join(''), 'kept\n/tmp\n')
    assert.notEqual((await sandbox.runCode('false', { language: 'bash' })).error, undefined)
    await assert.rejects(sandbox.runCode('1', { language: 'cobol' }), /400/)
  }),

  interrupted: inside(async (sandbox) => {
    await sandbox.runCode('n = 0')
    await assert.rejects(sandbox.runCode('import time\nwhile True:\n  n += 1\n  time.sleep(0.01)', { timeoutMs: 500 }))
    // Who has left has nothing run on, and what was computed is there.
    const begun = Date.now()
    assert(Number((await sandbox.runCode('n')).text) > 1)
    assert(Date.now() - begun < 5000)
  }),

  at_once: inside(async (sandbox) => {
    const contexts = await Promise.all([1, 2, 3].map(() => sandbox.createCodeContext()))
    const begun = Date.now()
    const all = await Promise.all(contexts.map((context, number) => sandbox.runCode(`import time; time.sleep(0.5); ${number}`, { context })))
    assert.deepEqual(all.map((each) => each.text), ['0', '1', '2'])
    assert(Date.now() - begun < 1400, 'they wait for each other')
    const queue = await Promise.all(Array.from({ length: 20 }, (_, number) => sandbox.runCode(`${number} * 2`)))
    assert.deepEqual(queue.map((each) => each.text), Array.from({ length: 20 }, (_, number) => `${number * 2}`))
  }),

  much: inside(async (sandbox) => {
    const told = await sandbox.runCode('for i in range(100000): print("line", i)')
    const text = told.logs.stdout.join('')
    assert.equal(text.length, Array.from({ length: 100_000 }, (_, i) => `line ${i}\n`).join('').length)
    assert(text.endsWith('line 99999\n'))
  }),

  wants_its_token: inside(async (sandbox) => {
    const body = JSON.stringify({ code: '1' })
    const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken }
    assert.equal((await code(sandbox, '/execute', { method: 'POST', body })).status, 403)
    assert.equal((await code(sandbox, '/contexts')).status, 403)
    assert.equal((await code(sandbox, '/execute', { method: 'POST', body, headers: { 'e2b-traffic-access-token': '00' } })).status, 403)
    assert.equal((await code(sandbox, '/execute', { method: 'POST', body, headers: token })).status, 200)
    assert.equal((await code(sandbox, '/health')).status, 200)
    assert.equal((await code(sandbox, '/execute', { method: 'POST', body: '{"code":1}', headers: token })).status, 400)
    assert.equal((await code(sandbox, '/execute', { method: 'POST', body: '{"code":"1","context_id":"a","language":"python"}', headers: token })).status, 400)
    const [other] = [await Sandbox.create()]
    try {
      assert.equal((await code(other, '/execute', { method: 'POST', body, headers: token })).status, 403, "another sandbox's token opens it")
    } finally {
      await other.kill()
    }
  }),

  ready_ahead: async () => {
    // For a kind that came twice one stands by.
    for (let i = 0; i < 2; i += 1) await (await Sandbox.create()).kill()
    await pause(4000)
    const begun = performance.now()
    const sandbox = await Sandbox.create()
    try {
      assert.equal((await sandbox.runCode('1 + 1')).text, '2')
      const took = performance.now() - begun
      const cold = performance.now()
      await sandbox.commands.run('python3 -c "import IPython.core.interactiveshell, matplotlib.pyplot"')
      console.log(`  a first result in a new sandbox: ${took.toFixed(0)} ms; a cold interpreter: ${(performance.now() - cold).toFixed(0)} ms`)
      assert(took < (performance.now() - cold) / 3, 'it was not ready')
    } finally {
      await sandbox.kill()
    }
  },

  stopped: inside(async (sandbox) => {
    // Code can stop who runs it. That is its own loss, and no memory of the node's.
    const stopping = sandbox.runCode('import os, signal; open("stopped", "w"); os.kill(os.getppid(), signal.SIGSTOP)', { timeoutMs: 60_000 })
    stopping.catch(() => {})
    await within(20, () => sandbox.files.exists('stopped'), 'it does not begin')
    await pause(200)
    const body = JSON.stringify({ code: '#'.repeat(1_000_000) })
    const leaves = new AbortController()
    const ask = () => code(sandbox, '/execute', { method: 'POST', body, signal: leaves.signal, headers: { 'e2b-traffic-access-token': sandbox.trafficAccessToken } })
    const late = setTimeout(() => leaves.abort(), 60_000)
    const refused = Array.from({ length: 6 }, () => ask().then((answer) => assert.equal(answer.status, 503)))
    await Promise.any(refused)
    clearTimeout(late)
    leaves.abort()
    assert.equal((await sandbox.commands.run('echo on')).stdout, 'on\n')
    await sandbox.kill()
    await assert.rejects(stopping)
  }),

  ends: async () => {
    const sandbox = await Sandbox.create()
    const running = sandbox.runCode('import time; time.sleep(100)')
    running.catch(() => {})
    await pause(500)
    await sandbox.kill()
    await assert.rejects(running)
    await within(5, async () => !(await sandbox.isRunning()), 'it lives on')
    await assert.rejects(sandbox.runCode('1'), /sandbox/i)
  },
}

await run(checks)
