import { z } from 'zod'

/** A place in a list that is counted without gaps. `epoch` names the history in which the number was given: numbers are given again when a database was put back. */
export interface Cursor {
  sequence: number
  epoch: string | null
}

export const cursor = z
  .string()
  .regex(/^\d{1,15}(-[0-9a-f]{16})?$/, 'must be a cursor of this list, or a sequence')
  .meta({ example: '4711-9f86d081884c7d65' })

export const cursorInQuery = cursor.transform(
  (text): Cursor => ({ sequence: Number.parseInt(text, 10), epoch: text.split('-')[1] ?? null }),
)
