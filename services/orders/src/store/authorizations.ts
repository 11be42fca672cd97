import { type AuthorizationChanged, authorizationStatus, parseUsdc } from '@ponte/contracts'
import { type Database, insertRows, type Statement } from '@ponte/service-kit'
import type { Authorization } from '../payment'

const COLUMNS = ['order_id', 'attempt', 'revision', 'status', 'payer_address', 'gross_units', 'valid_before', 'tx_hash', 'reason']

const CHANGED: Statement = {
  name: 'authorization-changed',
  text: `
  ${insertRows('authorizations', COLUMNS)}
  ON CONFLICT (order_id) DO UPDATE SET ${COLUMNS.slice(1)
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE (authorizations.attempt, authorizations.revision) < (EXCLUDED.attempt, EXCLUDED.revision)`,
}

export interface AuthorizationFields {
  status: string
  payer_address: string
  gross_units: string
  valid_before: number
  tx_hash: string | null
  reason: string | null
}

/** `json_build_object` of the one named `a`; JSON holds a number as a double, units are more. */
export const authorizationJson = `json_build_object('status', a.status, 'payer_address', a.payer_address, 'gross_units', a.gross_units::text,
  'valid_before', a.valid_before, 'tx_hash', a.tx_hash, 'reason', a.reason)`

export const toAuthorization = (row: AuthorizationFields): Authorization => ({
  status: authorizationStatus.parse(row.status),
  payerAddress: row.payer_address,
  grossUnits: BigInt(row.gross_units),
  validBefore: row.valid_before,
  txHash: row.tx_hash,
  reason: row.reason,
})

/** What the relayer reports of payers' signatures. None of it touches the order's row, which changes with its payments alone. */
export function authorizationStore(database: Database) {
  return {
    async record(changed: AuthorizationChanged, eventId: string): Promise<void> {
      const row = { ...changed, gross_units: parseUsdc(changed.amount) }
      await database.commit({ inbox: [eventId], write: CHANGED, rows: { authorizations: [row] } })
    },
  }
}
