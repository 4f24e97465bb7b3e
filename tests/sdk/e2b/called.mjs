// SPDX-License-Identifier: Apache-2.0
// Which methods of the packages the checks have called by themselves, and seen succeed. What a method calls in turn does not count.
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import { TemplateBase } from 'e2b'
import { CODE, publicMethods } from './methods.mjs'

const declared = new Map([...publicMethods('e2b'), ...publicMethods(CODE)])
const below = new AsyncLocalStorage()
const known = new Set()
const called = new Set()
const pagesOf = new WeakMap()   // a list has succeeded when its first page was there
const stepsOf = new WeakMap()   // a step of a template, when the template was built

// Classes that the packages do not export are met by their instances.
function meet(value) {
  if (typeof value !== 'object' || value === null) return
  for (const each of [value, value.files, value.commands, value.pty, value.git]) {
    const type = each?.constructor
    if (type && declared.has(type.name) && type.name !== 'Sandbox') watch(type.prototype, type.name)
  }
}

function watch(holder, owner) {
  if (known.has(owner)) return
  known.add(owner)
  for (const name of declared.get(owner)) {
    const was = holder[name]
    holder[name] = function (...words) {
      if (below.getStore()) return was.apply(this, words)
      const succeeded = (value) => {
        meet(value)
        if (typeof value?.nextItems === 'function') {
          pagesOf.set(value, `${owner}.${name}`)
          return
        }
        if (owner === 'Template') {
          stepsOf.set(this, [...(stepsOf.get(this) ?? []), `${owner}.${name}`])
          return
        }
        called.add(`${owner}.${name}`)
        if (owner === 'Template, static' && name === 'build') for (const each of stepsOf.get(words[0]) ?? []) called.add(each)
        if (pagesOf.has(this)) called.add(pagesOf.get(this))
      }
      return below.run(true, () => {
        const given = was.apply(this, words)
        if (typeof given?.then === 'function') given.then(succeeded, () => {})
        else succeeded(given)
        return given
      })
    }
  }
}

export function watchPackage(Sandbox, name) {
  const owner = name === CODE ? `Sandbox of ${CODE}` : 'Sandbox'
  watch(Sandbox.prototype, owner)
  if (name === CODE) return
  watch(Sandbox, `${owner}, static`)
  watch(TemplateBase, 'Template, static')
  watch(TemplateBase.prototype, 'Template')
}

export function writeCalled(file) {
  writeFileSync(file, JSON.stringify([...called].sort()))
}
