import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type System, startAll } from '@ponte/all-in-one'
import ts from 'typescript'
import { createMerchant, startWorld, type World } from '../world'

// openapi-typescript and openapi-fetch (npm) know nothing of us but /openapi.json.

let world: World
let system: System
let folder: string

beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
  // Below this package, so that the program finds openapi-fetch as any program of a merchant would.
  const cache = join(__dirname, '../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'generated-client-'))
}, 60_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const program = (baseUrl: string) => `
import createClient from 'openapi-fetch'
import type { paths } from './schema'

declare const process: { argv: string[] }

const client = createClient<paths>({ baseUrl: ${JSON.stringify(baseUrl)}, headers: { Authorization: \`Bearer \${process.argv[2]}\` } })
const { data, error, response } = await client.POST('/api/v1/orders', {
  body: { brl_amount: '150.00', external_ref: 'GENERATED-1' },
  params: { header: { 'Idempotency-Key': 'generated-1' } },
})
if (error) throw new Error(error.detail)
const { data: found } = await client.GET('/api/v1/orders/{id}', { params: { path: { id: data.id } } })
const { data: list } = await client.GET('/api/v1/orders', { params: { query: { limit: 1, status: 'pending' } } })
const refused = await client.POST('/api/v1/orders', { body: { brl_amount: '0' } })
const amount: string = data.usdc_amount
console.log(JSON.stringify({ status: response.status, amount, same: found?.id === data.id, listed: list?.data.length, refused: refused.error?.code }))
`

test('a client generated from /openapi.json by a public generator creates an order', async () => {
  // Named here because only the program below imports it.
  expect(require.resolve('openapi-fetch')).toContain('openapi-fetch')
  const generator = join(dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js')
  await run(generator, `${system.gatewayUrl}/openapi.json`, '-o', join(folder, 'schema.ts'))
  writeFileSync(join(folder, 'client.ts'), program(world.place.publicUrl))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')

  const compiled = ts.createProgram([join(folder, 'client.ts')], {
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ...{ strict: true, skipLibCheck: true, types: [], lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'], outDir: folder },
  })
  const faults = [...ts.getPreEmitDiagnostics(compiled), ...compiled.emit().diagnostics]
  expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])

  const { api_key } = await createMerchant(world, system.gatewayUrl)
  const output = await run(join(folder, 'client.js'), api_key)
  expect(JSON.parse(output)).toEqual({ status: 201, amount: '27.675277', same: true, listed: 1, refused: 'invalid_request' })
}, 240_000)

/** Not synchronously: the service that answers lives in this process. */
async function run(file: string, ...given: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [file, ...given])).stdout
}
