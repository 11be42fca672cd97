import { createRequire } from 'node:module'

let servers

export default async function globalSetup() {
  // Jest compiles what is required while this runs, so that tests never see an old build.
  const { startTestServers } = createRequire(import.meta.url)('../../packages/local-servers/src/test-servers.ts')
  servers = await startTestServers({ durable: false })
  Object.assign(process.env, servers.env)
}

export const globalTeardown = () => servers.stop()
