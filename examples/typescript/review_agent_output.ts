// SPDX-License-Identifier: Apache-2.0
// Run what an agent wrote under a policy, and look at what became of it. CORDON_NODE and CORDON_TOKEN say where and as whom.
// Needs the package, built by `npm ci && npm run build` in sdk/typescript: `npm install ./sdk/typescript`.
import { Client } from 'cordon-sandbox'

const agentWrote = `
echo the answer is 42
echo 42 > /workspace/answer
`
const policy = {
  filesystem: { mode: 'read_only' },
  network: { mode: 'none' },
  resources: { memory_limit: '64Mi', disk_limit: '8Mi', pids_limit: 32 },
}
const say = (name: string, ...words: unknown[]) => console.log(`${name}:`.padEnd(12), ...words)

const node = new Client()
const run = await node.run(['sh', '-c', agentWrote], { policy, timeoutSeconds: 10, labels: { job: 'review' } })
say('it said', run.text.trim())
say('it ended by', run.verdict.ending, run.verdict.status, `after ${run.usage.wallMilliseconds} ms`)
for (const fence of ['seccomp', 'landlock', 'network', 'memory']) say(fence, run.enforcement.hold(fence))
for (const denial of run.denials) {
  say('refused', denial.tried, '-', denial.why)
  say('  rule', denial.rule, '- to allow it:', denial.fix)
}
for await (const record of node.audit({ where: `sandbox=${run.id}`, follow: false })) say(`audit ${record.seq}`, record.event)

// The same with a policy that lets it.
const again = await node.run(['sh', '-c', agentWrote], { policy: { ...policy, filesystem: { mode: 'read_write' } } })
say('allowed', again.verdict.ending, again.verdict.status, `with ${again.denials.length} denials`)
node.close()
