import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { until } from '@ponte/service-kit'

const root = join(__dirname, '../..')
const VERDACCIO = '6.10.4'

/** The way to npm's registry (a proxy, a certificate) belongs to the machine; what an npm that runs these tests sets for its own programs does not. */
export const environment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_(?!config_registry$)|INIT_CWD$|NODE_(ENV|OPTIONS|PATH)$|JEST)/.test(name)),
  )

/** A registry on this machine to which SDK and command line are published by npm, as a release does. */
export async function publish(folder: string) {
  const here = join(folder, 'registry')
  mkdirSync(here)
  // 6.10.4 asks for a tag of node-fetch that mirrors of the registry leave out.
  writeFileSync(join(here, 'package.json'), JSON.stringify({ overrides: { 'node-fetch': '2.7.0' } }))
  const env = environment()
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `verdaccio@${VERDACCIO}`], { cwd: here, stdio: 'pipe', env })
  const url = `http://127.0.0.1:${await freePort()}`
  const rules =
    "packages:\n  '@ponte/*':\n    access: $all\n    publish: $authenticated\nlog: { type: stdout, format: pretty, level: warn }\n"
  const users = 'auth: { htpasswd: { file: ./htpasswd, max_users: 1 } }\n'
  writeFileSync(join(here, 'config.yaml'), `storage: ./storage\nuplinks: {}\n${users}${rules}`)
  const program = join(here, 'node_modules/verdaccio/bin/verdaccio')
  const child = spawn(process.execPath, [program, '--config', 'config.yaml', '--listen', url], { cwd: here, env, stdio: 'ignore' })
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  try {
    await until(
      () =>
        fetch(`${url}/-/ping`).then(
          ({ ok }) => ok,
          () => false,
        ),
      'verdaccio does not answer',
      60_000,
    )
    const user = await fetch(`${url}/-/user/org.couchdb.user:release`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'release', password: 'a-password-for-tests' }),
    })
    const { token } = (await user.json()) as { token: string }
    const npmrc = join(folder, 'release.npmrc')
    writeFileSync(npmrc, `@ponte:registry=${url}\n${url.slice('http:'.length)}/:_authToken=${token}\n`)
    for (const name of ['sdk', 'cli'])
      execFileSync('npm', ['publish', '--userconfig', npmrc], { cwd: join(root, 'packages', name), stdio: 'pipe', env })
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
