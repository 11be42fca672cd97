import { table as plainTable } from '@ponte/service-kit'
import type { z } from 'zod'

export { flag, int, text, time, units } from '@ponte/service-kit'

/** A table of the kit whose rows are stated by a generation of the listener's history. */
export const table = <Shape extends z.ZodRawShape>(name: string, shape: Shape) => {
  const plain = plainTable(name, shape)
  return {
    ...plain,
    /** Takes what is written over what is there, where the statement that brings it is newer, or what else is named. */
    takeNewer: (or = 'false') => `ON CONFLICT (id) DO UPDATE SET ${plain.columns
      .filter(column => column !== 'id')
      .map(column => `${column} = EXCLUDED.${column}`)
      .join(', ')}
      WHERE ${isOlder(name, 'EXCLUDED')} OR ${or}`,
  }
}

/** True when one row was stated before another. */
export const isOlder = (a: string, b: string): string =>
  `(coalesce(${a}.generation::text, ''), ${a}.version) < (coalesce(${b}.generation::text, ''), ${b}.version)`
