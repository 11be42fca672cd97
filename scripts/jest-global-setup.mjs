import { createRequire } from 'node:module'
import { startTestEnvironment } from './test-environment.mjs'

let environment

export default async function globalSetup() {
  // Jest compiles what is required while this runs, so that tests never see an old build.
  const { startPostgres } = createRequire(import.meta.url)('../packages/local-servers/src/postgres/index.ts')
  environment = await startTestEnvironment(startPostgres)
}

export const globalTeardown = () => environment.stop()
