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

export const listOf = <T extends z.ZodType>(item: T) => z.object({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })

export interface List<T> {
  object: 'list'
  data: T[]
  has_more: boolean
}
