import { uuidv7Floor } from '../ids'

export interface KeysetQuery {
  starting_after?: string | undefined
  ending_before?: string | undefined
  created_gte?: string | undefined
  created_lt?: string | undefined
}

export interface KeysetList {
  /** Columns to select. */
  select: string
  from: string
  owner: readonly [column: string, id: string]
  /** Equality filters that have an index (owner, filter, id), the most telling first; one that is not asked for is undefined. */
  leading: readonly (readonly [column: string, type: 'text' | 'uuid', value: string | undefined])[]
  /** Further equality filters; what is not asked for is undefined. */
  filters?: readonly (readonly [column: string, value: unknown])[]
  query: KeysetQuery
  /** How many rows at most. */
  limit: number
}

/**
 * Rows of one owner, newest first; oldest first when paging backwards. The id is the keyset: it is a UUIDv7 of the row's time of creation, so that
 * a span of time is a span of ids. A page costs the same at any depth.
 */
export function keysetPage({ select, from, owner, leading, filters = [], query, limit }: KeysetList): { text: string; values: unknown[] } {
  const [along, against] = query.ending_before === undefined ? ['ASC', 'DESC'] : ['DESC', 'ASC']
  const lead = leading.find(([, , value]) => value !== undefined)
  const values: unknown[] = [owner[1], limit]
  // Written as lists of one, owner and leading filter are part of the order, which only the index made for them has. As plain equalities they
  // drop out of it, and the planner may walk another index past rows that do not belong: quick on average, endless for a quiet owner.
  const led = lead ? `AND ${lead[0]} = ANY (ARRAY[$${values.push(lead[2])}]::${lead[1]}[])` : ''
  const conditions: (readonly [condition: string, value: unknown])[] = [
    ...leading.filter(other => other !== lead).map(([column, , value]) => [`${column} =`, value] as const),
    ...filters.map(([column, value]) => [`${column} =`, value] as const),
    ['id <', query.starting_after],
    ['id >', query.ending_before],
    // Exact, since the id begins with the time of creation. A condition on `created_at` beside it would be taken for a second one, and what
    // seems left for a handful that may as well be sorted.
    ['id >=', query.created_gte && uuidv7Floor(instant(query.created_gte))],
    ['id <', query.created_lt && uuidv7Floor(instant(query.created_lt))],
  ]
  const where = conditions.filter(([, value]) => value !== undefined).map(([condition, value]) => `AND ${condition} $${values.push(value)}`)
  const text = `SELECT ${select} FROM ${from} WHERE ${owner[0]} = ANY (ARRAY[$1]::uuid[]) ${led} ${where.join(' ')}
    ORDER BY ${owner[0]} ${along}, ${lead ? `${lead[0]} ${along},` : ''} id ${against} LIMIT $2`
  return { text, values }
}

/**
 * Rows are created at whole milliseconds, so what lies between two stands for the later one. Nothing was created before 1970, and a year that
 * the database cannot hold is of no use to a filter.
 */
function instant(text: string): Date {
  const between = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
  return new Date(Math.max(0, Date.parse(text) + between))
}
