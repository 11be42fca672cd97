import { reseal } from '../seal'
import type { Sql } from './sql'

const ROWS_AT_ONCE = 500

/** Sealed texts of a table, each bound to its row's id. */
export interface SealedColumn {
  table: string
  column: string
}

/**
 * Seals by the first key what another sealed, some rows at a time, while others write: a row that changed since it was read keeps its newer text. Returns how
 * many were sealed anew. Raw SQL, because any table may have such a column.
 */
export async function resealColumn(sql: Pick<Sql, 'query'>, { table, column }: SealedColumn, keys: readonly string[]): Promise<number> {
  const next = `SELECT id::text, ${column} AS sealed FROM ${table} WHERE id > $1::uuid AND ${column} IS NOT NULL ORDER BY id LIMIT ${ROWS_AT_ONCE}`
  const write = `UPDATE ${table} SET ${column} = row.new FROM unnest($1::uuid[], $2::text[], $3::text[]) AS row(id, old, new)
    WHERE ${table}.id = row.id AND ${table}.${column} = row.old`
  let count = 0
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await sql.query<{ id: string; sealed: string }>(next, [after])
    const changed = rows.map(row => ({ ...row, anew: reseal(row.sealed, keys, row.id) })).filter(({ sealed, anew }) => anew !== sealed)
    if (changed.length > 0) {
      const columns = [changed.map(({ id }) => id), changed.map(({ sealed }) => sealed), changed.map(({ anew }) => anew)]
      count += (await sql.query(write, columns)).rowCount ?? 0
    }
    const last = rows.at(-1)
    if (!last || rows.length < ROWS_AT_ONCE) return count
    after = last.id
  }
}
