// SPDX-License-Identifier: Apache-2.0
// Without a package: curl and a shell are enough to start a process in a sandbox.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const SCRIPT = `
set -eu
message='{"process":{"cmd":"/bin/bash","args":["-l","-c","echo hi"]},"stdin":false}'
length=$(printf '%08x' \${#message} | sed 's/../\\\\x&/g')
{ printf '\\0'; printf "$length"; printf %s "$message"; } | curl -sS --max-time 20 --data-binary @- -H 'content-type: application/connect+json' \\
  -H 'connect-protocol-version: 1' -H "E2b-Sandbox-Id: $SID" -H 'E2b-Sandbox-Port: 49983' \${TOK:+-H "X-Access-Token: $TOK"} \\
  -w '%{http_code}' "$E2B_SANDBOX_URL/process.Process/Start"`

// The messages of a stream, each with its flags.
function envelopes(bytes) {
  const all = []
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32BE(at + 1)
    all.push([bytes[at], JSON.parse(bytes.subarray(at + 5, at + 5 + length).toString())])
    at += 5 + length
  }
  return all
}

const start = async (sandbox, token) => {
  const env = { ...process.env, SID: sandbox.sandboxId, TOK: token }
  const { stdout } = await promisify(execFile)('bash', ['-c', SCRIPT], { encoding: 'buffer', env })
  return { status: stdout.subarray(-3).toString(), body: stdout.subarray(0, -3) }
}

export const wireChecks = (inside) => ({
  curl: inside(async (sandbox) => {
    const { status, body } = await start(sandbox, sandbox.envdAccessToken)
    assert.equal(status, '200', body.toString())
    const said = envelopes(body)
    const data = said.map(([, message]) => message.event?.data?.stdout).find(Boolean)
    assert.equal(Buffer.from(data, 'base64').toString(), 'hi\n')
    assert(said[0][1].event.start.pid > 0, JSON.stringify(said))
    const ended = said.map(([, message]) => message.event?.end).find(Boolean)
    assert.equal(ended.exitCode ?? 0, 0)
    assert.equal(said.at(-1)[0], 2, 'the last one ends the stream')
    // Who has no token has no process.
    assert.equal((await start(sandbox, '')).status, '401')
  }),
})
