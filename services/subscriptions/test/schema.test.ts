import { join } from 'node:path'
import { schemaDifferences, testDatabase } from '@ponte/service-kit/testing'
import { subscriptionsMigrations } from '../src'

it('the migrations and schema.prisma describe the same tables', async () => {
  const database = await testDatabase(subscriptionsMigrations)
  try {
    expect(await schemaDifferences(database.url, join(__dirname, '../prisma/schema.prisma'))).toEqual([])
  } finally {
    await database.drop()
  }
})
