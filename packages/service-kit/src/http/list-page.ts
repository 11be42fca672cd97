import type { List } from '@ponte/contracts'
import type { Found } from '../database/keyset'

const LIMIT_DEFAULT = 20

export interface PageQuery {
  limit?: number | undefined
  starting_after?: string | undefined
  ending_before?: string | undefined
}

/**
 * One page of a list, newest first. `find` reads one row more than the page holds, to know whether there are more, and oldest first when paging
 * backwards.
 */
export async function listPage<Row, Body>(
  query: PageQuery,
  find: (limit: number) => Promise<readonly Row[]>,
  toBody: (row: Row) => Body,
): Promise<List<Body>> {
  const limit = query.limit ?? LIMIT_DEFAULT
  const found = await find(limit + 1)
  const data = found.slice(0, limit).map(row => toBody(row))
  if (query.ending_before !== undefined) data.reverse()
  return { object: 'list', data, has_more: found.length > limit }
}

/** The same of a list whose search for more rows may end early, and then goes on from `searched_to`. */
export async function searchedPage<Row, Body>(
  query: PageQuery,
  find: (limit: number) => Promise<Found<Row>>,
  toBody: (row: Row) => Body,
): Promise<List<Body> & { searched_to?: string }> {
  let end: string | null = null
  const page = await listPage(
    query,
    async limit => {
      const { rows, searchedTo } = await find(limit)
      end = searchedTo
      return rows
    },
    toBody,
  )
  return end === null ? page : { ...page, has_more: true, searched_to: end }
}
