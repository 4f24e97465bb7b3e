// SPDX-License-Identifier: Apache-2.0
// Every public method of the E2B packages, as their own declarations have it, against the table of docs/e2b.md: `node methods.mjs`.
// `node methods.mjs PACKAGE FILE [templates]` also holds it against what the checks of that package called (see called.mjs): what passes was called, and
// what is not supported was not. The checks of templates are a run of their own.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const CODE = '@e2b/code-interpreter'
const PAGE = new URL('../../../docs/e2b.md', import.meta.url)
const VERDICTS = ['pass', 'differs', 'not supported']

// What these do the package does by itself; there is nothing of a node in it.
const OF_THE_PACKAGE = new Set(['ApiClient', 'ClientFactory', 'ConnectionConfig', 'E2B', 'EnvdApiClient', 'Execution', 'LogEntry', 'LogEntryEnd', 'LogEntryStart',
  'OutputMessage', 'Paginator', 'ReadyCmd', 'Result', 'VolumeConnectionConfig'])
const CALLED = { SandboxApi: 'Sandbox', TemplateBase: 'Template' }

// The names in a class's body, each before its parenthesis; static ones by themselves.
function namesIn(body) {
  const found = { own: new Set(), static: new Set() }
  let depth = 0
  for (const line of body.split('\n')) {
    const member = depth === 0 && /^\s*(static )?(?:abstract )?(\w+)(?:<.*?>)?\(/.exec(line)
    if (member && member[2] !== 'constructor') found[member[1] ? 'static' : 'own'].add(member[2])
    for (const letter of line) depth += '({'.includes(letter) ? 1 : ')}'.includes(letter) ? -1 : 0
  }
  return found
}

// By owner: "Sandbox" has the methods of an instance, "Sandbox, static" those of the class.
export function publicMethods(name) {
  const file = new URL(`../node_modules/${name}/dist/index.d.ts`, import.meta.url)
  const text = readFileSync(file, 'utf8').replace(/\/\*[^]*?\*\//g, '')
  const all = new Map()
  for (const [, of, body] of text.matchAll(/^declare (?:abstract )?class (\w+)[^{]*\{$([^]*?)^\}/gm)) {
    if (of.endsWith('Error') || OF_THE_PACKAGE.has(of)) continue
    const owner = (CALLED[of] ?? of) + (name === CODE ? ` of ${CODE}` : '')
    const found = namesIn(body)
    for (const [who, names] of [[owner, found.own], [`${owner}, static`, found.static]]) {
      if (names.size) all.set(who, [...new Set([...(all.get(who) ?? []), ...names])].sort())
    }
  }
  return all
}

// The table under "Every method": owner, and the methods of each verdict.
function told() {
  const section = readFileSync(PAGE, 'utf8').split('\n## ').find((part) => part.startsWith('Every method'))
  const rows = new Map()
  for (const [, owner, ...cells] of section.matchAll(/^\| (`[^|]*) \|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)) {
    const names = cells.map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))
    rows.set(owner.replaceAll('`', ''), Object.fromEntries(VERDICTS.map((verdict, at) => [verdict, names[at]])))
  }
  return { section, rows }
}

function groupOf(owner) {
  const [, name] = /^(Template|Volume|Secret)/.exec(owner) ?? []
  return name ? `${name.toLowerCase()}s` : 'sandboxes and code'
}

// One line of the page for each group, and one for all of them.
function figures(rows) {
  const groups = new Map([['sandboxes and code', {}], ['templates', {}], ['volumes', {}], ['secrets', {}], ['all', {}]])
  for (const [owner, verdicts] of rows) {
    for (const verdict of VERDICTS) {
      for (const group of [groupOf(owner), 'all']) groups.get(group)[verdict] = (groups.get(group)[verdict] ?? 0) + verdicts[verdict].length
    }
  }
  return [...groups].map(([group, count]) => {
    const whole = VERDICTS.reduce((sum, verdict) => sum + count[verdict], 0)
    return `| ${group} | ${whole} | ${VERDICTS.map((verdict) => count[verdict]).join(' | ')} | ${((100 * count.pass) / whole).toFixed(1)} % |`
  })
}

function holdTable() {
  const { section, rows } = told()
  const real = new Map([...publicMethods('e2b'), ...publicMethods(CODE)])
  assert.deepEqual([...rows.keys()].sort(), [...real.keys()].sort(), 'docs/e2b.md: the table has other classes than the packages')
  for (const [owner, names] of real) {
    assert.deepEqual(VERDICTS.flatMap((verdict) => rows.get(owner)[verdict]).sort(), names, `docs/e2b.md: the row of ${owner} has other methods than the packages`)
  }
  const lines = figures(rows)
  for (const line of lines) {
    assert(section.includes(`\n${line}\n`), `docs/e2b.md: the figures are not\n${lines.join('\n')}`)
  }
  return { rows, lines }
}

function holdCalls(rows, name, called, templates) {
  const of = publicMethods(name)
  const wrong = []
  for (const owner of of.keys()) {
    if ((groupOf(owner) === 'templates') !== templates) continue
    for (const method of rows.get(owner).pass) {
      if (!called.has(`${owner}.${method}`)) wrong.push(`${owner}.${method} is said to pass, and no check has called it with success`)
    }
    for (const method of rows.get(owner)['not supported']) {
      if (called.has(`${owner}.${method}`)) wrong.push(`${owner}.${method} is said not to be supported, and has succeeded`)
    }
  }
  assert.deepEqual(wrong, [])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, file, group] = process.argv.slice(2)
  const { rows, lines } = holdTable()
  if (name) holdCalls(rows, name, new Set(JSON.parse(readFileSync(file, 'utf8'))), group === 'templates')
  else console.log(`methods | all | ${VERDICTS.join(' | ')} | passed\n${lines.join('\n')}`)
}
