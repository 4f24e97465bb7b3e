// SPDX-License-Identifier: Apache-2.0
// With `@e2b/code-interpreter` from npm; E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY say where and as whom.
import { Sandbox } from '@e2b/code-interpreter'

const sandbox = await Sandbox.create()
await sandbox.runCode('x = 1')
console.log((await sandbox.runCode('x + 1')).text)                     // 2
console.log((await sandbox.runCode('import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()')).results[0].png)
await sandbox.kill()
