// SPDX-License-Identifier: Apache-2.0
// npm install of what a registry on the loopback offers: `node install.js OFFERS`, a directory of NAME.tgz.
const { spawn } = require('node:child_process'), crypto = require('node:crypto'), fs = require('node:fs'), http = require('node:http'),
  os = require('node:os'), path = require('node:path');

const offers = process.argv[2];
const names = fs.readdirSync(offers).filter((name) => name.endsWith('.tgz')).map((name) => name.slice(0, -4));
const bytesOf = new Map(names.map((name) => [name, fs.readFileSync(path.join(offers, `${name}.tgz`))]));

const server = http.createServer((request, response) => {
  const name = path.basename(request.url);
  if (name.endsWith('.tgz')) return response.end(bytesOf.get(name.slice(0, -4)));
  const bytes = bytesOf.get(name);
  if (!bytes) return response.writeHead(404).end();
  const dist = { tarball: `http://127.0.0.1:${server.address().port}/${name}.tgz`, shasum: crypto.createHash('sha1').update(bytes).digest('hex') };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { name, version: '1.0.0', dist } } }));
});

server.listen(0, '127.0.0.1', () => {
  const place = fs.mkdtempSync(path.join(process.cwd(), 'install-'));
  fs.writeFileSync(path.join(place, 'package.json'), JSON.stringify({
    name: 'all', version: '1.0.0', dependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
  }));
  const flags = ['install', '--silent', '--no-audit', '--no-fund', '--no-update-notifier', `--registry=http://127.0.0.1:${server.address().port}/`,
    `--cache=${path.join(place, 'cache')}`];
  spawn('npm', flags, { cwd: place, stdio: 'inherit', env: { ...process.env, HOME: place } }).on('exit', (code) => {
    const whole = fs.readdirSync(path.join(place, 'node_modules')).filter((name) => !name.startsWith('.')).length === names.length;
    fs.rmSync(place, { recursive: true });
    server.close();
    process.exit(code === 0 && whole ? 0 : 1);
  });
});
