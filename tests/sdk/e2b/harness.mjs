// SPDX-License-Identifier: Apache-2.0
// What all checks of a package need: waiting, a sandbox of one's own, and being run by name.
import assert from 'node:assert/strict'
import { watchPackage, writeCalled } from './called.mjs'

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds))

export async function within(seconds, truth, words) {
  const end = Date.now() + seconds * 1000
  while (!(await truth())) {
    assert(Date.now() < end, words)
    await pause(20)
  }
}

// A sandbox of the check's own, gone at its end. Sandbox is that of the package `name`.
export const insideOf = (Sandbox, name) => {
  watchPackage(Sandbox, name)
  return (act, options = {}) => async () => {
    const sandbox = await Sandbox.create({ timeoutMs: 120_000, ...options })
    try {
      await act(sandbox)
    } finally {
      await sandbox.kill()
    }
  }
}

// Those that are named on the command line, or all. What they called goes to the file that CORDON_TEST_CALLED names.
export async function run(checks) {
  let failed = 0
  const named = process.argv.slice(2)
  for (const name of named.length ? named : Object.keys(checks)) {
    const begun = performance.now()
    try {
      await checks[name]()
      console.log(`pass  ${name.padEnd(24)} ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    } catch (error) {
      failed += 1
      console.log(`FAIL  ${name}\n${error}\n${error.stack}\n${error.cause ?? ''}`)
    }
  }
  if (process.env.CORDON_TEST_CALLED) writeCalled(process.env.CORDON_TEST_CALLED)
  process.exit(failed ? 1 : 0)
}
