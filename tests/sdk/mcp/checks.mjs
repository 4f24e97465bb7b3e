// SPDX-License-Identifier: Apache-2.0
// The MCP packages from npm, unmodified, against `cordon mcp serve`: `checks.mjs CORDON WORKSPACE`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { Client as Modern, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as Legacy } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [cordon, workspace, port] = process.argv.slice(2);
const info = { name: 'cordon-test', version: '1' };
const capabilities = { elicitation: { form: {} } };
const asked = [];
const agree = async (request) => {
  const choices = request.params.requestedSchema.properties.decision.enum;
  asked.push(request.params.message);
  return { action: 'accept', content: { decision: choices[0] } };
};

function legacy() {
  const client = new Legacy(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, agree);
  return client;
}

function modern(mode) {
  const client = new Modern(info, { capabilities, ...(mode && { versionNegotiation: { mode } }) });
  client.setRequestHandler('elicitation/create', agree);
  return client;
}

// Both validate every structuredContent against its outputSchema, and reject what does not match.
async function use(client, word) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ['run', 'run_code', 'process', 'read_output', 'diff', 'apply', 'explain', 'request_access']);
  const call = async (name, args = {}, options = {}) => {
    const result = await (client instanceof Legacy ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options));
    assert.ok(!result.isError, JSON.stringify(result));
    return result.structuredContent;
  };
  const ran = await call('run', { command: `echo ${word} >${word}; cat ${word}; echo x >/etc/cordon-test; exit 4` });
  assert.equal(ran.exit_code, 4);
  assert.equal(ran.stdout, `${word}\n`);
  assert.equal(ran.denials[0].code, 'CORDON-FS-WRITE');
  const killed = await call('run', { command: 'kill -9 $$' });
  assert.equal(killed.exit_code, null);
  let told = 0;
  const slow = await call('run', { command: 'sleep 4; echo slow' }, { onprogress: () => (told += 1) });
  assert.equal(slow.stdout, 'slow\n');
  assert.ok(told > 0, 'no progress');
  const begun = await call('run', { command: 'sleep 1000', timeout_s: 0 });
  assert.equal(begun.running, true);
  await call('process', { process: begun.process, action: 'signal', signal: 'SIGTERM' });
  assert.equal((await call('process', { process: begun.process, action: 'wait' })).signal, 'SIGTERM');
  assert.equal((await call('run_code', { language: 'python', code: '6*7' })).result, '42');
  const much = await call('run', { command: 'seq 1 50000', max_output: 500 });
  assert.equal((await call('read_output', { output_id: much.output_id, limit: 4 })).text, '1\n2\n');
  assert.equal((await call('explain', { op: 'net', target: 'example.com' })).allowed, false);
  const shown = await call('diff', { format: 'patch' });
  assert.ok(shown.patch.includes(`+${word}`), shown.patch);
  assert.deepEqual((await call('apply', { expect: shown.expect, paths: [word] })).applied, [word]);
  assert.ok(asked.pop().includes(word));
  const granted = await call('request_access', { op: 'read', target: `${workspace}/../data`, reason: 'a test' });
  assert.equal(granted.decision, 'granted');
  assert.equal((await call('run', { command: `cat ${workspace}/../data/file`, sandbox: granted.sandbox })).stdout, 'wanted\n');
  await assert.rejects(client instanceof Legacy ? client.callTool({ name: 'no_such' }) : client.callTool({ name: 'no_such', arguments: {} }), /-32602|no tool/);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 1500);
  await assert.rejects(call('run', { command: 'sleep 1001' }, { signal: stop.signal }));
  assert.equal((await call('run', { command: 'echo after' })).stdout, 'after\n');
  await client.close();
  console.log(`pass  ${word}`);
}

const stdio = { command: cordon, args: ['mcp', 'serve'], cwd: workspace, env: process.env, stderr: 'ignore' };

async function overHttp() {
  const server = spawn(cordon, ['mcp', 'serve', '--http', `127.0.0.1:${port}`], { cwd: workspace, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.on('data', (data) => (said += data));
  while (!said.includes('serving MCP')) await once(server.stderr, 'data');
  const token = /the token of this server: (\S+)/.exec(said)[1];
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
  for (const [client, transport, word] of [[legacy(), new LegacyHttp(url, options), 'sdk1-http'],
    [modern(), new ModernHttp(url, options), 'sdk2-legacy-http'], [modern('auto'), new ModernHttp(url, options), 'sdk2-modern-http']]) {
    await client.connect(transport);
    await use(client, word);
  }
  server.kill('SIGTERM');
  await once(server, 'exit');
}

for (const [client, transport, word] of [[legacy(), new LegacyStdio(stdio), 'sdk1'], [modern(), new ModernStdio(stdio), 'sdk2-legacy'],
  [modern('auto'), new ModernStdio(stdio), 'sdk2-modern']]) {
  await client.connect(transport);
  await use(client, word);
}
await overHttp();
