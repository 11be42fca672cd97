import { PonteError } from '../failure.js'

/** An id as a part of a path: nothing that a caller passes in leaves its route. */
export function segment(id: string): string {
  if (typeof id === 'string' && /^[0-9a-zA-Z-]{1,64}$/.test(id)) return id
  throw new PonteError({ code: 'invalid_argument', detail: 'An id is needed here: a UUID as the API gave it.' })
}
