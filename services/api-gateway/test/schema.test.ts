import { join } from 'node:path'
import { schemaDifferences, testDatabase } from '@ponte/service-kit/testing'
import { apiGatewayMigrations } from '../src'

it('migrations and schema.prisma agree', async () => {
  const database = await testDatabase(apiGatewayMigrations)
  expect(await schemaDifferences(database.url, join(__dirname, '../prisma/schema.prisma'))).toEqual([])
  await database.drop()
})
