import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root, setUp } from './setup.mjs'
import { StepError } from './steps.mjs'
import { startTestEnvironment } from './test-environment.mjs'

/** Does the work beside a PostgreSQL and a RabbitMQ of its own, which end with it. Durable as in production: no write is called done before it is. */
export async function withServers(work) {
  await setUp()
  const { startPostgres } = createRequire(import.meta.url)('../packages/local-servers/dist/postgres/index.js')
  const environment = await startTestEnvironment(options => startPostgres({ ...options, durable: true }))
  try {
    await work()
  } finally {
    await environment.stop()
  }
}

/** Runs a tool of ours that is written in TypeScript, with its output shown as it comes. */
export async function runTool(file, args = [], env = {}) {
  const command = ['--require', join(root, 'scripts/register-typescript.cjs'), join(root, file), ...args]
  const child = spawn(process.execPath, command, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new StepError(`${file} ended with ${code}.`)
}
