import { Router } from 'express'
import { z } from 'zod'
import type { Sql } from '../../database/sql'

const LIMIT_MAX = 5_000
const query = z.strictObject({ after: z.string().optional(), limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(1_000) })
const keys = z.array(z.union([z.string(), z.number()]))

/** Left out of every row, sealed or not. */
const SECRET = /secret/i

/** Tables that an auditor may read row by row, each with the columns of its key, and with those that it shows where they are not all. */
export type AuditedTables = Readonly<Record<string, readonly string[] | { key: readonly string[]; shown: readonly string[] }>>

/**
 * For operators, on the inner port only: the rows of some tables as they stand, in the order of their keys, so that an auditor of the books needs
 * no password of a database and believes no judgement of ours.
 */
export function auditRoutes(sql: Pick<Sql, 'query'>, tables: AuditedTables): Router {
  const router = Router()
  router.get('/audit/:table', async (req, res) => {
    const table = Object.hasOwn(tables, req.params.table) ? tables[req.params.table] : undefined
    if (!table) return void res.status(404).json({ detail: `The tables are ${Object.keys(tables).join(', ')}.` })
    const { key: columns, shown } = 'key' in table ? table : { key: table, shown: ['*'] }
    const asked = query.safeParse(req.query)
    const after = asked.success && asked.data.after !== undefined ? keys.safeParse(parsed(asked.data.after)) : undefined
    if (!asked.success || after?.success === false || (after && after.data.length !== columns.length))
      return void res.status(400).json({ detail: `after is a JSON list of ${columns.join(', ')}; limit is 1 to ${LIMIT_MAX}.` })
    const key = columns.join(', ')
    const beyond = after ? `WHERE (${key}) > (${columns.map((_, index) => `$${index + 2}`).join(', ')})` : ''
    const { rows } = await sql.query<Record<string, unknown>>(
      `SELECT ${shown.join(', ')} FROM ${req.params.table} ${beyond} ORDER BY ${key} LIMIT $1`,
      [asked.data.limit, ...(after?.data ?? [])],
    )
    const last = rows.at(-1)
    res.json({
      rows: rows.map(row =>
        Object.fromEntries(Object.entries(row).flatMap(([name, value]) => (SECRET.test(name) ? [] : [[name, plain(name, value)]]))),
      ),
      next: last && rows.length === asked.data.limit ? columns.map(column => last[column]) : null,
    })
  })
  return router
}

/** Bytes are bodies, and hashes. */
const plain = (name: string, value: unknown) => (Buffer.isBuffer(value) ? value.toString(name === 'hash' ? 'hex' : 'utf8') : value)

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
