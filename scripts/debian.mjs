import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first of these programs that exists: an absolute path, or a name looked for in PATH. */
export function findProgram(...names) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'].filter(Boolean)
  return names.flatMap(name => (name.startsWith('/') ? [name] : folders.map(folder => join(folder, name)))).find(existsSync)
}

/** Installs a Debian package when this process may, else says what to do. */
export async function installDebianPackage(name, purpose) {
  const aptGet = findProgram('apt-get')
  if (!aptGet) throw new Error(`${name} is not installed (${purpose} needs it). Install it with this system's package manager.`)
  if (process.getuid() !== 0) throw new Error(`${name} is not installed (${purpose} needs it). Run: sudo apt-get install ${name}`)

  console.error(`Installing Debian's ${name}, which ${purpose} needs …`)
  await withoutStartingServices(async () => {
    const install = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', name]
    // A machine that never fetched its package lists, or long ago, needs them first.
    if ((await run(aptGet, install)).code === 0) return
    await run(aptGet, ['update'])
    const { code, output } = await run(aptGet, install)
    if (code !== 0) throw new Error(`apt-get could not install ${name}:\n${output.trim().split('\n').slice(-15).join('\n')}`)
  })
}

// Debian starts a daemon as it installs it, unless this file forbids that. We want the program, not a server on its usual port.
async function withoutStartingServices(install) {
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
async function run(command, args) {
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
