import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { createMerchant, runSystem, system, world } from '../world'

// openapi-typescript and openapi-fetch (npm) know nothing of us but /openapi.json.

let folder: string

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})
runSystem({ merchant: false })
beforeAll(async () => {
  // Below this package, so that the program finds openapi-fetch as any program of a merchant would.
  const cache = join(__dirname, '../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'generated-client-'))
})

const program = (baseUrl: string, name: string) => `
import createClient from 'openapi-fetch'
import type { paths } from './${name}-schema'

declare const process: { argv: string[] }

const client = createClient<paths>({ baseUrl: ${JSON.stringify(baseUrl)}, headers: { Authorization: \`Bearer \${process.argv[2]}\` } })
const { data, error, response } = await client.POST('/api/v1/orders', {
  body: { brl_amount: '150.00', external_ref: '${name}-1' },
  params: { header: { 'Idempotency-Key': '${name}-1' } },
})
if (error) throw new Error(error.detail)
const { data: found } = await client.GET('/api/v1/orders/{id}', { params: { path: { id: data.id } } })
const { data: list } = await client.GET('/api/v1/orders', { params: { query: { limit: 1, status: 'pending', external_ref: '${name}-1' } } })
const refused = await client.POST('/api/v1/orders', { body: { brl_amount: '0' } })
const cancelled = await client.POST('/api/v1/orders/{id}/cancel', { params: { path: { id: data.id } } })
const plan = await client.POST('/api/v1/subscriptions', { body: { brl_amount: '49.90', interval: 'month' } })
const plans = await client.GET('/api/v1/subscriptions', { params: { query: { limit: 1 } } })
const events = await client.GET('/api/v1/events', { params: { query: { after: '0', limit: 1 } } })
const checkout = await client.GET('/api/v1/checkout/{order_id}', { params: { path: { order_id: data.id } } })
const amount: string = data.usdc_amount
console.log(JSON.stringify({
  status: response.status, amount, same: found?.id === data.id, listed: list?.data.length, refused: refused.error?.code,
  cancelled: cancelled.data?.status, plan: plan.data?.status, plans: plans.data?.data.length, events: events.data?.object, due: checkout.data?.due,
}))
`

const previous = join(__dirname, 'contract/documents/previous.json')

test('clients that a public generator makes of /openapi.json, and of the document of an earlier day, do all that they name', async () => {
  // Named here because only the program above imports it.
  expect(require.resolve('openapi-fetch')).toContain('openapi-fetch')
  const generator = join(dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js')
  const documents = { present: `${system.gatewayUrl}/openapi.json`, previous }
  const names = Object.keys(documents)
  await Promise.all(Object.entries(documents).map(([name, from]) => run(generator, from, '-o', join(folder, `${name}-schema.ts`))))
  for (const name of names) writeFileSync(join(folder, `${name}.ts`), program(world.place.publicUrl, name))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')

  const compiled = ts.createProgram(
    names.map(name => join(folder, `${name}.ts`)),
    {
      ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
      ...{ strict: true, skipLibCheck: true, types: [], lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'], outDir: folder },
    },
  )
  const faults = [...ts.getPreEmitDiagnostics(compiled), ...compiled.emit().diagnostics]
  expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])

  const { api_key } = await createMerchant(world, system.gatewayUrl)
  for (const name of names) {
    const output = await run(join(folder, `${name}.js`), api_key)
    expect(JSON.parse(output)).toEqual({
      ...{ status: 201, amount: '27.675277', same: true, listed: 1, refused: 'invalid_request', cancelled: 'cancelled' },
      ...{ plan: 'active', plans: 1, events: 'list', due: '0.000000' },
    })
  }
}, 240_000)

/** Not synchronously: the service that answers lives in this process. */
async function run(file: string, ...given: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [file, ...given])).stdout
}
