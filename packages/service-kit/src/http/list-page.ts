import type { List } from '@ponte/contracts'

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
