// SPDX-License-Identifier: Apache-2.0
// Runs the JavaScript cells of one context, in the text given to `node --expose-internals -e`.
//
// Descriptor 3 brings one JSON object per line: first {env, cwd}, then cells {code, env}.
// Descriptor 4 takes "e JSON" for each event of a cell and "d N" at its end, N being the next
// cell's number. Output goes to descriptors 1 and 2.
'use strict';
(() => {
  const fs = require('fs');
  const net = require('net');
  const path = require('path');
  const util = require('util');
  const vm = require('vm');
  const { Writable } = require('stream');
  const { createRequire } = require('module');
  const { pathToFileURL } = require('url');

  const EVENT_LIMIT = 16 << 20;
  const JSON_LIMIT = 1 << 20;

  // Node's own parser. Without it a cell still runs, but a second `const x` is an error.
  let acorn = null;
  try {
    acorn = require('internal/deps/acorn/acorn/dist/acorn');
  } catch {}
  process.execArgv = [];      // else workers and forks would be started as this kernel
  process.argv = [process.argv[0]];

  let count = 1;
  let interrupt = null;       // rejects the cell that is being awaited

  // Sends.

  const pause = new Int32Array(new SharedArrayBuffer(4));

  function writeAll(fd, data) {
    while (data.length) {
      try {
        data = data.subarray(fs.writeSync(fd, data));
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        Atomics.wait(pause, 0, 0, 2);   // a program the user started made our pipe non-blocking
      }
    }
  }

  function writeLine(line) {
    writeAll(4, Buffer.from(line + '\n'));
  }

  // Node's own streams queue what a full pipe does not take: without bound in a busy loop, and past
  // the cell's end. Ours wait.
  for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
    const stream = new Writable({
      decodeStrings: true,
      write(chunk, encoding, done) {
        writeAll(fd, chunk);
        done();
      },
    });
    stream.fd = fd;
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
  }

  function sendEvent(event) {
    let text = JSON.stringify(event);
    if (text.length > EVENT_LIMIT) {
      text = JSON.stringify({ type: 'result', is_main_result: event.is_main_result === true,
        text: `(an event of ${text.length} characters is larger than ${EVENT_LIMIT} and was left out)` });
    }
    writeLine('e ' + text.replace(/[\u007f-\uffff]/g,
      (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')));
  }

  const KEYS = { 'text/plain': 'text', 'text/html': 'html', 'text/markdown': 'markdown',
    'image/svg+xml': 'svg', 'image/png': 'png', 'image/jpeg': 'jpeg', 'application/pdf': 'pdf',
    'text/latex': 'latex', 'application/json': 'json', 'application/javascript': 'javascript' };

  // The value as JSON data, or undefined where JSON would lose what it is.
  function plainJson(value) {
    if (value === null || typeof value !== 'object') return undefined;
    const proto = Object.getPrototypeOf(value);
    if (proto !== null && proto !== Object.prototype && !Array.isArray(value)) return undefined;
    try {
      const text = JSON.stringify(value);
      return text === undefined || text.length > JSON_LIMIT ? undefined : JSON.parse(text);
    } catch {
      return undefined;       // a cycle, a BigInt
    }
  }

  async function sendResult(value, main) {
    const event = { type: 'result' };
    const own = value !== null && typeof value === 'object' && value[Symbol.for('Jupyter.display')];
    if (typeof own === 'function') {
      const bundle = await own.call(value);
      for (const [mime, data] of Object.entries(bundle)) {
        if (KEYS[mime]) event[KEYS[mime]] = Buffer.isBuffer(data) ? data.toString('base64') : data;
      }
    } else {
      event.text = typeof value === 'string' ? value : util.inspect(value);
      event.json = plainJson(value);
    }
    event.is_main_result = main;
    sendEvent(event);
  }

  function sendError(error) {
    const real = util.types.isNativeError(error) || error instanceof Error;
    if (real && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') error = interrupted();
    const name = real ? String(error.name || 'Error') : 'Uncaught';
    const value = real ? String(error.message) : util.inspect(error);
    const stack = real && error.stack ? ownFrames(String(error.stack)) : `${name}: ${value}`;
    sendEvent({ type: 'error', name, value, traceback: stack });
  }

  function interrupted() {
    const error = new Error('The cell was interrupted');
    error.name = 'Interrupted';
    error.stack = `${error.name}: ${error.message}`;
    return error;
  }

  // The stack without the frames below the cell, which are ours and node's.
  function ownFrames(stack) {
    const lines = stack.split('\n');
    const end = lines.findIndex((line) => /^\s+at .*(node:vm:|\[eval\])/.test(line));
    return (end < 0 ? lines : lines.slice(0, end)).join('\n');
  }

  // Cells.

  const LEAVES = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

  function walk(node, visit, inFunction = false) {
    if (Array.isArray(node)) {
      for (const item of node) walk(item, visit, inFunction);
    } else if (node && typeof node.type === 'string') {
      visit(node, inFunction);
      const deeper = inFunction || LEAVES.has(node.type);
      for (const key of Object.keys(node)) {
        if (node[key] && typeof node[key] === 'object') walk(node[key], visit, deeper);
      }
    }
  }

  function namesOf(pattern, names = []) {
    if (!pattern) return names;
    switch (pattern.type) {
      case 'Identifier': names.push(pattern.name); break;
      case 'ObjectPattern': pattern.properties.forEach((p) => namesOf(p.value || p.argument, names)); break;
      case 'ArrayPattern': pattern.elements.forEach((p) => namesOf(p, names)); break;
      case 'AssignmentPattern': namesOf(pattern.left, names); break;
      case 'RestElement': namesOf(pattern.argument, names); break;
    }
    return names;
  }

  function parse(code) {
    const options = { ecmaVersion: 'latest', allowAwaitOutsideFunction: true, allowHashBang: true };
    if (/^\s*\{[^]*\}\s*$/.test(code)) {
      // As in node's own prompt: an object, if it can be one, and not a block.
      try {
        const wrapped = `(${code}\n)`;
        return { code: wrapped, tree: acorn.parse(wrapped, { ...options, sourceType: 'script' }) };
      } catch {}
    }
    try {
      return { code, tree: acorn.parse(code, { ...options, sourceType: 'script' }) };
    } catch (error) {
      // Only a module may hold import statements.
      if (!/\b(import|export)\b/.test(code)) throw error;
      return { code, tree: acorn.parse(code, { ...options, sourceType: 'module' }) };
    }
  }

  function importText(node) {
    const source = `__import(${JSON.stringify(node.source.value)})`;
    if (node.specifiers.length === 0) return { names: [], text: `await ${source};` };
    const parts = node.specifiers.map((s) => {
      if (s.type === 'ImportNamespaceSpecifier') return `${s.local.name} = __m`;
      const key = s.type === 'ImportDefaultSpecifier' ? 'default' : s.imported.name ?? s.imported.value;
      return `${s.local.name} = __m[${JSON.stringify(key)}]`;
    });
    return { names: node.specifiers.map((s) => s.local.name),
      text: `{ const __m = await ${source}; ${parts.join('; ')}; }` };
  }

  // Makes a script of a cell: its top-level names become the context's and may be declared again.
  // One that awaits becomes the body of an async function. Lines keep their numbers.
  // Returns {text, awaits, shows}; shows: whether the last statement is a value to be shown.
  function transform(cell) {
    const { code, tree } = parse(cell);
    let awaits = false;
    const edits = [];         // [start, end, text]
    walk(tree.body, (node, inFunction) => {
      if (node.type === 'ImportExpression') edits.push([node.start, node.start + 6, '__import']);
      if (node.type === 'ImportDeclaration') awaits = true;
      if (!inFunction && (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await))) {
        awaits = true;
      }
    });
    const names = [];
    const functions = [];
    for (let node of tree.body) {
      if (node.type === 'ExportNamedDeclaration' && node.declaration) {
        edits.push([node.start, node.declaration.start, '']);
        node = node.declaration;
      }
      if (node.type === 'ImportDeclaration') {
        const made = importText(node);
        names.push(...made.names);
        edits.push([node.start, node.end, made.text]);
      } else if (node.type === 'ClassDeclaration') {
        names.push(node.id.name);
        edits.push([node.start, node.start, `${awaits ? '' : 'var '}${node.id.name} = `], [node.end, node.end, ';']);
      } else if (node.type === 'FunctionDeclaration' && awaits) {
        functions.push(node.id.name);
      } else if (node.type === 'VariableDeclaration') {
        for (const d of node.declarations) names.push(...namesOf(d.id));
        const first = node.declarations[0];
        edits.push([node.start, first.start, awaits ? ';(' : 'var ']);
        for (const d of node.declarations) {
          if (!d.init && (awaits || node.kind !== 'var')) edits.push([d.end, d.end, ' = undefined']);
        }
        if (awaits) {
          const last = node.declarations[node.declarations.length - 1];
          edits.push([last.end, last.end, ');']);
        }
      }
    }
    const last = tree.body[tree.body.length - 1];
    const shows = last !== undefined && last.type === 'ExpressionStatement';
    if (awaits && shows) {
      edits.push([last.start, last.start, 'return ('], [last.expression.end, last.expression.end, ')']);
      // Parentheses around the expression are outside of its node.
      const tail = code.slice(last.expression.end, last.end).replace(/;\s*$/, '');
      if (tail.trim()) {
        edits.pop();
        edits.push([last.expression.end + tail.length, last.expression.end + tail.length, ')']);
      }
    }
    edits.sort((a, b) => a[0] - b[0]);
    let text = '';
    let at = 0;
    for (const [start, end, put] of edits) {
      text += code.slice(at, start) + put;
      at = end;
    }
    text += code.slice(at);
    if (awaits) {
      const all = [...new Set([...names, ...functions])];
      const declared = all.length ? `var ${all.join(', ')}; ` : '';
      const kept = functions.map((name) => `globalThis.${name} = ${name}; `).join('');
      text = `${declared}(async () => { ${kept}${text}\n})()`;
    }
    return { text, awaits, shows };
  }

  async function runCell(code) {
    let cell = { text: code, awaits: false, shows: true };
    if (acorn) {
      try {
        cell = transform(code);
      } catch (error) {
        if (error.pos === undefined) throw error;
        // Let V8 refuse it, whose words are better; what it accepts runs as it is.
      }
    }
    const filename = `[cell ${count}]`;
    const script = new vm.Script(cell.text, { filename });
    let value = script.runInThisContext({ breakOnSigint: true });
    if (cell.awaits) {
      const stop = new Promise((_, reject) => { interrupt = () => reject(interrupted()); });
      value = await Promise.race([value, stop]);
    }
    if (cell.shows && value !== undefined) await sendResult(value, true);
  }

  async function cell(message) {
    const env = message.env || {};
    const before = Object.keys(env).map((name) => [name, process.env[name]]);
    Object.assign(process.env, env);
    try {
      await runCell(message.code);
    } catch (error) {
      sendError(error);
    }
    interrupt = null;
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    count += 1;
    writeLine(`d ${count}`);
  }

  // The context.

  function defineGlobal(name, value) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  }

  function begin(message) {
    Object.assign(process.env, message.env);
    process.chdir(message.cwd);
    const base = path.join(process.cwd(), 'cell.js');
    const local = createRequire(base);
    defineGlobal('require', local);
    defineGlobal('module', { exports: {}, filename: base, paths: local.resolve.paths('x') || [] });
    defineGlobal('exports', globalThis.module.exports);
    defineGlobal('__filename', base);
    defineGlobal('__dirname', process.cwd());
    defineGlobal('display', (value) => sendResult(value, false));
    // Modules are found from the context's directory, not from where this process was started.
    defineGlobal('__import', async (name, options) => {
      name = String(name);
      if (/^\.{0,2}\//.test(name)) return import(pathToFileURL(path.resolve(name)).href, options);
      try {
        return await import(name, options);
      } catch (error) {
        if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
        return import(pathToFileURL(local.resolve(name)).href, options);
      }
    });
  }

  process.on('SIGINT', () => { if (interrupt) interrupt(); });
  const complain = (error) => process.stderr.write(`Uncaught ${util.inspect(error)}\n`);
  process.on('uncaughtException', complain);
  process.on('unhandledRejection', complain);

  let begun = false;
  let queue = Promise.resolve();
  let input = [];
  const cells = new net.Socket({ fd: 3, readable: true, writable: false });
  cells.on('data', (data) => {
    let end;
    while ((end = data.indexOf(10)) >= 0) {
      input.push(data.subarray(0, end));
      data = data.subarray(end + 1);
      const message = JSON.parse(Buffer.concat(input).toString());
      input = [];
      if (begun) {
        queue = queue.then(() => cell(message));
      } else {
        begun = true;
        begin(message);
      }
    }
    if (data.length) input.push(data);
  });
  cells.on('end', () => process.exit(0));
})();
