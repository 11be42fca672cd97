import { INFORMED, type Operation, type Place, WAITS } from '@ponte/contracts'

/** A session should know before it asks: what it must be allowed, how fresh the login, what waits how long and who undoes it, who is informed. */
export function guardOf({ permission, login, waits, informs, whileFrozen }: Operation, { credentials }: Place): object {
  if (!credentials.includes('session')) return {}
  const { defaultDelayS, undo, undoneBy } = waits ? WAITS[waits] : { defaultDelayS: 0, undo: null, undoneBy: [] }
  return {
    'x-ponte-guard': {
      ...{ permission, login: login ?? 'any', waits: waits ?? null, default_delay_s: defaultDelayS, undo, undone_by: undoneBy },
      ...{ informs: informs ? INFORMED : [], while_frozen: whileFrozen ?? 'allowed' },
    },
  }
}
