import { Router } from 'express'
import { resealColumn, type SealedColumn } from '../../database/reseal-column'
import type { Sql } from '../../database/sql'

/** For operators, on the inner port only: seals by the first of the keys what another of them sealed. It may be asked again at any time. */
export function resealRoutes(sql: Pick<Sql, 'query'>, keys: readonly string[], columns: readonly SealedColumn[]): Router {
  const router = Router()
  router.post('/reseal', async (_req, res) => {
    let resealed = 0
    for (const column of columns) resealed += await resealColumn(sql, column, keys)
    res.json({ resealed, keys: keys.length })
  })
  return router
}
