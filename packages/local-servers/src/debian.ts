import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first of these programs that exists: an absolute path, or a name looked for in PATH. */
export function findProgram(...names: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'].filter(Boolean)
  return names.flatMap(name => (name.startsWith('/') ? [name] : folders.map(folder => join(folder, name)))).find(path => existsSync(path))
}

/** An installed program, or that of a Debian package where it may be installed. */
export async function requireProgram(name: string, packageName: string, purpose: string): Promise<string> {
  if (!findProgram(name)) await installDebianPackage(packageName, purpose)
  return findProgram(name) ?? name
}

/** Installs a Debian package as root, unless PONTE_INSTALL=no; otherwise throws what to run. Announces the installation before it begins. */
export async function installDebianPackage(name: string, purpose: string): Promise<void> {
  const missing = `${name} is not installed, and ${purpose} needs it.`
  const aptGet = findProgram('apt-get')
  if (!aptGet) throw new Error(`${missing} Install it with this system's package manager.`)
  const isRoot = process.getuid?.() === 0
  const isForbidden = process.env.PONTE_INSTALL === 'no'
  if (!isRoot || isForbidden) throw new Error(`${missing} Run: ${isRoot ? '' : 'sudo '}apt-get install ${name}`)

  // Not by console.error, which Jest holds back until the test has ended.
  process.stderr.write(`${missing} Installing Debian's package with apt-get (PONTE_INSTALL=no forbids it) …\n`)
  await withoutStartingServices(async () => {
    const install = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', name]
    // A machine that never fetched its package lists, or long ago, needs them first.
    if ((await run(aptGet, install)).code === 0) return
    await run(aptGet, ['update'])
    const { code, output } = await run(aptGet, install)
    if (code !== 0) throw new Error(`apt-get could not install ${name}:\n${output.trim().split('\n').slice(-15).join('\n')}`)
  })
}

// Debian starts a daemon as it installs it, unless this file forbids that. Only the program is wanted, not a server on its usual port.
async function withoutStartingServices(install: () => Promise<void>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return install()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await install()
  } finally {
    rmSync(policy, { force: true })
  }
}

// In a process group of its own: a Ctrl-C must not leave half a package behind.
async function run(command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      output += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}
