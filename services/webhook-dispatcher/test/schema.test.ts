import { join } from 'node:path'
import { schemaDifferences, testDatabase } from '@ponte/service-kit/testing'
import { webhookDispatcherMigrations } from '../src'

it('migrations and schema.prisma agree', async () => {
  const database = await testDatabase(webhookDispatcherMigrations)
  expect(await schemaDifferences(database.url, join(__dirname, '../prisma/schema.prisma'))).toEqual([])
  await database.drop()
})
