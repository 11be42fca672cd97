import express from 'express'
import fastify from 'fastify'
import pg from 'pg'

// The limits that orders is measured against: the same body into one prepared INSERT, and nothing else.

const INSERT = {
  name: 'bare',
  text: 'INSERT INTO bare_orders (brl_amount, external_ref) VALUES ($1, $2) RETURNING id, brl_amount, external_ref, created_at',
}

async function main(): Promise<void> {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
  await pool.query(`CREATE TABLE IF NOT EXISTS bare_orders (id bigserial PRIMARY KEY, brl_amount text NOT NULL, external_ref text,
    created_at timestamptz NOT NULL DEFAULT now())`)
  const insert = async (body: { brl_amount: string; external_ref?: string }) =>
    (await pool.query({ ...INSERT, values: [body.brl_amount, body.external_ref ?? null] })).rows[0]
  const port = Number(process.env.PORT)
  if (process.argv[2] === 'fastify') {
    const app = fastify()
    app.post('/orders', async (req, reply) => reply.code(201).send(await insert(req.body as { brl_amount: string })))
    await app.listen({ port, host: '127.0.0.1' })
  } else {
    const app = express()
    app.post('/orders', express.json(), async (req, res) => {
      res.status(201).json(await insert(req.body))
    })
    app.listen(port, '127.0.0.1')
  }
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
