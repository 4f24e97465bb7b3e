// SPDX-License-Identifier: Apache-2.0
// The package's Git, all of it: between a repository of the sandbox's own and a bare one beside it.
import assert from 'node:assert/strict'

const at = '/home/user/work'

async function begin({ git, files }) {
  await git.configureUser('Somebody', 'somebody@example.com')
  assert.equal(await git.getConfig('user.email'), 'somebody@example.com')
  assert.equal(await git.getConfig('no.such'), undefined)
  await git.init('/home/user/bare', { bare: true, initialBranch: 'main' })
  await git.init(at, { initialBranch: 'main' })
  await git.setConfig('color.ui', 'never', { scope: 'local', path: at })
  assert.equal(await git.getConfig('color.ui', { scope: 'local', path: at }), 'never')
  assert.equal(await git.remoteGet(at, 'origin'), undefined)
  await git.remoteAdd(at, 'origin', '/home/user/bare')
  assert.equal(await git.remoteGet(at, 'origin'), '/home/user/bare')
  await files.write(`${at}/a.txt`, 'one\n')
}

export const gitChecks = (inside) => ({
  git: inside(async (sandbox) => {
    const { git, files } = sandbox
    await begin(sandbox)
    assert.deepEqual((await git.status(at)).fileStatus.map((each) => each.name), ['a.txt'])
    await git.add(at)
    await git.commit(at, 'first')
    assert.equal((await git.status(at)).isClean, true)
    await git.push(at, { remote: 'origin', branch: 'main' })
    await git.clone('/home/user/bare', { path: '/home/user/other' })
    assert.equal(await files.read('/home/user/other/a.txt'), 'one\n')

    await git.createBranch(at, 'topic')
    assert.deepEqual(await git.branches(at), { branches: ['main', 'topic'], currentBranch: 'topic' })
    await git.checkoutBranch(at, 'main')
    await git.deleteBranch(at, 'topic')
    assert.deepEqual((await git.branches(at)).branches, ['main'])

    await files.write(`${at}/a.txt`, 'two\n')
    await git.restore(at, { paths: ['a.txt'] })
    assert.equal(await files.read(`${at}/a.txt`), 'one\n')
    await files.write(`${at}/a.txt`, 'two\n')
    await git.add(at, { files: ['a.txt'] })
    await git.reset(at, { mode: 'hard', target: 'HEAD' })
    assert.equal(await files.read(`${at}/a.txt`), 'one\n')

    await files.write(`${at}/a.txt`, 'three\n')
    await git.add(at)
    await git.commit(at, 'second')
    await git.push(at)
    await git.pull('/home/user/other')
    assert.equal(await files.read('/home/user/other/a.txt'), 'three\n')

    await git.dangerouslyAuthenticate({ username: 'u', password: 'p', host: 'git.example', protocol: 'https' })
    assert.equal(await files.read('.git-credentials'), 'https://u:p@git.example\n')
    await assert.rejects(git.commit(at, 'nothing'))
  }),
})
