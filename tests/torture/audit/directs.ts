import type { EntryListBody } from '@ponte/contracts'
import type { Step } from '../../days/facts'
import { differences, ledgersOf, type Movement, sums } from '../../days/oracle'
import { call, units } from '../../world'
import type { Ledger } from '../ledger'
import type { Audited } from '.'
import { type Transfer, transfersOf } from './transfers'

export type Payout = Extract<Step, { kind: 'payout' }>

/** Plain transfers to payout addresses, each for whom it belonged to at its block's time, by the token's transfers alone. */
export function directsOf(transfers: readonly Transfer[], payouts: readonly Payout[], platform: string): Movement[] {
  const blocks = [...Map.groupBy(transfers, ({ txHash }) => txHash)].flatMap(([hash, moved]): Step[] => {
    const [first] = moved
    if (!first) return []
    const inOrder = moved.toSorted((a, b) => a.logIndex - b.logIndex)
    const transaction = { hash, memo: null, nonce: null, transfers: inOrder.map(({ from, to, amount }) => ({ from, to, units: amount })) }
    const time = first.time * 1_000
    return [{ kind: 'confirmed', at: time, block: { number: first.block, hash: first.blockHash, time, transaction } }]
  })
  return ledgersOf([...payouts, ...blocks], platform.toLowerCase()).filter(({ kind }) => kind === 'direct')
}

export interface SeenDirect {
  tx_hash: string
  address: string | null
  amount: string
}

/** Where a merchant's entries differ from those transfers, to the unit; empty where they do not. */
export const directDifferences = (merchant: string, seen: readonly SeenDirect[], directs: readonly Movement[]): string[] =>
  differences(
    `direct transfers of merchant ${merchant}`,
    sums(
      seen.map(entry => ({ ...entry, units: units(entry.amount) })),
      ({ tx_hash, address }) => `${tx_hash} to ${address?.toLowerCase()}`,
    ),
    sums(
      directs.filter(each => each.merchant === merchant),
      ({ txHash, payout }) => `${txHash} to ${payout}`,
    ),
  )

/** Of all chains, each by its own transfers. */
export async function directsOn({ chains, ledger }: Pick<Audited, 'chains' | 'ledger'>): Promise<Movement[]> {
  const payouts = await payoutsOf(ledger)
  const found = await Promise.all(chains.map(async chain => directsOf(await transfersOf(chain), payouts, chain.feeReceiver)))
  return found.flat()
}

/** Changes of payout addresses, as the gateway published them. */
async function payoutsOf(ledger: Ledger): Promise<Payout[]> {
  const rows = await ledger.query(
    'api-gateway',
    `SELECT merchant, version, address, extract(epoch FROM since) * 1000 AS since FROM (
       SELECT merchant, version, address, since, lag(address) OVER (PARTITION BY merchant ORDER BY version) AS before FROM outbox, LATERAL (
         SELECT body::jsonb->'data'->>'merchant_id' AS merchant, (body::jsonb->'data'->>'version')::int AS version,
           lower(body::jsonb->'data'->>'payout_address') AS address, (body::jsonb->>'occurred_at')::timestamptz AS since) AS published
       WHERE type = 'merchant.updated') AS versions
     WHERE address IS DISTINCT FROM before`,
  )
  return rows.map(({ merchant, version, address, since }) => ({
    ...{ kind: 'payout', at: Number(since), merchant: String(merchant), version: Number(version) },
    ...{ address: String(address ?? ''), since: Number(since) },
  }))
}

/** Every merchant's entries of plain transfers, as the API lists them, are those of the chain. */
export async function directsAgainstChain(audited: Audited): Promise<string[]> {
  const { cluster, traffic } = audited
  const directs = await directsOn(audited)
  const found: string[] = []
  for (const { body } of [...traffic.merchants, ...traffic.tills])
    found.push(...directDifferences(body.id, await entriesOf(cluster.gatewayUrls[0] ?? '', body.api_key), directs))
  return found
}

async function entriesOf(gateway: string, apiKey: string): Promise<SeenDirect[]> {
  const entries: SeenDirect[] = []
  for (let after = '0'; ; ) {
    const page = await call<EntryListBody>(gateway, 'GET', `/api/v1/entries?kind=direct&limit=100&after=${after}`, apiKey)
    entries.push(...page.data)
    if (!page.has_more) return entries
    after = page.next_cursor
  }
}
