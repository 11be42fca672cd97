import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schemaDifferences, testDatabase } from '../src/testing'

it('names every column on which migrations and schema.prisma disagree', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-schema-'))
  const migration = join(folder, 'migrations', '1_first')
  const schema = join(folder, 'schema.prisma')
  writeFileSync(
    schema,
    `model Shoe {
  id     String   @id @db.Uuid
  size   Int
  colour String?
  pairs  Pair[]
  soldAt DateTime @map("sold_at") @db.Timestamptz(3)

  @@map("shoes")
}

model Pair {
  id   String @id
  shoe Shoe   @relation(fields: [id], references: [id])
}
`,
  )
  mkdirSync(migration, { recursive: true })
  writeFileSync(
    join(migration, 'migration.sql'),
    'CREATE TABLE shoes (id uuid PRIMARY KEY, size bigint NOT NULL, colour text NOT NULL, sold_at timestamptz(3) NOT NULL, lace text);',
  )
  const database = await testDatabase(join(folder, 'migrations'))
  try {
    expect(await schemaDifferences(database.url, schema)).toEqual([
      'Pair.id: schema.prisma says text not null, the migrations say absent',
      'shoes.colour: schema.prisma says text, the migrations say text not null',
      'shoes.lace: schema.prisma says absent, the migrations say text',
      'shoes.size: schema.prisma says integer not null, the migrations say bigint not null',
    ])
  } finally {
    await database.drop()
    rmSync(folder, { recursive: true })
  }
})
