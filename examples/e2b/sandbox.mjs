// SPDX-License-Identifier: Apache-2.0
// With `e2b` from npm; E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY say where and as whom.
import { Sandbox } from 'e2b'

const sandbox = await Sandbox.create({ envs: { A: '1' }, timeoutMs: 60_000 })
console.log((await sandbox.commands.run('echo $A; pwd')).stdout)
await sandbox.files.write('notes.txt', 'hello')
await sandbox.kill()
