# SPDX-License-Identifier: Apache-2.0
# needs: node
cat >a.js <<'X'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const fs = require('fs'), cp = require('child_process'), net = require('net');
if (!isMainThread) {
  parentPort.postMessage(42);
} else {
  new Worker(__filename).on('message', async m => {
    await fs.promises.writeFile('f', String(m));
    fs.watch('.').close();
    const s = net.createServer(c => c.end('x')).listen(0, '127.0.0.1', () => {
      net.connect(s.address().port, '127.0.0.1').on('data', () => {
        cp.execFile('cat', ['f'], (e, out) => { if (!e && out === '42') console.log('made'); s.close(); });
      });
    });
  });
}
X
test "$(node a.js)" = made
echo done
