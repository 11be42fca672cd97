import { z } from 'zod'
import { id } from '../fields'

/** Keyset paging, newest first (docs/interface.md#lists). At most one of the two cursors. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a number from 1 to 100')
    .transform(Number)
    .refine(n => n >= 1 && n <= 100, 'must be a number from 1 to 100')
    .optional(),
  starting_after: id.optional(),
  ending_before: id.optional(),
}

/** A check for every query with `pageQuery` in it: a page lies on one side of one row. */
export const isOneWay = (query: { starting_after?: string | undefined; ending_before?: string | undefined }): boolean =>
  query.starting_after === undefined || query.ending_before === undefined
export const notOneWay = { path: ['ending_before'], message: 'does not go with starting_after' }

export const listOf = <T extends z.ZodType>(item: T) => z.object({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })

/** Most rows that a page looks through where no index answers. */
export const SEARCHED_MAX = 5_000

/** A list with filters that no index answers, or not together. */
export const searchedListOf = <T extends z.ZodType>(item: T) =>
  listOf(item).extend({
    searched_to: id.optional().meta({
      description: `When no index answers the filters: ${SEARCHED_MAX} rows were looked through, and the search goes on from this id`,
    }),
  })

export interface List<T> {
  object: 'list'
  data: T[]
  has_more: boolean
}
