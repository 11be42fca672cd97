import { defineConfig } from 'prisma/config'

// For those who have Prisma's schema engine: `prisma migrate status` and `dev` work on the migrations that the service applies itself.
export default defineConfig({
  schema: 'prisma/schema.prisma',
  datasource: { url: process.env.DATABASE_URL ?? '' },
})
