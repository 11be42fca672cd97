import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { testDatabase } from '@ponte/service-kit/testing'

// Migrations are written by hand, so nothing else notices a column, an index or a foreign key that schema.prisma does not have. Prisma knows
// neither partial nor expression indexes, nor checks.

const root = resolve(__dirname, '../..')
const services = ['api-gateway', 'chain-listener', 'orders', 'subscriptions', 'webhook-dispatcher']
const prismaFolder = (service: string) => join(root, 'services', service, 'prisma')

const proposed = (url: string, schemaFile: string) =>
  execFileSync(process.execPath, [join(__dirname, 'prisma-diff.mjs'), url, schemaFile], { encoding: 'utf8', stdio: 'pipe' })

it.each(services)('Prisma would change nothing in the migrated database of %s', async service => {
  const database = await testDatabase(join(prismaFolder(service), 'migrations'))
  expect(proposed(database.url, join(prismaFolder(service), 'schema.prisma'))).toBe('')
  await database.drop()
})

it('sees a column, a type, an index and a foreign key that the schema does not have', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-schema-'))
  const database = await testDatabase(join(prismaFolder('subscriptions'), 'migrations'))
  const schema = readFileSync(join(prismaFolder('subscriptions'), 'schema.prisma'), 'utf8')
    .replace('externalRef ', 'externalReference ')
    .replace('chargesDone        Int ', 'chargesDone        BigInt ')
    .replace(/ {2}@@index.*subscriptions_merchant_status.*\n/, '')
    .replace(', onDelete: NoAction, onUpdate: NoAction', '')
    .replace('@map("external_ref")', '')
  writeFileSync(join(folder, 'schema.prisma'), schema)
  const changes = proposed(database.url, join(folder, 'schema.prisma'))
  for (const change of ['DROP COLUMN "external_ref"', '"charges_done" SET DATA TYPE BIGINT', 'DROP INDEX "subscriptions_merchant_status"'])
    expect(changes).toContain(change)
  expect(changes).toMatch(/ADD CONSTRAINT "charges_subscription_id_fkey"/)
  rmSync(folder, { recursive: true })
  await database.drop()
})
