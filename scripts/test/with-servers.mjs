import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root, setUp } from '../develop/setup.mjs'
import { StepError } from '../develop/steps.mjs'

/** The built package, once it is set up. An import would not see the names that its index exports again. */
export const localServers = () => createRequire(import.meta.url)('../../packages/local-servers/dist/index.js')

/** Does the work beside a PostgreSQL and a RabbitMQ of its own, which end with it. Durable as in production: no write is called done before it is. */
export async function withServers(work) {
  await setUp()
  const { startTestServers } = localServers()
  const servers = await startTestServers({ durable: true })
  Object.assign(process.env, servers.env)
  try {
    await work()
  } finally {
    await servers.stop()
  }
}

/** Runs a tool of ours that is written in TypeScript, with its output shown as it comes. */
export async function runTool(file, args = [], env = {}) {
  const command = ['--require', join(root, 'scripts/test/register-typescript.cjs'), join(root, file), ...args]
  const child = spawn(process.execPath, command, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new StepError(`${file} ended with ${code}.`)
}
