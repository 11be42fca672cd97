import type { Step } from '../../days/facts'
import type { Ledger } from '../ledger'

export type Payout = Extract<Step, { kind: 'payout' }>

/** Where a merchant is paid from one of their versions on; addresses are lower-case. */
export interface Published {
  merchant: string
  version: number
  since: number
  /** Of all networks but these. */
  address: string
  own: Record<string, string>
}

/** Payout addresses of each version of every merchant, as the gateway published them. */
export async function publishedPayouts(ledger: Ledger): Promise<Published[]> {
  const rows = await ledger.query(
    'api-gateway',
    `SELECT body::jsonb->'data'->>'merchant_id' AS merchant, (body::jsonb->'data'->>'version')::int AS version,
       extract(epoch FROM (body::jsonb->>'occurred_at')::timestamptz) * 1000 AS since, lower(body::jsonb->'data'->>'payout_address') AS address,
       lower(coalesce(body::jsonb->'data'->'payout_addresses', '{}')::text)::jsonb AS own
     FROM outbox WHERE type = 'merchant.updated' ORDER BY merchant, version`,
  )
  return rows.map(({ merchant, version, since, address, own }) => ({
    ...{ merchant: String(merchant), version: Number(version), since: Number(since) },
    ...{ address: String(address ?? ''), own: Object(own) },
  }))
}

export const payoutOn = ({ address, own }: Pick<Published, 'address' | 'own'>, chainId: number): string => own[chainId] ?? address

/** Each change of an address on one network. */
export function payoutsOn(published: readonly Published[], chainId: number): Payout[] {
  return published.flatMap((each, index): Payout[] => {
    const { merchant, version, since } = each
    const [address, before] = [payoutOn(each, chainId), published[index - 1]]
    if (before?.merchant === merchant && payoutOn(before, chainId) === address) return []
    return [{ kind: 'payout', at: since, merchant, version, address, since }]
  })
}
