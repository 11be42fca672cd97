import { SEARCHED_MAX } from '@ponte/contracts'
import { uuidv7Floor } from '../ids'
import type { Sql } from './sql'

export interface KeysetQuery {
  starting_after?: string | undefined
  ending_before?: string | undefined
  created_gte?: string | undefined
  created_lt?: string | undefined
}

/** A condition on a value that stands as `?` in it, or on none. */
export type Condition = readonly [condition: string, value?: unknown]

export interface KeysetList {
  select: string
  from: string
  /** The column of the id that the list is walked by, where another table beside the rows has it. */
  key?: string
  owner: readonly [column: string, id: string]
  /** Equality filters that have an index (owner, filter, id), the most telling first; one that is not asked for is undefined. */
  leading: readonly (readonly [column: string, type: 'text' | 'uuid', value: string | undefined])[]
  /** Held by an index itself: the conditions of a partial one, or rows by their names. */
  indexed?: readonly Condition[]
  /** Answered by no index. */
  searched?: readonly Condition[]
  /** The column that a span of time is about, when that is not the time of the id; then the list is in its order, by an index (owner, column). */
  time?: string | undefined
  query: KeysetQuery
  limit: number
}

/** Rows of a page; `searchedTo` is the last row looked at when the search for more of them ended early. */
export interface Found<Row> {
  rows: Row[]
  searchedTo: string | null
}

/**
 * Rows of one owner, newest first; oldest first when paging backwards. The id is the keyset: it is a UUIDv7 of the row's time of creation, so that
 * a span of time is a span of ids. A page costs the same at any depth. What no index answers is searched for in a bounded number of rows a page.
 */
export async function keysetPage<Row extends { id: string }>(sql: Sql, list: KeysetList): Promise<Found<Row>> {
  const { text, values, isSearch } = statementOf(list)
  const { rows } = await sql.query<Row & { searchedTo?: string | null }>(text, values)
  // A search that finds nothing answers one row without an id.
  const found = rows.filter(({ id }) => id !== null)
  const isEnded = isSearch && found.length < list.limit
  return { rows: found, searchedTo: (isEnded && rows[0]?.searchedTo) || null }
}

function statementOf({ select, from, key = 'id', owner, leading, indexed = [], searched = [], time, query, limit }: KeysetList) {
  const [along, against] = query.ending_before === undefined ? ['ASC', 'DESC'] : ['DESC', 'ASC']
  const given = leading.filter(([, , value]) => value !== undefined)
  const lead = time === undefined ? given[0] : undefined
  const values: unknown[] = [owner[1], limit]
  const bind = ([condition, value]: Condition) =>
    `AND ${value === undefined ? condition : condition.replaceAll('?', `$${values.push(value)}`)}`
  // Written as lists of one, owner and leading filter are part of the order, which only the index made for them has. As plain equalities they
  // drop out of it, and the planner may walk another index past rows that do not belong: quick on average, endless for a quiet owner.
  const led = lead ? bind([`${lead[0]} = ANY (ARRAY[?]::${lead[1]}[])`, lead[2]]) : ''
  const place = time === undefined ? idPlace(key, query) : timePlace(time, from, owner[0], query)
  const where = [led, ...[...indexed, ...place].map(bind)].join(' ')
  const order =
    time === undefined
      ? `${owner[0]} ${along}, ${lead ? `${lead[0]} ${along},` : ''} ${key} ${against}`
      : `${owner[0]} ${against}, ${time} ${against}, id ${against}`
  const walk = `FROM ${from} WHERE ${owner[0]} = ANY (ARRAY[$1]::uuid[]) ${where} ORDER BY ${order}`
  const others = given.filter(other => other !== lead).map(([column, , value]): Condition => [`${column} = ?`, value])
  const search = [...others, ...searched]
  if (search.length === 0) return { text: `SELECT ${select} ${walk} LIMIT $2`, values, isSearch: false }
  // One statement, so that the page and where it ended are of the same moment.
  const text = `
    WITH found AS (SELECT ${select}${time ? `, ${time} AS place` : ''} FROM (SELECT * ${walk} LIMIT ${SEARCHED_MAX}) AS ${from.split(' ')[0]}
      WHERE true ${search.map(bind).join(' ')} LIMIT $2)
    SELECT found.*, ended.id AS "searchedTo"
    FROM (SELECT (SELECT id ${walk} OFFSET ${SEARCHED_MAX - 1} LIMIT 1) AS id) AS ended LEFT JOIN found ON true
    ORDER BY ${time ? `found.place ${against}, ` : ''}found.id ${against}`
  return { text, values, isSearch: true }
}

const asked = (conditions: readonly Condition[]): Condition[] => conditions.filter(([, value]) => value !== undefined)

const idPlace = (key: string, query: KeysetQuery): Condition[] =>
  asked([
    [`${key} < ?`, query.starting_after],
    [`${key} > ?`, query.ending_before],
    // Exact, since the id begins with the time of creation. A condition on `created_at` beside it would be taken for a second one, and what
    // seems left for a handful that may as well be sorted.
    [`${key} >= ?`, query.created_gte && uuidv7Floor(instant(query.created_gte))],
    [`${key} < ?`, query.created_lt && uuidv7Floor(instant(query.created_lt))],
  ])

function timePlace(time: string, from: string, owner: string, query: KeysetQuery): Condition[] {
  const place = `((SELECT place.${time} FROM ${from} AS place WHERE place.id = ?::uuid AND place.${owner} = $1::uuid), ?::uuid)`
  return asked([
    ...timeSpan(time, query),
    [`(${time}, id) < ${place}`, query.starting_after],
    [`(${time}, id) > ${place}`, query.ending_before],
  ])
}

/** A span of time as conditions on a column. */
export const timeSpan = (column: string, { created_gte, created_lt }: KeysetQuery): Condition[] =>
  asked([
    [`${column} >= ?::timestamptz`, created_gte && instant(created_gte)],
    [`${column} < ?::timestamptz`, created_lt && instant(created_lt)],
  ])

/**
 * Rows are created at whole milliseconds, so what lies between two stands for the later one. Nothing was created before 1970, and a year that
 * the database cannot hold is of no use to a filter.
 */
function instant(text: string): Date {
  const between = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
  return new Date(Math.max(0, Date.parse(text) + between))
}
